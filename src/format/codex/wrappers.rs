//! Which user-role messages are a person's, which the client wrote itself, and which are a summary.

use std::borrow::Cow;

use crate::format::json::Raw;

/// First words of every summary that Codex puts into a user message (0.59 and later). Older clients wrote the
/// summary raw; there it cannot be told from a prompt, and neither can the client.
const SUMMARY_START: &str = "Another language model started to solve this problem";
/// The whole preamble, byte for byte as the client writes it: by it the next compaction of its own replaces ours.
pub(super) const SUMMARY_PREFIX: &str = "Another language model started to solve this problem and produced a summary of \
    its thinking process. You also have access to the state of the tools that were used by that language model. Use this \
    to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other \
    language model, use the information in this summary to assist with your own analysis:";

/// Start and end of texts in the user's name that the client wrote (`is_contextual_user_message` upstream).
const WRAPPERS: [(&str, &str); 14] = [
    ("# AGENTS.md instructions", "</INSTRUCTIONS>"),
    ("<environment_context>", "</environment_context>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
    ("<codex_internal_context", "</codex_internal_context>"),
    ("<goal_context>", "</goal_context>"),
    ("<skill>", "</skill>"),
    ("<hook_prompt", "</hook_prompt>"),
    ("Warning: The maximum number of unified exec processes you can keep open is", ""),
    ("Warning: Your account was flagged for potentially high-risk cyber activity", ""),
    ("Warning: apply_patch was requested via ", "Use the apply_patch tool instead of exec_command."),
];

/// True if `text` is a wrapper of the client, not something a person typed.
pub(super) fn is_wrapper(text: &str) -> bool {
    let text = text.trim();
    WRAPPERS.iter().any(|(start, end)| text.starts_with(start) && text.ends_with(end)) || is_external(text)
}

/// `<external_KEY>...</external_KEY>` with any key.
fn is_external(text: &str) -> bool {
    let key = text.strip_prefix("<external_").and_then(|rest| rest.split_once('>')).map(|(key, _)| key);
    key.is_some_and(|key| text.ends_with(&format!("</external_{key}>")))
}

/// True if one text part of `content` is a wrapper: then the whole message is.
pub(super) fn is_contextual(content: Raw<'_>) -> bool {
    content
        .items()
        .filter(|part| part.field_is("type", "input_text"))
        .any(|part| part.get_str("text").is_some_and(|text| is_wrapper(&text)))
}

/// True if `text` is a summary that Codex wrote.
pub(super) fn is_summary(text: &str) -> bool {
    text.starts_with(SUMMARY_START)
}

/// The text of a content field: a string, or the texts of its parts on lines of their own.
pub(super) fn text_of(content: Raw<'_>) -> Cow<'_, str> {
    if let Some(text) = content.str() {
        return text;
    }
    let mut parts = content.items().filter_map(|part| part.get_str("text")).filter(|text| !text.is_empty());
    let Some(first) = parts.next() else { return Cow::Borrowed("") };
    parts.fold(first, |mut all, part| {
        all.to_mut().push('\n');
        all.to_mut().push_str(&part);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_need_both_ends() {
        for (text, wrapper) in [
            ("  <environment_context>\n</environment_context>\n", true),
            ("<environment_context> what does this tag mean?", false),
            ("# AGENTS.md instructions for /x\n</INSTRUCTIONS>", true),
            ("<external_jira>a</external_jira>", true),
            ("<external_jira>a</external_other>", false),
            ("<codex_internal_context source=\"goal\">x</codex_internal_context>", true),
            ("Run fast and slow", false),
        ] {
            assert_eq!(is_wrapper(text), wrapper, "{text}");
        }
    }

    #[test]
    fn one_wrapper_part_makes_the_message_contextual() {
        let raw = Raw::parse(
            br#"[{"type":"input_text","text":"hi"},{"type":"input_text","text":"<turn_aborted>x</turn_aborted>"}]"#,
        )
        .unwrap();
        assert!(is_contextual(raw));
        assert_eq!(text_of(raw), "hi\n<turn_aborted>x</turn_aborted>");
    }
}
