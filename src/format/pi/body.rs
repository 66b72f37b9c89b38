use std::borrow::Cow;

use crate::{
    format::{Piece, envelope::Envelope, json::Raw, pieces},
    model::{Body, Kind, Record},
};

/// Decodes one record of `line` for people.
pub(super) fn decode(line: &[u8], record: &Record) -> Body {
    let Ok(block) = Raw::prefix(line, record.at as usize) else {
        return Body::text(String::from_utf8_lossy(line));
    };
    let mut body = match record.kind {
        Kind::Call => Body {
            tool: block.get_str("name").map(Cow::into_owned),
            input: block.get("arguments").map(json),
            ..Body::default()
        },
        Kind::Thinking => Body::text(thinking(block)),
        Kind::Notice => Body::text(notice(block)),
        Kind::Opaque => Body::text(json(block)),
        _ => Body::text(content(block)),
    };
    if let Some(entry) = entry(line, record.at) {
        facts(&entry, record.kind, &mut body.facts);
    }
    body
}

/// The whole value of the line that the byte `at` belongs to: a damaged line can hold two.
fn entry(line: &[u8], at: u32) -> Option<Envelope<'_>> {
    pieces(line).into_iter().find_map(|piece| match piece {
        Piece::Value { value, .. } => {
            let (start, len) = value.range();
            (start..start.saturating_add(len)).contains(&at).then(|| Envelope::of(value))
        }
        Piece::Gap(..) | Piece::Corrupt(..) => None,
    })
}

fn json(value: Raw<'_>) -> String {
    String::from_utf8_lossy(value.bytes()).into_owned()
}

/// Text of a content value or of one block; what is no text is named in brackets.
fn content(value: Raw<'_>) -> String {
    if let Some(text) = value.str() {
        return text.into_owned();
    }
    if value.is_array() {
        return value.items().map(block_text).collect::<Vec<_>>().join("\n");
    }
    block_text(value)
}

fn block_text(block: Raw<'_>) -> String {
    match block.get_str("type").as_deref() {
        Some("text") => block.get_str("text").unwrap_or_default().into_owned(),
        Some("image") => "[image]".to_string(),
        _ if block.field_is("role", "bashExecution") => command(block),
        _ => block.str().map_or_else(|| json(block), Cow::into_owned),
    }
}

/// A command that a person ran, as pi tells it to the model.
fn command(message: Raw<'_>) -> String {
    let text = |name| message.get_str(name).unwrap_or_default().into_owned();
    let output = text("output");
    let output = if output.is_empty() { "(no output)".to_string() } else { output };
    format!("Ran `{}`\n{output}", text("command"))
}

fn thinking(block: Raw<'_>) -> String {
    match block.get_str("thinking") {
        Some(text) if !text.is_empty() => text.into_owned(),
        _ if block.get("redacted").and_then(Raw::bool) == Some(true) => "[redacted thinking]".to_string(),
        _ => "[thinking without text]".to_string(),
    }
}

/// What a line says that no model reads: the one field that matters, else its JSON.
fn notice(block: Raw<'_>) -> String {
    if block.field_is("role", "bashExecution") {
        return command(block);
    }
    let names = ["errorMessage", "modelId", "thinkingLevel", "label", "name", "summary", "content"];
    names
        .iter()
        .find_map(|name| block.get_str(name).filter(|text| !text.is_empty()))
        .map_or_else(|| json(block), Cow::into_owned)
}

fn facts(entry: &Envelope<'_>, kind: Kind, out: &mut Vec<(String, String)>) {
    let mut add = |name: &str, value: Option<Raw<'_>>| {
        let Some(value) = value.filter(|value| !value.is_null()) else { return };
        let text = value.str().map_or_else(|| json(value), Cow::into_owned);
        if !text.is_empty() {
            out.push((name.to_string(), text));
        }
    };
    add("type", entry.get("type").filter(|name| !name.is("message")));
    add("custom type", entry.get("customType"));
    add("tokens before", entry.get("tokensBefore"));
    let Some(message) = entry.object("message") else { return };
    for (name, field) in MESSAGE {
        add(name, message.get(field));
    }
    if kind.is_response_part() || kind == Kind::Notice {
        let usage = message.get("usage");
        for (name, field) in USAGE {
            add(name, usage.and_then(|usage| usage.get(field)));
        }
    }
    let details = message.get("details").filter(|details| details.is_object());
    add("exit code", details.and_then(|details| details.get("exitCode")));
    add("whole output", details.and_then(|details| details.get("fullOutputPath")));
}

/// Facts of a message and their names for people.
const MESSAGE: [(&str, &str); 7] = [
    ("model", "model"),
    ("stop reason", "stopReason"),
    ("error", "errorMessage"),
    ("tool", "toolName"),
    ("duration ms", "durationMs"),
    ("exit code", "exitCode"),
    ("whole output", "fullOutputPath"),
];

/// Token counts of a response and their names for people.
const USAGE: [(&str, &str); 5] = [
    ("input tokens", "input"),
    ("cache read", "cacheRead"),
    ("cache write", "cacheWrite"),
    ("output tokens", "output"),
    ("total tokens", "totalTokens"),
];
