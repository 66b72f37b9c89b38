//! Every screen as a picture: characters and styles, written to `assets/screens/*.svg`.
//! `UPDATE_SCREENS=1 cargo test --test screens` accepts what is drawn now; reading the diff is the review.
#![expect(clippy::disallowed_methods, reason = "tests write pictures")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test that fails says where")]

mod svg;

use std::{fs, path::Path};

use cutline::{
    budget::Settings,
    export::{Symbols, head_of},
    format::Minted,
    model::Millis,
    plan::draft,
    source::{Feed, Status},
    ui::{Background, Depth, Drafted, Effect, Liveness, Msg, Options, State, Theme, Writer, Written, update, view},
};
use jiff::tz::TimeZone;
use ratatui::{
    Terminal,
    backend::TestBackend,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
};

/// Milliseconds after its newest record at which a transcript is looked at.
const LATER: i64 = 12_000;

/// A screen driven like the real one, with its payload in memory.
struct Driven {
    state: State,
    bytes: Vec<u8>,
    now: Millis,
}

impl Driven {
    fn open(sample: &str, size: (u16, u16), theme: Theme, symbols: Symbols) -> Self {
        let folder = if sample == "demo.jsonl" { "assets" } else { "sample-sessions" };
        let path = Path::new(folder).join(sample);
        let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::of(sample, bytes, size, theme, symbols)
    }

    fn of(sample: &str, bytes: Vec<u8>, size: (u16, u16), theme: Theme, symbols: Symbols) -> Self {
        let options = Options {
            name: sample.to_string(),
            stem: sample.trim_end_matches(".jsonl").to_string(),
            format: None,
            settings: Settings::default(),
            symbols,
            theme,
            zone: TimeZone::UTC,
            operator: "jo".to_string(),
            no_writes: None,
            summariser: None,
        };
        let start = Millis(0);
        let mut driven = Self { state: State::new(options, size, start), bytes: bytes.clone(), now: start };
        driven.tell(Msg::Resize(size.0, size.1));
        driven.tell(Msg::Feed(Feed::Chunk { offset: 0, bytes }));
        driven.tell(Msg::Feed(Feed::Status(Status::Live)));
        driven.tell(Msg::Settle(start));
        driven.now = Millis(driven.state.session().log().newest_time().0 + LATER);
        driven.tell(Msg::Settle(driven.now));
        driven
    }

    fn tell(&mut self, msg: Msg) {
        for effect in update(&mut self.state, msg) {
            match effect {
                Effect::LoadHeads(at) => {
                    let heads =
                        at.iter().map(|at| (*at, head_of(self.state.session(), &self.bytes, *at).unwrap_or_default()));
                    let heads = heads.collect();
                    self.tell(Msg::Heads(heads));
                }
                Effect::LoadBody(at) => {
                    let body = self.state.session().body(at, &self.bytes);
                    self.tell(Msg::Body(at, body));
                }
                Effect::Draft { wish, .. } => {
                    let minted = Minted::new([7; 16], self.now, TimeZone::UTC);
                    let drafted = draft(self.state.session(), &self.bytes, &wish, &minted);
                    let drafted = drafted.map(Box::new).map_err(|error| error.to_string());
                    self.tell(Msg::Drafted(Drafted(drafted)));
                }
                Effect::Writer => self.tell(Msg::Writer(Writer {
                    liveness: Liveness::Unknown,
                    text: "unknown: nothing holds the file open; last append 12 s ago".to_string(),
                })),
                Effect::Commit(_) => self.tell(Msg::Committed(Ok(Written {
                    receipt: "9b1e4c0a77d2f380".to_string(),
                    output: "/srv/stock/sessions/refuse-7d20.jsonl".to_string(),
                    resume: String::new(),
                    tokens: (96_400, 51_210),
                }))),
                _ => {}
            }
        }
    }

    fn type_in(&mut self, text: &str) {
        text.chars().for_each(|c| self.tell(Msg::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))));
        self.tell(Msg::Settle(self.now));
    }

    fn press(&mut self, keys: &str) {
        for key in keys.split_whitespace() {
            let code = match key {
                "Enter" => KeyCode::Enter,
                "Tab" => KeyCode::Tab,
                "Esc" => KeyCode::Esc,
                _ => {
                    key.chars().for_each(|c| self.tell(Msg::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))));
                    continue;
                }
            };
            self.tell(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        }
        self.tell(Msg::Settle(self.now));
    }

    fn draw(&self, size: (u16, u16)) -> ratatui::buffer::Buffer {
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
        terminal.draw(|frame| view(&self.state, frame)).unwrap();
        terminal.backend().buffer().clone()
    }
}

fn check(name: &str, driven: &Driven, size: (u16, u16), light: bool) {
    let path = Path::new("assets/screens").join(format!("{name}.svg"));
    let drawn = svg::of(&driven.draw(size), light);
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        fs::create_dir_all("assets/screens").unwrap();
        fs::write(&path, drawn).unwrap();
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == drawn, "{} is not what is drawn now; UPDATE_SCREENS=1 accepts it", path.display());
}

const DARK: Theme = Theme { depth: Depth::Sixteen, background: Background::Dark };
const LIGHT: Theme = Theme { depth: Depth::Sixteen, background: Background::Light };
const MONO: Theme = Theme { depth: Depth::Mono, background: Background::Dark };

#[test]
fn main_screen_at_every_size() {
    for (w, h) in [(60, 15), (80, 24), (120, 40), (200, 50)] {
        for sample in ["demo.jsonl", "codex.jsonl"] {
            let driven = Driven::open(sample, (w, h), DARK, Symbols::Unicode);
            let stem = sample.trim_end_matches(".jsonl");
            check(&format!("{stem}-{w}x{h}"), &driven, (w, h), false);
        }
    }
}

#[test]
fn themes_and_ascii() {
    let size = (80, 24);
    check("mono-80x24", &Driven::open("critical.jsonl", size, MONO, Symbols::Unicode), size, false);
    check("light-80x24", &Driven::open("critical.jsonl", size, LIGHT, Symbols::Unicode), size, true);
    check("ascii-80x24", &Driven::open("critical.jsonl", size, MONO, Symbols::Ascii), size, false);
}

#[test]
fn windows_and_panes() {
    let size = (80, 24);
    for (name, keys) in [
        ("help", "?"),
        ("why", "g ]o j i"),
        ("detail", "g ]o Enter"),
        ("detail-full", "g ]o Enter Enter"),
        ("decision", "Tab Tab Tab"),
        ("search", "/"),
        ("notes", "Tab Tab Tab Tab Tab"),
        ("paused", "g j j"),
    ] {
        let mut driven = Driven::open("critical.jsonl", size, DARK, Symbols::Unicode);
        driven.press(keys);
        check(&format!("{name}-80x24"), &driven, size, false);
    }
}

/// Staging the transaction of `refuse.jsonl`: the dialog, field by field.
fn stage_the_transaction(driven: &mut Driven) {
    driven.press("g ]o a");
    driven.type_in("connection was reset by the server");
    driven.press("Enter");
    driven.type_in("pg_stat_activity has no such backend");
    driven.press("Enter Enter");
    driven.type_in("h-rw");
}

#[test]
fn by_hand_at_every_size() {
    for (w, h) in [(60, 15), (80, 24), (120, 40), (200, 50)] {
        let size = (w, h);
        let mut driven = Driven::open("defer.jsonl", size, DARK, Symbols::Unicode);
        driven.press("c");
        check(&format!("preview-{w}x{h}"), &driven, size, false);
        let mut driven = Driven::open("refuse.jsonl", size, DARK, Symbols::Unicode);
        stage_the_transaction(&mut driven);
        check(&format!("abandon-typed-{w}x{h}"), &driven, size, false);
        driven.press("Enter c C");
        check(&format!("commit-{w}x{h}"), &driven, size, false);
    }
}

#[test]
fn a_refusal_by_hand_step_by_step() {
    for (w, h) in [(80, 24), (120, 40)] {
        let size = (w, h);
        let mut driven = Driven::open("refuse.jsonl", size, DARK, Symbols::Unicode);
        driven.press("c");
        check(&format!("preview-illegal-{w}x{h}"), &driven, size, false);
        driven.press("Esc g ]o a");
        check(&format!("abandon-{w}x{h}"), &driven, size, false);
        driven.press("Esc");
        stage_the_transaction(&mut driven);
        driven.press("Enter");
        check(&format!("refuse-turned-{w}x{h}"), &driven, size, false);
        driven.press("c");
        check(&format!("preview-staged-{w}x{h}"), &driven, size, false);
        driven.press("C");
        driven.type_in("commit");
        driven.press("Enter");
        check(&format!("committed-{w}x{h}"), &driven, size, false);
    }
}

#[test]
fn by_hand_in_other_clothes() {
    let size = (80, 24);
    for (name, theme, symbols, light) in [
        ("mono", MONO, Symbols::Unicode, false),
        ("light", LIGHT, Symbols::Unicode, true),
        ("ascii", MONO, Symbols::Ascii, false),
    ] {
        let mut driven = Driven::open("critical.jsonl", size, theme, symbols);
        driven.press("c");
        check(&format!("preview-{name}-80x24"), &driven, size, light);
        driven.press("Esc A");
        check(&format!("abandon-lost-{name}-80x24"), &driven, size, light);
    }
    let size = (120, 40);
    let mut driven = Driven::open("critical.jsonl", size, DARK, Symbols::Unicode);
    driven.press("c");
    check("relief-120x40", &driven, size, false);
    driven.press("Esc A");
    check("abandon-lost-120x40", &driven, size, false);
}

/// Words alone are the same in the logs of two APIs.
fn ambiguous(size: (u16, u16), theme: Theme, symbols: Symbols) -> Driven {
    let words = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]"#;
    Driven::of("chat.json", words.into(), size, theme, symbols)
}

#[test]
fn which_format_it_is() {
    for (w, h) in [(60, 15), (80, 24), (120, 40)] {
        let mut driven = ambiguous((w, h), DARK, Symbols::Unicode);
        driven.press("j");
        check(&format!("which-{w}x{h}"), &driven, (w, h), false);
    }
    let size = (60, 15);
    check("which-mono-60x15", &ambiguous(size, MONO, Symbols::Unicode), size, false);
    check("which-light-60x15", &ambiguous(size, LIGHT, Symbols::Unicode), size, true);
    check("which-ascii-60x15", &ambiguous(size, MONO, Symbols::Ascii), size, false);
}

#[test]
fn no_size_panics() {
    at_any_size(&mut ambiguous((80, 24), DARK, Symbols::Unicode), "");
    let mut driven = Driven::open("critical.jsonl", (80, 24), DARK, Symbols::Unicode);
    for keys in [
        "",
        "?",
        "Esc i",
        "Esc Enter",
        "Enter",
        "q q Tab",
        "Tab Tab",
        "c",
        "C",
        "Esc i",
        "Esc d",
        "b",
        "f",
        "Esc A",
        "Esc q a",
    ] {
        at_any_size(&mut driven, keys);
    }
}

fn at_any_size(driven: &mut Driven, keys: &str) {
    driven.press(keys);
    for w in (0..=20).chain([59, 60, 61, 79, 99, 100, 120, 159, 160, 200, 500]) {
        for h in (0..=16).chain([24, 40, 50, 200]) {
            driven.tell(Msg::Resize(w, h));
            driven.tell(Msg::Settle(driven.now));
            driven.draw((w, h));
        }
    }
}
