//! What single lines become: facts of the session, figures, results, versions, relatives.

use cutline::{
    budget::Settings,
    format::{Commit, Format},
    model::{Flags, Kind, NoteKind},
    plan::Session as Whole,
};
use serde_json::json;

use super::session::{Read, Session};

fn v1() -> String {
    let lines = [
        json!({"type": "session", "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w", "modelId": "m0"}),
        json!({"type": "message", "timestamp": "2026-01-01T00:00:01Z", "message": {"role": "user", "content": "p1"}}),
        json!({"type": "message", "timestamp": "2026-01-01T00:00:02Z", "message": {"role": "user", "content": "p2"}}),
        json!({"type": "compaction", "timestamp": "2026-01-01T00:00:03Z", "summary": "S", "firstKeptEntryIndex": 2}),
        json!({"type": "message", "timestamp": "2026-01-01T00:00:04Z",
            "message": {"role": "hookMessage", "content": "hooked"}}),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

#[test]
fn version_1_is_linear_and_counts_its_entries_from_the_header() {
    let read = Read::of(v1().as_bytes());
    assert_eq!(read.context(), ["summary:S", "user:p2", "user:hooked"]);
    let facts = read.transcript.adapter().unwrap().session();
    assert_eq!((facts.generation, facts.model.as_deref()), (Some("v1"), Some("m0")));
    // From version 2 on the index says nothing: nothing is kept.
    let mut s = Session::new();
    s.user("u", "p").entry("k", "compaction", &json!({"summary": "S", "firstKeptEntryIndex": 1, "tokensBefore": 1}));
    assert_eq!(s.read().context(), ["summary:S"]);
}

#[test]
fn facts_of_the_session() {
    let mut s = Session::new();
    s.entry("m", "model_change", &json!({"provider": "p", "modelId": "big"}));
    s.entry("i", "session_info", &json!({"name": "Old title"})).entry("j", "session_info", &json!({"name": "Title"}));
    let facts = s.read().transcript.adapter().unwrap().session();
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    assert_eq!([&facts.id, &facts.cwd, &facts.model, &facts.title].map(text), ["s", "/w", "big", "Title"]);
    assert_eq!((facts.generation, facts.version), (Some("v3"), None));
    s.say("a", "x").entry("k", "session_info", &json!({"name": " "}));
    let facts = s.read().transcript.adapter().unwrap().session();
    assert_eq!((text(&facts.model), facts.title), ("m".to_string(), None));
}

#[test]
fn figures_are_those_of_responses_that_count() {
    let mut s = Session::new();
    s.user("u", "p").say("a1", "x");
    let usage = |s: &Session| s.read().log().usage.iter().map(|usage| (usage.input, usage.output)).collect::<Vec<_>>();
    assert_eq!(usage(&s), [(101, 10)]);
    s.answer("x", "error", &json!([]));
    s.message(
        "z",
        &json!({"role": "assistant", "content": [{"type": "text", "text": "free"}], "stopReason": "stop",
        "usage": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0}}),
    );
    s.message(
        "o",
        &json!({"role": "assistant", "content": "old", "stopReason": "stop",
        "usage": {"input": 7, "output": 2, "cacheRead": 1, "cacheWrite": 1}}),
    );
    assert_eq!(usage(&s), [(101, 10), (9, 2)]);
    // Figures from before a compaction say nothing of what it left.
    let measured = |s: &Session| {
        let whole = Whole::of_bytes(s.text().as_bytes(), None, "s", Settings::default());
        whole.budget().unwrap().series.measured().is_some()
    };
    assert!(measured(&s));
    s.compaction("k", "o", "S");
    assert!(!measured(&s));
}

#[test]
fn results_are_told_apart() {
    let mut s = Session::new();
    s.user("u", "p").calls("a", &["c1", "c2", "c3", "c4", "c5", "c6"]);
    s.result("r1", "c1").resolved("r2", "c2", "no such file", true).resolved("r3", "c3", "Command aborted", true);
    s.resolved("r4", "c4", "abandoned by operator jo: outcome UNKNOWN. Gone.", true);
    s.resolved("r5", "c5", "abandoned by operator: said a page", false);
    let repaired =
        "[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.";
    s.resolved("r6", "c6", repaired, true);
    let kinds: Vec<_> =
        s.read().log().records.iter().filter(|r| r.kind.is_resolution()).map(|r| (r.kind, r.flags)).collect();
    let unknown = Flags::UNKNOWN_OUTCOME;
    let wanted = [
        (Kind::Result, Flags::NONE),
        (Kind::Error, Flags::NONE),
        (Kind::Error, unknown),
        (Kind::Abandoned, unknown),
        (Kind::Result, Flags::NONE),
        (Kind::Abandoned, unknown),
    ];
    assert_eq!(kinds, wanted);
}

#[test]
fn what_is_not_known_is_kept_counted_and_a_part_of_the_tree() {
    let mut s = Session::new();
    s.user("u", "p").entry("x", "later_type", &json!({"deep": {"a": 1}}));
    s.message("y", &json!({"role": "later_role", "content": "?"}));
    s.answer("a", "stop", &json!([{"type": "text", "text": "t"}, {"type": "later_block", "n": 1}]));
    let read = s.read();
    assert_eq!((read.log().not_understood, read.notes(NoteKind::NotUnderstood)), (3, vec![3, 4, 5]));
    assert_eq!(read.context(), ["user:p", "assistant:t", "opaque:{\"type\":\"later_block\",\"n\":1}"]);
    // A block lives and dies with its message.
    let whole = Whole::of_bytes(s.text().as_bytes(), None, "s", Settings::default());
    assert_eq!(cutline::cut::legal_cuts(whole.ledger()), [1, 3]);
}

#[test]
fn prompts_of_the_system_stand_beside_the_context() {
    let mut s = Session::new();
    s.message("y", &json!({"role": "system", "content": "", "sections": {"preamble": "You are."}})).user("u", "p");
    assert_eq!(s.read().context(), ["user:p"]);
}

#[test]
fn relatives_whose_parents_name_calls_are_read_in_order_and_not_written() {
    let mut s = Session::new();
    s.on("s").user("u", "p").calls("a", &["c1"]).on("c1").result("r", "c1").say("b", "done");
    let read = s.read();
    assert_eq!(read.context(), ["user:p", "call:c1", "result:c1", "assistant:done"]);
    assert!(read.notes(NoteKind::MissingParent).is_empty());
    let capability = read.transcript.adapter().unwrap().capability();
    assert_eq!((capability.commits, capability.hides.len()), (&[][..], 4));
    assert_eq!(
        Session::new().read().transcript.adapter().unwrap().capability().commits,
        [Commit::Fork, Commit::Append]
    );
}

#[test]
fn it_is_recognised_with_and_without_its_header() {
    let found = |text: &str| {
        Whole::of_bytes(text.as_bytes(), None, "s", Settings::default()).detection().map(|found| found.format)
    };
    let mut s = Session::new();
    s.user("u", "p");
    assert_eq!(found(s.text()), Some(Format::Pi));
    assert_eq!(found(s.text().lines().nth(1).unwrap()), Some(Format::Pi));
    assert_eq!(found(&v1()), Some(Format::Pi));
    assert_eq!(found(v1().lines().nth(1).unwrap()), None, "too little");
    assert_ne!(found(r#"{"type":"message","role":"user","content":[]}"#), Some(Format::Pi));
    assert_eq!(found(r#"{"type":"session.start","id":"x","timestamp":"t","cwd":"/"}"#), None);
}

#[test]
fn bodies_say_what_stood_there() {
    let mut s = Session::new();
    s.message(
        "a",
        &json!({"role": "assistant", "model": "big", "stopReason": "toolUse", "content": [
        {"type": "thinking", "thinking": "", "thinkingSignature": "x", "redacted": true},
        {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a.rs"}}],
        "usage": {"input": 3, "output": 1}}),
    );
    s.message(
        "r",
        &json!({"role": "toolResult", "toolCallId": "c", "toolName": "read", "isError": false,
        "content": [{"type": "text", "text": "one"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]}),
    );
    s.answer("x", "error", &json!([]));
    let whole = Whole::of_bytes(s.text().as_bytes(), None, "s", Settings::default());
    let bytes = s.text().as_bytes().to_vec();
    let body = |at| whole.body(at, &bytes).unwrap();
    assert_eq!(body(0).text, "[redacted thinking]");
    assert_eq!((body(1).tool.as_deref(), body(1).input.as_deref()), (Some("read"), Some(r#"{"path":"a.rs"}"#)));
    assert!(body(1).facts.contains(&("model".to_string(), "big".to_string())), "{:?}", body(1).facts);
    assert_eq!(body(2).text, "one\n[image]");
    assert!(whole.record(2).unwrap().tokens > 1000, "an image has its weight");
    assert!(body(3).facts.contains(&("stop reason".to_string(), "error".to_string())));
}
