//! What a ledger answers.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{
    Bracket, CarriedSet, Ledger,
    fold::NO_LINK,
    units::{Unit, Units, top},
};
use crate::model::{Flags, Kind};

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
        self.between.iter().chain(&self.unread).map(|(at, _)| *at as usize).collect()
    }

    /// True if no later, different response has read the result at `position`.
    pub fn is_unread(&self, position: usize) -> bool {
        let stands = |list: &[(u32, u32)]| list.binary_search_by_key(&position, |(at, _)| *at as usize).is_ok();
        stands(&self.unread) || stands(&self.between)
    }

    /// Resolutions without a call before them.
    pub fn orphans(&self) -> &[u32] {
        &self.orphan_list
    }

    /// Second resolutions: (position, call).
    pub fn duplicates(&self) -> &[(u32, u32)] {
        &self.duplicates
    }

    /// The call that the second resolution at `position` repeats the answer of.
    pub fn duplicate_of(&self, position: usize) -> Option<usize> {
        let place = self.duplicates.binary_search_by_key(&position, |(at, _)| *at as usize).ok()?;
        self.duplicates.get(place).map(|(_, call)| *call as usize)
    }

    /// Calls whose id was used again while they were open.
    pub fn shadowed(&self) -> &[u32] {
        &self.shadowed
    }

    /// Tasks, sessions and sub-agents that live on.
    pub fn carried(&self) -> &CarriedSet {
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

    /// True if a transaction or a retry that is still open was opened first at `position`.
    pub fn opens_bracket(&self, position: usize) -> bool {
        let Ok(at) = u32::try_from(position) else { return false };
        self.bracket_firsts.range((at, Kind::User, None)..).next().is_some_and(|(first, ..)| *first == at)
    }

    /// First position after which every head cut is illegal because something is open; the length if nothing is.
    pub fn barrier(&self) -> usize {
        let pending = self.pending.first().copied();
        let bracket = self.bracket_firsts.first().map(|(at, ..)| *at);
        [pending, bracket].into_iter().flatten().min().map_or(self.entries.len(), |at| at as usize)
    }

    /// Cuts (1..=len, ascending) that no atomic unit and no settled transaction or retry crosses, as far as that
    /// can never change again.
    pub fn uncrossed(&self) -> &[u32] {
        self.joined.uncrossed()
    }

    /// Extents of orphans joined with a later open call of their id: illegal while that call is open. Ascending, and
    /// none touches another.
    pub fn orphan_extents(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = self
            .orphan_joins()
            .into_iter()
            .map(|(orphan, call)| {
                let (a, b) = (self.joined.extent(orphan), self.joined.extent(call));
                (a.0.min(b.0), a.1.max(b.1))
            })
            .collect();
        all.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for (first, last) in all {
            match merged.last_mut() {
                // An extent forbids the cuts first+1..=last.
                Some(before) if first <= before.1 => before.1 = before.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        merged
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
            let (a, b) = (top(&extra, joined.find(orphan)), top(&extra, joined.find(call)));
            if a != b {
                extra.insert(a.max(b), a.min(b));
            }
        }
        let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for at in 0..u32::try_from(self.entries.len()).unwrap_or(u32::MAX) {
            let root = top(&extra, joined.find(at));
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
        self.entries.get(position).is_some_and(|entry| entry.late)
    }
}
