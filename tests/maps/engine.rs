//! What the words of a map mean, one by one.

use cutline::{
    budget::Settings,
    format::{
        Format, Transcript,
        map::{Map, Mapping},
    },
    model::{Flags, Kind},
    plan::Session,
};

const HEAD: &str = r#"
format = "mine"
title = "Mine"
reads = "*.jsonl"
"#;
const TAIL: &str = r#"
[tells]
open = true
results = true
ids = "repeat"
usage = true
window = true

[[evidence]]
when = { "/t" = { exists = true } }
why = "t"

[[rule]]
when = { "/t" = "user" }
emit = "user"
text = "/text"

[[rule]]
when = { "/t" = "call" }
emit = "call"
id = "/id"
name = "/name"
void-if = { "/stop" = "aborted" }

[[rule]]
when = { "/t" = "result" }
emit = "result"
id = "/id"
name = "/name"
status = { at = "/s", is = { bad = "error", no = "denied", gone = "abandoned" }, else = "ok" }

[[rule]]
when = { "/t" = "again" }
emit = "result"
id = "/id"
repeats = true

[[rule]]
when = { "/t" = "state" }
emit = "state"
id = "/id"
name = "/name"
status = { at = "/s", is = { done = "ok" }, else = "open" }

[[rule]]
when = { "/t" = "stop" }
emit = "close"

[[rule]]
when = { "/t" = "cut" }
emit = "boundary"
keeps = "nothing"
"#;

fn with(top: &str, lines: &[&str], more: &str) -> Session {
    let map = Map::parse(&format!("{HEAD}{top}{TAIL}{more}")).unwrap_or_else(|error| panic!("{error}"));
    let format = Format::Mapped(Mapping::keep(map));
    Session::of_bytes(format!("{}\n", lines.join("\n")).as_bytes(), Some(format), "x", Settings::default())
}

fn read(lines: &[&str]) -> Session {
    with("", lines, "")
}

/// Calls, results, open ids, orphans, duplicates.
fn facts(session: &Session) -> (usize, usize, String, usize, usize) {
    let (log, tally) = (session.log(), session.tally());
    let open = tally.open();
    let open: Vec<&str> = open.iter().map(|call| session.name(log.records[call.record as usize].id)).collect();
    (tally.calls, tally.results, open.join(" "), tally.orphans, tally.duplicates)
}

fn kinds(session: &Session) -> Vec<&'static str> {
    (0..session.context().len()).map(|at| session.record(at).unwrap().kind.name()).collect()
}

#[test]
fn a_result_answers_the_newest_open_call_of_its_id() {
    let session = read(&[r#"{"t":"call","id":"a"}"#, r#"{"t":"result","id":"a"}"#, r#"{"t":"call","id":"a"}"#]);
    assert_eq!(facts(&session), (2, 1, "a".into(), 0, 0));
    let session = read(&[r#"{"t":"result","id":"a"}"#, r#"{"t":"call","id":"a"}"#]);
    assert_eq!(facts(&session), (1, 1, "a".into(), 1, 0), "a result before its call is an orphan");
}

#[test]
fn without_an_id_the_oldest_call_of_that_name_is_answered() {
    let calls = [r#"{"t":"call","name":"x"}"#, r#"{"t":"call","name":"y","id":""}"#, r#"{"t":"call","name":"x"}"#];
    let session = read(&[calls[0], calls[1], calls[2], r#"{"t":"result","name":"x"}"#]);
    assert_eq!(facts(&session), (3, 1, "y#2 x#3".into(), 0, 0));
    let session = read(&[calls[0], calls[1], r#"{"t":"result"}"#]);
    assert_eq!(facts(&session).2, "y#2", "without a name the oldest of all");
    assert_eq!(facts(&read(&[r#"{"t":"result","name":"x"}"#])).3, 1);
}

#[test]
fn states_say_how_a_call_ended() {
    for (word, kind, flag) in [
        ("bad", Kind::Error, Flags::NONE),
        ("no", Kind::Error, Flags::DENIED),
        ("gone", Kind::Abandoned, Flags::UNKNOWN_OUTCOME),
        ("fine", Kind::Result, Flags::NONE),
    ] {
        let session = read(&[r#"{"t":"call","id":"a"}"#, &format!(r#"{{"t":"result","id":"a","s":"{word}"}}"#)]);
        let record = session.record(1).unwrap();
        assert_eq!(record.kind, kind, "{word}");
        assert!(record.flags.has(flag), "{word}");
    }
}

#[test]
fn a_second_result_is_a_duplicate_unless_it_is_written_twice_by_design() {
    let (call, result) = (r#"{"t":"call","id":"a"}"#, r#"{"t":"result","id":"a"}"#);
    assert_eq!(facts(&read(&[call, result, result])).4, 1);
    let session = read(&[call, result, r#"{"t":"again","id":"a"}"#]);
    assert_eq!((facts(&session).4, kinds(&session)), (0, vec!["call", "result", "notice"]));
}

#[test]
fn a_discarded_call_is_never_owed() {
    let session = read(&[r#"{"t":"call","id":"a","stop":"aborted"}"#]);
    assert!(session.obligations().is_empty());
    assert_eq!(session.tally().void, 1);
}

#[test]
fn a_state_opens_and_closes_and_opens_again() {
    let state = |s: &str| format!(r#"{{"t":"state","id":"a","name":"x","s":"{s}"}}"#);
    let session = read(&[&state("wait"), &state("run")]);
    assert_eq!(facts(&session), (1, 0, "a".into(), 0, 0), "progress opens nothing new");
    let session = read(&[&state("run"), &state("done"), &state("done")]);
    assert_eq!(facts(&session), (1, 1, String::new(), 0, 0), "told twice, ended once");
    let session = read(&[&state("done"), &state("run")]);
    assert_eq!(facts(&session), (2, 1, "a".into(), 0, 0), "the id is used again");
}

#[test]
fn the_runtime_closes_what_is_open_in_its_lane() {
    let top = "lane = \"/lane\"\n";
    let lines = [r#"{"t":"call","id":"a"}"#, r#"{"t":"call","id":"a","lane":"sub"}"#, r#"{"t":"stop"}"#];
    let session = with(top, &lines, "");
    assert_eq!(facts(&session), (2, 1, "a".into(), 0, 0), "the same id in two lanes");
    assert!(session.obligations().is_empty(), "the main lane owes nothing");
    let all = TAIL.replace("emit = \"close\"", "emit = \"close\"\nevery-lane = true");
    let map = Map::parse(&format!("{HEAD}{top}{all}")).unwrap();
    let format = Format::Mapped(Mapping::keep(map));
    let bytes = format!("{}\n", lines.join("\n"));
    let session = Session::of_bytes(bytes.as_bytes(), Some(format), "x", Settings::default());
    assert_eq!(facts(&session).2, "");
}

#[test]
fn boundaries_keep_what_they_say() {
    let (user, cut) = (r#"{"t":"user","text":"x"}"#, r#"{"t":"cut"}"#);
    assert_eq!(kinds(&read(&[user, user, cut, user])), ["summary", "user"]);
    let open = read(&[r#"{"t":"call","id":"a"}"#, cut]);
    assert!(open.notes().iter().any(|note| note.kind.name() == "swallowed"));
    let more = r#"
[[rule]]
when = { "/t" = "from" }
emit = "boundary"
keeps = "from-id"
from = "/first"
[[rule]]
when = { "/t" = "forget" }
emit = "boundary"
keeps = "all-but-ids"
forgets = "/ids/*"
[[rule]]
when = { "/t" = "mark" }
emit = "boundary"
"#;
    let row = |key: u32| format!(r#"{{"t":"user","text":"{key}","key":{key}}}"#);
    let read = |last: &str| with("key = \"/key\"\n", &[&row(1), &row(2), &row(3), last], more);
    assert_eq!(kinds(&read(r#"{"t":"from","first":2}"#)), ["user", "user", "summary"]);
    assert_eq!(kinds(&read(r#"{"t":"from","first":9}"#)), ["summary"], "an unknown id keeps nothing");
    assert_eq!(kinds(&read(r#"{"t":"forget","ids":[1,3]}"#)), ["user", "summary"]);
    assert_eq!(kinds(&read(r#"{"t":"mark"}"#)), ["user", "user", "user", "notice"]);
}

#[test]
fn a_tree_keeps_the_branch_of_its_last_record() {
    let top = "[tree]\nid = \"/id\"\nparent = \"/up\"\n";
    let row = |id: &str, up: &str| format!(r#"{{"t":"user","text":"x","id":"{id}","up":{up}}}"#);
    let lines = [row("a", "null"), row("b", "\"a\""), row("dead", "\"b\""), row("c", "\"b\"")];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(with(top, &lines, "").context().len(), 3);
    let cycle = [row("a", "\"b\""), row("b", "\"a\"")];
    assert_eq!(with(top, &[&cycle[0], &cycle[1]], "").context().len(), 2, "a cycle ends the walk");
    let lost = [row("a", "null"), row("b", "\"nowhere\"")];
    let session = with(top, &[&lost[0], &lost[1]], "");
    assert_eq!(session.context().len(), 1);
    assert!(session.notes().iter().any(|note| note.kind.name() == "missing-parent"));
}

#[test]
fn records_are_written_again_replaced_and_taken_back() {
    let top = "key = \"/key\"\nupsert = true\nreset = [{ when = { \"/all\" = { exists = true } }, records = \"/all/*\" }]\n\
               rewind = [{ when = { \"/back\" = { exists = true } }, to = \"/back\" }]\n";
    let open = r#"{"t":"state","id":"a","name":"x","s":"run","key":1}"#;
    let done = r#"{"t":"state","id":"a","name":"x","s":"done","key":1}"#;
    let session = with(top, &[open, done], "");
    assert_eq!(facts(&session), (1, 1, String::new(), 0, 0), "one call, written twice");
    assert_eq!(kinds(&session), ["call", "result"]);
    let user = r#"{"t":"user","text":"x","key":2}"#;
    let session = with(top, &[open, user, &format!(r#"{{"all":[{done}]}}"#)], "");
    assert_eq!(kinds(&session), ["call", "result"]);
    assert_eq!(facts(&session), (1, 1, String::new(), 0, 0));
    let result = r#"{"t":"result","id":"a","key":3}"#;
    let session = with(top, &[open, user, result, r#"{"back":3}"#], "");
    assert_eq!(kinds(&session), ["call", "user"]);
    assert_eq!(session.obligations().len(), 1, "the result was taken back");
    let session = with(top, &[open, user, r#"{"back":"unknown"}"#], "");
    assert!(session.context().is_empty(), "an unknown key takes back everything");
}

#[test]
fn what_no_rule_reads_is_kept_and_counted() {
    let session = read(&[r#"{"t":"user","text":"x"}"#, r#"{"t":"news","a":[1]}"#, "not json"]);
    assert_eq!((session.log().not_understood, session.log().damaged), (1, 1));
    let opaque = session.log().records.iter().filter(|record| record.kind == Kind::Opaque).count();
    assert_eq!(opaque, 2);
}

#[test]
fn calls_inside_a_text_are_found() {
    let more = r#"
[[rule]]
when = { "/t" = "said" }
find = { text = "/text", regex = '(?m)^@(?P<name>\w+)\((?P<id>\w+)\)$' }
emit = "call"
"#;
    let session = with("", &[r#"{"t":"said","text":"x\n@sh(a)\n@cat(b)\n"}"#, r#"{"t":"result","id":"a"}"#], more);
    assert_eq!(facts(&session), (2, 1, "b".into(), 0, 0));
}

#[test]
fn parts_of_one_record_are_not_cut_apart() {
    let more = r#"
[[rule]]
when = { "/t" = "many" }
each = "/calls/*"
emit = "call"
id = "/id"
"#;
    let session = with("", &[r#"{"t":"many","calls":[{"id":"a"},{"id":"b"}]}"#], more);
    let records = &session.log().records;
    assert!(records[0].message.is_some() && records[0].message == records[1].message);
    assert_eq!(records[0].response, records[1].response);
}

#[test]
fn hostile_lines_end() {
    let top = "[tree]\nid = \"/id\"\nparent = \"/up\"\n";
    let map = Map::parse(&format!("{HEAD}{top}{TAIL}")).unwrap();
    let mut transcript = Transcript::new(Some(Format::Mapped(Mapping::keep(map))), "x");
    for n in 0..20_000 {
        let line = format!("{{\"t\":\"call\",\"id\":\"{n}\",\"up\":\"{}\"}}\n", (n * 7 + 1) % 20_000);
        transcript.feed(line.as_bytes());
    }
    let deep = format!("{{\"t\":{}1{}}}\n", "[".repeat(50_000), "]".repeat(50_000));
    transcript.feed(deep.as_bytes());
    let (context, log) = transcript.context().unwrap();
    assert!(context.len() <= log.records.len());
    assert_eq!(log.lines, 20_001);
}

#[test]
fn many_rewrites_compactions_and_closings_end() {
    let top = "lane = \"/lane\"\nkey = \"/key\"\nupsert = true\n\
               rewind = [{ when = { \"/back\" = { exists = true } }, to = \"/back\" }]\n";
    let map = Map::parse(&format!("{HEAD}{top}{TAIL}")).unwrap();
    let mut transcript = Transcript::new(Some(Format::Mapped(Mapping::keep(map))), "x");
    for n in 0..10_000 {
        let lines = [
            format!("{{\"t\":\"call\",\"id\":\"{n}\",\"key\":{n},\"lane\":\"sub\"}}"),
            format!("{{\"t\":\"call\",\"id\":\"m{n}\",\"key\":\"m{n}\"}}"),
            "{\"t\":\"cut\"}".to_string(),
            "{\"t\":\"stop\"}".to_string(),
            format!("{{\"t\":\"user\",\"text\":\"x\",\"key\":\"u{n}\"}}\n{{\"back\":\"u{n}\"}}"),
        ];
        transcript.feed(format!("{}\n", lines.join("\n")).as_bytes());
    }
    assert_eq!(transcript.log().lines, 60_000);
    assert_eq!(transcript.context().unwrap().0.len(), 2, "the newest compaction and what was given up after it");
}
