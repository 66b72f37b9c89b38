//! What commands of git leave behind: branches, worktrees, commits, and operations that must be ended.

use super::{
    IdentifierKind, IdentifierState,
    call::{Outcome, head},
    found::join,
    shell::Shell,
    words::Word,
};

/// Words by which git says that it waits for somebody.
const STOPPED: [&str; 6] = ["CONFLICT", "could not apply", "fix conflicts", "Stopped at", "needs merge", "--continue"];
/// Words that end an operation.
const ENDS: [&str; 5] = ["--continue", "--abort", "--skip", "--quit", "--resolved"];

/// Identifiers of `git ARGUMENTS`.
pub(super) fn git(shell: &mut Shell<'_, '_>, words: &[Word]) {
    let Some((verb, rest)) = verb(words) else { return };
    match verb {
        "checkout" | "switch" => switch(shell, rest),
        "branch" => branch(shell, rest),
        "push" => push(shell, rest),
        "worktree" => worktree(shell, rest),
        "commit" => {
            commits(shell);
            // A commit ends a merge that had stopped.
            if shell.found.state(IdentifierKind::Transaction, "git merge").is_some() {
                operation(shell, "git merge", IdentifierState::Closed);
            }
        }
        "rebase" | "merge" | "cherry-pick" | "revert" | "am" => stoppable(shell, verb, rest),
        "bisect" => bisect(shell, rest),
        "rm" => files(shell, rest, IdentifierState::Deleted),
        "mv" => moved(shell, rest),
        "restore" => files(shell, rest, IdentifierState::Modified),
        "clone" => cloned(shell, rest),
        _ => {}
    }
}

/// Past options of git itself to its verb.
fn verb(words: &[Word]) -> Option<(&str, &[Word])> {
    let mut rest = words;
    loop {
        let (word, behind) = rest.split_first()?;
        match word.text.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" => rest = behind.get(1..)?,
            option if option.starts_with('-') => rest = behind,
            verb => return Some((verb, behind)),
        }
    }
}

fn plain(rest: &[Word]) -> impl Iterator<Item = &Word> {
    rest.iter().take_while(|word| word.text != "--").filter(|word| !word.text.starts_with('-') && !word.expands)
}

/// The word behind the first of `flags`.
fn value<'w>(rest: &'w [Word], flags: &[&str]) -> Option<&'w Word> {
    let flag = rest.iter().position(|word| flags.contains(&word.text.as_str()))?;
    rest.get(flag + 1).filter(|word| !word.expands && !word.text.starts_with('-'))
}

fn add(shell: &mut Shell<'_, '_>, kind: IdentifierKind, value: &str, state: IdentifierState) {
    shell.found.add(kind, value, shell.call.at, state);
}

fn switch(shell: &mut Shell<'_, '_>, rest: &[Word]) {
    let files = rest.iter().position(|word| word.text == "--");
    if let Some(at) = files {
        let named = rest.get(at + 1..).unwrap_or_default();
        for word in named {
            shell.path(word, IdentifierState::Modified);
        }
        return;
    }
    let new = value(rest, &["-b", "-B", "-c", "-C", "--create", "--orphan"]);
    let named = new.or_else(|| plain(rest).next());
    // `git checkout file.rs` restores a file: with an ending it is hardly a branch.
    let Some(word) = named.filter(|word| new.is_some() || !looks_like_file(&word.text)) else {
        plain(rest).for_each(|word| shell.path(word, IdentifierState::Modified));
        return;
    };
    let state = shell.outcome.part(IdentifierState::Current);
    add(shell, IdentifierKind::Branch, &word.text, state);
}

fn looks_like_file(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    text == "." || ending.is_some_and(|ending| !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphabetic()))
}

fn branch(shell: &mut Shell<'_, '_>, rest: &[Word]) {
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(&word.text.as_str()));
    if has(&["-d", "-D", "--delete"]) {
        let state = shell.outcome.part(IdentifierState::Deleted);
        plain(rest).for_each(|word| add(shell, IdentifierKind::Branch, &word.text, state));
    } else if has(&["-m", "-M", "--move"]) {
        let names: Vec<&Word> = plain(rest).collect();
        if let [old, new] = names.as_slice() {
            let gone = shell.outcome.part(IdentifierState::Deleted);
            add(shell, IdentifierKind::Branch, &old.text, gone);
            let made = shell.outcome.part(IdentifierState::Made);
            add(shell, IdentifierKind::Branch, &new.text, made);
        }
    } else if let Some(word) = plain(rest).next() {
        let state = shell.outcome.part(IdentifierState::Made);
        add(shell, IdentifierKind::Branch, &word.text, state);
    }
}

fn push(shell: &mut Shell<'_, '_>, rest: &[Word]) {
    for word in plain(rest).skip(1) {
        let name = word.text.rsplit(':').next().unwrap_or_default().trim_start_matches('+');
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        if !name.is_empty() && name != "HEAD" {
            let state = if shell.outcome == Outcome::Done { IdentifierState::Made } else { IdentifierState::Unknown };
            // The branch in use stays the one in use.
            let current = shell.found.state(IdentifierKind::Branch, name) == Some(IdentifierState::Current);
            add(shell, IdentifierKind::Branch, name, if current { IdentifierState::Named } else { state });
        }
    }
}

fn worktree(shell: &mut Shell<'_, '_>, rest: &[Word]) {
    let Some((verb, rest)) = rest.split_first() else { return };
    let branch = value(rest, &["-b", "-B"]);
    let mut places = plain(rest).filter(|word| branch.is_none_or(|branch| !std::ptr::eq(*word, branch)));
    let Some(place) = places.next().filter(|word| !shell.is_lost(&word.text)) else { return };
    let path = join(shell.cwd.as_deref(), &place.text);
    match verb.text.as_str() {
        "add" => {
            let state = shell.outcome.part(IdentifierState::Open);
            add(shell, IdentifierKind::Worktree, &path, state);
            let made = shell.outcome.part(IdentifierState::Made);
            if let Some(branch) = branch {
                add(shell, IdentifierKind::Branch, &branch.text, made);
            }
        }
        "remove" => {
            let state = shell.outcome.part(IdentifierState::Deleted);
            add(shell, IdentifierKind::Worktree, &path, state);
        }
        _ => {}
    }
}

/// `[main 1a2b3c4] Subject` in what git answers to a commit.
fn commits(shell: &mut Shell<'_, '_>) {
    if shell.call.outcome != Outcome::Done {
        return;
    }
    let text = head(shell.call.answer_text(), 16 * 1024);
    let hashes: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix('[')?.split_once(']'))
        .filter_map(|(inside, _)| inside.rsplit(' ').next())
        .filter(|hash| (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .take(16)
        .collect();
    for hash in hashes {
        add(shell, IdentifierKind::Commit, hash, IdentifierState::Made);
    }
}

fn operation(shell: &mut Shell<'_, '_>, name: &str, state: IdentifierState) {
    add(shell, IdentifierKind::Transaction, name, state);
}

/// Operations that stop at a conflict and wait for somebody.
fn stoppable(shell: &mut Shell<'_, '_>, verb: &str, rest: &[Word]) {
    let name = format!("git {verb}");
    let text = head(shell.call.answer_text(), 64 * 1024);
    let stopped = STOPPED.iter().any(|words| text.contains(words));
    let ends = rest.iter().any(|word| ENDS.contains(&word.text.as_str()));
    let known = shell.found.state(IdentifierKind::Transaction, &name).is_some();
    if shell.outcome == Outcome::Done && !stopped {
        // One that ran through was never open: there is nothing to carry.
        if known {
            operation(shell, &name, IdentifierState::Closed);
        }
        return;
    }
    let state = if stopped { IdentifierState::Open } else { IdentifierState::Unknown };
    if ends || stopped || shell.outcome == Outcome::Unknown {
        operation(shell, &name, state);
    }
}

fn bisect(shell: &mut Shell<'_, '_>, rest: &[Word]) {
    let state = match rest.first().map(|word| word.text.as_str()) {
        Some("start") => shell.outcome.part(IdentifierState::Open),
        Some("reset") => shell.outcome.part(IdentifierState::Closed),
        _ => return,
    };
    operation(shell, "git bisect", state);
}

fn files(shell: &mut Shell<'_, '_>, rest: &[Word], done: IdentifierState) {
    rest.iter().filter(|word| !word.text.starts_with('-')).for_each(|word| shell.path(word, done));
}

fn moved(shell: &mut Shell<'_, '_>, rest: &[Word]) {
    let names: Vec<&Word> = plain(rest).collect();
    if let Some((last, others)) = names.split_last().filter(|(_, others)| !others.is_empty()) {
        for word in others {
            shell.path(word, IdentifierState::Deleted);
        }
        shell.path(last, IdentifierState::Modified);
    }
}

fn cloned(shell: &mut Shell<'_, '_>, rest: &[Word]) {
    let mut names = plain(rest);
    if let Some(from) = names.next() {
        add(shell, IdentifierKind::Url, &from.text, IdentifierState::Named);
    }
    if let Some(place) = names.next() {
        shell.path(place, IdentifierState::Modified);
    }
}
