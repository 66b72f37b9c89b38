//! The life of the terminal: whatever happens, it is given back as it was, and the exit code says what happened.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests write their inputs")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::string_slice, reason = "a test that fails says where")]

#[path = "pty/harness.rs"]
mod harness;

use std::{
    fs,
    io::Write as _,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use harness::{Log, Start, child_of, eventually, process, send};

const LOG: &str = r#"{"cutline":1,"session":"t","window":10000}
{"kind":"user","text":"count the herons"}
{"kind":"call","id":"c1","tool":"Bash","input":{"command":"ls -l"},"response":"r1"}
{"kind":"result","id":"c1","content":"a heron"}
{"kind":"assistant","text":"one heron seen","response":"r2"}
"#;

fn said(text: &str) -> String {
    format!("{{\"kind\":\"user\",\"text\":\"{text}\"}}\n")
}

/// A call that was made now and has no result.
fn open_call() -> String {
    let now = jiff::Timestamp::now();
    let input = r#"{"command":"sleep"}"#;
    format!("{{\"kind\":\"call\",\"id\":\"c9\",\"tool\":\"Bash\",\"input\":{input},\"time\":\"{now}\"}}\n")
}

// What is followed.

#[test]
fn shows_a_transcript() {
    let log = Log::of(LOG);
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("count the herons");
    term.shows("one heron seen");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn follows_appended_lines_and_ages_go_on() {
    let log = Log::of(LOG);
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("one heron seen");
    for word in ["first egret", "second egret", "third egret"] {
        log.append(&said(word));
        term.shows(word);
    }
    log.append(&open_call());
    term.shows("Open obligations 1");
    let aged = |s: u32| move |screen: &vt100::Screen, _: &str| screen.contents().contains(&format!(" {s}s "));
    term.until("an age of 2 s", aged(2));
    term.until("an age of 3 s", aged(3));
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn waits_for_a_file_that_is_not_there_yet() {
    let log = Log::absent();
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("waiting for the file");
    log.append(LOG);
    term.shows("one heron seen");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn half_a_line_is_held_back() {
    let log = Log::of(LOG);
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("one heron seen");
    let line = said("a late bittern");
    let (half, rest) = line.split_at(line.len() - 4);
    log.append(half);
    term.shows("torn last line");
    assert!(!term.contents().contains("bittern"), "{}", term.contents());
    log.append(rest);
    term.shows("a late bittern");
    term.until("no torn line", |screen, _| !screen.contents().contains("torn last line"));
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn a_replaced_file_is_read_anew_and_said_so() {
    let log = Log::of(LOG);
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("one heron seen");
    let new = log.folder.path().join("new");
    fs::write(&new, "{\"cutline\":1,\"session\":\"t\"}\n{\"kind\":\"user\",\"text\":\"only a coot\"}\n").unwrap();
    fs::rename(&new, &log.path).unwrap();
    term.shows("withdrawn");
    term.shows("only a coot");
    assert!(!term.contents().contains("one heron seen"));
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn a_document_that_is_caught_half_written_leaves_the_last_whole_one_on_screen() {
    let list = |words: &str| {
        let call = r#"{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"count","arguments":"{}"}}]}"#;
        format!("[\n {{\"role\":\"user\",\"content\":\"{words}\"}},\n {call}\n]\n")
    };
    let log = Log::of(&list("one heron seen"));
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("one heron seen");
    let mut newer = "one heron seen";
    for (n, words) in ["two herons seen", "three herons seen", "no heron left"].into_iter().enumerate() {
        let text = list(words);
        let (half, rest) = text.split_at([30, 3, 0][n]);
        fs::write(&log.path, half).unwrap();
        term.shows("stale: half rewritten");
        assert!(term.contents().contains(newer), "{}", term.contents());
        fs::OpenOptions::new().append(true).open(&log.path).unwrap().write_all(rest.as_bytes()).unwrap();
        term.shows(words);
        newer = words;
    }
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn standard_input_is_read_while_keys_come_from_the_terminal() {
    let log = Log::of(LOG);
    let mut term = Start::default().script(
        r#"echo "before=$(stty -g)"; cat "$2" | "$1" -; code=$?; echo "after=$(stty -g)"; echo "code=$code.""#,
        &[log.path()],
    );
    term.shows("one heron seen");
    term.shows("input ended");
    term.type_in("?");
    term.shows("half a page down");
    term.type_in("qq");
    assert_eq!(term.restored(), 0);
}

#[test]
fn the_keyboard_is_no_transcript() {
    let mut term = Start::default().shell(&["-"]);
    assert_eq!(term.restored(), 2);
    assert!(term.contents().contains("cat FILE | cutline -"), "{}", term.contents());
    assert!(!term.text().contains('\u{1b}'));
}

// Ways to end.

#[test]
fn ctrl_c_leaves_from_anywhere() {
    for keys in ["", "/her", "?", "]"] {
        let log = Log::of(LOG);
        let mut term = Start::default().shell(&[log.path()]);
        term.shows("one heron seen");
        term.type_in(keys);
        term.type_in("\u{3}");
        assert_eq!(term.restored(), 130, "after {keys:?}");
    }
}

#[test]
fn signals_restore_the_terminal() {
    for (signal, code) in [("TERM", 143), ("HUP", 129), ("INT", 130), ("QUIT", 131)] {
        let log = Log::of(LOG);
        let mut term = Start::default().shell(&[log.path()]);
        let pid = term.pid();
        term.shows("one heron seen");
        send(signal, pid);
        assert_eq!(term.restored(), code, "after SIG{signal}");
    }
}

#[test]
fn signals_end_the_program_by_themselves() {
    for (signal, name) in [("TERM", "Terminated"), ("HUP", "Hangup"), ("INT", "Interrupt"), ("QUIT", "Quit")] {
        let log = Log::of(LOG);
        let mut term = Start::default().alone(&[log.path()]);
        term.shows("one heron seen");
        send(signal, term.own_pid());
        let status = term.ends();
        assert_eq!(status.signal(), Some(name), "{status:?}");
    }
}

#[test]
fn a_signal_ends_it_even_if_the_terminal_takes_no_bytes() {
    let log = Log::of(LOG);
    let mut term = Start::default().alone(&[log.path()]);
    term.shows("one heron seen");
    term.pause_reading(true);
    let blocked = || fs::read_to_string(format!("/proc/{}/wchan", term.own_pid())).unwrap_or_default();
    // Frame after frame, until the terminal is full.
    for n in 0..400 {
        term.resize(150 + n % 50, 50);
        thread::sleep(Duration::from_millis(2));
        if blocked().contains("tty") || blocked().contains("write") {
            break;
        }
    }
    send("TERM", term.own_pid());
    assert_eq!(term.ends().signal(), Some("Terminated"));
}

#[test]
fn suspended_and_continued() {
    let log = Log::of(LOG);
    // With job control of its own, as a person's shell has.
    let script = r#"set -m
echo "before=$(stty -g)"
"$@"
echo "stopped=$? $(stty -g)."
read line
fg
code=$?
echo "after=$(stty -g)"
echo "code=$code."
"#;
    for by_key in [true, false] {
        let mut term = Start::default().script(script, &[log.path()]);
        term.shows("one heron seen");
        if by_key {
            term.type_in("\u{1a}");
        } else {
            let pid = child_of(term.own_pid());
            send("TSTP", pid);
        }
        term.until("the shell again", |_, text| text.contains("stopped=") && text.ends_with(".\r\n"));
        let text = term.text();
        let before = text.split("before=").nth(1).unwrap().split('\r').next().unwrap();
        assert!(text.contains(&format!(" {before}.")), "the settings while stopped: {text}");
        term.until("the primary screen", |screen, _| !screen.alternate_screen() && !screen.hide_cursor());
        // The size changes meanwhile, of which only the foreground is told.
        term.resize(120, 40);
        log.append(&said("seen after a rest"));
        term.type_in("\n");
        term.until("the screen again", |screen, _| screen.alternate_screen());
        term.shows("one heron seen");
        term.shows("seen after a rest");
        term.until("the new size", |screen, _| screen.rows(0, 120).nth(39).is_some_and(|row| row.contains("move")));
        term.type_in("q");
        assert_eq!(term.restored(), 0);
    }
}

#[test]
fn a_pipeline_is_suspended_whole() {
    let log = Log::of(LOG);
    let script = r#"set -m
echo "before=$(stty -g)"
tail -f "$2" | "$1" -
echo "stopped=$?."
read line
fg
code=$?
echo "after=$(stty -g)"
echo "code=$code."
"#;
    let mut term = Start::default().script(script, &[log.path()]);
    term.shows("one heron seen");
    term.type_in("\u{1a}");
    term.until("the shell again", |_, text| text.contains("stopped="));
    log.append(&said("seen after a rest"));
    term.type_in("\n");
    term.shows("seen after a rest");
    // The writer is stopped by Ctrl-C of the cooked terminal once cutline has left.
    term.type_in("q");
    term.until("the primary screen", |screen, _| !screen.alternate_screen());
    log.append(&said("a last word for a reader that is gone"));
    log.append(&said("and one more"));
    assert_eq!(term.restored(), 0);
}

#[test]
fn in_a_window_of_its_own_it_cannot_be_suspended() {
    let log = Log::of(LOG);
    let mut term = Start::default().alone(&[log.path()]);
    term.shows("one heron seen");
    term.type_in("\u{1a}");
    term.shows("not suspended");
    term.type_in("q");
    assert_eq!(term.ends().exit_code(), 0);
}

#[test]
fn stopped_and_continued_by_others_it_draws_anew() {
    let log = Log::of(LOG);
    let mut term = Start::default().shell(&[log.path()]);
    let pid = term.pid();
    term.shows("one heron seen");
    send("STOP", pid);
    eventually("it is stopped", || process(pid).is_some_and(|(state, _)| state == 'T'));
    let clears = |text: &str| text.matches("\x1b[?1049h").count();
    let before = clears(&term.text());
    send("CONT", pid);
    term.until("the screen anew", |_, text| clears(text) > before);
    term.shows("one heron seen");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

/// The hook for this is not part of a release.
#[cfg(debug_assertions)]
#[test]
fn a_panic_is_told_after_the_restore() {
    for (place, code) in [("main", 101), ("thread", 70)] {
        let log = Log::of(LOG);
        let mut term = Start::default().env("CUTLINE_TEST_PANIC", place).shell(&[log.path()]);
        assert_eq!(term.restored(), code, "panic in {place}");
        let contents = term.contents().replace('\n', "");
        assert!(contents.contains("cutline failed at src/ui/run.rs"), "{contents}");
        assert!(contents.contains("asked␛[31m for"), "{contents}");
        assert!(contents.contains("The transcript was not touched."), "{contents}");
    }
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    // By SIGHUP, also where none comes because the terminal is not that of the session, and whichever is noticed
    // first.
    for controlling in [true, false] {
        let log = Log::of(LOG);
        let start = Start { controlling, ..Start::default() };
        let mut term = start.alone(&[log.path()]);
        term.shows("one heron seen");
        let pid = term.own_pid();
        term.hang_up();
        let status = term.ends();
        assert_eq!(status.signal(), Some("Hangup"));
        assert!(process(pid).is_none());
    }
}

#[test]
fn it_ends_while_a_large_file_is_read() {
    // More than may wait between the thread that reads and the screen.
    let log = Log::of(LOG);
    log.append(&said(&"reed ".repeat(2000)).repeat(4000));
    for hang_up in [false, true] {
        let mut term = Start { controlling: false, ..Start::default() }.alone(&[log.path()]);
        term.until("a frame", |screen, _| screen.contents().contains("cutline"));
        if hang_up {
            term.hang_up();
        } else {
            term.type_in("q");
        }
        term.ends();
    }
}

#[test]
fn it_rests_when_nothing_happens() {
    let log = Log::of(LOG);
    for script in
        [r#"sh -c 'echo "pid=$$."; exec "$@"' sh "$@""#, r#"sh -c 'echo "pid=$$."; exec "$1" - <"$2"' sh "$@""#]
    {
        let term = Start::default().script(script, &[log.path()]);
        let pid = term.pid();
        term.shows("one heron seen");
        let ticks = || process(pid).unwrap().1;
        let (before, since) = (ticks(), Instant::now());
        // A measurement, not a way to wait for something.
        thread::sleep(Duration::from_millis(1500));
        let share = u128::from(ticks() - before) * 1000 / since.elapsed().as_millis();
        assert!(share < 30, "{share} % of a core while idle");
    }
}

// What comes in from the terminal.

#[test]
fn survives_a_storm_of_sizes() {
    let log = Log::of(LOG);
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("one heron seen");
    let sizes = [(1, 1), (80, 24), (0, 0), (200, 50), (2, 1), (1, 60), (500, 3), (59, 14), (60, 15), (37, 200)];
    for (cols, rows) in sizes.iter().cycle().take(60) {
        term.resize(*cols, *rows);
    }
    term.resize(110, 33);
    term.until("the last size", |screen, _| screen.rows(0, 110).nth(32).is_some_and(|row| row.contains("j/k move")));
    term.shows("one heron seen");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

#[test]
fn starts_in_the_smallest_terminals() {
    for size in [(1, 1), (0, 0), (3, 2)] {
        let log = Log::of(LOG);
        let mut term = Start { size, ..Start::default() }.shell(&[log.path()]);
        term.until("a frame", |screen, text| screen.alternate_screen() && text.contains("\x1b[?2026l"));
        term.resize(100, 30);
        term.shows("one heron seen");
        term.type_in("q");
        assert_eq!(term.restored(), 0, "{size:?}");
    }
}

#[test]
fn pasted_text_presses_no_key() {
    let log = Log::of(LOG);
    let mut term = Start::default().shell(&[log.path()]);
    term.shows("one heron seen");
    term.type_in("\x1b[200~q\u{3}:q\n\x1b[201~");
    term.shows("pasted text is ignored here");
    // As much as the system takes at once, several times over.
    let long = "q".repeat(20_000);
    term.type_in(&format!("/\x1b[200~heron\n{long}\x1b[201~"));
    term.shows("/heron");
    term.type_in("\x1b");
    term.type_in("q");
    assert_eq!(term.restored(), 0);
}

// Where no screen can be drawn.

#[test]
fn a_dumb_terminal_gets_plain_text() {
    let log = Log::of(LOG);
    let mut term = Start::default().env("TERM", "dumb").shell(&[log.path()]);
    assert_eq!(term.restored(), 0);
    assert!(term.contents().contains("one heron seen"), "{}", term.contents());
    assert!(!term.text().contains('\u{1b}'));
    let mut term = Start::default().env("TERM", "dumb").shell(&[]);
    assert_eq!(term.restored(), 2);
    assert!(term.contents().contains("no terminal"), "{}", term.contents());
}

#[test]
fn a_pipe_gets_plain_text() {
    let log = Log::of(LOG);
    let mut term = Start::default()
        .script(r#"echo "before=$(stty -g)"; "$@" | cat; echo "after=$(stty -g)"; echo "code=0.""#, &[log.path()]);
    assert_eq!(term.restored(), 0);
    assert!(term.contents().contains("one heron seen"), "{}", term.contents());
    assert!(!term.text().contains('\u{1b}'));
}

#[test]
fn what_is_no_transcript_is_refused_before_anything_is_drawn() {
    let log = Log::of("Dear diary,\ntoday I saw a heron.\n");
    let mut term = Start::default().shell(&[log.path()]);
    assert_eq!(term.restored(), 15);
    assert!(!term.text().contains('\u{1b}'));
    let said: Vec<String> = term.text().lines().filter(|line| line.starts_with("cutline: ")).map(Into::into).collect();
    assert_eq!(said.len(), 1, "{}", term.text());
    assert!(said[0].contains("is not a transcript that cutline knows."), "{}", said[0]);
}

// Files that cannot be read.

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cutline")).args(args).stdin(Stdio::null()).output().unwrap()
}

/// One sentence on stderr, nothing on stdout.
#[track_caller]
fn refused(output: &Output, code: i32, words: &[&str]) {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(output.stdout.is_empty());
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.starts_with("cutline: ") && said.trim_end().ends_with('.'), "{said}");
    assert!(words.iter().all(|word| said.contains(word)), "{said}");
}

#[test]
fn each_kind_of_trouble_has_its_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    for command in ["inspect", "show"] {
        refused(&run(&[command, folder.path().to_str().unwrap()]), 15, &["is a directory", "session file inside"]);
        let fifo = at("fifo");
        if !folder.path().join("fifo").exists() {
            assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        }
        refused(&run(&[command, &fifo]), 15, &["is a named pipe", "standard input"]);
        fs::write(folder.path().join("empty"), "").unwrap();
        refused(&run(&[command, &at("empty")]), 15, &["is empty"]);
        refused(&run(&[command, &at("nowhere")]), 1, &["There is no file"]);
        refused(&run(&[command, "/dev/null"]), 15, &["is a device"]);
        fs::write(folder.path().join("prose"), "Dear diary,\n").unwrap();
        refused(&run(&[command, &at("prose")]), 15, &["is not a transcript"]);
    }
}

#[test]
fn a_file_that_must_not_be_read_has_its_sentence() {
    use std::os::unix::fs::PermissionsExt as _;
    let log = Log::of(LOG);
    fs::set_permissions(&log.path, fs::Permissions::from_mode(0o0)).unwrap();
    let output = run(&["inspect", log.path()]);
    if fs::File::open(&log.path).is_ok() {
        // This user (root) may read everything: then so may cutline.
        assert_eq!(output.status.code(), Some(0));
        return;
    }
    refused(&output, 1, &["may not be read by this user"]);
}

#[test]
fn names_cannot_act_on_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a\u{1b}[31mb");
    let path = path.to_str().unwrap();
    let output = run(&["inspect", path]);
    assert!(!output.stderr.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stderr));
    fs::write(path, "Dear diary,\n").unwrap();
    let output = run(&["inspect", path]);
    assert!(!output.stderr.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stderr));
}
