//! Which calls only look: they change nothing, so a summary need not account for them. What is not known to be a look
//! counts as a side effect.

use crate::{format::json::Raw, model::Body};

/// Tools that only show something, or that keep the agent's own notes (the todo list is an identifier). Without `_`.
const LOOKS: [&str; 37] = [
    "read",
    "readfile",
    "readmanyfiles",
    "readtextfile",
    "grep",
    "grepsearch",
    "glob",
    "globfilesearch",
    "ls",
    "view",
    "viewimage",
    "cat",
    "list",
    "listdir",
    "listdirectory",
    "listfiles",
    "search",
    "searchfiles",
    "filesearch",
    "codebasesearch",
    "searchfilecontent",
    "find",
    "findfiles",
    "toolsearch",
    "notebookread",
    "websearch",
    "webfetch",
    "bashoutput",
    "taskoutput",
    "tasklist",
    "taskget",
    "todowrite",
    "todoread",
    "updateplan",
    "taskcreate",
    "taskupdate",
    "lsp",
];

/// Programs of a shell that only show something, whatever their arguments.
const SHOWS: [&str; 31] = [
    "ls", "cat", "head", "tail", "grep", "egrep", "rg", "wc", "pwd", "cd", "which", "stat", "file", "tree", "du", "df",
    "ps", "whoami", "id", "uname", "date", "basename", "dirname", "realpath", "readlink", "cut", "tr", "diff", "jq",
    "nl", "true",
];

/// Parts of `git` that only show something.
const GIT: [&str; 9] = ["status", "log", "diff", "show", "blame", "rev-parse", "ls-files", "describe", "shortlog"];

/// Words by which a query of a database does more than look.
const ACTS: [&str; 8] = [" into ", " for update", " for share", "pg_", "nextval", "setval", "lo_", "dblink"];

/// True if the call is known to change nothing.
pub(super) fn is_look(tool: &str, body: &Body) -> bool {
    let tool = tool.to_ascii_lowercase().replace(['_', '-'], "");
    if LOOKS.contains(&tool.as_str()) {
        return true;
    }
    if let Some(query) = statement(body) {
        return only_asks(&query);
    }
    script(body).is_some_and(|script| script_looks(&script))
}

/// The statement of a call to a database.
pub(super) fn statement(body: &Body) -> Option<String> {
    let raw = Raw::parse(body.input.as_deref()?.as_bytes()).ok()?;
    ["sql", "statement"].iter().find_map(|name| raw.get_str(name)).map(std::borrow::Cow::into_owned)
}

/// The whole script of a shell call.
fn script(body: &Body) -> Option<String> {
    let raw = Raw::parse(body.input.as_deref()?.as_bytes()).ok()?;
    let value = ["command", "cmd"].iter().find_map(|name| raw.get(name))?;
    if let Some(text) = value.str() {
        return Some(text.into_owned());
    }
    let words: Vec<String> = value.items().filter_map(|item| item.str().map(std::borrow::Cow::into_owned)).collect();
    match words.as_slice() {
        [shell, flag, script] if flag.starts_with('-') && shell.ends_with("sh") => Some(script.clone()),
        _ => Some(words.join(" ")),
    }
}

fn only_asks(query: &str) -> bool {
    let query = query.trim().trim_end_matches(';').to_ascii_lowercase();
    let asks = ["select ", "show ", "describe ", "explain select "].iter().any(|word| query.starts_with(word));
    asks && !query.contains(';') && !ACTS.iter().any(|word| query.contains(word))
}

/// Every command of the script only shows something. Quotes are not understood: a doubt makes it an effect.
fn script_looks(script: &str) -> bool {
    let plain = script.replace("2>/dev/null", "").replace("2>&1", "").replace(">/dev/null", "");
    let doubtful = plain.contains(['>', '`']) || plain.contains("$(") || plain.contains("<(");
    let mut commands =
        plain.split(['\n', ';', '|', '&']).map(str::trim).filter(|command| !command.is_empty()).peekable();
    !doubtful && commands.peek().is_some() && commands.all(command_looks)
}

fn command_looks(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let Some(program) = words.next() else { return true };
    let arguments: Vec<&str> = words.collect();
    let has = |flags: &[&str]| arguments.iter().any(|word| flags.iter().any(|flag| word.starts_with(flag)));
    match program {
        "git" => {
            let part = arguments.iter().find(|word| !word.starts_with('-'));
            part.is_some_and(|part| GIT.contains(part)) && !has(&["--output", "-c", "-C", "--ext-diff"])
        }
        // A script of `sed` can write files: only the printing of lines is known.
        "sed" => {
            let prints = |word: &&&str| word.chars().all(|c| c.is_ascii_digit() || ",p$'\"".contains(c));
            arguments.first() == Some(&"-n") && arguments.get(1).as_ref().is_some_and(prints) && !has(&["-i", "--in"])
        }
        "find" => !has(&["-delete", "-exec", "-ok", "-fprint", "-fls"]),
        "sort" => !has(&["-o", "--output"]),
        "tree" | "rg" | "date" | "file" | "diff" => !has(&["-o", "--pre", "-s", "--set", "-C", "--output"]),
        program => SHOWS.contains(&program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(command: &str) -> Body {
        let input = serde_json::json!({ "command": command }).to_string();
        Body { input: Some(input), ..Body::default() }
    }

    #[test]
    fn looks_and_effects() {
        for look in
            ["ls -l", "cat a | grep b", "git status && git log -3", "sed -n 1,9p a.rs", "cd x; rg y 2>/dev/null"]
        {
            assert!(is_look("Bash", &shell(look)), "{look}");
        }
        for effect in [
            "cargo test",
            "cat a > b",
            "git commit -m x",
            "find . -delete",
            "ls $(rm a)",
            "sed -i s/a/b/ c",
            "ls\nrm a",
            "",
        ] {
            assert!(!is_look("Bash", &shell(effect)), "{effect}");
        }
        assert!(is_look("Read", &Body::default()));
        assert!(!is_look("mcp__mail__send", &Body::default()));
        let query = |sql: &str| Body { input: Some(serde_json::json!({ "sql": sql }).to_string()), ..Body::default() };
        assert!(is_look("sql", &query("SELECT a FROM b;")));
        assert!(!is_look("sql", &query("SELECT a INTO c FROM b")));
        assert!(!is_look("sql", &query("SELECT 1; DROP TABLE b")));
    }
}
