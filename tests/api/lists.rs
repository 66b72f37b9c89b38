//! What one list shows, by dialect.

use cutline::{ledger::ObligationKind, model::Kind};
use serde_json::{Value, json};

use super::{
    conversation::{ALL, Dialect, containers, turns},
    kinds, notes, session,
};

fn array(list: &Value) -> Vec<u8> {
    serde_json::to_vec(list).unwrap()
}

#[test]
fn every_container_is_the_same_conversation() {
    for dialect in ALL {
        let mut wanted = None;
        for (name, bytes) in containers(dialect) {
            let session = session(&bytes);
            assert_eq!(session.detection().unwrap().format.name(), dialect.name(), "{name}");
            assert!(session.detection().unwrap().rivals.is_empty(), "{dialect:?} {name}");
            assert_eq!(session.log().damaged + session.log().not_understood, 0, "{name}");
            assert_eq!((session.tally().calls, session.tally().results), (4, 3), "{dialect:?} {name}");
            let open: Vec<String> =
                session.obligations().iter().map(|owed| session.name(owed.id).to_string()).collect();
            assert_eq!(open, ["c2"], "{dialect:?} {name}");
            let found = kinds(&session);
            assert_eq!(*wanted.get_or_insert_with(|| found.clone()), found, "{dialect:?} {name}");
        }
    }
}

#[test]
fn any_chunking_is_the_same() {
    for (name, bytes) in ALL.into_iter().flat_map(containers) {
        let whole = session(&bytes);
        for size in [1, 13, 4096] {
            let mut grown = cutline::plan::Session::new(None, "x", cutline::budget::Settings::default());
            for chunk in bytes.chunks(size) {
                grown.feed(chunk);
                grown.refresh();
            }
            grown.finish();
            grown.refresh();
            assert_eq!(kinds(&grown), kinds(&whole), "{name} in chunks of {size}");
            assert_eq!(grown.obligations(), whole.obligations(), "{name} in chunks of {size}");
        }
    }
}

#[test]
fn a_plain_list_fits_two_dialects() {
    let bytes = array(&json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]));
    let session = session(&bytes);
    let detection = session.detection().unwrap();
    let mut all: Vec<&str> = detection.formats().map(cutline::format::Format::name).collect();
    all.sort_unstable();
    assert_eq!(all, ["anthropic", "openai-chat"]);
}

#[test]
fn an_id_that_is_used_again_is_another_call() {
    let again = |id: &str| {
        json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function",
                                   "function": {"name": "a", "arguments": "{}"}}]})
    };
    let list = json!([{"role": "user", "content": "go"}, again("x"), {"role": "tool", "tool_call_id": "x", "content": "1"},
                      {"role": "user", "content": "more"}, again("x")]);
    let session = session(&array(&list));
    assert_eq!(session.obligations().len(), 1);
    assert_eq!(session.obligations()[0].at, 4);
}

#[test]
fn the_form_without_ids_binds_by_name() {
    let list = json!([{"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "function_call": {"name": "a", "arguments": "{}"}},
        {"role": "function", "name": "a", "content": "1"},
        {"role": "assistant", "content": null, "function_call": {"name": "b", "arguments": "{}"}}]);
    let session = session(&array(&list));
    let open: Vec<&str> = session.obligations().iter().map(|owed| session.name(owed.id)).collect();
    assert_eq!(open, ["b"]);
}

#[test]
fn what_an_api_refuses_is_told_and_no_reason_against_a_cut() {
    let call = json!({"role": "assistant", "tool_calls": [{"id": "x", "function": {"name": "a", "arguments": "{}"}}]});
    let late = json!([{"role": "user", "content": "go"}, call, {"role": "system", "content": "note"},
                      {"role": "tool", "tool_call_id": "x", "content": "1"}, {"role": "assistant", "content": "ok"}]);
    let late = session(&array(&late));
    assert!(notes(&late).contains("does not follow its call directly"), "{}", notes(&late));
    assert_eq!(late.obligations().len(), 0);
    let twice = json!([{"type": "function_call", "id": "fc_1", "call_id": "a", "name": "n", "arguments": "{}"},
                       {"type": "function_call_output", "call_id": "a", "output": "1"},
                       {"type": "function_call", "id": "fc_1", "call_id": "b", "name": "n", "arguments": "{}"}]);
    assert!(notes(&session(&array(&twice))).contains("stands twice"));
    let behind = json!([{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]},
        {"role": "user", "content": [{"type": "text", "text": "and"}, {"type": "tool_result", "tool_use_id": "t"}]}]);
    assert!(notes(&session(&array(&behind))).contains("results first"));
}

#[test]
fn every_pair_of_responses_closes() {
    for (open, closed) in [
        ("function_call", "function_call_output"),
        ("custom_tool_call", "custom_tool_call_output"),
        ("shell_call", "shell_call_output"),
        ("apply_patch_call", "apply_patch_call_output"),
        ("computer_call", "computer_call_output"),
        ("local_shell_call", "local_shell_call_output"),
        ("tool_search_call", "tool_search_output"),
    ] {
        let call = json!({"type": open, "id": "i", "call_id": "c", "name": "n"});
        let answer = json!({"type": closed, "call_id": "c", "output": "done"});
        let waiting = session(&array(&json!([{"role": "user", "content": "go"}, call])));
        assert_eq!(waiting.obligations().len(), 1, "{open}");
        let done = session(&array(&json!([{"role": "user", "content": "go"}, call, answer])));
        assert_eq!(done.obligations().len(), 0, "{open}");
        assert_eq!(done.log().not_understood, 0, "{open}");
    }
}

#[test]
fn an_approval_that_waits_is_owed_and_self_contained_calls_are_not() {
    let list = json!([{"role": "user", "content": "go"},
        {"type": "web_search_call", "id": "ws", "status": "completed"},
        {"type": "mcp_call", "id": "mcp", "name": "n", "output": "x"},
        {"type": "mcp_approval_request", "id": "mcpr", "name": "pay", "arguments": "{}"}]);
    let session = session(&array(&list));
    let owed = session.obligations();
    assert_eq!(owed.iter().map(|owed| owed.kind).collect::<Vec<_>>(), [ObligationKind::Approval]);
    assert_eq!(session.name(owed[0].id), "mcpr");
}

#[test]
fn a_call_of_a_type_of_the_future_is_owed() {
    let list = json!([{"role": "user", "content": "go"}, {"type": "teleport_call", "call_id": "t1"},
                      {"type": "reasoning", "id": "rs", "summary": []}]);
    let session = session(&array(&list));
    assert_eq!(session.obligations().len(), 1);
    assert_eq!(session.log().not_understood, 1);
    assert!(notes(&session).contains("teleport_call"));
}

#[test]
fn reasoning_is_not_parted_from_the_item_behind_it() {
    let list = json!([{"role": "user", "content": "go"}, {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "n", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]},
        {"role": "user", "content": "more"}]);
    let session = session(&array(&list));
    assert_eq!(cutline::cut::legal_cuts(session.ledger()), [1, 4, 5, 6]);
}

#[test]
fn an_answer_to_what_the_provider_keeps_is_no_orphan() {
    let body = json!({"model": "m", "previous_response_id": "resp_1",
                      "input": [{"type": "function_call_output", "call_id": "c", "output": "1"}]});
    let session = session(&array(&body));
    assert_eq!((session.tally().orphans, session.ledger().orphans().len()), (0, 0));
    assert!(session.capability().unwrap().hides.iter().any(|text| text.contains("provider keeps")));
}

#[test]
fn the_context_begins_behind_a_compaction() {
    let block = json!({"type": "compaction", "content": "what was", "encrypted_content": "QUJD"});
    let list = json!([{"role": "user", "content": "old"}, {"role": "assistant", "content": [block, {"type": "text", "text": "on"}]},
                      {"role": "user", "content": "new"}]);
    let found: Vec<Kind> = kinds(&session(&array(&list))).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(found, [Kind::Summary, Kind::Assistant, Kind::User]);
    let failed = json!([{"role": "user", "content": "old"},
        {"role": "assistant", "content": [{"type": "compaction", "content": null}, {"type": "text", "text": "on"}]}]);
    assert_eq!(kinds(&session(&array(&failed)))[0].0, Kind::User, "a compaction that failed changes nothing");
    let opaque = json!([{"role": "user", "content": "old"}, {"type": "compaction", "encrypted_content": "QUJD"},
                        {"role": "user", "content": "new"}]);
    let found: Vec<Kind> = kinds(&session(&array(&opaque))).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(found, [Kind::User], "what is opaque is kept and is no place to cut at");
}

#[test]
fn the_words_of_the_system_at_the_head_are_no_part_of_what_is_cut() {
    let mut list = vec![json!({"role": "system", "content": "be kind"})];
    list.extend(turns(Dialect::Chat).into_iter().flatten());
    let session = session(&array(&json!(list)));
    assert_eq!(session.record(0).unwrap().kind, Kind::User);
}

#[test]
fn a_line_that_is_nothing_is_kept_and_counted() {
    let bytes = b"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"n\"}}]}\n{\"event\":\"ping\"}\n";
    let session = session(bytes);
    assert_eq!(session.log().not_understood, 1);
    assert_eq!(session.log().records.len(), 2);
}
