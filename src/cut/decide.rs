use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Because, Blocker, Decision, Reason, ReasonKind, Relief, Rules, Verdict, legality::legal_ends, legality::why_illegal,
};
use crate::{
    budget::Pressure,
    ledger::{Bracket, CallState, Ledger, Obligation, ObligationKind, Remedy, task_obligation},
    model::{Kind, Sym},
};

/// The wanted end of the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Given by the operator: gets exactly the greatest legal cut at or before it.
    Explicit(usize),
    /// Derived from the budget: soft wishes may choose among the legal cuts near it.
    Derived(usize),
}

impl Target {
    /// The position.
    pub fn at(self) -> usize {
        match self {
            Self::Explicit(at) | Self::Derived(at) => at,
        }
    }
}

/// What is asked of [`decide`].
pub struct Demand<'a> {
    /// Start of the span.
    pub start: usize,
    /// Its wanted end.
    pub target: Target,
    /// How full the context is.
    pub pressure: Pressure,
    /// Fewest tokens that a compaction must free.
    pub min_progress: u64,
    /// Tokens of a span, from the budget.
    pub frees: &'a dyn Fn(usize, usize) -> u64,
    /// Positions of human prompts, ascending; for the soft wishes.
    pub prompts: &'a [usize],
    /// The agent's id of the call, approval or transaction at a position.
    pub ids: &'a dyn Fn(usize) -> Option<Sym>,
    /// Which spans are allowed.
    pub rules: Rules,
}

/// COMPACT, DEFER, REFUSE or NO-OP, by the decision table: the target span closed or open, an older closed span or
/// none, pressed or critical.
///
/// ```
/// use cutline::{budget::Pressure, cut::{decide, Demand, Rules, Target, Verdict}, format::notation, ledger::Ledger};
///
/// let log = notation::parse("U A C1").unwrap();
/// let ledger = Ledger::of(&log.log, &log.context, 3);
/// let answer = decide(&ledger, &Demand {
///     start: 0,
///     target: Target::Explicit(3),
///     pressure: Pressure::Pressed,
///     min_progress: 0,
///     frees: &|a, b| (b - a) as u64,
///     prompts: &[0],
///     ids: &|_| None,
///     rules: Rules::default(),
/// });
/// assert_eq!((answer.verdict, answer.cut), (Verdict::Defer, Some(2)));
/// ```
pub fn decide(ledger: &Ledger, demand: &Demand<'_>) -> Decision {
    let start = demand.start;
    let target = demand.target.at().min(ledger.len());
    let mut decision = Decision {
        verdict: Verdict::NoOp,
        start,
        target,
        cut: None,
        blockers: Vec::new(),
        relief: None,
        because: Because::BelowTrigger,
    };
    if demand.pressure == Pressure::Below {
        return decision;
    }
    if matches!(demand.target, Target::Derived(_)) && target <= start {
        decision.because = Because::AllIsKept;
        return decision;
    }
    let legal = legal_ends(ledger, start, demand.rules);
    let is_legal = |cut: usize| legal.get(cut).copied().unwrap_or(false);
    let enough = |cut: usize| (demand.frees)(start, cut) >= demand.min_progress;
    let units = ledger.units();
    let reasons = why_illegal(ledger, &units, start, target, demand.rules);
    let older = |below: usize| (start + 1..below).rev().find(|cut| is_legal(*cut) && enough(*cut));

    let closed = match demand.target {
        Target::Explicit(_) => is_legal(target).then_some(target),
        Target::Derived(_) => wished(ledger, target, demand, &legal, &reasons),
    };
    if let Some(cut) = closed {
        if enough(cut) {
            decision.verdict = Verdict::Compact;
            decision.cut = Some(cut);
            decision.because = Because::Closed { cut };
        } else {
            decision.because = Because::TooLittle { cut };
        }
        return decision;
    }
    decision.blockers = blockers(ledger, &reasons, demand.ids);
    let found = older(target);
    match (found, demand.pressure) {
        (Some(cut), Pressure::Critical) => {
            decision.verdict = Verdict::Refuse;
            decision.relief = Some(Relief { cut, frees: (demand.frees)(start, cut) });
            decision.because = Because::Relief { start, target, cut };
        }
        (Some(cut), _) => {
            decision.verdict = Verdict::Defer;
            decision.cut = Some(cut);
            decision.because = Because::WalkedBack { start, target, cut };
        }
        (None, _) => {
            decision.verdict = Verdict::Refuse;
            decision.because =
                if target <= start { Because::Empty { start, target } } else { Because::Open { start, target } };
        }
    }
    decision
}

/// Soft wishes, only among legal cuts and only for a derived target: the target is not a precise place, so a closed
/// unit, or a transaction that ends later, is stepped over; the newest human request stays verbatim; a turn start
/// within a tenth is better.
fn wished(ledger: &Ledger, target: usize, demand: &Demand<'_>, legal: &[bool], reasons: &[Reason]) -> Option<usize> {
    let open = open_brackets(ledger);
    if reasons.iter().any(|reason| is_owed(ledger, &open, reason)) {
        return None;
    }
    let start = demand.start;
    let is_legal = |cut: &usize| legal.get(*cut).copied().unwrap_or(false);
    let enough = |cut: &usize| (demand.frees)(start, *cut) >= demand.min_progress;
    let newest = demand.prompts.last().copied().unwrap_or(usize::MAX);
    let floor = target.saturating_sub((target - start) / 10);
    let near = |limit: usize| (start + 1..=limit).rev().find(|cut| is_legal(cut) && enough(cut));
    let turns = demand.prompts.iter().rev().copied();
    let turn = turns.filter(|at| (floor..=target).contains(at) && *at > start).find(|cut| is_legal(cut) && enough(cut));
    turn.or_else(|| near(target.min(newest))).or_else(|| near(target)).or_else(|| {
        // Nothing frees enough: name the nearest legal cut all the same, so that the answer is "too little", not "open".
        (start + 1..=target).rev().find(is_legal)
    })
}

/// Ids of the transactions and retries that are open now, by each of their openers.
type OpenBrackets = FxHashMap<usize, Option<Sym>>;

fn open_brackets(ledger: &Ledger) -> OpenBrackets {
    let by_opener = |bracket: Bracket| bracket.openers.into_iter().map(move |at| (at as usize, bracket.id));
    ledger.open_brackets().flat_map(by_opener).collect()
}

/// False if nothing is owed any more: the place is wrong, a cut elsewhere is right.
fn is_owed(ledger: &Ledger, open: &OpenBrackets, reason: &Reason) -> bool {
    let first = || reason.records.first().copied().unwrap_or(0);
    match reason.kind {
        ReasonKind::Severs | ReasonKind::Bracketed => false,
        ReasonKind::Txn | ReasonKind::TxnCloser | ReasonKind::Retry | ReasonKind::RetryCloser => {
            open.contains_key(&first())
        }
        ReasonKind::HeadOpen => ledger.is_pending(first()),
        ReasonKind::Pending | ReasonKind::Live | ReasonKind::Empty => true,
    }
}

fn blockers(ledger: &Ledger, reasons: &[Reason], ids: &dyn Fn(usize) -> Option<Sym>) -> Vec<Blocker> {
    let open = open_brackets(ledger);
    let mut out: Vec<Blocker> = reasons
        .iter()
        .flat_map(|reason| match reason.kind {
            ReasonKind::Live => live_blockers(ledger, reason, ids),
            _ => vec![blocker(ledger, &open, reason, ids)],
        })
        .collect();
    // An open call of the newest response is named once: resolving it also makes it read.
    let pending: FxHashSet<usize> =
        out.iter().filter(|b| b.reason.kind == ReasonKind::Pending).map(|b| b.obligation.at).collect();
    out.retain(|b| b.reason.kind != ReasonKind::Live || !pending.contains(&b.obligation.at));
    out.sort_by_key(|blocker| (blocker.obligation.at, blocker.reason.kind));
    out
}

fn blocker(ledger: &Ledger, open: &OpenBrackets, reason: &Reason, ids: &dyn Fn(usize) -> Option<Sym>) -> Blocker {
    let first = reason.records.first().copied().unwrap_or(0);
    let is_call = |at: &usize| ledger.kind(*at) == Some(Kind::Call);
    let at = reason.records.iter().copied().find(is_call).unwrap_or(first);
    let state = ledger.call_state(at).unwrap_or(CallState::Open);
    let answer = || match state {
        CallState::InFlight => Remedy::WaitOrAbandon,
        CallState::Waiting => Remedy::Answer,
        _ => Remedy::Abandon,
    };
    let mut id = ids(at);
    let task = ledger.carried().at(at).filter(|_| reason.kind == ReasonKind::Pending && !ledger.is_pending(at));
    if let Some(task) = task {
        return Blocker { obligation: task_obligation(task, true), reason: reason.clone() };
    }
    let (kind, state, remedy) = match reason.kind {
        _ if !is_owed(ledger, open, reason) => (ObligationKind::Unit, state, Remedy::MoveCut),
        ReasonKind::Txn | ReasonKind::TxnCloser | ReasonKind::Retry | ReasonKind::RetryCloser => {
            id = open.get(&at).copied().flatten().or(id);
            let retry = matches!(reason.kind, ReasonKind::Retry | ReasonKind::RetryCloser);
            let kind = if retry { ObligationKind::Retry } else { ObligationKind::Transaction };
            (kind, CallState::Open, if retry { Remedy::Reset } else { Remedy::Close })
        }
        ReasonKind::Pending | ReasonKind::HeadOpen if ledger.kind(at) == Some(Kind::ApprovalRequest) => {
            (ObligationKind::Approval, CallState::Waiting, Remedy::Answer)
        }
        ReasonKind::Pending | ReasonKind::HeadOpen => (ObligationKind::Call, state, answer()),
        _ => (ObligationKind::Unit, state, Remedy::MoveCut),
    };
    let obligation = Obligation { kind, at, id, state, blocking: true, remedy };
    Blocker { obligation, reason: reason.clone() }
}

/// The unread results of the newest response, one blocker for each; its first record if there is none.
fn live_blockers(ledger: &Ledger, reason: &Reason, ids: &dyn Fn(usize) -> Option<Sym>) -> Vec<Blocker> {
    let mut calls: Vec<usize> = ledger.unread().into_iter().filter_map(|at| ledger.partner(at)).collect();
    if calls.is_empty() {
        let open = ledger.pending().find(|at| *at >= ledger.frontier());
        calls = vec![open.unwrap_or(ledger.frontier())];
    }
    calls
        .into_iter()
        .map(|at| {
            let state = ledger.call_state(at).unwrap_or(CallState::Open);
            let obligation =
                Obligation { kind: ObligationKind::Call, at, id: ids(at), state, blocking: true, remedy: Remedy::Wait };
            Blocker { obligation, reason: Reason { kind: reason.kind, records: vec![at] } }
        })
        .collect()
}
