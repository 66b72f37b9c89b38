//! The operator's hand on the screen: looking writes nothing, staging changes the plan, only typed words commit.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails says where")]

use std::{fs, path::Path};

use cutline::{
    budget::Settings,
    cut::Verdict,
    export::{Symbols, head_of},
    format::Minted,
    model::Millis,
    plan::{Abandonment, draft},
    source::{Feed, Status},
    ui::{Drafted, Effect, Liveness, Msg, Options, Order, State, Theme, Told, Writer, Written, update, view},
};
use jiff::tz::TimeZone;
use ratatui::{
    Terminal,
    backend::TestBackend,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
};

const SIZE: (u16, u16) = (120, 40);

/// A screen whose hands are in memory: what they were asked for is written down.
struct Driven {
    state: State,
    bytes: Vec<u8>,
    now: Millis,
    asked: Vec<Effect>,
    drafts: usize,
    liveness: Liveness,
    answer: Result<Written, Told>,
}

impl Driven {
    fn open(sample: &str) -> Self {
        Self::of(fs::read(Path::new("sample-sessions").join(sample)).unwrap())
    }

    fn of(bytes: Vec<u8>) -> Self {
        let mut driven = Self::waiting();
        driven.read(bytes);
        driven
    }

    fn waiting() -> Self {
        let options = Options {
            name: "sample".to_string(),
            stem: "sample".to_string(),
            format: None,
            settings: Settings::default(),
            symbols: Symbols::Unicode,
            theme: Theme::default(),
            zone: TimeZone::UTC,
            operator: "jo".to_string(),
            no_writes: None,
            summariser: Some("sum".to_string()),
        };
        let written = Written {
            receipt: "r1".to_string(),
            output: "/new/session.jsonl".to_string(),
            resume: "claude --resume 7d20".to_string(),
            tokens: (96_400, 57_000),
        };
        Self {
            state: State::new(options, SIZE, Millis(0)),
            bytes: Vec::new(),
            now: Millis(0),
            asked: Vec::new(),
            drafts: 0,
            liveness: Liveness::Dead,
            answer: Ok(written),
        }
    }

    fn read(&mut self, bytes: Vec<u8>) {
        let offset = self.bytes.len() as u64;
        self.bytes.extend(&bytes);
        self.tell(Msg::Feed(Feed::Chunk { offset, bytes }));
        self.tell(Msg::Feed(Feed::Status(Status::Live)));
        self.tell(Msg::Settle(self.now));
        self.now = Millis(self.state.session().log().newest_time().0 + 1000);
        self.tell(Msg::Settle(self.now));
    }

    fn tell(&mut self, msg: Msg) {
        for effect in update(&mut self.state, msg) {
            self.asked.push(effect.clone());
            match effect {
                Effect::LoadHeads(at) => {
                    let head = |at: &usize| (*at, head_of(self.state.session(), &self.bytes, *at).unwrap_or_default());
                    let heads = at.iter().map(head).collect();
                    self.tell(Msg::Heads(heads));
                }
                Effect::Draft { wish, .. } => {
                    self.drafts += 1;
                    let minted = Minted::new([7; 16], self.now, TimeZone::UTC);
                    let drafted = draft(self.state.session(), &self.bytes, &wish, &minted);
                    self.tell(Msg::Drafted(Drafted(drafted.map(Box::new).map_err(|error| error.to_string()))));
                }
                Effect::Writer => {
                    let text = "as the test says".to_string();
                    self.tell(Msg::Writer(Writer { liveness: self.liveness, text }));
                }
                Effect::Commit(_) => self.tell(Msg::Committed(self.answer.clone())),
                Effect::Undo(_) => self.tell(Msg::Undone(Ok("it was removed".to_string()))),
                _ => {}
            }
        }
    }

    /// Keys by name, separated by spaces; letters one after another.
    fn press(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            let code = match key {
                "Enter" => KeyCode::Enter,
                "Esc" => KeyCode::Esc,
                "Tab" => KeyCode::Tab,
                "Space" => KeyCode::Char(' '),
                letters => {
                    self.type_in(letters);
                    continue;
                }
            };
            self.tell(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
            self.tell(Msg::Settle(self.now));
        }
    }

    fn type_in(&mut self, text: &str) {
        text.chars().for_each(|c| self.tell(Msg::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))));
        self.tell(Msg::Settle(self.now));
    }

    fn screen(&self) -> String {
        let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).unwrap();
        terminal.draw(|frame| view(&self.state, frame)).unwrap();
        let cells = &terminal.backend().buffer().content;
        let lines = cells.chunks(usize::from(SIZE.0));
        lines.map(|line| line.iter().map(ratatui::buffer::Cell::symbol).collect::<String>() + "\n").collect()
    }

    fn shows(&self, text: &str) {
        let screen = self.screen();
        assert!(screen.contains(text), "no `{text}` on\n{screen}");
    }

    fn shows_not(&self, text: &str) {
        let screen = self.screen();
        assert!(!screen.contains(text), "`{text}` on\n{screen}");
    }

    /// Effects that reach beyond looking.
    fn writing(&self) -> Vec<&Effect> {
        let looks = |effect: &&Effect| {
            !matches!(
                effect,
                Effect::LoadHeads(_) | Effect::LoadBody(_) | Effect::Draft { .. } | Effect::Writer | Effect::Look
            )
        };
        self.asked.iter().filter(looks).collect()
    }

    fn staged(&self) -> Option<&Vec<Abandonment>> {
        self.asked.iter().rev().find_map(|effect| match effect {
            Effect::Stage(staged) => Some(staged),
            _ => None,
        })
    }

    fn order(&self) -> &Order {
        let order = self.asked.iter().rev().find_map(|effect| match effect {
            Effect::Commit(order) => Some(order),
            _ => None,
        });
        order.unwrap_or_else(|| panic!("no commit was asked for on\n{}", self.screen()))
    }

    fn stage_the_transaction(&mut self) {
        self.press("g ]o a");
        self.type_in("the server was restarted");
        self.press("Enter Enter Enter h-rw Enter");
    }
}

#[test]
fn looking_asks_for_nothing_that_writes() {
    for sample in fs::read_dir("sample-sessions").unwrap().map(|entry| entry.unwrap().path()) {
        if sample.extension().is_none_or(|ending| ending != "jsonl" && ending != "json") {
            continue;
        }
        let mut driven = Driven::of(fs::read(&sample).unwrap());
        driven.press("c h h l H L s ]l [l Tab Tab i Esc b f d d Space x C Esc Esc");
        driven.press("Esc g ]o a Tab Enter Enter Enter Enter Enter Esc A Enter Enter Enter Enter Esc C i Esc u Esc U");
        assert_eq!(driven.writing(), Vec::<&Effect>::new(), "{}", sample.display());
    }
}

#[test]
fn a_refusal_becomes_a_plan_before_the_operators_eyes() {
    let mut driven = Driven::open("refuse.jsonl");
    driven.shows("REFUSE");
    driven.press("g ]o a");
    driven.shows("Close transaction #2");
    driven.shows("REFUSE becomes COMPACT: #0–#5 may be cut");
    driven.press("Esc");
    driven.stage_the_transaction();
    driven.shows("COMPACT→#6");
    driven.shows("Everything before 6 is closed.");
    driven.shows("0 + 1 staged");
    driven.shows("STAGED");
    let staged = driven.staged().unwrap().clone();
    let [only] = staged.as_slice() else { panic!("{staged:?}") };
    assert_eq!((only.id.as_str(), only.by.as_str()), ("north-rw", "jo"));
    assert_eq!(only.reason, "the server was restarted");
    driven.press("u");
    driven.shows("REFUSE");
    assert_eq!(driven.staged(), Some(&Vec::new()));
    driven.press("U");
    driven.shows("COMPACT→#6");
    assert_eq!(driven.staged(), Some(&staged));
}

#[test]
fn only_the_typed_word_commits_and_only_what_was_seen() {
    let mut driven = Driven::open("refuse.jsonl");
    driven.stage_the_transaction();
    driven.press("c");
    driven.shows("legal cut · nothing open");
    driven.press("C");
    driven.shows("Commit into a new session file");
    driven.type_in("comit");
    driven.press("Enter");
    driven.shows("that is not `commit`");
    assert!(driven.asked.iter().all(|effect| !matches!(effect, Effect::Commit(_))));
    driven.tell(Msg::Key(KeyEvent::new(KeyCode::Char('u'), KeyModifiers::CONTROL)));
    driven.type_in("commit");
    driven.press("Enter");
    let order = driven.order();
    assert_eq!((order.verdict, order.relief, order.operator.as_str()), (Verdict::Compact, false, "jo"));
    driven.shows("claude --resume 7d20");
    assert!(driven.asked.contains(&Effect::Copy("claude --resume 7d20".to_string())));
    assert_eq!(driven.staged(), Some(&Vec::new()), "what was committed is staged no more");
    driven.press("Enter u");
    driven.shows("Undo the commit");
    driven.type_in("undo");
    driven.press("Enter");
    assert!(driven.asked.contains(&Effect::Undo("r1".to_string())));
    assert_eq!(driven.staged().unwrap().len(), 1, "what it had settled is staged again");
}

#[test]
fn a_commit_that_fails_changes_nothing() {
    let mut driven = Driven::open("refuse.jsonl");
    driven.answer = Err(Told { sentence: "The disk is full.".to_string(), hint: "Make room.".to_string() });
    driven.stage_the_transaction();
    driven.press("c C commit Enter");
    driven.shows("The disk is full.");
    driven.shows("Make room.");
    driven.press("Enter");
    driven.shows("CUT PREVIEW");
    driven.press("Esc");
    driven.shows("COMPACT→#6");
    assert_eq!(driven.staged().unwrap().len(), 1);
}

#[test]
fn an_illegal_cut_is_looked_at_and_never_committed() {
    let mut driven = Driven::open("refuse.jsonl");
    driven.press("c");
    driven.shows("CANNOT BE COMMITTED");
    driven.shows("ILLEGAL · crosses 1 link");
    driven.press("C");
    driven.shows("this cannot be committed: 0..6 may not be cut: txn #2 north-rw not ended (close).");
    driven.shows_not("Commit into");
    driven.press("s");
    driven.shows_not("0..6 may not be cut");
    driven.press("h h h h h h");
    driven.shows("the span ends here");
}

#[test]
fn a_relief_is_offered_by_name_and_its_acceptance_recorded() {
    let mut driven = Driven::open("critical.jsonl");
    driven.press("c");
    driven.shows("candidate 1/3 relief");
    driven.press("l");
    driven.shows("your own");
    driven.press("h");
    driven.shows("relief");
    driven.press("C commit Enter");
    let order = driven.order();
    assert_eq!((order.verdict, order.relief), (Verdict::Defer, true));
}

#[test]
fn what_may_still_run_needs_one_more_word() {
    let text = concat!(
        "{\"cutline\":1,\"session\":\"t\",\"window\":1000}\n",
        "{\"kind\":\"user\",\"text\":\"go\",\"time\":\"2026-01-01T00:00:00Z\"}\n",
        "{\"kind\":\"call\",\"id\":\"c-1234\",\"tool\":\"Bash\",\"input\":{},\"time\":\"2026-01-01T00:00:01Z\"}\n"
    );
    let mut driven = Driven::of(text.as_bytes().to_vec());
    driven.press("G a");
    driven.shows("Abandon call #1");
    driven.type_in("gone");
    driven.press("Enter Enter Enter 1234 Enter Enter");
    driven.shows("type `running` to confirm");
    assert_eq!(driven.staged(), None);
    driven.press("running Enter");
    assert_eq!(driven.staged().unwrap().len(), 1);
    // Of a lost call only a living writer asks for it.
    let mut driven = Driven::open("critical.jsonl");
    driven.liveness = Liveness::Live;
    driven.press("A");
    driven.shows("Type  running");
    driven.shows("Abandon 2 lost calls");
    driven.shows("not these");
}

#[test]
fn pasted_text_goes_into_the_field_and_triggers_nothing() {
    let mut driven = Driven::open("refuse.jsonl");
    driven.press("g ]o a");
    driven.tell(Msg::Paste("host\nlost\u{1b}[31m qqq\r".to_string()));
    driven.shows("host lost[31m qqq");
    driven.press("Esc");
    driven.tell(Msg::Paste("q".to_string()));
    driven.shows("pasted text is ignored here");
}

#[test]
fn a_growing_file_is_previewed_anew_but_never_under_a_question() {
    let mut driven = Driven::open("defer.jsonl");
    driven.press("c");
    let drafts = driven.drafts;
    driven.read(b"{\"kind\":\"assistant\",\"text\":\"still here\",\"response\":\"r99\"}\n".to_vec());
    assert_eq!(driven.drafts, drafts + 1);
    driven.shows("previewing anew: 1 records came");
    driven.press("C");
    driven.shows("no: 28 records at the preview, 28 now");
    driven.read(b"{\"kind\":\"assistant\",\"text\":\"and more\",\"response\":\"r100\"}\n".to_vec());
    assert_eq!(driven.drafts, drafts + 1);
    driven.shows("yes: 1 records came; they are kept behind it, word for word");
    driven.press("Esc");
    assert_eq!(driven.drafts, drafts + 2);
}

#[test]
fn many_moves_between_two_frames_are_one_draft() {
    let mut driven = Driven::open("defer.jsonl");
    driven.press("c");
    let drafts = driven.drafts;
    driven.type_in("hhhhlll");
    assert_eq!(driven.drafts, drafts + 1);
    driven.shows("#0–#10");
}

#[test]
fn leaving_with_staged_work_asks_once() {
    let mut driven = Driven::open("refuse.jsonl");
    driven.stage_the_transaction();
    driven.press("q");
    driven.shows("1 abandonment is staged and not committed.");
    assert!(!driven.asked.contains(&Effect::Quit));
    driven.press("Esc q q");
    assert!(driven.asked.contains(&Effect::Quit));
}

#[test]
fn a_stage_survives_and_what_is_not_owed_any_more_leaves_it() {
    let staged = |id: &str| Abandonment { id: id.to_string(), reason: "gone".to_string(), ..Abandonment::default() };
    let mut driven = Driven::waiting();
    driven.tell(Msg::Staged(vec![staged("north-rw"), staged("c1")]));
    driven.shows("2 abandonments are staged from an earlier run");
    driven.read(fs::read("sample-sessions/refuse.jsonl").unwrap());
    driven.shows("COMPACT→#6");
    driven.shows("not staged any more: c1 is not owed now");
    assert_eq!(driven.writing(), Vec::<&Effect>::new());
    driven.read(b"{\"kind\":\"transaction-end\",\"id\":\"north-rw\",\"outcome\":\"committed\"}\n".to_vec());
    driven.shows("not staged any more: north-rw is not owed now");
}

#[test]
fn words_by_hand_keep_the_ledger_of_code() {
    let mut driven = Driven::open("refuse.jsonl");
    driven.stage_the_transaction();
    driven.press("c e");
    let edit = driven.asked.iter().any(|effect| matches!(effect, Effect::Edit(_)));
    assert!(edit);
    driven.tell(Msg::Edited(Ok("Eleven herons were counted.\n".to_string())));
    driven.tell(Msg::Settle(driven.now));
    driven.shows("Eleven herons were counted.");
    driven.shows("written by hand");
    driven.shows("north-rw");
    driven.press("x");
    driven.shows_not("Eleven herons");
    driven.press("y");
    let copied = driven.asked.iter().rev().find_map(|effect| match effect {
        Effect::Copy(text) => Some(text.clone()),
        _ => None,
    });
    assert!(copied.unwrap().contains("north-rw"));
}

#[test]
fn a_summariser_is_waited_for_and_can_be_ended() {
    let mut driven = Driven::open("defer.jsonl");
    driven.press("c S");
    assert!(driven.asked.contains(&Effect::Summarise));
    driven.tell(Msg::Progress("sum: 4 received".to_string()));
    driven.shows("sum: 4 received · Esc ends it");
    driven.press("l");
    driven.shows("#0–#11");
    driven.press("Esc");
    assert!(driven.asked.contains(&Effect::CancelSummary));
    driven.shows("CUT PREVIEW");
    driven.tell(Msg::Summarised(Err("too late".to_string())));
    driven.shows_not("too late");
}

#[test]
fn a_hostile_id_and_reason_reach_the_screen_safely() {
    let text = concat!(
        "{\"cutline\":1,\"session\":\"t\",\"window\":1000}\n",
        "{\"kind\":\"user\",\"text\":\"go\"}\n",
        "{\"kind\":\"call\",\"id\":\"c\\u001b[31m\\u202e\",\"tool\":\"Ba\\u001bsh\",\"input\":{},\"response\":\"r1\"}\n",
        "{\"kind\":\"assistant\",\"text\":\"went on\",\"response\":\"r2\"}\n"
    );
    let mut driven = Driven::of(text.as_bytes().to_vec());
    driven.press("g ]o a");
    driven.shows("Abandon call #1");
    // Such an id cannot be typed: its position is.
    driven.shows("Type  1  to confirm");
    assert!(!driven.screen().contains(['\u{1b}', '\u{202e}']));
}
