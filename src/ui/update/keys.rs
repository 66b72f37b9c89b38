//! Keys: typed text where something is being typed, else actions.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{abandon, close_top, commit, dialog, jump, movement, panes, picking, preview, stage};
use crate::ui::{
    Action, Effect, Focus, State,
    dialog::{Dialog, Fact, Purpose, Voice},
    keymap::{self, Pressed},
    state::Popup,
};

/// Milliseconds after which a lone digit names a pane and a prefix shows what may follow.
pub(in crate::ui) const PATIENCE_MS: i64 = 400;

pub(super) fn key(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    if key.modifiers.contains(KeyModifiers::ALT) {
        // Terminals send Esc and a key that follows it at once as they send Alt and that key. Nothing is bound to Alt.
        let mut effects = self::key(state, KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        let plain = KeyEvent { modifiers: key.modifiers.difference(KeyModifiers::ALT), ..key };
        effects.extend(self::key(state, plain));
        return effects;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    if control && key.code == KeyCode::Char('c') {
        return vec![Effect::Interrupt];
    }
    if control && key.code == KeyCode::Char('z') {
        return vec![Effect::Suspend];
    }
    if typing(state) {
        return typed(state, key);
    }
    if state.hand.dialog.is_some() {
        let mut effects = dialog::key(state, key);
        effects.extend(state.wanted());
        return effects;
    }
    match keymap::press(&mut state.waiting, key, state.hand.preview.is_some()) {
        Pressed::More => {
            state.waiting_since = Some(state.now);
            Vec::new()
        }
        Pressed::Nothing => {
            let name = keymap::key_name(key);
            state.message = (!name.is_empty()).then(|| format!("nothing is bound to {name}; ? shows the keys"));
            Vec::new()
        }
        Pressed::Act(action, count) => {
            state.message = None;
            let mut effects = act(state, action, count);
            effects.extend(state.wanted());
            effects
        }
    }
}

/// Time went on: a lone digit names a pane.
pub(super) fn tick(state: &mut State) -> Vec<Effect> {
    let waited = state.waiting_since.and_then(|since| Some(state.now.known()? - since.known()?));
    if state.waiting.is_empty() || waited.is_none_or(|ms| ms < PATIENCE_MS) {
        return Vec::new();
    }
    match keymap::settle(&mut state.waiting) {
        Some(action) => {
            let mut effects = act(state, action, None);
            effects.extend(state.wanted());
            effects
        }
        None => Vec::new(),
    }
}

fn typing(state: &State) -> bool {
    matches!(state.popup, Popup::Search(_) | Popup::Command(_))
}

/// Pasted text goes to what is being typed, and nowhere else.
pub(super) fn paste(state: &mut State, text: &str) {
    if let Popup::Search(line) | Popup::Command(line) = &mut state.popup {
        line.extend(text.chars().filter(|c| !c.is_control()));
    } else if let Some(open) = state.hand.dialog.as_mut().filter(|open| !open.fields.is_empty()) {
        dialog::paste(open, text);
    } else {
        state.message = Some("pasted text is ignored here".to_string());
    }
}

fn typed(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    let (Popup::Search(line) | Popup::Command(line)) = &mut state.popup else { return Vec::new() };
    match key.code {
        KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => line.clear(),
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => line.push(c),
        KeyCode::Backspace if !line.is_empty() => drop(line.pop()),
        KeyCode::Esc | KeyCode::Backspace => state.popup = Popup::None,
        KeyCode::Enter => {
            let mut effects = match std::mem::take(&mut state.popup) {
                Popup::Search(line) => jump::search(state, &line),
                Popup::Command(line) => command(state, line.trim()),
                _ => Vec::new(),
            };
            effects.extend(state.wanted());
            return effects;
        }
        _ => {}
    }
    Vec::new()
}

fn command(state: &mut State, line: &str) -> Vec<Effect> {
    match (line, line.trim_start_matches('#').parse::<usize>()) {
        ("", _) => {}
        ("q" | "quit", _) => return vec![Effect::Quit],
        (_, Ok(position)) => movement::go_to(state, position),
        _ => state.message = Some(format!("`{line}` is no record number; `:123` goes to record 123")),
    }
    Vec::new()
}

fn act(state: &mut State, action: Action, count: Option<usize>) -> Vec<Effect> {
    if state.picker.is_some() {
        return picking::act(state, action, count);
    }
    let n = isize::try_from(count.unwrap_or(1)).unwrap_or(1);
    if let Some(effects) = preview::act(state, action, n) {
        return effects;
    }
    let page = movement::page_of_focus(state);
    match action {
        Action::Down | Action::Up if panes::scrolls_popup(state) => {
            panes::scroll_popup(state, if action == Action::Down { n } else { -n });
        }
        Action::Down => movement::step(state, n),
        Action::Up => movement::step(state, -n),
        Action::HalfDown => movement::step(state, n * (page / 2).max(1)),
        Action::HalfUp => movement::step(state, -n * (page / 2).max(1)),
        Action::PageDown => movement::step(state, n * page),
        Action::PageUp => movement::step(state, -n * page),
        Action::Top => panes::top(state, count),
        Action::Bottom => panes::bottom(state, count),
        Action::Centre => movement::put_cursor_at(state, state.page() / 2),
        Action::ViewTop => movement::put_cursor_at(state, 0),
        Action::ViewBottom => movement::put_cursor_at(state, state.page().saturating_sub(1)),
        Action::Pair => jump::pair(state),
        Action::NextOperation | Action::PrevOperation => jump::operation(state, action == Action::NextOperation),
        Action::SearchTool => jump::tool(state),
        Action::SearchNext | Action::SearchPrev => return jump::step_search(state, action == Action::SearchNext),
        Action::Search => state.popup = Popup::Search(String::new()),
        Action::Command => state.popup = Popup::Command(String::new()),
        Action::Why => panes::why(state),
        Action::Follow => panes::follow(state),
        Action::Look => return vec![Effect::Look],
        Action::Open => panes::open(state),
        Action::Help => panes::help(state),
        Action::Close => {
            close_top(state);
        }
        Action::Quit => {
            if !close_top(state) && !back_to_transcript(state) {
                return quit(state);
            }
        }
        Action::CutPreview => return preview::open(state),
        Action::Abandon => return abandon::open(state),
        Action::AbandonLost => return abandon::open_lost(state),
        Action::Commit => return commit::open(state),
        Action::Undo => return stage::undo(state),
        Action::Redo => return stage::redo(state),
        Action::Interrupt => return vec![Effect::Interrupt],
        Action::Suspend => return vec![Effect::Suspend],
        _ => further(state, action),
    }
    Vec::new()
}

/// Asks once if something is staged.
fn quit(state: &mut State) -> Vec<Effect> {
    let n = state.hand.staged().len();
    if n == 0 {
        return vec![Effect::Quit];
    }
    let mut asked = Dialog::new(Purpose::Quit, "Something is staged", "leave");
    let noun = if n == 1 { "abandonment is" } else { "abandonments are" };
    asked.facts = vec![
        Fact::plain("", format!("{n} {noun} staged and not committed.")),
        Fact::new("keeps", "the stage: it is there when this transcript is opened again", Voice::Good),
    ];
    state.hand.dialog = Some(asked);
    Vec::new()
}

/// `q` in another pane goes back to the transcript first.
fn back_to_transcript(state: &mut State) -> bool {
    let away = state.focus != Focus::Transcript;
    state.focus = Focus::Transcript;
    if away {
        movement::keep_visible(state);
    }
    away
}

/// Jumps to the next of a kind, and panes.
fn further(state: &mut State, action: Action) {
    let prompt = |state: &State, at: usize| state.record(at).is_some_and(crate::model::Record::is_prompt);
    match action {
        Action::NextOpen | Action::PrevOpen => {
            jump::next(state, action == Action::NextOpen, "open obligation", jump::is_open);
        }
        Action::NextPrompt | Action::PrevPrompt => jump::next(state, action == Action::NextPrompt, "prompt", prompt),
        Action::NextError | Action::PrevError => {
            jump::next(state, action == Action::NextError, "failure", jump::is_failure);
        }
        Action::NextCompaction | Action::PrevCompaction => {
            jump::next(state, action == Action::NextCompaction, "compaction", jump::is_summary);
        }
        Action::NextCut | Action::PrevCut => {
            jump::next(state, action == Action::NextCut, "legal cut", State::is_legal);
        }
        Action::NextPane => panes::focus(state, state.focus.step(1)),
        Action::PrevPane => panes::focus(state, state.focus.step(Focus::ALL.len() - 1)),
        Action::Pane1 => panes::focus(state, Focus::Transcript),
        Action::Pane2 => panes::focus(state, Focus::Obligations),
        Action::Pane3 => panes::focus(state, Focus::Detail),
        Action::Pane4 => panes::focus(state, Focus::Decision),
        Action::Pane5 => panes::focus(state, Focus::Budget),
        Action::Pane6 => panes::focus(state, Focus::Notes),
        _ => {}
    }
}
