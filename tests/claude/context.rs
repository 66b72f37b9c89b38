//! The effective context: leaf, boundaries, siblings, repairs.

use cutline::{
    format::{Adapter, Line, claude::Claude, json::Raw},
    model::{Log, NoteKind},
};
use serde_json::json;

use super::session::Session;

const NEWEST: &str = "2.1.332";

fn shape(session: &Session) -> Vec<String> {
    session.read().context(session.text().as_bytes())
}

/// How many places the context has for a resume by `version`.
fn resumed(session: &Session, version: &str) -> usize {
    let (mut reader, mut log) = (Claude::new("s").resumed_by(version), Log::default());
    let mut offset = 0;
    for (number, bytes) in (1..).zip(session.text().lines().map(str::as_bytes)) {
        let value = Raw::parse(bytes).unwrap();
        reader.line(&Line { number, offset, bytes, value, segment: 0, salvaged: false, in_document: false }, &mut log);
        offset += bytes.len() as u64 + 1;
    }
    reader.context(&mut log).len()
}

/// A prompt and two parallel calls; each result hangs on its own call.
fn batch(version: &'static str) -> Session {
    let mut s = Session::new(version);
    s.user("u1", None, "p1").say("a1", "u1", "m1", "both").call("a2", "a1", "m1", "t1").call("a3", "a2", "m1", "t2");
    s
}

#[test]
fn a_fan_of_results_is_whole() {
    let mut s = batch(NEWEST);
    s.result("r2", "a3", "t2").result("r1", "a2", "t1").say("b", "r1", "m2", "done");
    let whole = ["user:p1", "assistant:both", "call:t1", "call:t2", "result:t2", "result:t1", "assistant:done"];
    assert_eq!(shape(&s), whole);
    // Linear parents are all that the oldest ones follow: the sibling is lost there.
    assert_eq!(resumed(&s, "2.0.76"), 5);
}

#[test]
fn a_result_between_the_lines_of_its_message() {
    let mut s = Session::new("2.1.38");
    s.user("u1", None, "p1").call("a1", "u1", "m1", "t1").result("r1", "a1", "t1");
    s.call("a2", "a1", "m1", "t2").result("r2", "a2", "t2").say("b", "r2", "m2", "done");
    assert_eq!(shape(&s), ["user:p1", "call:t1", "call:t2", "result:t1", "result:t2", "assistant:done"]);
}

#[test]
fn a_boundary_keeps_what_it_names() {
    let mut s = batch("2.1.240");
    s.result("r1", "a2", "t1").result("r2", "a3", "t2").say("b", "r2", "m2", "done");
    s.user("u2", Some("b"), "p2").say("c", "u2", "m3", "tail");
    let kept = json!({"trigger": "auto", "preTokens": 5000,
        "preservedMessages": {"anchorUuid": "sum", "uuids": ["u2", "c"]},
        "preservedSegment": {"anchorUuid": "sum", "headUuid": "u2", "tailUuid": "c"}});
    s.system("bound", None, "compact_boundary", json!({"logicalParentUuid": "c", "compactMetadata": kept}));
    s.summary("sum", "bound", "SUMMARY");
    assert_eq!(shape(&s), ["summary:SUMMARY", "user:p2", "assistant:tail"]);
    s.user("u3", Some("sum"), "p3").say("d", "u3", "m4", "after");
    assert_eq!(shape(&s), ["summary:SUMMARY", "user:p2", "assistant:tail", "user:p3", "assistant:after"]);
    let read = s.read();
    let boundary = read.log().boundaries[0];
    assert_eq!((boundary.line, boundary.before, boundary.automatic), (10, Some(5000), true));
    // Neither of the lists is known before: the walk runs into the old history.
    assert_eq!(resumed(&s, "2.1.100"), 3);
}

#[test]
fn kept_records_may_come_before_the_summary() {
    let mut s = Session::new("2.1.240");
    s.user("u1", None, "p1").say("a", "u1", "m1", "one").user("u2", Some("a"), "p2").say("b", "u2", "m2", "two");
    let kept = json!({"preservedMessages": {"anchorUuid": "bound", "uuids": ["u1", "a"]}});
    s.system("bound", None, "compact_boundary", json!({"compactMetadata": kept}));
    s.summary("sum", "bound", "SUMMARY");
    assert_eq!(shape(&s), ["user:p1", "assistant:one", "summary:SUMMARY"]);
}

#[test]
fn a_kept_segment_that_does_not_lead_to_its_head_keeps_nothing() {
    let mut s = Session::new("2.1.140");
    s.user("u1", None, "p1").say("a", "u1", "m1", "one").user("u2", None, "p2").say("b", "u2", "m2", "two");
    let kept = json!({"preservedSegment": {"anchorUuid": "sum", "headUuid": "u1", "tailUuid": "b"}});
    s.system("bound", None, "compact_boundary", json!({"compactMetadata": kept}));
    s.summary("sum", "bound", "SUMMARY");
    assert_eq!(shape(&s), ["summary:SUMMARY"]);
}

#[test]
fn a_compaction_swallows_open_calls() {
    let mut s = batch(NEWEST);
    s.result("r1", "a2", "t1");
    s.system("bound", None, "compact_boundary", json!({"logicalParentUuid": "r1", "compactMetadata": {}}));
    s.summary("sum", "bound", "SUMMARY");
    let read = s.read();
    assert_eq!(read.context(s.text().as_bytes()), ["summary:SUMMARY"]);
    assert_eq!(read.notes(NoteKind::Swallowed), [4], "a sibling off that chain");
    let mut s = batch(NEWEST);
    s.result("r2", "a3", "t2");
    s.system("bound", None, "compact_boundary", json!({"logicalParentUuid": "r2", "compactMetadata": {}}));
    s.summary("sum", "bound", "SUMMARY");
    assert_eq!(s.read().notes(NoteKind::Swallowed), [3]);
}

#[test]
fn a_rewind_leaves_a_dead_branch() {
    let mut s = Session::new("2.1.240");
    s.user("u1", None, "p1").say("a", "u1", "m1", "one").user("u2", Some("a"), "p2").call("b", "u2", "m2", "t1");
    s.user("u3", Some("a"), "p2 again").say("c", "u3", "m3", "two");
    assert_eq!(shape(&s), ["user:p1", "assistant:one", "user:p2 again", "assistant:two"]);
}

#[test]
fn a_pin_decides_the_leaf() {
    let mut s = Session::new("2.1.240");
    s.user("u1", None, "p1").say("a", "u1", "m1", "one").user("u2", Some("a"), "p2").say("b", "u2", "m2", "two");
    s.pin("b", false);
    // A newer root and a newer branch elsewhere are ignored; what hangs on the pinned record is not.
    s.user("x", None, "root").user("y", Some("a"), "branch");
    assert_eq!(shape(&s), ["user:p1", "assistant:one", "user:p2", "assistant:two"]);
    s.user("u3", Some("b"), "p3");
    assert_eq!(shape(&s), ["user:p1", "assistant:one", "user:p2", "assistant:two", "user:p3"]);
    s.pin("nowhere", false);
    assert_eq!(shape(&s).len(), 5, "a leaf that is not in the file pins nothing");
    s.pin("a", true).user("u4", Some("u3"), "p4");
    assert_eq!(shape(&s), ["user:p1", "assistant:one"], "an explicit one pins exactly its record");
    assert_eq!(resumed(&s, "2.1.100"), 6, "older ones take the newest time");
}

#[test]
fn a_pin_may_name_a_line_that_comes_later() {
    let mut s = Session::new(NEWEST);
    s.user("u1", None, "p1").pin("a", false).say("a", "u1", "m1", "one").user("x", None, "root");
    assert_eq!(shape(&s), ["user:p1", "assistant:one"]);
}

#[test]
fn a_boundary_ends_the_pins_before_it() {
    let mut s = Session::new(NEWEST);
    s.user("u1", None, "p1").pin("u1", false);
    s.system("bound", None, "compact_boundary", json!({})).summary("sum", "bound", "SUMMARY");
    assert_eq!(shape(&s), ["summary:SUMMARY"]);
    s.pin("u1", false);
    assert_eq!(shape(&s), ["user:p1"], "an old process that exits later undoes the compaction");
}

#[test]
fn what_hangs_on_another_call_of_the_pinned_batch_counts_from_2_1_332() {
    let mut s = batch(NEWEST);
    s.result("r1", "a2", "t1").pin("r1", false).result("r2", "a3", "t2").user("i", Some("r2"), "text");
    let whole = ["user:p1", "assistant:both", "call:t1", "call:t2", "result:t1", "result:t2", "user:text"];
    assert_eq!(shape(&s), whole);
    assert_eq!(resumed(&s, "2.1.240"), 6, "the text is lost");
}

#[test]
fn open_calls_at_the_end_are_owed_those_in_the_middle_are_dropped() {
    let mut s = batch("2.1.240");
    s.result("r1", "a2", "t1");
    assert_eq!(shape(&s), ["user:p1", "assistant:both", "call:t1", "call:t2", "result:t1"]);
    s.user("u2", Some("r1"), "p2");
    assert_eq!(shape(&s), ["user:p1", "assistant:both", "call:t1", "-call:t2", "result:t1", "user:p2"]);
    let mut s = batch("2.1.285");
    s.result("r1", "a2", "t1");
    let owed = ["user:p1", "assistant:both", "call:t1", "call:t2", "result:t1", "?abandoned:t2"];
    assert_eq!(shape(&s), owed, "from 2.1.285 on a resume writes a placeholder");
}

#[test]
fn a_late_result_is_answered_in_place_by_the_runtime() {
    let mut s = batch("2.1.240");
    s.result("r1", "a2", "t1").user("u2", Some("r1"), "p2").say("b", "u2", "m2", "on");
    s.result("r2", "b", "t2").say("c", "r2", "m3", "end");
    let repaired = [
        "user:p1",
        "assistant:both",
        "call:t1",
        "call:t2",
        "result:t1",
        "+abandoned:t2",
        "user:p2",
        "assistant:on",
        "-result:t2",
        "assistant:end",
    ];
    assert_eq!(shape(&s), repaired);
}

#[test]
fn a_result_off_the_chain_stands_beside_its_call() {
    let mut s = Session::new("2.1.240");
    s.user("u1", None, "p1").call("a", "u1", "m1", "t1").user("u2", Some("a"), "p2").say("b", "u2", "m2", "on");
    s.pin("b", false).result("r", "a", "t1");
    assert_eq!(shape(&s), ["user:p1", "call:t1", "result:t1", "user:p2", "assistant:on"]);
}

#[test]
fn orphans_duplicates_and_lonely_thinking_stay_visible() {
    let mut s = Session::new("2.1.240");
    s.user("u1", None, "p1").result("o", "u1", "t9").call("a", "o", "m1", "t1").result("r1", "a", "t1");
    s.result("r2", "r1", "t1").call("b", "r2", "m2", "t1").result("r3", "b", "t1");
    s.part("c", "r3", "m3", json!({"type": "thinking", "thinking": "hm", "signature": "s"}));
    let repaired =
        ["user:p1", "-result:t9", "call:t1", "result:t1", "-result:t1", "-call:t1", "-result:t1", "-thinking:hm"];
    assert_eq!(shape(&s), repaired);
    s.say("d", "c", "m3", "so");
    assert_eq!(&shape(&s)[7..], ["thinking:hm", "assistant:so"]);
}

#[test]
fn notices_that_no_model_reads_are_not_sent() {
    let mut s = Session::new(NEWEST);
    s.user("u1", None, "p1");
    s.tree("attachment", "x", Some("u1"), json!({"attachment": {"type": "prompt_snapshot", "systemPrompt": ["long"]}}));
    s.tree("attachment", "y", Some("x"), json!({"attachment": {"type": "reminder", "text": "mind the gap"}}));
    s.system("z", Some("y"), "turn_duration", json!({"content": "5 s"}));
    let shape = shape(&s);
    assert!(shape[1].starts_with("-notice:"), "{shape:?}");
    assert_eq!(&shape[2..3], ["notice:mind the gap"]);
    assert!(shape[3].starts_with("-notice:"), "{shape:?}");
}
