//! What pi would send next: branches, compactions, edits, discarded responses, its own answers.

use cutline::{budget::Settings, ledger::ObligationKind, model::NoteKind, plan::Session as Whole};
use serde_json::{Value, json};

use super::session::{Session, blocks};

#[test]
fn open_calls_get_the_placeholder_before_the_next_message_and_stay_owed() {
    let mut s = Session::new();
    s.user("u1", "p1").calls("a1", &["c1", "c2"]).result("r1", "c2");
    assert_eq!(s.read().context(), ["user:p1", "call:c1", "call:c2", "result:c2", "?abandoned:c1"]);
    // A person's own command is a message to the model; one that is kept from it is not.
    let command =
        |hidden: bool| json!({"role": "bashExecution", "command": "ls", "output": "a", "excludeFromContext": hidden});
    s.message("b1", &command(true)).message("b2", &command(false)).say("a2", "on");
    let shown = ["-notice:Ran `ls`\na", "?abandoned:c1", "user:Ran `ls`\na", "assistant:on"];
    assert_eq!(s.read().context()[4..], shown);
    let whole = Whole::of_bytes(s.text().as_bytes(), None, "s", Settings::default());
    let owed: Vec<_> = whole.obligations().iter().map(|owed| (owed.kind, owed.at)).collect();
    assert_eq!(owed, [(ObligationKind::Call, 1)]);
}

#[test]
fn the_last_entry_is_the_leaf_and_dead_branches_answer_nothing() {
    let mut s = Session::new();
    s.user("u1", "p1").calls("a1", &["c1"]).result("r1", "c1").say("a2", "done");
    s.on("a1").user("u2", "instead");
    assert_eq!(s.read().context(), ["user:p1", "call:c1", "?abandoned:c1", "user:instead"]);
    // What no model reads can be the leaf, and so can what nobody knows.
    s.on("a2").entry("l", "label", &json!({"targetId": "u1", "label": "x"}));
    let done = ["user:p1", "call:c1", "result:c1", "assistant:done"];
    assert_eq!(s.read().context(), done);
    s.on("u1").entry("x", "later_type", &json!({}));
    assert_eq!(s.read().context(), ["user:p1"]);
}

fn compacted(first: &str) -> Vec<String> {
    let mut s = Session::new();
    s.user("u1", "p1").calls("a1", &["c1"]).result("r1", "c1").user("u2", "p2");
    s.compaction("k", first, "S").user("u3", "p3");
    s.read().context()
}

#[test]
fn a_compaction_keeps_from_the_entry_that_it_names() {
    assert_eq!(compacted("u2"), ["summary:S", "user:p2", "user:p3"]);
    assert_eq!(compacted("a1"), ["summary:S", "call:c1", "result:c1", "user:p2", "user:p3"]);
    for nothing in ["k", "nowhere", "u3"] {
        assert_eq!(compacted(nothing), ["summary:S", "user:p3"], "{nothing}");
    }
    // Orphaned by the boundary, sent all the same.
    assert_eq!(compacted("r1"), ["summary:S", "result:c1", "user:p2", "user:p3"]);
}

#[test]
fn only_the_last_compaction_of_the_path_counts() {
    let mut s = Session::new();
    s.user("u1", "p1").compaction("k1", "k1", "S1").user("u2", "p2");
    assert_eq!(s.read().log().boundaries.iter().map(|b| (b.line, b.before)).collect::<Vec<_>>(), [(3, Some(9000))]);
    s.compaction("k2", "u1", "S2");
    // What the first one had replaced comes back; its own summary is lost.
    assert_eq!(s.read().context(), ["summary:S2", "user:p1", "user:p2"]);
    s.on("u1").say("a", "another branch");
    assert_eq!(s.read().context(), ["user:p1", "assistant:another branch"]);
    assert!(s.read().log().boundaries.is_empty());
}

#[test]
fn a_call_that_a_compaction_dropped_is_told() {
    let mut s = Session::new();
    s.user("u1", "p1").calls("a1", &["c1"]).user("u2", "p2").compaction("k", "u2", "S");
    assert_eq!(s.read().notes(NoteKind::Swallowed), [3]);
    let mut kept = Session::new();
    kept.user("u1", "p1").calls("a1", &["c1"]).compaction("k", "a1", "S").result("r", "c1");
    assert_eq!(kept.read().notes(NoteKind::Swallowed), [0u32; 0]);
    assert_eq!(kept.read().context(), ["summary:S", "call:c1", "result:c1"]);
}

#[test]
fn discarded_responses_are_not_sent_and_owe_nothing() {
    let mut s = Session::new();
    s.user("u1", "p1").calls("a1", &["c1"]).result("r1", "c1");
    s.answer("x1", "aborted", &json!([{"type": "text", "text": "I wi"}])).answer(
        "x2",
        "aborted",
        &blocks(&["c2", "c3"]),
    );
    assert_eq!(s.read().context(), ["user:p1", "call:c1", "result:c1", "-assistant:I wi", "-call:c2", "-call:c3"]);
    let whole = Whole::of_bytes(s.text().as_bytes(), None, "s", Settings::default());
    assert!(whole.obligations().is_empty());
    assert_eq!((whole.tally().void, whole.tally().open().len()), (2, 0));
    // The partial text of a discarded response has read nothing.
    let mut s = Session::new();
    s.user("u1", "p1").calls("a1", &["c1"]).result("r1", "c1");
    s.answer("x", "aborted", &json!([{"type": "thinking", "thinking": "hm"}]));
    let whole = Whole::of_bytes(s.text().as_bytes(), None, "s", Settings::default());
    assert_eq!((whole.ledger().unread(), whole.ledger().live_from()), (vec![2], 1));
}

#[test]
fn edits_omit_and_replace_and_the_last_one_counts() {
    let mut s = Session::new();
    s.user("u1", "p1").calls("a1", &["c1", "c2"]).result("r1", "c1").result("r2", "c2").say("a2", "long story");
    s.edit("e1", "a2", &json!({"content": [{"type": "text", "text": "short"}]}));
    s.edit("e2", "r1", &json!({"content": [{"type": "text", "text": "pruned"}]}));
    let short = ["user:p1", "call:c1", "call:c2", "result:c1", "result:c2", "assistant:short"];
    assert_eq!(s.read().context(), short);
    s.edit("e3", "a2", &Value::Null);
    assert_eq!(s.read().context(), short[..5]);
    // Without their response the results are orphans, and pi says so to nobody.
    s.edit("e4", "a1", &Value::Null);
    let read = s.read();
    assert_eq!(read.context(), ["user:p1", "result:c1", "result:c2"]);
    assert_eq!(read.notes(NoteKind::Resume).len(), 2);
    // On another branch the edits do not hold.
    s.on("a2").user("u2", "p2");
    assert_eq!(s.read().context()[5..], ["assistant:long story", "user:p2"]);
}

#[test]
fn failed_attempts_are_one_retry_until_something_goes_through() {
    let retries = |s: &Session| {
        let whole = Whole::of_bytes(s.text().as_bytes(), None, "s", Settings::default());
        whole
            .obligations()
            .iter()
            .filter(|owed| owed.kind == ObligationKind::Retry)
            .map(|owed| owed.at)
            .collect::<Vec<_>>()
    };
    let mut s = Session::new();
    s.user("u1", "p1").answer("x1", "error", &json!([])).answer("x2", "error", &json!([]));
    assert_eq!(retries(&s), [2], "the newest attempt");
    for end in ["stop", "aborted"] {
        let mut through = Session::new();
        through.user("u1", "p1").answer("x1", "error", &json!([])).answer("x2", end, &json!([]));
        assert_eq!(retries(&through), [0usize; 0], "{end}");
    }
    s.user("u2", "again");
    assert_eq!(retries(&s), [0usize; 0]);
    // Newer versions take failed attempts out of the context at once.
    let mut s = Session::new();
    s.user("u1", "p1").answer("x1", "error", &json!([])).edit("e", "x1", &Value::Null);
    assert_eq!(retries(&s), [0usize; 0]);
}

#[test]
fn a_result_at_the_wrong_place_pairs_and_is_told() {
    let mut s = Session::new();
    s.user("u1", "p1").calls("a1", &["c1"]).user("u2", "p2").say("a2", "x").result("r1", "c1");
    let read = s.read();
    assert_eq!(read.context(), ["user:p1", "call:c1", "?abandoned:c1", "user:p2", "assistant:x", "result:c1"]);
    assert_eq!(read.notes(NoteKind::Resume), [6]);
    let whole = Whole::of_bytes(s.text().as_bytes(), None, "s", Settings::default());
    assert!(whole.obligations().is_empty());
}

#[test]
fn texts_in_the_user_role_have_their_voice() {
    let mut s = Session::new();
    s.user("u1", "p1").entry(
        "m",
        "custom_message",
        &json!({"customType": "x", "content": "injected", "display": true}),
    );
    s.entry("b", "branch_summary", &json!({"fromId": "u1", "summary": "elsewhere"}));
    s.entry("n", "branch_summary", &json!({"fromId": "u1", "summary": ""}));
    s.message("c", &json!({"role": "custom", "customType": "x", "content": [{"type": "text", "text": "hooked"}]}));
    s.entry("z", "custom_message", &json!({"customType": "cutline-summary", "content": "S", "display": true}));
    let read = s.read();
    assert_eq!(read.context(), ["user:p1", "user:injected", "user:elsewhere", "user:hooked", "summary:S"]);
    let prompts = read.log().records.iter().filter(|record| record.is_prompt()).count();
    assert_eq!(prompts, 1);
}
