//! Broken links and broken lines.

use cutline::model::{Flags, NoteKind};
use serde_json::json;

use super::session::{Read, Session};

#[test]
fn a_missing_parent_is_bridged_within_five_seconds() {
    for (gap, kept) in [(3, 3), (4, 3), (5, 1)] {
        let mut s = Session::new("2.1.240");
        s.user("u1", None, "p1").say("a", "u1", "m1", "one").wait(gap).user("u2", Some("gone"), "p2");
        let read = s.read();
        assert_eq!(read.context(s.text().as_bytes()).len(), kept, "{gap}");
        assert_eq!(read.notes(NoteKind::MissingParent), [3]);
    }
    let mut s = Session::new("2.0.76");
    s.user("u1", None, "p1").say("a", "u1", "m1", "one").user("u2", Some("gone"), "p2");
    assert_eq!(s.read().context(s.text().as_bytes()), ["user:p2"], "older ones cut");
}

#[test]
fn cycles_end() {
    let mut s = Session::new("2.1.240");
    s.user("u1", Some("b"), "p1").say("a", "u1", "m1", "one").say("b", "a", "m2", "two").user("u2", Some("b"), "p2");
    let read = s.read();
    assert_eq!(read.context(s.text().as_bytes()), ["user:p1", "assistant:one", "assistant:two", "user:p2"]);
    assert_eq!(read.notes(NoteKind::Cycle).len(), 1);
    let mut s = Session::new("2.1.240");
    s.user("u1", None, "p1").user("u2", Some("u2"), "p2");
    let read = s.read();
    assert_eq!(read.context(s.text().as_bytes()), ["user:p1", "user:p2"], "a parent of itself is a missing one");
    assert_eq!(read.notes(NoteKind::Cycle), [2]);
    let mut s = Session::new("2.1.332");
    s.user("u1", Some("u2"), "p1").user("u2", Some("u1"), "p2").pin("u1", false).user("u3", Some("u2"), "p3");
    assert_eq!(s.read().context(s.text().as_bytes()), ["user:p1", "user:p2", "user:p3"]);
}

#[test]
fn kept_records_in_a_circle_end() {
    let mut s = Session::new("2.1.240");
    s.user("u1", None, "p1").say("a", "u1", "m1", "one");
    let kept = json!({"preservedMessages": {"anchorUuid": "a", "uuids": ["u1", "a", "u1"]}});
    s.system("bound", None, "compact_boundary", json!({"compactMetadata": kept}));
    s.user("u2", Some("a"), "p2");
    assert!(s.read().context(s.text().as_bytes()).contains(&"user:p2".to_string()));
}

#[test]
fn a_uuid_twice_counts_once_but_moves_the_leaf() {
    let mut s = Session::new("2.1.332");
    s.user("u1", None, "p1").call("a", "u1", "m1", "t1").result("r", "a", "t1").say("b", "r", "m2", "two");
    let old: Vec<String> = s.text().lines().take(3).map(str::to_string).collect();
    for line in &old {
        s.raw(line);
    }
    let read = s.read();
    assert_eq!(read.notes(NoteKind::DuplicateUuid), [5, 6, 7]);
    assert_eq!(read.flagged(Flags::REPEAT).len(), 3);
    assert_eq!(read.context(s.text().as_bytes()), ["user:p1", "call:t1", "result:t1"]);
}

#[test]
fn torn_and_junk_lines_cost_only_themselves() {
    let mut s = Session::new("2.1.332");
    s.user("u1", None, "p1").raw("junk").raw("").raw("[1]").say("a", "u1", "m1", "one");
    let mut text = s.text().to_string();
    text.push_str(r#"{"parentUuid":"a","type":"user","uuid":"u2","mess"#);
    let read = Read::of(text.as_bytes());
    assert_eq!(read.context(text.as_bytes()), ["user:p1", "assistant:one"]);
    assert_eq!((read.log().damaged, read.log().lines), (2, 5));
    assert_eq!(read.notes(NoteKind::TornTail).len(), 1);
}

#[test]
fn what_the_runtime_loses_is_counted_but_not_in_its_context() {
    let mut s = Session::new("2.1.332");
    s.user("u1", None, "p1").call("a", "u1", "m1", "t1").wait(9);
    let mut glued = Session::new("2.1.332");
    glued.result("r", "a", "t1");
    let text = format!("{}{{\"type\":\"user\",\"mess{}", s.text(), glued.text());
    let read = Read::of(text.as_bytes());
    assert_eq!(read.flagged(Flags::SALVAGED).len(), 1);
    assert_eq!(read.context(text.as_bytes()), ["user:p1", "call:t1", "?abandoned:t1"]);
}

#[test]
fn strange_fields_cost_nothing() {
    let mut s = Session::new("2.1.332");
    s.tree("user", "u1", None, json!({"message": 7, "timestamp": 9, "version": [1], "isSidechain": "yes"}));
    s.tree("assistant", "a", Some("u1"), json!({"message": {"content": [1, null, {"type": 3}], "usage": "many"}}));
    s.tree(
        "user",
        "r",
        Some("a"),
        json!({"toolUseResult": "text", "message": {"content": [
        {"type": "tool_result", "content": {"odd": true}}, {"type": "tool_result", "tool_use_id": 5}]}}),
    );
    s.tree(
        "system",
        "b",
        Some("r"),
        json!({"subtype": "compact_boundary", "compactMetadata": {"preservedMessages": 1}}),
    );
    s.tree("attachment", "x", Some("b"), json!({"attachment": "none"}));
    s.raw(r#"{"type":"last-prompt","leafUuid":{}}"#).raw(r#"{"type":"queue-operation","operation":"enqueue"}"#);
    let read = s.read();
    assert_eq!(read.log().boundaries.len(), 1);
    for at in 0..read.log().records.len() {
        let record = &read.log().records[at];
        let start = usize::try_from(record.offset).unwrap();
        let line = &s.text().as_bytes()[start..start + record.line_len as usize];
        read.transcript.adapter().unwrap().body(line, record);
    }
}

#[test]
fn copies_without_message_ids_are_grouped_by_their_chain() {
    let mut s = Session::new("2.1.332");
    s.user("u1", None, "p1");
    let part = |text: &str| json!({"message": {"role": "assistant", "content": [{"type": "text", "text": text}]}});
    s.tree("assistant", "a", Some("u1"), part("one")).tree("assistant", "b", Some("a"), part("two"));
    s.user("u2", Some("b"), "p2").tree("assistant", "c", Some("u2"), part("three"));
    let read = s.read();
    let responses: Vec<_> = read.log().records.iter().map(|r| r.response).collect();
    assert!(responses[1].is_some() && responses[1] == responses[2] && responses[4] != responses[1]);
}
