//! Which format a file is, by evidence in its first lines, with the reasons.

use super::{Format, Piece, json::Raw, map::Mapping, pieces};

mod api;

/// Lines after which a file without evidence is no transcript.
pub(super) const PATIENCE: usize = 200;

/// Something in one line that speaks for a format.
#[derive(Clone, Copy)]
struct Evidence {
    why: &'static str,
    /// False: other agents and plain API logs write lines of this shape too, so it only adds to what is strong.
    strong: bool,
}

fn strong(why: &'static str) -> Evidence {
    Evidence { why, strong: true }
}

/// The answer with what spoke for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The format.
    pub format: Format,
    /// Sentences for people, strongest first.
    pub reasons: Vec<String>,
    /// Formats that fit just as well: only a person can say which one it is.
    pub rivals: Vec<Rival>,
}

/// A format that fits just as well as the one that stands first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rival {
    /// The format.
    pub format: Format,
    /// Sentences for people, strongest first.
    pub reasons: Vec<String>,
}

impl Detection {
    /// Every format that fits, the first one included, with its reasons.
    pub fn candidates(&self) -> impl Iterator<Item = (Format, &[String])> {
        let rivals = self.rivals.iter().map(|rival| (rival.format, rival.reasons.as_slice()));
        std::iter::once((self.format, self.reasons.as_slice())).chain(rivals)
    }

    /// Every format that fits.
    pub fn formats(&self) -> impl Iterator<Item = Format> + '_ {
        self.candidates().map(|(format, _)| format)
    }
}

/// Looks at the first whole lines of a file. `None`: nothing here is a transcript that cutline knows.
pub fn detect(lines: &[&[u8]]) -> Option<Detection> {
    let values: Vec<(usize, Raw<'_>)> = lines
        .iter()
        .take(PATIENCE)
        .enumerate()
        .flat_map(|(n, line)| pieces(line).into_iter().map(move |piece| (n + 1, piece)))
        .filter_map(|(n, piece)| match piece {
            Piece::Value { value, .. } if value.is_object() => Some((n, value)),
            _ => None,
        })
        .collect();
    // Formats with code of their own go first; maps are for what none of them knows; what an API takes is in many logs.
    let own = Format::ALL
        .into_iter()
        .filter(|format| !is_api(*format))
        .filter(|format| *format != Format::ClaudeCode || !values.iter().any(|(_, value)| is_qwen(*value)));
    let api = || Format::ALL.into_iter().filter(|format| is_api(*format));
    let strong = |found: &[(usize, Evidence)]| found.iter().any(|(_, evidence)| evidence.strong);
    // Many agents write lines that look like those of an API among others that do not.
    let mostly = |found: &[(usize, Evidence)]| found.len() * 5 >= values.len() * 4;
    // Who wrote a map means it, whatever of ours fits too.
    best(own, &values, strong)
        .or_else(|| best(Mapping::own().into_iter().map(Format::Mapped), &values, strong))
        .or_else(|| best(Mapping::all().into_iter().map(Format::Mapped), &values, strong))
        .or_else(|| best(api(), &values, |found| strong(found) && mostly(found)))
        // Words alone are the same in all of them; what is written by items says so.
        .or_else(|| best(api().filter(|format| *format != Format::OpenAiResponses), &values, mostly))
}

/// Read as what an API takes, whoever wrote it.
fn is_api(format: Format) -> bool {
    matches!(format, Format::Anthropic | Format::OpenAiChat | Format::OpenAiResponses)
}

/// The format that the most lines speak for, then the one with the most strong lines, of those whose evidence is
/// `enough`; what is equal in both is a rival.
fn best(
    formats: impl Iterator<Item = Format>,
    values: &[(usize, Raw<'_>)],
    enough: impl Fn(&[(usize, Evidence)]) -> bool,
) -> Option<Detection> {
    let mut found: Vec<(Format, Vec<(usize, Evidence)>)> = formats
        .map(|format| {
            let of = |(n, value): &(usize, Raw<'_>)| evidence(format, *value).map(|found| (*n, found));
            (format, values.iter().filter_map(of).collect::<Vec<_>>())
        })
        .filter(|(_, evidence)| !evidence.is_empty() && enough(evidence))
        .collect();
    let weight = |evidence: &[(usize, Evidence)]| (evidence.len(), evidence.iter().filter(|(_, e)| e.strong).count());
    let most = found.iter().map(|(_, evidence)| weight(evidence)).max()?;
    found.retain(|(_, evidence)| weight(evidence) == most);
    let mut found = found.into_iter().map(|(format, evidence)| (format, reasons(&evidence, values.len())));
    let (format, reasons) = found.next()?;
    let rivals = found.map(|(format, reasons)| Rival { format, reasons }).collect();
    Some(Detection { format, reasons, rivals })
}

fn reasons(evidence: &[(usize, Evidence)], all: usize) -> Vec<String> {
    let mut out = vec![format!("{} of {all} lines looked at have this shape", evidence.len())];
    for (line, Evidence { why, .. }) in evidence {
        let text = format!("line {line}: {why}");
        if !out.iter().any(|old| old.ends_with(why)) {
            out.push(text);
        }
    }
    out
}

/// What in `value` speaks for `format`.
fn evidence(format: Format, value: Raw<'_>) -> Option<Evidence> {
    match format {
        Format::ClaudeCode => claude(value),
        Format::Codex => codex(value),
        Format::Pi => pi(value),
        Format::OpenCode => opencode(value),
        Format::Cutline => neutral(value),
        Format::Anthropic | Format::OpenAiChat | Format::OpenAiResponses => {
            let (why, strong) = api::evidence(format, value)?;
            Some(Evidence { why, strong })
        }
        Format::Mapped(mapping) => mapping.map().evidence(value).map(|(why, weak)| Evidence { why, strong: !weak }),
    }
}

/// Qwen Code writes the same envelope round messages of another shape.
fn is_qwen(value: Raw<'_>) -> bool {
    value.get("systemPayload").is_some()
        || value.field_is("type", "tool_result")
        || value.path(&["message", "parts"]).is_some()
}

fn claude(value: Raw<'_>) -> Option<Evidence> {
    let kind = value.get_str("type")?;
    if value.get("parentUuid").is_some() && value.get("uuid").is_some() {
        return Some(strong("uuid and parentUuid"));
    }
    if value.get("sessionId").is_some_and(Raw::is_string) && value.get("payload").is_none() {
        return Some(strong("type and sessionId"));
    }
    let alone = matches!(&*kind, "summary" | "file-history-snapshot" | "queue-operation" | "last-prompt");
    let marked = value.get("leafUuid").is_some() || value.get("snapshot").is_some() || value.get("operation").is_some();
    if alone && marked {
        return Some(strong("a metadata line of a Claude Code session"));
    }
    let message = value.get("message").is_some_and(Raw::is_object);
    (message && matches!(&*kind, "user" | "assistant") && value.get("uuid").is_some())
        .then_some(strong("a message with a uuid"))
}

fn opencode(value: Raw<'_>) -> Option<Evidence> {
    let session = |info: Raw<'_>| info.get_str("id").is_some_and(|id| id.starts_with("ses_"));
    let message = |value: Raw<'_>| {
        let info = value.get("info").filter(|info| info.get("role").is_some() && info.get("sessionID").is_some());
        info.is_some() && value.get("parts").is_some_and(Raw::is_array)
    };
    if message(value) {
        return Some(strong("a message with info and parts"));
    }
    let info = value.get("info").filter(|info| info.is_object())?;
    let messages = value.get("messages");
    (session(info) && messages.is_none_or(|messages| messages.items().next().is_none_or(message)))
        .then_some(strong("the info of a session with its id"))
}

fn codex(value: Raw<'_>) -> Option<Evidence> {
    if value.get("record_type").is_some() {
        return Some(strong("record_type"));
    }
    let kind = value.get_str("type");
    if value.get("payload").is_some_and(Raw::is_object) {
        return match kind.as_deref() {
            Some("session_meta") => Some(strong("session_meta with a payload")),
            Some(
                "response_item" | "event_msg" | "turn_context" | "compacted" | "world_state" | "token_usage_record",
            ) => Some(strong("an envelope of type and payload")),
            Some(_) if value.get("timestamp").is_some() => {
                Some(Evidence { why: "an envelope of type and payload", strong: false })
            }
            _ => None,
        };
    }
    if value.get("instructions").is_some() && value.get("id").is_some() && value.get("timestamp").is_some() {
        return Some(strong("a bare session header with instructions"));
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
    (item && bare && value.get("uuid").is_none() && value.get("sessionId").is_none())
        .then_some(Evidence { why: "a bare response item", strong: false })
}

fn pi(value: Raw<'_>) -> Option<Evidence> {
    let kind = value.get_str("type")?;
    let named = |name: &str| value.get(name).is_some_and(Raw::is_string);
    if &*kind == "session" && named("timestamp") && (named("cwd") || value.get("version").is_some()) {
        return Some(strong("a session header with time and folder"));
    }
    let role = value.path(&["message", "role"]).is_some_and(Raw::is_string);
    let entry = match &*kind {
        "message" => role,
        "compaction" => named("summary"),
        "model_change" => named("modelId"),
        "thinking_level_change" => named("thinkingLevel"),
        "custom" | "custom_message" => named("customType"),
        "context_edit" => named("targetId"),
        _ => false,
    };
    if !entry || !named("timestamp") || value.get("uuid").is_some() || named("sessionId") {
        return None;
    }
    let linked = named("id") && value.get("parentId").is_some();
    // Version 1 has no ids.
    let why = if linked { "an entry with id and parentId" } else { "an entry without id" };
    Some(Evidence { why, strong: linked })
}

fn neutral(value: Raw<'_>) -> Option<Evidence> {
    if value.get("cutline").is_some() {
        return Some(strong("a cutline header"));
    }
    let kind = value.get_str("kind")?;
    (super::neutral::is_kind(&kind) && value.get("type").is_none()).then_some(strong("a kind of the neutral format"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Transcript;

    fn found(lines: &[&str]) -> Option<Format> {
        let bytes: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        detect(&bytes).map(|detection| detection.format)
    }

    #[test]
    fn own_lines_are_found() {
        let user = r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"x"}}"#;
        assert_eq!(found(&[user]), Some(Format::ClaudeCode));
        assert_eq!(found(&[r#"{"type":"mode","mode":"x","sessionId":"s"}"#]), Some(Format::ClaudeCode));
        let meta = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}"#;
        assert_eq!(found(&[meta]), Some(Format::Codex));
        assert_eq!(found(&[r#"{"id":"x","timestamp":"t","instructions":null}"#]), Some(Format::Codex));
        assert_eq!(found(&[r#"{"kind":"user","text":"x"}"#]), Some(Format::Cutline));
    }

    #[test]
    fn cousins_are_not_taken_for_it() {
        let note = r#"{"type":"inspector_note","uuid":"n","parentUuid":"a","sessionId":"s"}"#;
        for qwen in [
            r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","parts":[]}}"#,
            r#"{"type":"system","subtype":"ui","uuid":"b","parentUuid":"a","sessionId":"s","systemPayload":{}}"#,
            r#"{"type":"tool_result","uuid":"c","parentUuid":"b","sessionId":"s","toolCallResult":{}}"#,
        ] {
            let name = |lines: &[&str]| found(lines).map(Format::name);
            assert_eq!(name(&[qwen]), Some("qwen"), "{qwen}");
            assert_eq!(name(&[qwen, note]), Some("qwen"), "one line of it tells: {qwen}");
        }
        for (bare, format) in [
            (r#"{"type":"reasoning","id":"rs_1","summary":[]}"#, Some("openai-responses")),
            (r#"{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}"#, Some("openai-responses")),
            (r#"{"role":"user","content":"x"}"#, Some("anthropic")),
            (r#"{"timestamp":"t","type":"session.start","payload":{}}"#, None),
            (r#"{"type":"event","kind":"user"}"#, None),
        ] {
            assert_eq!(found(&[bare, bare]).map(Format::name), format, "{bare}");
        }
    }

    #[test]
    fn bare_items_count_behind_a_header() {
        let header = r#"{"id":"x","timestamp":"t","instructions":null}"#;
        let item = r#"{"type":"message","role":"user","content":[]}"#;
        let lines = [header.as_bytes(), item.as_bytes()];
        assert_eq!(detect(&lines).unwrap().reasons[0], "2 of 2 lines looked at have this shape");
    }

    #[test]
    fn junk_before_the_first_line_is_borne_and_ends() {
        let of = |junk: usize| {
            let mut transcript = Transcript::new(None, "x");
            (0..junk).for_each(|_| transcript.feed(b"junk\n"));
            transcript.feed(b"{\"cutline\":1}\n");
            (transcript.detection().is_some(), transcript.hopeless())
        };
        assert_eq!(of(PATIENCE - 1), (true, false));
        assert_eq!(of(PATIENCE), (false, true));
    }
}
