//! The life of the terminal, with the real binary in a pseudo terminal.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests write the files that are followed")]
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that fails says where")]

#[path = "pty/harness.rs"]
mod harness;

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    path::PathBuf,
};

use harness::Pty;

const SAMPLE: &str = "sample-sessions/critical.jsonl";

fn line(n: usize) -> String {
    format!("{{\"kind\":\"user\",\"text\":\"message number {n}\"}}\n")
}

/// A growing file in a folder of its own.
struct Growing {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Growing {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("live.jsonl");
        Self { _folder: folder, path }
    }

    fn append(&self, text: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn name(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

#[test]
fn starts_and_quits() {
    let mut pty = Pty::start(&[SAMPLE], &[]);
    pty.shows("REFUSE");
    pty.shows("Open obligations 3");
    pty.keys("q");
    assert_eq!(pty.end().exit_code(), 0);
    pty.assert_restored();
}

#[test]
fn follows_a_file_that_appears_grows_and_is_replaced() {
    let growing = Growing::new();
    let mut pty = Pty::start(&[growing.name()], &[]);
    pty.shows("waiting for the file");
    growing.append("{\"cutline\":1,\"session\":\"s\",\"window\":1000}\n");
    for n in 0..3 {
        growing.append(&line(n));
        pty.shows(&format!("message number {n}"));
    }
    let half = line(3);
    growing.append(&half[..20]);
    pty.keys("R");
    growing.append(&half[20..]);
    pty.shows("message number 3");
    let other = growing.path.with_extension("new");
    fs::write(&other, format!("{{\"cutline\":1,\"window\":1000}}\n{}", line(77))).unwrap();
    fs::rename(&other, &growing.path).unwrap();
    pty.shows("message number 77");
    pty.shows("withdrawn");
    pty.until("the old records are gone", |screen| !screen.contents().contains("message number 2"));
    pty.keys("q");
    assert_eq!(pty.end().exit_code(), 0);
    pty.assert_restored();
}

#[test]
fn moving_up_pauses_and_counts() {
    let growing = Growing::new();
    growing.append("{\"cutline\":1,\"window\":100000}\n");
    (0..40).for_each(|n| growing.append(&line(n)));
    let mut pty = Pty::start(&[growing.name()], &[]);
    pty.shows("message number 39");
    pty.keys("kkk");
    pty.shows("paused");
    (40..47).for_each(|n| growing.append(&line(n)));
    pty.shows("7 new");
    pty.keys("G");
    pty.shows("message number 46");
    pty.keys("g/number 12\r");
    pty.shows("match 1/1");
    pty.keys("q");
    assert_eq!(pty.end().exit_code(), 0);
}

#[test]
fn ctrl_c_leaves_with_130() {
    let mut pty = Pty::start(&[SAMPLE], &[]);
    pty.shows("REFUSE");
    pty.keys("\u{3}");
    assert_eq!(pty.end().exit_code(), 130);
    pty.assert_restored();
}

#[test]
fn signals_restore_and_end_by_that_signal() {
    for (name, words) in [("TERM", "Terminated"), ("HUP", "Hangup"), ("INT", "Interrupt"), ("QUIT", "Quit")] {
        let mut pty = Pty::start(&[SAMPLE], &[]);
        pty.shows("REFUSE");
        pty.signal(name);
        let status = pty.end();
        assert!(status.to_string().contains(words), "{name}: {status}");
        pty.assert_restored();
    }
}

#[test]
fn suspended_and_back_whole() {
    for by_key in [true, false] {
        let mut pty = Pty::start(&[SAMPLE], &[]);
        pty.shows("REFUSE");
        if by_key {
            pty.keys("\u{1a}")
        } else {
            pty.signal("TSTP")
        }
        pty.until_state('T');
        pty.until("the screen is given back", |screen| !screen.alternate_screen());
        pty.assert_restored();
        pty.signal("CONT");
        pty.until("the screen is taken again", vt100::Screen::alternate_screen);
        pty.shows("Open obligations 3");
        pty.keys("q");
        assert_eq!(pty.end().exit_code(), 0);
        pty.assert_restored();
    }
}

#[test]
#[cfg(debug_assertions)]
fn panics_restore_first() {
    for (place, code) in [("main", 101), ("thread", 70)] {
        let mut pty = Pty::start(&[SAMPLE], &[("CUTLINE_TEST_PANIC", place)]);
        assert_eq!(pty.end().exit_code(), code, "{place}");
        pty.shows("cutline failed");
        pty.assert_restored();
    }
}

#[test]
fn a_resize_storm_is_survived() {
    let mut pty = Pty::start(&[SAMPLE], &[]);
    pty.shows("REFUSE");
    for n in 0..60u16 {
        pty.resize(1 + n * 7 % 60, 1 + n * 13 % 200);
    }
    pty.resize(1, 1);
    pty.resize(24, 80);
    pty.keys("?");
    pty.shows("MOVE");
    pty.keys("\u{1b}");
    pty.until("help is closed", |screen| !screen.contents().contains("MOVE"));
    pty.keys("q");
    assert_eq!(pty.end().exit_code(), 0);
    pty.assert_restored();
}

#[test]
fn a_paste_is_no_command() {
    let mut pty = Pty::start(&[SAMPLE], &[]);
    pty.shows("REFUSE");
    pty.keys("\u{1b}[200~q\u{1b}[201~");
    pty.shows("pasted text is ignored");
    pty.keys("q");
    assert_eq!(pty.end().exit_code(), 0);
}

#[test]
fn data_from_a_pipe_keys_from_the_terminal() {
    let mut pty = Pty::shell("cat sample-sessions/critical.jsonl | $CUTLINE -", &[]);
    pty.shows("input ended");
    pty.shows("REFUSE");
    pty.keys("q");
    assert_eq!(pty.end().exit_code(), 0);
    pty.assert_restored();
}

#[test]
fn a_dumb_terminal_gets_plain_text() {
    let mut pty = Pty::start(&[SAMPLE], &[("TERM", "dumb")]);
    assert_eq!(pty.end().exit_code(), 0);
    assert!(!pty.bytes().contains(&0x1b), "no escape byte");
    assert!(pty.contents().contains("legal cut") || !pty.bytes().is_empty());
}

#[test]
fn what_is_no_transcript_draws_nothing() {
    let mut pty = Pty::start(&["README.md"], &[]);
    assert_eq!(pty.end().exit_code(), 15);
    pty.shows("is not a transcript");
    assert!(!pty.bytes().windows(8).any(|bytes| bytes == b"\x1b[?1049h"), "the screen was never taken");
}

#[test]
fn the_demo_plays_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut pty = Pty::start(&["demo", "--speed", "400"], &[("TMPDIR", folder.path().to_str().unwrap())]);
    pty.shows("REFUSE");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    pty.keys("q");
    assert_eq!(pty.end().exit_code(), 0);
    pty.assert_restored();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn choosing_among_sessions() {
    let home = tempfile::tempdir().unwrap();
    let empty = home.path().to_str().unwrap();
    let env = [("HOME", empty), ("CLAUDE_CONFIG_DIR", ""), ("CODEX_HOME", "")];
    let mut pty = Pty::start(&[], &env);
    pty.shows("No sessions");
    pty.keys("q");
    assert_eq!(pty.end().exit_code(), 0);
    let project = home.path().join(".claude/projects/-p");
    fs::create_dir_all(&project).unwrap();
    fs::copy("sample-sessions/compact.jsonl", project.join("one.jsonl")).unwrap();
    let mut pty = Pty::start(&[], &env);
    pty.shows("1 sessions on this machine");
    pty.keys("\r");
    pty.shows("COMPACT");
    pty.keys("q");
    assert_eq!(pty.end().exit_code(), 0);
    pty.assert_restored();
}
