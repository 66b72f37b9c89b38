//! A transcript that is one JSON document over many lines: an array of records, or an object that holds them.
//!
//! Of an array each item is a record of its own, with its own place, given as soon as its last byte is there: no more
//! than one item is ever held. An object is given whole. A document that is not closed is torn, which is no damage: its
//! writer may be at it. When nothing will follow, what is whole of a torn object is given too.

use std::borrow::Cow;

use super::LINE_CAP;
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

/// Bytes of an object that are held; a larger one is not read.
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

/// A value of the document: an item of its array, or the object that it is.
pub(super) struct Item<'a> {
    /// 1-based line on which it begins.
    pub(super) number: u32,
    /// Where it begins.
    pub(super) offset: u64,
    /// Its bytes, as far as they were held.
    pub(super) bytes: Cow<'a, [u8]>,
    /// Bytes of it in the file.
    pub(super) len: u64,
    /// It was too large to be held: `bytes` are its beginning.
    pub(super) oversized: bool,
}

impl Item<'_> {
    /// The same with bytes of its own.
    pub(super) fn owned(&self) -> Item<'static> {
        let Self { number, offset, len, oversized, .. } = *self;
        Item { number, offset, bytes: Cow::Owned(self.bytes.to_vec()), len, oversized }
    }

    /// Gives records the lines on which their blocks stand, and no more bytes than the file has.
    pub(super) fn place(&self, records: &mut [Record]) {
        let breaks: Vec<usize> = memchr::memchr_iter(b'\n', &self.bytes).collect();
        for record in records {
            let before = breaks.partition_point(|at| *at < record.at as usize);
            record.line = self.number.saturating_add(u32::try_from(before).unwrap_or(u32::MAX));
            record.line_len = record.line_len.min(u32::try_from(self.len).unwrap_or(u32::MAX));
        }
    }
}

/// The document as far as it was fed.
#[derive(Default)]
pub(super) struct Document {
    /// Bracket that it begins with; 0 before.
    outer: u8,
    /// Brackets that are open.
    depth: usize,
    string: bool,
    escaped: bool,
    /// Where the value that is being read begins, with its line.
    begun: Option<(u64, u32)>,
    held: Vec<u8>,
    dropped: u64,
    /// Bytes and line breaks so far.
    offset: u64,
    breaks: u32,
    closed: bool,
    /// Something stands behind its end.
    trailed: bool,
    full: u32,
    /// The last line, which may still grow, is not empty; is blank.
    ends: (bool, bool),
}

impl Document {
    /// Takes the next bytes, in any chunking; every value that ends in them goes to `give`.
    pub(super) fn feed(&mut self, bytes: &[u8], give: &mut dyn FnMut(&Item<'_>)) {
        self.count(bytes);
        // What of `bytes` belongs to the value that is being read begins here.
        let mut from = 0;
        // Line breaks are counted up to here.
        let mut counted = 0;
        let mut at = 0;
        while let Some(byte) = bytes.get(at).copied() {
            let here = at;
            at += 1;
            if self.string {
                if self.escaped {
                    self.escaped = false;
                    continue;
                }
                match memchr::memchr2(b'"', b'\\', bytes.get(here..).unwrap_or_default()) {
                    None => break,
                    Some(found) => {
                        at = here + found + 1;
                        let quote = bytes.get(here + found) == Some(&b'"');
                        self.string = !quote;
                        self.escaped = !quote;
                        continue;
                    }
                }
            }
            let early = self.outer == 0 && !matches!(byte, b'{' | b'[');
            if early || byte.is_ascii_whitespace() {
                continue;
            }
            if self.closed {
                self.trailed = true;
                break;
            }
            let ends = self.outer == b'[' && self.depth == 1 && matches!(byte, b',' | b']');
            if ends && self.begun.is_some() {
                // A number or a word ends only here, behind what follows it.
                self.end(bytes.get(from..here).unwrap_or_default(), give);
            }
            let begins = self.begun.is_none() && (self.outer == 0 || (self.depth == 1 && !ends));
            if begins {
                let whole = self.outer == 0 && byte == b'[';
                self.breaks += breaks(bytes.get(counted..here).unwrap_or_default());
                counted = here;
                from = here;
                self.begun = (!whole).then(|| (self.offset + here as u64, self.breaks + 1));
            }
            self.step(byte);
            let inner = usize::from(self.outer == b'[');
            if matches!(byte, b'}' | b']') && self.depth == inner && self.begun.is_some() {
                self.end(bytes.get(from..at).unwrap_or_default(), give);
            }
        }
        self.breaks += breaks(bytes.get(counted..).unwrap_or_default());
        if self.begun.is_some() {
            self.hold(bytes.get(from..).unwrap_or_default());
        }
        self.offset += bytes.len() as u64;
    }

    /// What a byte outside a string does.
    fn step(&mut self, byte: u8) {
        match byte {
            b'"' => self.string = true,
            b'{' | b'[' => {
                if self.outer == 0 {
                    self.outer = byte;
                }
                self.depth += 1;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.closed = self.depth == 0;
            }
            _ => {}
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        let most = if self.outer == b'[' { LINE_CAP } else { MOST };
        let kept = bytes.get(..most.saturating_sub(self.held.len()).min(bytes.len())).unwrap_or_default();
        self.held.extend_from_slice(kept);
        self.dropped += (bytes.len() - kept.len()) as u64;
    }

    fn end(&mut self, tail: &[u8], give: &mut dyn FnMut(&Item<'_>)) {
        let Some((offset, number)) = self.begun.take() else { return };
        let bytes: Cow<'_, [u8]> = if self.held.is_empty() {
            tail.trim_ascii_end().into()
        } else {
            self.hold(tail);
            std::mem::take(&mut self.held).trim_ascii_end().to_vec().into()
        };
        let dropped = std::mem::take(&mut self.dropped);
        give(&Item { number, offset, len: bytes.len() as u64 + dropped, bytes, oversized: dropped > 0 });
    }

    /// Nothing will follow: what is whole of an object that was cut, its brackets closed.
    pub(super) fn whole_so_far(&self) -> Option<Item<'_>> {
        let (offset, number) = self.begun.filter(|_| self.outer == b'{' && self.dropped == 0)?;
        let mut bytes = self.held.clone();
        let close = last_whole(&bytes)?;
        bytes.truncate(close.0);
        bytes.extend_from_slice(close.1);
        Some(Item { number, offset, bytes: bytes.into(), len: self.held.len() as u64, oversized: false })
    }

    /// Counts lines that are not empty, and all lines.
    fn count(&mut self, bytes: &[u8]) {
        for (n, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if n > 0 {
                self.ends = (false, false);
            }
            self.ends.1 |= !line.is_empty();
            if !self.ends.0 && !line.trim_ascii().is_empty() {
                self.ends.0 = true;
                self.full = self.full.saturating_add(1);
            }
        }
    }

    /// Lines that are not empty, and all lines.
    pub(super) fn counted(&self) -> (u32, u32) {
        (self.full, self.breaks + u32::from(self.ends.1))
    }

    /// Its last bracket is not there yet.
    pub(super) fn is_torn(&self) -> bool {
        !self.closed
    }

    /// Something stands behind its end.
    pub(super) fn is_trailed(&self) -> bool {
        self.trailed
    }
}

fn breaks(bytes: &[u8]) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u32::MAX)
}

/// Where the last record of a cut object ends, an item of one of its lists, and what closes the object behind it.
fn last_whole(bytes: &[u8]) -> Option<(usize, &'static [u8])> {
    let (mut depth, mut list, mut found) = (0usize, false, None);
    let (mut string, mut escaped) = (false, false);
    for (at, byte) in bytes.iter().enumerate() {
        if string {
            string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => string = true,
            b'{' | b'[' => {
                depth += 1;
                if depth == 2 {
                    list = *byte == b'[';
                }
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                match depth {
                    2 if list => found = Some((at + 1, b"]}".as_slice())),
                    1 => found = Some((at + 1, b"}".as_slice())),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    found
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

    fn items(chunks: &[&[u8]]) -> (Vec<String>, bool, bool, (u32, u32)) {
        let mut document = Document::default();
        let mut out = Vec::new();
        for chunk in chunks {
            document.feed(chunk, &mut |item| {
                out.push(format!("{}@{}:{}", item.number, item.offset, String::from_utf8_lossy(&item.bytes)));
            });
        }
        (out, document.is_torn(), document.is_trailed(), document.counted())
    }

    #[test]
    fn items_with_their_places_in_any_chunking() {
        let escaped = r#"{"a":"]\"}"}"#;
        let two = format!("\u{feff}[ {escaped},\n\n{{\"b\":[1,{{}}]}} ]\n");
        for (text, want, torn, trailed, counted) in [
            ("[]", vec![], false, false, (1, 1)),
            (&*two, vec![format!("1@5:{escaped}"), "3@20:{\"b\":[1,{}]}".to_string()], false, false, (2, 3)),
            (
                "[1, \"x,]\" ,null\n]",
                ["1@1:1", "1@4:\"x,]\"", "1@11:null"].map(str::to_string).to_vec(),
                false,
                false,
                (2, 2),
            ),
            ("[{\"a\":1},{\"b\"", vec!["1@1:{\"a\":1}".to_string()], true, false, (1, 1)),
            ("{\n\"a\":[1,{}]\n}", vec!["1@0:{\n\"a\":[1,{}]\n}".to_string()], false, false, (3, 3)),
            ("[{}] x", vec!["1@1:{}".to_string()], false, true, (1, 1)),
            ("[{}]\n\n", vec!["1@1:{}".to_string()], false, false, (1, 2)),
        ] {
            let bytes = text.as_bytes();
            let want = (want, torn, trailed, counted);
            assert_eq!(items(&[bytes]), want, "{text}");
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(items(&single), want, "{text} byte by byte");
            for cut in 0..bytes.len() {
                let (a, b) = bytes.split_at(cut);
                assert_eq!(items(&[a, b]), want, "{text} at {cut}");
            }
        }
    }

    #[test]
    fn a_cut_object_is_whole_up_to_its_last_record() {
        for (cut, want) in [
            (r#"{"messages":[{"a":[1]},{"b":[{}"#, Some(r#"{"messages":[{"a":[1]}]}"#)),
            (r#"{"info":{"x":{}},"messages":[{"a":"}]"#, Some(r#"{"info":{"x":{}}}"#)),
            (r#"{"messages":[{}],"x":12"#, Some(r#"{"messages":[{}]}"#)),
            (r#"{"messages":["#, None),
        ] {
            let mut document = Document::default();
            document.feed(cut.as_bytes(), &mut |_| panic!("nothing is whole"));
            let found = document.whole_so_far().map(|item| String::from_utf8_lossy(&item.bytes).into_owned());
            assert_eq!(found.as_deref(), want, "{cut}");
        }
    }
}
