//! Files that continue others.

use super::rollout::{assistant, call, context, events, noted, output, paginated, user};
use cutline::{
    format::{Continues, Format, Transcript},
    model::NoteKind,
};

/// A paginated rollout that continues the first `end` bytes of `base`.
fn child(base: &str, end: usize, lines: &[String]) -> Vec<u8> {
    let plain = String::from_utf8(paginated(lines)).unwrap();
    let base =
        format!(r#""history_base":{{"thread_id":"{base}","end_ordinal_exclusive":9,"end_byte_offset":{end}}},"id""#);
    plain.replacen("\"id\"", &base, 1).into_bytes()
}

/// Feeds `own` as a caller does: the first line, then what it asks for, then the rest.
fn read(own: &[u8], files: &[(&str, &[u8])]) -> Transcript {
    let mut transcript = Transcript::new(None, "rollout");
    let first = own.iter().position(|b| *b == b'\n').unwrap() + 1;
    transcript.feed(&own[..first]);
    let mut segment = 0;
    while let Some(Continues { id, end }) = transcript.continues() {
        let Some((_, bytes)) = files.iter().find(|(name, _)| *name == id) else { break };
        segment += 1;
        transcript.feed_segment(segment, &bytes[..usize::try_from(end).unwrap()]);
    }
    transcript.feed(&own[first..]);
    transcript
}

#[test]
fn two_segments() {
    let parent = paginated(&[user("one"), call("a"), output("a"), assistant("late")]);
    let end = parent.len() - parent.split(|b| *b == b'\n').nth(4).unwrap().len() - 1;
    let own = child("p", end, &[user("two"), assistant("b")]);
    let mut transcript = read(&own, &[("p", &parent)]);
    assert_eq!(transcript.detection().unwrap().format, Format::Codex);
    assert_eq!(context(&mut transcript), "U Ca Ra U A", "what stands behind the offset is not part of it");
    let log = transcript.log();
    let places: Vec<_> = log.records.iter().map(|r| (r.segment, r.line)).collect();
    assert_eq!(places, [(0, 1), (1, 1), (1, 2), (1, 3), (1, 4), (0, 2), (0, 3)]);
    assert_eq!(log.lines, 3, "lines of the file itself");
    assert_eq!(transcript.adapter().unwrap().session().id.as_deref(), Some("t"));
}

#[test]
fn the_oldest_comes_first_though_it_is_read_last() {
    let oldest = paginated(&[user("one"), call("a")]);
    let middle = child("oldest", oldest.len(), &[output("a"), user("two")]);
    let own = child("middle", middle.len(), &[assistant("b")]);
    let mut transcript = read(&own, &[("oldest", &oldest), ("middle", &middle)]);
    assert_eq!(context(&mut transcript), "U Ca Ra U A");
    assert_eq!(transcript.continues(), None);
    assert!(transcript.log().notes.is_empty(), "{:?}", transcript.log().notes);
}

#[test]
fn what_lives_in_a_parent_ends_in_its_child() {
    let running = output("a").replace("ok", "Process running with session ID 7");
    let ended = r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"a","process_id":"7","status":"completed"}}}"#;
    let oldest = paginated(&[user("one"), call("a"), running]);
    let middle = child("oldest", oldest.len(), &[user("two"), ended.to_string()]);
    let own = child("middle", middle.len(), &[assistant("b")]);
    let transcript = read(&own, &[("oldest", &oldest), ("middle", &middle)]);
    let mut told = events(transcript.log());
    told.sort();
    assert_eq!(told, ["2 7 ended unseen", "4 Session 7 started"]);
}

#[test]
fn figures_of_older_files_are_older() {
    let record = |n: u32| format!(r#"{{"type":"token_usage_record","payload":{{"usage":{{"total_tokens":{n}}}}}}}"#);
    let oldest = paginated(&[user("one"), assistant("a"), record(100)]);
    let middle = child("oldest", oldest.len(), &[user("two"), assistant("b"), record(200)]);
    let own = child("middle", middle.len(), &[user("three")]);
    let transcript = read(&own, &[("oldest", &oldest), ("middle", &middle)]);
    let log = transcript.log();
    assert_eq!(log.usage.iter().map(|usage| usage.input).collect::<Vec<_>>(), [200]);
}

#[test]
fn a_missing_source_and_a_cycle_are_told() {
    let own = child("gone", 10, &[user("x"), user("y")]);
    let missing = read(&own, &[]);
    assert_eq!(noted(missing.log(), NoteKind::MissingParent), [2]);
    // A header that continues itself: as long as its own line.
    let length = child("self", 100, &[]).len();
    let own = child("self", length, &[]);
    let mut cycle = read(&[&own[..], user("x").as_bytes(), b"\n"].concat(), &[("self", &own)]);
    assert_eq!(noted(cycle.log(), NoteKind::Cycle), [1]);
    assert_eq!(cycle.continues(), None);
    assert_eq!(context(&mut cycle), "U");
}

#[test]
fn a_source_of_nothing_readable_is_asked_for_once() {
    let own = child("torn", 5, &[user("x"), user("y")]);
    let mut transcript = read(&own, &[("torn", b"{\"a\":")]);
    assert_eq!(transcript.continues(), None);
    assert_eq!(context(&mut transcript), "U U");
}
