use std::cell::RefCell;

use cutline::{
    budget::Settings,
    export::Symbols,
    format::Format,
    model::{Kind, Millis, NoteKind, Payload},
    plan::Session,
    source::{Change, Feed, Status},
    ui::{Msg, Options, State, Theme, update},
};
use jiff::tz::TimeZone;

use super::{FILES, bytes, read, records, session, told};

/// Everything that was read, as one value.
fn whole(session: &Session) -> String {
    let log = session.log();
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{:?} {} {} {}",
        log.records,
        log.usage,
        log.notes,
        session.context().slots(),
        told(session),
        log.lines,
        log.physical,
        session.bytes()
    )
}

fn fed(chunks: &[&[u8]], refresh: bool) -> Session {
    let mut session = Session::new(None, "log", Settings::default());
    for chunk in chunks {
        session.feed(chunk);
        if refresh {
            session.refresh();
        }
    }
    session.finish();
    session
}

#[test]
fn growth_in_any_chunking_equals_a_cold_read() {
    for file in FILES {
        let bytes = bytes(file);
        let cold = whole(&read(file));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(whole(&fed(&single, false)), cold, "{file} byte by byte");
        let some: Vec<&[u8]> = bytes.chunks(37).collect();
        assert_eq!(whole(&fed(&some, true)), cold, "{file} looked at in between");
        for cut in (0..bytes.len()).step_by(13) {
            let (a, b) = bytes.split_at(cut);
            assert_eq!(whole(&fed(&[a, b], true)), cold, "{file} at {cut}");
        }
    }
}

#[test]
fn a_torn_list_shows_what_is_whole() {
    let bytes = bytes("open.json");
    let all = read("open.json");
    let mut most = 0;
    for cut in 0..bytes.len() {
        let mut torn = Session::new(Some(Format::Anthropic), "log", Settings::default());
        torn.feed(&bytes[..cut]);
        torn.refresh();
        let now = records(&torn);
        assert_eq!(now, records(&all)[..now.len()], "at {cut}");
        assert!(now.len() >= most && (now.is_empty() || torn.is_torn() || now.len() == 10), "at {cut}");
        most = now.len();
        // The rest comes: the same as ever.
        torn.feed(&bytes[cut..]);
        torn.finish();
        assert_eq!(whole(&torn), whole(&session_forced(&bytes)), "at {cut}");
    }
    assert!(most == 10);
    let cut = session(&bytes[..bytes.len() / 2]);
    assert!(cut.is_torn() && !records(&cut).is_empty());
    assert_eq!(cut.notes()[0].kind, NoteKind::TornTail);
}

fn session_forced(bytes: &[u8]) -> Session {
    Session::of_bytes(bytes, Some(Format::Anthropic), "log", Settings::default())
}

#[test]
fn a_torn_request_shows_the_messages_that_are_whole() {
    let bytes = bytes("body.json");
    let end = memchr::memmem::find(&bytes, b"\"seen\"").unwrap();
    let torn = session(&bytes[..end]);
    assert!(torn.is_torn());
    assert_eq!(told(&torn), "user, thinking, call a, result a");
    let body = torn.body(3, &bytes).unwrap();
    assert_eq!(body.text, "files");
}

#[test]
fn damage_costs_the_item_alone() {
    let list = r#"[{"role":"user","content":"go"}, 12, {"role":"assistant" "content":1},
        {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}, [1], "x"] tail"#;
    let session = session(list.as_bytes());
    assert_eq!(told(&session), "user, call t");
    // Five: a number, an item that is no JSON, a list, a string, and what stands behind the end.
    assert_eq!(session.log().damaged, 5);
    let opaque = session.log().records.iter().filter(|record| record.kind == Kind::Opaque).count();
    assert_eq!(opaque, 4);
    let chunks: Vec<&[u8]> = list.as_bytes().chunks(1).collect();
    assert_eq!(whole(&fed(&chunks, true)), whole(&session));
}

struct Counting<'a>(&'a [u8], RefCell<usize>);

impl Payload for Counting<'_> {
    fn read(&self, segment: u16, offset: u64, len: u32) -> Option<Vec<u8>> {
        *self.1.borrow_mut() += len as usize;
        self.0.read(segment, offset, len)
    }
}

#[test]
fn a_look_at_one_record_of_a_large_document_reads_its_item() {
    let items: Vec<String> = (0..2000)
        .map(|n| {
            let call = format!(r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"t{n}","name":"n","input":{{}}}}]}}"#);
            format!("{call},\n{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"{}\"}}]}}", "x".repeat(200))
        })
        .collect();
    let list = format!("[{}]", items.join(",\n"));
    let session = session(list.as_bytes());
    assert_eq!(session.context().len(), 4000);
    let payload = Counting(list.as_bytes(), RefCell::new(0));
    let body = session.body(3999, &payload).unwrap();
    assert_eq!(body.text.len(), 200);
    assert!(*payload.1.borrow() < 400, "{}", payload.1.borrow());
    let last = session.record(3999).unwrap();
    assert_eq!(last.line, 4000);
}

/// Follows a file on a screen.
fn follow(state: &mut State, feeds: Vec<Feed>) -> String {
    for feed in feeds {
        update(state, Msg::Feed(feed));
    }
    update(state, Msg::Settle(Millis(0)));
    told(state.session())
}

#[test]
fn rewritten_in_place_the_last_whole_state_stays_until_there_is_a_new_one() {
    let options = Options {
        name: "open.json".to_string(),
        stem: "open".to_string(),
        format: None,
        settings: Settings::default(),
        symbols: Symbols::Unicode,
        theme: Theme::default(),
        zone: TimeZone::UTC,
        operator: "jo".to_string(),
        no_writes: None,
        summariser: None,
    };
    let mut state = State::new(options, (120, 40), Millis(0));
    let chunk = |offset: usize, bytes: &[u8]| Feed::Chunk { offset: offset as u64, bytes: bytes.to_vec() };
    let reset = || Feed::Reset { keep: 0, reason: Change::Rewritten };
    let live = || Feed::Status(Status::Live);

    let old = bytes("open.json");
    let before = follow(&mut state, vec![chunk(0, &old), live()]);
    assert_eq!(before, told(&read("open.json")));

    // The agent went on and writes everything again: half of it is seen, then the rest.
    let text = String::from_utf8(old).unwrap();
    let more = text.replace("\n]", ",\n  {\"role\": \"user\", \"content\": \"stop\"}\n]").into_bytes();
    let (half, rest) = more.split_at(more.len() / 2);
    assert_eq!(follow(&mut state, vec![reset(), chunk(0, half), live()]), before);
    let after = follow(&mut state, vec![chunk(half.len(), rest), live()]);
    assert_eq!(after, format!("{before}, user"));
    assert_eq!(whole(state.session()), whole(&Session::of_bytes(&more, None, "open", Settings::default())));
}
