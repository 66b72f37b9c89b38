use serde::Serialize;

use super::ObligationItem;
use crate::{
    cut::Blocker,
    ledger::identify::Identifier,
    model::Millis,
    plan::{Payload, Plan, Session},
};

/// `cutline plan --json`: the verdict with its figures.
#[derive(Debug, Serialize)]
pub struct PlanReport {
    schema: &'static str,
    verdict: &'static str,
    target: usize,
    span: Option<[usize; 2]>,
    blockers: Vec<ObligationItem>,
    relief: Option<ReliefItem>,
    because: String,
    candidates: Vec<CandidateItem>,
    before: u64,
    after: u64,
    basis: &'static str,
    abandoned: Vec<usize>,
    live_identifiers: Vec<IdentifierItem>,
    identifiers_redacted: usize,
    identifiers_left_out: usize,
    source: SourceItem,
}

#[derive(Debug, Serialize)]
struct CandidateItem {
    span: [usize; 2],
    frees: u64,
    after: u64,
    forward: bool,
}

#[derive(Debug, Serialize)]
struct ReliefItem {
    span: [usize; 2],
    frees: u64,
    after: u64,
}

#[derive(Debug, Serialize)]
struct IdentifierItem {
    kind: &'static str,
    value: String,
    from: usize,
    state: &'static str,
}

impl IdentifierItem {
    fn of(identifier: Identifier) -> Self {
        let Identifier { kind, value, from, state } = identifier;
        Self { kind: kind.name(), value, from, state: state.name() }
    }
}

#[derive(Debug, Serialize)]
struct SourceItem {
    bytes: u64,
    sha256: String,
}

impl PlanReport {
    /// Of `plan` at `now`. `sha256` is the hash of the `bytes` that were read.
    pub fn of(session: &Session, payload: &dyn Payload, now: Millis, plan: &Plan, sha256: String) -> Option<Self> {
        let budget = session.budget()?;
        let decision = &plan.decision;
        let blocker = |b: &Blocker| {
            let kind = Some(b.reason.kind.name());
            ObligationItem::of(session, payload, now, &b.obligation, kind)
        };
        let relief = decision.relief.map(|relief| ReliefItem {
            span: [decision.start, relief.cut],
            frees: relief.frees,
            after: budget.after_cut(decision.start, relief.cut),
        });
        // Without a cut nothing is kept but what is still open: that is worth knowing before one is chosen.
        let cut = decision.cut.or(decision.relief.map(|relief| relief.cut)).unwrap_or(session.context().len());
        let identified = session.identified(payload, cut);
        Some(Self {
            schema: "cutline.plan/1",
            verdict: decision.verdict.name(),
            target: decision.target,
            span: decision.cut.map(|cut| [decision.start, cut]),
            blockers: decision.blockers.iter().map(blocker).collect(),
            relief,
            because: decision.because.to_string(),
            candidates: plan
                .candidates
                .iter()
                .map(|c| CandidateItem {
                    span: [decision.start, c.cut],
                    frees: c.frees,
                    after: budget.after_cut(decision.start, c.cut),
                    forward: c.forward,
                })
                .collect(),
            before: plan.before,
            after: plan.after,
            basis: budget.series.basis().name(),
            abandoned: plan.settled.iter().map(|settle| settle.at).collect(),
            live_identifiers: identified.items.into_iter().map(IdentifierItem::of).collect(),
            identifiers_redacted: identified.redacted,
            identifiers_left_out: identified.left_out,
            source: SourceItem { bytes: session.bytes(), sha256 },
        })
    }

    /// The verdict in words: the decision, one line a blocker with its remedy, the figures. Raw: show it safely.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("{}  {}", self.verdict, self.because)];
        if !self.blockers.is_empty() {
            let n = self.blockers.len();
            let are = if n == 1 { "thing stands" } else { "things stand" };
            lines.push(format!("Cannot compact up to {}: {n} {are} in the way.", self.target));
        }
        lines.extend(self.blockers.iter().map(|blocker| format!("  {}", blocker.sentence())));
        if let Some(relief) = &self.relief {
            let [from, to] = relief.span;
            lines.push(format!(
                "Relief: {from}..{to} is closed and frees {} tokens (leaves {}).",
                relief.frees, relief.after
            ));
        }
        if let Some([from, to]) = self.span {
            lines
                .push(format!("Would compact {from}..{to}: {} → {} tokens ({}).", self.before, self.after, self.basis));
        } else {
            lines.push(format!("In use: {} tokens ({}).", self.before, self.basis));
        }
        lines
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
