//! The cut preview: opening it, moving the cut, looking at it. Asks for drafts, writes nothing.

use super::{commit, movement};
use crate::{
    cut::{Rules, why_illegal},
    plan::{
        Draft, Wish, legal_cuts_settled,
        summary::{Author, Prose},
    },
    ui::{
        Action, Effect, State,
        preview::{Choice, Preview, Reveal, View, Why, choices},
        state::Popup,
    },
};

/// `c`: what the planner chose or offers, else a cut before the record under the cursor.
pub(super) fn open(state: &mut State) -> Vec<Effect> {
    let Some(plan) = state.plan.as_ref().filter(|_| state.len() > 0) else {
        state.message = Some("there is nothing to preview yet".to_string());
        return Vec::new();
    };
    let choices = choices(&plan.decision, &plan.candidates);
    let planned = choices.first().copied().filter(|first| matches!(first.why, Why::Planned(_) | Why::Relief));
    // Nobody chose the newest record by following it.
    let cursor = if state.following { plan.decision.target } else { state.cursor };
    let own = Choice { start: 0, end: cursor.clamp(1, state.len()), why: Why::Own };
    let preview = Preview::new(choices, planned.unwrap_or(own), state.size);
    if planned.is_none() {
        let verdict = plan.decision.verdict.name();
        state.message = Some(format!("{verdict}: nothing is planned; this is a cut before #{}", own.end));
    }
    state.hand.preview = Some(preview);
    Vec::new()
}

/// Once a frame: asks for the draft of what is wished for now.
pub(super) fn settle(state: &mut State) -> Vec<Effect> {
    let (records, size) = (state.len(), state.size);
    // The picture stays while somebody reads a question about it.
    let asking = state.hand.dialog.is_some();
    let Some(preview) = &mut state.hand.preview else { return Vec::new() };
    preview.resize(size, records);
    if preview.seen != records && !preview.stale && !asking {
        let came = records.saturating_sub(preview.seen);
        state.message = Some(format!("previewing anew: {came} records came"));
        preview.stale = true;
    }
    if !preview.stale || asking {
        return Vec::new();
    }
    preview.stale = false;
    let fresh = std::mem::take(&mut preview.fresh);
    let wish = Wish { span: preview.span(), prose: preview.prose.clone(), ..Wish::default() };
    vec![Effect::Draft { wish: Wish { settle: state.hand.staged(), ..wish }, fresh }]
}

/// A draft came: what was asked for meanwhile is done with it.
pub(super) fn drafted(state: &mut State, drafted: Result<Draft, String>) -> Vec<Effect> {
    let records = state.len();
    let Some(preview) = &mut state.hand.preview else { return Vec::new() };
    preview.take(drafted, records);
    let then = preview.then.take();
    then.and_then(|action| act(state, action, 1)).unwrap_or_default()
}

/// Needs the draft of what is wished for now, not the one before.
fn needs_draft(action: Action) -> bool {
    use Action::{Commit, CopySummary, EditSummary, Summarise, Why};
    matches!(action, Commit | CopySummary | EditSummary | Summarise | Why)
}

/// An action while the preview is open; `None` if it is none of the preview's.
pub(super) fn act(state: &mut State, action: Action, n: isize) -> Option<Vec<Effect>> {
    let page = state.hand.preview.as_ref().map(Preview::page)?;
    let page = isize::try_from(page).unwrap_or(1);
    if let Some(preview) = state.hand.preview.as_mut().filter(|preview| preview.stale && needs_draft(action)) {
        preview.then = Some(action);
        return Some(Vec::new());
    }
    match action {
        Action::Help | Action::Interrupt | Action::Suspend | Action::Look => return None,
        Action::Down | Action::Up if super::panes::scrolls_popup(state) => return None,
        Action::Close | Action::Quit => return Some(back(state)),
        Action::Commit => return Some(commit::open(state)),
        Action::Why => why(state),
        Action::Down => scroll(state, n),
        Action::Up => scroll(state, -n),
        Action::HalfDown => scroll(state, n * (page / 2).max(1)),
        Action::HalfUp => scroll(state, -n * (page / 2).max(1)),
        Action::PageDown => scroll(state, n * page),
        Action::PageUp => scroll(state, -n * page),
        Action::Top => scroll(state, isize::MIN / 2),
        Action::Bottom => scroll(state, isize::MAX / 2),
        Action::EndBack => move_to(state, 0, -n),
        Action::EndOn => move_to(state, 0, n),
        Action::StartBack => move_to(state, -n, 0),
        Action::StartOn => move_to(state, n, 0),
        Action::Snap => snap(state),
        Action::NextCut | Action::PrevCut => next_legal(state, action == Action::NextCut),
        Action::NextPane => candidate(state, 1),
        Action::PrevPane => candidate(state, -1),
        Action::ViewBefore => view(state, View::Before),
        Action::ViewAfter => view(state, View::After),
        Action::ViewUnified => view(state, View::Unified),
        Action::Unfold => unfold(state),
        Action::EditSummary => return Some(edit(state)),
        Action::Summarise => return Some(summarise(state)),
        Action::UseExtract => use_extract(state),
        Action::CopySummary => return Some(copy(state)),
        _ => state.message = Some(format!("not in the preview ({}); Esc goes back", action.name())),
    }
    Some(Vec::new())
}

/// Esc closes what is topmost: a window first, then a running summariser, then the preview.
fn back(state: &mut State) -> Vec<Effect> {
    if state.popup != Popup::None {
        state.popup = Popup::None;
        return Vec::new();
    }
    if let Some(preview) = &mut state.hand.preview
        && preview.summarising.take().is_some()
    {
        state.message = Some("the summariser was ended; the summary stays as it was".to_string());
        return vec![Effect::CancelSummary];
    }
    let end = state.hand.preview.take().map(|preview| preview.end);
    // The transcript shows the place that was looked at, without moving the cursor from the tail.
    if let Some(end) = end.filter(|_| !state.following) {
        movement::go_to(state, end);
    }
    Vec::new()
}

fn scroll(state: &mut State, steps: isize) {
    if let Some(preview) = &mut state.hand.preview {
        preview.scroll_by(steps);
    }
}

/// Moves start and end by so many records.
fn move_to(state: &mut State, start: isize, end: isize) {
    let len = state.len();
    let Some(preview) = &state.hand.preview else { return };
    if preview.why == Why::StagedOnly {
        state.message = Some("nothing is cut here: Esc, then c previews a cut".to_string());
        return;
    }
    let wanted = (
        preview.start.saturating_add_signed(start).min(preview.end.saturating_sub(1)),
        preview.end.saturating_add_signed(end).clamp(preview.start + 1, len.max(1)),
    );
    if wanted == (preview.start, preview.end) {
        state.message = Some("the span ends here: it keeps at least one record, inside the transcript".to_string());
        return;
    }
    show(state, wanted.0, wanted.1);
}

/// Looks at this span; one that was offered keeps its name.
fn show(state: &mut State, start: usize, end: usize) {
    let Some(preview) = &mut state.hand.preview else { return };
    if preview.summarising.is_some() {
        state.message = Some("the summariser is writing about this span; Esc ends it".to_string());
        return;
    }
    // Words of a command or by hand speak of the span that they were written for.
    preview.prose = None;
    preview.chosen = preview.choices.iter().position(|choice| (choice.start, choice.end) == (start, end));
    let offered = preview.chosen.and_then(|n| preview.choices.get(n)).map(|choice| choice.why);
    preview.why = offered.unwrap_or(Why::Own);
    (preview.start, preview.end) = (start, end);
    preview.reveal(Reveal::Cut);
}

/// Legal ends of a span from where the preview's begins.
fn legal(state: &State) -> Vec<usize> {
    let start = state.hand.preview.as_ref().map_or(0, |preview| preview.start);
    if start == 0 {
        return state.cuts.iter().copied().filter(|cut| *cut > 0).collect();
    }
    let settled = state.plan.as_ref().map(|plan| plan.settled.as_slice()).unwrap_or_default();
    legal_cuts_settled(&state.session, settled, start)
}

fn snap(state: &mut State) {
    let Some((start, end)) = state.hand.preview.as_ref().map(|preview| (preview.start, preview.end)) else { return };
    let nearest = legal(state).into_iter().min_by_key(|cut| (cut.abs_diff(end), *cut));
    match nearest {
        Some(cut) if cut == end => state.message = Some("this end is legal already".to_string()),
        Some(cut) => show(state, start, cut),
        None => state.message = Some(format!("no end of a span from #{start} is legal; i says why")),
    }
}

fn next_legal(state: &mut State, forward: bool) {
    let Some((start, end)) = state.hand.preview.as_ref().map(|preview| (preview.start, preview.end)) else { return };
    let legal = legal(state);
    let found =
        if forward { legal.into_iter().find(|cut| *cut > end) } else { legal.into_iter().rev().find(|cut| *cut < end) };
    match found {
        Some(cut) => show(state, start, cut),
        None => state.message = Some(format!("no legal cut {}", if forward { "below" } else { "above" })),
    }
}

fn candidate(state: &mut State, by: isize) {
    let Some(preview) = &state.hand.preview else { return };
    let n = preview.choices.len();
    if n == 0 {
        state.message = Some("the planner has no candidate: nothing here is legal and large enough".to_string());
        return;
    }
    let here = preview.chosen.map_or(if by > 0 { n - 1 } else { 0 }, |here| here);
    let next = (here + n).saturating_add_signed(by) % n;
    let Some(choice) = preview.choices.get(next).copied() else { return };
    show(state, choice.start, choice.end);
    state.message = Some(match choice.why {
        Why::Relief => format!("relief: #{}–#{}; committing it is recorded", choice.start, choice.end - 1),
        Why::Forward => "the next legal cut after the target: never chosen by itself".to_string(),
        _ => format!("candidate {} of {n}", next + 1),
    });
}

fn view(state: &mut State, view: View) {
    let records = state.len();
    if let Some(preview) = &mut state.hand.preview {
        preview.view = if preview.view == view { View::Both } else { view };
        preview.scroll = 0;
        preview.lay_out(records);
    }
}

fn unfold(state: &mut State) {
    let records = state.len();
    if let Some(preview) = &mut state.hand.preview {
        preview.unfolded = !preview.unfolded;
        preview.lay_out(records);
    }
}

/// Why this span may not be cut, and every check with its whole sentence.
fn why(state: &mut State) {
    if matches!(state.popup, Popup::Why(_)) {
        state.popup = Popup::None;
        return;
    }
    let Some(preview) = &state.hand.preview else { return };
    let mut lines = Vec::new();
    if let Some(why) = &preview.trouble {
        lines.push(why.clone());
    }
    let (start, end) = (preview.start, preview.end);
    if preview.why != Why::StagedOnly && !legal(state).contains(&end) {
        lines.push(format!("#{start}–#{} may not be cut:", end.saturating_sub(1)));
        let ledger = state.session.ledger();
        for reason in why_illegal(ledger, &ledger.units(), start, end, Rules::default()) {
            let open: Vec<&usize> = reason.records.iter().filter(|at| !state.hand.is_staged(**at)).collect();
            if open.is_empty() {
                continue;
            }
            let named: Vec<String> = open.iter().take(6).map(|at| format!("#{at}")).collect();
            lines.push(format!("  {} {} {}", reason.kind.name(), named.join(" "), reason.kind.sentence()));
        }
    }
    lines.extend(
        preview.checks().iter().map(|check| format!("{} {}: {}", check.outcome.name(), check.name, check.text)),
    );
    state.popup = Popup::Why(lines);
}

/// The words alone are edited; the ledger is code's.
fn edit(state: &mut State) -> Vec<Effect> {
    if state.hand.preview.as_ref().is_some_and(|preview| preview.summarising.is_some()) {
        state.message = Some("the summariser is at it; Esc ends it".to_string());
        return Vec::new();
    }
    let summary = state.hand.preview.as_ref().and_then(|preview| preview.draft.as_ref()?.summary.as_ref());
    let Some(summary) = summary else {
        state.message = Some("there is no summary here to edit".to_string());
        return Vec::new();
    };
    vec![Effect::Edit(summary.prose.text.clone())]
}

/// The editor was closed.
pub(super) fn edited(state: &mut State, edited: Result<String, String>) {
    match edited {
        Ok(text) if text.trim().is_empty() => {
            state.message = Some("the summary stays as it was: nothing was left in the file".to_string());
        }
        Ok(text) => {
            let text = text.trim().to_string();
            let Some(preview) = &mut state.hand.preview else { return };
            let old =
                preview.draft.as_ref().and_then(|draft| draft.summary.as_ref()).map(|summary| &summary.prose.text);
            if old.is_some_and(|old| old.trim() == text) {
                state.message = Some("the summary stays as it was".to_string());
                return;
            }
            preview.prose = Some(Prose { text, by: Author::Operator });
            preview.reveal(Reveal::Top);
            state.message =
                Some("your words, with the ledger that code renders; x goes back to the extract".to_string());
        }
        Err(why) => state.message = Some(why),
    }
}

fn summarise(state: &mut State) -> Vec<Effect> {
    let summary = state.hand.preview.as_mut().filter(|preview| {
        let sound = preview.draft.as_ref().is_some_and(|draft| draft.summary.is_some());
        sound && !preview.stale
    });
    match (&state.options.summariser, summary) {
        (Some(_), Some(preview)) if preview.summarising.is_some() => {
            state.message = Some("the summariser is at it; Esc ends it".to_string());
            Vec::new()
        }
        (Some(name), Some(preview)) => {
            preview.summarising = Some(format!("{name} was started"));
            vec![Effect::Summarise]
        }
        (Some(_), None) => {
            state.message = Some("there is no span here to summarise".to_string());
            Vec::new()
        }
        (None, _) => {
            state.message = Some("no summariser is set: start with CUTLINE_SUMMARISER='COMMAND ARG…'".to_string());
            Vec::new()
        }
    }
}

/// The summariser got further.
pub(super) fn progress(state: &mut State, words: String) {
    if let Some(running) = state.hand.preview.as_mut().and_then(|preview| preview.summarising.as_mut()) {
        *running = words;
    }
}

/// The summariser ended. What comes after Esc is for nobody.
pub(super) fn summarised(state: &mut State, answer: Result<(Prose, Option<String>), String>) {
    let Some(preview) = &mut state.hand.preview else { return };
    if preview.summarising.take().is_none() {
        return;
    }
    state.message = Some(match answer {
        Ok((prose, remark)) => {
            let by = match &prose.by {
                Author::Command(name) => format!("the words of {name}"),
                _ => "the built-in extract".to_string(),
            };
            preview.prose = Some(prose);
            preview.reveal(Reveal::Top);
            remark.unwrap_or_else(|| format!("{by}, with the ledger that code renders; x goes back to the extract"))
        }
        Err(why) => why,
    });
}

fn use_extract(state: &mut State) {
    let Some(preview) = &mut state.hand.preview else { return };
    if preview.prose.take().is_none() {
        state.message = Some("the words are those of the built-in extract already".to_string());
        return;
    }
    preview.reveal(Reveal::Top);
    state.message = Some("back to the built-in extract".to_string());
}

fn copy(state: &mut State) -> Vec<Effect> {
    let summary = state.hand.preview.as_ref().and_then(|preview| preview.draft.as_ref()?.summary.as_ref());
    let Some(summary) = summary else {
        state.message = Some("there is no summary here to copy".to_string());
        return Vec::new();
    };
    vec![Effect::Copy(summary.text.clone())]
}
