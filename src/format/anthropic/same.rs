//! Whether two messages say the same, in whatever order of keys: clients move cache marks and turn strings into blocks
//! from one request to the next.

use crate::format::json::Raw;

/// Depth below which bytes are compared as they are.
const DEPTH: usize = 24;

/// What a message says, as a number.
pub(super) fn key(message: Raw<'_>) -> u128 {
    let mut out = Vec::new();
    if let Some(role) = message.get("role") {
        write(role, &mut out, 0);
    }
    match message.get("content") {
        // A string is one block of text.
        Some(text) if text.is_string() => {
            out.extend_from_slice(b"[{\"text\":");
            write(text, &mut out, 0);
            out.extend_from_slice(b",\"type\":text\0,},]");
        }
        Some(content) => write(content, &mut out, 0),
        None => {}
    }
    xxhash_rust::xxh3::xxh3_128(&out)
}

/// What a value says, as a number.
pub(super) fn value_key(value: Option<Raw<'_>>) -> u128 {
    let mut out = Vec::new();
    if let Some(value) = value {
        write(value, &mut out, 0);
    }
    xxhash_rust::xxh3::xxh3_128(&out)
}

fn write(value: Raw<'_>, out: &mut Vec<u8>, depth: usize) {
    if let Some(text) = value.str() {
        out.extend_from_slice(text.as_bytes());
        out.push(0);
    } else if value.is_array() && depth < DEPTH {
        out.push(b'[');
        for item in value.items() {
            write(item, out, depth + 1);
            out.push(b',');
        }
        out.push(b']');
    } else if value.is_object() && depth < DEPTH {
        let mut fields: Vec<_> = value.fields().map(|(key, value)| (key.str(), value)).collect();
        fields.retain(|(key, value)| *key != "cache_control" && !value.is_null());
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
        out.push(b'{');
        for (key, value) in fields {
            out.push(b'"');
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(b"\":");
            write(value, out, depth + 1);
            out.push(b',');
        }
        out.push(b'}');
    } else {
        out.extend_from_slice(value.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> u128 {
        key(Raw::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn the_same_in_other_words() {
        let plain = of(r#"{"role":"user","content":"hé"}"#);
        for same in [
            r#"{"content":[{"type":"text","text":"h\u00e9"}],"role":"user"}"#,
            r#"{"role":"user","content":[{"text":"hé","type":"text","cache_control":{"type":"ephemeral"},"citations":null}]}"#,
        ] {
            assert_eq!(of(same), plain, "{same}");
        }
        for other in [
            r#"{"role":"assistant","content":"hé"}"#,
            r#"{"role":"user","content":"he"}"#,
            r#"{"role":"user","content":[{"type":"text","text":"h"},{"type":"text","text":"é"}]}"#,
        ] {
            assert_ne!(of(other), plain, "{other}");
        }
    }
}
