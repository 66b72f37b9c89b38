use rustc_hash::FxHashMap;

use super::{Interner, LaneId, Millis, Note, NoteKind, Record, RecordId, Sym};

/// What kind of thing lives on after its launch was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskKind {
    /// A background command or job.
    Task,
    /// An interactive process session that later calls write to.
    Session,
    /// A sub-agent that reports later.
    Subagent,
}

/// Something that happened at a record beside its being there. Applied by the ledger directly after the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task, session or sub-agent lives on after this record.
    TaskStarted {
        /// The handle by which later records name it.
        id: Sym,
        /// What it is.
        kind: TaskKind,
        /// Id of the call that launched it.
        call: Option<Sym>,
    },
    /// Its end is on record. With `delivered: false` the agent has not been told yet.
    TaskEnded {
        /// The handle.
        id: Sym,
        /// False: the end is recorded, but no record of the conversation carries it.
        delivered: bool,
    },
    /// A retry counter rose above zero.
    RetryOpen(Sym),
    /// A retry counter went back to zero.
    RetrySettled(Sym),
    /// The resolutions of the newest response that were flagged `DENIED` were interruptions: outcome unknown.
    Interrupted,
    /// The call with this id is deferred by design.
    Deferred(Sym),
    /// A process of this answered call may live on without any handle.
    MayLiveOn(Sym),
}

/// A measured number of tokens, as the runtime wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The newest record that this measurement covers (file order).
    pub record: RecordId,
    /// Which thread it speaks of.
    pub lane: LaneId,
    /// Tokens of the context when that response was asked for, in tokens.
    pub input: u64,
    /// Tokens of the response itself, 0 if `input` already includes them.
    pub output: u64,
    /// Context window in tokens, if the runtime wrote it.
    pub window: Option<u64>,
    /// True if the runtime marks the number as its own estimate.
    pub estimated: bool,
}

/// A compaction of the runtime's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// 1-based physical line.
    pub line: u32,
    /// Tokens before it, if the runtime wrote them.
    pub before: Option<u64>,
    /// True if the runtime compacted by itself.
    pub automatic: bool,
}

/// Everything a transcript said, in file order, without its payload. Grows by append only: a rewritten file
/// is read into a new one.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Records in file order.
    pub records: Vec<Record>,
    /// Strings of ids, tools and lanes.
    pub syms: Interner,
    /// Events with the record they happen at, ascending.
    pub events: Vec<(RecordId, Event)>,
    /// Measured token counts, ascending by record.
    pub usage: Vec<Usage>,
    /// Oddities of lines and of the format; pairing oddities are the ledger's.
    pub notes: Vec<Note>,
    /// Compactions of the runtime's own.
    pub boundaries: Vec<Boundary>,
    /// Lanes by name; the first is the main lane.
    pub lanes: Vec<Sym>,
    lane_ids: FxHashMap<Sym, LaneId>,
    /// Physical lines that were not empty.
    pub lines: u32,
    /// Physical lines, empty ones included.
    pub physical: u32,
    /// Damaged lines or parts of lines.
    pub damaged: u32,
    /// Records or lines of an unknown type.
    pub not_understood: u32,
}

impl Log {
    /// Appends `record`, giving it its id.
    pub fn push(&mut self, record: Record) -> RecordId {
        let id = RecordId::try_from(self.records.len()).unwrap_or(RecordId::MAX);
        self.records.push(record);
        id
    }

    /// Id that the next pushed record will get.
    pub fn next_id(&self) -> RecordId {
        RecordId::try_from(self.records.len()).unwrap_or(RecordId::MAX)
    }

    /// Records an event at the newest record, or at record 0 if there is none yet.
    pub fn event(&mut self, event: Event) {
        self.events.push((self.next_id().saturating_sub(1), event));
    }

    /// Records an event at `record`, keeping the list ascending.
    pub fn event_at(&mut self, record: RecordId, event: Event) {
        let place = self.events.partition_point(|(at, _)| *at <= record);
        self.events.insert(place, (record, event));
    }

    /// Events at `record`.
    pub fn events_at(&self, record: RecordId) -> impl Iterator<Item = Event> + '_ {
        let first = self.events.partition_point(|(at, _)| *at < record);
        self.events.iter().skip(first).take_while(move |(at, _)| *at == record).map(|(_, event)| *event)
    }

    /// Adds a note about `line`.
    pub fn note(&mut self, kind: NoteKind, line: u32, text: impl Into<String>) {
        self.notes.push(Note { kind, line, record: None, text: text.into() });
    }

    /// The lane called `name`, new if it was not seen before. The first one named is the main lane.
    pub fn lane(&mut self, name: &str) -> LaneId {
        let sym = self.syms.intern(name);
        *self.lane_ids.entry(sym).or_insert_with(|| {
            self.lanes.push(sym);
            LaneId(u16::try_from(self.lanes.len() - 1).unwrap_or(u16::MAX))
        })
    }

    /// Name of `lane`; `main` for the main lane of a file that named none.
    pub fn lane_name(&self, lane: LaneId) -> &str {
        self.lanes.get(usize::from(lane.0)).map_or("main", |sym| self.syms.name(*sym))
    }

    /// Time of the newest record that has one.
    pub fn newest_time(&self) -> Millis {
        self.records.iter().rev().map(|r| r.time).find(|t| t.known().is_some()).unwrap_or(Millis::NONE)
    }
}
