use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::{
    IdentifierKind, IdentifierState,
    call::{Call, Input, Outcome, head},
    found::{Found, join},
    git, hosting, patch, sql,
    words::{Command, Word, commands},
};
use crate::format::json::Raw;

/// Arguments that hold a command.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "commands"];
/// Arguments that name its folder.
const FOLDERS: [&str; 5] = ["workdir", "working_directory", "cwd", "working_dir", "workingDirectory"];
/// Words before a command that run it.
const WRAPPERS: [&str; 9] = ["sudo", "env", "nohup", "nice", "exec", "command", "builtin", "stdbuf", "setsid"];
const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "dash", "ksh"];
/// Shells inside shells that are followed.
const DEEPEST: u32 = 3;
/// Stands for a folder that is not on record (`cd "$DIR"`).
const LOST: &str = "\0";

/// One call of a shell while its commands are looked at.
pub(super) struct Shell<'a, 'f> {
    pub(super) call: &'a Call<'a>,
    pub(super) found: &'f mut Found,
    /// Outcome of the command at hand.
    pub(super) outcome: Outcome,
    /// Folder it runs in, if the call itself said one.
    pub(super) cwd: Option<String>,
}

/// Identifiers of a call that runs a command.
pub(super) fn shell(call: &Call<'_>, found: &mut Found) {
    let Some(script) = script(call) else { return };
    let given = call.first_of(&FOLDERS).map(Cow::into_owned);
    if let Some(folder) = &given {
        found.add(IdentifierKind::Cwd, folder, call.at, IdentifierState::Current);
    }
    // The answer of a background launch says nothing of what the command did.
    let runs_on = call.is_set("run_in_background") || call.fact("background task").is_some();
    let outcome = if runs_on { Outcome::Unknown } else { call.outcome };
    let mut shell = Shell { call, found, outcome, cwd: given };
    let sent = commands(&script);
    let in_background = runs_on || sent.iter().any(|command| command.background);
    shell.run(&sent, outcome, 0);
    if in_background {
        shell.runs_on(&sent);
    }
}

/// The script that a call runs.
fn script<'a>(call: &Call<'a>) -> Option<Cow<'a, str>> {
    // Editors have a `command` too, which is a verb.
    if call.tool_has(&["edit", "patch", "browser"]) {
        return None;
    }
    let arguments = match call.input {
        Input::Text(text) if SHELLS.contains(&call.tool) => return Some(Cow::Borrowed(text)),
        Input::Json(raw) => raw,
        _ => return None,
    };
    let found = COMMANDS.iter().find_map(|name| arguments.get(name))?;
    if let Some(text) = found.str() {
        return Some(text);
    }
    let words: Vec<Cow<'_, str>> = found.items().take(4_096).filter_map(Raw::str).collect();
    match words.as_slice() {
        [] => None,
        [shell, flag, script, ..] if is_shell(shell) && flag.starts_with('-') && flag.ends_with('c') => {
            Some(script.clone())
        }
        _ => Some(Cow::Owned(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))),
    }
}

fn is_shell(word: &str) -> bool {
    SHELLS.contains(&word.rsplit('/').next().unwrap_or(word))
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

impl Shell<'_, '_> {
    fn run(&mut self, sent: &[Command], outcome: Outcome, depth: u32) {
        // A subshell begins in the folder of what is around it and takes its own with it when it ends.
        let mut folders: FxHashMap<u32, Option<String>> = FxHashMap::default();
        folders.insert(0, self.cwd.clone());
        for command in sent {
            self.outcome = if command.perhaps || command.background { Outcome::Unknown } else { outcome };
            let (group, around) = command.group;
            let outer = folders.get(&around).or_else(|| folders.get(&0)).cloned().flatten();
            self.cwd.clone_from(folders.entry(group).or_insert(outer));
            self.redirections(command);
            self.command(command, outcome, depth);
            // So does a part of a pipe, and whatever runs in the background.
            if !command.piped && !command.background {
                folders.insert(group, self.cwd.take());
            }
        }
        self.cwd = folders.remove(&0).flatten();
    }

    fn redirections(&mut self, command: &Command) {
        for word in &command.writes {
            self.path(word, IdentifierState::Modified);
        }
        for word in &command.reads {
            self.path(word, IdentifierState::Read);
        }
    }

    fn command(&mut self, command: &Command, outcome: Outcome, depth: u32) {
        patch::text(&command.document, self.call.at, self.outcome, self.found);
        let words = unwrapped(&command.words);
        let Some((name, rest)) = words.split_first() else { return };
        let name = name.text.rsplit('/').next().unwrap_or_default();
        match name {
            "cd" | "pushd" => self.enter(rest, command),
            "git" => git::git(self, rest),
            "gh" | "glab" => hosting::command(self, rest),
            "tmux" | "screen" => self.multiplexer(rest),
            "kill" => rest.iter().filter(|word| !word.text.starts_with('-')).for_each(|word| self.ended("pid", word)),
            "curl" => self.fetch(rest, &["-o", "--output"]),
            "wget" => self.fetch(rest, &["-O", "--output-document"]),
            "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "duckdb" => {
                let mut text: String = rest.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join("\n;\n");
                text.push_str("\n;\n");
                text.push_str(&command.document);
                sql::one_shot(&text, self);
            }
            "apply_patch" | "patch" => {
                for word in rest {
                    patch::text(&word.text, self.call.at, self.outcome, self.found);
                }
            }
            shell if is_shell(shell) && depth < DEEPEST => {
                let script = rest.iter().position(|word| word.text.starts_with('-') && word.text.ends_with('c'));
                if let Some(script) = script.and_then(|flag| rest.get(flag + 1)) {
                    let inner = if command.perhaps || command.background { Outcome::Unknown } else { outcome };
                    let outside = self.cwd.clone();
                    self.run(&commands(&script.text), inner, depth + 1);
                    self.cwd = outside;
                }
            }
            _ => self.files(name, rest),
        }
    }

    /// Commands whose arguments are files.
    fn files(&mut self, name: &str, rest: &[Word]) {
        let plain = || rest.iter().filter(|word| !word.text.starts_with('-'));
        let in_place = || rest.iter().any(|word| is_in_place(&word.text));
        match name {
            "rm" | "rmdir" | "unlink" | "shred" => plain().for_each(|word| self.path(word, IdentifierState::Deleted)),
            "tee" | "mkdir" | "touch" | "truncate" | "mktemp" => {
                plain().for_each(|word| self.path(word, IdentifierState::Modified));
            }
            "mv" => self.transfer(rest, IdentifierState::Deleted),
            "cp" | "install" | "ln" | "rsync" | "scp" => self.transfer(rest, IdentifierState::Read),
            "chmod" | "chown" | "chgrp" => plain().skip(1).for_each(|word| self.path(word, IdentifierState::Modified)),
            "sed" | "perl" | "ruby" | "gawk" if in_place() => self.edited(rest),
            "dd" => {
                for word in rest {
                    if let Some(file) = word.text.strip_prefix("of=") {
                        let word = Word { text: file.to_string(), expands: word.expands };
                        self.path(&word, IdentifierState::Modified);
                    }
                }
            }
            "cat" | "head" | "tail" | "less" | "more" | "wc" | "source" | "." | "nl" | "xxd" | "stat" | "file" => {
                let named = plain().filter(|word| word.text.parse::<i64>().is_err());
                named.for_each(|word| self.path(word, IdentifierState::Read));
            }
            _ => {}
        }
    }

    /// `mv a b dir`: the last is written, the others are moved away or read.
    fn transfer(&mut self, rest: &[Word], sources: IdentifierState) {
        let plain: Vec<&Word> = rest.iter().filter(|word| !word.text.starts_with('-')).collect();
        let Some((last, others)) = plain.split_last() else { return };
        if others.is_empty() {
            return;
        }
        for word in others {
            self.path(word, sources);
        }
        self.path(last, IdentifierState::Modified);
    }

    /// `sed -i SCRIPT FILE…`: the script is the first plain word, unless `-e` or `-f` gave it.
    fn edited(&mut self, rest: &[Word]) {
        let given = rest.iter().any(|word| matches!(word.text.as_str(), "-e" | "-f" | "--expression" | "--file"));
        let mut files: Vec<&Word> = Vec::new();
        let mut value = false;
        for word in rest {
            if std::mem::take(&mut value) {
                continue;
            }
            value = matches!(word.text.as_str(), "-e" | "-f" | "-pe" | "-ne" | "-pie");
            // An empty word is the suffix that `sed -i ''` wants on some systems.
            if !word.text.starts_with('-') && !word.text.is_empty() {
                files.push(word);
            }
        }
        let script = usize::from(!given && !rest.iter().any(|word| word.text.starts_with("-p")));
        files.into_iter().skip(script).for_each(|word| self.path(word, IdentifierState::Modified));
    }

    fn enter(&mut self, rest: &[Word], command: &Command) {
        let folder = rest.iter().find(|word| word.text == "-" || !word.text.starts_with('-'));
        match folder {
            Some(word) if !word.expands && word.text != "-" && !self.is_lost(&word.text) => {
                let folder = join(self.cwd.as_deref(), &word.text);
                let stays = command.group.0 == 0 && self.outcome == Outcome::Done && !command.piped;
                let state = if stays { IdentifierState::Current } else { IdentifierState::Named };
                self.found.add(IdentifierKind::Cwd, &folder, self.call.at, state);
                self.cwd = Some(folder);
            }
            // Somewhere that is not on record: relative paths behind it mean nothing.
            _ => self.cwd = Some(LOST.to_string()),
        }
    }

    /// True if `path` is relative to a folder that is not on record.
    pub(super) fn is_lost(&self, path: &str) -> bool {
        self.cwd.as_deref() == Some(LOST) && !path.starts_with(['/', '~'])
    }

    /// Notes a file that `word` names. `done`: what the command does to it if it works.
    pub(super) fn path(&mut self, word: &Word, done: IdentifierState) {
        let text = word.text.as_str();
        let pattern = text.contains(['*', '?']) && done != IdentifierState::Deleted;
        if word.expands
            || pattern
            || self.is_lost(text)
            || text == "-"
            || text.starts_with("/dev/")
            || text.contains("://")
        {
            return;
        }
        let state = if done == IdentifierState::Read { done } else { self.outcome.part(done) };
        let path = join(self.cwd.as_deref(), text);
        self.found.add(IdentifierKind::Path, &path, self.call.at, state);
    }

    /// `curl -o FILE URL`. `to`: options before a file.
    fn fetch(&mut self, rest: &[Word], to: &[&str]) {
        let mut is_file = false;
        for word in rest {
            if std::mem::replace(&mut is_file, to.contains(&word.text.as_str())) {
                self.path(word, IdentifierState::Modified);
            } else if word.text.contains("://") && !word.expands {
                self.found.add(IdentifierKind::Url, &word.text, self.call.at, IdentifierState::Named);
            }
        }
    }

    fn multiplexer(&mut self, rest: &[Word]) {
        let value = |flags: &[&str]| {
            let flag = rest.iter().position(|word| flags.contains(&word.text.as_str()))?;
            rest.get(flag + 1).filter(|word| !word.expands)
        };
        let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.text.as_str()));
        if has(&["kill-session", "kill-server"]) {
            if let Some(word) = value(&["-t"]) {
                self.ended("tmux", word);
            }
        } else if let Some(word) = value(&["-s", "-S", "-dmS", "-t"]) {
            let state = self.outcome.whole(IdentifierState::Open);
            self.found.add(IdentifierKind::Task, &format!("tmux={}", word.text), self.call.at, state);
        }
    }

    fn ended(&mut self, name: &str, word: &Word) {
        if !word.expands {
            let state = self.outcome.part(IdentifierState::Closed);
            self.found.add(IdentifierKind::Task, &format!("{name}={}", word.text), self.call.at, state);
        }
    }

    /// Handles of what goes on in the background: its ports and process ids.
    fn runs_on(&mut self, sent: &[Command]) {
        let at = self.call.at;
        // A job of the runtime's own is known to have ended; of a job of the shell nothing is known.
        let tracked = self.call.fact("background task").is_some();
        let state = if tracked && !self.call.lives_on { IdentifierState::Closed } else { IdentifierState::Open };
        for command in sent {
            let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
            for (n, word) in words.iter().enumerate() {
                let given = word.split_once('=').filter(|(name, _)| matches!(*name, "--port" | "PORT"));
                let next = || words.get(n + 1).copied().filter(|_| *word == "--port" || *word == "-p");
                let port = given.map(|(_, port)| port).or_else(next).unwrap_or_default();
                let port = port.split(':').next().unwrap_or_default();
                if port.parse::<u16>().is_ok_and(|port| port > 0) {
                    self.found.add(IdentifierKind::Task, &format!("port={port}"), at, state);
                }
            }
        }
        let says_pid = sent.iter().any(|command| first(command) == Some("echo"));
        for line in head(self.call.answer_text(), 8 * 1024).lines().take(64) {
            // `[1] 4242` is what an interactive shell says, a line of digits what `echo $!` says.
            let job = line.trim().strip_prefix('[').and_then(|rest| rest.split_once("] ")).map(|(_, pid)| pid);
            let pid = job.or(Some(line).filter(|_| says_pid)).map_or("", str::trim);
            if pid.len() <= 8 && pid.parse::<u32>().is_ok_and(|pid| pid > 1) {
                self.found.add(IdentifierKind::Task, &format!("pid={pid}"), at, state);
            }
        }
    }
}

fn first(command: &Command) -> Option<&str> {
    command.words.first().map(|word| word.text.as_str())
}

/// Without variables that are set for one command, and without words that only run another command.
fn unwrapped(words: &[Word]) -> &[Word] {
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        let text = word.text.as_str();
        let assignment = text.split_once('=').is_some_and(|(name, _)| is_name(name));
        if assignment || WRAPPERS.contains(&text) {
            rest = behind;
        } else if text == "timeout" {
            let options = behind.iter().take_while(|word| word.text.starts_with('-')).count();
            rest = behind.get(options + 1..).unwrap_or_default();
        } else if text.starts_with('-') && rest.len() < words.len() {
            // An option of a wrapper.
            rest = behind;
        } else {
            break;
        }
    }
    rest
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_in_place(word: &str) -> bool {
    word == "--in-place"
        || word.starts_with("--in-place=")
        || word.strip_prefix("-i").is_some()
        || word == "-pi"
        || word == "-pie"
        || word.starts_with("-pi.")
}
