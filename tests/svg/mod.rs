//! A terminal buffer as an SVG: one `tspan` per run of cells with the same style.

use std::fmt::Write as _;

use ratatui::{
    buffer::{Buffer, Cell},
    style::{Color, Modifier},
};

const WIDTH: usize = 9;
const HEIGHT: usize = 17;

/// The picture of `buffer` on a dark or a light ground.
pub(crate) fn of(buffer: &Buffer, light: bool) -> String {
    let (w, h) = (usize::from(buffer.area.width), usize::from(buffer.area.height));
    let (ground, ink) = if light { ("#ffffff", "#24292f") } else { ("#0d1117", "#d0d7de") };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"15\">\n<rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>\n",
        w * WIDTH + 16,
        h * HEIGHT + 16
    );
    for y in 0..h {
        let row: Vec<&Cell> = buffer.content.iter().skip(y * w).take(w).collect();
        let mut x = 0;
        while x < w {
            let style = row[x].style();
            let mut end = x;
            let mut text = String::new();
            while end < w && row[end].style() == style {
                text.push_str(row[end].symbol());
                end += 1;
            }
            run(&mut out, x, y, end - x, &text, row[x], (ground, ink));
            x = end;
        }
    }
    out.push_str("</svg>\n");
    out
}

fn run(out: &mut String, x: usize, y: usize, cells: usize, text: &str, cell: &Cell, (ground, ink): (&str, &str)) {
    let (mut fg, mut bg) = (hex(cell.fg, ink), hex(cell.bg, ground));
    if cell.modifier.contains(Modifier::REVERSED) {
        std::mem::swap(&mut fg, &mut bg);
    }
    let (left, top) = (8 + x * WIDTH, 8 + y * HEIGHT);
    if bg != ground {
        let _ = writeln!(
            out,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{HEIGHT}\" fill=\"{bg}\"/>",
            cells * WIDTH
        );
    }
    if text.trim().is_empty() {
        return;
    }
    let bold = if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
    let dim = if cell.modifier.contains(Modifier::DIM) { " opacity=\"0.65\"" } else { "" };
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(
        out,
        "<text xml:space=\"preserve\" x=\"{left}\" y=\"{}\" textLength=\"{}\" fill=\"{fg}\"{bold}{dim}>{text}</text>",
        top + 13,
        cells * WIDTH
    );
}

fn hex(color: Color, default: &str) -> &str {
    match color {
        Color::Red => "#cf222e",
        Color::Green => "#1a7f37",
        Color::Blue => "#0969da",
        Color::LightRed => "#ff7b72",
        Color::LightGreen => "#7ee787",
        Color::LightYellow => "#e3b341",
        Color::LightCyan => "#79c0ff",
        _ => default,
    }
}
