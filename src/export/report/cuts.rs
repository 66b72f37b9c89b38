use serde::Serialize;

use crate::{
    cut::{Reasons, reasons_at_every_cut},
    plan::Session,
};

/// `cutline cuts --json`: every position with its legality and reasons.
#[derive(Debug, Serialize)]
pub struct CutsReport {
    schema: &'static str,
    records: usize,
    live_from: usize,
    basis: &'static str,
    cuts: Vec<CutItem>,
}

#[derive(Debug, Serialize)]
struct CutItem {
    at: usize,
    legal: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frees: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
    reasons: Vec<ReasonItem>,
    /// Reasons beyond those listed.
    #[serde(skip_serializing_if = "is_zero")]
    more: usize,
}

/// Reasons of each kind that are listed for one cut, and members of one severed unit: all of them in any usual log,
/// few in one that was made to have n of them at n cuts.
fn most(records: usize) -> usize {
    (2_000_000 / records.max(1)).clamp(4, 1_000)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(value: &usize) -> bool {
    *value == 0
}

#[derive(Debug, Serialize)]
struct ReasonItem {
    kind: &'static str,
    records: Vec<usize>,
}

impl CutsReport {
    /// Every position 1..=records, or only the legal ones.
    pub fn of(session: &Session, legal_only: bool) -> Self {
        let ledger = session.ledger();
        let budget = session.budget();
        let item = |(n, reasons): (usize, Reasons)| {
            let at = n + 1;
            let legal = reasons.listed.is_empty();
            let figure = |tokens: &dyn Fn(&crate::budget::Budget) -> u64| budget.filter(|_| legal).map(tokens);
            CutItem {
                at,
                legal,
                line: session.record(at).map(|record| record.line).filter(|line| *line > 0),
                frees: figure(&|budget| budget.frees(0, at)),
                after: figure(&|budget| budget.after_cut(0, at)),
                more: reasons.more,
                reasons: reasons
                    .listed
                    .into_iter()
                    .map(|r| ReasonItem { kind: r.kind.name(), records: r.records })
                    .collect(),
            }
        };
        let every = reasons_at_every_cut(ledger, if legal_only { 1 } else { most(ledger.len()) })
            .into_iter()
            .enumerate()
            .map(item);
        Self {
            schema: "cutline.cuts/1",
            records: ledger.len(),
            live_from: ledger.live_from(),
            basis: budget.map_or("none", |budget| budget.series.basis().name()),
            cuts: every.filter(|item| item.legal || !legal_only).collect(),
        }
    }

    /// One line a position for people.
    pub fn lines(&self) -> Vec<String> {
        let reason = |item: &ReasonItem| {
            let records: Vec<String> = item.records.iter().map(|at| format!("#{at}")).collect();
            format!("{} {}", item.kind, records.join(" "))
        };
        let line = |item: &CutItem| {
            if item.legal {
                format!(
                    "{:>7}  legal    frees {:>9}  leaves {:>9}",
                    item.at,
                    item.frees.unwrap_or(0),
                    item.after.unwrap_or(0)
                )
            } else {
                let reasons: Vec<String> = item.reasons.iter().map(reason).collect();
                let more = if item.more > 0 { format!(" and {} more", item.more) } else { String::new() };
                format!("{:>7}  illegal  {}{more}", item.at, reasons.join(", "))
            }
        };
        self.cuts.iter().map(line).collect()
    }

    /// First record of the live frontier.
    pub fn live_from(&self) -> usize {
        self.live_from
    }

    /// Records of the context.
    pub fn records(&self) -> usize {
        self.records
    }
}
