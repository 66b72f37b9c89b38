use cutline::{
    format::Format,
    ledger::{CallState, ObligationKind},
    model::{Flags, Kind, LaneId, NoteKind},
};

use super::{FILES, call, read, records, session, told};

#[test]
fn every_sample_is_found_and_understood() {
    for file in FILES {
        let session = read(file);
        assert_eq!(session.detection().unwrap().format, Format::Anthropic, "{file}");
        let unknown = usize::from(file == "lines.jsonl");
        assert_eq!((session.log().damaged, session.log().not_understood as usize), (0, unknown), "{file}");
    }
}

#[test]
fn calls_are_counted_once() {
    for (file, calls, results, open) in [
        ("open.json", 4, 1, vec!["b", "c", "d"]),
        ("compact.json", 2, 2, vec![]),
        ("server.json", 0, 0, vec![]),
        ("lines.jsonl", 1, 1, vec![]),
        ("bodies.jsonl", 2, 2, vec![]),
        ("exchanges.jsonl", 4, 2, vec!["c", "d"]),
        ("body.json", 2, 1, vec!["b"]),
    ] {
        let session = read(file);
        let tally = session.tally();
        let found: Vec<String> = tally
            .open()
            .iter()
            .map(|call| session.name(session.log().records[call.record as usize].id).to_string())
            .collect();
        assert_eq!(
            (tally.calls, tally.results, found),
            (calls, results, open.iter().map(ToString::to_string).collect()),
            "{file}"
        );
    }
}

#[test]
fn a_list_with_gaps() {
    let session = read("open.json");
    let state = |id: &str| session.ledger().call_state(call(&session, id));
    assert_eq!(state("a"), Some(CallState::Result));
    assert_eq!(state("b"), Some(CallState::Lost));
    assert_eq!(state("c"), Some(CallState::Lost));
    assert_eq!(state("d"), Some(CallState::InFlight));
    // The text beside the result is of the same message: they go together or stay together.
    let text = records(&session).iter().position(|record| record.kind == Kind::Result).unwrap() + 1;
    assert!(!cutline::cut::is_legal_cut(session.ledger(), text));
    assert!(session.record(text).unwrap().is_prompt());
}

#[test]
fn what_the_server_compacted_is_no_context() {
    let session = read("compact.json");
    assert_eq!(told(&session), "summary, assistant, user, call b, error b");
    // The block that failed changed nothing.
    assert_eq!(session.log().records.iter().filter(|record| record.kind == Kind::Notice).count(), 1);
}

#[test]
fn what_the_server_answers_is_nobodys_debt() {
    let session = read("server.json");
    assert_eq!(
        told(&session),
        "user, call s1, error s1, call m1, result m1, assistant, user, user, thinking, assistant"
    );
    assert!(session.obligations().is_empty() && session.ledger().unread().is_empty());
    assert_eq!(session.ledger().live_from(), session.context().len());
}

#[test]
fn lines_with_more_than_a_message() {
    let session = read("lines.jsonl");
    assert_eq!(told(&session), "notice, user, assistant, call a, result a, user, assistant, user, assistant");
    assert_eq!(session.budget().unwrap().series.measured().unwrap(), (600, 6));
    assert!(session.record(1).unwrap().time.known().is_some());
    assert!(session.record(5).unwrap().flags.has(Flags::META), "a reminder is nobody's prompt");
    assert_eq!(session.notes()[0].kind, NoteKind::NotUnderstood);
}

#[test]
fn the_newest_request_is_the_context() {
    let session = read("bodies.jsonl");
    assert_eq!(told(&session), "summary, assistant, call b, result b, assistant, user");
    // A title was asked for in between: another conversation.
    assert_eq!(session.log().lanes.len(), 2);
    assert_eq!(session.log().records.iter().filter(|record| record.lane != LaneId::MAIN).count(), 1);
    assert_eq!(session.log().boundaries.iter().map(|boundary| boundary.line).collect::<Vec<_>>(), [7]);
    assert_eq!(session.facts().model.as_deref(), Some("claude-sonnet-4-5"));
    // System prompt and tools weigh too.
    assert!(session.budget().unwrap().series.base() > 80, "{}", session.budget().unwrap().series.base());
    let repeats = session.log().records.iter().filter(|record| record.flags.has(Flags::REPEAT)).count();
    assert_eq!(repeats, 5, "what the compaction kept");
}

#[test]
fn responses_measure_and_settle_retries() {
    let whole = read("exchanges.jsonl");
    assert_eq!(
        told(&whole),
        "user, thinking, call a, result a, assistant, call b, result b, assistant, call c, call d"
    );
    assert_eq!(whole.budget().unwrap().series.measured().unwrap().0, 1300);
    let kinds = |session: &cutline::plan::Session| -> Vec<ObligationKind> {
        session.obligations().iter().map(|owed| owed.kind).collect()
    };
    assert_eq!(kinds(&whole), [ObligationKind::Call, ObligationKind::Call]);
    assert_eq!(kinds(&read("retry.jsonl")), [ObligationKind::Retry]);
}

#[test]
fn a_request_that_takes_back_an_open_call_says_so() {
    let of = |list: &str| format!("{{\"model\":\"m\",\"system\":\"s\",\"messages\":[{list}]}}\n");
    let user = r#"{"role":"user","content":"go"}"#;
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}"#;
    let text = r#"{"role":"user","content":"stop"}"#;
    let log = [of(user), of(&[user, call, text].join(",")), of(&[user, text].join(","))].concat();
    let session = session(log.as_bytes());
    assert_eq!(told(&session), "user, user");
    assert!(session.notes().iter().any(|note| note.kind == NoteKind::Swallowed && note.text.ends_with(" t")));
}

#[test]
fn cousins_keep_their_formats() {
    let found = |text: &str| session(text.as_bytes()).detection().map(|found| found.format.name());
    let claude = r#"{"type":"assistant","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}}"#;
    assert_eq!(found(&format!("{claude}\n")), Some("claude-code"));
    let openai = r#"[{"role":"system","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"n","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"y"}]"#;
    assert_ne!(found(openai), Some("anthropic"));
    let responses = r#"{"model":"m","input":[{"role":"user","content":"x"}]}"#;
    assert_ne!(found(&format!("{responses}\n")), Some("anthropic"));
    // Nothing but words: it could be of anybody, and is taken once it is whole.
    assert_eq!(found(r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"ho"}]"#), Some("anthropic"));
    assert_eq!(found("{\"role\":\"user\",\"content\":\"hi\"}\n"), Some("anthropic"));
}
