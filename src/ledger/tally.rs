use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    format::Counting,
    model::{Flags, Kind, LaneId, Log, Record, RecordId, Sym},
};

/// A call without any resolution in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TallyOpen {
    /// The call's record.
    pub record: RecordId,
}

/// Counts over the whole file, every lane and branch, in file order. What is on no branch of the model still counts
/// here: this is what the *file* holds, not what the agent owes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Tool calls (server-side ones aside).
    pub calls: usize,
    /// Terminal resolutions.
    pub results: usize,
    /// Second resolutions.
    pub duplicates: usize,
    /// Resolutions whose call stands nowhere before them.
    pub orphans: usize,
    /// Calls whose id was used before.
    pub repeated_ids: usize,
    /// Calls whose id was used again while they were open.
    pub shadowed: usize,
    /// Calls that the runtime discarded.
    pub void: usize,
    /// Resolutions that came after another response of their lane had begun.
    pub late: usize,
    open: FxHashMap<(LaneId, u8, Option<Sym>), Vec<RecordId>>,
    seen: FxHashSet<(LaneId, u8, Option<Sym>)>,
    answered: FxHashSet<(LaneId, u8, Option<Sym>)>,
    newest: FxHashMap<LaneId, Option<Sym>>,
    taken: RecordId,
}

impl Tally {
    /// Counts the records that came since the last call.
    pub fn extend(&mut self, log: &Log, counting: Counting) {
        for id in self.taken..log.next_id() {
            if let Some(record) = log.records.get(id as usize) {
                self.take(id, record, log, counting);
            }
        }
        self.taken = log.next_id();
    }

    /// Calls without any resolution, in file order.
    pub fn open(&self) -> Vec<TallyOpen> {
        let mut open: Vec<TallyOpen> =
            self.open.values().flatten().map(|record| TallyOpen { record: *record }).collect();
        open.sort_by_key(|call| call.record);
        open
    }

    fn take(&mut self, id: RecordId, record: &Record, log: &Log, counting: Counting) {
        let skipped = [Flags::REPEAT, Flags::SERVER, Flags::SYNTHETIC];
        // What stands in a file that this one continues belongs to that file.
        if record.segment != 0 || skipped.into_iter().any(|flag| record.flags.has(flag)) {
            return;
        }
        // Where ids are unique a call is its id in the whole file: sub-agents never share one.
        let lane = if counting == Counting::ById { LaneId::MAIN } else { record.lane };
        let key = (lane, record.class, record.id);
        if record.kind.is_response_part() && !record.flags.has(Flags::LOCAL) {
            self.newest.insert(record.lane, record.response);
        }
        match record.kind {
            Kind::Call => self.call(id, record, key, counting),
            Kind::Result | Kind::Error | Kind::Abandoned if !record.flags.has(Flags::NOT_LOADED) => {
                self.resolution(record, key, log, counting);
            }
            _ => {}
        }
    }

    fn call(&mut self, id: RecordId, record: &Record, key: (LaneId, u8, Option<Sym>), counting: Counting) {
        let new = self.seen.insert(key);
        if !new {
            self.repeated_ids += 1;
            if counting == Counting::ById {
                return;
            }
        }
        self.calls += 1;
        if record.flags.has(Flags::VOID) {
            self.void += 1;
            return;
        }
        let open = self.open.entry(key).or_default();
        self.shadowed += usize::from(!open.is_empty());
        open.push(id);
    }

    fn resolution(&mut self, record: &Record, key: (LaneId, u8, Option<Sym>), log: &Log, counting: Counting) {
        let first = self.answered.insert(key);
        if counting == Counting::ById && !first {
            self.duplicates += 1;
            return;
        }
        self.results += 1;
        let call = self.open.get_mut(&key).and_then(Vec::pop);
        if let Some(call) = call.and_then(|call| log.records.get(call as usize)) {
            let newest = self.newest.get(&record.lane).copied().flatten();
            self.late += usize::from(newest.is_some() && newest != call.response);
        } else if self.seen.contains(&key) {
            self.duplicates += 1;
        } else if !record.flags.has(Flags::REMOTE) {
            self.orphans += 1;
        }
    }
}
