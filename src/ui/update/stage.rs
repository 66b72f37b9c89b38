//! What is staged: put there, taken back, put there again; and the way back from a commit.

use crate::{
    plan::Abandonment,
    ui::{
        Effect, State,
        dialog::{Dialog, Fact, Field, Purpose, Voice},
        hand::Done,
        hands::Told,
    },
};

/// Stages one step and shows the plan that follows from it.
pub(super) fn stage(state: &mut State, step: Vec<Abandonment>) -> Vec<Effect> {
    if step.is_empty() {
        state.message = Some("nothing was staged: it is not owed any more".to_string());
        return Vec::new();
    }
    state.hand.redo.clear();
    state.hand.steps.push(step);
    changed(state, "staged")
}

/// Takes back what was staged last; if nothing is staged, asks about the newest commit.
pub(super) fn undo(state: &mut State) -> Vec<Effect> {
    if let Some(step) = state.hand.steps.pop() {
        state.hand.redo.push(step);
        return changed(state, "taken back (U stages it again)");
    }
    let Some(done) = state.hand.done.last() else {
        state.message = Some("nothing is staged, and nothing was written in this run".to_string());
        return Vec::new();
    };
    let mut dialog = Dialog::new(Purpose::UndoCommit, "Undo the commit", "undo");
    dialog.facts = vec![
        Fact::plain("removes", done.written.output.clone()),
        Fact::plain("receipt", format!("{}, marked as undone", done.written.receipt)),
        Fact::new("keeps", "the source: it never changed", Voice::Good),
        Fact::new("!", "Not if somebody went on in the new session meanwhile: then nothing is removed.", Voice::Warns),
    ];
    dialog.fields = vec![Field::word("undo", "to remove it")];
    state.hand.dialog = Some(dialog);
    Vec::new()
}

/// Stages again what was taken back last.
pub(super) fn redo(state: &mut State) -> Vec<Effect> {
    let Some(step) = state.hand.redo.pop() else {
        state.message = Some("nothing was taken back".to_string());
        return Vec::new();
    };
    let open: Vec<Abandonment> = step.into_iter().filter(|staged| state.is_open(staged)).collect();
    if open.is_empty() {
        state.message = Some("nothing was staged: it is not owed any more".to_string());
        return Vec::new();
    }
    state.hand.steps.push(open);
    changed(state, "staged")
}

fn changed(state: &mut State, what: &str) -> Vec<Effect> {
    let was = state.plan.as_ref().map(|plan| plan.decision.verdict);
    state.derive();
    let now = state.plan.as_ref().map(|plan| plan.decision.verdict);
    let n = state.hand.staged().len();
    let change = match (was, now) {
        (Some(was), Some(now)) if was != now => format!("{} became {}, ", was.name(), now.name()),
        (_, Some(now)) => format!("still {}, ", now.name()),
        _ => String::new(),
    };
    let staged = match n {
        0 => "nothing is staged".to_string(),
        n => format!("{n} staged in all; c previews, u takes back"),
    };
    state.message = Some(format!("{what}: {change}{staged}"));
    if let Some(preview) = &mut state.hand.preview {
        preview.stale = true;
    }
    stored(state)
}

/// What is staged survives a crash, where anything may be written at all.
fn stored(state: &State) -> Vec<Effect> {
    if state.options.no_writes.is_some() { Vec::new() } else { vec![Effect::Stage(state.hand.staged())] }
}

/// What was staged in an earlier run.
pub(super) fn restored(state: &mut State, staged: Vec<Abandonment>) {
    if staged.is_empty() {
        return;
    }
    let n = staged.len();
    let noun = if n == 1 { "abandonment is" } else { "abandonments are" };
    state.message = Some(format!("{n} {noun} staged from an earlier run; u takes back, c previews"));
    state.hand.steps = staged.into_iter().map(|one| vec![one]).collect();
    state.dirty = true;
}

/// `undo` was typed.
pub(super) fn undo_confirmed(state: &State) -> Vec<Effect> {
    state.hand.done.last().map(|done| Effect::Undo(done.written.receipt.clone())).into_iter().collect()
}

/// The commit was undone: what it had settled is staged again.
pub(super) fn undone(state: &mut State, undone: Result<String, Told>) -> Vec<Effect> {
    match undone {
        Ok(text) => {
            let Some(Done { steps, .. }) = state.hand.done.pop() else { return Vec::new() };
            state.hand.steps = steps;
            let effects = changed(state, "undone");
            let mut facts = vec![Fact::new("", text, Voice::Good)];
            if !state.hand.staged().is_empty() {
                facts.push(Fact::plain("keeps", "what it had settled is staged again"));
            }
            state.hand.dialog = Some(Dialog::told("The commit is undone", facts));
            effects
        }
        Err(Told { sentence, hint }) => {
            let facts = vec![Fact::new("", sentence, Voice::Bad), Fact::plain("next", hint)];
            state.hand.dialog = Some(Dialog::told("Not undone", facts));
            Vec::new()
        }
    }
}
