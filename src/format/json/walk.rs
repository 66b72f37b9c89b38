//! Walking over the bytes of JSON: once with every check, afterwards quickly.

use memchr::{memchr, memchr2};

use super::Damage;

/// The next member's first byte; `None` at the closing bracket.
pub(super) fn skip_comma(line: &[u8], at: usize, end: usize) -> Option<usize> {
    let mut at = skip_space(line, at);
    if line.get(at) == Some(&b',') {
        at = skip_space(line, at + 1);
    }
    (at + 1 < end && !matches!(line.get(at), Some(b'}' | b']'))).then_some(at)
}

pub(super) fn skip_space(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// Where the value that starts at `at` ends. The brackets are kept on a heap stack.
pub(super) fn check_value(line: &[u8], at: usize) -> Result<usize, Damage> {
    let mut at = at;
    let mut open: Vec<u8> = Vec::new();
    loop {
        // A value is due at `at`.
        match line.get(at) {
            None => return Err(Damage::Cut),
            Some(b'"') => at = skip_string(line, at)?,
            Some(bracket @ (b'{' | b'[')) => {
                let inside = skip_space(line, at + 1);
                if line.get(inside) == Some(&(bracket + 2)) {
                    at = inside + 1;
                } else {
                    open.push(*bracket);
                    at = if *bracket == b'{' { skip_key(line, inside)? } else { inside };
                    continue;
                }
            }
            Some(_) => at = skip_scalar(line, at)?,
        }
        // A value ended at `at`: close brackets until another member is due.
        loop {
            let Some(bracket) = open.last().copied() else { return Ok(at) };
            at = skip_space(line, at);
            match line.get(at) {
                None => return Err(Damage::Cut),
                Some(b',') => {
                    at = skip_space(line, at + 1);
                    if bracket == b'{' {
                        at = skip_key(line, at)?;
                    }
                    break;
                }
                Some(close) if *close == bracket + 2 => {
                    open.pop();
                    at += 1;
                }
                Some(_) => return Err(Damage::Garbage(at)),
            }
        }
    }
}

/// Past `"key" :` to the first byte of the value.
fn skip_key(line: &[u8], at: usize) -> Result<usize, Damage> {
    match line.get(at) {
        Some(b'"') => {}
        None => return Err(Damage::Cut),
        Some(_) => return Err(Damage::Garbage(at)),
    }
    let colon = skip_space(line, skip_string(line, at)?);
    match line.get(colon) {
        Some(b':') => Ok(skip_space(line, colon + 1)),
        None => Err(Damage::Cut),
        Some(_) => Err(Damage::Garbage(colon)),
    }
}

/// Past the string that starts at `at`.
fn skip_string(line: &[u8], at: usize) -> Result<usize, Damage> {
    let mut at = at + 1;
    loop {
        let rest = line.get(at..).unwrap_or_default();
        let Some(found) = memchr2(b'"', b'\\', rest) else {
            return Err(first_control(rest).map_or(Damage::Cut, |c| Damage::Garbage(at + c)));
        };
        if let Some(control) = first_control(rest.get(..found).unwrap_or_default()) {
            return Err(Damage::Garbage(at + control));
        }
        if rest.get(found) == Some(&b'"') {
            return Ok(at + found + 1);
        }
        match rest.get(found + 1) {
            None => return Err(Damage::Cut),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += found + 2,
            Some(b'u') => match rest.get(found + 2..found + 6) {
                Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => at += found + 6,
                Some(_) => return Err(Damage::Garbage(at + found)),
                None => return Err(Damage::Cut),
            },
            Some(_) => return Err(Damage::Garbage(at + found)),
        }
    }
}

/// A raw control character: JSON forbids it inside a string, and so does every agent's own reader.
fn first_control(bytes: &[u8]) -> Option<usize> {
    // The least byte first, without a way out: the compiler makes wide instructions of that.
    let least = bytes.iter().fold(u8::MAX, |least, b| least.min(*b));
    if least < 0x20 { bytes.iter().position(|b| *b < 0x20) } else { None }
}

/// Where the value that starts at `at` ends, in a line whose structure was checked: only quotes and brackets matter.
pub(super) fn past_value(line: &[u8], at: usize) -> Option<usize> {
    match line.get(at)? {
        b'"' => past_string(line, at),
        b'{' | b'[' => {
            let (mut at, mut depth) = (at, 0usize);
            loop {
                at += line.get(at..)?.iter().position(|b| matches!(b, b'"' | b'{' | b'[' | b'}' | b']'))?;
                match line.get(at)? {
                    b'"' => {
                        at = past_string(line, at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    _ => depth = depth.checked_sub(1)?,
                }
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
        }
        _ => skip_scalar(line, at).ok(),
    }
}

/// Past the checked string that starts at `at`: a quote ends it unless an odd number of backslashes stands before it.
fn past_string(line: &[u8], at: usize) -> Option<usize> {
    let mut from = at + 1;
    loop {
        let quote = from + memchr(b'"', line.get(from..)?)?;
        let inside = line.get(at + 1..quote)?;
        if inside.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 0 {
            return Some(quote + 1);
        }
        from = quote + 1;
    }
}

/// Past a number or a literal.
pub(super) fn skip_scalar(line: &[u8], at: usize) -> Result<usize, Damage> {
    let rest = line.get(at..).unwrap_or_default();
    for word in ["true", "false", "null"] {
        if rest.starts_with(word.as_bytes()) {
            return Ok(at + word.len());
        }
        if word.as_bytes().starts_with(rest) {
            return Err(Damage::Cut);
        }
    }
    let len = rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
    let number = rest.get(..len).unwrap_or_default();
    if is_number(number) {
        Ok(at + len)
    } else if len == rest.len() && len > 0 {
        Err(Damage::Cut)
    } else {
        Err(Damage::Garbage(at))
    }
}

/// The JSON number grammar.
fn is_number(text: &[u8]) -> bool {
    let digits = |b: &[u8]| b.iter().take_while(|d| d.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.first() == Some(&b'0')) {
        return false;
    }
    let mut rest = rest.get(whole..).unwrap_or_default();
    if let Some(fraction) = rest.strip_prefix(b".") {
        let n = digits(fraction);
        if n == 0 {
            return false;
        }
        rest = fraction.get(n..).unwrap_or_default();
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        let n = digits(exponent);
        if n == 0 {
            return false;
        }
        rest = exponent.get(n..).unwrap_or_default();
    }
    rest.is_empty()
}
