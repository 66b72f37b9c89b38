//! Choosing the format of a file that fits two equally well, in a real terminal.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests write their inputs")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice, reason = "a test that fails says where")]
#![expect(dead_code, reason = "the harness serves the life of the terminal too")]

#[path = "pty/harness.rs"]
mod harness;
mod twins;

use std::fs;

use harness::{Log, Start, Term};
use twins::SHARED;

fn open(home: &tempfile::TempDir, size: (u16, u16), args: &[&str]) -> Term {
    let start = Start { size, ..Start::default() };
    start.env("XDG_CONFIG_HOME", home.path().display().to_string()).shell(args)
}

#[test]
fn a_format_is_chosen_and_the_file_goes_on() {
    let (home, log) = (twins::configured(), Log::of(SHARED));
    let mut term = open(&home, (60, 15), &[log.path()]);
    term.shows("Which format is it?");
    term.shows("(•) 1 Yard log (yard)");
    term.type_in("j");
    term.shows("(•) 2 Quay log (quay)");
    term.type_in("\r");
    term.shows("moored");
    term.shows("quay");
    log.append(&SHARED.replace("moored", "she sails"));
    term.shows("she sails");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
    assert_eq!(fs::read_to_string(&log.path).unwrap().lines().count(), 4);
}

#[test]
fn a_file_that_comes_later_is_asked_about_when_it_comes() {
    let (home, log) = (twins::configured(), Log::absent());
    let mut term = open(&home, (80, 24), &[log.path()]);
    term.shows("waiting for the file");
    fs::write(&log.path, SHARED).unwrap();
    term.shows("Which format is it?");
    term.type_in("2\r");
    term.shows("moored");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn a_session_of_the_list_is_asked_about_and_left() {
    let (home, claude) = (twins::configured(), tempfile::tempdir().unwrap());
    let folder = claude.path().join("projects/-srv-x");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("0f3c1c1e-0000-4000-8000-000000000001.jsonl"), SHARED).unwrap();
    let start = Start::default().env("XDG_CONFIG_HOME", home.path().display().to_string());
    let mut term = start.env("CLAUDE_CONFIG_DIR", claude.path().display().to_string()).shell(&[]);
    term.shows("1 sessions on this machine");
    term.type_in("\r");
    term.shows("Which format is it?");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn standard_input_is_read_again_from_memory() {
    let (home, log) = (twins::configured(), Log::of(SHARED));
    let start = Start::default().env("XDG_CONFIG_HOME", home.path().display().to_string());
    let mut term = start.script(r#"cat "$2" | "$1" -; echo "code=$?.""#, &[log.path()]);
    term.shows("Which format is it?");
    term.type_in("2\r");
    term.shows("moored");
    term.type_in("q");
    assert!(term.ends().success());
}
