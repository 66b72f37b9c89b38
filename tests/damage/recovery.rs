//! Whole files with one thing wrong: calls, results and what is open must come out as a person would count them.

use cutline::{
    budget::Settings,
    export::head_of,
    ledger::CallState,
    model::{Kind, NoteKind},
    plan::Session,
};

fn line(uuid: &str, parent: &str, kind: &str, message: &str) -> String {
    let parent = if parent.is_empty() { "null".to_string() } else { format!("\"{parent}\"") };
    format!(
        "{{\"parentUuid\":{parent},\"type\":\"{kind}\",\"uuid\":\"{uuid}\",\"sessionId\":\"s\",\"version\":\"2.1.332\",\
         \"timestamp\":\"2026-01-01T00:00:01.000Z\",\"message\":{message}}}"
    )
}

fn prompt(uuid: &str, parent: &str) -> String {
    line(uuid, parent, "user", r#"{"role":"user","content":"go"}"#)
}

fn call(uuid: &str, parent: &str, id: &str) -> String {
    let block = format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"ls"}}}}"#);
    line(uuid, parent, "assistant", &format!(r#"{{"id":"m{uuid}","role":"assistant","content":[{block}]}}"#))
}

fn result(uuid: &str, parent: &str, id: &str, content: &str) -> String {
    let block = format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}"#);
    line(uuid, parent, "user", &format!(r#"{{"role":"user","content":[{block}]}}"#))
}

fn read(bytes: &[u8]) -> Session {
    Session::of_bytes(bytes, None, "s", Settings::default())
}

/// Calls, results and open calls of the file, and its damaged parts.
fn counts(bytes: &[u8]) -> (usize, usize, usize, u32) {
    let session = read(bytes);
    let tally = session.tally();
    (tally.calls, tally.results, tally.open().len(), session.log().damaged)
}

fn usual() -> [String; 5] {
    [
        prompt("a", ""),
        call("b", "a", "c1"),
        result("c", "b", "c1", "\"one\""),
        call("d", "c", "c2"),
        result("e", "d", "c2", "\"two\""),
    ]
}

#[test]
fn a_sound_file_counts_as_it_stands() {
    assert_eq!(counts(usual().join("\n").as_bytes()), (2, 2, 0, 0));
}

#[test]
fn a_cut_line_costs_itself() {
    let mut lines = usual();
    lines[2].truncate(60);
    assert_eq!(counts(lines.join("\n").as_bytes()), (2, 1, 1, 1));
}

#[test]
fn a_stub_fused_with_a_whole_record_costs_the_stub() {
    let mut lines = usual();
    let stub: String = lines[2].chars().take(70).collect();
    lines[2].insert_str(0, &stub);
    assert_eq!(counts(lines.join("\n").as_bytes()), (2, 2, 0, 1));
}

#[test]
fn two_records_on_a_line_both_count() {
    let [prompt, first, one, second, two] = usual();
    let bytes = format!("{prompt}\n{first}{one}\n{second}\n{two}\n");
    assert_eq!(counts(bytes.as_bytes()), (2, 2, 0, 0));
    assert!(read(bytes.as_bytes()).log().notes.iter().any(|note| note.kind == NoteKind::Salvaged));
}

#[test]
fn a_run_of_nul_is_a_gap_beside_the_record() {
    let [prompt, first, one, second, two] = usual();
    let nul = "\0".repeat(20_000);
    let rest = format!("{one}\n{second}\n{two}\n");
    for gap in [format!("{nul}{first}"), format!("{first}{nul}")] {
        assert_eq!(counts(format!("{prompt}\n{gap}\n{rest}").as_bytes()), (2, 2, 0, 1));
    }
}

#[test]
fn junk_lines_marks_and_empty_lines_cost_nothing_else() {
    let [prompt, first, one, second, two] = usual();
    let junk = "QUJD".repeat(1_000);
    let bytes = format!("\u{feff}{prompt}\r\n\r\n{first}\r\n{junk}\r\n\n{one}\r\n{second}\r\n{two}\r\n");
    assert_eq!(counts(bytes.as_bytes()), (2, 2, 0, 1));
}

#[test]
fn odd_text_in_a_result_does_not_lose_it() {
    let whole = result("c", "b", "c1", "@");
    let (head, tail) = whole.split_once('@').unwrap();
    for content in [
        &b"\"\\ud83d\""[..],
        b"\"\xff\xfe\"",
        "\"\u{2028}\u{2029}\u{85}\"".as_bytes(),
        b"1e999",
        b"null",
        b"{}",
        b"\"a\",\"content\":\"b\"",
    ] {
        let before = usual()[..2].join("\n");
        let bytes = [before.as_bytes(), b"\n", head.as_bytes(), content, tail.as_bytes(), b"\n"].concat();
        assert_eq!(counts(&bytes), (1, 1, 0, 0), "{}", String::from_utf8_lossy(content));
    }
}

#[test]
fn deep_content_is_read_and_shown() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let bytes = format!("{}\n{}\n", usual()[..2].join("\n"), result("c", "b", "c1", &deep)).into_bytes();
        assert_eq!(counts(&bytes), (1, 1, 0, 0));
        let session = read(&bytes);
        assert!(head_of(&session, &bytes, 2).is_some());
    }
}

#[test]
fn an_id_used_again_while_open_keeps_the_older_call_owed() {
    let call = r#"{"kind":"call","id":"c1","tool":"t"}"#;
    let bytes = [r#"{"kind":"user","text":"go"}"#, call, call, r#"{"kind":"result","id":"c1"}"#].join("\n");
    let session = read(bytes.as_bytes());
    assert_eq!(session.ledger().pending().collect::<Vec<_>>(), [1]);
    assert_eq!(session.ledger().call_state(2), Some(CallState::Result));
}

#[test]
fn a_block_of_a_crowded_line_is_read_alone() {
    let blocks: Vec<String> = (0..2_000)
        .map(|n| format!(r#"{{"type":"tool_use","id":"c{n}","name":"Bash","input":{{"command":"echo {n}"}}}}"#))
        .collect();
    let message = format!(r#"{{"id":"m","role":"assistant","content":[{}]}}"#, blocks.join(","));
    let bytes = format!("{}\n{}\n", prompt("a", ""), line("b", "a", "assistant", &message)).into_bytes();
    let session = read(&bytes);
    let body = session.body(1_000, &bytes).unwrap();
    assert_eq!(session.record(1_000).map(|record| record.kind), Some(Kind::Call));
    assert_eq!(body.input.as_deref(), Some(r#"{"command":"echo 999"}"#));
    assert_eq!(head_of(&session, &bytes, 1_000).as_deref(), Some("Bash echo 999"));
}

#[test]
fn parents_that_are_missing_by_the_thousand_are_bridged_one_to_the_next() {
    let lines: Vec<String> = (0..3_000)
        .map(|n| line(&format!("u{n:04}"), &format!("gone{n}"), "user", r#"{"role":"user","content":"x"}"#))
        .collect();
    assert_eq!(read(lines.join("\n").as_bytes()).context().len(), 3_000);
}
