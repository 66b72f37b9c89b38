//! Calls and their outputs: classes, forms, states, and what the client answers in memory.

use super::rollout::{
    LEGACY, answers, assistant, call, calls, context, event, file, item, legacy, noted, output, paginated, started,
    user, view, whole,
};
use cutline::model::{Flags, Kind, NoteKind};

#[test]
fn an_output_of_another_class_answers_nothing() {
    let wrong = item(r#"{"type":"custom_tool_call_output","call_id":"a","output":"ok"}"#);
    let mut transcript = legacy(&[user("x"), call("a"), wrong]);
    assert_eq!(context(&mut transcript), "U Ca [Xa?] (Ra)");
    let classes: Vec<_> = transcript.log().records.iter().filter(|r| r.id.is_some()).map(|r| r.class).collect();
    assert_eq!(classes, [1, 2]);
}

#[test]
fn a_local_shell_call_is_answered_by_a_function_output() {
    let shell = item(r#"{"type":"local_shell_call","call_id":"a","status":"completed","action":{"type":"exec"}}"#);
    assert_eq!(context(&mut legacy(&[shell, output("a")])), "Ca Ra");
    let nameless = item(r#"{"type":"local_shell_call","call_id":null,"action":{"type":"exec"}}"#);
    assert_eq!(context(&mut legacy(&[nameless])), "A", "without an id nothing is owed");
}

#[test]
fn tool_search_by_the_server_owes_nothing() {
    let call = item(r#"{"type":"tool_search_call","execution":"server","call_id":"a","arguments":{}}"#);
    let found = item(r#"{"type":"tool_search_output","execution":"server","call_id":"b","tools":[]}"#);
    assert_eq!(context(&mut legacy(&[call, found])), "A N");
    let own = item(r#"{"type":"tool_search_call","execution":"client","call_id":"a","arguments":{}}"#);
    assert_eq!(context(&mut legacy(&[own])), "Ca [Xa?]");
}

#[test]
fn an_output_without_a_call_id_is_sent_as_it_is() {
    let supplied = item(r#"{"type":"function_call_output","name":"n","output":"ok"}"#);
    assert_eq!(context(&mut legacy(&[user("x"), supplied])), "U N");
}

#[test]
fn an_object_output_is_not_loaded() {
    let object = item(r#"{"type":"function_call_output","call_id":"a","output":{"content":"ok"}}"#);
    let mut transcript = legacy(&[user("x"), call("a"), object]);
    assert_eq!(context(&mut transcript), "U Ca [Xa?]");
    assert_eq!(noted(transcript.log(), NoteKind::Resume), [4]);
    let record = transcript.log().records.last().unwrap();
    assert!(record.flags.has(Flags::NOT_LOADED) && record.kind == Kind::Result);
}

#[test]
fn an_array_output_is_read() {
    let array = r#"[{"type":"input_text","text":"Process exited with code 3\nOutput:\n"}]"#;
    let array = item(&format!(r#"{{"type":"function_call_output","call_id":"a","output":{array}}}"#));
    assert_eq!(context(&mut legacy(&[call("a"), array])), "Ca Ea");
}

#[test]
fn an_id_used_again_has_one_answer_in_the_eyes_of_the_client() {
    // It compares sets: the second call looks answered. The ledger binds by position and knows better.
    let mut transcript = legacy(&[user("x"), call("a"), output("a"), call("a")]);
    assert_eq!(context(&mut transcript), "U Ca Ra Ca");
}

#[test]
fn an_output_before_its_call_is_sent_once_the_call_comes() {
    let early = [user("x"), output("a")];
    assert_eq!(context(&mut legacy(&early)), "U (Ra)");
    let [user, output] = early;
    assert_eq!(context(&mut legacy(&[user, output, call("a")])), "U Ra Ca");
}

#[test]
fn outcomes() {
    let texts = [
        ("ok", "Ra"),
        ("aborted", "Xa?"),
        ("Wall time: 3.3 seconds\\naborted by user", "Xa?"),
        ("Process exited with code 1\\nOutput:\\n", "Ea"),
        ("unsupported custom tool call: x", "Ea"),
        ("abandoned by operator: outcome unknown", "Xa"),
    ];
    for (text, wanted) in texts {
        let mut transcript = legacy(&[call("a"), item(&answers("a", text))]);
        assert_eq!(context(&mut transcript), format!("Ca {wanted}"), "{text}");
    }
}

#[test]
fn a_display_line_before_the_output_tells_of_failure() {
    let patch = event(r#"{"type":"patch_apply_end","call_id":"a","success":false}"#);
    assert_eq!(context(&mut legacy(&[call("a"), patch, output("a")])), "Ca Ea");
    for (status, denied) in [("failed", false), ("declined", true)] {
        let ended =
            format!(r#"{{"type":"item_completed","item":{{"type":"CommandExecution","id":"a","status":"{status}"}}}}"#);
        let mut transcript = whole(&paginated(&[call("a"), event(&ended), output("a")]));
        assert_eq!(context(&mut transcript), "Ca Ea");
        assert_eq!(transcript.log().records.last().unwrap().flags.has(Flags::DENIED), denied);
    }
}

#[test]
fn a_later_request_closes_in_memory() {
    let open = || vec![user("x"), call("a"), call("b"), output("b")];
    let with = |line: String| legacy(&[open(), vec![line]].concat());
    let pending = "U Ca [Xa?] Cb Rb";
    let closed = "U Ca <Xa?> Cb Rb";
    assert_eq!(context(&mut legacy(&open())), pending);
    assert_eq!(context(&mut with(event(r#"{"type":"task_complete","turn_id":"x"}"#))), pending);
    assert_eq!(context(&mut with(started())), closed);
    assert_eq!(context(&mut with(event(r#"{"type":"user_message","message":"m"}"#))), closed);
    assert_eq!(context(&mut with(user("more"))), format!("{closed} U"));
    assert_eq!(context(&mut with(user("<turn_aborted></turn_aborted>"))), format!("{pending} u"));
    assert_eq!(context(&mut with(assistant("seen"))), format!("{closed} A"));
}

#[test]
fn a_model_item_after_an_output_proves_nothing_in_old_files() {
    let header = r#"{"type":"session_meta","payload":{"id":"t","cli_version":"0.39.0"}}"#;
    let (a, b, answer) = (call("a"), call("b"), output("b"));
    let mut transcript = whole(&file(&[header, &a, &b, &answer, &call("c")]));
    assert_eq!(context(&mut transcript), "Ca [Xa?] Cb Rb Cc [Xc?]");
}

#[test]
fn responses_are_glued_between_outputs() {
    let think = item(r#"{"type":"reasoning","summary":[],"encrypted_content":"QUJD"}"#);
    let lines = [user("x"), think.clone(), assistant("a"), call("a"), call("b"), output("a"), output("b"), think];
    let transcript = legacy(&[&lines[..], &[call("c")]].concat());
    let log = transcript.log();
    let parts: Vec<_> = log.records.iter().filter(|r| r.kind.is_response_part()).map(|r| r.response).collect();
    assert!(parts[..4].iter().all(|part| *part == parts[0]));
    assert!(parts[4..].iter().all(|part| *part == parts[4]));
    assert_ne!(parts[0], parts[4]);
}

#[test]
fn unknown_things_are_kept_and_counted() {
    let lines = [
        r#"{"type":"future_record","payload":{"a":1}}"#.to_string(),
        item(r#"{"type":"future_item"}"#),
        event(r#"{"type":"future_event"}"#),
        user("x"),
    ];
    let mut transcript = legacy(&lines);
    assert_eq!(context(&mut transcript), "U");
    let log = transcript.log();
    assert_eq!(log.not_understood, 3);
    assert_eq!(noted(log, NoteKind::NotUnderstood), [2, 3, 4]);
    let kinds: Vec<_> = log.records.iter().map(|record| view(log, record)).collect();
    assert_eq!(kinds.join(" "), "N O O O U");
}

#[test]
fn wrong_types_of_fields_cost_nothing() {
    for payload in [
        "{}",
        r#"{"type":7}"#,
        r#"{"type":"message"}"#,
        r#"{"type":"message","role":["user"],"content":3}"#,
        r#"{"type":"function_call","call_id":{},"arguments":[]}"#,
        r#"{"type":"function_call_output","call_id":"a","output":null}"#,
        r#"{"type":"reasoning","summary":"x"}"#,
    ] {
        let transcript = whole(&file(&[LEGACY, &item(payload)]));
        assert_eq!(transcript.log().records.len(), 2, "{payload}");
        let record = transcript.log().records[1];
        let body = transcript.adapter().unwrap().body(item(payload).as_bytes(), &record);
        drop(body);
    }
    assert_eq!(calls("a", "t", "{}").matches("call_id").count(), 1);
}
