//! Long text for the detail pane: pretty JSON, made safe, wrapped by slices.

use unicode_width::UnicodeWidthChar as _;

use crate::{
    format::json::Raw,
    model::{Body, Shown},
};

/// Lines of one record that are laid out at most; the rest is said to be there.
const MOST_LINES: usize = 20_000;
/// Bytes of one text that are laid out at most.
const MOST_BYTES: usize = 4 << 20;

/// One record laid out once for the detail pane. Lines are safe, not wrapped.
#[derive(Clone, Debug)]
pub(super) struct BodyView {
    pub(super) position: usize,
    pub(super) lines: Vec<(Voice, String)>,
}

/// How a line of a body is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    Heading,
    Plain,
    Fact,
}

impl BodyView {
    pub(super) fn of(position: usize, body: Option<&Body>) -> Self {
        let mut lines = Vec::new();
        let Some(body) = body else {
            lines.push((
                Voice::Heading,
                "These bytes cannot be read any more: the file changed or is gone.".to_string(),
            ));
            return Self { position, lines };
        };
        for (name, value) in &body.facts {
            lines.push((Voice::Fact, format!("{}  {}", Shown::new(name), Shown::cut(value, 400))));
        }
        if let Some(input) = &body.input {
            lines.push((Voice::Heading, "input".to_string()));
            push_json(&mut lines, input);
        }
        if !body.text.is_empty() {
            if body.input.is_some() {
                lines.push((Voice::Heading, "text".to_string()));
            }
            push_text(&mut lines, &body.text, "");
        }
        Self { position, lines }
    }
}

fn push_text(lines: &mut Vec<(Voice, String)>, text: &str, indent: &str) {
    let kept = (0..4).find_map(|back| text.get(..MOST_BYTES - back)).unwrap_or(text);
    for line in kept.lines() {
        if lines.len() >= MOST_LINES {
            break;
        }
        lines.push((Voice::Plain, format!("{indent}{}", Shown::new(line))));
    }
    if kept.len() < text.len() || lines.len() >= MOST_LINES {
        lines.push((Voice::Heading, format!("… {} bytes in all; the rest is not laid out here", text.len())));
    }
}

/// JSON as people read it: one field a line, long strings as text with their own line breaks.
fn push_json(lines: &mut Vec<(Voice, String)>, input: &str) {
    match Raw::parse(input.as_bytes()) {
        Ok(raw) if raw.is_object() || raw.is_array() => push_value(lines, "", raw, 1),
        Ok(raw) => push_text(lines, &raw.str().unwrap_or(input.into()), "  "),
        Err(_) => push_text(lines, input, "  "),
    }
}

fn push_value(lines: &mut Vec<(Voice, String)>, name: &str, raw: Raw<'_>, depth: usize) {
    let pad = "  ".repeat(depth);
    if lines.len() >= MOST_LINES {
        return;
    }
    let label = if name.is_empty() { String::new() } else { format!("{}: ", Shown::new(name)) };
    let nested = raw.is_object() || raw.is_array();
    if nested && depth < 32 {
        let inner = if label.is_empty() { depth } else { depth + 1 };
        if !label.is_empty() {
            lines.push((Voice::Plain, format!("{pad}{}", label.trim_end())));
        }
        for (key, value) in raw.fields() {
            push_value(lines, &key.str(), value, inner);
        }
        for item in raw.items() {
            push_value(lines, "-", item, inner);
        }
        return;
    }
    match raw.str() {
        Some(text) if text.contains('\n') => {
            lines.push((Voice::Plain, format!("{pad}{}", label.trim_end())));
            push_text(lines, &text, &format!("{pad}  "));
        }
        Some(text) => lines.push((Voice::Plain, format!("{pad}{label}{}", Shown::new(&text)))),
        None => {
            let plain = String::from_utf8_lossy(raw.bytes());
            lines.push((Voice::Plain, format!("{pad}{label}{}", Shown::new(&plain))));
        }
    }
}

/// `line` in pieces of at most `width` columns. `line` is safe text.
pub(super) fn wrap(line: &str, width: usize) -> Vec<&str> {
    let width = width.max(1);
    let mut pieces = Vec::new();
    let mut rest = line;
    loop {
        let mut used = 0;
        let end = rest.char_indices().find(|(_, c)| {
            used += c.width().unwrap_or(0);
            used > width
        });
        match end {
            Some((at, _)) if at > 0 => {
                // After the last space that fits, unless that would leave less than half a line.
                let (full, _) = rest.split_at(at);
                let space = full.rfind(' ').map_or(0, |space| space + 1);
                let at = if space * 2 > at { space } else { at };
                let (piece, tail) = rest.split_at(at);
                pieces.push(piece);
                rest = tail;
            }
            _ => {
                pieces.push(rest);
                return pieces;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_keeps_every_character() {
        for width in 1..20 {
            let text = "漢字 and some plain words, 1234567890";
            assert_eq!(wrap(text, width).concat(), text);
            assert!(wrap(text, width.max(2)).iter().all(|piece| Shown::new(piece).width() <= width.max(2)));
        }
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn json_is_laid_out_by_field() {
        let body = Body { input: Some(r#"{"command":"a\nb","n":3,"list":[1,"x"]}"#.to_string()), ..Body::default() };
        let lines: Vec<String> = BodyView::of(0, Some(&body)).lines.into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, ["input", "  command:", "    a", "    b", "  n: 3", "  list:", "    -: 1", "    -: x"]);
    }
}
