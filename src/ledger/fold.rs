use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::units::{Joined, Unit, Units};
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
}

/// The newest response, as far as it is needed to tell what nobody has read.
#[derive(Clone, Copy, Debug)]
struct Newest {
    start: u32,
    /// Calls of it that are open, or answered with a payload.
    hot: u32,
}

/// Something that lives on after its launch was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Handle by which later records name it.
    pub id: Sym,
    /// What it is.
    pub kind: TaskKind,
    /// Position of the record that launched it.
    pub at: u32,
    /// Id of the call that launched it.
    pub call: Option<Sym>,
    /// Its end is recorded but was not told to the agent.
    pub undelivered: bool,
    /// Nothing says that it runs, nothing says that it ended.
    pub uncertain: bool,
}

/// The fold over the records of one lane. See the module's paragraph.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(super) entries: Vec<Entry>,
    joined: Joined,
    open: FxHashMap<Key, u32>,
    closed: FxHashMap<Key, u32>,
    pending: BTreeSet<u32>,
    /// Unanswered calls by id, void ones and shadowed ones included, for orphans that stand before their call.
    unanswered: FxHashMap<Option<Sym>, BTreeSet<u32>>,
    orphans: FxHashMap<Option<Sym>, Vec<u32>>,
    orphan_list: Vec<u32>,
    duplicates: Vec<(u32, u32)>,
    shadowed: Vec<u32>,
    open_brackets: BTreeMap<(Kind, Option<Sym>), Vec<u32>>,
    settled: Vec<Bracket>,
    run: Option<(Option<Sym>, u32, u32)>,
    newest: Option<Newest>,
    /// Results with payload since the newest response began: result, first part of the call's response.
    unread: Vec<(u32, u32)>,
    /// Late results of other responses that arrived between two parts of the newest one: it has not read them.
    between: Vec<(u32, u32)>,
    message: Option<(Sym, u32)>,
    pub(super) carried: Vec<Carried>,
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
        let newest = self.openers.iter().rev().map(|at| *at as usize).find(|at| *at < cut);
        newest.filter(|_| open)
    }
}

const NO_LINK: u32 = u32::MAX;

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
        self.entries.push(Entry { kind: record.kind, flags: record.flags, link: NO_LINK, run: at });
        let key = |approval: bool| (approval, if approval { 0 } else { record.class }, record.id);
        match record.kind {
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
                self.open_brackets.entry((record.kind, record.id)).or_default().push(at);
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
                self.carried.retain(|task| task.id != id);
                self.carried.push(Carried { id, kind, at, call, undelivered: false, uncertain: false });
            }
            Event::TaskEnded { id, delivered: true } => self.carried.retain(|task| task.id != id),
            Event::TaskEnded { id, delivered: false } => {
                self.carried.iter_mut().filter(|task| task.id == id).for_each(|task| task.undelivered = true);
            }
            Event::MayLiveOn(id) => {
                self.carried.retain(|task| task.id != id);
                let kind = TaskKind::Session;
                self.carried.push(Carried { id, kind, at, call: Some(id), undelivered: false, uncertain: true });
            }
            Event::RetryOpen(id) => self.open_brackets.entry((Kind::Retry, Some(id))).or_default().push(at),
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
            }
            _ => {
                // A different response has read everything before it; another part of the same one reads nothing.
                self.unread.clear();
                self.between.clear();
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
        } else {
            self.orphans.entry(key.2).or_default().push(at);
            self.orphan_list.push(at);
        }
    }

    /// Keeps the live frontier: is there a payload that nobody has read?
    fn answered(&mut self, call: u32, at: u32) {
        let run = self.entry(call).map_or(call, |entry| entry.run);
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
        let unread = std::mem::take(&mut self.unread);
        for (result, run) in unread {
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
    }

    fn settle(&mut self, at: u32, kind: Kind, id: Option<Sym>) {
        if let Some(openers) = self.open_brackets.remove(&(kind, id)) {
            self.joined.cover_from(openers.first().copied().unwrap_or(at));
            self.settled.push(Bracket { kind, id, openers, closer: Some(at) });
        }
    }

    fn settle_all_retries(&mut self, at: u32) {
        let open: Vec<Option<Sym>> =
            self.open_brackets.keys().filter(|(kind, _)| *kind == Kind::Retry).map(|(_, id)| *id).collect();
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

/// Answers.
impl Ledger {
    /// Kind of the record at `position`.
    pub fn kind(&self, position: usize) -> Option<Kind> {
        self.entries.get(position).map(|entry| entry.kind)
    }

    /// The resolution of the call or approval request at `position`, or the opener of the resolution there.
    pub fn partner(&self, position: usize) -> Option<usize> {
        self.entries.get(position).filter(|entry| entry.link != NO_LINK).map(|entry| entry.link as usize)
    }

    /// First part of the response that the part at `position` belongs to.
    pub fn response_start(&self, position: usize) -> usize {
        self.entries.get(position).map_or(position, |entry| entry.run as usize)
    }

    /// Blocking openers before `cut` without their closer before `cut`: calls and approval requests, ascending.
    pub fn pending_at(&self, cut: usize) -> Vec<usize> {
        let open = self.entries.iter().take(cut).enumerate().filter(|(_, entry)| {
            matches!(entry.kind, Kind::Call | Kind::ApprovalRequest)
                && !entry.flags.has(Flags::VOID)
                && (entry.link == NO_LINK || entry.link as usize >= cut)
        });
        open.map(|(at, _)| at).collect()
    }

    /// Blocking openers that are open now, ascending.
    pub fn pending(&self) -> impl Iterator<Item = usize> + '_ {
        self.pending.iter().map(|at| *at as usize)
    }

    /// True if the call or approval request at `position` is open.
    pub fn is_pending(&self, position: usize) -> bool {
        u32::try_from(position).is_ok_and(|at| self.pending.contains(&at))
    }

    /// Resolutions and duplicates at or after `cut` whose call stands before it.
    pub fn orphaned_by(&self, cut: usize) -> Vec<usize> {
        let linked = self.entries.iter().enumerate().skip(cut).filter(|(_, entry)| {
            (entry.kind.is_resolution() || entry.kind == Kind::Approval)
                && entry.link != NO_LINK
                && (entry.link as usize) < cut
        });
        let doubled = self.duplicates.iter().filter(|(at, call)| *at as usize >= cut && (*call as usize) < cut);
        let mut out: Vec<usize> = linked.map(|(at, _)| at).chain(doubled.map(|(at, _)| *at as usize)).collect();
        out.sort_unstable();
        out
    }

    /// First record of the newest response that has an open call or an unread result; the length if there is none.
    pub fn live_from(&self) -> usize {
        let hot = self.newest.filter(|newest| newest.hot > 0).map(|newest| newest.start);
        let late = self.unread.iter().map(|(_, run)| *run).min();
        [hot, late].into_iter().flatten().min().map_or(self.entries.len(), |at| at as usize)
    }

    /// The cut that the live frontier allows at most: [`Ledger::live_from`], pulled back further by late results that
    /// arrived between two parts of the newest response, because another part of the same response reads nothing.
    pub fn frontier(&self) -> usize {
        let between = self.between.iter().map(|(_, run)| *run as usize).min();
        between.map_or(self.live_from(), |at| at.min(self.live_from()))
    }

    /// Results that no later, different response has read, ascending.
    pub fn unread(&self) -> Vec<usize> {
        let mut out: Vec<usize> = self.unread.iter().chain(&self.between).map(|(at, _)| *at as usize).collect();
        out.sort_unstable();
        out
    }

    /// Resolutions without a call before them.
    pub fn orphans(&self) -> &[u32] {
        &self.orphan_list
    }

    /// Second resolutions: (position, call).
    pub fn duplicates(&self) -> &[(u32, u32)] {
        &self.duplicates
    }

    /// Calls whose id was used again while they were open.
    pub fn shadowed(&self) -> &[u32] {
        &self.shadowed
    }

    /// Tasks, sessions and sub-agents that live on.
    pub fn carried(&self) -> &[Carried] {
        &self.carried
    }

    /// Every transaction and retry, open or settled, by first opener.
    pub fn brackets(&self) -> Vec<Bracket> {
        let open = self.open_brackets.iter().map(|((kind, id), openers)| Bracket {
            kind: *kind,
            id: *id,
            openers: openers.clone(),
            closer: None,
        });
        let mut all: Vec<Bracket> = self.settled.iter().cloned().chain(open).collect();
        all.sort_by_key(Bracket::first);
        all
    }

    /// Open transactions and retries.
    pub fn open_brackets(&self) -> impl Iterator<Item = Bracket> + '_ {
        let open = self.open_brackets.iter();
        open.map(|((kind, id), openers)| Bracket { kind: *kind, id: *id, openers: openers.clone(), closer: None })
    }

    /// First position after which every head cut is illegal because something is open; the length if nothing is.
    pub fn barrier(&self) -> usize {
        let pending = self.pending.first().copied();
        let bracket = self.open_brackets.values().filter_map(|openers| openers.first().copied()).min();
        [pending, bracket].into_iter().flatten().min().map_or(self.entries.len(), |at| at as usize)
    }

    /// Cuts (1..=len, ascending) that no atomic unit and no settled transaction or retry crosses, as far as that
    /// can never change again.
    pub fn uncrossed(&self) -> &[u32] {
        self.joined.uncrossed()
    }

    /// Extents of orphans joined with a later open call of their id: illegal while that call is open.
    pub fn orphan_extents(&self) -> Vec<(u32, u32)> {
        self.orphan_joins()
            .into_iter()
            .map(|(orphan, call)| {
                let (a, b) = (self.joined.extent(orphan), self.joined.extent(call));
                (a.0.min(b.0), a.1.max(b.1))
            })
            .collect()
    }

    fn orphan_joins(&self) -> Vec<(u32, u32)> {
        let mut joins = Vec::new();
        for (id, calls) in self.unanswered.iter().filter(|(_, calls)| !calls.is_empty()) {
            for orphan in self.orphans.get(id).into_iter().flatten() {
                if let Some(call) = calls.range(orphan + 1..).next() {
                    joins.push((*orphan, *call));
                }
            }
        }
        joins
    }

    /// Every unit of two or more records, by first member. Linear.
    pub fn units(&self) -> Units {
        let mut joined = self.joined.clone();
        let mut extra: FxHashMap<u32, u32> = FxHashMap::default();
        for (orphan, call) in self.orphan_joins() {
            let (a, b) = (super::units::top(&extra, joined.find(orphan)), super::units::top(&extra, joined.find(call)));
            if a != b {
                extra.insert(a.max(b), a.min(b));
            }
        }
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for at in 0..u32::try_from(self.entries.len()).unwrap_or(u32::MAX) {
            let root = super::units::top(&extra, joined.find(at));
            members.entry(root).or_default().push(at);
        }
        let mut units: Vec<Unit> = members
            .into_values()
            .filter(|records| records.len() > 1)
            .map(|records| {
                let has_call = records.iter().any(|at| self.entry(*at).is_some_and(|e| e.kind == Kind::Call));
                Unit { records, has_call }
            })
            .collect();
        units.sort_by_key(Unit::first);
        Units(units)
    }

    /// True if a later, different response exists than the one of the call at `position`: it went on without it.
    pub fn overtaken(&self, position: usize) -> bool {
        let run = self.response_start(position);
        self.newest.is_some_and(|newest| newest.start as usize > run)
    }

    /// True if the resolution at `position` came after another response had begun.
    pub fn is_late(&self, position: usize) -> bool {
        let Some(call) = self.partner(position) else { return false };
        let run = self.response_start(call);
        self.entries
            .iter()
            .take(position)
            .skip(call + 1)
            .any(|entry| entry.kind.is_response_part() && entry.run as usize != run)
    }
}
