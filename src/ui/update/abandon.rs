//! Giving up what is open: what it is, who still writes, what it changes, and what has to be typed. Only stages.

use super::stage;
use crate::{
    export::tokens,
    ledger::{CallState, Obligation, ObligationKind},
    model::{Record, age, clock},
    plan::{Abandonment, Request, plan},
    ui::{
        Effect, Focus, State,
        dialog::{Dialog, Fact, Field, Must, Purpose, Voice},
        hands::Liveness,
    },
};

/// Obligations that stay in the way and are named.
const NAMED: usize = 3;
/// Characters of an id that are typed.
const TAIL: usize = 4;
/// The word for what may still run.
const RUNNING: &str = "running";

/// Opens the dialog for what is owed under the cursor.
pub(super) fn open(state: &mut State) -> Vec<Effect> {
    let Some(owed) = here(state) else {
        let near = if state.obligations.is_empty() { "nothing is owed" } else { "]o goes to the next that is owed" };
        state.message = Some(format!("nothing is owed at #{}: {near}", state.cursor));
        return Vec::new();
    };
    let id = state.session.name(owed.id).to_string();
    if id.is_empty() {
        state.message = Some(format!("#{} has no id of its own by which it could be given up", owed.at));
        return Vec::new();
    }
    if state.hand.is_staged(owed.at) {
        state.message = Some(format!("#{} is staged already; u takes back what was staged last", owed.at));
        return Vec::new();
    }
    let (verb, noun) = words(owed.kind);
    let title = format!("{verb} {noun} #{}", owed.at);
    let mut dialog = Dialog::new(Purpose::Abandon { at: owed.at, kind: owed.kind, id: id.clone() }, title, "stage");
    dialog.fields = vec![
        Field::new("reason", "", Must::Filled),
        Field::new("evidence", "", Must::Nothing),
        Field::new("operator", &state.options.operator, Must::Filled),
        Field::word(&tail(&id, owed.at), "to confirm"),
    ];
    show(state, dialog)
}

/// Opens one dialog for every call that is lost for certain.
pub(super) fn open_lost(state: &mut State) -> Vec<Effect> {
    let lost: Vec<usize> = state.obligations.iter().filter(|owed| is_lost(state, owed)).map(|owed| owed.at).collect();
    if lost.is_empty() {
        state.message = Some("no call is lost: a gives up the one under the cursor".to_string());
        return Vec::new();
    }
    let n = lost.len();
    let title = if n == 1 { "Abandon 1 lost call".to_string() } else { format!("Abandon {n} lost calls") };
    let mut dialog = Dialog::new(Purpose::Lost(lost), title, "stage");
    dialog.fields = vec![
        Field::new("reason", "", Must::Filled),
        Field::new("evidence", "", Must::Nothing),
        Field::new("operator", &state.options.operator, Must::Filled),
        Field::word(&n.to_string(), "to confirm that many"),
    ];
    show(state, dialog)
}

fn show(state: &mut State, dialog: Dialog) -> Vec<Effect> {
    state.hand.writer = None;
    state.hand.dialog = Some(dialog);
    refresh(state);
    vec![Effect::Writer]
}

/// The agent went on without it: giving it up takes nothing away from anybody.
fn is_lost(state: &State, owed: &Obligation) -> bool {
    let sure = matches!(owed.state, CallState::Lost | CallState::Undelivered);
    sure && owed.blocking && owed.id.is_some() && !state.hand.is_staged(owed.at)
}

fn here(state: &State) -> Option<Obligation> {
    if state.focus == Focus::Obligations {
        return state.obligations.get(state.owed_row).copied();
    }
    let at = state.cursor;
    let opens = |owed: &&Obligation| {
        owed.at == at || state.session.about(owed) == at || {
            let brackets = state.session.ledger().open_brackets().collect::<Vec<_>>();
            brackets.iter().any(|bracket| {
                let here = bracket.openers.iter().any(|opener| *opener as usize == at);
                here && bracket.open_at(state.len()) == Some(owed.at)
            })
        }
    };
    let exact = state.obligations.iter().find(|owed| owed.at == at && owed.blocking);
    exact.or_else(|| state.obligations.iter().find(opens)).or_else(|| first_blocker(state)).copied()
}

/// Where nothing is owed under the cursor, what is meant is what stands in the way, or the only thing that is owed.
fn first_blocker(state: &State) -> Option<&Obligation> {
    let blockers = state.plan.iter().flat_map(|plan| &plan.decision.blockers);
    let blocker = blockers.filter(|blocker| blocker.is_owed()).map(|blocker| blocker.obligation.at).next();
    let mut blocking = state.obligations.iter().filter(|owed| owed.blocking);
    match blocker {
        Some(at) => blocking.find(|owed| owed.at == at),
        None => blocking.next().filter(|_| blocking.next().is_none()),
    }
}

/// What is done, and to what.
fn words(kind: ObligationKind) -> (&'static str, &'static str) {
    match kind {
        ObligationKind::Call | ObligationKind::Unit => ("Abandon", "call"),
        ObligationKind::Approval => ("Deny", "approval"),
        ObligationKind::Transaction => ("Close", "transaction"),
        ObligationKind::Retry => ("Reset", "retry"),
        ObligationKind::Task => ("Declare dead", "task"),
        ObligationKind::Session => ("Declare dead", "session"),
        ObligationKind::Subagent => ("Declare dead", "sub-agent"),
    }
}

/// The end of an id, or the position where an id cannot be typed.
fn tail(id: &str, at: usize) -> String {
    if !id.bytes().all(|byte| byte.is_ascii_graphic()) {
        return at.to_string();
    }
    id.get(id.len().saturating_sub(TAIL)..).unwrap_or(id).to_string()
}

/// Says everything anew: time went on, records came, or the writer was looked at. What was typed stays.
pub(super) fn refresh(state: &mut State) {
    let Some(mut dialog) = state.hand.dialog.take() else { return };
    match dialog.purpose.clone() {
        Purpose::Abandon { at, kind, id } => {
            let Some(owed) = state.obligations.iter().find(|owed| owed.at == at && owed.kind == kind).copied() else {
                state.message = Some(format!("#{at} is not owed any more; the dialog was closed"));
                return;
            };
            dialog.facts = about(state, &owed, &id);
            let risky = owed.state == CallState::InFlight || is_alive(state);
            ask_for_running(&mut dialog, risky);
            let mut extra = vec![wish(state, &owed, &dialog)];
            if let Some(only) = extra.first_mut() {
                only.reason = "?".to_string();
            }
            // What it changes comes first, after what it is: on a small screen the rest is scrolled to.
            let effect = effect(state, &extra);
            dialog.facts.splice(1..1, effect);
        }
        Purpose::Lost(lost) => {
            dialog.facts = many(state, &lost);
            ask_for_running(&mut dialog, is_alive(state));
            let owed = state.obligations.iter().filter(|owed| lost.contains(&owed.at) && is_lost(state, owed));
            let extra: Vec<Abandonment> = owed.map(|owed| wish(state, owed, &dialog)).collect();
            let effect = effect(state, &extra);
            dialog.facts.splice(0..0, effect);
        }
        _ => {}
    }
    state.hand.dialog = Some(dialog);
}

fn is_alive(state: &State) -> bool {
    state.hand.writer.as_ref().is_some_and(|writer| writer.liveness == Liveness::Live)
}

/// What may still run needs one more word.
fn ask_for_running(dialog: &mut Dialog, risky: bool) {
    let asked = dialog.fields.iter().any(|field| field.must == Must::Word(RUNNING.to_string()));
    if risky && !asked {
        dialog.fields.push(Field::word(RUNNING, "as it may still run"));
    }
}

fn about(state: &State, owed: &Obligation, id: &str) -> Vec<Fact> {
    let head = state.heads.get(&state.session.about(owed)).cloned().unwrap_or_default();
    let opened = state.record(owed.at).map_or(crate::model::Millis::NONE, |record| record.time);
    let ago = opened.age_s(state.now).map_or_else(String::new, |s| format!("  ({} ago)", age(s)));
    let opened = clock(opened, &state.options.zone).unwrap_or_else(|| "at a time not on record".to_string());
    let mut facts = vec![
        Fact::plain(words(owed.kind).1, format!("{id}  {head}")),
        Fact::plain("opened", format!("{opened}{ago}   {}", owed.state.sentence())),
        Fact::new("last sign", last_sign(state, owed), Voice::Quiet),
        writer(state),
    ];
    let late = match owed.kind {
        ObligationKind::Call | ObligationKind::Unit => {
            "If its result does come later, it answers a call that is closed. It is then shown as LATE, never dropped."
        }
        ObligationKind::Approval => "An answer that comes later finds the request denied, outcome unknown.",
        ObligationKind::Transaction => {
            "Nothing is committed or rolled back by this: only the record says that its outcome is UNKNOWN."
        }
        ObligationKind::Retry => "Nothing stops trying by this: only the record says that the count is zero.",
        _ => "Nothing is killed by this: only the record says that it ended, outcome UNKNOWN.",
    };
    facts.push(Fact::new("!", late, Voice::Warns));
    facts
}

/// The newest record of the lane that it was opened in.
fn last_sign(state: &State, owed: &Obligation) -> String {
    let lane = state.record(owed.at).map(|record| record.lane);
    let of_lane = |record: &&Record| Some(record.lane) == lane;
    let newest = state.session.log().records.iter().filter(of_lane).map(|record| record.time).max();
    let newest = newest.unwrap_or(crate::model::Millis::NONE);
    let ago = newest.age_s(state.now).map_or_else(String::new, |s| format!(" ({} ago)", age(s)));
    match clock(newest, &state.options.zone) {
        Some(time) => format!("newest record of its lane {time}{ago}"),
        None => "its lane has no times".to_string(),
    }
}

fn writer(state: &State) -> Fact {
    match &state.hand.writer {
        Some(writer) => {
            let voice = if writer.liveness == Liveness::Live { Voice::Warns } else { Voice::Plain };
            Fact::new("writer", writer.text.clone(), voice)
        }
        None => Fact::new("writer", "being looked at", Voice::Quiet),
    }
}

/// What is lost, and apart from it what is not taken along.
fn many(state: &State, lost: &[usize]) -> Vec<Fact> {
    let line = |owed: &Obligation| {
        let head = state.heads.get(&state.session.about(owed)).cloned().unwrap_or_default();
        let since = state.record(owed.at).and_then(|record| record.time.age_s(state.now)).map_or(String::new(), age);
        format!("#{} {}  {head}  {since}", owed.at, state.session.name(owed.id))
    };
    let mut facts = vec![writer(state)];
    let (taken, rest): (Vec<_>, Vec<_>) = state.obligations.iter().partition(|owed| lost.contains(&owed.at));
    for (n, owed) in taken.iter().enumerate() {
        facts.push(Fact::plain(if n == 0 { "lost" } else { "" }, line(owed)));
    }
    let rest: Vec<_> = rest.into_iter().filter(|owed| owed.blocking && !state.hand.is_staged(owed.at)).collect();
    for (n, owed) in rest.iter().enumerate() {
        let text = format!("{}: {}", line(owed), owed.state.sentence());
        facts.push(Fact::new(if n == 0 { "not these" } else { "" }, text, Voice::Quiet));
    }
    let late = "A result that does come later is shown as LATE, never dropped.";
    facts.push(Fact::new("!", late, Voice::Warns));
    facts
}

/// What giving these up would change, computed before anybody confirms.
fn effect(state: &State, extra: &[Abandonment]) -> Vec<Fact> {
    let abandon: Vec<Abandonment> = state.hand.staged().into_iter().chain(extra.iter().cloned()).collect();
    let next = match plan(&state.session, &Request { abandon, ..Request::default() }) {
        Ok(next) => next,
        Err(why) => return vec![Fact::new("effect", why.to_string(), Voice::Bad)],
    };
    let now = state.plan.as_ref().map(|plan| plan.decision.verdict);
    let verdict = next.decision.verdict;
    let mut facts = Vec::new();
    let change = match now {
        Some(now) if now == verdict => format!("{} stays {}", now.name(), verdict.name()),
        Some(now) => format!("{} becomes {}", now.name(), verdict.name()),
        None => verdict.name().to_string(),
    };
    match next.decision.cut {
        Some(cut) => {
            let (start, last) = (next.decision.start, cut.saturating_sub(1));
            let (before, after) = (tokens(next.before), tokens(next.after));
            let text = format!("{change}: #{start}–#{last} may be cut, {before} become about {after} tokens");
            facts.push(Fact::new("effect", text, Voice::Good));
        }
        None => facts.push(Fact::plain("effect", change)),
    }
    let (start, target) = (next.decision.start, next.decision.target);
    for blocker in next.decision.blockers.iter().take(NAMED) {
        let owed = &blocker.obligation;
        let id = state.session.name(owed.id);
        let text = format!(
            "#{start}–#{} stays illegal: {} #{} {id} {}",
            target.saturating_sub(1),
            owed.kind.short(),
            owed.at,
            blocker.state_sentence()
        );
        facts.push(Fact::new("", text, Voice::Warns));
    }
    let more = next.decision.blockers.len().saturating_sub(NAMED);
    if more > 0 {
        facts.push(Fact::new("", format!("… and {more} more"), Voice::Warns));
    }
    facts
}

/// The abandonment that a dialog asks for. A call is its position; what is known by its handle alone may move on.
fn wish(state: &State, owed: &Obligation, dialog: &Dialog) -> Abandonment {
    let alike = state.obligations.iter().filter(|other| other.id == owed.id).count();
    let fixed = matches!(owed.kind, ObligationKind::Call | ObligationKind::Approval) || alike > 1;
    Abandonment {
        id: state.session.name(owed.id).to_string(),
        instance: fixed.then_some(owed.at),
        reason: dialog.text(0),
        evidence: dialog.text(1),
        by: dialog.text(2),
    }
}

/// Everything was typed: stage it.
pub(super) fn confirmed(state: &mut State, dialog: &Dialog) -> Vec<Effect> {
    let meant = |owed: &&Obligation| match &dialog.purpose {
        Purpose::Abandon { at, kind, .. } => owed.at == *at && owed.kind == *kind,
        Purpose::Lost(lost) => lost.contains(&owed.at) && is_lost(state, owed),
        _ => false,
    };
    let step: Vec<Abandonment> = state.obligations.iter().filter(meant).map(|owed| wish(state, owed, dialog)).collect();
    stage::stage(state, step)
}
