use serde::Serialize;

use crate::{
    cut::{Reason, reasons_at_every_cut},
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
        let item = |(n, reasons): (usize, Vec<Reason>)| {
            let at = n + 1;
            let legal = reasons.is_empty();
            let figure = |tokens: &dyn Fn(&crate::budget::Budget) -> u64| budget.filter(|_| legal).map(tokens);
            CutItem {
                at,
                legal,
                line: session.record(at).map(|record| record.line).filter(|line| *line > 0),
                frees: figure(&|budget| budget.frees(0, at)),
                after: figure(&|budget| budget.after_cut(0, at)),
                reasons: reasons.into_iter().map(|r| ReasonItem { kind: r.kind.name(), records: r.records }).collect(),
            }
        };
        let every = reasons_at_every_cut(ledger).into_iter().enumerate().map(item);
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
                format!("{:>7}  illegal  {}", item.at, reasons.join(", "))
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
