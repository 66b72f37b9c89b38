//! What a call acts on, in a few words: its command, path, query or prompt.

use std::borrow::Cow;

use crate::{format::json::Raw, model::Body};

/// Argument keys whose value says most about a call, best first.
const KEYS: [&str; 22] = [
    "command",
    "cmd",
    "file_path",
    "path",
    "notebook_path",
    "filename",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "skill",
    "task_id",
    "shell_id",
    "bash_id",
    "session_id",
    "name",
    "subject",
    "question",
    "text",
    "input",
    "id",
];

/// The target of a call: one raw line of the transcript, unshortened. `None` if the input says nothing.
pub fn target(body: &Body) -> Option<String> {
    let input = body.input.as_deref()?;
    let Ok(raw) = Raw::parse(input.as_bytes()) else {
        return patch_file(input).or_else(|| first_line(input));
    };
    if let Some(text) = raw.str() {
        return patch_file(&text).or_else(|| first_line(&text));
    }
    let best = KEYS.iter().find_map(|key| raw.get(key).and_then(|value| text_of(key, value)));
    best.or_else(|| raw.fields().find_map(|(key, value)| text_of(&key.str(), value)))
}

/// A string as it is; a list of words as a command line; of anything else nothing.
fn text_of(key: &str, value: Raw<'_>) -> Option<String> {
    if let Some(text) = value.str() {
        return patch_file(&text).or_else(|| first_line(&text));
    }
    if !value.is_array() {
        return None;
    }
    let words: Vec<String> = value.items().filter_map(|item| item.str().map(Cow::into_owned)).collect();
    let words = match words.as_slice() {
        // A shell that runs a script says less than the script.
        [shell, flag, script] if flag.starts_with('-') && shell.ends_with("sh") => vec![script.clone()],
        _ => words,
    };
    let line = words.join(" ");
    (key != "id" && !line.is_empty()).then(|| first_line(&line)).flatten()
}

/// The first file that a patch names.
fn patch_file(text: &str) -> Option<String> {
    let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/"];
    text.starts_with("*** Begin Patch")
        .then(|| text.lines().find_map(|line| marks.iter().find_map(|mark| line.strip_prefix(mark))))
        .flatten()
        .map(str::to_string)
}

fn first_line(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets() {
        for (input, want) in [
            (r#"{"description":"run","command":"cargo test -p billing\n"}"#, Some("cargo test -p billing")),
            (r#"{"command":["bash","-lc","ls -l"],"workdir":"/x"}"#, Some("ls -l")),
            (r#"{"file_path":"src/main.rs","content":"x"}"#, Some("src/main.rs")),
            ("*** Begin Patch\n*** Update File: src/a.rs\n", Some("src/a.rs")),
            (r#"{"odd":"value"}"#, Some("value")),
            ("{}", None),
        ] {
            let body = Body { input: Some(input.to_string()), ..Body::default() };
            assert_eq!(target(&body).as_deref(), want, "{input}");
        }
    }
}
