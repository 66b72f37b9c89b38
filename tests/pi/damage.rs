//! Broken files cost what pi itself loses, and nothing else.

use cutline::model::{Flags, NoteKind};
use serde_json::{Value, json};

use super::session::{Read, Session};

#[test]
fn what_stands_beside_a_value_on_its_line_makes_pi_pass_over_it() {
    let mut s = Session::new();
    s.user("u1", "p1");
    let whole = s.text().to_string();
    let second = json!({"type": "message", "id": "u2", "parentId": "u1", "timestamp": "2026-01-01T00:01:00Z",
        "message": {"role": "user", "content": "p2"}});
    for line in [
        format!("{second}{second}"),
        format!("{second} trailing"),
        format!("{{\"type\":\"mess{second}"),
        format!("\0\0{second}"),
    ] {
        let read = Read::of(format!("{whole}{line}\n").as_bytes());
        assert_eq!(read.context(), ["user:p1"], "{line}");
        assert!(read.log().records.iter().any(|record| record.flags.has(Flags::SALVAGED)), "{line}");
    }
    let read = Read::of(format!("{whole}  {second} \r\n").as_bytes());
    assert_eq!(read.context(), ["user:p1", "user:p2"], "white space is none of it");
    let read = Read::of(format!("\u{feff}{whole}").as_bytes());
    assert_eq!(read.context(), ["user:p1"], "nor is a mark at the start of the file");
}

#[test]
fn a_torn_line_is_seen_when_it_is_whole() {
    let mut s = Session::new();
    s.user("u1", "p1").say("a1", "done");
    let cut = s.text().len() - 20;
    let read = Read::of(&s.text().as_bytes()[..cut]);
    assert_eq!((read.context(), read.notes(NoteKind::TornTail)), (vec!["user:p1".to_string()], vec![3]));
    let unterminated = Read::of(s.text().trim_end().as_bytes());
    assert_eq!(unterminated.context(), ["user:p1", "assistant:done"]);
}

#[test]
fn parents_may_be_missing_and_may_go_in_circles() {
    let mut s = Session::new();
    s.user("u1", "p1").on("nowhere").user("u2", "p2").say("a", "x");
    assert_eq!(
        (s.read().context(), s.read().notes(NoteKind::MissingParent)),
        (vec!["user:p2".to_string(), "assistant:x".to_string()], vec![3])
    );
    let mut own = Session::new();
    own.user("u1", "p1").on("u2").user("u2", "p2");
    assert_eq!((own.read().context(), own.read().notes(NoteKind::Cycle)), (vec!["user:p2".to_string()], vec![3]));
    let mut round = Session::new();
    round.user("u1", "p1").user("u2", "p2").user("u1", "p1 again");
    let read = round.read();
    assert_eq!(
        (read.context(), read.notes(NoteKind::Cycle)),
        (vec!["user:p2".to_string(), "user:p1 again".to_string()], vec![3])
    );
    assert_eq!(read.notes(NoteKind::DuplicateUuid), [4]);
}

#[test]
fn headers_at_strange_places_are_told() {
    let mut s = Session::new();
    s.user("u1", "p1").raw(r#"{"type":"session","version":3,"id":"t","timestamp":"t","cwd":"/"}"#).user("u2", "p2");
    assert_eq!((s.read().context().len(), s.read().notes(NoteKind::Format)), (2, vec![3]));
    let (_, body) = s.text().split_once('\n').unwrap();
    let read = Read::of(body.as_bytes());
    assert_eq!((read.context().len(), read.notes(NoteKind::Format)), (2, vec![2]));
    let newer = Session::with(&json!({"version": 9, "id": "s", "timestamp": "t", "cwd": "/"}));
    assert_eq!(newer.read().notes(NoteKind::Format), [1]);
}

#[test]
fn strange_fields_cost_nothing() {
    let mut s = Session::new();
    let odd = [
        json!({"role": "user", "content": 7}),
        json!({"role": "user"}),
        json!({"role": "assistant", "content": {"a": 1}, "usage": "many", "stopReason": 3}),
        json!({"role": "assistant", "content": [1, null, {"type": 3}, {"type": "toolCall"}]}),
        json!({"role": "toolResult", "toolCallId": 5, "content": null}),
        json!({"role": "toolResult", "nestedCalls": {"calls": [{"status": "unfinished"}]}}),
        json!({"role": "bashExecution"}),
        json!({"role": ["user"]}),
        json!("text"),
    ];
    for (n, message) in odd.iter().enumerate() {
        s.message(&format!("m{n}"), message);
    }
    s.entry("k", "compaction", &json!({"summary": 5, "firstKeptEntryId": {}, "tokensBefore": -1}));
    s.entry("e", "context_edit", &json!({"targetId": "nowhere", "replacement": 9}));
    s.edit("f", "m3", &json!({"content": "text"})).edit("g", "k", &json!({"content": []})).edit(
        "h",
        "m4",
        &Value::Null,
    );
    s.raw(r#"{"type":9,"id":{},"parentId":[]}"#).raw("{}").user("u", "p");
    let read = s.read();
    assert_eq!(read.context().last().map(String::as_str), Some("user:p"));
    for record in &read.log().records {
        let start = usize::try_from(record.offset).unwrap();
        let line = &s.text().as_bytes()[start..start + record.line_len as usize];
        read.transcript.adapter().unwrap().body(line, record);
    }
}
