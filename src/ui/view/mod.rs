//! Draws a [`State`]. Never changes it. One file a region; every string of a transcript passes `Shown` on its way.

mod budget;
mod decision;
mod detail;
mod dialog;
mod footer;
mod header;
mod notes;
mod obligations;
mod picker;
mod popup;
mod preview;
mod preview_rows;
mod transcript;

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use super::{Focus, Regions, State};

/// Draws everything.
pub fn view(state: &State, frame: &mut Frame<'_>) {
    let area = frame.area();
    draw(state, area, frame.buffer_mut());
    if state.options.symbols == crate::export::Symbols::Ascii {
        in_ascii(frame.buffer_mut());
    }
}

/// The few signs of our own that sentences hold and that a terminal without Unicode cannot show.
fn in_ascii(buf: &mut Buffer) {
    for cell in &mut buf.content {
        let plain = match cell.symbol() {
            "·" | "–" => "-",
            "…" => "~",
            "→" => ">",
            "✗" | "×" => "x",
            "✓" => "+",
            "●" => "*",
            _ => continue,
        };
        cell.set_symbol(plain);
    }
}

fn draw(state: &State, area: Rect, buf: &mut Buffer) {
    if area.width == 0 || area.height == 0 {
        return;
    }
    if state.picker.is_some() {
        picker::draw(state, area, buf);
        popup::draw(state, area, buf);
        return;
    }
    if let Some(preview) = &state.hand.preview {
        preview::draw(state, preview, buf);
        dialog::draw(state, area, buf);
        popup::draw(state, area, buf);
        return;
    }
    let regions = super::layout::layout(area.width, area.height, state.focus, state.zoomed);
    header::draw(state, regions.header, buf);
    transcript::draw(state, &regions, buf);
    obligations::draw(state, &regions, buf);
    detail::draw(state, &regions, buf);
    decision::draw(state, &regions, buf);
    budget::draw(state, &regions, buf);
    notes::draw(state, &regions, buf);
    footer::draw(state, regions.footer, buf);
    dialog::draw(state, area, buf);
    popup::draw(state, area, buf);
}

/// A pane's border (boxed) or title line, with a text on the right. Gives the area inside.
fn pane(state: &State, regions: &Regions, focus: Focus, title: &str, right: &str, buf: &mut Buffer) -> Rect {
    let (area, inner) = (regions.of(focus), regions.inner(focus));
    if area.area() > 0 && inner != area {
        let number = Focus::ALL.iter().position(|f| *f == focus).unwrap_or(0) + 1;
        let title = if regions.boxed { format!("{number} {title}") } else { title.to_string() };
        frame(state, area, (regions.boxed, state.focus == focus), &title, right, buf);
    }
    inner
}

/// A border (`boxed`) or a title line, `strong` for the one that keys go to, with a text on the right.
fn frame(state: &State, area: Rect, (boxed_in, focused): (bool, bool), title: &str, right: &str, buf: &mut Buffer) {
    let style = state.options.theme.border(focused);
    let glyphs = Border::of(state);
    let title = format!(" {title} ");
    let right = if right.is_empty() { String::new() } else { format!(" {right} ") };
    if boxed_in {
        boxed(area, glyphs, style, buf);
    } else {
        let rule = glyphs.across.repeat(usize::from(area.width));
        put(buf, area.x, area.y, area.width, &rule, style);
    }
    let strong = state.options.theme.strong();
    put(
        buf,
        area.x + 1,
        area.y,
        area.width.saturating_sub(2),
        &title,
        if focused { strong.patch(style) } else { strong },
    );
    let wide = u16::try_from(unicode_width::UnicodeWidthStr::width(right.as_str())).unwrap_or(0);
    if wide + 4 < area.width {
        let y = if boxed_in { area.y + area.height - 1 } else { area.y };
        let free = area.width.saturating_sub(wide + 2);
        put(buf, area.x + free, y, wide, &right, state.options.theme.quiet());
    }
}

/// Border characters.
#[derive(Clone, Copy)]
struct Border {
    across: &'static str,
    down: &'static str,
    corners: [&'static str; 4],
}

impl Border {
    fn of(state: &State) -> Self {
        match state.options.symbols {
            crate::export::Symbols::Unicode => {
                Self { across: "─", down: "│", corners: ["┌", "┐", "└", "┘"] }
            }
            crate::export::Symbols::Ascii => Self { across: "-", down: "|", corners: ["+"; 4] },
        }
    }
}

impl Border {
    /// Heavy, for what asks.
    fn heavy(state: &State) -> Self {
        match state.options.symbols {
            crate::export::Symbols::Unicode => {
                Self { across: "━", down: "┃", corners: ["┏", "┓", "┗", "┛"] }
            }
            crate::export::Symbols::Ascii => Self { across: "=", down: "#", corners: ["#"; 4] },
        }
    }
}

fn boxed(area: Rect, glyphs: Border, style: Style, buf: &mut Buffer) {
    if area.width < 2 || area.height < 2 {
        return;
    }
    let across = glyphs.across.repeat(usize::from(area.width) - 2);
    let [a, b, c, d] = glyphs.corners;
    let (right, bottom) = (area.x + area.width - 1, area.y + area.height - 1);
    put(buf, area.x, area.y, area.width, &format!("{a}{across}{b}"), style);
    put(buf, area.x, bottom, area.width, &format!("{c}{across}{d}"), style);
    for y in area.y + 1..bottom {
        put(buf, area.x, y, 1, glyphs.down, style);
        put(buf, right, y, 1, glyphs.down, style);
    }
}

/// Writes safe text, cut to `width`.
fn put(buf: &mut Buffer, x: u16, y: u16, width: u16, text: &str, style: Style) {
    if buf.area.contains((x, y).into()) {
        buf.set_stringn(x, y, text, usize::from(width), style);
    }
}

/// Writes styled safe text, cut to `width`.
fn put_line(buf: &mut Buffer, x: u16, y: u16, width: u16, line: &Line<'_>) {
    if buf.area.contains((x, y).into()) {
        buf.set_line(x, y, line, width);
    }
}

/// The n-th line of `area`.
fn row_of(area: Rect, n: usize) -> Option<Rect> {
    let n = u16::try_from(n).ok().filter(|n| *n < area.height)?;
    Some(Rect { y: area.y + n, height: 1, ..area })
}

/// `left`, then `right` at the right edge, on one line of `width` columns. Safe text.
fn edges<'a>(left: Vec<Span<'a>>, right: Vec<Span<'a>>, width: u16) -> Line<'a> {
    let used: usize = left.iter().chain(&right).map(Span::width).sum();
    let gap = usize::from(width).saturating_sub(used);
    let mut spans = left;
    spans.push(Span::raw(" ".repeat(gap)));
    spans.extend(right);
    Line::from(spans)
}

/// A number with thousands separated.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
