//! A transcript that is one JSON document over many lines: an array of records, or an object that holds them. It is
//! taken when it is whole; while it is rewritten it is torn for a moment, which is no damage.

use super::{Line, json::Raw};
use crate::model::Record;

/// How records stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Too little was read to tell.
    Unknown,
    /// One record a line.
    Lines,
    /// One value over all lines.
    Document,
}

/// Bytes of a document that are held; a larger one is not read.
const MOST: usize = 1 << 30;

/// What the first bytes of a file say. A line that is torn ends inside a string or a number; a document that is printed
/// over lines breaks them behind a bracket, a comma or a colon.
pub(super) fn shape(head: &[u8]) -> Shape {
    let start = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let Some(first) = head.iter().skip(start).position(|byte| !byte.is_ascii_whitespace()) else {
        return Shape::Unknown;
    };
    let rest = head.get(start + first..).unwrap_or_default();
    let next = rest.iter().skip(1).find(|byte| !byte.is_ascii_whitespace());
    match (rest.first(), next) {
        (Some(b'['), Some(b'{' | b']')) => Shape::Document,
        (Some(b'[' | b'{'), None) => Shape::Unknown,
        (Some(b'{'), _) => match memchr::memchr(b'\n', rest) {
            None => Shape::Unknown,
            Some(end) => match rest.get(..end).unwrap_or_default().trim_ascii_end().last() {
                Some(b'{' | b'[' | b',' | b':') => Shape::Document,
                _ => Shape::Lines,
            },
        },
        _ => Shape::Lines,
    }
}

/// The document as far as it was fed.
#[derive(Default)]
pub(super) struct Document {
    bytes: Vec<u8>,
    taken: bool,
    /// Offsets of line breaks.
    breaks: Vec<u64>,
}

impl Document {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let start = self.bytes.len() as u64;
        self.breaks.extend(memchr::memchr_iter(b'\n', bytes).map(|at| start + at as u64));
        let room = MOST.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
    }

    /// Its records as lines, once it is whole and was not taken yet: the items of an array, or the object itself.
    pub(super) fn lines(&self) -> Option<Vec<Line<'_>>> {
        let closed = self.bytes.trim_ascii_end().last().is_some_and(|byte| matches!(byte, b'}' | b']'));
        if self.taken || !closed {
            return None;
        }
        let start = self.bytes.iter().position(|byte| matches!(byte, b'{' | b'['))?;
        let value = Raw::parse_from(&self.bytes, start)?;
        let line = |value: Raw<'_>| {
            let (at, len) = value.range();
            let bytes = self.bytes.get(at as usize..(at + len) as usize)?;
            let value = Raw::parse(bytes).ok().filter(|value| value.is_object())?;
            let (number, offset) = (self.number(u64::from(at)), u64::from(at));
            Some(Line { number, offset, bytes, value, segment: 0, salvaged: false })
        };
        Some(if value.is_array() {
            value.items().filter_map(line).collect()
        } else {
            line(value).into_iter().collect()
        })
    }

    /// 1-based line of the byte at `offset`.
    fn number(&self, offset: u64) -> u32 {
        u32::try_from(self.breaks.partition_point(|at| *at < offset)).map_or(u32::MAX, |before| before + 1)
    }

    /// Gives records the lines on which their blocks stand.
    pub(super) fn place(&self, records: &mut [Record]) {
        for record in records {
            record.line = self.number(record.offset + u64::from(record.at));
        }
    }

    /// Lines that are not empty, and all lines.
    pub(super) fn counted(&self) -> (u32, u32) {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let full = self.bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        (clip(full), clip(self.breaks.len() + 1))
    }

    /// The records were taken: their bytes are read again when somebody looks.
    pub(super) fn taken(&mut self) {
        self.taken = true;
        self.bytes = Vec::new();
    }

    pub(super) fn is_torn(&self) -> bool {
        !self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (head, want) in [
            ("", Shape::Unknown),
            ("  \n", Shape::Unknown),
            ("{", Shape::Unknown),
            ("[", Shape::Unknown),
            ("{\"a\":1", Shape::Unknown),
            ("{\"a\":1}\n", Shape::Lines),
            ("{\"a\":\"torn\n{\"a\":1}\n", Shape::Lines),
            ("{\n  \"a\": 1", Shape::Document),
            ("{\"info\": {\n", Shape::Document),
            ("[{\"role\":\"user\"}]", Shape::Document),
            ("[\n  {", Shape::Document),
            ("[INFO] a log", Shape::Lines),
            ("not json\n", Shape::Lines),
        ] {
            assert_eq!(shape(head.as_bytes()), want, "{head}");
        }
    }
}
