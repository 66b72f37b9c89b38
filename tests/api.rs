//! Logs of model APIs: the same conversation in every dialect and container, what their lists can show that pairing by
//! ids misses, and lists with a span replaced.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails says where")]

#[path = "api/conversation.rs"]
mod conversation;
#[path = "api/forks.rs"]
mod forks;
#[path = "api/lists.rs"]
mod lists;
#[path = "api/logs.rs"]
mod logs;
#[path = "api/random.rs"]
mod random;

use cutline::{budget::Settings, model::Kind, plan::Session};

fn session(bytes: &[u8]) -> Session {
    Session::of_bytes(bytes, None, "x", Settings::default())
}

fn kinds(session: &Session) -> Vec<(Kind, String)> {
    let records = (0..session.context().len()).map(|at| session.record(at).unwrap());
    records.map(|record| (record.kind, session.name(record.id).to_string())).collect()
}

fn notes(session: &Session) -> String {
    session.notes().iter().map(|note| note.text.as_str()).collect::<Vec<_>>().join("\n")
}
