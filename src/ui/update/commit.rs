//! From what was previewed to a file: what will be written, what stays, what has to be typed.

use crate::{
    cut::Verdict,
    export::tokens,
    plan::{Check, Draft, Outcome, summary::Author},
    ui::{
        Effect, State,
        dialog::{Dialog, Fact, Field, Must, Purpose, Voice},
        hand::Done,
        hands::{Order, Told, Written},
        preview::{Choice, Preview, Why},
    },
};

/// `C` without a preview: what is staged alone is previewed first.
pub(super) fn preview_staged(state: &mut State) -> Vec<Effect> {
    if state.hand.steps.is_empty() {
        state.message = Some("nothing is staged: c previews a cut, a gives up what is open".to_string());
        return Vec::new();
    }
    let end = state.len();
    let only = Choice { start: end, end, why: Why::StagedOnly };
    state.hand.preview = Some(Preview::new(vec![only], only, state.size));
    state.message = Some("this is what would be written: nothing is cut; C commits it".to_string());
    Vec::new()
}

/// Opens the dialog over the preview, or says why not.
pub(super) fn open(state: &mut State) -> Vec<Effect> {
    let Some(preview) = &state.hand.preview else { return preview_staged(state) };
    if let Some(why) = &state.options.no_writes {
        state.message = Some(why.clone());
        return Vec::new();
    }
    if let Some(why) = preview.forbidden() {
        state.message = Some(format!("this cannot be committed: {why}"));
        return Vec::new();
    }
    let Some(draft) = preview.draft.as_ref().filter(|_| !preview.stale) else { return Vec::new() };
    let mut dialog = Dialog::new(Purpose::Commit, "Commit into a new session file", "write");
    let asks = draft.asks().map(|check| Field::new(format!("y  {}", check.name), "", Must::Word("y".to_string())));
    dialog.fields = asks.chain([Field::word("commit", "to write")]).collect();
    state.hand.dialog = Some(dialog);
    refresh(state);
    vec![Effect::Writer]
}

/// Says everything anew.
pub(super) fn refresh(state: &mut State) {
    let facts = match (&state.hand.dialog, &state.hand.preview) {
        (Some(dialog), Some(preview)) if dialog.purpose == Purpose::Commit => facts(state, preview),
        _ => return,
    };
    if let Some(dialog) = &mut state.hand.dialog {
        dialog.facts = facts;
    }
}

fn facts(state: &State, preview: &Preview) -> Vec<Fact> {
    let Some(draft) = &preview.draft else { return Vec::new() };
    let window = state.session.budget().map_or(1, |budget| budget.window.tokens.max(1));
    let (before, after) = (draft.before_tokens, draft.after_tokens);
    let (was, is) = (before * 100 / window, after * 100 / window);
    let sizes = format!("{} → {} tokens ({was} → {is} %)", tokens(before), tokens(after));
    let mut facts = vec![Fact::plain("plan", what(draft)), Fact::plain("context", sizes)];
    if preview.why == Why::Relief {
        facts.push(Fact::new("", "the relief that the refusal offered; the receipt says so", Voice::Warns));
    }
    let staged: Vec<String> =
        draft.plan.settled.iter().map(|settle| format!("{} {}", settle.act.name(), settle.id)).collect();
    let staged = if staged.is_empty() { "nothing".to_string() } else { staged.join(", ") };
    facts.push(Fact::plain("staged", staged));
    let count = |outcome: Outcome| draft.checks.iter().filter(|check| check.outcome == outcome).count();
    facts.push(Fact::plain(
        "checks",
        format!("{} passed, {} told, {} failed", count(Outcome::Passed), count(Outcome::Told), count(Outcome::Failed)),
    ));
    facts.extend(draft.asks().map(asked));
    let name = if draft.forked.name.is_empty() { "beside the source" } else { &draft.forked.name };
    facts.push(Fact::plain("write to", format!("a new session file, {name}")));
    facts.push(Fact::new("keeps", "the source as it is: it is never opened for writing", Voice::Good));
    if !draft.forked.resume.is_empty() || !draft.forked.resume_by_path.is_empty() {
        facts.push(Fact::plain("then", "the command that resumes it is shown, and copied to the clipboard"));
    }
    facts.push(Fact::plain("receipt", "plan, checks, hashes, who and when; u undoes the commit"));
    facts.push(grown(state, preview));
    if let Some(writer) = &state.hand.writer {
        facts.push(Fact::new("writer", writer.text.clone(), Voice::Quiet));
    }
    facts
}

fn asked(check: &Check) -> Fact {
    Fact::new("? asks", format!("{}: {}", check.name, check.text), Voice::Warns)
}

/// `#0–#5 → summary by the built-in extract`.
fn what(draft: &Draft) -> String {
    let by = draft.summary.as_ref().map_or("", |summary| match &summary.prose.by {
        Author::Extract => "the built-in extract",
        Author::Operator => "hand",
        Author::Command(_) => "a command",
    });
    match draft.wish.span {
        Some((from, to)) => format!("#{from}–#{} → summary by {by}", to.saturating_sub(1)),
        None => "nothing is cut".to_string(),
    }
}

fn grown(state: &State, preview: &Preview) -> Fact {
    let (seen, now) = (preview.seen, state.len());
    if now == seen {
        return Fact::plain("grew", format!("no: {seen} records at the preview, {now} now"));
    }
    let came = now.saturating_sub(seen);
    Fact::new("grew", format!("yes: {came} records came; they are kept behind it, word for word"), Voice::Warns)
}

/// `commit` was typed.
pub(super) fn confirmed(state: &State) -> Vec<Effect> {
    let Some((preview, draft)) = state.hand.preview.as_ref().and_then(|p| Some((p, p.draft.as_ref()?))) else {
        return Vec::new();
    };
    let verdict = match preview.why {
        Why::Planned(verdict) => verdict,
        Why::StagedOnly => Verdict::NoOp,
        Why::Relief => Verdict::Defer,
        _ => draft.plan.decision.verdict,
    };
    let confirmed = draft.asks().map(|check| check.name.to_string()).collect();
    let relief = preview.why == Why::Relief;
    vec![Effect::Commit(Order { verdict, relief, confirmed, operator: state.options.operator.clone() })]
}

/// It was written, or it was not and nothing else changed.
pub(super) fn committed(state: &mut State, committed: Result<Written, Told>) -> Vec<Effect> {
    match committed {
        Ok(written) => {
            let mut facts = vec![Fact::new("wrote", written.output.clone(), Voice::Good)];
            let mut effects = vec![Effect::Stage(Vec::new())];
            if written.resume.is_empty() {
                facts.push(Fact::plain("watch it", format!("cutline {}", written.output)));
            } else {
                facts.push(Fact::plain("resume", written.resume.clone()));
                facts.push(Fact::new("", "the command is in the clipboard", Voice::Quiet));
                effects.push(Effect::Copy(written.resume.clone()));
            }
            let (before, after) = written.tokens;
            facts.push(Fact::plain("tokens", format!("{} → {}", tokens(before), tokens(after))));
            facts.push(Fact::plain("receipt", written.receipt.clone()));
            facts.push(Fact::new("keeps", "the source, byte for byte; u undoes the commit", Voice::Quiet));
            state.hand.dialog = Some(Dialog::told("Committed", facts));
            state.hand.preview = None;
            state.hand.redo.clear();
            let steps = std::mem::take(&mut state.hand.steps);
            state.hand.done.push(Done { written, steps });
            state.derive();
            effects
        }
        Err(Told { sentence, hint }) => {
            let mut facts = vec![Fact::new("", sentence, Voice::Bad), Fact::plain("next", hint)];
            facts.push(Fact::new("keeps", "nothing was written; what is staged stays staged", Voice::Quiet));
            state.hand.dialog = Some(Dialog::told("Not committed", facts));
            if let Some(preview) = &mut state.hand.preview {
                preview.stale = true;
            }
            Vec::new()
        }
    }
}
