//! Compactions, rollbacks, and the format's own rules for lines.

use super::rollout::{
    LEGACY, answers, assistant, call, calls, compacted, context, event, file, item, legacy, noted, output, paginated,
    said, started, user, whole,
};
use cutline::model::{Flags, NoteKind};

const SUMMARY: &str = "Another language model started to solve this problem. It did things.";

fn replaced_by(items: &[String]) -> String {
    compacted(&format!(r#"{{"message":"","replacement_history":[{}]}}"#, items.join(",")))
}

#[test]
fn a_replacement_history_replaces() {
    let cut = replaced_by(&[said("user", "one"), said("user", SUMMARY)]);
    let mut transcript = legacy(&[user("one"), assistant("a"), cut, user("two")]);
    assert_eq!(context(&mut transcript), "U' S' U");
    let log = transcript.log();
    assert_eq!(log.boundaries.len(), 1);
    assert!(log.records.iter().filter(|r| r.flags.has(Flags::REPEAT)).all(|r| r.line == 4));
}

#[test]
fn without_one_prompts_and_the_message_are_left() {
    let cut = || compacted(&format!(r#"{{"message":"{SUMMARY}"}}"#));
    let wrapper = user("<environment_context></environment_context>");
    let lines = vec![wrapper, user("one"), call("a"), output("a"), cut(), user("two"), cut()];
    // The older summary is none of the person's messages.
    assert_eq!(context(&mut legacy(&lines)), "U U S");
    assert_eq!(context(&mut legacy(&[lines, vec![assistant("a")]].concat())), "U U S A");
}

#[test]
fn prompts_beyond_the_budget_are_cut() {
    // 20,000 approximate tokens of four bytes: the newest whole, the one before it in part, the oldest not at all.
    let cut = compacted(r#"{"message":"raw"}"#);
    let lines = [user("old"), user(&"x".repeat(60_000)), user(&"y".repeat(40_000)), cut];
    let mut transcript = legacy(&lines);
    assert_eq!(context(&mut transcript), "U U S");
    let log = transcript.log();
    let cut: Vec<_> = log.records.iter().filter(|r| r.flags.has(Flags::TRUNCATED)).map(|r| r.line).collect();
    assert_eq!(cut, [3]);
    assert!(log.records[2].tokens <= 10_000);
}

#[test]
fn metadata_of_another_length_brings_the_old_history_back() {
    for (metadata, wanted) in [("[{},{}]", "U A"), ("[{}]", "U'"), ("null", "U'")] {
        let cut = format!(
            r#"{{"message":"","replacement_history":[{}],"replacement_history_metadata":{metadata}}}"#,
            said("user", "one")
        );
        let mut transcript = legacy(&[user("one"), assistant("a"), compacted(&cut)]);
        assert_eq!(context(&mut transcript), wanted, "{metadata}");
        assert_eq!(noted(transcript.log(), NoteKind::Resume).len(), usize::from(wanted == "U A"));
        assert_eq!(transcript.log().boundaries.len(), 1);
    }
}

#[test]
fn a_call_that_is_kept_stays_as_old_as_it_was() {
    let kept = || replaced_by(&[said("user", SUMMARY), calls("a", "exec_command", "{}")]);
    let open = [user("one"), call("a"), call("b"), output("b")];
    let mut pending = legacy(&[&open[..], &[kept()]].concat());
    assert_eq!(context(&mut pending), "S' Ca' [Xa?]");
    assert!(noted(pending.log(), NoteKind::Swallowed).is_empty());
    let mut implicit = legacy(&[&open[..], &[started(), kept()]].concat());
    assert_eq!(context(&mut implicit), "S' Ca' <Xa?>");
}

#[test]
fn a_call_that_is_dropped_while_open_is_told() {
    let cut = || replaced_by(&[said("user", SUMMARY)]);
    let mut transcript = legacy(&[user("one"), call("a"), cut(), cut(), output("a")]);
    assert_eq!(noted(transcript.log(), NoteKind::Swallowed), [3], "once");
    assert_eq!(transcript.log().notes[0].record, Some(2));
    assert_eq!(context(&mut transcript), "S' (Ra)", "its late output answers nothing that is left");
    // Answered in memory before: no news.
    let answered = legacy(&[user("one"), call("a"), started(), cut()]);
    assert!(noted(answered.log(), NoteKind::Swallowed).is_empty());
}

#[test]
fn items_of_a_replacement_history() {
    let unknown = r#"{"type":"future_item"}"#.to_string();
    let ghost = r#"{"type":"ghost_snapshot"}"#.to_string();
    let opaque = r#"{"type":"compaction","encrypted_content":"QUJD"}"#.to_string();
    let orphan = answers("z", "ok");
    let mut transcript = legacy(&[user("one"), replaced_by(&[unknown, ghost, opaque, orphan])]);
    assert_eq!(context(&mut transcript), "O' S' (Rz')");
}

#[test]
fn a_rollback_drops_turns_with_their_context() {
    let back = |n: &str| event(&format!(r#"{{"type":"thread_rolled_back","num_turns":{n}}}"#));
    let developer = || item(&said("developer", "rules"));
    let wrapper = || user("<environment_context></environment_context>");
    let turns =
        vec![developer(), wrapper(), user("one"), assistant("a"), developer(), wrapper(), user("two"), call("c")];
    let with = |line: String| legacy(&[turns.clone(), vec![line]].concat());
    assert_eq!(context(&mut with(back("0"))), "N u U A N u U Cc [Xc?]");
    assert_eq!(context(&mut with(back("1"))), "N u U A");
    assert_eq!(context(&mut with(back("2"))), "N u", "what stands before the first turn stays");
    assert_eq!(context(&mut with(back("9"))), "N u");
    let mut odd = with(back("\"x\""));
    assert_eq!(context(&mut odd), "N u U A N u U Cc [Xc?]");
    assert_eq!(noted(odd.log(), NoteKind::Format), [10]);
}

#[test]
fn a_rollback_that_drops_an_output_opens_its_call_again() {
    let back = event(r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let mut transcript = legacy(&[user("one"), call("a"), user("two"), output("a"), back]);
    assert_eq!(context(&mut transcript), "U Ca <Xa?>");
}

#[test]
fn a_rollback_behind_a_compaction_is_told() {
    let back = |n: u32| event(&format!(r#"{{"type":"thread_rolled_back","num_turns":{n}}}"#));
    let lines = |n| [user("one"), replaced_by(&[said("user", "one"), said("user", SUMMARY)]), user("two"), back(n)];
    let mut near = legacy(&lines(1));
    assert_eq!(context(&mut near), "U' S'");
    assert!(noted(near.log(), NoteKind::Resume).is_empty());
    let mut far = legacy(&lines(2));
    assert_eq!(context(&mut far), "U'");
    assert_eq!(noted(far.log(), NoteKind::Resume), [5]);
}

#[test]
fn ordinals() {
    let good = String::from_utf8(paginated(&[user("a"), user("b"), user("c")])).unwrap();
    let lint = |text: &str, kind| noted(whole(text.as_bytes()).log(), kind);
    assert!(lint(&good, NoteKind::Format).is_empty() && lint(&good, NoteKind::Resume).is_empty());
    for (from, to, kind) in [
        ("\"ordinal\":2", "\"ordinal\":1", NoteKind::Format),
        ("\"ordinal\":2", "\"ordinal\":0", NoteKind::Format),
        ("\"ordinal\":3", "\"ordinal\":9", NoteKind::Format),
        ("\"ordinal\":3,", "", NoteKind::Resume),
        ("\"ordinal\":3", "\"ordinal\":3.0", NoteKind::Resume),
    ] {
        assert!(!lint(&good.replace(from, to), kind).is_empty(), "{from} {to}");
    }
}

#[test]
fn headers() {
    let line = user("a");
    let twice = whole(&file(&[LEGACY, &line, LEGACY]));
    assert_eq!(noted(twice.log(), NoteKind::Format), [3]);
    let none = whole(&file(&[&line]));
    assert_eq!(noted(none.log(), NoteKind::Resume), [1]);
    let behind = whole(&file(&["garbage", LEGACY, &line]));
    assert_eq!(noted(behind.log(), NoteKind::Resume), [2]);
    let later = whole(&file(&[LEGACY, r#"{"role":"user","type":"message","content":[]}"#]));
    assert_eq!(later.adapter().unwrap().session().generation, Some("G3"));
    assert_eq!(later.log().not_understood, 1, "a bare line among envelopes");
}
