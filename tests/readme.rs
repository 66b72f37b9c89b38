//! The README tells the truth: its console blocks are run, its tables of keys and formats are generated.
//! `UPDATE_DOCS=1 cargo test --test readme` writes the tables anew.
#![expect(clippy::disallowed_methods, reason = "writes the generated tables")]
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{fmt::Write as _, fs, process::Command};

use cutline::{
    export::FormatsReport,
    ui::{Group, action_table},
};

const KEYS: [&str; 2] = ["<!-- keys -->\n", "<!-- /keys -->"];
const FORMATS: [&str; 2] = ["<!-- formats -->\n", "<!-- /formats -->"];

/// A command of a console block with what it must print.
#[derive(Debug, PartialEq)]
struct Step {
    command: String,
    expected: Vec<String>,
    code: i32,
}

/// Commands of the blocks marked `console`: `$ cutline …`, then its output; `...` stands for anything, `? 11` for the
/// exit code.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), line.strip_prefix("? "), steps.last_mut()) {
                (Some(command), ..) => {
                    steps.push(Step { command: command.to_string(), expected: Vec::new(), code: 0 });
                }
                (_, Some(code), Some(step)) => step.code = code.parse().unwrap(),
                (_, _, Some(step)) => step.expected.push(line.to_string()),
                _ => {}
            },
        }
    }
    steps
}

/// `want` with `...` for any run of characters, and for any number of lines where it stands alone.
fn matches(want: &[String], got: &[&str]) -> bool {
    match want.split_first() {
        None => got.is_empty(),
        Some((first, rest)) if first == "..." => {
            (0..=got.len()).any(|n| matches(rest, got.get(n..).unwrap_or_default()))
        }
        Some((first, rest)) => got.split_first().is_some_and(|(line, tail)| fits(first, line) && matches(rest, tail)),
    }
}

fn fits(want: &str, got: &str) -> bool {
    let parts: Vec<&str> = want.split("...").collect();
    let (Some(head), Some(tail)) = (parts.first(), parts.last()) else { return false };
    if parts.len() == 1 {
        return want.trim_end() == got.trim_end();
    }
    let Some(mut rest) = got.strip_prefix(head) else { return false };
    for part in parts.iter().take(parts.len() - 1).skip(1) {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(tail)
}

#[test]
fn console_blocks_print_what_they_say() {
    let readme = fs::read_to_string("README.md").unwrap();
    let steps = steps(&readme);
    assert!(steps.len() >= 3, "README.md has too few console blocks: {}", steps.len());
    for step in steps {
        let words: Vec<&str> = step.command.split_whitespace().collect();
        assert_eq!(words.first(), Some(&"cutline"), "{}", step.command);
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutline"));
        let output = command.args(words.iter().skip(1)).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(matches(&step.expected, &lines), "`{}` printed\n{text}", step.command);
        assert_eq!(output.status.code(), Some(step.code), "{}", step.command);
    }
}

#[test]
fn the_reader_of_blocks_reads_them() {
    let text = "```console\n$ cutline x\nfirst ... last\n...\n? 11\n```\n```sh\n$ not this\n```\n";
    let read = steps(text);
    assert_eq!(read.len(), 1);
    assert_eq!(read.first().map(|step| step.code), Some(11));
    let want: Vec<String> = read.into_iter().next().unwrap().expected;
    assert!(matches(&want, &["first and last", "more", "and more"]));
    assert!(!matches(&want, &["first and not"]));
}

fn key_table() -> String {
    let mut out = "\n| key | action | what it does |\n|---|---|---|\n".to_string();
    for group in Group::ALL {
        let _ = writeln!(out, "| | **{}** | |", group.title());
        for (_, name, keys, _, doc) in action_table().iter().filter(|(_, _, _, of, _)| *of == group) {
            let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            let _ = writeln!(out, "| {} | {name} | {doc} |", keys.join(" "));
        }
    }
    out.push('\n');
    out
}

/// The README has `table` between the marks, or gets it.
fn is_generated([open, close]: [&str; 2], table: &str) {
    let readme = fs::read_to_string("README.md").unwrap();
    let (head, rest) = readme.split_once(open).unwrap();
    let (kept, tail) = rest.split_once(close).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write("README.md", format!("{head}{open}{table}{close}{tail}")).unwrap();
        return;
    }
    assert_eq!(kept, table, "UPDATE_DOCS=1 writes it anew");
}

// One test for both: they write the same file.
#[test]
fn the_tables_are_generated() {
    is_generated(KEYS, &key_table());
    is_generated(FORMATS, &format!("\n{}\n", FormatsReport::new().table()));
}

#[test]
fn the_examples_of_help_can_be_pasted() {
    let help = Command::new(env!("CARGO_BIN_EXE_cutline")).arg("--help").output().unwrap();
    let text = String::from_utf8(help.stdout).unwrap();
    let examples = text.split("Examples:").nth(1).unwrap();
    let mut run = 0;
    for line in examples.lines().map(str::trim).filter(|line| line.contains("--json")) {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let output = Command::new(env!("CARGO_BIN_EXE_cutline")).args(&words).output().unwrap();
        assert!(output.stdout.starts_with(b"{\"schema\""), "{line}");
        run += 1;
    }
    assert!(run >= 2, "{text}");
}
