use super::{Flags, Kind, Log, Record, RecordId};

/// One place of the effective context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    index: u32,
    synthetic: bool,
    /// False: stands in the conversation, but the runtime will not put it into its next request.
    pub sent: bool,
}

impl Slot {
    /// A record of the log, sent to the model.
    pub fn record(id: RecordId) -> Self {
        Self { index: id, synthetic: false, sent: true }
    }

    /// The record of the log behind this place, if it is one.
    pub fn id(self) -> Option<RecordId> {
        (!self.synthetic).then_some(self.index)
    }

    /// This place, not sent.
    #[must_use]
    pub fn unsent(self) -> Self {
        Self { sent: false, ..self }
    }
}

/// What the runtime would send next: the main lane's records in the order sent, after boundaries, branches and
/// repairs. Positions everywhere in cutline count these slots from 0.
#[derive(Clone, Debug, Default)]
pub struct Context {
    slots: Vec<Slot>,
    synthetic: Vec<Record>,
    kept: usize,
}

impl Context {
    /// All places in order.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Number of places.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True if the next request would carry nothing.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The record at `position`.
    pub fn get<'a>(&'a self, log: &'a Log, position: usize) -> Option<&'a Record> {
        let slot = self.slots.get(position)?;
        if slot.synthetic { self.synthetic.get(slot.index as usize) } else { log.records.get(slot.index as usize) }
    }

    /// Appends a record of the log.
    pub fn push(&mut self, slot: Slot) {
        self.slots.push(slot);
    }

    /// Appends a record that the runtime invents; it gets [`Flags::SYNTHETIC`].
    pub fn push_synthetic(&mut self, mut record: Record) {
        record.flags = record.flags.with(Flags::SYNTHETIC);
        record.line = 0;
        let index = u32::try_from(self.synthetic.len()).unwrap_or(u32::MAX);
        self.synthetic.push(record);
        self.slots.push(Slot { index, synthetic: true, sent: true });
    }

    /// The runtime's own answer to a call it will not wait for: directly after the call, without payload.
    /// `owed`: it is only what the *next* request would say; the call itself is still open.
    pub fn push_placeholder(&mut self, call: &Record, owed: bool) {
        let mut record = Record { kind: Kind::Abandoned, text: 0, tokens: 4, ..*call };
        record.flags = Flags::UNKNOWN_OUTCOME.with_if(Flags::PROSPECTIVE, owed);
        record.response = None;
        record.message = None;
        self.push_synthetic(record);
    }

    /// Forgets everything from `position` on, to be pushed anew.
    pub fn truncate(&mut self, position: usize) {
        self.slots.truncate(position);
        let first = self.slots.iter().filter(|slot| slot.synthetic).count();
        self.synthetic.truncate(first);
        self.kept = self.kept.min(position);
    }

    /// The same with records that stand on no line, each before an old position; these are ascending.
    #[must_use]
    pub fn with(&self, records: &[(usize, Record)]) -> Self {
        let mut out = Self { slots: Vec::with_capacity(self.len() + records.len()), ..self.clone() };
        let mut records = records.iter().peekable();
        for at in 0..=self.len() {
            while let Some((_, record)) = records.next_if(|(place, _)| *place <= at) {
                out.push_synthetic(*record);
            }
            out.slots.extend(self.slots.get(at));
        }
        out.kept = 0;
        out
    }

    /// How many leading places are the same as when [`Context::seen`] was called last.
    pub fn kept(&self) -> usize {
        self.kept.min(self.slots.len())
    }

    /// The reader has taken everything up to here.
    pub fn seen(&mut self) {
        self.kept = self.slots.len();
    }

    /// Replaces the content by `next`, keeping the common prefix as kept.
    pub fn replace(&mut self, next: Self) {
        let same = self
            .slots
            .iter()
            .zip(&next.slots)
            .take_while(|(a, b)| {
                a == b && (!a.synthetic || self.synthetic.get(a.index as usize) == next.synthetic.get(b.index as usize))
            })
            .count();
        self.kept = self.kept.min(same);
        self.slots = next.slots;
        self.synthetic = next.synthetic;
    }
}
