//! A line of words and a line of keys.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span},
};

use super::{put, put_line};
use crate::{
    model::Shown,
    ui::{Action, Focus, State, state::Popup},
};

/// Keys of the preview, most needed first.
const PREVIEW: [(Action, &str); 16] = [
    (Action::EndOn, "h/l end"),
    (Action::NextPane, "Tab candidate"),
    (Action::Snap, "s snap"),
    (Action::Commit, "C commit"),
    (Action::Why, "i why"),
    (Action::NextCut, "]l legal"),
    (Action::Close, "Esc back"),
    (Action::Help, "? help"),
    (Action::EditSummary, "e edit"),
    (Action::Summarise, "S summarise"),
    (Action::UseExtract, "x extract"),
    (Action::CopySummary, "y copy"),
    (Action::StartOn, "H/L start"),
    (Action::ViewUnified, "d view"),
    (Action::Unfold, "Space unfold"),
    (Action::Down, "j/k scroll"),
];

/// Keys shown at the foot, most needed first; what does not fit is left to `?`.
const HINTS: [(Action, &str); 16] = [
    (Action::Down, "j/k move"),
    (Action::Pair, "% pair"),
    (Action::NextOpen, "]o open"),
    (Action::NextCut, "]l cut"),
    (Action::CutPreview, "c preview"),
    (Action::Abandon, "a abandon"),
    (Action::Undo, "u take back"),
    (Action::Why, "i why"),
    (Action::Search, "/ find"),
    (Action::Open, "Enter detail"),
    (Action::Follow, "F follow"),
    (Action::NextPane, "Tab pane"),
    (Action::Help, "? help"),
    (Action::Quit, "q quit"),
    (Action::NextPrompt, "]p prompt"),
    (Action::NextError, "]e error"),
];

pub(super) fn draw(state: &State, area: Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let theme = state.options.theme;
    match &state.popup {
        Popup::Search(line) => typed(state, area, "/", line, buf),
        Popup::Command(line) => typed(state, area, ":", line, buf),
        _ => {
            let (text, style) = match &state.message {
                Some(message) => {
                    (format!(" {}", Shown::cut(message, usize::from(area.width).saturating_sub(2))), theme.strong())
                }
                None => (here(state, area.width), theme.quiet()),
            };
            put(buf, area.x, area.y, area.width, &text, style);
        }
    }
    if area.height > 1 {
        put_line(buf, area.x, area.y + 1, area.width, &keys(state, area.width));
    }
}

/// The foot of the preview.
pub(super) fn preview(state: &State, area: Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let theme = state.options.theme;
    let summarising = state.hand.preview.as_ref().and_then(|preview| preview.summarising.as_ref());
    let running = summarising.map(|words| format!("{words} · Esc ends it"));
    if let Some(message) = running.as_ref().or(state.message.as_ref()) {
        let text = format!(" {}", Shown::cut(message, usize::from(area.width).saturating_sub(2)));
        put(buf, area.x, area.y, area.width, &text, theme.strong());
    }
    if area.height > 1 {
        put_line(buf, area.x, area.y + 1, area.width, &hints(state, &PREVIEW, area.width));
    }
}

fn typed(state: &State, area: Rect, mark: &str, line: &str, buf: &mut Buffer) {
    let shown = Shown::new(line).into_string();
    let text = Line::from(vec![
        Span::styled(mark.to_string(), state.options.theme.strong()),
        Span::raw(shown),
        Span::styled(" ", state.options.theme.cursor()),
    ]);
    put_line(buf, area.x, area.y, area.width, &text);
}

/// What the cursor stands on.
fn here(state: &State, width: u16) -> String {
    let at = state.cursor;
    let Some(record) = state.record(at) else { return String::new() };
    let ledger = state.session.ledger();
    let owed = if ledger.is_pending(at) { " · % result (none)" } else { "" };
    let legal = if state.is_legal(at) { " · a cut before it is legal" } else { "" };
    let search = match state.search.step(at, true) {
        Some(_) => {
            let number = state.search.hits.partition_point(|hit| *hit <= at);
            format!(" · match {number}/{}", state.search.hits.len())
        }
        None => String::new(),
    };
    let line = if record.line > 0 { format!("line {}", record.line) } else { "in memory".to_string() };
    let text = format!(" #{at} {} · {line}{owed}{legal}{search}", record.kind.name());
    let text = if state.options.symbols == crate::export::Symbols::Ascii { text.replace('·', "-") } else { text };
    Shown::cut(&text, usize::from(width)).into_string()
}

fn keys(state: &State, width: u16) -> Line<'static> {
    hints(state, &HINTS, width)
}

fn hints(state: &State, all: &[(Action, &'static str)], width: u16) -> Line<'static> {
    let theme = state.options.theme;
    let mut spans = vec![Span::raw(" ")];
    let mut used = 1;
    let idle = state.hand.steps.is_empty() && state.hand.done.is_empty();
    for (action, hint) in all.iter().filter(|(action, _)| *action != Action::Undo || !idle) {
        let hint: &'static str = match (*action, state.focus) {
            (Action::Open, Focus::Obligations) => "Enter jump",
            (Action::Open, Focus::Detail) => "Enter zoom",
            (Action::Quit, focus) if focus != Focus::Transcript || state.zoomed => "q back",
            _ => hint,
        };
        let wide = hint.chars().count() + 2;
        if used + wide > usize::from(width) {
            break;
        }
        used += wide;
        let (key, word) = hint.split_once(' ').unwrap_or((hint, ""));
        spans.push(Span::styled(key, theme.strong()));
        spans.push(Span::styled(format!(" {word}  "), theme.quiet()));
    }
    Line::from(spans)
}
