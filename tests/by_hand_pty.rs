//! The operator's hand in a real terminal: a file is written, undone, edited for, and the source stays as it is.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests write their inputs")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice, reason = "a test that fails says where")]
#![expect(dead_code, reason = "the harness serves the life of the terminal too")]

#[path = "pty/harness.rs"]
mod harness;

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use harness::{Log, Start, Term, eventually};

/// A transcript of its own with a state folder of its own.
struct Bench {
    log: Log,
    state: tempfile::TempDir,
    source: Vec<u8>,
}

impl Bench {
    fn new() -> Self {
        let text = fs::read_to_string("sample-sessions/refuse.jsonl").unwrap();
        let log = Log::of(&text);
        Self { log, state: tempfile::tempdir().unwrap(), source: text.into_bytes() }
    }

    fn start(&self) -> Start {
        let state = self.state.path().display().to_string();
        let start = Start { size: (120, 40), ..Start::default() };
        start.env("XDG_STATE_HOME", state).env("USER", "jo")
    }

    fn open(&self) -> Term {
        let term = self.start().shell(&[self.log.path()]);
        term.shows("REFUSE");
        term
    }

    /// Transcripts beside the source.
    fn others(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.log.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| *path != self.log.path && path.extension().is_some_and(|e| e == "jsonl")).collect()
    }

    fn untouched(&self) {
        assert_eq!(fs::read(&self.log.path).unwrap(), self.source, "the source was touched");
    }
}

fn stage(term: &mut Term) {
    term.type_in("g]oa");
    term.shows("Close transaction #2");
    term.shows("REFUSE becomes COMPACT");
    term.type_in("the server was restarted\r\r\rh-rw\r");
    term.shows("0 + 1 staged");
    term.shows("COMPACT");
}

#[test]
fn a_refusal_is_resolved_by_hand_written_and_undone() {
    let bench = Bench::new();
    let mut term = bench.open();
    stage(&mut term);
    term.type_in("c");
    term.shows("CUT PREVIEW");
    term.shows("nothing written yet");
    assert_eq!(bench.others(), Vec::<PathBuf>::new());
    term.type_in("C");
    term.shows("Commit into a new session file");
    assert_eq!(bench.others(), Vec::<PathBuf>::new());
    term.type_in("commit\r");
    term.shows("Committed");
    let written = bench.others();
    assert_eq!(written.len(), 1, "{written:?}");
    bench.untouched();
    term.type_in("\ru");
    term.shows("Undo the commit");
    term.type_in("undo\r");
    term.shows("The commit is undone");
    assert_eq!(bench.others(), Vec::<PathBuf>::new());
    bench.untouched();
    term.type_in("\rq");
    term.shows("Something is staged");
    term.type_in("\r");
    assert_eq!(term.restored(), 0);
}

#[test]
fn what_is_staged_survives_a_crash() {
    let bench = Bench::new();
    let mut term = bench.open();
    stage(&mut term);
    harness::send("KILL", term.own_pid());
    drop(term);
    let mut term = bench.start().shell(&[bench.log.path()]);
    term.shows("staged from an earlier run");
    term.shows("COMPACT");
    term.type_in("uq");
    assert_eq!(term.restored(), 0);
    bench.untouched();
}

#[test]
fn records_that_come_under_the_question_are_kept_word_for_word() {
    let bench = Bench::new();
    let mut term = bench.open();
    stage(&mut term);
    term.type_in("cC");
    term.shows("Commit into a new session file");
    let late = "{\"kind\":\"assistant\",\"text\":\"a late heron\",\"response\":\"r99\"}\n";
    bench.log.append(late);
    term.shows("yes: 1 records came");
    term.type_in("commit\r");
    term.shows("Committed");
    let written = bench.others();
    let text = fs::read_to_string(written.first().unwrap()).unwrap();
    assert!(text.ends_with(late), "{text}");
    term.type_in("\rq");
    assert_eq!(term.restored(), 0);
}

#[test]
fn the_editor_has_the_terminal_to_itself() {
    let bench = Bench::new();
    let script = bench.state.path().join("editor");
    // Reads a line of keys itself, and says what its file may be read by.
    let text = "#!/bin/sh\nprintf 'EDITOR READY'\nread words\nstat -c 'mode %a' \"$1\" > \"$0.mode\"\necho \"$words\" > \"$1\"\n";
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut term = bench.start().env("VISUAL", script.display().to_string()).shell(&[bench.log.path()]);
    term.shows("REFUSE");
    stage(&mut term);
    term.type_in("ce");
    term.shows("EDITOR READY");
    term.type_in("qqq herons by hand\n");
    term.shows("qqq herons by hand");
    term.shows("written by hand");
    assert_eq!(fs::read_to_string(bench.state.path().join("editor.mode")).unwrap(), "mode 600\n");
    // Keys are read again afterwards.
    term.type_in("x");
    term.shows("back to the built-in extract");
    term.type_in("\u{1b}");
    term.shows("Transcript");
    term.type_in("uq");
    assert_eq!(term.restored(), 0);
    eventually("nothing is written", || bench.others().is_empty());
}

/// The preview with a summariser at work that is this script.
fn summarising(bench: &Bench, script: &str) -> Term {
    let command = bench.state.path().join("summarise");
    fs::write(&command, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).unwrap();
    let mut term = bench.start().env("CUTLINE_SUMMARISER", command.display().to_string()).shell(&[bench.log.path()]);
    term.shows("REFUSE");
    stage(&mut term);
    term.type_in("cS");
    term
}

#[test]
fn a_summariser_that_fails_costs_nothing() {
    let bench = Bench::new();
    let mut term = summarising(&bench, "cat > /dev/null; exit 3");
    term.shows("exit code 3");
    term.shows("built-in extract");
    term.type_in("\u{3}");
    assert_eq!(term.restored(), 130);
    bench.untouched();
}

#[test]
fn a_summariser_that_hangs_is_ended_by_escape() {
    let bench = Bench::new();
    let mut term = summarising(&bench, "echo $$ > \"$0.pid\"; exec tail -f /dev/null");
    term.shows("Esc ends it");
    let pid = bench.state.path().join("summarise.pid");
    let named = || fs::read_to_string(&pid).ok().and_then(|text| text.trim().parse::<u32>().ok());
    eventually("the summariser runs", || named().is_some());
    term.type_in("\u{1b}");
    term.shows("the summariser was ended");
    term.shows("CUT PREVIEW");
    let pid = named().unwrap();
    eventually("the summariser is gone", || harness::process(pid).is_none());
    term.type_in("\u{3}");
    assert_eq!(term.restored(), 130);
}
