//! The first run: sessions found on this machine, the demo, and following while one looks around.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests write their inputs")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice, reason = "a test that fails says where")]

#[path = "pty/harness.rs"]
#[expect(dead_code, reason = "shared with the tests of the terminal's life")]
mod harness;

use std::fs;

use harness::{Log, Start};

fn line(n: usize) -> String {
    format!("{{\"kind\":\"user\",\"text\":\"message number {n}\"}}\n")
}

#[test]
fn moving_up_pauses_and_counts() {
    let log = Log::of("{\"cutline\":1,\"window\":100000}\n");
    (0..40).for_each(|n| log.append(&line(n)));
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("message number 39");
    term.type_in("kkk");
    term.shows("paused");
    (40..47).for_each(|n| log.append(&line(n)));
    term.shows("7 new");
    term.type_in("G");
    term.shows("message number 46");
    term.type_in("g/number 12\r");
    term.shows("match 1/1");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn the_next_match_is_found_while_the_file_grows() {
    let log = Log::of("{\"cutline\":1,\"window\":100000}\n");
    (0..40).for_each(|n| log.append(&line(n)));
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("message number 39");
    term.type_in("g/number 1\r");
    term.shows("match 1/11");
    for n in 40..43 {
        log.append(&line(n));
        term.shows(&format!("{} new", n - 39));
        term.type_in("n");
        term.shows(&format!("match {}/11", n - 38));
    }
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn a_last_line_without_a_newline_counts_once_the_input_has_ended() {
    let log = Log::of("{\"cutline\":1}\n{\"kind\":\"user\",\"text\":\"the last word\"}");
    let script = r#"echo "before=$(stty -g)"; cat "$2" | "$1" -; code=$?; echo "after=$(stty -g)"; echo "code=$code.""#;
    let mut term = Start::default().script(script, &[log.path()]);
    term.shows("input ended");
    term.shows("the last word");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn the_demo_plays_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let start = Start::default().env("TMPDIR", folder.path().to_str().unwrap());
    let mut term = start.shell(&["demo", "--speed", "400"]);
    term.shows("REFUSE");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    term.type_in("q");
    assert_eq!(term.restored(), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn choosing_among_sessions() {
    let home = tempfile::tempdir().unwrap();
    let name = home.path().to_str().unwrap();
    let start = || Start::default().env("HOME", name).env("CLAUDE_CONFIG_DIR", "").env("CODEX_HOME", "");
    let mut term = start().shell(&[]);
    term.shows("No sessions");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
    let project = home.path().join(".claude/projects/-p");
    fs::create_dir_all(&project).unwrap();
    fs::copy("sample-sessions/compact.jsonl", project.join("one.jsonl")).unwrap();
    let mut term = start().shell(&[]);
    term.shows("on this machine, newest first");
    term.type_in("\r");
    term.shows("COMPACT");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}
