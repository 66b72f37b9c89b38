//! Which call a resolution belongs to, where the format leaves that to the reader: calls without ids, states, closing by
//! the runtime. A call is its instance, never its id.

use std::collections::BTreeSet;

use crate::model::{LaneId, Sym};

/// Index of a call, in the order of opening.
pub(super) type Instance = u32;

#[derive(Clone, Copy, Debug)]
struct Call {
    lane: LaneId,
    id: Sym,
    name: Option<Sym>,
    /// The row that opened it.
    row: u32,
    /// The row that closed it.
    closed: Option<u32>,
}

/// Every call so far with its state.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    calls: Vec<Call>,
    /// Every instance by id.
    by_id: BTreeSet<(LaneId, Sym, Instance)>,
    /// The open ones by id, by name and in order.
    open_ids: BTreeSet<(LaneId, Sym, Instance)>,
    open_names: BTreeSet<(LaneId, Option<Sym>, Instance)>,
    open: BTreeSet<(LaneId, Instance)>,
    /// What was closed, in order, so that it can be taken back.
    closings: Vec<Instance>,
}

impl Pairing {
    /// How many calls there were.
    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    /// A new call.
    pub(super) fn open(&mut self, lane: LaneId, id: Sym, name: Option<Sym>, row: u32) -> Instance {
        let instance = Instance::try_from(self.calls.len()).unwrap_or(Instance::MAX);
        self.calls.push(Call { lane, id, name, row, closed: None });
        self.by_id.insert((lane, id, instance));
        self.reopen(instance);
        instance
    }

    fn reopen(&mut self, instance: Instance) {
        let Some(call) = self.calls.get_mut(instance as usize) else { return };
        call.closed = None;
        self.open_ids.insert((call.lane, call.id, instance));
        self.open_names.insert((call.lane, call.name, instance));
        self.open.insert((call.lane, instance));
    }

    /// Closes `instance`.
    pub(super) fn close(&mut self, instance: Instance, row: u32) {
        let Some(call) = self.calls.get_mut(instance as usize) else { return };
        call.closed = Some(row);
        let call = *call;
        self.closings.push(instance);
        self.forget_open(call, instance);
    }

    fn forget_open(&mut self, call: Call, instance: Instance) {
        self.open_ids.remove(&(call.lane, call.id, instance));
        self.open_names.remove(&(call.lane, call.name, instance));
        self.open.remove(&(call.lane, instance));
    }

    /// The newest instance of `id`.
    pub(super) fn newest(&self, lane: LaneId, id: Sym) -> Option<Instance> {
        self.by_id.range((lane, id, 0)..=(lane, id, Instance::MAX)).next_back().map(|(.., instance)| *instance)
    }

    /// The newest open instance of `id`.
    pub(super) fn newest_open(&self, lane: LaneId, id: Sym) -> Option<Instance> {
        self.open_ids.range((lane, id, 0)..=(lane, id, Instance::MAX)).next_back().map(|(.., instance)| *instance)
    }

    /// The oldest open call, of that name if there is one.
    pub(super) fn oldest_open(&self, lane: LaneId, name: Option<Sym>) -> Option<Instance> {
        if name.is_none() {
            return self.open.range((lane, 0)..=(lane, Instance::MAX)).next().map(|(_, instance)| *instance);
        }
        let range = (lane, name, 0)..=(lane, name, Instance::MAX);
        self.open_names.range(range).next().map(|(.., instance)| *instance)
    }

    /// Every open call of `lane`, or of all.
    pub(super) fn all_open(&self, lane: Option<LaneId>) -> Vec<Instance> {
        let (first, last) = lane.map_or((LaneId::MAIN, LaneId(u16::MAX)), |lane| (lane, lane));
        self.open.range((first, 0)..=(last, Instance::MAX)).map(|(_, instance)| *instance).collect()
    }

    /// Id, name and lane of a call.
    pub(super) fn of(&self, instance: Instance) -> Option<(LaneId, Sym, Option<Sym>)> {
        self.calls.get(instance as usize).map(|call| (call.lane, call.id, call.name))
    }

    /// The row that opened a call and the one that closed it.
    pub(super) fn rows(&self, instance: Instance) -> Option<(u32, Option<u32>)> {
        self.calls.get(instance as usize).map(|call| (call.row, call.closed))
    }

    /// Calls opened and closings so far, to come back to.
    pub(super) fn mark(&self) -> (u32, u32) {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (count(self.calls.len()), count(self.closings.len()))
    }

    /// As it was at `mark`. Costs what came since.
    pub(super) fn rewind(&mut self, (calls, closings): (u32, u32)) {
        for instance in self.closings.split_off((closings as usize).min(self.closings.len())) {
            self.reopen(instance);
        }
        for (instance, call) in (calls..).zip(self.calls.split_off((calls as usize).min(self.calls.len()))) {
            self.by_id.remove(&(call.lane, call.id, instance));
            self.forget_open(call, instance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Interner;

    #[test]
    fn ids_repeat_names_queue_and_all_of_it_can_be_taken_back() {
        let mut syms = Interner::default();
        let (a, b, tool) = (syms.intern("a"), syms.intern("b"), Some(syms.intern("tool")));
        let main = LaneId::MAIN;
        let mut pairing = Pairing::default();
        let first = pairing.open(main, a, tool, 0);
        let second = pairing.open(main, b, tool, 1);
        assert_eq!(pairing.oldest_open(main, tool), Some(first));
        assert_eq!(pairing.oldest_open(LaneId(1), None), None, "lanes are apart");
        let mark = pairing.mark();
        pairing.close(first, 2);
        let again = pairing.open(main, a, None, 3);
        assert_eq!((pairing.newest_open(main, a), pairing.oldest_open(main, None)), (Some(again), Some(second)));
        pairing.close(again, 4);
        assert_eq!((pairing.newest_open(main, a), pairing.newest(main, a)), (None, Some(again)));
        pairing.rewind(mark);
        assert_eq!((pairing.newest_open(main, a), pairing.all_open(None).len()), (Some(first), 2));
    }
}
