//! What was odd or not understood, newest last.

use ratatui::buffer::Buffer;

use super::{pane, put, row_of};
use crate::{
    model::Shown,
    ui::{Focus, Regions, State, text::wrap},
};

pub(super) fn draw(state: &State, regions: &Regions, buf: &mut Buffer) {
    if regions.notes.area() == 0 {
        return;
    }
    let notes = &state.notes;
    let title = format!("Notes {}", notes.len());
    let inner = pane(state, regions, Focus::Notes, &title, "i what the format can tell", buf);
    let theme = state.options.theme;
    let mut lines = Vec::new();
    if let Some(capability) = state.session.capability() {
        lines.extend(capability.hides.iter().map(|hides| (hides.to_string(), theme.quiet())));
    }
    lines.extend(notes.iter().map(|note| {
        let place = if note.line > 0 { format!("line {}: ", note.line) } else { String::new() };
        (format!("{place}{}", Shown::cut(&note.text, 300)), theme.text())
    }));
    if lines.is_empty() {
        lines.push(("everything was understood".to_string(), theme.quiet()));
    }
    let width = usize::from(inner.width.saturating_sub(2));
    let rows: Vec<(&str, _)> = lines
        .iter()
        .flat_map(|(line, style)| wrap(line, width).into_iter().map(move |piece| (piece, *style)))
        .collect();
    let height = usize::from(inner.height);
    let scroll = state.scroll.get(&Focus::Notes).copied().unwrap_or(0).min(rows.len().saturating_sub(height));
    for (n, (piece, style)) in rows.into_iter().skip(scroll).take(height).enumerate() {
        let Some(area) = row_of(inner, n) else { break };
        put(buf, area.x + 1, area.y, area.width.saturating_sub(1), piece, style);
    }
}
