//! Every screen as a picture: characters and styles, written to `assets/screens/*.svg`.
//! `UPDATE_SCREENS=1 cargo test --test screens` accepts what is drawn now; reading the diff is the review.
#![expect(clippy::disallowed_methods, reason = "tests write pictures")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test that fails says where")]

mod svg;

use std::{fs, path::Path};

use cutline::{
    budget::Settings,
    export::{Symbols, head_of},
    model::Millis,
    source::{Feed, Status},
    ui::{Background, Depth, Effect, Msg, Options, State, Theme, update, view},
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
        let options = Options {
            name: sample.to_string(),
            stem: sample.trim_end_matches(".jsonl").to_string(),
            format: None,
            settings: Settings::default(),
            symbols,
            theme,
            zone: TimeZone::UTC,
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
                _ => {}
            }
        }
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

#[test]
fn no_size_panics() {
    let mut driven = Driven::open("critical.jsonl", (80, 24), DARK, Symbols::Unicode);
    for keys in ["", "?", "Esc i", "Esc Enter", "Enter", "q q Tab", "Tab Tab"] {
        driven.press(keys);
        for w in (0..=20).chain([59, 60, 61, 79, 99, 100, 120, 159, 160, 200, 500]) {
            for h in (0..=16).chain([24, 40, 50, 200]) {
                driven.tell(Msg::Resize(w, h));
                driven.tell(Msg::Settle(driven.now));
                driven.draw((w, h));
            }
        }
    }
}
