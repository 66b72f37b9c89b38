use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::{
    carried::{Carried, CarriedSet},
    units::Joined,
};
use crate::model::{Context, Event, Flags, Kind, Log, Record, Sym, TaskKind};

/// What a call or an approval request is found by. Ids may repeat: the position is the identity.
type Key = (bool, u8, Option<Sym>);

/// What the ledger keeps of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) kind: Kind,
    pub(super) flags: Flags,
    /// Position of the partner: resolution of a call, call of a resolution; `u32::MAX` if none.
    pub(super) link: u32,
    /// First part of the response this part belongs to; itself for anything else.
    pub(super) run: u32,
    /// Of a resolution: another response had begun when it came.
    pub(super) late: bool,
}

/// The newest response, as far as it is needed to tell what nobody has read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    pub(super) start: u32,
    /// Calls of it that are open, or answered with a payload.
    pub(super) hot: u32,
}

/// The fold over the records of one lane. See the module's paragraph.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(super) entries: Vec<Entry>,
    pub(super) joined: Joined,
    open: FxHashMap<Key, u32>,
    closed: FxHashMap<Key, u32>,
    pub(super) pending: BTreeSet<u32>,
    /// Unanswered calls by id, void ones and shadowed ones included, for orphans that stand before their call.
    pub(super) unanswered: FxHashMap<Option<Sym>, BTreeSet<u32>>,
    pub(super) orphans: FxHashMap<Option<Sym>, Vec<u32>>,
    pub(super) orphan_list: Vec<u32>,
    pub(super) duplicates: Vec<(u32, u32)>,
    pub(super) shadowed: Vec<u32>,
    pub(super) open_brackets: BTreeMap<(Kind, Option<Sym>), Vec<u32>>,
    /// First openers of the open transactions and retries, for what asks by position.
    pub(super) bracket_firsts: BTreeSet<(u32, Kind, Option<Sym>)>,
    pub(super) settled: Vec<Bracket>,
    run: Option<(Option<Sym>, u32, u32)>,
    pub(super) newest: Option<Newest>,
    /// Results with payload since the newest response began: result, first part of the call's response.
    pub(super) unread: Vec<(u32, u32)>,
    /// How many of `unread` an interruption has looked at: what it left is no denial.
    interrupted: usize,
    /// Late results of other responses that arrived between two parts of the newest one: it has not read them.
    pub(super) between: Vec<(u32, u32)>,
    message: Option<(Sym, u32)>,
    pub(super) carried: CarriedSet,
    pub(super) deferred: BTreeSet<u32>,
}

/// A transaction or a retry: one period in which it is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// [`Kind::TransactionBegin`] or [`Kind::Retry`].
    pub kind: Kind,
    /// The agent's id.
    pub id: Option<Sym>,
    /// Its openers, ascending; more than one if it was opened again while open.
    pub openers: Vec<u32>,
    /// What closed it.
    pub closer: Option<u32>,
}

impl Bracket {
    /// First opener.
    pub fn first(&self) -> usize {
        self.openers.first().map_or(0, |at| *at as usize)
    }

    /// The newest opener before `cut`, if it is open there.
    pub fn open_at(&self, cut: usize) -> Option<usize> {
        let open = self.first() < cut && self.closer.is_none_or(|at| at as usize >= cut);
        let before = self.openers.partition_point(|at| (*at as usize) < cut);
        let newest = before.checked_sub(1).and_then(|n| self.openers.get(n)).map(|at| *at as usize);
        newest.filter(|_| open)
    }
}

pub(super) const NO_LINK: u32 = u32::MAX;

impl Ledger {
    /// The ledger of the first `len` places of `context`.
    pub fn of(log: &Log, context: &Context, len: usize) -> Self {
        let mut ledger = Self::default();
        ledger.extend(log, context, len);
        ledger
    }

    /// Folds the places of `context` from where this ledger stands up to `len`.
    pub fn extend(&mut self, log: &Log, context: &Context, len: usize) {
        for position in self.entries.len()..len.min(context.len()) {
            let Some(record) = context.get(log, position) else { continue };
            self.push(record);
            if let Some(id) = context.slots().get(position).and_then(|slot| slot.id()) {
                log.events_at(id).for_each(|event| self.apply(event));
            }
        }
    }

    /// Number of records folded.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if nothing was folded.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Folds the next record.
    pub fn push(&mut self, record: &Record) {
        let at = self.joined.push();
        self.entries.push(Entry { kind: record.kind, flags: record.flags, link: NO_LINK, run: at, late: false });
        let key = |approval: bool| (approval, if approval { 0 } else { record.class }, record.id);
        match record.kind {
            // What the client wrote itself (an API error text) or discarded is no response: it reads no result and ends no turn.
            Kind::Assistant | Kind::Thinking if record.flags.has(Flags::LOCAL) => {}
            Kind::Assistant | Kind::Thinking => self.part(at, record),
            Kind::Call => {
                self.part(at, record);
                self.opens(at, key(false), !record.flags.has(Flags::VOID));
                self.unanswered.entry(record.id).or_default().insert(at);
            }
            Kind::ApprovalRequest => self.opens(at, key(true), true),
            Kind::Approval => self.resolves(at, key(true)),
            Kind::Abandoned if record.flags.has(Flags::PROSPECTIVE) => {
                if let Some(call) = self.open.get(&key(false)).copied() {
                    self.joined.join_newest(call);
                }
            }
            Kind::Result | Kind::Error | Kind::Abandoned if !record.flags.has(Flags::NOT_LOADED) => {
                self.resolves(at, key(false));
            }
            Kind::TransactionBegin | Kind::Retry => {
                self.begin(at, record.kind, record.id);
            }
            Kind::TransactionEnd => self.settle(at, Kind::TransactionBegin, record.id),
            Kind::RetrySettled => self.settle(at, Kind::Retry, record.id),
            Kind::User | Kind::Summary if record.message.is_none() => self.run = None,
            _ => {}
        }
        self.share_message(at, record.message);
        if record.flags.has(Flags::SETTLES_RETRY) {
            self.settle_all_retries(at);
        }
    }

    /// Applies something that happened at the newest record.
    pub fn apply(&mut self, event: Event) {
        let Some(at) = self.entries.len().checked_sub(1).and_then(|n| u32::try_from(n).ok()) else { return };
        match event {
            Event::TaskStarted { id, kind, call } => {
                self.carried.start(Carried { id, kind, at, call, undelivered: false, uncertain: false });
            }
            Event::TaskEnded { id, delivered: true } => self.carried.end(id),
            Event::TaskEnded { id, delivered: false } => self.carried.end_untold(id),
            Event::MayLiveOn(id) => {
                let kind = TaskKind::Session;
                self.carried.start(Carried { id, kind, at, call: Some(id), undelivered: false, uncertain: true });
            }
            Event::RetryOpen(id) => self.begin(at, Kind::Retry, Some(id)),
            Event::RetrySettled(id) => self.settle(at, Kind::Retry, Some(id)),
            Event::Interrupted => self.interrupt(),
            Event::Deferred(id) => {
                let calls = self.unanswered.get(&Some(id)).into_iter().flatten();
                self.deferred.extend(calls);
            }
        }
    }

    /// A part of a response: joins the parts before it while no other response and no human turn came between.
    fn part(&mut self, at: u32, record: &Record) {
        let same = self.run.filter(|(response, ..)| record.response.is_some() && *response == record.response);
        let start = match same {
            Some((_, start, last)) => {
                self.joined.join_newest(last);
                start
            }
            None => at,
        };
        self.run = Some((record.response, start, at));
        if let Some(entry) = self.entries.last_mut() {
            entry.run = start;
        }
        let hot = u32::from(record.is_owed_call() && !record.flags.has(Flags::SERVER));
        match &mut self.newest {
            Some(newest) if newest.start == start => {
                newest.hot += hot;
                self.between.append(&mut self.unread);
                self.interrupted = 0;
            }
            _ => {
                // A different response has read everything before it; another part of the same one reads nothing.
                self.unread.clear();
                self.between.clear();
                self.interrupted = 0;
                self.newest = Some(Newest { start, hot });
            }
        }
    }

    fn opens(&mut self, at: u32, key: Key, owed: bool) {
        if let Some(older) = self.open.insert(key, at) {
            self.shadowed.push(older);
        }
        if owed {
            self.pending.insert(at);
        }
    }

    fn resolves(&mut self, at: u32, key: Key) {
        if let Some(opener) = self.open.remove(&key) {
            self.closed.insert(key, opener);
            self.pending.remove(&opener);
            self.joined.join_newest(opener);
            self.set_link(opener, at);
            self.set_link(at, opener);
            if !key.0 {
                if let Some(calls) = self.unanswered.get_mut(&key.2) {
                    calls.remove(&opener);
                }
                self.answered(opener, at);
            }
        } else if let Some(opener) = self.closed.get(&key).copied() {
            self.joined.join_newest(opener);
            self.duplicates.push((at, opener));
        } else if !self.entry(at).is_some_and(|entry| entry.flags.has(Flags::REMOTE)) {
            self.orphans.entry(key.2).or_default().push(at);
            self.orphan_list.push(at);
        }
    }

    /// Keeps the live frontier: is there a payload that nobody has read?
    fn answered(&mut self, call: u32, at: u32) {
        let run = self.entry(call).map_or(call, |entry| entry.run);
        let late = self.newest.is_some_and(|newest| newest.start != run);
        if let Some(entry) = self.entries.get_mut(at as usize) {
            entry.late = late;
        }
        let payload = self.entry(at).is_some_and(has_payload);
        let server = self.entry(call).is_some_and(|entry| entry.flags.has(Flags::SERVER));
        if payload && !server {
            self.unread.push((at, run));
        }
        let void = self.entry(call).is_some_and(|entry| entry.flags.has(Flags::VOID));
        if let Some(newest) = &mut self.newest
            && newest.start == run
            && !payload
            && !void
            && !server
        {
            newest.hot = newest.hot.saturating_sub(1);
        }
    }

    /// The denials of the newest response were interruptions: outcome unknown, no payload.
    fn interrupt(&mut self) {
        let fresh = self.unread.split_off(self.interrupted.min(self.unread.len()));
        for (result, run) in fresh {
            let denied = self.entry(result).is_some_and(|entry| entry.flags.has(Flags::DENIED));
            if !denied {
                self.unread.push((result, run));
                continue;
            }
            if let Some(entry) = self.entries.get_mut(result as usize) {
                entry.flags = entry.flags.with(Flags::UNKNOWN_OUTCOME);
            }
            if let Some(newest) = &mut self.newest
                && newest.start == run
            {
                newest.hot = newest.hot.saturating_sub(1);
            }
        }
        self.interrupted = self.unread.len();
    }

    fn begin(&mut self, at: u32, kind: Kind, id: Option<Sym>) {
        let openers = self.open_brackets.entry((kind, id)).or_default();
        openers.push(at);
        if openers.len() == 1 {
            self.bracket_firsts.insert((at, kind, id));
        }
    }

    fn settle(&mut self, at: u32, kind: Kind, id: Option<Sym>) {
        if let Some(openers) = self.open_brackets.remove(&(kind, id)) {
            let first = openers.first().copied().unwrap_or(at);
            self.bracket_firsts.remove(&(first, kind, id));
            self.joined.cover_from(first);
            self.settled.push(Bracket { kind, id, openers, closer: Some(at) });
        }
    }

    fn settle_all_retries(&mut self, at: u32) {
        let retries = self.open_brackets.range((Kind::Retry, None)..).take_while(|((kind, _), _)| *kind == Kind::Retry);
        let open: Vec<Option<Sym>> = retries.map(|((_, id), _)| *id).collect();
        for id in open {
            self.settle(at, Kind::Retry, id);
        }
    }

    /// Records of one physical message that follow one another are one unit.
    fn share_message(&mut self, at: u32, message: Option<Sym>) {
        if let (Some(message), Some((known, before))) = (message, self.message)
            && message == known
        {
            self.joined.join_newest(before);
        }
        if let Some(message) = message {
            self.message = Some((message, at));
        }
    }

    fn set_link(&mut self, at: u32, link: u32) {
        if let Some(entry) = self.entries.get_mut(at as usize) {
            entry.link = link;
        }
    }

    pub(super) fn entry(&self, at: u32) -> Option<&Entry> {
        self.entries.get(at as usize)
    }
}

fn has_payload(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::Result | Kind::Error) && !entry.flags.has(Flags::UNKNOWN_OUTCOME)
}
