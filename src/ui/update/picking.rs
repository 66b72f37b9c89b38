//! The list of sessions.

use super::close_top;
use crate::ui::{Action, Effect, State, state::Popup};

pub(super) fn act(state: &mut State, action: Action, count: Option<usize>) -> Vec<Effect> {
    let Some(picker) = &mut state.picker else { return Vec::new() };
    let last = picker.choices.len().saturating_sub(1);
    let n = count.unwrap_or(1);
    let page = usize::from(state.size.1).saturating_sub(8).max(1);
    match action {
        Action::Down => picker.cursor = (picker.cursor + n).min(last),
        Action::Up => picker.cursor = picker.cursor.saturating_sub(n),
        Action::PageDown | Action::HalfDown => picker.cursor = (picker.cursor + page).min(last),
        Action::PageUp | Action::HalfUp => picker.cursor = picker.cursor.saturating_sub(page),
        Action::Top => picker.cursor = 0,
        Action::Bottom => picker.cursor = last,
        Action::Open => {
            let chosen = picker.choices.get(picker.cursor).map(|choice| choice.path.clone());
            return vec![chosen.map_or(Effect::Demo, Effect::Open)];
        }
        Action::Help => state.popup = if state.popup == Popup::None { Popup::Help(0) } else { Popup::None },
        Action::Close => {
            close_top(state);
        }
        Action::Quit if close_top(state) => {}
        Action::Quit => return vec![Effect::Quit],
        Action::Interrupt => return vec![Effect::Interrupt],
        Action::Suspend => return vec![Effect::Suspend],
        _ => {}
    }
    Vec::new()
}
