use std::collections::BTreeMap;

use crate::{
    format::{
        Piece, detect,
        json::Raw,
        map::{Container, Mapping, Seen, Understood, Verb},
        pieces,
    },
    model::show_line,
    plan::Session,
};

/// Columns of an id, a name, or a line that no rule reads.
const WIDE: usize = 60;
/// Kinds of lines without a rule that are told of.
const MOST_KINDS: usize = 8;
/// Keys that say what a record is.
const SPEAKING: [&str; 6] = ["type", "role", "kind", "event", "method", "subtype"];

/// What a map makes of a transcript: for people who write one.
#[derive(Clone, Debug, Default)]
pub struct MapCheck {
    /// One line for everything that was found, in the order of the file.
    pub lines: Vec<String>,
    /// Figures.
    pub summary: Vec<String>,
    /// What looks wrong, and what to do about it.
    pub hints: Vec<String>,
    used: BTreeMap<usize, usize>,
    verbs: BTreeMap<&'static str, usize>,
    unread: BTreeMap<String, usize>,
    evidence: usize,
}

impl MapCheck {
    /// Looks at `bytes`, which `session` has read with `mapping`.
    pub fn of(mapping: Mapping, session: &Session, bytes: &[u8]) -> Self {
        let mut check = Self::default();
        if mapping.map().container() == Container::Document {
            check.document(mapping, bytes);
        } else {
            for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
                check.line(mapping, number, line);
            }
        }
        check.sum_up(session);
        check.hint(mapping, session, bytes);
        check
    }

    fn document(&mut self, mapping: Mapping, bytes: &[u8]) {
        let Ok(value) = Raw::parse(bytes) else {
            self.lines.push("     1  the document is not whole JSON".to_string());
            return;
        };
        let (mut at, mut number) = (0, 1);
        let records: Vec<Raw<'_>> = if value.is_array() { value.items().collect() } else { vec![value] };
        for record in records {
            self.evidence += usize::from(mapping.map().speaks(record));
            for (record, understood) in mapping.map().explain(record) {
                let start = record.range().0 as usize;
                let between = bytes.get(at..start).unwrap_or_default();
                number += between.iter().filter(|byte| **byte == b'\n').count();
                at = at.max(start);
                self.record(number, record, &understood);
            }
        }
    }

    fn line(&mut self, mapping: Mapping, number: usize, line: &[u8]) {
        for piece in pieces(line) {
            match piece {
                Piece::Value { value, .. } => {
                    self.evidence += usize::from(mapping.map().speaks(value));
                    for (record, understood) in mapping.map().explain(value) {
                        self.record(number, record, &understood);
                    }
                }
                Piece::Gap(..) => self.lines.push(format!("{number:>6}  NUL bytes")),
                Piece::Corrupt(_, len, why) => self.lines.push(format!("{number:>6}  {len} bytes are no JSON: {why}")),
            }
        }
    }

    fn record(&mut self, number: usize, record: Raw<'_>, understood: &Understood) {
        let at = |what: &str| format!("{number:>6}  {what}");
        match understood {
            Understood::Skipped => self.lines.push(at("skip: no record of the conversation")),
            Understood::Reset => self.lines.push(at("reset: replaces everything before")),
            Understood::Rewind => self.lines.push(at("rewind: takes records back")),
            Understood::Rules(seen) if seen.is_empty() => {
                let kind = kind_of(record);
                self.lines.push(at(&format!("no rule: kept as it is  {kind}")));
                *self.unread.entry(kind).or_default() += 1;
            }
            Understood::Rules(seen) => {
                for found in seen {
                    self.lines.push(at(&of_rule(found)));
                    *self.used.entry(found.rule).or_default() += 1;
                    *self.verbs.entry(found.verb.name()).or_default() += 1;
                }
            }
        }
    }

    fn sum_up(&mut self, session: &Session) {
        let (log, tally) = (session.log(), session.tally());
        let open = tally.open();
        self.summary.push(format!(
            "{} lines, {} records; {} calls, {} results, {} open, {} orphans, {} duplicates; {} not understood",
            log.lines,
            log.records.len(),
            tally.calls,
            tally.results,
            open.len(),
            tally.orphans,
            tally.duplicates,
            log.not_understood,
        ));
        let verbs: Vec<String> = self.verbs.iter().map(|(verb, count)| format!("{count} {verb}")).collect();
        self.summary
            .push(format!("rules gave: {}", if verbs.is_empty() { "nothing".into() } else { verbs.join(", ") }));
        for call in open {
            let Some(record) = log.records.get(call.record as usize) else { continue };
            let (id, name) = (session.name(record.id), session.name(record.tool));
            self.summary.push(format!("open: line {}  {}  {}", record.line, clip(id), clip(name)));
        }
        if let Some(usage) = log.usage.last() {
            let window = usage.window.map_or("not told".to_string(), |window| window.to_string());
            self.summary.push(format!("usage: {} + {} tokens, window {window}", usage.input, usage.output));
        }
        let facts = session.facts();
        let facts = [("session", facts.id), ("version", facts.version), ("model", facts.model), ("cwd", facts.cwd)];
        for (name, fact) in facts.into_iter().filter_map(|(name, fact)| Some((name, fact?))) {
            self.summary.push(format!("{name}: {}", clip(&fact)));
        }
    }

    fn hint(&mut self, mapping: Mapping, session: &Session, bytes: &[u8]) {
        let (map, tally) = (mapping.map(), session.tally());
        let mut unread: Vec<(&String, &usize)> = self.unread.iter().collect();
        unread.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        for (kind, count) in unread.into_iter().take(MOST_KINDS) {
            self.hints.push(format!(
                "{count} × {kind} has no rule: write one, with emit = \"notice\" if it does not matter."
            ));
        }
        let idle = map.rule_lines().filter(|line| !self.used.contains_key(line));
        let idle: Vec<String> = idle.map(|line| line.to_string()).collect();
        if !idle.is_empty() {
            let lines = idle.join(", ");
            self.hints.push(format!(
                "Rules that never applied here: lines {lines}. If they should have, check `when`, `each` and `item`."
            ));
        }
        if self.evidence == 0 {
            self.hints.push("No [[evidence]] holds of any line: the format would not be found without --map.".into());
        }
        if tally.calls == 0 {
            self.hints.push("No call was found: a rule with emit = \"call\" or \"state\" opens them.".into());
        } else if tally.results == 0 {
            self.hints.push("No result was found: a rule with emit = \"result\" closes calls.".into());
        }
        if tally.orphans > 0 {
            let n = tally.orphans;
            self.hints.push(format!("{n} results answer no call: compare `id` of the rules for calls and results."));
        }
        if tally.duplicates > 0 {
            let n = tally.duplicates;
            self.hints.push(format!(
                "{n} results answer a call again: if the format writes results twice by design, say repeats = true."
            ));
        }
        if !tally.open().is_empty() && !session.capability().is_some_and(|capability| capability.shows_open) {
            self.hints.push("There are open calls, and [tells] says open = false: one of the two is wrong.".into());
        }
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').take(200).collect();
        if let Some(other) = detect(&lines).filter(|found| found.format.name() != map.name()) {
            self.hints.push(format!("Without --map this file is taken for {}.", other.format.name()));
        }
    }
}

fn of_rule(found: &Seen) -> String {
    let id = found.id.as_deref().map(clip).unwrap_or_default();
    let id = if id.is_empty() && matches!(found.verb, Verb::Call | Verb::Result) { "(no id)".into() } else { id };
    let name = found.name.as_deref().map(clip).unwrap_or_default();
    format!("rule {:<4} {:<17} {id}  {name}", found.rule, found.verb.name()).trim_end().to_string()
}

/// The fields that say what `record` is, or its keys.
fn kind_of(record: Raw<'_>) -> String {
    let speaking = SPEAKING.iter().filter_map(|key| record.get_str(key).map(|value| format!("{key}={}", clip(&value))));
    let said: Vec<String> = speaking.collect();
    if !said.is_empty() {
        return said.join(" ");
    }
    let keys: Vec<String> = record.fields().take(6).map(|(key, _)| clip(&key.str())).collect();
    format!("{{{}}}", keys.join(", "))
}

fn clip(text: &str) -> String {
    let short: String = text.chars().take(WIDE).collect();
    show_line(&short)
}
