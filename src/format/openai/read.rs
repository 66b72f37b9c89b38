use super::{
    Dialect,
    chain::{Chain, Told},
    lint::Lint,
    words,
};
use crate::{
    format::{Line, json::Raw},
    model::{Flags, Kind, LaneId, Log, Millis, NoteKind, Record, RecordId, Sym},
};

/// What the messages of all conversations of a log are read with.
pub(super) struct Reader {
    dialect: Dialect,
    /// Numbers for responses and messages, which have no names of their own.
    responses: u32,
    messages: u32,
    /// The response that an item of the model which comes now belongs to.
    open: Option<Sym>,
    pub(super) lint: Lint,
}

/// What the records of one message share.
#[derive(Clone, Copy)]
pub(super) struct Base {
    pub(super) time: Millis,
    pub(super) lane: LaneId,
    pub(super) response: Option<Sym>,
    pub(super) message: Option<Sym>,
}

impl Base {
    /// A record of `kind` at `block` with `flags`.
    pub(super) fn record(&self, line: &Line<'_>, kind: Kind, flags: Flags, block: Raw<'_>) -> Record {
        let record = line.record(kind, block);
        let Self { time, lane, response, message } = *self;
        Record { time, lane, response, message, flags: record.flags.with(flags), ..record }
    }
}

impl Reader {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { dialect, responses: 0, messages: 0, open: None, lint: Lint::default() }
    }

    /// Reads one message of `chain` and pushes its records.
    pub(super) fn message(
        &mut self,
        line: &Line<'_>,
        item: Raw<'_>,
        hash: u64,
        chain: &mut Chain,
        time: Millis,
        log: &mut Log,
    ) -> Told {
        let first = log.next_id();
        let base = Base { time, lane: chain.lane, response: None, message: None };
        let mut outside = chain.is_head() && words::is_system(item);
        let mut restart = None;
        // Items that stand together came together, whenever they were read.
        let before = chain.newest().and_then(|id| log.records.get(id as usize));
        self.open = before.filter(|record| record.kind.is_response_part()).and_then(|record| record.response);
        if outside {
            log.push(base.record(line, Kind::Notice, Flags::NONE, item));
        } else if self.dialect == Dialect::Responses {
            let opaque = self.item(line, item, base, log);
            outside = opaque;
            restart = opaque.then_some(log.next_id());
        } else {
            self.role(line, item, base, log);
        }
        if log.next_id() == first {
            // Nothing is in it; it is a message all the same.
            log.push(base.record(line, Kind::Notice, Flags::NONE, item));
        }
        let end = log.next_id();
        let calls = (first..end).filter_map(|id| log.records.get(id as usize));
        chain.calls += calls.filter(|record| record.kind == Kind::Call).count();
        let (at, len) = item.range();
        let (segment, offset, line) = (line.segment, line.offset, line.number);
        Told { hash, segment, offset, line, at, len, records: (first, end), outside, restart }
    }

    /// A name for a response: its own, or a number.
    pub(super) fn response(&mut self, item: Raw<'_>, log: &mut Log) -> Sym {
        if let Some(id) = item.get_str("id").filter(|id| !id.is_empty()) {
            return log.syms.intern(&id);
        }
        self.responses += 1;
        log.syms.intern(&format!("\u{0}response {}", self.responses))
    }

    /// The response that a model's item of a list belongs to: all that stand together came together.
    pub(super) fn part(&mut self, log: &mut Log) -> Sym {
        if let Some(open) = self.open {
            return open;
        }
        self.responses += 1;
        let open = log.syms.intern(&format!("\u{0}response {}", self.responses));
        self.open = Some(open);
        open
    }

    /// A name for a message that is no response: what stands in it is not parted.
    pub(super) fn own(&mut self, log: &mut Log) -> Sym {
        self.messages += 1;
        log.syms.intern(&format!("\u{0}message {}", self.messages))
    }
}

/// A block or an item that is not known: kept, counted, told.
pub(super) fn unknown(line: &Line<'_>, block: Raw<'_>, what: &str, base: Base, log: &mut Log) -> RecordId {
    let name = block.get_str("type").or_else(|| block.get_str("role")).unwrap_or_default();
    log.not_understood += 1;
    log.note(NoteKind::NotUnderstood, line.number, format!("The {what} `{name}` is not known; it is kept as it is."));
    log.push(base.record(line, Kind::Opaque, Flags::NONE, block))
}
