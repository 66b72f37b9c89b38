//! Atomic units: records that live or die together, as a union-find with extents, and the stack of positions that
//! no unit crosses.

/// Positions that live or die together, ascending; at least two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The member positions, ascending.
    pub records: Vec<u32>,
    /// True if a call is among them.
    pub has_call: bool,
}

impl Unit {
    /// First member.
    pub fn first(&self) -> u32 {
        self.records.first().copied().unwrap_or(0)
    }

    /// Last member.
    pub fn last(&self) -> u32 {
        self.records.last().copied().unwrap_or(0)
    }

    /// True if a span that ends at `cut` would split the unit.
    pub fn crosses(&self, cut: u32) -> bool {
        self.first() < cut && cut <= self.last()
    }
}

/// Every unit of a ledger at one moment, by first member.
#[derive(Clone, Debug, Default)]
pub struct Units(pub Vec<Unit>);

/// The growing union-find. Every union involves the newest position, so a cover only ever reaches from somewhere to
/// the end: the positions that stay uncovered are a stack, and the whole structure is amortised O(1) a record.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    parent: Vec<u32>,
    first: Vec<u32>,
    last: Vec<u32>,
    /// Cuts (1..=len) that no unit crosses, ascending.
    uncrossed: Vec<u32>,
}

impl Joined {
    /// Adds the next position as a unit of its own.
    pub(super) fn push(&mut self) -> u32 {
        let at = u32::try_from(self.parent.len()).unwrap_or(u32::MAX);
        self.parent.push(at);
        self.first.push(at);
        self.last.push(at);
        self.uncrossed.push(at + 1);
        at
    }

    pub(super) fn find(&mut self, at: u32) -> u32 {
        let mut root = at;
        while let Some(up) = self.parent.get(root as usize).copied()
            && up != root
        {
            root = up;
        }
        let mut node = at;
        while node != root {
            let Some(slot) = self.parent.get_mut(node as usize) else { break };
            node = std::mem::replace(slot, root);
        }
        root
    }

    /// The root without path compression, for shared readers.
    pub(super) fn root(&self, at: u32) -> u32 {
        let mut root = at;
        while let Some(up) = self.parent.get(root as usize).copied()
            && up != root
        {
            root = up;
        }
        root
    }

    /// First and last member of the unit of `at`.
    pub(super) fn extent(&self, at: u32) -> (u32, u32) {
        let root = self.root(at) as usize;
        (self.first.get(root).copied().unwrap_or(at), self.last.get(root).copied().unwrap_or(at))
    }

    /// Joins the newest position with `other`.
    pub(super) fn join_newest(&mut self, other: u32) {
        let Some(newest) = self.parent.len().checked_sub(1).and_then(|n| u32::try_from(n).ok()) else { return };
        let (a, b) = (self.find(newest), self.find(other));
        if a == b {
            return;
        }
        // The smaller root wins, so that a chain of N unions stays shallow with path compression.
        let (root, child) = if a < b { (a, b) } else { (b, a) };
        let (child_first, child_last) = self.extent(child);
        if let Some(slot) = self.parent.get_mut(child as usize) {
            *slot = root;
        }
        if let (Some(first), Some(last)) = (self.first.get_mut(root as usize), self.last.get_mut(root as usize)) {
            *first = (*first).min(child_first);
            *last = (*last).max(child_last);
        }
        let (first, _) = self.extent(root);
        self.cover_from(first);
    }

    /// No cut after `first` up to the newest position is free any more; the one behind the newest stays so.
    pub(super) fn cover_from(&mut self, first: u32) {
        let end = u32::try_from(self.parent.len()).unwrap_or(u32::MAX);
        while self.uncrossed.last().is_some_and(|cut| *cut > first) {
            self.uncrossed.pop();
        }
        self.uncrossed.push(end);
    }

    /// Cuts that no unit crosses, ascending.
    pub(super) fn uncrossed(&self) -> &[u32] {
        &self.uncrossed
    }
}

/// Follows the extra joins of orphans upward.
pub(super) fn top(extra: &rustc_hash::FxHashMap<u32, u32>, at: u32) -> u32 {
    let mut at = at;
    while let Some(up) = extra.get(&at) {
        at = *up;
    }
    at
}
