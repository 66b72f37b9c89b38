//! Windows over the screen: help, why, and what may follow a prefix key.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{Border, boxed, put};
use crate::{
    model::Shown,
    ui::{
        State,
        action::{Group, table},
        keymap::following,
        state::Popup,
        text::wrap,
        update::keys::PATIENCE_MS,
    },
};

pub(super) fn draw(state: &State, area: Rect, buf: &mut Buffer) {
    match &state.popup {
        Popup::Help(scroll) => help(state, area, *scroll, buf),
        Popup::Why(lines) => {
            let safe: Vec<String> = lines.iter().map(|line| Shown::new(line).into_string()).collect();
            window(state, area, "Why", "Esc close", &safe, 0, buf);
        }
        _ => which_key(state, area, buf),
    }
}

/// Every action with its keys, by group.
fn help(state: &State, area: Rect, scroll: usize, buf: &mut Buffer) {
    let mut lines = Vec::new();
    for group in Group::ALL {
        lines.push(group.title().to_string());
        for (_, _, keys, of, doc) in table() {
            if *of == group {
                lines.push(format!("  {:<14} {doc}", keys.join(" ")));
            }
        }
        lines.push(String::new());
    }
    lines.push("12j, 123G: a count before a key.  :123 goes to record 123.".to_string());
    lines.extend(legend(state));
    window(state, area, "Help", "j k scroll · Esc close", &lines, scroll, buf);
}

fn legend(state: &State) -> Vec<String> {
    use crate::export::{Rail, Sign};
    let s = state.options.symbols;
    let signs = [
        (Sign::User, "prompt"),
        (Sign::Call, "call"),
        (Sign::Ok, "ok"),
        (Sign::Failed, "failed"),
        (Sign::Unknown, "outcome unknown"),
        (Sign::Launched, "lives on"),
        (Sign::Summary, "summary"),
        (Sign::Injected, "injected"),
    ];
    let signs: Vec<String> = signs.iter().map(|(sign, word)| format!("{} {word}", s.sign(*sign))).collect();
    let (open, closed) = (s.rail(Rail::Through { open: true }), s.rail(Rail::Through { open: false }));
    vec![
        String::new(),
        signs.join("  "),
        format!("{} open  {} legal cut  {open} open link  {closed} closed link", s.open(), s.cut()),
    ]
}

/// What may follow a prefix, once one has waited.
fn which_key(state: &State, area: Rect, buf: &mut Buffer) {
    let Some(prefix) = state.waiting.prefix else { return };
    let waited = state.waiting_since.and_then(|since| Some(state.now.known()? - since.known()?));
    if waited.is_none_or(|ms| ms < PATIENCE_MS) {
        return;
    }
    let lines: Vec<String> =
        following(prefix).iter().map(|(key, action)| format!("{prefix}{key}  {}", action.doc())).collect();
    window(state, area, &prefix.to_string(), "Esc", &lines, 0, buf);
}

fn window(state: &State, area: Rect, title: &str, foot: &str, lines: &[String], scroll: usize, buf: &mut Buffer) {
    if area.width < 8 || area.height < 4 {
        return;
    }
    let theme = state.options.theme;
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0).max(foot.chars().count() + 4);
    let width = u16::try_from(widest + 4).unwrap_or(u16::MAX).min(area.width);
    let rows: Vec<&str> = lines.iter().flat_map(|line| wrap(line, usize::from(width).saturating_sub(4))).collect();
    let height = u16::try_from(rows.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let frame = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    for y in frame.y..frame.y + frame.height {
        put(buf, frame.x, y, frame.width, &" ".repeat(usize::from(frame.width)), Style::reset());
    }
    boxed(frame, Border::of(state), theme.border(true), buf);
    put(buf, frame.x + 1, frame.y, frame.width.saturating_sub(2), &format!(" {title} "), theme.strong());
    let inner = usize::from(frame.height - 2);
    let scroll = scroll.min(rows.len().saturating_sub(inner));
    let more = if rows.len() > inner { format!("{}/{} ", scroll + inner, rows.len()) } else { String::new() };
    let foot = format!(" {more}{foot} ");
    let foot_width = u16::try_from(foot.chars().count()).unwrap_or(0).min(frame.width.saturating_sub(2));
    put(buf, frame.x + frame.width - 1 - foot_width, frame.y + frame.height - 1, foot_width, &foot, theme.quiet());
    for (n, row) in rows.iter().skip(scroll).take(inner).enumerate() {
        let y = frame.y + 1 + u16::try_from(n).unwrap_or(0);
        let heading = !row.is_empty() && Group::ALL.iter().any(|group| group.title() == *row);
        put(
            buf,
            frame.x + 2,
            y,
            frame.width.saturating_sub(4),
            row,
            if heading { theme.strong() } else { theme.text() },
        );
    }
}
