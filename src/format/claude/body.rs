use super::envelope::Envelope;
use crate::{
    format::{Piece, json::Raw, pieces},
    model::{Body, Kind, Record},
};

/// Decodes one record of `line` for people.
pub(super) fn decode(line: &[u8], record: &Record) -> Body {
    let raw = || Body::text(String::from_utf8_lossy(line));
    let Ok(block) = Raw::prefix(line, record.at as usize) else { return raw() };
    let mut body = match record.kind {
        Kind::Call => Body {
            tool: block.get_str("name").map(std::borrow::Cow::into_owned),
            input: block.get("input").map(json),
            ..Body::default()
        },
        Kind::Result | Kind::Error | Kind::Abandoned => {
            Body::text(block.get("content").map(content).unwrap_or_default())
        }
        Kind::Thinking => Body::text(thinking(block)),
        Kind::Notice => Body::text(notice(block)),
        Kind::Opaque => Body::text(json(block)),
        _ => Body::text(content(block)),
    };
    if let Some(envelope) = envelope(line, record.at) {
        facts(&envelope, record.kind, &mut body.facts);
    }
    body
}

/// The whole value of the line that the byte `at` belongs to: a damaged line can hold two.
fn envelope(line: &[u8], at: u32) -> Option<Envelope<'_>> {
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

/// Lists in lists that are taken apart; real content has one level.
const DEPTH: usize = 4;

/// Text of a message, a block, or a list of blocks; what is no text is named in brackets.
fn content(value: Raw<'_>) -> String {
    content_at(value, 0)
}

fn content_at(value: Raw<'_>, depth: usize) -> String {
    if let Some(text) = value.str() {
        return text.into_owned();
    }
    if value.is_array() && depth < DEPTH {
        let parts: Vec<String> = value.items().map(|item| content_at(item, depth + 1)).collect();
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

/// The text of a system line or an attachment, else its JSON.
fn notice(block: Raw<'_>) -> String {
    let texts = ["content", "prompt", "text", "stdout", "description"];
    let found = texts.iter().find_map(|name| block.get(name).filter(|value| value.is_string() || value.is_array()));
    found.map_or_else(|| json(block), content)
}

fn facts(line: &Envelope<'_>, kind: Kind, out: &mut Vec<(String, String)>) {
    let mut add = |name: &str, value: Option<Raw<'_>>| {
        let Some(value) = value.filter(|value| !value.is_null()) else { return };
        let text = value.str().map_or_else(|| json(value), std::borrow::Cow::into_owned);
        if !text.is_empty() {
            out.push((name.to_string(), text));
        }
    };
    if let Some(message) = line.object("message").filter(|message| message.is("role", "assistant")) {
        add("model", message.get("model"));
        add("stop reason", message.get("stop_reason"));
        for (name, field) in USAGE {
            add(name, message.get("usage").and_then(|usage| usage.get(field)));
        }
        add("error", line.get("error"));
        add("error details", line.get("errorDetails"));
    }
    add("type", line.get("subtype").or_else(|| line.get("attachment").and_then(|inner| inner.get("type"))));
    if kind == Kind::Notice {
        add("attempt", line.get("retryAttempt"));
        add("of", line.get("maxRetries"));
        add("duration ms", line.get("durationMs"));
        for (name, field) in COMPACTION {
            add(name, line.get("compactMetadata").and_then(|metadata| metadata.get(field)));
        }
    }
    if kind.is_resolution() {
        add("denial", line.get("toolDenialKind"));
        for (name, field) in REPORT {
            add(name, line.get("toolUseResult").and_then(|report| report.get(field)));
        }
    }
}

/// Token counts of a message and their names for people.
const USAGE: [(&str, &str); 4] = [
    ("input tokens", "input_tokens"),
    ("cache read", "cache_read_input_tokens"),
    ("cache write", "cache_creation_input_tokens"),
    ("output tokens", "output_tokens"),
];

/// What a boundary says of its compaction.
const COMPACTION: [(&str, &str); 4] = [
    ("trigger", "trigger"),
    ("tokens before", "preTokens"),
    ("tokens after", "postTokens"),
    ("compaction ms", "durationMs"),
];

/// What the runtime reports of a tool beside the text that the model got.
const REPORT: [(&str, &str); 9] = [
    ("status", "status"),
    ("exit code", "exitCode"),
    ("code", "code"),
    ("interrupted", "interrupted"),
    ("duration ms", "durationMs"),
    ("total ms", "totalDurationMs"),
    ("background task", "backgroundTaskId"),
    ("agent", "agentId"),
    ("whole output", "persistedOutputPath"),
];
