//! Checks d and e read prose against the table: is something told as done that is not, or as still to do that is done?
//! Word lists and word forms, no understanding: a doubt is no finding, and a finding only asks.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    EffectState, Table,
    rows::{Effect, GivenUp, Open},
    words::{AGAIN, CHANGED, DEEDS, DONE, RAN, ROUTINE, TODO, Words, clauses, stem, word},
};

/// Subjects of either side.
const SUBJECTS: usize = 400;

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
            let told = words.tells_an_end() && !words.is_negated();
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
