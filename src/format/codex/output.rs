//! What a tool's output says: its text in the three forms that stand on disk, its exit code, and how it ended.

use std::borrow::Cow;

use super::wrappers::text_of;
use crate::format::json::Raw;

/// What stands between the client's own header of an output and what the command wrote.
pub(super) const OWN: &str = "\nOutput:\n";

/// How a call ended, by its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Success, as far as the text says.
    Fine,
    /// Failure.
    Failed,
    /// A person said no; nothing was executed.
    Denied,
    /// The client broke it off: outcome unknown.
    Aborted,
    /// Somebody closed it as abandoned with a line of their own.
    Abandoned,
}

/// Texts by which the client itself reports that a call could not be carried out.
const FAILURES: [&str; 7] = [
    "unsupported custom tool call",
    "unsupported call",
    "failed to parse function arguments",
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "execution error",
];
/// Texts by which the client reports a refusal.
const REFUSALS: [&str; 3] = ["exec command rejected by user", "patch rejected by user", "rejected by user"];
/// Texts of a line that was appended to close a call without a result.
const ABANDONED: [&str; 2] = ["abandoned by operator", "abandoned by the operator"];

/// The text of `output`: a string, an array of content items, or an object (which 0.171 refuses to load).
pub(super) fn text(output: Raw<'_>) -> Cow<'_, str> {
    if output.is_object() {
        let inner = output.get("content").or_else(|| output.get("output"));
        return inner.map(text_of).unwrap_or_default();
    }
    text_of(output)
}

/// The part before the command's own output, where the client writes its facts.
pub(super) fn head(text: &str) -> &str {
    text.split_once(OWN).map_or(text, |(head, _)| head)
}

/// The whole number after `label` in `head`.
fn number_after<'a>(head: &'a str, label: &str) -> Option<&'a str> {
    let (_, rest) = head.split_once(label)?;
    let end = rest
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || (*at == 0 && *c == '-')))
        .map_or(rest.len(), |(at, _)| at);
    rest.get(..end).filter(|digits| digits.ends_with(|c: char| c.is_ascii_digit()))
}

/// Session id of a process that goes on after this output.
pub(super) fn running(text: &str) -> Option<&str> {
    number_after(head(text), "Process running with session ID ")
}

/// True if the process of this output has ended.
pub(super) fn exited(text: &str) -> bool {
    number_after(head(text), "Process exited with code ").is_some()
}

/// Exit code: of the JSON form (to 0.10x), or of the plain text.
pub(super) fn exit_code(text: &str) -> Option<i64> {
    if let Some(raw) = json_form(text) {
        let code = raw.path(&["metadata", "exit_code"])?;
        return std::str::from_utf8(code.bytes()).ok()?.parse().ok();
    }
    let head = head(text);
    let labelled = number_after(head, "Process exited with code ");
    let code = labelled.or_else(|| head.starts_with("Exit code: ").then(|| number_after(head, "Exit code: "))?)?;
    code.parse().ok()
}

/// Wall time as it is written, with its unit.
pub(super) fn wall_time(text: &str) -> Option<String> {
    if let Some(raw) = json_form(text) {
        let seconds = raw.path(&["metadata", "duration_seconds"])?;
        return Some(format!("{} s", String::from_utf8_lossy(seconds.bytes())));
    }
    let (_, rest) = head(text).split_once("Wall time: ")?;
    let line = rest.lines().next()?.trim();
    Some(line.strip_suffix(" seconds").map_or_else(|| line.to_string(), |n| format!("{n} s")))
}

/// The output inside the JSON form, for people.
pub(super) fn inner(text: &str) -> Option<String> {
    Some(json_form(text)?.get_str("output")?.into_owned())
}

/// `{"output":...,"metadata":{...}}` in a string; an arbitrary object of a tool is not taken for it.
fn json_form(text: &str) -> Option<Raw<'_>> {
    let raw = text.starts_with('{').then(|| Raw::parse(text.as_bytes()).ok())??;
    raw.get("metadata").is_some_and(Raw::is_object).then_some(raw)
}

/// How the call ended. `failed` says that a display line before the output already reported a failure.
pub(super) fn outcome(text: &str, failed: bool) -> Outcome {
    let trimmed = text.trim_end();
    if trimmed == "aborted" || trimmed.starts_with("aborted by user") || trimmed.ends_with("\naborted by user") {
        return Outcome::Aborted;
    }
    let starts = |list: &[&str]| list.iter().any(|start| text.starts_with(start));
    if starts(&ABANDONED) {
        Outcome::Abandoned
    } else if starts(&REFUSALS) {
        Outcome::Denied
    } else if failed || starts(&FAILURES) || exit_code(text).is_some_and(|code| code != 0) {
        Outcome::Failed
    } else {
        Outcome::Fine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_of_all_forms() {
        for (text, outcome_wanted, code) in [
            (r#"{"output":"hello\n","metadata":{"exit_code":0,"duration_seconds":0.1}}"#, Outcome::Fine, Some(0)),
            (r#"{"output":"","metadata":{"exit_code":101}}"#, Outcome::Failed, Some(101)),
            (r#"{"ok":false}"#, Outcome::Fine, None),
            ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n", Outcome::Failed, Some(2)),
            ("Chunk ID: 1\nOutput:\nProcess exited with code 2", Outcome::Fine, None),
            ("Exit code: -1\nWall time: 1 seconds\nOutput:\nx", Outcome::Failed, Some(-1)),
            ("aborted", Outcome::Aborted, None),
            ("aborted by user after 2.0s", Outcome::Aborted, None),
            ("Wall time: 3.3 seconds\naborted by user\n", Outcome::Aborted, None),
            ("unsupported custom tool call: x", Outcome::Failed, None),
            ("exec command rejected by user", Outcome::Denied, None),
            ("abandoned by operator: outcome unknown", Outcome::Abandoned, None),
        ] {
            assert_eq!(outcome(text, false), outcome_wanted, "{text}");
            assert_eq!(exit_code(text), code, "{text}");
        }
    }

    #[test]
    fn sessions_are_read_from_the_head_only() {
        assert_eq!(running("Wall time: 1\nProcess running with session ID 37953\nOutput:\n"), Some("37953"));
        assert_eq!(running("Wall time: 1\nOutput:\nProcess running with session ID 1"), None);
        assert_eq!(wall_time("Chunk ID: a\nWall time: 0.5014 seconds\nOutput:\n").as_deref(), Some("0.5014 s"));
    }
}
