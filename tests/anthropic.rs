//! The reader and the writer of Anthropic Messages, and documents as containers.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails says where")]

#[path = "anthropic/documents.rs"]
mod documents;
#[path = "anthropic/forks.rs"]
mod forks;
#[path = "anthropic/reading.rs"]
mod reading;

use std::fs;

use cutline::{
    budget::Settings,
    format::Minted,
    model::{Kind, Millis, Record},
    plan::{Abandonment, Draft, Session, Wish, draft},
};
use jiff::tz::TimeZone;

const FILES: [&str; 8] = [
    "open.json",
    "compact.json",
    "server.json",
    "lines.jsonl",
    "bodies.jsonl",
    "exchanges.jsonl",
    "retry.jsonl",
    "body.json",
];

fn bytes(file: &str) -> Vec<u8> {
    fs::read(format!("tests/anthropic/{file}")).unwrap()
}

fn session(bytes: &[u8]) -> Session {
    Session::of_bytes(bytes, None, "log", Settings::default())
}

fn read(file: &str) -> Session {
    session(&bytes(file))
}

fn records(session: &Session) -> Vec<Record> {
    (0..session.context().len()).map(|at| *session.record(at).unwrap()).collect()
}

/// `kind id` of every place of the context.
fn told(session: &Session) -> String {
    let one = |record: &Record| format!("{} {}", record.kind.name(), session.name(record.id)).trim_end().to_string();
    records(session).iter().map(one).collect::<Vec<_>>().join(", ")
}

fn open(session: &Session) -> Vec<Abandonment> {
    let owed = session.obligations().into_iter().filter(|owed| owed.id.is_some());
    owed.map(|owed| Abandonment {
        id: session.name(owed.id).to_string(),
        instance: Some(owed.at),
        reason: "the host is lost".to_string(),
        by: "jo".to_string(),
        ..Abandonment::default()
    })
    .collect()
}

fn drafted(bytes: &[u8], span: Option<(usize, usize)>, settle: bool) -> Draft {
    let session = session(bytes);
    let minted = Minted::new([7; 16], Millis(1_795_000_000_000), TimeZone::UTC);
    let settle = if settle { open(&session) } else { Vec::new() };
    let draft = draft(&session, &bytes.to_vec(), &Wish { span, settle, ..Wish::default() }, &minted).unwrap();
    let failed: Vec<String> =
        draft.failed().filter(|check| check.name != "smaller").map(|check| check.text.clone()).collect();
    assert_eq!(failed, Vec::<String>::new(), "{}", String::from_utf8_lossy(&draft.bytes));
    draft
}

/// The position of the call `id`.
fn call(session: &Session, id: &str) -> usize {
    let is = |record: &Record| record.kind == Kind::Call && session.name(record.id) == id;
    records(session).iter().position(is).unwrap()
}
