use serde::Serialize;

use crate::{
    model::{Flags, Kind},
    plan::Session,
};

/// `cutline context --json`: what the runtime would send next, in the order sent.
#[derive(Debug, Serialize)]
pub struct ContextReport {
    schema: &'static str,
    /// Basis of the token numbers.
    basis: &'static str,
    records: Vec<ContextRecord>,
}

#[derive(Debug, Serialize)]
struct ContextRecord {
    at: usize,
    line: Option<u32>,
    byte: Option<u64>,
    kind: &'static str,
    id: Option<String>,
    response: Option<String>,
    tool: Option<String>,
    error: bool,
    tokens: u64,
    #[serde(skip_serializing_if = "is_false")]
    synthetic: bool,
    /// False: it stands in the conversation, but the runtime would not send it.
    #[serde(skip_serializing_if = "is_true")]
    sent: bool,
    #[serde(skip_serializing_if = "is_zero")]
    segment: u16,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_true(value: &bool) -> bool {
    *value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde asks for")]
fn is_zero(value: &u16) -> bool {
    *value == 0
}

impl ContextReport {
    /// One line a record for people. Raw: show it safely.
    pub fn lines(&self) -> Vec<String> {
        let line = |record: &ContextRecord| {
            let place = record.line.map_or_else(|| "in memory".to_string(), |line| format!("line {line}"));
            let sent = if record.sent { "" } else { "  not sent" };
            let id = record.id.as_deref().unwrap_or_default();
            let tool = record.tool.as_deref().unwrap_or_default();
            format!("{:>7}  {place:<11} {:<18} {:>8}  {tool} {id}{sent}", record.at, record.kind, record.tokens)
        };
        self.records.iter().map(line).collect()
    }

    /// The first `upto` places of the context.
    pub fn of(session: &Session, upto: usize) -> Self {
        let records = (0..session.context().len().min(upto))
            .filter_map(|at| {
                let record = session.record(at)?;
                let synthetic = record.flags.has(Flags::SYNTHETIC);
                let name = |sym| Some(session.name(Some(sym?)).to_string());
                // Responses without an id of their own got a made-up one that begins with NUL.
                let response = name(record.response).filter(|id| !id.starts_with('\0'));
                Some(ContextRecord {
                    at,
                    line: (!synthetic).then_some(record.line),
                    byte: (!synthetic).then(|| record.offset + u64::from(record.at)),
                    kind: record.kind.name(),
                    id: name(record.id),
                    response,
                    tool: name(record.tool),
                    error: record.kind == Kind::Error,
                    tokens: session.budget().map_or(0, |budget| budget.series.at(at)),
                    synthetic,
                    sent: session.context().slots().get(at).is_none_or(|slot| slot.sent),
                    segment: record.segment,
                })
            })
            .collect();
        let basis = session.budget().map_or("none", |budget| budget.series.basis().name());
        Self { schema: "cutline.context/1", basis, records }
    }
}
