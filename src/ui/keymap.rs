//! Keys become actions: prefixes (`]`, `[`, `z`), counts, and digits that name a pane if nothing follows.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::{Action, Group, table};

/// Keys that were pressed and wait for more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Digits.
    pub(super) count: String,
    /// `]`, `[` or `z`.
    pub(super) prefix: Option<char>,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.count.is_empty() && self.prefix.is_none()
    }
}

/// What a key came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// An action with its count.
    Act(Action, Option<usize>),
    /// More keys are needed.
    More,
    /// Nothing is bound to it.
    Nothing,
}

/// Most digits of a count.
const DIGITS: usize = 9;

/// Takes one key. In the preview its own keys come first.
pub(super) fn press(waiting: &mut Waiting, key: KeyEvent, preview: bool) -> Pressed {
    let name = key_name(key);
    if waiting.prefix.is_none() {
        let digit = name.len() == 1 && name.bytes().all(|b| b.is_ascii_digit());
        if digit && (name != "0" || !waiting.count.is_empty()) && waiting.count.len() < DIGITS {
            waiting.count.push_str(&name);
            return Pressed::More;
        }
        if let ("]" | "[" | "z", Some(prefix)) = (name.as_str(), name.chars().next()) {
            waiting.prefix = Some(prefix);
            return Pressed::More;
        }
    }
    let full = waiting.prefix.map_or(name.clone(), |prefix| format!("{prefix}{name}"));
    let count = waiting.count.parse().ok();
    *waiting = Waiting::default();
    let bound = |own: bool| {
        table().iter().find(|(_, _, keys, of, _)| (*of == Group::Preview) == own && keys.contains(&full.as_str()))
    };
    let found = bound(true).filter(|_| preview).or_else(|| bound(false));
    found.map_or(Pressed::Nothing, |(action, ..)| Pressed::Act(*action, count))
}

/// Some time passed without another key: a single digit names a pane.
pub(super) fn settle(waiting: &mut Waiting) -> Option<Action> {
    if waiting.prefix.is_some() || waiting.count.len() != 1 {
        return None;
    }
    let digit = std::mem::take(&mut waiting.count);
    table().iter().find(|(_, _, keys, ..)| keys.contains(&digit.as_str())).map(|(action, ..)| *action)
}

/// Actions that the prefix `prefix` leads to, with their second key, for the popup.
pub(super) fn following(prefix: char) -> Vec<(&'static str, Action)> {
    table()
        .iter()
        .flat_map(|(action, _, keys, ..)| keys.iter().map(move |key| (*key, *action)))
        .filter_map(|(key, action)| key.strip_prefix(prefix).filter(|rest| !rest.is_empty()).map(|rest| (rest, action)))
        .collect()
}

/// Name of a key as it stands in the table: `j`, `Ctrl-d`, `PgDn`, `]`.
pub(super) fn key_name(key: KeyEvent) -> String {
    let plain = match key.code {
        KeyCode::Char(' ') => "Space".to_string(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Enter => "Enter".to_string(),
        KeyCode::Esc => "Esc".to_string(),
        KeyCode::Tab => "Tab".to_string(),
        KeyCode::BackTab => "BackTab".to_string(),
        KeyCode::Backspace => "Backspace".to_string(),
        KeyCode::Up => "Up".to_string(),
        KeyCode::Down => "Down".to_string(),
        KeyCode::Left => "Left".to_string(),
        KeyCode::Right => "Right".to_string(),
        KeyCode::PageUp => "PgUp".to_string(),
        KeyCode::PageDown => "PgDn".to_string(),
        KeyCode::Home => "Home".to_string(),
        KeyCode::End => "End".to_string(),
        KeyCode::F(n) => format!("F{n}"),
        _ => return String::new(),
    };
    if key.modifiers.contains(KeyModifiers::CONTROL) { format!("Ctrl-{plain}") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(keys: &str) -> Vec<Pressed> {
        let mut waiting = Waiting::default();
        keys.chars().map(|c| press(&mut waiting, KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE), false)).collect()
    }

    #[test]
    fn counts_and_prefixes() {
        assert_eq!(all("12j").last(), Some(&Pressed::Act(Action::Down, Some(12))));
        assert_eq!(all("]o").last(), Some(&Pressed::Act(Action::NextOpen, None)));
        assert_eq!(all("zz").last(), Some(&Pressed::Act(Action::Centre, None)));
        assert_eq!(all("120G").last(), Some(&Pressed::Act(Action::Bottom, Some(120))));
        assert_eq!(all("]x").last(), Some(&Pressed::Nothing));
        assert_eq!(all("0").last(), Some(&Pressed::Nothing));
    }

    #[test]
    fn a_lone_digit_names_a_pane() {
        let mut waiting = Waiting { count: "3".to_string(), prefix: None };
        assert_eq!(settle(&mut waiting), Some(Action::Pane3));
        assert!(waiting.is_empty());
        let mut longer = Waiting { count: "12".to_string(), prefix: None };
        assert_eq!(settle(&mut longer), None);
    }
}
