//! Checks d and e read prose against the table: is something told as done that is not, or as still to do that is done?
//! Word lists and word forms, no understanding: a doubt is no finding, and a finding only asks.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    EffectState, Table,
    rows::{Effect, GivenUp, Open},
};

/// Words that say something came to its end, whatever it was.
const DONE: [&str; 20] = [
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
const RAN: [&str; 3] = ["executed", "ran", "went"];
/// Words for a change of a file.
const CHANGED: [&str; 24] = [
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
const NEGATIONS: [&str; 60] = [
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
const WISHES: [&str; 10] = ["is", "are", "be", "has", "have", "needs", "need", "going", "about", "ready"];
/// Words that say something has to be done yet.
const TODO: [&str; 26] = [
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
const AGAIN: [&str; 12] = [
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
const DEEDS: [&str; 16] = [
    "commit", "push", "deploy", "merge", "publish", "release", "install", "migrate", "rebase", "upload", "send",
    "restart", "rollback", "apply", "rotate", "tag",
];
/// Commands that are repeated as a matter of course.
const ROUTINE: [&str; 12] =
    ["test", "build", "check", "lint", "fmt", "format", "clippy", "make", "run", "bench", "install", "echo"];
/// Subjects of either side, and bytes of prose that are read.
const SUBJECTS: usize = 400;
const PROSE: usize = 256 * 1024;

/// Something a sentence can be about.
#[derive(Debug, Default)]
struct Subject {
    /// For the message.
    label: String,
    state: &'static str,
    /// It is on record that it ran.
    ran: bool,
    id: String,
    /// Sequences of words that name it: the command, its head.
    phrases: Vec<Vec<String>>,
    /// Words that name what it acts on.
    objects: Vec<String>,
    /// What is done, as stems.
    deeds: FxHashSet<String>,
    /// Last part of the path, if it acts on a file.
    file: Option<String>,
}

/// What prose may not say.
pub(super) struct Claims {
    bad: Vec<Subject>,
    good: Vec<Subject>,
    /// Objects with deeds, objects alone, deeds alone, heads and files that some success accounts for.
    done_pairs: FxHashSet<(String, String)>,
    done_objects: FxHashSet<String>,
    done_deeds: FxHashSet<String>,
    done_phrases: FxHashSet<Vec<String>>,
    done_files: FxHashSet<String>,
    /// Phrases and files of what is not done.
    bad_phrases: FxHashSet<Vec<String>>,
    bad_files: FxHashSet<String>,
}

impl Claims {
    pub(super) fn of(table: &Table) -> Self {
        // Of equal deeds only the newest counts: what failed first and then went well is done.
        let mut newest: FxHashMap<(&str, &str), &Effect> = FxHashMap::default();
        for row in &table.effects {
            newest.insert((&row.tool, &row.target), row);
        }
        let mut effects: Vec<&Effect> = newest.into_values().collect();
        effects.sort_by_key(|row| (row.earlier, row.at));
        let (good, bad): (Vec<&Effect>, Vec<&Effect>) =
            effects.into_iter().partition(|row| row.state == EffectState::Done);
        let good: Vec<Subject> = good.into_iter().rev().take(SUBJECTS).map(Subject::effect).collect();
        let open = table.open.iter().rev().map(Subject::open);
        let given_up = table.given_up.iter().rev().map(Subject::given_up);
        let bad = bad.into_iter().rev().map(Subject::effect);
        let bad: Vec<Subject> = open.chain(given_up).chain(bad).take(SUBJECTS).collect();
        let mut claims = Self {
            done_pairs: FxHashSet::default(),
            done_objects: good.iter().flat_map(|subject| subject.objects.iter().cloned()).collect(),
            done_deeds: good.iter().flat_map(|subject| subject.deeds.iter().cloned()).collect(),
            done_phrases: good.iter().flat_map(|subject| subject.phrases.iter().cloned()).collect(),
            done_files: good.iter().filter_map(|subject| subject.file.clone()).collect(),
            bad_phrases: bad.iter().flat_map(|subject| subject.phrases.iter().cloned()).collect(),
            bad_files: bad.iter().filter_map(|subject| subject.file.clone()).collect(),
            bad,
            good,
        };
        for subject in &claims.good {
            for object in &subject.objects {
                claims.done_pairs.extend(subject.deeds.iter().map(|deed| (object.clone(), deed.clone())));
            }
        }
        claims
    }

    /// How many deeds are not successes, and how many are.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.bad.len(), self.good.len())
    }

    /// The deed that `sentence` tells as done although it is not, with its state.
    pub(super) fn contradicted(&self, sentence: &str) -> Option<(&str, &'static str)> {
        clauses(sentence).find_map(|clause| {
            let words = Words::of(clause);
            let told = !words.is_empty() && !words.is_negated();
            let subject = self.bad.iter().filter(|_| told).find(|subject| self.told_as_done(subject, &words))?;
            Some((subject.label.as_str(), subject.state))
        })
    }

    fn told_as_done(&self, subject: &Subject, words: &Words) -> bool {
        let ended = words.has_any(&DONE, |word| !(subject.ran && RAN.contains(&word)));
        let changed = || words.has_any(&CHANGED, |_| true);
        if (ended || words.done_deed(&subject.deeds).is_some()) && words.names(&subject.id) {
            return true;
        }
        let phrase = |phrase: &&Vec<String>| !self.done_phrases.contains(*phrase) && words.has_phrase(phrase);
        if ended && subject.phrases.iter().any(|known| phrase(&known)) {
            return true;
        }
        if let Some(file) = subject.file.as_ref().filter(|file| !self.done_files.contains(*file))
            && words.names(file)
            && (ended || changed())
        {
            return true;
        }
        let deed = words.done_deed(&subject.deeds);
        for object in subject.objects.iter().filter(|object| words.names(object)) {
            let free = |deed: &String| !self.done_pairs.contains(&(object.clone(), deed.clone()));
            if deed.as_ref().is_some_and(free) || (ended && !self.done_objects.contains(object)) {
                return true;
            }
        }
        // "The change was committed", and the only commit is the one that is not done.
        let alone = |deed: &String| DEEDS.contains(&deed.as_str()) || DEEDS.iter().any(|known| stem(known) == *deed);
        subject.objects.is_empty() && deed.is_some_and(|deed| alone(&deed) && !self.done_deeds.contains(&deed))
    }

    /// The deed that `sentence` tells as still to do although it is done.
    pub(super) fn regressed(&self, sentence: &str) -> Option<&str> {
        clauses(sentence).find_map(|clause| {
            let lower = format!(" {} ", clause.to_lowercase());
            let todo = TODO.iter().any(|phrase| lower.contains(&format!(" {phrase}")));
            let words = Words::of(clause);
            let told = todo && !words.has_any(&AGAIN, |_| true);
            let subject = self.good.iter().filter(|_| told).find(|subject| self.told_as_todo(subject, &words))?;
            Some(subject.label.as_str())
        })
    }

    fn told_as_todo(&self, subject: &Subject, words: &Words) -> bool {
        if subject.deeds.iter().any(|deed| ROUTINE.iter().any(|known| stem(known) == *deed)) {
            return false;
        }
        if words.names(&subject.id) {
            return true;
        }
        let known = |phrase: &&Vec<String>| !self.bad_phrases.contains(*phrase) && words.has_phrase(phrase);
        if subject.phrases.iter().any(|phrase| known(&phrase)) {
            return true;
        }
        if let Some(file) = subject.file.as_ref().filter(|file| !self.bad_files.contains(*file)) {
            return words.names(file) && words.has_any(&CHANGED, |_| true);
        }
        let deed = subject.deeds.iter().any(|deed| words.stems.contains(deed));
        deed && subject.objects.iter().any(|object| words.names(object))
    }
}

impl Subject {
    fn effect(row: &Effect) -> Self {
        let ran = matches!(row.state, EffectState::Failed | EffectState::Running);
        let label = format!("{} {}", row.tool, row.target);
        Self { state: row.state.sentence(), ran, ..Self::of(&row.tool, &row.target, &row.id, &label) }
    }

    fn open(row: &Open) -> Self {
        let label = format!("{} {} {}", row.id, row.tool, row.target);
        Self { state: "open, not done", ..Self::of(&row.tool, &row.target, &row.id, &label) }
    }

    fn given_up(row: &GivenUp) -> Self {
        let label = format!("{} {} {}", row.id, row.tool, row.target);
        Self { state: "given up, outcome unknown", ..Self::of(&row.tool, &row.target, &row.id, &label) }
    }

    fn of(tool: &str, target: &str, id: &str, label: &str) -> Self {
        let mut subject = Self { label: label.trim().to_string(), id: id.to_lowercase(), ..Self::default() };
        subject.deeds.extend(tool.split(|c: char| !c.is_alphanumeric()).map(stem).filter(|deed| deed.len() > 2));
        let words: Vec<String> = target.split_whitespace().map(word).filter(|word| !word.is_empty()).collect();
        if let [only] = words.as_slice() {
            subject.only(only);
            return subject;
        }
        if (2..=16).contains(&words.len()) {
            subject.phrases.push(words.clone());
        }
        for command in words.split(|word| matches!(word.as_str(), "&&" | "||" | "|" | ";")) {
            subject.command(command);
        }
        subject
    }

    /// A path, an address, a name: one word.
    fn only(&mut self, word: &str) {
        let name = word.rsplit('/').find(|part| !part.is_empty()).unwrap_or(word);
        if name.len() > 3 && name.contains('.') && !name.contains('@') {
            self.file = Some(name.to_string());
        } else if is_distinct(name) {
            self.objects.push(name.to_string());
        }
    }

    fn command(&mut self, words: &[String]) {
        let is_set = |word: &&String| word.contains('=') || matches!(word.as_str(), "sudo" | "env" | "exec" | "time");
        let mut words = words.iter().skip_while(is_set);
        let Some(program) = words.next().map(|word| word.rsplit('/').next().unwrap_or(word).to_string()) else {
            return;
        };
        let rest: Vec<&String> = words.filter(|word| !word.starts_with('-')).collect();
        if matches!(program.as_str(), "cd" | "echo" | "export" | "set" | "source" | "true") {
            return;
        }
        let part = rest.first().filter(|word| word.chars().all(|c| c.is_alphabetic() || c == '-'));
        self.deeds.extend([Some(&program), part.copied()].into_iter().flatten().map(|word| stem(word)));
        if let Some(part) = part {
            self.phrases.push(vec![program, (*part).clone()]);
        } else if program.contains(['.', '-', '_']) && program.len() > 4 {
            self.phrases.push(vec![program]);
        }
        for object in rest.into_iter().take(24) {
            let name = object.rsplit('/').find(|part| !part.is_empty()).unwrap_or(object);
            if is_distinct(name) {
                self.objects.push(name.to_string());
            }
        }
    }
}

/// Not a word of the language.
fn is_distinct(word: &str) -> bool {
    word.len() > 3 && word.chars().any(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '_' | ':' | '@'))
}

/// A word of a text or a command in the form in which words are compared.
fn word(raw: &str) -> String {
    let operators = matches!(raw, "&&" | "||" | "|" | ";");
    if operators {
        return raw.to_string();
    }
    let trimmed = raw.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '-' | '#' | '✓' | '.' | '_'));
    trimmed.trim_end_matches(['.', '/']).trim_start_matches("./").to_lowercase()
}

/// The same for all forms of a verb: `commit`, `commits`, `committed`, `committing`.
fn stem(word: &str) -> String {
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

fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    const BREAKS: [&str; 7] = [" but ", " however ", " while ", " although ", " whereas ", " — ", " – "];
    let mut parts: Vec<&str> = sentence.split(';').collect();
    for mark in BREAKS {
        parts = parts.into_iter().flat_map(|part| part.split(mark)).collect();
    }
    parts.into_iter()
}

/// Words of one clause.
struct Words {
    words: Vec<String>,
    stems: FxHashSet<String>,
}

impl Words {
    fn of(clause: &str) -> Self {
        let words: Vec<String> = clause.split_whitespace().map(word).filter(|word| !word.is_empty()).collect();
        let stems = words.iter().map(|word| stem(word)).collect();
        Self { words, stems }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// A claim is taken back, or only wished for. "No errors" takes nothing back.
    fn is_negated(&self) -> bool {
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

    fn has_any(&self, list: &[&str], also: impl Fn(&str) -> bool) -> bool {
        self.words.iter().any(|word| list.contains(&word.as_str()) && also(word))
    }

    /// The first of `deeds` that the clause tells in the past.
    fn done_deed(&self, deeds: &FxHashSet<String>) -> Option<String> {
        let past = |word: &&String| {
            word.ends_with("ed") || matches!(word.as_str(), "sent" | "built" | "made" | "wrote" | "written")
        };
        self.words.iter().filter(past).map(|word| stem(word)).find(|deed| deeds.contains(deed))
    }

    /// `name` is a word of the clause, or the end of a path in it.
    fn names(&self, name: &str) -> bool {
        let ends =
            |word: &String| word.strip_suffix(name).is_some_and(|start| start.is_empty() || start.ends_with('/'));
        name.len() > 1 && self.words.iter().any(ends)
    }

    fn has_phrase(&self, phrase: &[String]) -> bool {
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
