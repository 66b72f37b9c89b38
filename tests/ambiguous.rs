//! A file that fits two formats equally well: commands refuse it and say what to do, the screen asks. One that fits one
//! of them better is read without a word.
#![expect(clippy::disallowed_methods, reason = "tests write their inputs")]
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod twins;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use cutline::{
    budget::Settings,
    export::Symbols,
    format::{Format, Transcript},
    model::Millis,
    plan::Session,
    source::{Change, Feed, Status},
    ui::{Effect, Msg, Options, ReadAgain, State, Theme, update, view},
};
use jiff::tz::TimeZone;
use ratatui::{
    Terminal,
    backend::TestBackend,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
};
use twins::{OF_NOBODY, OF_QUAY, SHARED, WEAK_IN_YARD};

fn run(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cutline"));
    command.args(words).env("XDG_CONFIG_HOME", home).env("XDG_STATE_HOME", home).env_remove("CUTLINE_CONFIG");
    command.output().unwrap()
}

#[test]
fn every_command_that_reads_refuses_and_says_what_to_do() {
    let home = twins::configured();
    let file = home.path().join("log.jsonl");
    fs::write(&file, SHARED).unwrap();
    let file = file.to_str().unwrap();
    for words in [
        vec![file],
        vec!["inspect", file],
        vec!["context", file],
        vec!["obligations", file],
        vec!["cuts", file],
        vec!["plan", file],
        vec!["show", file],
        vec!["compact", file],
        vec!["abandon", file, "x", "--reason", "gone"],
    ] {
        let output = run(home.path(), &words);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(15), "{words:?}: {said}");
        assert_eq!(
            said,
            format!("cutline: {file} fits 2 formats equally well: yard, quay. Name the one it is: --format yard.\n")
        );
        assert!(output.stdout.is_empty(), "{words:?}");
    }
    let output = run(home.path(), &["inspect", file, "--json"]);
    assert_eq!(output.status.code(), Some(15));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = &document["error"];
    assert_eq!((&document["schema"], &error["code"]), (&"cutline.error/1".into(), &15.into()));
    assert_eq!((&error["kind"], &error["retryable"]), (&"ambiguous-format".into(), &false.into()));
    assert_eq!(error["hint"], "Name the one it is: --format yard.");
    assert!(fs::read_dir(home.path()).unwrap().count() == 2, "nothing was written");
}

#[test]
fn a_named_format_and_a_better_one_are_read_without_a_word() {
    let home = twins::configured();
    let file = home.path().join("log.jsonl");
    let name = file.to_str().unwrap();
    for (text, words, format) in [
        (SHARED.to_string(), vec!["--format", "quay"], "quay"),
        (SHARED.to_string(), vec!["--format", "yard"], "yard"),
        (format!("{SHARED}{OF_NOBODY}{OF_QUAY}"), vec![], "quay"),
        (format!("{SHARED}{WEAK_IN_YARD}"), vec![], "quay"),
    ] {
        fs::write(&file, &text).unwrap();
        let output = run(home.path(), &[vec!["inspect", name, "--json"], words].concat());
        assert_eq!(output.status.code(), Some(0), "{text}");
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["format"], format, "{text}");
        assert_eq!(document["file"]["records"], text.lines().count(), "no line is lost while it is open: {text}");
    }
}

#[test]
fn what_decides_may_come_in_any_chunks_and_late() {
    twins::install();
    let many = SHARED.repeat(75);
    for (text, want) in [
        (format!("{many}{OF_QUAY}"), Some("quay")),
        (format!("{OF_NOBODY}{SHARED}"), None),
        (many.repeat(2) + OF_QUAY, None),
        (format!("[{}]", SHARED.trim().replace('\n', ",\n")), None),
    ] {
        let whole = Session::of_bytes(text.as_bytes(), None, "x", Settings::default());
        let mut bits = Transcript::new(None, "x");
        text.as_bytes().chunks(7).for_each(|bit| bits.feed(bit));
        bits.finish();
        for (found, tie) in [(whole.detection(), whole.tie()), (bits.detection(), bits.tie())] {
            assert_eq!(tie.is_none().then(|| found.unwrap().format.name()), want);
            if want.is_none() {
                assert_eq!(tie.unwrap().formats().map(Format::name).collect::<Vec<_>>(), ["yard", "quay"]);
            }
        }
        assert_eq!(whole.log().records.len(), bits.log().records.len());
        assert_eq!(whole.log().lines as usize, text.lines().count());
    }
}

/// A screen with its file in memory.
struct Driven {
    state: State,
    bytes: Vec<u8>,
    asked: Vec<Effect>,
}

impl Driven {
    fn waiting() -> Self {
        twins::install();
        let options = Options {
            name: "log.jsonl".to_string(),
            stem: "log".to_string(),
            format: None,
            settings: Settings::default(),
            symbols: Symbols::Unicode,
            theme: Theme::default(),
            zone: TimeZone::UTC,
            operator: "jo".to_string(),
            no_writes: None,
            summariser: None,
        };
        let state = State::new(options, (60, 15), Millis(0));
        let mut driven = Self { state, bytes: Vec::new(), asked: Vec::new() };
        driven.tell(Msg::Feed(Feed::Status(Status::Waiting)));
        driven.settle();
        driven
    }

    fn of(text: &str) -> Self {
        let mut driven = Self::waiting();
        driven.comes(text);
        driven.is(Status::Live);
        driven
    }

    fn comes(&mut self, text: &str) {
        let offset = self.bytes.len() as u64;
        self.bytes.extend(text.as_bytes());
        self.tell(Msg::Feed(Feed::Chunk { offset, bytes: text.as_bytes().to_vec() }));
        self.settle();
    }

    fn is(&mut self, status: Status) {
        self.tell(Msg::Feed(Feed::Status(status)));
        self.settle();
    }

    fn settle(&mut self) {
        self.tell(Msg::Settle(Millis(0)));
    }

    fn tell(&mut self, msg: Msg) {
        for effect in update(&mut self.state, msg) {
            self.asked.push(effect.clone());
            if let Effect::ReadAs(format) = effect {
                let mut session = Session::new(Some(format), "log", Settings::default());
                session.feed(&self.bytes);
                self.tell(Msg::ReadAgain(ReadAgain(format, Ok(Box::new(session)))));
            }
        }
    }

    fn press(&mut self, code: KeyCode) {
        self.tell(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        self.settle();
    }

    fn screen(&self) -> String {
        let mut terminal = Terminal::new(TestBackend::new(60, 15)).unwrap();
        terminal.draw(|frame| view(&self.state, frame)).unwrap();
        terminal.backend().to_string()
    }

    #[track_caller]
    fn asks(&self, yes: bool) {
        assert_eq!(self.screen().contains("Which format is it?"), yes, "{}", self.screen());
    }

    fn format(&self) -> Option<&'static str> {
        self.state.session().adapter().map(|adapter| adapter.format().name())
    }
}

#[test]
fn the_screen_asks_and_reads_what_was_chosen() {
    let choices: [(&[KeyCode], &str); 7] = [
        (&[], "yard"),
        (&[KeyCode::Char('j')], "quay"),
        (&[KeyCode::Down, KeyCode::Down], "quay"),
        (&[KeyCode::Char('2')], "quay"),
        (&[KeyCode::Char('2'), KeyCode::Char('k')], "yard"),
        (&[KeyCode::Char('2'), KeyCode::Up], "yard"),
        (&[KeyCode::Char('9'), KeyCode::Char('x'), KeyCode::Tab], "quay"),
    ];
    for (keys, want) in choices {
        let mut driven = Driven::of(SHARED);
        driven.asks(true);
        assert_eq!(driven.state.session().log().records.len(), 0, "nothing is read as what it may not be");
        for key in keys {
            driven.press(*key);
        }
        driven.asks(true);
        driven.press(KeyCode::Enter);
        driven.asks(false);
        assert_eq!((driven.format(), driven.state.session().context().len()), (Some(want), 2));
        driven.comes(SHARED);
        driven.asks(false);
        assert_eq!(driven.state.session().context().len(), 4);
        // The file is rewritten: what was chosen still holds.
        driven.tell(Msg::Feed(Feed::Reset { keep: 0, reason: Change::Rewritten }));
        driven.bytes.clear();
        driven.comes(SHARED);
        driven.is(Status::Live);
        driven.asks(false);
        assert_eq!(driven.format(), Some(want));
    }
}

#[test]
fn it_can_be_left() {
    for key in [KeyCode::Esc, KeyCode::Char('q')] {
        let mut driven = Driven::of(SHARED);
        driven.press(key);
        assert_eq!(driven.asked.last(), Some(&Effect::Quit));
    }
}

#[test]
fn nothing_is_asked_before_the_end_was_seen_nor_where_something_decides() {
    let mut driven = Driven::waiting();
    driven.asks(false);
    driven.comes(SHARED);
    driven.asks(false);
    driven.comes(OF_QUAY);
    driven.is(Status::Live);
    driven.asks(false);
    assert_eq!(driven.format(), Some("quay"));
}

#[test]
fn the_question_goes_when_new_lines_answer_it() {
    let mut driven = Driven::of(SHARED);
    driven.press(KeyCode::Char('j'));
    driven.comes(SHARED);
    driven.asks(true);
    assert!(driven.screen().contains("(•) 2 Quay log"), "the pick stays: {}", driven.screen());
    driven.comes(OF_QUAY);
    driven.asks(false);
    assert_eq!((driven.format(), driven.state.session().context().len()), (Some("quay"), 5));
    assert!(driven.screen().contains("it is Quay log"), "{}", driven.screen());
}

#[test]
fn help_does_not_lie_over_the_question() {
    let mut driven = Driven::waiting();
    driven.press(KeyCode::Char('?'));
    driven.comes(SHARED);
    driven.is(Status::Live);
    driven.asks(true);
    assert!(!driven.screen().contains("Help"));
}

#[test]
fn a_file_that_cannot_be_read_again_keeps_the_question() {
    let mut driven = Driven::of(SHARED);
    let why = Err("it changed".to_string());
    drop(update(&mut driven.state, Msg::ReadAgain(ReadAgain(Format::from_name("yard").unwrap(), why))));
    driven.asks(true);
    assert_eq!(driven.format(), None);
}

#[test]
fn standard_input_that_ended_is_asked_about_too() {
    let mut driven = Driven::waiting();
    driven.comes(SHARED.trim_end());
    driven.is(Status::Ended);
    driven.asks(true);
    driven.press(KeyCode::Char('2'));
    driven.press(KeyCode::Enter);
    assert_eq!((driven.format(), driven.state.session().context().len()), (Some("quay"), 2));
}

#[test]
fn a_document_that_becomes_ambiguous_by_a_rewrite_is_asked_about() {
    let mut driven = Driven::of(&format!("{SHARED}{OF_QUAY}"));
    assert_eq!(driven.format(), Some("quay"));
    driven.tell(Msg::Feed(Feed::Reset { keep: 0, reason: Change::Rewritten }));
    driven.bytes.clear();
    driven.comes(&format!("[{}]\n", SHARED.trim().replace('\n', ",\n")));
    driven.is(Status::Live);
    driven.asks(true);
    driven.press(KeyCode::Enter);
    assert_eq!((driven.format(), driven.state.session().log().records.len()), (Some("yard"), 2));
}
