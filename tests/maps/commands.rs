//! `cutline formats`, `formats check`, `--map`, and the folder of the user's own maps.
#![expect(clippy::disallowed_methods, reason = "puts maps into a folder of the test")]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

const MAP: &str = r#"format = "mine"
title = "Mine"
reads = "*.jsonl"
[tells]
open = true
results = true
ids = "unique"
usage = false
window = false
[[evidence]]
when = { "/verb" = { exists = true } }
why = "a verb"
[[rule]]
when = { "/verb" = "run" }
emit = "call"
id = "/n"
name = "/what"
[[rule]]
when = { "/verb" = "ran" }
emit = "result"
id = "/n"
"#;
const LINES: &str = "{\"verb\":\"run\",\"n\":1,\"what\":\"ls\\u001b[31m\"}\n{\"verb\":\"ran\",\"n\":1}\n{\"verb\":\"run\",\"n\":2}\n{\"verb\":\"odd\"}\n";

fn run(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cutline"));
    command.args(words).env("XDG_CONFIG_HOME", home).env_remove("CUTLINE_CONFIG").output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_list_is_a_document_and_lines() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), &["formats", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["schema"], "cutline.formats/1");
    let formats = document["formats"].as_array().unwrap();
    let of = |name: &str| formats.iter().find(|format| format["name"] == name).unwrap();
    assert_eq!((&of("codex")["read_by"], &of("copilot")["read_by"]), (&"code".into(), &"map".into()));
    assert_eq!(of("gemini")["capabilities"]["shows_open"], false);
    assert!(text(&run(home.path(), &["formats"])).contains("GitHub Copilot CLI (map)"));
}

#[test]
fn a_map_is_checked_line_by_line() {
    let home = tempfile::tempdir().unwrap();
    let (map, file) = (home.path().join("mine.toml"), home.path().join("x.jsonl"));
    fs::write(&map, MAP).unwrap();
    fs::write(&file, LINES).unwrap();
    let (map, file) = (map.to_str().unwrap(), file.to_str().unwrap());
    let output = run(home.path(), &["formats", "check", map, file]);
    let said = text(&output);
    assert!(output.status.success(), "{said}");
    for words in [
        "     1  rule 13   call              1  ls",
        "     2  rule 18   result            1",
        "     4  no rule: kept as it is  {verb}",
        "2 calls, 1 results, 1 open, 0 orphans, 0 duplicates; 1 not understood",
        "open: line 3  2",
        "1 × {verb} has no rule",
    ] {
        assert!(said.contains(words), "`{words}` is not in\n{said}");
    }
    assert!(!said.contains('\u{1b}'), "text of a transcript does not reach a terminal as it is");
    let inspected = text(&run(home.path(), &["inspect", file, "--map", map, "--json"]));
    let document: serde_json::Value = serde_json::from_str(&inspected).unwrap();
    assert_eq!((&document["format"], &document["file"]["open"]), (&"mine".into(), &1.into()));
    assert_eq!(run(home.path(), &["inspect", file]).status.code(), Some(15), "without the map it is unknown");
}

#[test]
fn maps_of_the_folder_are_known_and_a_wrong_one_stops_nothing() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("cutline/formats");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("mine.toml"), MAP).unwrap();
    fs::write(folder.join("other.toml"), MAP.replace("emit = \"call\"", "emit = \"cal\"")).unwrap();
    let file = home.path().join("x.jsonl");
    fs::write(&file, LINES).unwrap();
    let output = run(home.path(), &["inspect", file.to_str().unwrap(), "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["format"], "mine");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("other.toml: line 15: `emit` is `cal`") && said.contains("left out"), "{said}");
    let output = run(home.path(), &["inspect", file.to_str().unwrap(), "--format", "mine", "--json"]);
    assert!(output.status.success());
}

#[test]
fn a_map_that_is_wrong_or_missing_is_a_usage_error() {
    let home = tempfile::tempdir().unwrap();
    for (words, wanted) in [
        (vec!["formats", "check", "/nowhere.toml", "x.jsonl"], "/nowhere.toml"),
        (vec!["inspect", "x.jsonl", "--map", "/nowhere.toml"], "/nowhere.toml"),
        (vec!["inspect", "x.jsonl", "--map", "a", "--format", "codex"], "cannot be used with"),
    ] {
        let output = run(home.path(), &words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(text(&output).contains(wanted), "{}", text(&output));
    }
}
