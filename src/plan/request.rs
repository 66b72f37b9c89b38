use super::{
    Abandonment, Session,
    settle::{self, Put, Settled},
};
use crate::{
    budget::{Budget, Pressure},
    cut::{Candidate, Decision, Demand, Rules, Target, candidates, decide},
    format::Settle,
    ledger::Ledger,
    model::Context,
};

/// Candidates that a plan names.
const CANDIDATES: usize = 6;

/// What an operator or a script asks for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Start of the span.
    pub from: usize,
    /// Wanted end; `None`: derived from the budget.
    pub to: Option<usize>,
    /// Allow a stale pair to stay whole around the summary.
    pub bracketed: bool,
    /// What lives on after its launch was answered forbids a cut too.
    pub block_carried: bool,
    /// Fewest tokens to free; `None`: 2,000 or 5 % of the window.
    pub min_progress: Option<u64>,
    /// Overrides the state of the budget.
    pub pressure: Option<Pressure>,
    /// Calls to give up first.
    pub abandon: Vec<Abandonment>,
}

/// A plan as a value: the decision with its figures. Positions are those of the session's context.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The decision.
    pub decision: Decision,
    /// Tokens in use now.
    pub before: u64,
    /// Tokens after the planned compaction; now, if none is planned.
    pub after: u64,
    /// What is settled by force first, with its places.
    pub settled: Vec<Settle>,
    /// Legal cuts near the target, backward and forward.
    pub candidates: Vec<Candidate>,
}

/// The request names something that is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The format is not known.
    #[error("This is not a transcript that cutline knows.")]
    NotATranscript,
    /// Nothing open has that id.
    #[error("Nothing open has the id `{0}`; `cutline obligations` lists what is open.")]
    NoSuchCall(String),
    /// Several open things have that id.
    #[error("{count} open things have the id `{id}`; add @INSTANCE, the position of the one.")]
    Ambiguous {
        /// The id.
        id: String,
        /// How many.
        count: usize,
    },
    /// The span is not a part of the context.
    #[error("The span {from}..{to} does not lie in the {len} records of the context.")]
    OutOfRange {
        /// Start.
        from: usize,
        /// End.
        to: usize,
        /// Records of the context.
        len: usize,
    },
}

/// Plans what `request` asks for.
///
/// # Errors
/// [`PlanError`] if the request names a call or a span that is not there.
pub fn plan(session: &Session, request: &Request) -> Result<Plan, PlanError> {
    let budget = session.budget().ok_or(PlanError::NotATranscript)?;
    let len = session.context().len();
    let to = request.to.unwrap_or(len);
    if request.from > len || to > len {
        return Err(PlanError::OutOfRange { from: request.from, to, len });
    }
    let settled = settle::settlements(session, &request.abandon)?;
    if settled.is_empty() {
        let decision = decided(session, session.ledger(), session.context(), budget, request, &Put::default());
        let near = candidates(session.ledger(), decision.target, 0, CANDIDATES, |cut| budget.frees(request.from, cut));
        let near = near.into_iter().filter(|candidate| candidate.cut > request.from).collect();
        return Ok(Plan { candidates: near, ..finish(budget, decision, Vec::new()) });
    }
    let Settled { context, ledger, put } = settle::settled(session, &settled);
    let budget = Budget::of(session.log(), &context, &session.facts(), session.settings());
    let decision = decided(session, &ledger, &context, &budget, request, &put);
    let start = decision.start;
    let mut near = candidates(&ledger, decision.target, 0, CANDIDATES, |cut| budget.frees(start, cut));
    near.retain(|candidate| candidate.cut > start);
    for candidate in &mut near {
        candidate.cut = put.unshifted(candidate.cut);
    }
    // A cut on either side of what was put in is the same cut.
    near.dedup_by_key(|candidate| candidate.cut);
    let mut plan = Plan { candidates: near, ..finish(&budget, decision, settled) };
    renumber(&mut plan.decision, &put);
    Ok(plan)
}

fn finish(budget: &Budget, decision: Decision, settled: Vec<Settle>) -> Plan {
    let before = budget.used();
    let after = decision.cut.map_or(before, |cut| budget.after_cut(decision.start, cut));
    Plan { decision, before, after, settled, candidates: Vec::new() }
}

fn decided(
    session: &Session,
    ledger: &Ledger,
    context: &Context,
    budget: &Budget,
    request: &Request,
    put: &Put,
) -> Decision {
    // What was put in stands directly before the record, or the cut, at its old position.
    let shifted = |position: usize| put.shifted(position);
    let log = session.log();
    let prompts: Vec<usize> =
        (0..context.len()).filter(|at| context.get(log, *at).is_some_and(crate::model::Record::is_prompt)).collect();
    let start = shifted(request.from);
    let target = match request.to {
        Some(to) => Target::Explicit(shifted(to)),
        None => Target::Derived(budget.target(start)),
    };
    // A wanted span is wanted: only a derived one asks whether the budget needs it.
    let pressure = request.pressure.unwrap_or(match (budget.pressure(), request.to) {
        (Pressure::Below, Some(_)) => Pressure::Pressed,
        (pressure, _) => pressure,
    });
    decide(
        ledger,
        &Demand {
            start,
            target,
            pressure,
            min_progress: request.min_progress.unwrap_or(match request.to {
                // A least gain is a soft wish: it applies only where the budget chose the target.
                Some(_) => 0,
                None => budget.min_progress(),
            }),
            frees: &|a, b| budget.frees(a, b),
            prompts: &prompts,
            ids: &|at| context.get(log, at).and_then(|record| record.id),
            rules: Rules { strict: !request.bracketed, live: true, carried: request.block_carried },
        },
    )
}

/// Back to the positions of the context without the abandonments.
fn renumber(decision: &mut Decision, put: &Put) {
    let back = |position: usize| put.unshifted(position);
    decision.start = back(decision.start);
    decision.target = back(decision.target);
    decision.cut = decision.cut.map(back);
    decision.because = decision.because.renumbered(back);
    if let Some(relief) = &mut decision.relief {
        relief.cut = back(relief.cut);
    }
    for blocker in &mut decision.blockers {
        blocker.obligation.at = back(blocker.obligation.at);
        blocker.reason.records.iter_mut().for_each(|at| *at = back(*at));
    }
}
