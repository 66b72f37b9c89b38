//! The reader and the writer of OpenCode sessions.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails says where")]

use std::fs;

use cutline::{
    budget::Settings,
    format::{Format, Minted},
    ledger::CallState,
    model::{Kind, Millis},
    plan::{Abandonment, Session, Wish, draft},
};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

fn sample() -> Vec<u8> {
    fs::read("sample-sessions/opencode.jsonl").unwrap()
}

/// The same session as `opencode export` writes it, on one line.
fn export() -> Vec<u8> {
    let lines = String::from_utf8(sample()).unwrap();
    let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let info = lines.next().unwrap()["info"].clone();
    format!("{}\n", json!({"info": info, "messages": lines.collect::<Vec<_>>()})).into_bytes()
}

/// The same printed over lines.
fn pretty() -> Vec<u8> {
    serde_json::to_vec_pretty(&serde_json::from_slice::<Value>(&export()).unwrap()).unwrap()
}

fn session(bytes: &[u8]) -> Session {
    Session::of_bytes(bytes, None, "x", Settings::default())
}

fn kinds(session: &Session) -> Vec<(Kind, String)> {
    let records = (0..session.context().len()).map(|at| session.record(at).unwrap());
    records.map(|record| (record.kind, session.name(record.id).to_string())).collect()
}

/// A session of one prompt and one tool part with this state.
fn with_state(state: &Value) -> Vec<u8> {
    let user = json!({"info": {"id": "msg_1", "sessionID": "ses_1", "role": "user"},
                      "parts": [{"type": "text", "text": "go", "id": "prt_1"}]});
    let tool = json!({"type": "tool", "callID": "c1", "tool": "bash", "state": state, "id": "prt_2"});
    let assistant = json!({"info": {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "parentID": "msg_1"},
                           "parts": [tool]});
    format!("{user}\n{assistant}\n").into_bytes()
}

#[test]
fn rows_and_export_are_the_same_session() {
    let (rows, export, pretty) = (session(&sample()), session(&export()), session(&pretty()));
    assert_eq!(kinds(&pretty), kinds(&rows));
    assert_eq!(pretty.log().damaged + pretty.log().not_understood, 0);
    // Each record names the line on which it stands.
    assert!(pretty.record(7).unwrap().line > 100, "{:?}", pretty.record(7));
    assert_eq!(rows.detection().unwrap().format, Format::OpenCode);
    assert_eq!(export.detection().unwrap().format, Format::OpenCode);
    assert_eq!(kinds(&rows), kinds(&export));
    assert_eq!(rows.facts().id, export.facts().id);
    assert_eq!(rows.budget().unwrap().used(), export.budget().unwrap().used());
    assert_eq!(rows.tally().calls, 6);
}

#[test]
fn the_context_begins_with_the_newest_compaction() {
    let session = session(&sample());
    let first = session.record(0).unwrap();
    assert_eq!(first.kind, Kind::Summary);
    assert_eq!(session.log().boundaries.len(), 1);
    // The tokens of the summary's own message are the size before it.
    assert_eq!(session.budget().unwrap().series.measured().unwrap().0, 12_000);
    // Said by the runtime in the person's name.
    assert!(!session.record(1).unwrap().is_prompt());
}

#[test]
fn states_of_a_part() {
    for (state, kind, call) in [
        (json!({"status": "pending", "input": {}}), None, CallState::InFlight),
        (json!({"status": "running", "input": {}, "time": {"start": 1}}), None, CallState::InFlight),
        (json!({"status": "completed", "input": {}, "output": "ok"}), Some(Kind::Result), CallState::Result),
        (json!({"status": "error", "input": {}, "error": "no such file"}), Some(Kind::Error), CallState::Error),
        (
            json!({"status": "error", "input": {}, "error": "Tool execution aborted", "metadata": {"interrupted": true}}),
            Some(Kind::Error),
            CallState::Interrupted,
        ),
        (json!({"status": "of-the-future", "input": {}}), None, CallState::InFlight),
    ] {
        let session = session(&with_state(&state));
        assert_eq!(session.ledger().call_state(1), Some(call), "{state}");
        assert_eq!(session.record(2).map(|record| record.kind), kind, "{state}");
    }
}

#[test]
fn a_document_that_is_cut_is_torn_and_not_damaged() {
    let bytes = pretty();
    let half = session(bytes.get(..bytes.len() / 2).unwrap());
    // What is whole of it is shown.
    let messages = |session: &Session| session.log().records.len();
    assert!(half.is_torn() && (1..messages(&session(&bytes))).contains(&messages(&half)));
    assert_eq!(half.log().damaged, 0);
    assert!(half.notes().iter().any(|note| note.text.contains("not whole")), "{:?}", half.notes());
    assert!(!session(&bytes).is_torn());
}

#[test]
fn any_chunking_is_the_same() {
    for bytes in [sample(), pretty()] {
        chunked(&bytes);
    }
}

fn chunked(bytes: &[u8]) {
    let whole = session(bytes);
    for size in [1, 7, 100, 4096] {
        let mut grown = Session::new(None, "x", Settings::default());
        for chunk in bytes.chunks(size) {
            grown.feed(chunk);
            grown.refresh();
        }
        assert_eq!(kinds(&grown), kinds(&whole), "chunks of {size}");
        assert_eq!(grown.obligations(), whole.obligations(), "chunks of {size}");
    }
}

#[test]
fn a_fork_is_a_document_with_ids_that_rise() {
    for bytes in [sample(), pretty()] {
        forked(&bytes);
    }
}

fn forked(bytes: &[u8]) {
    let session = session(bytes);
    let minted = Minted::new([3; 16], Millis(1_795_300_000_000), TimeZone::UTC);
    let settle = vec![Abandonment { id: "call_f06".into(), reason: "pier is closed".into(), ..Abandonment::default() }];
    let wish = Wish { span: Some((0, 5)), settle, ..Wish::default() };
    let draft = draft(&session, &bytes, &wish, &minted).unwrap();
    let failed: Vec<&str> = draft.failed().map(|check| check.name).collect();
    assert_eq!(failed, Vec::<&str>::new(), "{:?}", draft.checks);
    let doc: Value = serde_json::from_slice(&draft.bytes).unwrap();
    let messages = doc["messages"].as_array().unwrap();
    let ids: Vec<&str> = messages.iter().map(|message| message["info"]["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted() && ids.iter().all(|id| id.starts_with("msg_")), "{ids:?}");
    assert_eq!(messages[0]["parts"][0]["type"], "compaction");
    assert_eq!(messages[1]["info"]["parentID"], messages[0]["info"]["id"]);
    for message in messages {
        assert_eq!(message["info"]["sessionID"], doc["info"]["id"]);
        assert!(message["parts"].as_array().unwrap().iter().all(|part| part["messageID"] == message["info"]["id"]));
        assert!(message["info"]["tokens"]["input"].as_u64().unwrap_or(0) == 0, "stale tokens make it compact at once");
    }
    let given_up = &messages.last().unwrap()["parts"][2]["state"];
    assert_eq!(given_up["status"], "error");
    assert!(given_up["error"].as_str().unwrap().contains("outcome UNKNOWN"), "{given_up}");
    assert_eq!(given_up["input"]["command"], "./publish --piers north,long-isle --wait");
    assert_eq!(draft.forked.resume_by_path, ["opencode", "import"]);
    assert!(draft.after.obligations().is_empty());
}

#[test]
fn a_span_in_the_middle_is_refused_by_name() {
    let bytes = sample();
    let minted = Minted::new([3; 16], Millis(1_795_300_000_000), TimeZone::UTC);
    let wish = Wish { span: Some((1, 5)), ..Wish::default() };
    let why = draft(&session(&bytes), &bytes, &wish, &minted).err().unwrap().to_string();
    assert!(why.contains("start the span at 0"), "{why}");
}
