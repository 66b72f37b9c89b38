use std::{fmt, fmt::Write as _};

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr;

/// Combining marks that one base character may carry before the rest is counted instead of drawn.
const MARKS: usize = 8;
/// Bytes of one grapheme that may reach a terminal cell.
const GRAPHEME_BYTES: usize = 32;
/// Columns to the next tab stop.
const TAB: usize = 4;

/// Text of a transcript made safe to look at: every control, bidi and invisible character is *visible*, never
/// silently deleted, because the text is evidence. One line: a newline became `␊`.
///
/// The rules are those for hostile text in a terminal: C0 and DEL as control pictures, C1 as `<9B>`, format
/// characters as `<U+202E>`, at most 8 combining marks and 32 bytes a grapheme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// The whole text on one line.
    pub fn new(text: &str) -> Self {
        Self(clean(text, usize::MAX))
    }

    /// At most `columns` columns of the text on one line; what is cut ends in `…`.
    /// Looks at no more input than it needs, whatever the length of `text`.
    pub fn cut(text: &str, columns: usize) -> Self {
        if columns == 0 {
            return Self::default();
        }
        // A column takes at most a few graphemes of bounded length; zero-width runs are counted, not kept.
        let full = clean(text, columns);
        if full.width() <= columns {
            return Self(full);
        }
        let mut out = String::new();
        let mut used = 0;
        for grapheme in full.graphemes(true) {
            let width = grapheme.width();
            if used + width + 1 > columns {
                break;
            }
            used += width;
            out.push_str(grapheme);
        }
        out.push('…');
        Self(out)
    }

    /// Columns it takes.
    pub fn width(&self) -> usize {
        self.0.width()
    }

    /// The safe text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The safe text, owned.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `text` as one safe line; for messages on stderr and in refusals.
pub fn show_line(text: &str) -> String {
    clean(text, usize::MAX)
}

/// Cleans `text`, stopping a little after `columns` columns.
fn clean(text: &str, columns: usize) -> String {
    let mut out = String::with_capacity(text.len().min(columns.saturating_mul(4).min(1 << 16)));
    let mut column = 0;
    let mut graphemes = text.graphemes(true);
    for grapheme in graphemes.by_ref() {
        let from = out.len();
        push_grapheme(&mut out, grapheme, column);
        column += out.get(from..).map_or(0, UnicodeWidthStr::width);
        if column > columns {
            break;
        }
    }
    out
}

fn push_grapheme(out: &mut String, grapheme: &str, column: usize) {
    let mut plain = grapheme.chars();
    if let (Some(c), None) = (plain.next(), plain.next())
        && (' '..='~').contains(&c)
    {
        out.push(c);
        return;
    }
    if grapheme == "\r\n" {
        out.push('␊');
        return;
    }
    let start = out.len();
    let mut marks = 0usize;
    for (at, c) in grapheme.chars().enumerate() {
        if let Some(hidden) = Hidden::of(c) {
            hidden.push(out, column);
            continue;
        }
        if at > 0 {
            marks += 1;
            if marks > MARKS || out.len() - start + c.len_utf8() > GRAPHEME_BYTES {
                continue;
            }
        }
        out.push(c);
    }
    let kept = MARKS.min(marks);
    if marks > kept {
        let _ = write!(out, "<+{}>", marks - kept);
    }
}

/// A character that a terminal would act on, or not show at all.
enum Hidden {
    Control(char),
    Tab,
    C1(u32),
    Format(u32),
}

impl Hidden {
    fn of(c: char) -> Option<Self> {
        let code = u32::from(c);
        match code {
            0x09 => Some(Self::Tab),
            0..=0x1f => char::from_u32(0x2400 + code).map(Self::Control),
            0x7f => Some(Self::Control('␡')),
            0x80..=0x9f => Some(Self::C1(code)),
            _ if is_invisible(code) => Some(Self::Format(code)),
            _ => None,
        }
    }

    fn push(&self, out: &mut String, column: usize) {
        match self {
            Self::Control(c) => out.push(*c),
            Self::Tab => (0..TAB - column % TAB).for_each(|_| out.push(' ')),
            Self::C1(code) => {
                let _ = write!(out, "<{code:02X}>");
            }
            Self::Format(code) => {
                let _ = write!(out, "<U+{code:04X}>");
            }
        }
    }
}

/// Format characters, line separators, fillers, variation selectors, tags, private use and noncharacters.
fn is_invisible(code: u32) -> bool {
    matches!(code,
        0xad | 0x34f | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x890..=0x891 | 0x8e2 | 0x115f..=0x1160
        | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164
        | 0xe000..=0xf8ff | 0xfdd0..=0xfdef | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
        | 0x110bd | 0x110cd | 0x13430..=0x1343f | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
        | 0xe0000..=0xe0fff | 0xf0000..=0x10_ffff)
        || code & 0xfffe == 0xfffe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_hidden_becomes_visible() {
        for (raw, shown) in [
            ("evil\rgood", "evil␍good"),
            ("\x1b[31mred", "␛[31mred"),
            ("a\u{9b}31m", "a<9B>31m"),
            ("x\u{202e}y", "x<U+202E>y"),
            ("zero\u{200b}width", "zero<U+200B>width"),
            ("\u{e0041}", "<U+E0041>"),
            ("two\nlines", "two␊lines"),
            ("two\r\nlines", "two␊lines"),
            ("a\tb", "a   b"),
            ("del\x7f", "del␡"),
            ("\u{feff}bom", "<U+FEFF>bom"),
        ] {
            assert_eq!(Shown::new(raw).as_str(), shown, "{raw:?}");
        }
    }

    #[test]
    fn every_hidden_scalar_is_visible() {
        for code in (0..0x11_0000u32).filter_map(char::from_u32) {
            if Hidden::of(code).is_some() {
                let shown = Shown::new(&format!("a{code}b"));
                assert!(shown.width() > 2, "U+{:04X} vanished", u32::from(code));
                assert!(!shown.as_str().chars().any(|c| c != ' ' && Hidden::of(c).is_some()));
            }
        }
    }

    #[test]
    fn marks_are_counted_not_drawn() {
        let shown = Shown::new(&format!("e{}", "\u{301}".repeat(500_000)));
        assert!(shown.as_str().len() < 64, "{}", shown.as_str().len());
        assert!(shown.as_str().ends_with("<+499992>"));
    }

    #[test]
    fn cutting_never_exceeds_the_columns() {
        for columns in 0..12 {
            assert!(Shown::cut("漢字かな交じり文 and more", columns).width() <= columns);
            assert!(Shown::cut("\x1b\x1b\x1b\u{202e}\u{202e}", columns).width() <= columns);
        }
        assert_eq!(Shown::cut("abcdef", 6).as_str(), "abcdef");
        assert_eq!(Shown::cut("abcdefg", 6).as_str(), "abcde…");
    }
}
