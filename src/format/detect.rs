//! Which format a file is, by evidence in its first lines, with the reasons.

use super::{Format, Piece, json::Raw, pieces};

/// Lines that count as evidence; more do not change the answer on any sample.
const LINES: usize = 40;

/// The answer with what spoke for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The format.
    pub format: Format,
    /// Sentences for people, strongest first.
    pub reasons: Vec<String>,
}

/// Looks at the first whole lines of a file. `None`: nothing here is a transcript that cutline knows.
pub fn detect(lines: &[&[u8]]) -> Option<Detection> {
    let values: Vec<(usize, Raw<'_>)> = lines
        .iter()
        .take(LINES)
        .enumerate()
        .flat_map(|(n, line)| pieces(line).into_iter().map(move |piece| (n + 1, piece)))
        .filter_map(|(n, piece)| match piece {
            Piece::Value { value, .. } if value.is_object() => Some((n, value)),
            _ => None,
        })
        .collect();
    let mut best: Option<(usize, Detection)> = None;
    for format in Format::ALL {
        let evidence: Vec<(usize, &'static str)> =
            values.iter().filter_map(|(n, value)| evidence(format, *value).map(|why| (*n, why))).collect();
        if best.as_ref().is_none_or(|(score, _)| evidence.len() > *score) && !evidence.is_empty() {
            best = Some((evidence.len(), Detection { format, reasons: reasons(&evidence, values.len()) }));
        }
    }
    best.map(|(_, detection)| detection)
}

fn reasons(evidence: &[(usize, &'static str)], all: usize) -> Vec<String> {
    let mut out = vec![format!("{} of {all} lines looked at have this shape", evidence.len())];
    for (line, why) in evidence {
        let text = format!("line {line}: {why}");
        if !out.iter().any(|old| old.ends_with(why)) {
            out.push(text);
        }
    }
    out
}

/// What in `value` speaks for `format`.
fn evidence(format: Format, value: Raw<'_>) -> Option<&'static str> {
    match format {
        Format::ClaudeCode => claude(value),
        Format::Codex => codex(value),
        Format::Cutline => neutral(value),
    }
}

fn claude(value: Raw<'_>) -> Option<&'static str> {
    let kind = value.get_str("type")?;
    if value.get("parentUuid").is_some() && value.get("uuid").is_some() {
        return Some("uuid and parentUuid");
    }
    if value.get("sessionId").is_some() && value.get("payload").is_none() {
        return Some("type and sessionId");
    }
    let alone = matches!(&*kind, "summary" | "file-history-snapshot" | "queue-operation" | "last-prompt");
    let marked = value.get("leafUuid").is_some() || value.get("snapshot").is_some() || value.get("operation").is_some();
    if alone && marked {
        return Some("a metadata line of a Claude Code session");
    }
    let message = value.get("message").is_some_and(Raw::is_object);
    (message && matches!(&*kind, "user" | "assistant") && value.get("uuid").is_some())
        .then_some("a message with a uuid")
}

fn codex(value: Raw<'_>) -> Option<&'static str> {
    if value.get("record_type").is_some() {
        return Some("record_type");
    }
    let kind = value.get_str("type");
    if value.get("payload").is_some_and(Raw::is_object) {
        return match kind.as_deref() {
            Some("session_meta") => Some("session_meta with a payload"),
            Some(
                "response_item" | "event_msg" | "turn_context" | "compacted" | "world_state" | "token_usage_record",
            ) => Some("an envelope of type and payload"),
            Some(_) if value.get("timestamp").is_some() => Some("an envelope of type and payload"),
            _ => None,
        };
    }
    if value.get("instructions").is_some() && value.get("id").is_some() && value.get("timestamp").is_some() {
        return Some("a bare session header with instructions");
    }
    let item = matches!(
        kind.as_deref(),
        Some(
            "message"
                | "reasoning"
                | "function_call"
                | "function_call_output"
                | "local_shell_call"
                | "custom_tool_call"
        )
    );
    let bare = value.get("call_id").is_some() || value.get("summary").is_some() || value.get("role").is_some();
    (item && bare && value.get("uuid").is_none() && value.get("sessionId").is_none()).then_some("a bare response item")
}

fn neutral(value: Raw<'_>) -> Option<&'static str> {
    if value.get("cutline").is_some() {
        return Some("a cutline header");
    }
    let kind = value.get_str("kind")?;
    super::neutral::is_kind(&kind).then_some("a kind of the neutral format")
}
