//! A file that fits formats equally well: the operator says which one it is, and it is read as that.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::{
    format::{Detection, Format},
    plan::Session,
    source::Status,
    ui::{
        Action, Effect, State,
        dialog::{Dialog, Fact, Pick, Purpose},
        keymap::{self, Pressed, Waiting},
        state::Popup,
    },
};

/// Asks while only a person can tell. What comes meanwhile may decide: then the question goes.
pub(super) fn refresh(state: &mut State) {
    let asked = state.hand.dialog.as_ref().is_some_and(|dialog| dialog.purpose == Purpose::Format);
    // While a file is being read, the lines that decide may still be to come.
    let tie = state.session.tie().filter(|_| !state.loading && state.options.format.is_none());
    let Some(tie) = tie else {
        if asked {
            state.hand.dialog = None;
            let decided = state.session.detection().map(|found| found.format.title());
            state.message = decided.map(|title| format!("what came meanwhile says that it is {title}"));
        }
        return;
    };
    let mut dialog = dialog(&state.options.name, tie);
    if let Some(open) = state.hand.dialog.as_ref().filter(|open| open.purpose == Purpose::Format) {
        // The pick stays on the format that it was on, wherever that stands now.
        let on = open.picks.get(open.at).map(|pick| pick.format);
        dialog.at = dialog.picks.iter().position(|pick| Some(pick.format) == on).unwrap_or(0);
        dialog.scroll = open.scroll;
    } else {
        // Keys go to the question, so nothing may lie over it.
        state.popup = Popup::None;
    }
    state.hand.dialog = Some(dialog);
}

fn dialog(name: &str, tie: &Detection) -> Dialog {
    let mut dialog = Dialog::new(Purpose::Format, "Which format is it?", "read");
    dialog.picks = tie.candidates().map(|(format, reasons)| pick(format, reasons)).collect();
    dialog.facts = vec![
        Fact::plain("file", name),
        Fact::plain("fits", format!("{} formats equally well", dialog.picks.len())),
        Fact::quiet("next time", "--format NAME says it at once"),
    ];
    dialog
}

fn pick(format: Format, reasons: &[String]) -> Pick {
    // The first says how many lines speak for it: as many as for the others.
    let why: Vec<&str> = reasons.iter().skip(1).map(String::as_str).collect();
    Pick { format, why: why.join("; ") }
}

/// The keys of the table, and the number of a pick.
pub(super) fn key(state: &mut State, key: KeyEvent) -> Vec<Effect> {
    let Some(dialog) = &mut state.hand.dialog else { return Vec::new() };
    let last = dialog.picks.len().saturating_sub(1);
    if let KeyCode::Char(c @ '1'..='9') = key.code {
        let n = c.to_digit(10).map_or(0, |n| n as usize - 1);
        dialog.at = if n <= last { n } else { dialog.at };
        return Vec::new();
    }
    match keymap::press(&mut Waiting::default(), key, false) {
        Pressed::Act(Action::Down | Action::NextPane, _) => dialog.at = (dialog.at + 1).min(last),
        Pressed::Act(Action::Up | Action::PrevPane, _) => dialog.at = dialog.at.saturating_sub(1),
        Pressed::Act(Action::Top, _) => dialog.at = 0,
        Pressed::Act(Action::Bottom, _) => dialog.at = last,
        Pressed::Act(Action::PageDown, _) => dialog.scroll = (dialog.scroll + 5).min(dialog.facts.len()),
        Pressed::Act(Action::PageUp, _) => dialog.scroll = dialog.scroll.saturating_sub(5),
        Pressed::Act(Action::Open, _) => {
            return dialog.picks.get(dialog.at).map(|pick| Effect::ReadAs(pick.format)).into_iter().collect();
        }
        // Behind this question nothing can be seen, so there is nothing to go back to.
        Pressed::Act(Action::Close | Action::Quit, _) => return vec![Effect::Quit],
        _ => {}
    }
    Vec::new()
}

/// It was read as the format that was chosen: from now on as if `--format` had named it.
pub(super) fn read_again(state: &mut State, format: Format, read: Result<Session, String>) {
    let mut session = match read {
        Ok(session) => session,
        Err(why) => {
            state.message = Some(format!("not read as {}: {why}", format.title()));
            return;
        }
    };
    state.options.format = Some(format);
    state.hand.dialog = None;
    state.message = None;
    if let Some(rebuild) = &mut state.rebuild {
        rebuild.session = session;
    } else {
        if state.news.status == Some(Status::Ended) {
            session.finish();
        }
        state.session = session;
    }
    state.heads.clear();
    state.body = None;
    state.dirty = true;
}
