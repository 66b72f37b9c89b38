//! One physical line becomes whole JSON values and the damage between them.

use super::json::{Damage, Raw};

/// Candidates for the start of a whole record inside a damaged line; a bound against hostile lines.
const CANDIDATES: usize = 64;
/// Keys that a record of some known format has; an arbitrary inner object must not pass for a record.
const RECORD_KEYS: [&str; 8] = ["type", "uuid", "parentUuid", "timestamp", "sessionId", "role", "kind", "record_type"];

/// A part of a physical line.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// A whole JSON value. `salvaged` if it did not stand alone on its line.
    Value {
        /// The value.
        value: Raw<'a>,
        /// Recovered from a damaged line: the first of two values is not, the second is.
        salvaged: bool,
    },
    /// A run of NUL bytes: start and length.
    Gap(usize, usize),
    /// Bytes that are no record: start, length, and a reason for people.
    Corrupt(usize, usize, &'static str),
}

/// Splits a physical line (without its newline) into its pieces. Every byte that is not white space belongs to
/// exactly one piece. An empty line has none.
pub fn pieces(line: &[u8]) -> Vec<Piece<'_>> {
    let start = if line.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut out = Vec::new();
    let mut at = skip_gap(line, start, &mut out);
    let end = line.len() - line.iter().rev().take_while(|b| **b == 0 || b.is_ascii_whitespace()).count();
    let body = line.get(..end).unwrap_or_default();
    // White space before a value is no damage.
    let mut first = out.is_empty();
    while at < end {
        match Raw::prefix(body, at) {
            Ok(value) => {
                let (from, len) = value.range();
                at = skip_space(body, from as usize + len as usize);
                let alone = first && at >= end;
                // The newest runtimes keep the first of two values on a line and lose the rest.
                out.push(Piece::Value { value, salvaged: !first });
                if !alone && at < end && !body.get(at..).is_some_and(|rest| rest.starts_with(b"{")) {
                    salvage(body, at, &mut out);
                    break;
                }
                first = false;
            }
            Err(damage) => {
                salvage_from(body, at, damage, &mut out);
                break;
            }
        }
    }
    let tail = line.get(end..).unwrap_or_default();
    let nuls = tail.iter().filter(|b| **b == 0).count();
    if nuls > 0 && end > start {
        out.push(Piece::Gap(end, tail.len()));
    }
    out
}

fn skip_space(line: &[u8], at: usize) -> usize {
    at + line.get(at..).unwrap_or_default().iter().take_while(|b| b.is_ascii_whitespace()).count()
}

/// Past leading white space and NUL runs (a crash can leave 20-143 KB of NUL before a record).
fn skip_gap<'a>(line: &'a [u8], at: usize, out: &mut Vec<Piece<'a>>) -> usize {
    let at = skip_space(line, at);
    let nuls = line.get(at..).unwrap_or_default().iter().take_while(|b| **b == 0 || b.is_ascii_whitespace()).count();
    if nuls > 0 {
        out.push(Piece::Gap(at, nuls));
    }
    at + nuls
}

fn salvage_from<'a>(line: &'a [u8], at: usize, damage: Damage, out: &mut Vec<Piece<'a>>) {
    let reason = match damage {
        Damage::Cut => "the line was cut",
        Damage::Garbage(_) | Damage::Trailing(_) => "the line is not JSON",
    };
    salvage_with(line, at, reason, out);
}

fn salvage<'a>(line: &'a [u8], at: usize, out: &mut Vec<Piece<'a>>) {
    salvage_with(line, at, "bytes after a whole record", out);
}

/// Looks for one whole record that ends the line. A nested object cannot win: its closing brackets are left over.
fn salvage_with<'a>(line: &'a [u8], at: usize, reason: &'static str, out: &mut Vec<Piece<'a>>) {
    let rest = line.get(at..).unwrap_or_default();
    let found = memchr::memmem::find_iter(rest, b"{\"")
        .filter(|offset| *offset > 0)
        .take(CANDIDATES)
        .find_map(|offset| Raw::parse_from(line, at + offset).filter(|raw| looks_like_record(*raw)));
    if let Some(value) = found {
        let from = value.range().0 as usize;
        out.push(Piece::Corrupt(at, from - at, reason));
        out.push(Piece::Value { value, salvaged: true });
    } else {
        out.push(Piece::Corrupt(at, rest.len(), reason));
    }
}

fn looks_like_record(raw: Raw<'_>) -> bool {
    raw.is_object() && raw.fields().any(|(key, _)| RECORD_KEYS.iter().any(|name| key.is(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(line: &[u8]) -> String {
        pieces(line)
            .into_iter()
            .map(|piece| match piece {
                Piece::Value { value, salvaged } => {
                    format!("{}{}", if salvaged { "s" } else { "v" }, value.bytes().len())
                }
                Piece::Gap(_, len) => format!("g{len}"),
                Piece::Corrupt(_, len, _) => format!("c{len}"),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn whole_lines() {
        assert_eq!(summary(br#"{"type":"a"}"#), "v12");
        assert_eq!(summary(b""), "");
        assert_eq!(summary(b"  \r"), "");
        assert_eq!(summary(b" \t{} "), "v2");
        assert_eq!(summary(b"\xef\xbb\xbf{}\r"), "v2");
    }

    #[test]
    fn damaged_lines() {
        assert_eq!(summary(br#"{"type":"a"}{"type":"b"}"#), "v12 s12");
        assert_eq!(summary(br#"{"type":"user","mess{"type":"b"}"#), "c20 s12");
        assert_eq!(summary(br#"{"type":"user","message":{"a":1"#), "c31");
        assert_eq!(summary(b"not json"), "c8");
        assert_eq!(summary(b"\0\0\0{\"type\":1}"), "g3 s10");
        assert_eq!(summary(b"{\"type\":1}\0\0"), "v10 g2");
        assert_eq!(summary(br#"{"a":{"type":"inner"},"b":"#), "c26");
    }
}
