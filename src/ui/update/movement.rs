//! The cursor and the lines above it. A scroll position is a record, never a count of wrapped lines.

use crate::ui::{Focus, State};

/// Lines kept between the cursor and the edge.
const MARGIN: usize = 2;

pub(super) fn go_to(state: &mut State, position: usize) {
    let last = state.len().saturating_sub(1);
    state.cursor = position.min(last);
    let was = state.following;
    state.following = was && state.cursor == last;
    if was && !state.following {
        state.paused_at = state.len();
    }
    keep_visible(state);
}

pub(super) fn to_tail(state: &mut State) {
    state.following = true;
    state.cursor = state.len().saturating_sub(1);
    put_cursor_at(state, usize::MAX);
}

/// Scrolls as little as needed so that the cursor is on the screen.
pub(in crate::ui) fn keep_visible(state: &mut State) {
    let page = state.page();
    let margin = MARGIN.min(page.saturating_sub(1) / 2);
    if state.cursor < state.top + margin {
        state.top = state.cursor.saturating_sub(margin);
    }
    let visible = state.lines_from(state.top, page);
    let wanted = (state.cursor + margin).min(state.len().saturating_sub(1));
    if !visible.iter().any(|line| line.record() == Some(wanted)) {
        let below = if wanted == state.cursor { 0 } else { margin };
        put_cursor_at(state, page.saturating_sub(1 + below));
    }
}

/// Puts the cursor on line `line` of the page (or the last), as near as the start of the log allows.
pub(super) fn put_cursor_at(state: &mut State, line: usize) {
    let page = state.page();
    let at_end = line >= page - 1 && state.cursor + 1 >= state.len();
    // A rule may stand behind the last record.
    let tail = if at_end { state.rules_before(state.len()).len() } else { 0 };
    let mut room = line.min(page - 1).saturating_sub(tail);
    let mut top = state.cursor;
    let mut above = state.rules_before(top).len();
    while top > 0 && above < room {
        let height = 1 + state.rules_before(top - 1).len();
        if above + height > room {
            break;
        }
        above += height;
        top -= 1;
    }
    room = room.max(above);
    state.top = if room >= above { top } else { state.cursor };
}

/// Moves the focused pane by `steps` (negative: up).
pub(super) fn step(state: &mut State, steps: isize) {
    match state.focus {
        Focus::Transcript => go_to(state, state.cursor.saturating_add_signed(steps)),
        Focus::Obligations => {
            let last = state.obligations.len().saturating_sub(1);
            state.owed_row = state.owed_row.saturating_add_signed(steps).min(last);
            if let Some(at) = state.obligations.get(state.owed_row).map(|obligation| obligation.at) {
                go_to(state, at);
            }
        }
        focus => {
            let line = state.scroll.entry(focus).or_default();
            *line = line.saturating_add_signed(steps);
        }
    }
}

/// Lines of the focused pane that fit.
pub(super) fn page_of_focus(state: &State) -> isize {
    let height = usize::from(state.regions().inner(state.focus).height).max(2);
    isize::try_from(height - 1).unwrap_or(1)
}
