use std::{collections::BTreeSet, fmt};

use rustc_hash::FxHashSet;

use crate::{
    ledger::{Bracket, Ledger, Unit, Units},
    model::Kind,
};

/// Why a span may not be compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReasonKind {
    /// A call or approval request inside has no resolution inside.
    Pending,
    /// An atomic unit would be split.
    Severs,
    /// Something is open where the span begins.
    HeadOpen,
    /// A call and its resolution stand around the span.
    Bracketed,
    /// A transaction is open at the end.
    Txn,
    /// A transaction begun before the span ends inside it.
    TxnCloser,
    /// A retry counter stands above zero at the end.
    Retry,
    /// A retry begun before the span settles inside it.
    RetryCloser,
    /// Unread results or open calls of the newest response must stay verbatim.
    Live,
    /// The span holds nothing.
    Empty,
}

impl ReasonKind {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Severs => "severs",
            Self::HeadOpen => "head-open",
            Self::Bracketed => "bracketed",
            Self::Txn => "txn",
            Self::TxnCloser => "txn-closer",
            Self::Retry => "retry",
            Self::RetryCloser => "retry-closer",
            Self::Live => "live",
            Self::Empty => "empty",
        }
    }

    /// What it says to a person.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Pending => "is still open",
            Self::Severs => "would be split from its partner",
            Self::HeadOpen => "is open where the span begins",
            Self::Bracketed => "stands around the span",
            Self::Txn => "is a transaction without its end",
            Self::TxnCloser => "is a transaction that ends inside the span",
            Self::Retry => "is being retried",
            Self::RetryCloser => "is a retry that settles inside the span",
            Self::Live => "was not read by the model yet",
            Self::Empty => "the span is empty",
        }
    }
}

/// One reason with the positions it speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reason {
    /// What forbids the cut.
    pub kind: ReasonKind,
    /// Positions: the open record, the members of the severed unit, the first unread record.
    pub records: Vec<usize>,
}

/// Which spans are allowed at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The pending set where the span begins must be empty and no pair may stand around it (the default).
    pub strict: bool,
    /// Unread results and open calls of the newest response stay verbatim (the default).
    pub live: bool,
    /// What lives on after its launch was answered forbids a cut too. Off by default: one development server would
    /// forbid compaction for ever; its handle goes into the summary's ledger instead.
    pub carried: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { strict: true, live: true, carried: false }
    }
}

/// No position at or before the target may be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllegalCompactionCut {
    /// The wanted cut.
    pub target: usize,
    /// Everything that forbids it.
    pub reasons: Vec<Reason>,
}

impl fmt::Display for IllegalCompactionCut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "No legal cut at or before {}:", self.target)?;
        for reason in &self.reasons {
            write!(f, " record")?;
            reason.records.iter().try_for_each(|at| write!(f, " {at}"))?;
            write!(f, " {};", reason.kind.sentence())?;
        }
        Ok(())
    }
}

impl std::error::Error for IllegalCompactionCut {}

/// A span holds something that is still owed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The span {start}..{end} is not obligation-closed: records {open:?} are open in it.")]
pub struct OpenObligation {
    /// First position of the span.
    pub start: usize,
    /// End of the span, exclusive.
    pub end: usize,
    /// Openers whose closer is not in the span, ascending.
    pub open: Vec<usize>,
}

/// Calls and approval requests before `cut` whose resolution does not stand before it, ascending.
pub fn pending_calls_at(ledger: &Ledger, cut: usize) -> Vec<usize> {
    ledger.pending_at(cut)
}

/// Resolutions at or after `cut` whose call would be gone, ascending.
pub fn orphan_results_at(ledger: &Ledger, cut: usize) -> Vec<usize> {
    ledger.orphaned_by(cut)
}

/// Does every opener in `start..end` have its closer in it, with no transaction open and no retry above zero?
///
/// # Errors
/// [`OpenObligation`] with every opener that is left.
pub fn is_obligation_closed(ledger: &Ledger, start: usize, end: usize) -> Result<(), OpenObligation> {
    let mut open: Vec<usize> = ledger.pending_at(end).into_iter().filter(|at| *at >= start).collect();
    open.extend(ledger.brackets().iter().filter_map(|bracket| bracket.open_at(end)));
    open.sort_unstable();
    open.dedup();
    if open.is_empty() { Ok(()) } else { Err(OpenObligation { start, end, open }) }
}

/// May the span from the start up to `cut` be compacted? Logarithmic in the records; linear in what is unread or an
/// orphan. For many cuts ask [`legal_cuts`].
pub fn is_legal_cut(ledger: &Ledger, cut: usize) -> bool {
    let position = u32::try_from(cut).unwrap_or(u32::MAX);
    cut > 0
        && cut <= ledger.barrier()
        && cut <= ledger.frontier()
        && ledger.uncrossed().binary_search(&position).is_ok()
        && !ledger.orphan_extents().iter().any(|(first, last)| *first < position && position <= *last)
}

/// Every legal head cut, ascending.
pub fn legal_cuts(ledger: &Ledger) -> Vec<usize> {
    let limit = ledger.barrier().min(ledger.frontier());
    let extents = ledger.orphan_extents();
    let free = ledger.uncrossed().iter().copied().filter(|cut| *cut > 0 && *cut as usize <= limit);
    let mut extents = extents.into_iter().peekable();
    free.filter(|cut| {
        while extents.next_if(|(_, last)| last < cut).is_some() {}
        extents.peek().is_none_or(|(first, _)| first >= cut)
    })
    .map(|cut| cut as usize)
    .collect()
}

/// The greatest legal head cut at or before `target`.
///
/// # Errors
/// [`IllegalCompactionCut`] with every reason that forbids the target itself.
pub fn select_legal_cut(ledger: &Ledger, target: usize) -> Result<usize, IllegalCompactionCut> {
    let cuts = legal_cuts(ledger);
    let upto = cuts.partition_point(|cut| *cut <= target);
    cuts.get(..upto).and_then(<[usize]>::last).copied().ok_or_else(|| IllegalCompactionCut {
        target,
        reasons: why_illegal(ledger, &ledger.units(), 0, target.min(ledger.len()), Rules::default()),
    })
}

/// For every end 0..=len: may `start..end` be compacted? One linear pass.
pub fn legal_ends(ledger: &Ledger, start: usize, rules: Rules) -> Vec<bool> {
    let len = ledger.len();
    if start == 0 && rules == Rules::default() {
        let mut legal = vec![false; len + 1];
        for cut in legal_cuts(ledger) {
            if let Some(slot) = legal.get_mut(cut) {
                *slot = true;
            }
        }
        return legal;
    }
    let mut cover = Cover::new(len);
    cover.add(0, start + 1);
    if rules.strict && !ledger.pending_at(start).is_empty() {
        cover.add(0, len + 1);
    }
    let open = ledger.pending().find(|at| *at >= start);
    if let Some(open) = open {
        cover.add(open + 1, len + 1);
    }
    for unit in &ledger.units().0 {
        cover_unit(&mut cover, unit, start, rules);
    }
    for bracket in ledger.brackets() {
        cover_bracket(&mut cover, &bracket, start, rules);
    }
    for task in ledger.carried().iter().filter(|task| rules.carried && task.at as usize >= start) {
        cover.add(task.at as usize + 1, usize::MAX);
    }
    if rules.live {
        cover.add(ledger.frontier() + 1, len + 1);
    }
    cover.free()
}

fn cover_unit(cover: &mut Cover, unit: &Unit, start: usize, rules: Rules) {
    let (first, last) = (unit.first() as usize, unit.last() as usize);
    if last < start {
        return;
    }
    if first >= start {
        cover.add(first + 1, last + 1);
        return;
    }
    let inside = unit.records.iter().map(|at| *at as usize).find(|at| *at >= start).unwrap_or(last);
    cover.add(inside + 1, usize::MAX);
    if rules.strict && unit.has_call {
        cover.add(0, inside + 1);
    }
}

fn cover_bracket(cover: &mut Cover, bracket: &Bracket, start: usize, rules: Rules) {
    let closer = bracket.closer.map(|at| at as usize);
    if closer.is_some_and(|at| at < start) {
        return;
    }
    let before = bracket.first() < start;
    if before && let Some(closer) = closer {
        cover.add(closer + 1, usize::MAX);
    }
    let opened = if before && rules.strict {
        Some(start)
    } else {
        bracket.openers.iter().map(|at| *at as usize).find(|at| *at >= start)
    };
    if let Some(opened) = opened {
        cover.add(opened + 1, closer.map_or(usize::MAX, |at| at + 1));
    }
}

/// Difference array over the ends 0..=len.
struct Cover(Vec<i64>);

impl Cover {
    fn new(len: usize) -> Self {
        Self(vec![0; len + 2])
    }

    /// Forbids the ends `from..to`.
    fn add(&mut self, from: usize, to: usize) {
        let end = self.0.len() - 1;
        let (from, to) = (from.min(end), to.min(end));
        if from >= to {
            return;
        }
        if let Some(slot) = self.0.get_mut(from) {
            *slot += 1;
        }
        if let Some(slot) = self.0.get_mut(to) {
            *slot -= 1;
        }
    }

    fn free(self) -> Vec<bool> {
        let len = self.0.len() - 1;
        let sums = self.0.into_iter().scan(0, |sum, step| {
            *sum += step;
            Some(*sum == 0)
        });
        sums.take(len).collect()
    }
}

/// Every reason that forbids compacting `start..end`; empty if it is legal.
pub fn why_illegal(ledger: &Ledger, units: &Units, start: usize, end: usize, rules: Rules) -> Vec<Reason> {
    if start >= end || end > ledger.len() {
        return vec![Reason { kind: ReasonKind::Empty, records: Vec::new() }];
    }
    let mut reasons = Vec::new();
    let mut add = |kind, records| reasons.push(Reason { kind, records });
    if rules.strict && start > 0 {
        ledger.pending_at(start).into_iter().for_each(|at| add(ReasonKind::HeadOpen, vec![at]));
    }
    for at in ledger.pending().filter(|at| (start..end).contains(at)) {
        add(ReasonKind::Pending, vec![at]);
    }
    for task in ledger.carried().iter().filter(|task| rules.carried && (start..end).contains(&(task.at as usize))) {
        add(ReasonKind::Pending, vec![task.at as usize]);
    }
    for unit in &units.0 {
        let inside = unit.records.iter().filter(|at| (start..end).contains(&(**at as usize))).count();
        let members = || unit.records.iter().map(|at| *at as usize).collect();
        if inside != 0 && inside != unit.records.len() {
            add(ReasonKind::Severs, members());
        } else if rules.strict
            && inside == 0
            && unit.has_call
            && (unit.first() as usize) < start
            && unit.last() as usize >= end
        {
            add(ReasonKind::Bracketed, members());
        }
    }
    let brackets = ledger.brackets();
    let open_at_end: FxHashSet<_> =
        brackets.iter().filter(|b| b.open_at(end).is_some()).map(|b| (b.kind, b.id)).collect();
    for bracket in &brackets {
        if let Some(opened) = bracket.open_at(end).filter(|opened| *opened >= start || rules.strict) {
            let kind = if bracket.kind == Kind::Retry { ReasonKind::Retry } else { ReasonKind::Txn };
            add(kind, vec![opened]);
        }
        let open_again = open_at_end.contains(&(bracket.kind, bracket.id));
        if let Some(opened) = bracket.open_at(start).filter(|_| !open_again) {
            let kind = if bracket.kind == Kind::Retry { ReasonKind::RetryCloser } else { ReasonKind::TxnCloser };
            add(kind, vec![opened]);
        }
    }
    if rules.live && end > ledger.frontier() {
        add(ReasonKind::Live, vec![ledger.frontier()]);
    }
    reasons
}

/// What forbids one cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    /// The first of each kind; of a severed unit the first members.
    pub listed: Vec<Reason>,
    /// How many reasons are not listed.
    pub more: usize,
}

/// For every cut 1..=len its reasons (none: legal), in one sweep. Of each kind at most `most` are listed for a cut,
/// and at most `most` members of a severed unit: with n calls open at n cuts the whole would be n² reasons.
pub fn reasons_at_every_cut(ledger: &Ledger, most: usize) -> Vec<Reasons> {
    let units = ledger.units();
    let mut severed = Sweep::new(units.0.iter().map(|unit| (unit.first() as usize, Some(unit.last() as usize))));
    let brackets = ledger.brackets();
    let mut inside = Sweep::new(brackets.iter().map(|b| (b.first(), b.closer.map(|at| at as usize))));
    let pending: Vec<usize> = ledger.pending().collect();
    let live = ledger.frontier();
    (1..=ledger.len())
        .map(|cut| {
            let open = pending.partition_point(|at| *at < cut);
            let first_open = pending.iter().take(open.min(most));
            let mut listed: Vec<Reason> =
                first_open.map(|at| Reason { kind: ReasonKind::Pending, records: vec![*at] }).collect();
            severed.move_to(cut);
            listed.extend(severed.active(most).filter_map(|n| units.0.get(n)).map(|unit| Reason {
                kind: ReasonKind::Severs,
                records: unit.records.iter().take(most).map(|at| *at as usize).collect(),
            }));
            inside.move_to(cut);
            listed.extend(inside.active(most).filter_map(|n| brackets.get(n)).filter_map(|bracket| {
                let kind = if bracket.kind == Kind::Retry { ReasonKind::Retry } else { ReasonKind::Txn };
                Some(Reason { kind, records: vec![bracket.open_at(cut)?] })
            }));
            let more = (open + severed.len() + inside.len()).saturating_sub(listed.len());
            if cut > live {
                listed.push(Reason { kind: ReasonKind::Live, records: vec![live] });
            }
            Reasons { listed, more }
        })
        .collect()
}

/// Which of many extents, ascending by their first record, a moving cut stands in.
struct Sweep {
    extents: Vec<(usize, Option<usize>)>,
    next: usize,
    active: BTreeSet<usize>,
    ends: BTreeSet<(usize, usize)>,
}

impl Sweep {
    fn new(extents: impl Iterator<Item = (usize, Option<usize>)>) -> Self {
        Self { extents: extents.collect(), next: 0, active: BTreeSet::new(), ends: BTreeSet::new() }
    }

    /// An extent holds the cuts first+1..=last.
    fn move_to(&mut self, cut: usize) {
        while let Some((_, end)) = self.extents.get(self.next).filter(|(first, _)| *first < cut) {
            self.active.insert(self.next);
            self.ends.extend(end.map(|end| (end, self.next)));
            self.next += 1;
        }
        while let Some((_, gone)) = self.ends.first().copied().filter(|(end, _)| *end < cut) {
            self.ends.pop_first();
            self.active.remove(&gone);
        }
    }

    fn active(&self, most: usize) -> impl Iterator<Item = usize> {
        self.active.iter().take(most).copied()
    }

    fn len(&self) -> usize {
        self.active.len()
    }
}
