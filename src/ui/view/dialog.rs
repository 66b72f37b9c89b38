//! A dialog over the dimmed screen: facts, then the fields, the one that is typed into marked.

use ratatui::{buffer::Buffer, layout::Rect, style::Modifier, style::Style};
use unicode_width::UnicodeWidthStr as _;

use super::{Border, boxed, put};
use crate::{
    export::Symbols,
    model::Shown,
    ui::{
        State,
        dialog::{Dialog, Field, Must, Purpose, Voice},
        text::wrap,
    },
};

/// Columns of a dialog at most, its border included.
const WIDEST: u16 = 84;
/// Columns of the labels.
const LABEL: usize = 12;

pub(super) fn draw(state: &State, area: Rect, buf: &mut Buffer) {
    let Some(dialog) = &state.hand.dialog else { return };
    if area.width < 24 || area.height < 5 {
        // Too small to show what would be confirmed: nothing can be seen, so nothing is asked.
        put(buf, area.x, area.y, area.width, "window too small for this question", state.options.theme.bad());
        return;
    }
    buf.set_style(area, Style::new().add_modifier(Modifier::DIM));
    let width = WIDEST.min(area.width);
    let inner = usize::from(width) - 4;
    let facts = facts(state, dialog, inner);
    let fields: Vec<(String, bool)> =
        dialog.fields.iter().map(|field| (line(state, field), field.is_right())).collect();
    let gap = usize::from(!facts.is_empty() && fields.len() + dialog.picks.len() > 0);
    let complaint = usize::from(!fields.is_empty());
    let most = usize::from(area.height) - 2;
    let listed = (dialog.picks.len() * 2).min(most.saturating_sub(gap + facts.len().min(1)));
    // Fields always fit if anything does: facts give way and can be scrolled.
    let room = most.saturating_sub(fields.len() + listed + gap + complaint);
    let shown = facts.len().min(room);
    let height = shown + gap + fields.len() + listed + complaint + 2;
    let height = u16::try_from(height).unwrap_or(u16::MAX).min(area.height);
    let frame = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    window(state, dialog, frame, facts.len() > shown, buf);
    let scroll = dialog.scroll.min(facts.len() - shown);
    let mut y = frame.y + 1;
    for (label, text, style) in facts.iter().skip(scroll).take(shown) {
        put(buf, frame.x + 2, y, u16::try_from(LABEL).unwrap_or(0), label, state.options.theme.quiet());
        put(buf, frame.x + 2 + u16::try_from(LABEL).unwrap_or(0), y, frame.width.saturating_sub(16), text, *style);
        y += 1;
    }
    y += u16::try_from(gap).unwrap_or(0);
    let list = Rect { x: frame.x + 2, y, width: frame.width - 4, height: u16::try_from(listed).unwrap_or(0) };
    picks(state, dialog, list, buf);
    let first = (dialog.at + 1).saturating_sub(most.saturating_sub(shown + gap + complaint));
    for (n, (text, right)) in fields.iter().enumerate().skip(first) {
        if y + 1 >= frame.y + frame.height {
            break;
        }
        typed(state, dialog, (n, text, *right), Rect { x: frame.x + 2, y, width: frame.width - 4, height: 1 }, buf);
        y += 1;
    }
    if let Some(complaint) = &dialog.complaint {
        let text = format!("{} {complaint}", if state.options.symbols == Symbols::Unicode { "✗" } else { "x" });
        put(buf, frame.x + 2, frame.y + frame.height - 2, frame.width - 4, &text, state.options.theme.bad());
    }
}

fn window(state: &State, dialog: &Dialog, frame: Rect, more: bool, buf: &mut Buffer) {
    let theme = state.options.theme;
    for y in frame.y..frame.y + frame.height {
        for x in frame.x..frame.x + frame.width {
            if let Some(cell) = buf.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
    boxed(frame, Border::heavy(state), theme.strong(), buf);
    let title = format!(" {} ", Shown::cut(&dialog.title, usize::from(frame.width).saturating_sub(6)));
    put(buf, frame.x + 2, frame.y, frame.width - 4, &title, theme.strong());
    let choose = if dialog.picks.is_empty() { "" } else { "j/k choose · " };
    let enter = match dialog.fields.len() {
        0 => format!("Enter {}", dialog.button),
        n if dialog.at + 1 < n => "Enter next field".to_string(),
        _ => format!("Enter {}", dialog.button),
    };
    let esc = match dialog.purpose {
        Purpose::Told => "",
        Purpose::Format => " · Esc leave",
        _ => " · Esc cancel",
    };
    let scroll = if more { "PgDn more · " } else { "" };
    let foot = format!(" {scroll}{choose}{enter}{esc} ");
    let wide = u16::try_from(foot.width()).unwrap_or(0).min(frame.width - 4);
    let (x, y) = (frame.x + frame.width - 2 - wide, frame.y + frame.height - 1);
    put(buf, x, y, wide, &foot, theme.strong());
}

/// Facts as safe lines, wrapped behind their label.
fn facts(state: &State, dialog: &Dialog, width: usize) -> Vec<(&'static str, String, Style)> {
    let theme = state.options.theme;
    let mut lines = Vec::new();
    for fact in &dialog.facts {
        let style = match fact.voice {
            Voice::Plain => theme.text(),
            Voice::Quiet => theme.quiet(),
            Voice::Good => theme.good(),
            Voice::Warns => theme.open(),
            Voice::Bad => theme.bad(),
        };
        let safe = Shown::new(&fact.text).into_string();
        for (n, piece) in wrap(&safe, width.saturating_sub(LABEL)).into_iter().enumerate() {
            lines.push((if n == 0 { fact.label } else { "" }, piece.to_string(), style));
        }
    }
    lines
}

/// What can be chosen, two lines each; the one that Enter takes is always among them.
fn picks(state: &State, dialog: &Dialog, area: Rect, buf: &mut Buffer) {
    let theme = state.options.theme;
    let (on, off) = if state.options.symbols == Symbols::Unicode { ("(•)", "( )") } else { ("(*)", "( )") };
    let mut rows: Vec<(String, Style)> = Vec::new();
    for (n, pick) in dialog.picks.iter().enumerate() {
        let (mark, style) = if n == dialog.at { (on, theme.strong()) } else { (off, theme.text()) };
        rows.push((format!("{mark} {} {} ({})", n + 1, pick.format.title(), pick.format.name()), style));
        rows.push((format!("      {}", pick.why), theme.quiet()));
    }
    let height = usize::from(area.height);
    let first = (dialog.at * 2 + 2).saturating_sub(height.max(2));
    for (n, (row, style)) in rows.iter().skip(first).take(height).enumerate() {
        let y = area.y + u16::try_from(n).unwrap_or(0);
        let safe = Shown::cut(row, usize::from(area.width)).into_string();
        put(buf, area.x, y, area.width, &safe, *style);
    }
}

/// The label of a field, safe.
fn line(_state: &State, field: &Field) -> String {
    let needed = if field.must == Must::Filled { " *" } else { "" };
    Shown::new(&format!("{}{needed}", field.label)).into_string()
}

fn typed(state: &State, dialog: &Dialog, field: (usize, &str, bool), area: Rect, buf: &mut Buffer) {
    let (n, label, right) = field;
    let theme = state.options.theme;
    let here = n == dialog.at;
    let Some(field) = dialog.fields.get(n) else { return };
    let wide = u16::try_from(label.width()).unwrap_or(area.width).max(u16::try_from(LABEL).unwrap_or(0) - 1);
    let wide = wide.min(area.width.saturating_sub(8));
    put(buf, area.x, area.y, wide, label, if here { theme.strong() } else { theme.text() });
    let open = area.x + wide + 1;
    let room = usize::from(area.width.saturating_sub(wide + 1));
    let inside = match &field.must {
        Must::Word(word) => (word.width() + 4).min(room.saturating_sub(4)),
        _ => room.saturating_sub(4),
    };
    // The end of what is typed is what one sees while typing.
    let shown = Shown::new(&field.text).into_string();
    let mut tail = shown.as_str();
    while tail.width() + 1 > inside && !tail.is_empty() {
        let next = tail.char_indices().nth(1).map_or(tail.len(), |(at, _)| at);
        tail = tail.get(next..).unwrap_or_default();
    }
    let style = if here { theme.mark() } else { theme.quiet() };
    put(buf, open, area.y, 2, "[ ", style);
    put(buf, open + 2, area.y, u16::try_from(inside).unwrap_or(0), tail, theme.text());
    let after = u16::try_from(tail.width()).unwrap_or(0);
    let blanks = inside.saturating_sub(tail.width());
    put(buf, open + 2 + after, area.y, u16::try_from(blanks).unwrap_or(0), &"_".repeat(blanks), theme.quiet());
    if here {
        put(buf, open + 2 + after, area.y, 1, " ", theme.cursor());
    }
    let close = open + 2 + u16::try_from(inside).unwrap_or(0);
    put(buf, close, area.y, 2, " ]", style);
    if right && matches!(field.must, Must::Word(_)) {
        let tick = if state.options.symbols == Symbols::Unicode { " ✓" } else { " ok" };
        put(buf, close + 2, area.y, 3, tick, theme.good());
    }
}
