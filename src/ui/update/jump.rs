//! Jumps: from call to result, to the next of a kind, along one operation, to what was found.

use super::movement::go_to;
use crate::{
    ledger::CallState,
    model::{Flags, Kind, age},
    ui::{Effect, State, search::smart},
};

/// From a call to its result and back; says so if there is none yet.
pub(super) fn pair(state: &mut State) {
    let at = state.cursor;
    let ledger = state.session.ledger();
    if let Some(partner) = ledger.partner(at) {
        go_to(state, partner);
        return;
    }
    if let Some(call) = ledger.duplicate_of(at) {
        go_to(state, call);
        return;
    }
    let since = state.record(at).and_then(|record| record.time.age_s(state.now)).map_or_else(String::new, age);
    let open = format!("#{at} has no result: open {since}").trim_end().to_string();
    state.message = Some(match (ledger.call_state(at), ledger.kind(at)) {
        (Some(CallState::Void), _) => format!("#{at} was discarded by the runtime; it is owed no result"),
        (Some(_), _) => open,
        (None, Some(kind)) if kind.is_resolution() => format!("#{at} answers no call before it"),
        _ => format!("#{at} is no call and no result"),
    });
}

/// The next (or previous) position that `wanted` takes; says `what` is missing otherwise.
pub(super) fn next(state: &mut State, forward: bool, what: &str, wanted: impl Fn(&State, usize) -> bool) {
    let found = if forward {
        (state.cursor + 1..state.len()).find(|at| wanted(state, *at))
    } else {
        (0..state.cursor).rev().find(|at| wanted(state, *at))
    };
    if let Some(at) = found {
        go_to(state, at);
    } else {
        let side = if forward { "below" } else { "above" };
        state.message = Some(format!("no {what} {side}"));
    }
}

pub(super) fn is_open(state: &State, at: usize) -> bool {
    state.obligations.iter().any(|obligation| obligation.at == at)
}

pub(super) fn is_failure(state: &State, at: usize) -> bool {
    let interrupted = |record: &crate::model::Record| record.flags.has(Flags::UNKNOWN_OUTCOME);
    state.record(at).is_some_and(|record| record.kind == Kind::Error || interrupted(record))
}

pub(super) fn is_summary(state: &State, at: usize) -> bool {
    state.record(at).is_some_and(|record| record.kind == Kind::Summary)
}

/// The next event of the operation under the cursor: calls with the same tool and target, and their results.
pub(super) fn operation(state: &mut State, forward: bool) {
    let ledger = state.session.ledger();
    let call_at = |at: usize| match ledger.kind(at) {
        Some(Kind::Call) => Some(at),
        Some(_) => ledger.partner(at),
        None => None,
    };
    let Some(call) = call_at(state.cursor) else {
        state.message = Some("no operation here: stand on a call or a result".to_string());
        return;
    };
    let tool = state.record(call).and_then(|record| record.tool);
    let words = state.heads.get(&call).cloned();
    next(state, forward, "event of this operation", |state, at| {
        let Some(other) = state
            .session
            .ledger()
            .kind(at)
            .and_then(|kind| if kind == Kind::Call { Some(at) } else { state.session.ledger().partner(at) })
        else {
            return false;
        };
        let same_tool = state.record(other).and_then(|record| record.tool) == tool;
        other == call || (same_tool && words.is_some() && state.heads.get(&other) == words.as_ref())
    });
}

/// The next call of the tool under the cursor.
pub(super) fn tool(state: &mut State) {
    let at = state
        .session
        .ledger()
        .partner(state.cursor)
        .filter(|_| state.record(state.cursor).is_some_and(|record| record.kind != Kind::Call));
    let tool = state.record(at.unwrap_or(state.cursor)).and_then(|record| record.tool);
    if tool.is_none() {
        state.message = Some("no tool here: stand on a call or a result".to_string());
        return;
    }
    next(state, true, "call of this tool", |state, at| {
        state.record(at).is_some_and(|record| record.kind == Kind::Call && record.tool == tool)
    });
}

/// Starts a search.
pub(super) fn search(state: &mut State, pattern: &str) -> Vec<Effect> {
    if pattern.is_empty() {
        return Vec::new();
    }
    state.search.pattern = pattern.to_string();
    state.search.resumed = None;
    match smart(pattern) {
        Ok(_) => vec![Effect::Search(pattern.to_string())],
        Err(why) => {
            state.message = Some(why);
            Vec::new()
        }
    }
}

/// The search came back: go to the first match at or after the cursor.
pub(super) fn found(state: &mut State, found: Result<Vec<usize>, String>) {
    match found {
        Err(why) => state.message = Some(why),
        Ok(hits) => {
            state.search.hits = hits;
            state.search.upto = state.len();
            // A search that was asked for by `n`, because records came since, goes on from the match it stands on.
            let at = match state.search.resumed.take() {
                Some(forward) => state.search.step(state.cursor, forward).map(|(at, _)| at),
                None => {
                    state.search.hits.iter().find(|hit| **hit >= state.cursor).or(state.search.hits.first()).copied()
                }
            };
            match at {
                Some(at) => {
                    go_to(state, at);
                    state.message = None;
                }
                None => state.message = Some(format!("nothing matches `{}`", state.search.pattern)),
            }
        }
    }
}

/// The next match, searching again if records came since.
pub(super) fn step_search(state: &mut State, forward: bool) -> Vec<Effect> {
    if state.search.pattern.is_empty() {
        state.message = Some("no search yet: press / first".to_string());
        return Vec::new();
    }
    if state.search.upto != state.len() {
        state.search.resumed = Some(forward);
        return vec![Effect::Search(state.search.pattern.clone())];
    }
    match state.search.step(state.cursor, forward) {
        Some((at, _)) => go_to(state, at),
        None => state.message = Some(format!("nothing matches `{}`", state.search.pattern)),
    }
    Vec::new()
}
