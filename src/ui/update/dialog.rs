//! Keys while a dialog is open: typed text goes into the field, nothing else happens before every field is right.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{abandon, commit, stage, which};
use crate::ui::{
    Effect, State,
    dialog::{Dialog, Must, Purpose},
};

/// Longest text of a field, in bytes.
const LONGEST: usize = 2_000;

pub(super) fn key(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    let Some(dialog) = &mut state.hand.dialog else { return Vec::new() };
    if dialog.purpose == Purpose::Format {
        return which::key(state, key);
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let bare = dialog.fields.is_empty();
    match key.code {
        KeyCode::Esc => state.hand.dialog = None,
        KeyCode::Enter => return enter(state),
        KeyCode::Tab | KeyCode::Down => step(dialog, 1),
        KeyCode::BackTab | KeyCode::Up => step(dialog, -1),
        KeyCode::PageDown => dialog.scroll = (dialog.scroll + 5).min(dialog.facts.len()),
        KeyCode::PageUp => dialog.scroll = dialog.scroll.saturating_sub(5),
        KeyCode::Char('q') if bare && dialog.purpose == Purpose::Quit => return enter(state),
        KeyCode::Char('q') if bare => state.hand.dialog = None,
        KeyCode::Char('u') if control => write(dialog, String::clear),
        KeyCode::Char('w') if control => write(dialog, |text| text.truncate(start_of_last_word(text))),
        KeyCode::Backspace => write(dialog, |text| text.truncate(text.char_indices().last().map_or(0, |(at, _)| at))),
        KeyCode::Char(c) if !control => write(dialog, |text| push(text, c)),
        _ => {}
    }
    Vec::new()
}

/// Pasted text goes into the field as one line.
pub(super) fn paste(dialog: &mut Dialog, pasted: &str) {
    let line = pasted.trim().replace(['\r', '\n', '\t'], " ");
    write(dialog, |text| line.chars().filter(|c| !c.is_control()).for_each(|c| push(text, c)));
}

fn push(text: &mut String, c: char) {
    if text.len() + c.len_utf8() <= LONGEST {
        text.push(c);
    }
}

fn start_of_last_word(text: &str) -> usize {
    text.trim_end().rfind(' ').map_or(0, |space| space + 1)
}

fn write(dialog: &mut Dialog, change: impl FnOnce(&mut String)) {
    if let Some(field) = dialog.fields.get_mut(dialog.at) {
        change(&mut field.text);
    }
    dialog.complaint = None;
}

fn step(dialog: &mut Dialog, by: isize) {
    let n = dialog.fields.len().max(1);
    dialog.at = (dialog.at + n).saturating_add_signed(by) % n;
}

/// On to the next field; from the last one it is done, if every field is right.
fn enter(state: &mut State) -> Vec<Effect> {
    let Some(dialog) = &mut state.hand.dialog else { return Vec::new() };
    if dialog.at + 1 < dialog.fields.len() {
        dialog.at += 1;
        return Vec::new();
    }
    if let Some(wrong) = dialog.wrong() {
        dialog.at = wrong;
        dialog.complaint = dialog.fields.get(wrong).map(|field| match &field.must {
            Must::Word(word) if field.text.is_empty() => format!("type `{word}` to confirm"),
            Must::Word(word) => format!("that is not `{word}`"),
            _ => format!("{} is needed", field.label),
        });
        return Vec::new();
    }
    let Some(dialog) = state.hand.dialog.take() else { return Vec::new() };
    match &dialog.purpose {
        Purpose::Abandon { .. } | Purpose::Lost(_) => abandon::confirmed(state, &dialog),
        Purpose::Commit => commit::confirmed(state),
        Purpose::UndoCommit => stage::undo_confirmed(state),
        Purpose::Quit => vec![Effect::Quit],
        Purpose::Told | Purpose::Format => Vec::new(),
    }
}
