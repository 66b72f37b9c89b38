//! Lists with a span replaced: every legal cut and every settlement of every container is read back as planned.

use cutline::{
    budget::Settings,
    cut::legal_cuts,
    format::Minted,
    model::{Kind, Millis},
    plan::{Abandonment, Session, Wish, draft},
};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{
    conversation::{ALL, Dialect, containers, list, user},
    kinds, session,
};

pub(crate) fn minted() -> Minted {
    Minted::new([3; 16], Millis(1_795_300_000_000), TimeZone::UTC)
}

fn give_up(id: &str) -> Vec<Abandonment> {
    vec![Abandonment { id: id.into(), reason: "the window is stuck".into(), ..Abandonment::default() }]
}

fn written(session: &Session, bytes: &[u8], span: Option<(usize, usize)>, settle: Vec<Abandonment>) -> Vec<u8> {
    let wish = Wish { span, settle, ..Wish::default() };
    let draft = draft(session, &bytes, &wish, &minted()).unwrap();
    // These are shorter than any summary.
    let failed = draft.failed().filter(|check| check.name != "smaller");
    let failed: Vec<_> = failed.map(|check| (check.name, check.text.clone())).collect();
    assert!(failed.is_empty(), "{span:?} {failed:?}\n{}", String::from_utf8_lossy(&draft.bytes));
    draft.bytes
}

fn refused(session: &Session, bytes: &[u8], wish: &Wish) -> String {
    draft(session, &bytes, wish, &minted()).err().map(|error| error.to_string()).unwrap_or_default()
}

/// The list of a file that was written: of an array, of lines, or of a body.
fn messages(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    let values: Vec<Value> = match serde_json::from_str(text) {
        Ok(Value::Array(list)) => list,
        Ok(value) => ["messages", "input"].iter().find_map(|name| value[*name].as_array().cloned()).unwrap(),
        Err(_) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    };
    values
}

#[test]
fn every_legal_cut_of_every_container() {
    for dialect in ALL {
        for (name, bytes) in containers(dialect) {
            let session = session(&bytes);
            let cuts = legal_cuts(session.ledger());
            assert!(cuts.len() >= 3, "{dialect:?} {name}: {cuts:?}");
            for cut in cuts {
                let new = written(&session, &bytes, Some((0, cut)), Vec::new());
                // A list that is left with plain words fits more than one dialect.
                let format = session.detection().unwrap().format;
                let again = Session::of_bytes(&new, Some(format), "x", Settings::default());
                assert_eq!(again.record(0).unwrap().kind, Kind::Summary, "{dialect:?} {name}");
                assert_eq!(kinds(&again)[1..], kinds(&session)[cut..], "{dialect:?} {name}");
            }
        }
    }
}

#[test]
fn what_is_given_up_stands_where_its_api_wants_it() {
    for dialect in ALL {
        for (name, bytes) in containers(dialect) {
            let session = session(&bytes);
            let new = written(&session, &bytes, None, give_up("c2"));
            let list = messages(&new);
            let last = list.last().unwrap();
            let text = match dialect {
                // Behind the result of its batch, in the same turn.
                Dialect::Anthropic => last["content"][1]["content"].as_str(),
                Dialect::Chat => last["content"].as_str(),
                Dialect::Responses => last["output"].as_str(),
            };
            assert!(text.unwrap_or_default().contains("outcome UNKNOWN"), "{dialect:?} {name}: {last}");
            assert_eq!(super::session(&new).obligations().len(), 0);
        }
    }
}

#[test]
fn what_is_given_up_before_words_of_a_person_stands_before_them() {
    for dialect in ALL {
        let mut list = list(dialect);
        list.push(user(dialect, "Are they closed?"));
        let bytes = serde_json::to_vec(&list).unwrap();
        let new = written(&session(&bytes), &bytes, None, give_up("c2"));
        let words = messages(&new).last().unwrap().to_string();
        assert!(words.contains("Are they closed?"), "{dialect:?}: {words}");
    }
}

#[test]
fn what_no_cut_may_touch_is_kept() {
    let mut chat = vec![json!({"role": "system", "content": "be kind"})];
    chat.extend(list(Dialect::Chat));
    let bytes = serde_json::to_vec_pretty(&chat).unwrap();
    let list = messages(&written(&session(&bytes), &bytes, Some((0, 6)), Vec::new()));
    assert_eq!(list[0], chat[0]);
    assert_eq!(list[1]["role"], "user");
    assert_eq!(list[2..], chat[5..]);
}

#[test]
fn the_body_keeps_its_other_fields() {
    for dialect in ALL {
        let (_, bytes) = containers(dialect).swap_remove(5);
        let new = written(&session(&bytes), &bytes, Some((0, 1)), Vec::new());
        let body: Value = serde_json::from_slice(&new).unwrap();
        assert_eq!(body["model"], "m-1");
        assert!(body["tools"].is_array() && body.get("path").is_none(), "{body}");
    }
}

#[test]
fn an_approval_can_be_denied_and_a_screenshot_cannot_be_invented() {
    let list = json!([{"role": "user", "content": "go"},
        {"type": "mcp_approval_request", "id": "mcpr", "name": "pay", "arguments": "{}"},
        {"type": "computer_call", "call_id": "screen", "action": {}}]);
    let bytes = serde_json::to_vec(&list).unwrap();
    let session = session(&bytes);
    let list = messages(&written(&session, &bytes, None, give_up("mcpr")));
    assert!(list.iter().any(|item| item["approve"] == false && item["approval_request_id"] == "mcpr"), "{list:?}");
    let wish = Wish { settle: give_up("screen"), ..Wish::default() };
    let refused = refused(&session, &bytes, &wish);
    assert!(refused.contains("screen"), "{refused}");
}

#[test]
fn a_list_whose_other_half_the_provider_keeps_is_not_written() {
    let body = json!({"model": "m", "previous_response_id": "resp_1", "input": list(Dialect::Responses)});
    let bytes = serde_json::to_vec(&body).unwrap();
    let session = session(&bytes);
    let wish = Wish { span: Some((0, 1)), ..Wish::default() };
    let refused = refused(&session, &bytes, &wish);
    assert!(refused.contains("previous_response_id"), "{refused}");
}
