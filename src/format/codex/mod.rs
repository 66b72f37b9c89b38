//! Codex rollouts, generations G0 (0.20) to G4 (0.171).
//!
//! Comes in: lines of a rollout file in order, and after its first line those of the files that it continues.
//! Goes out: one record per line (two kinds hold more: a `compacted` line has one for itself and one, flagged
//! `REPEAT`, per item of its replacement history); the context that the newest client would send next, with the
//! answers that it invents for calls without output; figures, boundaries, processes that live on.
//! Must never: believe a lifetime total to be the size of the context, let an output answer a call of another
//! class, take the client's own wrappers for a person's words, or change the list that the client would send for a
//! better one.
//!
//! Lines that no model reads become [`Kind::Notice`] records outside the context, so that every line of the file is
//! a record; what they tell (a process ended, a goal is open) is an event at the newest record of the context.

mod body;
mod events;
mod head;
mod history;
mod items;
mod line;
mod lint;
mod meter;
mod output;
mod processes;
mod step;
mod wrappers;
mod write;

use head::{Generation, Head, Lineage};
use history::History;
use items::{Manner, Reader};
use line::{Entry, Sort, pick, unread};
use lint::Lint;
use meter::Meter;
use processes::Processes;
use step::{Compaction, Deed, Item, Role, Step};

use super::{
    Adapter, Capability, Continues, Counting, ForkError, ForkOrder, Forked, Format, Line, SessionFacts, json::Raw,
};
use crate::model::{Body, Boundary, Context, Flags, Kind, Log, Millis, NoteKind, Record, RecordId};

/// Reader of Codex rollouts.
#[derive(Default)]
pub struct Codex {
    head: Head,
    lineage: Lineage,
    lint: Lint,
    reader: Reader,
    meter: Meter,
    history: History,
    processes: Processes,
    /// The file of the bundle that is being read.
    segment: u16,
    /// Steps of the files that this one continues, newest file first: their order is only known when all are read.
    parked: Vec<Vec<Step>>,
    /// A turn runs and has something of a person or a model in it: a compaction now was not asked for by hand.
    turn_is_busy: bool,
    /// A line of the file itself was read.
    begun: bool,
}

impl Codex {
    /// A reader that has seen nothing yet. The file's name says nothing that the header does not.
    pub fn new(_file_stem: &str) -> Self {
        Self::default()
    }

    /// The first line, and the first line of each file of a bundle.
    fn begin(&mut self, entry: &Entry<'_>, line: &Line<'_>, log: &mut Log) {
        if line.segment != self.segment {
            self.segment = line.segment;
            self.reader.responses.end();
            self.meter.enter(line.segment);
            if line.segment > 0 {
                self.lineage.fed();
                self.parked.push(Vec::new());
            }
        }
        if line.segment == 0 {
            if self.begun {
                self.lineage.closed(line.number, log);
                self.unpark(log);
            } else {
                self.begun = true;
                Lint::first(entry.sort == Sort::Header, entry.bare, line.number, log);
            }
        }
    }

    /// The steps of continued files, oldest file first.
    fn unpark(&mut self, log: &mut Log) {
        for step in std::mem::take(&mut self.parked).into_iter().rev().flatten() {
            self.apply(step, log);
        }
    }

    /// Takes a step now, or keeps it until its file's turn has come.
    fn take(&mut self, step: Step, log: &mut Log) {
        match self.parked.last_mut() {
            Some(steps) if self.segment > 0 => steps.push(step),
            _ => self.apply(step, log),
        }
    }

    fn apply(&mut self, step: Step, log: &mut Log) {
        match step {
            Step::Item { item, sent, sign, deed } => {
                self.history.item(item, sent, sign);
                if sent {
                    self.processes.item(deed, item.record, log);
                }
            }
            Step::Asked => self.history.asked(),
            Step::Compacted(cut) => {
                self.history.compacted(&cut, log);
                self.processes.repeated(&cut.deeds, log);
            }
            Step::RolledBack { turns, line } => self.history.rolled_back(turns, line, log),
            Step::Happened(what) => {
                let record = self.history.newest().unwrap_or(0);
                if self.processes.happened(what, record, log) {
                    self.history.touch();
                }
            }
        }
    }

    fn manner(&self, repeat: bool) -> Manner {
        Manner { interleaved: self.head.is_interleaved(), paginated: self.head.generation == Generation::G4, repeat }
    }

    fn header(&mut self, entry: &Entry<'_>, line: &Line<'_>, log: &mut Log) {
        log.push(unread(line, Kind::Notice, entry.payload, entry.time));
        if line.segment > 0 {
            self.lineage.header(entry.payload, line, log);
        } else if self.head.is_seen() {
            self.lint.header(line.number, log);
        } else {
            self.head.take(entry);
            self.lineage.header(entry.payload, line, log);
        }
    }

    fn item(&mut self, payload: Raw<'_>, time: Millis, line: &Line<'_>, log: &mut Log) {
        let step = self.reader.item(line, payload, time, self.manner(false), log);
        if line.salvaged {
            return;
        }
        if let Step::Item { item, sent: true, .. } = step {
            let model = log.records.get(item.record as usize).is_some_and(|r| r.kind.is_response_part());
            self.meter.item(item.record, model, log);
            self.turn_is_busy |= model || item.role == Role::Prompt;
        }
        self.take(step, log);
    }

    /// A message of another agent outside the response items; the client makes an item of it.
    fn communication(&mut self, entry: &Entry<'_>, line: &Line<'_>, log: &mut Log) {
        let mut record = Record { time: entry.time, ..line.record(Kind::User, entry.payload) };
        record.flags = record.flags.with(Flags::META);
        let record = log.push(record);
        self.reader.responses.end();
        if line.salvaged {
            return;
        }
        self.meter.item(record, false, log);
        let item = Item { record, role: Role::Agent, text: 0, row: 0 };
        self.take(Step::Item { item, sent: true, sign: step::Sign::None, deed: step::Deed::None }, log);
    }

    fn compacted(&mut self, entry: &Entry<'_>, line: &Line<'_>, log: &mut Log) {
        let names = ["message", "replacement_history", "replacement_history_metadata"];
        let [message, history, metadata] = pick(entry.payload, names);
        let message = message.filter(|raw| raw.is_string());
        let history = history.filter(|raw| raw.is_array());
        let record = Record { time: entry.time, ..line.record(Kind::Summary, message.unwrap_or(entry.payload)) };
        let record = log.push(record);
        self.reader.responses.end();
        let text = message.and_then(Raw::str).unwrap_or_default();
        // The client tells a summary by its first words only; the raw one of G1 is a prompt to it.
        let role = if wrappers::is_summary(&text) { Role::Summary } else { Role::Prompt };
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let summary = Item { record, role, text: bytes, row: 0 };
        let replaced = history.map(|history| self.replacement(history, entry.time, line, log));
        let (items, deeds) = replaced.unzip();
        if line.segment == 0 && !line.salvaged {
            let (before, automatic) = (self.meter.before(log), self.turn_is_busy);
            log.boundaries.push(Boundary { line: line.number, before, automatic });
        }
        let length = |raw: Raw<'_>| raw.items().count();
        let good =
            metadata.filter(|raw| raw.is_array()).is_none_or(|metadata| length(metadata) == history.map_or(0, length));
        if !good {
            let text = "The metadata of the replacement history has another length: Codex drops this line without a \
                        word, and the old history returns.";
            log.note(NoteKind::Resume, line.number, text);
        }
        if !good || line.salvaged {
            return;
        }
        let newest = items.as_ref().and_then(|items| items.last()).map_or(record, |item| item.record);
        self.meter.boundary(Some(newest));
        let deeds = deeds.unwrap_or_default();
        self.take(Step::Compacted(Compaction { summary, line: line.number, items, deeds }), log);
    }

    fn replacement(
        &mut self,
        history: Raw<'_>,
        time: Millis,
        line: &Line<'_>,
        log: &mut Log,
    ) -> (Vec<Item>, Vec<(Deed, RecordId)>) {
        let manner = self.manner(true);
        let (mut items, mut deeds) = (Vec::new(), Vec::new());
        for value in history.items() {
            if let Step::Item { item, sent: true, deed, .. } = self.reader.item(line, value, time, manner, log) {
                items.push(item);
                deeds.push((deed, item.record));
            }
        }
        self.reader.responses.end();
        (items, deeds)
    }

    /// A line that no model reads.
    fn display(&mut self, entry: &Entry<'_>, line: &Line<'_>, log: &mut Log) {
        let event = (entry.sort == Sort::Event).then(|| entry.payload.get_str("type").unwrap_or_default());
        let known = event.as_ref().map_or(entry.sort != Sort::Unknown, |name| events::is_known(name));
        let kind = if known { Kind::Notice } else { Kind::Opaque };
        log.push(unread(line, kind, entry.payload, entry.time));
        if !known {
            let (what, name) = event.as_deref().map_or(("record", &*entry.name), |name| ("event", name));
            log.not_understood += 1;
            let text = format!("The {what} type `{name}` is not known; the line is kept as it is.");
            log.note(NoteKind::NotUnderstood, line.number, text);
        }
        if line.salvaged {
            return;
        }
        match entry.sort {
            Sort::Event => self.event(event.as_deref().unwrap_or_default(), entry, line, log),
            Sort::TurnContext => {
                self.head.turn_context(entry.payload);
                if self.head.is_interleaved() {
                    self.reader.responses.end();
                }
            }
            Sort::State => self.reader.responses.end(),
            Sort::TokenUsage => {
                self.reader.responses.end();
                self.meter.usage_record(entry.payload, line, log);
            }
            _ => {}
        }
    }
}

impl Adapter for Codex {
    fn format(&self) -> Format {
        Format::Codex
    }

    fn capability(&self) -> Capability {
        self.head.capability()
    }

    fn counting(&self) -> Counting {
        Counting::ByInstance
    }

    fn line(&mut self, line: &Line<'_>, log: &mut Log) {
        if log.lanes.is_empty() {
            log.lane("main");
        }
        let mut entry = Entry::read(line.value);
        self.begin(&entry, line, log);
        if entry.bare && entry.sort != Sort::Unknown {
            if self.head.is_seen() && self.head.generation != Generation::G0 {
                // A bare line in a file of envelopes: Codex cannot read it.
                entry.sort = Sort::Unknown;
            } else {
                self.head.see_bare();
            }
        }
        match entry.sort {
            Sort::Header => self.header(&entry, line, log),
            Sort::Item => self.item(entry.payload, entry.time, line, log),
            Sort::Communication => self.communication(&entry, line, log),
            Sort::Compacted => self.compacted(&entry, line, log),
            _ => self.display(&entry, line, log),
        }
        if self.head.generation == Generation::G4 && line.segment == 0 && !line.salvaged {
            self.lint.ordinal(entry.ordinal, line.number, log);
        }
    }

    fn context(&mut self, log: &mut Log) -> &mut Context {
        self.unpark(log);
        self.history.context(log)
    }

    fn current(&self) -> &Context {
        self.history.current()
    }

    fn body(&self, line: &[u8], record: &Record) -> Body {
        body::decode(line, record)
    }

    fn session(&self) -> SessionFacts {
        self.head.facts(self.meter.window())
    }

    fn continues(&self) -> Option<Continues> {
        self.lineage.want()
    }

    fn fork(&self, order: &ForkOrder<'_>) -> Result<Forked, ForkError> {
        write::fork(order, self.head.generation)
    }
}
