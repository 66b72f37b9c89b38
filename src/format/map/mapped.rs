//! The adapter that a [`Map`](super::Map) drives.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Mapping,
    order::Rows,
    pairing::Pairing,
    pointer::{Paths, plain},
    rule::{Emission, Verb, emissions},
};
use crate::{
    format::{Adapter, Capability, Counting, Format, Line, Piece, SessionFacts, json::Raw, pieces},
    model::{Body, Context, Kind, LaneId, Log, Record, Sym},
};

/// Reader of a mapped format.
pub struct Mapped {
    pub(super) mapping: Mapping,
    pub(super) rows: Rows,
    pub(super) pairing: Pairing,
    pub(super) facts: SessionFacts,
    /// The newest response of each lane while nothing else has come.
    pub(super) runs: FxHashMap<LaneId, Sym>,
    /// Calls that the row at hand has given.
    pub(super) told: FxHashSet<Sym>,
    /// Calls and resolutions that were counted, for formats that write them again.
    pub(super) counted: FxHashSet<(LaneId, bool, Sym)>,
}

impl Mapped {
    /// A reader that has seen nothing yet.
    pub fn new(mapping: Mapping) -> Self {
        Self {
            mapping,
            rows: Rows::new(mapping.map().tree.is_some()),
            pairing: Pairing::default(),
            facts: SessionFacts::default(),
            runs: FxHashMap::default(),
            told: FxHashSet::default(),
            counted: FxHashSet::default(),
        }
    }

    fn learn(&mut self, value: Raw<'_>) {
        let paths = &self.mapping.map().session;
        let text = |paths: &Paths| paths.word(value, value).map(std::borrow::Cow::into_owned);
        let facts = &mut self.facts;
        facts.id = facts.id.take().or_else(|| text(&paths.id));
        for (fact, paths) in [
            (&mut facts.version, &paths.version),
            (&mut facts.cwd, &paths.cwd),
            (&mut facts.branch, &paths.branch),
            (&mut facts.model, &paths.model),
            (&mut facts.title, &paths.title),
        ] {
            if let Some(new) = text(paths) {
                *fact = Some(new);
            }
        }
        facts.window = paths.window.first(value, value).and_then(Raw::u64).or(facts.window);
    }

    /// A record, or what it does to the records before it.
    fn take(&mut self, line: &Line<'_>, record: Raw<'_>, log: &mut Log) {
        let map = self.mapping.map();
        let holds = |when: &super::When| when.holds(record, record);
        if let Some((_, records)) = map.reset.iter().find(|(when, _)| holds(when)) {
            self.forget_from(0);
            for item in records.all(record, record) {
                self.learn(item);
                self.row(line, item, None, true, log);
            }
            return;
        }
        if let Some((_, to)) = map.rewind.iter().find(|(when, _)| holds(when)) {
            let key = to.word(record, record).and_then(|key| log.syms.find(&key));
            self.forget_from(key.and_then(|key| self.rows.find(key)).unwrap_or(0));
            log.push(line.record(Kind::Notice, record));
            return;
        }
        if map.is_skipped(record) {
            log.push(line.record(Kind::Notice, record));
            return;
        }
        let key = if map.upsert { map.key.word(record, record) } else { None };
        let instead = key.and_then(|key| log.syms.find(&key)).and_then(|key| self.rows.find(key));
        self.row(line, record, instead, false, log);
    }

    fn forget_from(&mut self, row: u32) {
        if let Some(mark) = self.rows.get(row).map(|row| row.mark) {
            self.pairing.rewind(mark);
        }
        self.rows.truncate(row);
        self.runs.clear();
    }

    /// The record of the file in `line` that covers the byte `at`.
    fn record_at<'a>(&self, line: &'a [u8], at: u32) -> Option<Raw<'a>> {
        let covers = |value: &Raw<'_>| {
            let (start, len) = value.range();
            start <= at && at < start.saturating_add(len)
        };
        let map = self.mapping.map();
        let record = pieces(line).into_iter().find_map(|piece| match piece {
            Piece::Value { value, .. } if covers(&value) => Some(value),
            _ => None,
        })?;
        let reset = map.reset.iter().find(|(when, _)| when.holds(record, record));
        match reset {
            Some((_, records)) => records.all(record, record).into_iter().find(covers).or(Some(record)),
            None => Some(record),
        }
    }
}

impl Adapter for Mapped {
    fn format(&self) -> Format {
        Format::Mapped(self.mapping)
    }

    fn capability(&self) -> Capability {
        self.mapping.capability()
    }

    fn counting(&self) -> Counting {
        Counting::ByInstance
    }

    fn line(&mut self, line: &Line<'_>, log: &mut Log) {
        if log.lanes.is_empty() {
            log.lane("main");
        }
        self.learn(line.value);
        let map = self.mapping.map();
        let records = map.records.as_ref().map(|records| records.all(line.value, line.value)).unwrap_or_default();
        // A line that holds no records and does not speak for this format is not read as an empty session: it is kept.
        if map.records.is_none() || (records.is_empty() && !map.speaks(line.value)) {
            self.take(line, line.value, log);
            return;
        }
        // Each record becomes a line of its own: a document is large, and one record is what is read again.
        for record in records {
            let (at, len) = record.range();
            let bytes = line.bytes.get(at as usize..(at as usize).saturating_add(len as usize)).unwrap_or_default();
            let Ok(value) = Raw::parse(bytes) else { continue };
            self.learn(value);
            self.take(&Line { offset: line.offset + u64::from(at), bytes, value, ..*line }, value, log);
        }
    }

    fn context(&mut self, log: &mut Log) -> &mut Context {
        self.rows.context(log)
    }

    fn current(&self) -> &Context {
        self.rows.current()
    }

    fn body(&self, line: &[u8], record: &Record) -> Body {
        let Some(whole) = self.record_at(line, record.at) else {
            return Body::text(String::from_utf8_lossy(line));
        };
        let wanted = (record.at, record.len);
        let found = emissions(&self.mapping.map().rules, whole);
        let mut fitting =
            found.iter().filter(|found| found.item.range() == wanted && gives(found.rule.emit, record.kind));
        match (fitting.next(), fitting.next()) {
            (Some(found), other) => body(found, whole, record, other.is_some()),
            _ => Body::text(whole_text(line, wanted)),
        }
    }

    fn session(&self) -> SessionFacts {
        self.facts.clone()
    }
}

/// True if a rule that emits `verb` gives records of `kind`.
fn gives(verb: Verb, kind: Kind) -> bool {
    match kind {
        Kind::User => matches!(verb, Verb::User | Verb::Injected),
        Kind::Assistant => verb == Verb::Assistant,
        Kind::Thinking => verb == Verb::Thinking,
        Kind::Call => matches!(verb, Verb::Call | Verb::State),
        Kind::Result | Kind::Error | Kind::Abandoned => matches!(verb, Verb::Result | Verb::State),
        Kind::Summary => verb == Verb::Boundary,
        Kind::ApprovalRequest => verb == Verb::ApprovalRequest,
        Kind::Approval => verb == Verb::Approval,
        Kind::TaskStarted => verb == Verb::TaskStarted,
        Kind::TaskEnded => verb == Verb::TaskEnded,
        Kind::Retry => verb == Verb::Retry,
        Kind::RetrySettled => verb == Verb::RetrySettled,
        Kind::Notice => matches!(verb, Verb::Notice | Verb::Boundary | Verb::Result),
        Kind::TransactionBegin | Kind::TransactionEnd | Kind::Opaque => false,
    }
}

/// `several`: more than one find lies in the same text, and which one is meant cannot be told.
fn body(found: &Emission<'_>, whole: Raw<'_>, record: &Record, several: bool) -> Body {
    let rule = found.rule;
    let read = |paths: &Paths| {
        let texts: Vec<String> = paths.all(found.item, whole).into_iter().map(text).collect();
        texts.join("\n")
    };
    if record.kind == Kind::Call {
        let input = if several { None } else { found.input.clone() };
        let input = input.or_else(|| (!rule.input.is_empty()).then(|| read(&rule.input)));
        let tool = found.name.as_ref().filter(|_| !several).map(ToString::to_string);
        return Body { tool, input: input.or_else(|| Some(text(found.item))), ..Body::default() };
    }
    let said = if rule.text.is_empty() { text(found.item) } else { read(&rule.text) };
    Body::text(said)
}

/// A text, the texts of blocks, or JSON as it is.
fn text(value: Raw<'_>) -> String {
    if value.is_array() {
        let block = |item: Raw<'_>| match item.str() {
            Some(text) => Some(text.into_owned()),
            None => item.get_str("text").map(std::borrow::Cow::into_owned),
        };
        let blocks: Vec<Option<String>> = value.items().map(block).collect();
        if !blocks.is_empty() && blocks.iter().all(Option::is_some) {
            return blocks.into_iter().flatten().collect::<Vec<_>>().join("\n");
        }
    }
    plain(value).into_owned()
}

fn whole_text(line: &[u8], (at, len): (u32, u32)) -> String {
    let range = at as usize..(at as usize).saturating_add(len as usize);
    String::from_utf8_lossy(line.get(range).unwrap_or(line)).into_owned()
}
