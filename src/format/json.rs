//! A lenient reader of one JSON value in a line, by byte ranges.
//!
//! Why not a derived struct: a duplicate key, a wrong-typed field, a lone surrogate, a number out of range or
//! invalid UTF-8 inside a string would each cost the whole record (26 files of the public JSON test suite), and a
//! lost result is a phantom open obligation. Here the structure is checked once, fields stay raw bytes, and each
//! is decoded on demand; a field of the wrong type is simply unknown. No recursion, so depth costs no stack.

mod walk;

use std::borrow::Cow;

use walk::{check_value, past_value, skip_comma, skip_space};

/// Why a line is not one JSON value, with the byte where it went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The line ended inside the value.
    Cut,
    /// Something else than JSON stands at this byte.
    Garbage(usize),
    /// A whole value ends here and more bytes follow.
    Trailing(usize),
}

/// One JSON value, as a byte range of its line. Values are only made from a line whose structure was checked.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    line: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> Raw<'a> {
    /// The one value that `line` is, or why it is not one.
    pub fn parse(line: &'a [u8]) -> Result<Self, Damage> {
        let start = skip_space(line, 0);
        let end = check_value(line, start)?;
        let rest = skip_space(line, end);
        if rest < line.len() {
            return Err(Damage::Trailing(end));
        }
        Ok(Self { line, start, end })
    }

    /// The value that starts at `start`, whatever follows it.
    pub fn prefix(line: &'a [u8], start: usize) -> Result<Self, Damage> {
        let start = skip_space(line, start);
        let end = check_value(line, start)?;
        Ok(Self { line, start, end })
    }

    /// The one value from `start` to the end of `line`.
    pub fn parse_from(line: &'a [u8], start: usize) -> Option<Self> {
        let value = Self::prefix(line, start).ok()?;
        (skip_space(line, value.end) >= line.len()).then_some(value)
    }

    /// Its bytes.
    pub fn bytes(self) -> &'a [u8] {
        self.line.get(self.start..self.end).unwrap_or_default()
    }

    /// Its place in the line: start and length in bytes.
    pub fn range(self) -> (u32, u32) {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (clip(self.start), clip(self.end - self.start))
    }

    fn first(self) -> u8 {
        self.line.get(self.start).copied().unwrap_or(0)
    }

    /// True for `{...}`.
    pub fn is_object(self) -> bool {
        self.first() == b'{'
    }

    /// True for `[...]`.
    pub fn is_array(self) -> bool {
        self.first() == b'['
    }

    /// True for `null`.
    pub fn is_null(self) -> bool {
        self.first() == b'n'
    }

    /// True for a string.
    pub fn is_string(self) -> bool {
        self.first() == b'"'
    }

    /// Fields of an object in their order, duplicates included; none of anything else.
    pub fn fields(self) -> Fields<'a> {
        Fields { line: self.line, at: if self.is_object() { self.start + 1 } else { self.end }, end: self.end }
    }

    /// Items of an array; none of anything else.
    pub fn items(self) -> Items<'a> {
        Items { line: self.line, at: if self.is_array() { self.start + 1 } else { self.end }, end: self.end }
    }

    /// The field called `name`; the last one, as JavaScript has it, if it stands twice.
    pub fn get(self, name: &str) -> Option<Self> {
        self.fields().filter(|(key, _)| key.is(name)).map(|(_, value)| value).last()
    }

    /// The field at the end of a path of names.
    pub fn path(self, names: &[&str]) -> Option<Self> {
        names.iter().try_fold(self, |value, name| value.get(name))
    }

    /// A string, decoded; lone surrogates and invalid UTF-8 become U+FFFD.
    pub fn str(self) -> Option<Cow<'a, str>> {
        self.is_string().then(|| decode(self.line.get(self.start + 1..self.end - 1).unwrap_or_default()))
    }

    /// The field `name` as a string.
    pub fn get_str(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.str()
    }

    /// True if the field `name` is the string `text`, compared without decoding.
    pub fn field_is(self, name: &str, text: &str) -> bool {
        self.get(name).is_some_and(|value| value.is(text))
    }

    /// True if this is the string `text`, compared without decoding.
    pub fn is(self, text: &str) -> bool {
        self.is_string() && self.line.get(self.start + 1..self.end - 1) == Some(text.as_bytes())
    }

    /// True, false, or unknown.
    pub fn bool(self) -> Option<bool> {
        match self.first() {
            b't' => Some(true),
            b'f' => Some(false),
            _ => None,
        }
    }

    /// A whole number that is not negative; `12.0` counts, a fraction or anything out of range is unknown.
    pub fn u64(self) -> Option<u64> {
        let text = std::str::from_utf8(self.bytes()).ok()?;
        text.parse().ok().or_else(|| {
            let float: f64 = text.parse().ok()?;
            #[expect(
                clippy::cast_sign_loss,
                clippy::cast_possible_truncation,
                reason = "range and sign are checked here"
            )]
            (float >= 0.0 && float.fract() == 0.0 && float < 9.0e15).then_some(float as u64)
        })
    }

    /// The field `name` as a whole number.
    pub fn get_u64(self, name: &str) -> Option<u64> {
        self.get(name)?.u64()
    }

    /// Bytes that the decoded text of this value would have, roughly, counting strings at any depth; cheap.
    pub fn text_len(self) -> u32 {
        let bytes = self.bytes();
        let escapes = memchr::memchr_iter(b'\\', bytes).count();
        u32::try_from(bytes.len().saturating_sub(escapes + 2)).unwrap_or(u32::MAX)
    }
}

/// A key of an object, still raw.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a>(&'a [u8]);

impl<'a> Key<'a> {
    /// True if the key is `name` (names that we look for need no escapes).
    pub fn is(self, name: &str) -> bool {
        self.0 == name.as_bytes() || (self.0.contains(&b'\\') && decode(self.0) == name)
    }

    /// The key, decoded.
    pub fn str(self) -> Cow<'a, str> {
        decode(self.0)
    }
}

/// Iterator over the fields of a checked object.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    line: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Key<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key_at = skip_comma(self.line, self.at, self.end)?;
        let key_end = past_value(self.line, key_at)?;
        let key = self.line.get(key_at + 1..key_end.checked_sub(1)?)?;
        let colon = skip_space(self.line, key_end);
        let start = skip_space(self.line, colon + 1);
        let end = past_value(self.line, start)?;
        self.at = end;
        Some((Key(key), Raw { line: self.line, start, end }))
    }
}

/// Iterator over the items of a checked array.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    line: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Iterator for Items<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = skip_comma(self.line, self.at, self.end)?;
        let end = past_value(self.line, start)?;
        self.at = end;
        Some(Raw { line: self.line, start, end })
    }
}

/// Decodes the inside of a JSON string. Never fails: what cannot be decoded becomes U+FFFD.
pub fn decode(inside: &[u8]) -> Cow<'_, str> {
    if !inside.contains(&b'\\') {
        return String::from_utf8_lossy(inside);
    }
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(found) = memchr::memchr(b'\\', rest) {
        let (plain, escaped) = rest.split_at(found);
        out.push_str(&String::from_utf8_lossy(plain));
        let (c, used) = decode_escape(escaped);
        out.push(c);
        rest = escaped.get(used..).unwrap_or_default();
    }
    out.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(out)
}

/// One escape at the start of `bytes`: its character and how many bytes it took.
fn decode_escape(bytes: &[u8]) -> (char, usize) {
    match bytes.get(1) {
        Some(b'n') => ('\n', 2),
        Some(b't') => ('\t', 2),
        Some(b'r') => ('\r', 2),
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'u') => match hex4(bytes.get(2..)) {
            Some(high @ 0xd800..=0xdbff) => match (bytes.get(6..8), hex4(bytes.get(8..))) {
                (Some(b"\\u"), Some(low @ 0xdc00..=0xdfff)) => {
                    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
                }
                _ => (char::REPLACEMENT_CHARACTER, 6),
            },
            Some(code) => (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
            None => (char::REPLACEMENT_CHARACTER, 2),
        },
        Some(c) => (char::from(*c), 2),
        None => (char::REPLACEMENT_CHARACTER, 1),
    }
}

fn hex4(bytes: Option<&[u8]>) -> Option<u32> {
    let digits = bytes?.get(..4)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_items() {
        let raw = Raw::parse(br#" {"a": 1, "b":[true,null,"x\n\u00e9"], "a":2.0, "c":{}} "#).unwrap();
        assert_eq!(raw.get_u64("a"), Some(2), "last wins");
        let items: Vec<_> = raw.get("b").unwrap().items().collect();
        assert_eq!(items.len(), 3);
        assert_eq!(items[2].str().unwrap(), "x\né");
        assert_eq!(raw.get("c").unwrap().fields().count(), 0);
        assert_eq!(raw.fields().count(), 4);
    }

    #[test]
    fn damage_is_told_apart() {
        assert_eq!(Raw::parse(br#"{"a":[1,2"#).unwrap_err(), Damage::Cut);
        assert_eq!(Raw::parse(br#"{"a":"x"#).unwrap_err(), Damage::Cut);
        assert_eq!(Raw::parse(b"").unwrap_err(), Damage::Cut);
        assert_eq!(Raw::parse(br#"{"a":1}{"b":2}"#).unwrap_err(), Damage::Trailing(7));
        assert_eq!(Raw::parse(b"{\"a\":\"x\ny\"}").unwrap_err(), Damage::Garbage(7));
        assert!(matches!(Raw::parse(b"[1,]").unwrap_err(), Damage::Garbage(_)));
        assert!(matches!(Raw::parse(b"{\"a\" 1}").unwrap_err(), Damage::Garbage(_)));
        assert!(matches!(Raw::parse(b"NaN").unwrap_err(), Damage::Garbage(_)));
        assert!(matches!(Raw::parse(b"01").unwrap_err(), Damage::Garbage(_) | Damage::Cut));
    }

    #[test]
    fn the_quick_walk_ends_where_the_checked_one_does() {
        let lines: [&[u8]; 12] = [
            br#""""#,
            br#""a\\""#,
            br#""a\\\"b""#,
            br#""\"}{][""#,
            br#"{"a\"]":{"b":["}",{"c":"\\"},[]]},"d":-1.5e3}"#,
            br#"[ [ ] , { } , "[" , true , null , 12 ]"#,
            br#"{ "a" : "x" , "b" : [ 1 , 2 ] }"#,
            b"true",
            b"-12.5e+3",
            b"[[[[[]]]]]",
            b"\"\xff\\u00e9\"",
            b"{}",
        ];
        for line in lines {
            assert_eq!(past_value(line, 0), check_value(line, 0).ok(), "{}", String::from_utf8_lossy(line));
            assert_eq!(past_value(line, 0), Some(line.len()), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn what_agents_write_is_never_lost() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Raw::parse(deep.as_bytes()).is_ok());
        assert_eq!(Raw::parse(br#""\ud83d""#).unwrap().str().unwrap(), "\u{fffd}");
        assert_eq!(Raw::parse(br#""\ud83d\ude00""#).unwrap().str().unwrap(), "😀");
        assert_eq!(Raw::parse(b"\"\xff\"").unwrap().str().unwrap(), "\u{fffd}");
        assert!(Raw::parse(b"1e999").is_ok());
        assert_eq!(Raw::parse(b"1e999").unwrap().u64(), None);
        assert_eq!(Raw::parse(b"-1").unwrap().u64(), None);
    }
}
