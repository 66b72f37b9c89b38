//! Panes and windows.

use super::movement;
use crate::{
    cut::{Rules, why_illegal},
    ui::{Focus, State, state::Popup},
};

pub(super) fn focus(state: &mut State, focus: Focus) {
    state.focus = focus;
    if !state.zoomed {
        movement::keep_visible(state);
    }
}

/// The record whole; a second time: full screen.
pub(super) fn open(state: &mut State) {
    match state.focus {
        Focus::Obligations => {
            if let Some(at) = state.obligations.get(state.owed_row).map(|obligation| obligation.at) {
                state.focus = Focus::Transcript;
                movement::go_to(state, at);
            }
        }
        Focus::Transcript => {
            state.scroll.insert(Focus::Detail, 0);
            state.focus = Focus::Detail;
            movement::keep_visible(state);
        }
        _ => state.zoomed = !state.zoomed,
    }
}

pub(super) fn top(state: &mut State, count: Option<usize>) {
    match state.focus {
        Focus::Transcript => movement::go_to(state, count.unwrap_or(0)),
        Focus::Obligations => movement::step(state, isize::MIN / 2),
        focus => {
            state.scroll.insert(focus, 0);
        }
    }
}

pub(super) fn bottom(state: &mut State, count: Option<usize>) {
    match (state.focus, count) {
        (Focus::Transcript, Some(position)) => movement::go_to(state, position),
        (Focus::Transcript, None) => movement::to_tail(state),
        _ => movement::step(state, isize::MAX / 2),
    }
}

pub(super) fn follow(state: &mut State) {
    if state.following {
        state.following = false;
        state.paused_at = state.len();
        state.message = Some("follow is off; F or G follows again".to_string());
    } else {
        movement::to_tail(state);
    }
}

pub(super) fn help(state: &mut State) {
    state.popup = if matches!(state.popup, Popup::Help(_)) { Popup::None } else { Popup::Help(0) };
}

pub(super) fn scrolls_popup(state: &State) -> bool {
    matches!(state.popup, Popup::Help(_))
}

pub(super) fn scroll_popup(state: &mut State, steps: isize) {
    if let Popup::Help(line) = &mut state.popup {
        *line = line.saturating_add_signed(steps).min(200);
    }
}

/// May one cut before the record under the cursor, what would that free, and why not.
pub(super) fn why(state: &mut State) {
    if matches!(state.popup, Popup::Why(_)) {
        state.popup = Popup::None;
        return;
    }
    if state.focus == Focus::Notes {
        let told = state.session.capability().map(|capability| capability.sentences());
        state.popup = Popup::Why(told.unwrap_or_else(|| vec!["The format is not known yet.".to_string()]));
        return;
    }
    let cut = state.cursor;
    let ledger = state.session.ledger();
    let mut lines = Vec::new();
    if cut == 0 {
        lines.push("A cut before the first record would summarise nothing.".to_string());
    } else if state.is_legal(cut) {
        lines.push(format!("A cut before #{cut} is legal: nothing before it is owed, no unit is split."));
        if let Some(budget) = state.session.budget() {
            let (frees, after) = (budget.frees(0, cut), budget.after_cut(0, cut));
            lines.push(format!(
                "It would free {frees} tokens and leave about {after} ({}).",
                budget.series.basis().name()
            ));
        }
    } else {
        lines.push(format!("A cut before #{cut} is illegal:"));
        for reason in why_illegal(ledger, &ledger.units(), 0, cut, Rules::default()) {
            let at: Vec<String> = reason.records.iter().take(6).map(|at| format!("#{at}")).collect();
            let more = reason.records.len().saturating_sub(6);
            let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!("  {} {}{rest} {}", reason.kind.name(), at.join(" "), reason.kind.sentence()));
        }
        let near = state.cuts.partition_point(|legal| *legal <= cut);
        let before = near.checked_sub(1).and_then(|n| state.cuts.get(n));
        let after = state.cuts.get(near);
        let name = |cut: Option<&usize>| cut.map_or_else(|| "none".to_string(), |cut| format!("#{cut}"));
        lines.push(format!("Nearest legal cut: {} before, {} after.", name(before), name(after)));
    }
    state.popup = Popup::Why(lines);
}
