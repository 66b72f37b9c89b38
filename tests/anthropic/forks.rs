use std::path::Path;

use cutline::{cut::legal_cuts, format::Act, model::Kind, plan::Outcome};
use serde_json::Value;

use super::{FILES, bytes, call, drafted, read, session, told};

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

/// What the API would say of a list: roles merged, every call answered directly behind its response, results first.
fn accepted(messages: &[Value]) {
    let blocks = |message: &Value| match &message["content"] {
        Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
        list => list.as_array().unwrap().clone(),
    };
    let mut turns: Vec<(String, Vec<Value>)> = Vec::new();
    for message in messages.iter().filter(|message| message["role"] != "system") {
        let role = message["role"].as_str().unwrap().to_string();
        match turns.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks(message)),
            _ => turns.push((role, blocks(message))),
        }
    }
    assert_eq!(turns[0].0, "user");
    for (n, (role, all)) in turns.iter().enumerate() {
        let ids = |all: &[Value], kind: &str, key: &str| -> Vec<String> {
            let of = all.iter().filter(|block| block["type"] == kind);
            of.map(|block| block[key].as_str().unwrap().to_string()).collect()
        };
        if role == "assistant" {
            let mut calls = ids(all, "tool_use", "id");
            let next = turns.get(n + 1).map(|(_, all)| all.clone()).unwrap_or_default();
            let leading: Vec<Value> = next.into_iter().take_while(|block| block["type"] == "tool_result").collect();
            let mut results = ids(&leading, "tool_result", "tool_use_id");
            calls.sort();
            results.sort();
            assert_eq!(calls, results, "turn {n}");
        }
        let first = all.iter().position(|block| block["type"] != "tool_result").unwrap_or(all.len());
        assert!(all.iter().skip(first).all(|block| block["type"] != "tool_result"), "turn {n}");
    }
}

fn list(bytes: &[u8]) -> Vec<Value> {
    if let Ok(one) = serde_json::from_slice::<Value>(bytes) {
        let list = one.as_array().or_else(|| one["messages"].as_array());
        return list.cloned().unwrap_or_else(|| vec![one.clone()]);
    }
    let lines = String::from_utf8(bytes.to_vec()).unwrap();
    lines.lines().map(|line| value(line.as_bytes())).filter(|line| line.get("role").is_some()).collect()
}

#[test]
fn what_is_given_up_is_answered_where_the_api_wants_it() {
    let draft = drafted(&bytes("open.json"), None, true);
    let messages = list(&draft.bytes);
    accepted(&messages);
    // Beside the other result, before the text.
    let kinds: Vec<&Value> = messages[2]["content"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text"]);
    assert_eq!(messages[2]["content"][1]["is_error"], true);
    assert!(messages[2]["content"][1]["content"].as_str().unwrap().contains("outcome UNKNOWN"));
    // Before a text that was a string.
    assert_eq!(messages[4]["content"][0]["tool_use_id"], "c");
    assert_eq!(messages[4]["content"][1]["text"], "what now?");
    // In a message of its own at the end.
    assert_eq!((messages.len(), &messages[6]["content"][0]["tool_use_id"]), (7, &Value::from("d")));
    assert!(draft.after.obligations().is_empty());
}

#[test]
fn every_fork_with_everything_given_up_is_accepted() {
    for file in FILES.into_iter().filter(|file| *file != "retry.jsonl") {
        let bytes = bytes(file);
        accepted(&list(&drafted(&bytes, None, true).bytes));
        let session = session(&bytes);
        for to in legal_cuts(session.ledger()) {
            let draft = drafted(&bytes, Some((0, to)), true);
            accepted(&list(&draft.bytes));
            assert_eq!(draft.after.detection().unwrap().format, session.detection().unwrap().format);
        }
    }
}

#[test]
fn an_array_keeps_its_style_and_the_summary_joins_the_text_behind_it() {
    let source = bytes("server.json");
    let session = session(&source);
    let to = 6;
    assert!(legal_cuts(session.ledger()).contains(&to));
    let draft = drafted(&source, Some((0, to)), false);
    let text = String::from_utf8(draft.bytes.clone()).unwrap();
    assert!(text.starts_with("[\n {") && text.ends_with("}\n]\n"), "{text}");
    let messages = list(&draft.bytes);
    assert_eq!(messages.len(), 2, "{text}");
    let first = &messages[0]["content"][0]["text"];
    assert!(first.as_str().unwrap().starts_with("[Compacted by cutline."));
    assert_eq!(messages[0]["content"][1]["type"], "document");
    // What is kept is kept with its blanks.
    let kept = String::from_utf8(source).unwrap();
    let last = kept.rfind("{\n  \"role\": \"assistant\"").unwrap();
    assert!(text.ends_with(kept.split_at(last).1), "{text}");
    assert!(draft.forked.name.starts_with("log.") && Path::new(&draft.forked.name).extension().unwrap() == "json");
    assert_eq!(draft.after.record(0).unwrap().kind, Kind::Summary);
}

#[test]
fn lines_stay_lines_with_their_extras_and_without_old_figures() {
    let source = bytes("lines.jsonl");
    let draft = drafted(&source, Some((0, 7)), false);
    let text = String::from_utf8(draft.bytes.clone()).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| value(line.as_bytes())).collect();
    // The system prompt at the head stays; the line that is no message stood inside the span.
    assert_eq!(lines[0]["content"], "be brief");
    assert!(lines[1]["content"][0]["text"].as_str().unwrap().starts_with("[Compacted by cutline."));
    assert_eq!(lines[1]["content"][1]["text"], "more");
    assert_eq!(lines.len(), 3);
    assert_eq!(draft.forked.left_out, 1);
    let draft = drafted(&source, Some((0, 5)), false);
    let text = String::from_utf8(draft.bytes).unwrap();
    let bye: Value = text.lines().map(|line| value(line.as_bytes())).find(|line| line["id"] == "m2").unwrap();
    assert_eq!(bye["usage"]["input_tokens"], 0);
}

#[test]
fn of_a_log_the_newest_request_is_written() {
    let source = bytes("bodies.jsonl");
    let draft = drafted(&source, Some((0, 4)), false);
    let body = value(&draft.bytes);
    assert_eq!(body["tools"][0]["name"], "run");
    assert_eq!(body["system"][0]["cache_control"]["type"], "ephemeral");
    let marks = draft.bytes.windows(15).filter(|part| *part == b"\"cache_control\"").count();
    assert!(marks <= 4, "{marks}");
    assert_eq!(body["messages"].as_array().unwrap().len(), 3);

    // The answer to it is a message of the list now, without what no request may have.
    let source = bytes("exchanges.jsonl");
    let draft = drafted(&source, None, true);
    let messages = list(&draft.bytes);
    accepted(&messages);
    let answer = &messages[messages.len() - 2];
    assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["role", "content"]);
    assert_eq!(told(&draft.after).matches("abandoned").count(), 2);
    assert!(draft.checks.iter().any(|check| check.outcome == Outcome::Told && check.text.contains("newest request")));
}

#[test]
fn a_retry_lives_on_unless_it_is_reset() {
    let source = bytes("retry.jsonl");
    let kept = drafted(&source, None, false);
    assert_eq!(kept.after.obligations().len(), 1);
    let reset = drafted(&source, None, true);
    assert_eq!(reset.plan.settled[0].act, Act::Reset);
    assert!(reset.after.obligations().is_empty());
}

#[test]
fn a_request_in_a_document_keeps_its_frame() {
    let source = bytes("body.json");
    let draft = drafted(&source, Some((0, 4)), false);
    let body = value(&draft.bytes);
    assert_eq!((&body["model"], &body["max_tokens"]), (&Value::from("claude-sonnet-4-5"), &Value::from(32000)));
    assert_eq!(body["messages"].as_array().unwrap().len(), 2);
    assert!(draft.bytes.starts_with(&source[..40]));
    assert_eq!(told(&draft.after), "summary, assistant, call b");
}

#[test]
fn a_split_response_is_drafted_and_refused_by_name() {
    let source = bytes("open.json");
    let session = session(&source);
    let inside = call(&session, "c");
    let minted = cutline::format::Minted::new([7; 16], cutline::model::Millis(0), jiff::tz::TimeZone::UTC);
    let wish = cutline::plan::Wish { span: Some((0, inside)), ..cutline::plan::Wish::default() };
    let draft = cutline::plan::draft(&session, &source, &wish, &minted).unwrap();
    assert!(draft.failed().any(|check| check.name == "legal"));
    // It can be looked at: the half of the message that stays is there.
    assert_eq!(draft.after.record(1).unwrap().kind, Kind::Call);
    assert_eq!(read("open.json").context().len(), session.context().len());
}
