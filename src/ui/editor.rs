//! The operator's own editor with a private file in it.

use std::{
    env,
    fs::OpenOptions,
    io::{self, IsTerminal as _, Read as _, Seek as _, Write as _},
    process::{Command, Stdio},
};

use crate::model::show_line;

/// Bytes of an edited text at most.
const MOST: u64 = 4 << 20;

/// Lets the operator change `text` in `$VISUAL`, `$EDITOR` or `vi`, in a file that only they can read and that is gone
/// afterwards. The terminal must be free.
///
/// # Errors
/// A sentence: there is no such editor, it failed, or what it left is no text.
pub(super) fn edit(text: &str) -> Result<String, String> {
    let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
    let command = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_string());
    let shown = show_line(&command);
    let words = shell_words::split(&command).map_err(|error| format!("{shown}: {error}."))?;
    let Some((program, arguments)) = words.split_first() else {
        return Err("$VISUAL or $EDITOR names no program.".to_string());
    };
    let io = |error: io::Error| format!("{shown}: {error}. The summary stays as it was.");
    // Made with mode 0600 in the system's folder for such files.
    let mut file = tempfile::Builder::new().prefix("cutline-").suffix(".md").tempfile().map_err(io)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(io)?;
    let mut editor = Command::new(program);
    editor.args(arguments).arg(file.path());
    if !io::stdin().is_terminal() {
        // The transcript came through standard input; keys come from the terminal itself.
        editor.stdin(OpenOptions::new().read(true).open("/dev/tty").map_or_else(|_| Stdio::inherit(), Stdio::from));
    }
    let ended = editor.status().map_err(io)?;
    if !ended.success() {
        return Err(format!("{shown} ended with an error; the summary stays as it was"));
    }
    // By name: many editors put a new file in the place of the old one.
    let mut left = String::new();
    let mut read = OpenOptions::new().read(true).open(file.path()).map_err(io)?;
    read.rewind().map_err(io)?;
    read.take(MOST).read_to_string(&mut left).map_err(io)?;
    Ok(left)
}
