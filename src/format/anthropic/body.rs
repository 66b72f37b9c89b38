use crate::{
    format::json::Raw,
    model::{Body, Kind, Record},
};

/// Lists in lists that are taken apart; real content has one level.
const DEPTH: usize = 4;

/// Decodes one record of `line` for people.
pub(super) fn decode(line: &[u8], record: &Record) -> Body {
    let Ok(block) = Raw::prefix(line, record.at as usize) else {
        return Body::text(String::from_utf8_lossy(line));
    };
    let mut body = match record.kind {
        Kind::Call => Body {
            tool: block.get_str("name").map(std::borrow::Cow::into_owned),
            input: block.get("input").map(json),
            ..Body::default()
        },
        Kind::Result | Kind::Error | Kind::Abandoned => {
            Body::text(block.get("content").map(|value| content(value, 0)).unwrap_or_default())
        }
        Kind::Summary if block.is_object() => Body::text(block.get_str("content").unwrap_or_default()),
        Kind::Thinking => Body::text(thinking(block)),
        Kind::Opaque => Body::text(json(block)),
        _ => Body::text(content(block, 0)),
    };
    if let Some(server) = block.get_str("server_name") {
        body.facts.push(("server".to_string(), server.into_owned()));
    }
    body
}

fn json(value: Raw<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}

/// Text of a string, a block, or a list of blocks; what is no text is named in brackets.
fn content(value: Raw<'_>, depth: usize) -> String {
    if let Some(text) = value.str() {
        return text.into_owned();
    }
    if value.is_array() && depth < DEPTH {
        let parts: Vec<String> = value.items().map(|item| content(item, depth + 1)).collect();
        return parts.join("\n");
    }
    match value.get_str("type").as_deref() {
        Some("text") => value.get_str("text").unwrap_or_default().into_owned(),
        Some("image") => "[image]".to_string(),
        Some("document") => "[document]".to_string(),
        _ => json(value),
    }
}

fn thinking(block: Raw<'_>) -> String {
    match block.get_str("thinking") {
        Some(text) if !text.is_empty() => text.into_owned(),
        _ if block.field_is("type", "redacted_thinking") => "[redacted thinking]".to_string(),
        _ => "[thinking without text]".to_string(),
    }
}
