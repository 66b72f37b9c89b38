use serde::Serialize;

use crate::{
    ledger::{CallState, Ledger, Obligation, ObligationKind, Remedy, identify},
    model::{Kind, Millis, rfc3339},
    plan::{Payload, Session},
};

/// `cutline obligations --json`: what is owed in the effective context.
#[derive(Debug, Serialize)]
pub struct ObligationsReport {
    schema: &'static str,
    obligations: Vec<ObligationItem>,
}

/// One obligation, also as a part of a blocker.
#[derive(Debug, Serialize)]
pub struct ObligationItem {
    kind: &'static str,
    id: Option<String>,
    instance: usize,
    tool: Option<String>,
    target: Option<String>,
    at: usize,
    line: Option<u32>,
    lane: String,
    state: &'static str,
    blocking: bool,
    opened: Option<String>,
    age_s: Option<i64>,
    blocks_from: Option<usize>,
    remedy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
}

impl ObligationsReport {
    /// What is owed at `now`; with `all` every call of the context with its state.
    /// With `as_of`: as it was when the context held so many records.
    pub fn of(session: &Session, payload: &dyn Payload, now: Millis, all: bool, as_of: Option<usize>) -> Self {
        let then = as_of.map(|len| Ledger::of(session.log(), session.context(), len));
        let ledger = then.as_ref().unwrap_or(session.ledger());
        let mut obligations = ledger.obligations(|at| session.id_at(at));
        if all {
            obligations.extend(closed_calls(session, ledger));
            obligations.sort_by_key(|obligation| obligation.at);
        }
        let items = obligations.iter().map(|o| ObligationItem::of(session, payload, now, o, None)).collect();
        Self { schema: "cutline.obligations/1", obligations: items }
    }

    /// How many are listed.
    pub fn items(&self) -> &[ObligationItem] {
        &self.obligations
    }
}

fn closed_calls(session: &Session, ledger: &Ledger) -> Vec<Obligation> {
    (0..ledger.len())
        .filter(|at| ledger.kind(*at) == Some(Kind::Call) && !ledger.is_pending(*at))
        .filter_map(|at| {
            let state = ledger.call_state(at)?;
            let (kind, id) = (ObligationKind::Call, session.id_at(at));
            Some(Obligation { kind, at, id, state, blocking: false, remedy: Remedy::Carry })
        })
        .collect()
}

impl ObligationItem {
    /// `obligation` at `now`; as a blocker it carries the `reason`.
    pub fn of(
        session: &Session,
        payload: &dyn Payload,
        now: Millis,
        obligation: &Obligation,
        reason: Option<&'static str>,
    ) -> Self {
        let record = session.record(obligation.at);
        let call = session.about(obligation);
        let body = session.body(call, payload);
        let name = |sym| Some(session.name(Some(sym?)).to_string());
        let opened = record.map_or(Millis::NONE, |record| record.time);
        let closed = matches!(
            obligation.state,
            CallState::Result | CallState::Error | CallState::Abandoned | CallState::Interrupted | CallState::Void
        );
        Self {
            kind: obligation.kind.name(),
            id: name(obligation.id),
            instance: obligation.at,
            tool: session.record(call).and_then(|record| name(record.tool)),
            target: body.as_ref().and_then(|body| identify::target(body).or_else(|| first_line(&body.text))),
            at: obligation.at,
            line: record.map(|record| record.line).filter(|line| *line > 0),
            lane: record.map_or_else(String::new, |record| session.log().lane_name(record.lane).to_string()),
            state: obligation.state.name(),
            blocking: obligation.blocking,
            opened: rfc3339(opened),
            age_s: opened.age_s(now).filter(|_| !closed),
            blocks_from: obligation.blocking.then_some(obligation.at + 1),
            remedy: obligation.remedy.name(),
            reason,
        }
    }

    /// `call #203 toolu_04 Bash cargo test: no result yet, 4m12s`, without its remedy. Raw text: show it safely.
    pub fn line(&self) -> String {
        let mut out = format!("{} #{}", self.kind, self.at);
        for part in [&self.tool, &self.target].into_iter().flatten() {
            out.push(' ');
            out.push_str(part);
        }
        out
    }

    /// `call #6 Bash sleep 30 (toolu_01): in-flight for 4m12s, pending → wait or abandon`. Raw: show it safely.
    pub fn sentence(&self) -> String {
        let id = self.id.as_deref().map_or_else(String::new, |id| format!(" ({id})"));
        let age = self.age_s.map_or_else(String::new, |age| format!(" for {}", crate::model::age(age)));
        let reason = self.reason.map_or_else(String::new, |reason| format!(", {reason}"));
        format!("{}{id}: {}{age}{reason} → {}", self.line(), self.state, self.remedy)
    }

    /// The parts that a plain-text table shows.
    pub fn columns(&self) -> [String; 6] {
        let age = self.age_s.map_or_else(|| "-".to_string(), crate::model::age);
        [
            self.kind.to_string(),
            format!("#{}", self.at),
            self.state.to_string(),
            age,
            self.line().split_once(' ').map_or_else(String::new, |(_, rest)| {
                rest.split_once(' ').map_or_else(String::new, |(_, what)| what.to_string())
            }),
            self.id.clone().unwrap_or_default(),
        ]
    }

    /// What resolves it.
    pub fn remedy(&self) -> &'static str {
        self.remedy
    }
}

fn first_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(|line| line.chars().take(200).collect())
}
