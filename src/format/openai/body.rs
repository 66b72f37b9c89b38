use super::words;
use crate::{
    format::json::Raw,
    model::{Body, Kind, Record},
};

/// One message, block or item of `line`.
pub(super) fn decode(line: &[u8], record: &Record) -> Body {
    let Ok(block) = Raw::prefix(line, record.at as usize) else { return Body::text(String::from_utf8_lossy(line)) };
    let raw = |value: Raw<'_>| String::from_utf8_lossy(value.bytes()).into_owned();
    match record.kind {
        Kind::Call | Kind::ApprovalRequest => call(block),
        Kind::Result | Kind::Error | Kind::Abandoned | Kind::Approval => {
            let said = block.get("content").or_else(|| block.get("output")).or_else(|| block.get("tools"));
            Body::text(said.map_or_else(|| raw(block), content))
        }
        Kind::Thinking => Body::text(thinking(block)),
        Kind::Opaque => Body::text(raw(block)),
        _ => Body::text(content(block.get("content").unwrap_or(block))),
    }
}

fn call(block: Raw<'_>) -> Body {
    let inner = block.get("function").or_else(|| block.get("custom")).unwrap_or(block);
    let kind = block.get_str("type").unwrap_or_default();
    let tool = inner.get_str("name").unwrap_or(kind).into_owned();
    let input = ["arguments", "input", "action", "operation", "code"].iter().find_map(|name| inner.get(name));
    let input = input.map(|value| {
        value.str().map_or_else(|| String::from_utf8_lossy(value.bytes()).into_owned(), std::borrow::Cow::into_owned)
    });
    Body { tool: Some(tool), input, ..Body::default() }
}

fn thinking(block: Raw<'_>) -> String {
    if let Some(text) = block.str() {
        return text.into_owned();
    }
    let text = block.get_str("thinking").map(std::borrow::Cow::into_owned).unwrap_or_default();
    let parts = ["content", "summary"].iter().filter_map(|name| block.get(name)).map(words::text_of);
    let text = std::iter::once(text).chain(parts).find(|text| !text.is_empty());
    text.unwrap_or_else(|| "[thinking without text]".to_string())
}

/// Text of a content value; what is no text is named in brackets.
fn content(value: Raw<'_>) -> String {
    if let Some(text) = value.str() {
        return text.into_owned();
    }
    if value.is_array() {
        let parts: Vec<String> = value.items().map(content).collect();
        return parts.join("\n");
    }
    if let Some(text) = value.get_str("text").or_else(|| value.get_str("refusal")) {
        return text.into_owned();
    }
    match value.get_str("type").as_deref() {
        Some("image" | "image_url" | "input_image") => "[image]".to_string(),
        Some("document" | "file" | "input_file") => "[document]".to_string(),
        Some("compaction") if value.get("content").is_some_and(Raw::is_string) => {
            value.get_str("content").unwrap_or_default().into_owned()
        }
        _ => String::from_utf8_lossy(value.bytes()).into_owned(),
    }
}
