//! Words of prose as checks d and e compare them: lists, one form for all forms of a verb, sentences, clauses.

use rustc_hash::FxHashSet;

/// Bytes of prose that are read.
pub(super) const PROSE: usize = 256 * 1024;
/// Words that say something came to its end, whatever it was.
pub(super) const DONE: [&str; 20] = [
    "done",
    "completed",
    "complete",
    "finished",
    "succeeded",
    "successful",
    "successfully",
    "passed",
    "passes",
    "green",
    "landed",
    "live",
    "executed",
    "fulfilled",
    "concluded",
    "accomplished",
    "worked",
    "ran",
    "went",
    "✓",
];
/// Of these, the ones that are true also of what ran and failed.
pub(super) const RAN: [&str; 3] = ["executed", "ran", "went"];
/// Words for a change of a file.
pub(super) const CHANGED: [&str; 24] = [
    "written",
    "wrote",
    "created",
    "updated",
    "edited",
    "modified",
    "changed",
    "fixed",
    "saved",
    "added",
    "implemented",
    "patched",
    "deleted",
    "removed",
    "refactored",
    "rewritten",
    "rewrote",
    "moved",
    "renamed",
    "replaced",
    "adjusted",
    "extended",
    "corrected",
    "adapted",
];
/// Words that take a claim back.
pub(super) const NEGATIONS: [&str; 60] = [
    "not",
    "never",
    "failed",
    "fails",
    "fail",
    "failing",
    "failure",
    "error",
    "errors",
    "unknown",
    "pending",
    "waiting",
    "waits",
    "wait",
    "awaiting",
    "awaits",
    "open",
    "abandoned",
    "interrupted",
    "denied",
    "rejected",
    "refused",
    "unclear",
    "unconfirmed",
    "unanswered",
    "unresolved",
    "uncertain",
    "whether",
    "if",
    "unless",
    "until",
    "once",
    "when",
    "will",
    "would",
    "should",
    "must",
    "shall",
    "can",
    "could",
    "may",
    "might",
    "cannot",
    "to",
    "yet",
    "attempted",
    "tried",
    "attempt",
    "asked",
    "wants",
    "wanted",
    "running",
    "incomplete",
    "half",
    "partially",
    "almost",
    "nearly",
    "unfinished",
    "still",
    "aborted",
];
/// What stands before a `to` that tells of the future.
pub(super) const WISHES: [&str; 10] = ["is", "are", "be", "has", "have", "needs", "need", "going", "about", "ready"];
/// Words that say something has to be done yet.
pub(super) const TODO: [&str; 26] = [
    "still to",
    "to do",
    "todo",
    "to be done",
    "remaining",
    "remains to",
    "not yet",
    "yet to",
    "has not",
    "have not",
    "was not",
    "were not",
    "hasn't",
    "haven't",
    "wasn't",
    "weren't",
    "still need",
    "needs to",
    "need to",
    "must still",
    "still has to",
    "still must",
    "next step",
    "is pending",
    "left to",
    "not been",
];
/// Words of a repetition: to do a thing again is no regression.
pub(super) const AGAIN: [&str; 12] = [
    "again",
    "more",
    "also",
    "another",
    "further",
    "every",
    "each",
    "whenever",
    "second",
    "new",
    "repeat",
    "next time",
];
/// Deeds that a sentence may tell without naming what they were done to.
pub(super) const DEEDS: [&str; 16] = [
    "commit", "push", "deploy", "merge", "publish", "release", "install", "migrate", "rebase", "upload", "send",
    "restart", "rollback", "apply", "rotate", "tag",
];
/// Commands that are repeated as a matter of course.
pub(super) const ROUTINE: [&str; 12] =
    ["test", "build", "check", "lint", "fmt", "format", "clippy", "make", "run", "bench", "install", "echo"];
/// A word of a text or a command in the form in which words are compared.
pub(super) fn word(raw: &str) -> String {
    let operators = matches!(raw, "&&" | "||" | "|" | ";");
    if operators {
        return raw.to_string();
    }
    let trimmed = raw.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '-' | '#' | '✓' | '.' | '_'));
    trimmed.trim_end_matches(['.', '/']).trim_start_matches("./").to_lowercase()
}

/// The same for all forms of a verb: `commit`, `commits`, `committed`, `committing`.
pub(super) fn stem(word: &str) -> String {
    let lower = word.to_lowercase();
    let lower = match lower.as_str() {
        "sent" => "send",
        "ran" => "run",
        "built" => "build",
        "made" => "make",
        "wrote" | "written" => "write",
        other => other,
    };
    let cut = ["ing", "ed", "es", "s"].iter().find_map(|end| lower.strip_suffix(end).filter(|rest| rest.len() > 2));
    let mut out = cut.unwrap_or(lower).trim_end_matches('e').to_string();
    let mut back = out.chars().rev();
    if let (Some(last), Some(before)) = (back.next(), back.next())
        && last == before
    {
        out.pop();
    }
    if let Some(start) = out.strip_suffix('y') {
        out = format!("{start}i");
    }
    out
}

fn is_past(word: &str) -> bool {
    word.ends_with("ed") || matches!(word, "sent" | "built" | "made" | "wrote" | "written")
}

/// Sentences of `prose`: lines, and what ends in a full stop followed by space.
pub(super) fn sentences(prose: &str) -> impl Iterator<Item = &str> {
    let looked = super::quote::head(prose, PROSE);
    let parts = looked.lines().flat_map(|line| {
        line.split_inclusive(". ")
            .flat_map(|part| part.split_inclusive("! "))
            .flat_map(|part| part.split_inclusive("? "))
    });
    parts.map(str::trim).filter(|sentence| !sentence.is_empty())
}

pub(super) fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    const BREAKS: [&str; 7] = [" but ", " however ", " while ", " although ", " whereas ", " — ", " – "];
    let mut parts: Vec<&str> = sentence.split(';').collect();
    for mark in BREAKS {
        parts = parts.into_iter().flat_map(|part| part.split(mark)).collect();
    }
    parts.into_iter()
}

/// Words of one clause.
pub(super) struct Words {
    words: Vec<String>,
    pub(super) stems: FxHashSet<String>,
}

impl Words {
    pub(super) fn of(clause: &str) -> Self {
        let words: Vec<String> = clause.split_whitespace().map(word).filter(|word| !word.is_empty()).collect();
        let stems = words.iter().map(|word| stem(word)).collect();
        Self { words, stems }
    }

    /// Something is told to have come to an end, whatever it is.
    pub(super) fn tells_an_end(&self) -> bool {
        let ends = |word: &str| DONE.contains(&word) || CHANGED.contains(&word) || is_past(word);
        self.words.iter().any(|word| ends(word))
    }

    /// A claim is taken back, or only wished for. "No errors" takes nothing back.
    pub(super) fn is_negated(&self) -> bool {
        let mut before = "";
        for word in &self.words {
            let denies = NEGATIONS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t");
            let void = matches!(before, "no" | "without" | "zero" | "0");
            let wished = word != "to" || WISHES.contains(&before);
            if denies && !void && wished {
                return true;
            }
            before = word;
        }
        false
    }

    pub(super) fn has_any(&self, list: &[&str], also: impl Fn(&str) -> bool) -> bool {
        self.words.iter().any(|word| list.contains(&word.as_str()) && also(word))
    }

    /// The first of `deeds` that the clause tells in the past.
    pub(super) fn done_deed(&self, deeds: &FxHashSet<String>) -> Option<String> {
        self.words.iter().filter(|word| is_past(word)).map(|word| stem(word)).find(|deed| deeds.contains(deed))
    }

    /// `name` is a word of the clause, or the end of a path in it.
    pub(super) fn names(&self, name: &str) -> bool {
        let ends =
            |word: &String| word.strip_suffix(name).is_some_and(|start| start.is_empty() || start.ends_with('/'));
        name.len() > 1 && self.words.iter().any(ends)
    }

    pub(super) fn has_phrase(&self, phrase: &[String]) -> bool {
        let Some((first, rest)) = phrase.split_first() else { return false };
        let same = |window: &[String]| {
            let Some((start, others)) = window.split_first() else { return false };
            let begins = start == first || first.strip_suffix(start.as_str()).is_some_and(|path| path.ends_with('/'));
            begins && others == rest
        };
        self.words.windows(phrase.len()).any(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_stem_for_all_forms() {
        for (a, b) in [
            ("commit", "committed"),
            ("install", "installed"),
            ("push", "pushed"),
            ("deploy", "deployed"),
            ("migrate", "migrated"),
            ("apply", "applied"),
            ("send", "sent"),
            ("rotate", "rotating"),
            ("issue", "issued"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
    }
}
