//! Records, flags, events and figures of single lines.

use cutline::{
    format::Counting,
    model::{Flags, Kind, LaneId, NoteKind},
};
use serde_json::json;

use super::session::{Read, Session};

const NEWEST: &str = "2.1.332";

#[test]
fn only_what_a_person_typed_is_human() {
    let mut s = Session::new(NEWEST);
    s.user("u1", None, "typed");
    s.tree("user", "u2", Some("u1"), json!({"isMeta": true, "message": {"content": "caveat"}}));
    s.user("u3", Some("u2"), "<command-name>/compact</command-name>");
    s.user("u4", Some("u3"), "<local-command-stdout>done</local-command-stdout>");
    s.user("u5", Some("u4"), "<command-message>init</command-message>\n<command-name>/init</command-name>");
    s.user("u6", Some("u5"), "[Request interrupted by user]");
    s.tree("user", "u7", Some("u6"), json!({"origin": {"kind": "task-notification"}, "message": {"content": "x"}}));
    s.summary("u8", "u7", "what was");
    s.system("u9", Some("u8"), "local_command", json!({"content": "<command-name>/model</command-name>"}));
    let two = json!([{"type": "text", "text": "look"}, {"type": "image", "source": {}}]);
    s.tree("user", "u10", Some("u9"), json!({"message": {"content": two}}));
    let read = s.read();
    let human: Vec<u32> = read.flagged(Flags::HUMAN).iter().map(|(line, _)| *line).collect();
    assert_eq!(human, [1, 5, 10, 10]);
    let meta: Vec<u32> = read.flagged(Flags::META).iter().map(|(line, _)| *line).collect();
    assert_eq!(meta, [2, 3, 4, 6, 7, 9]);
    assert_eq!(read.log().records[7].kind, Kind::Summary);
    let shared: Vec<bool> = read.log().records.iter().map(|r| r.message.is_some()).collect();
    assert_eq!(shared.iter().filter(|shared| **shared).count(), 2, "only a line of several blocks is one message");
    assert_eq!(read.events(), ["6 interrupted"]);
}

#[test]
fn refused_interrupted_and_given_up_are_told_apart() {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let native = "[Tool call interrupted: the session ended before this call's result was recorded]";
    let mut s = Session::new(NEWEST);
    s.user("u", None, "go");
    for (n, id) in ["t1", "t2", "t3", "t4", "t5"].into_iter().enumerate() {
        s.call(id, if n == 0 { "u" } else { ["t1", "t2", "t3", "t4"][n - 1] }, "m1", id);
    }
    s.answer("r1", "t1", "t1", "Exit code 1", true, json!({}));
    s.answer("r2", "t2", "t2", refused, true, json!({"toolDenialKind": "user-rejected"}));
    s.answer("r3", "t3", "t3", "Permission denied by rule", true, json!({"toolDenialKind": "permission-rule"}));
    s.answer("r4", "t4", "t4", native, true, json!({"toolDenialKind": "interrupted"}));
    s.answer("r5", "t5", "t5", refused, true, json!({}));
    s.user("i", Some("r5"), "[Request interrupted by user for tool use]");
    let read = s.read();
    assert_eq!(read.flagged(Flags::DENIED), [(8, Kind::Error), (9, Kind::Error), (11, Kind::Error)]);
    assert_eq!(read.flagged(Flags::UNKNOWN_OUTCOME), [(10, Kind::Abandoned)]);
    assert_eq!(read.events(), ["12 interrupted"]);
}

#[test]
fn a_call_that_asks_a_person_says_so() {
    let mut s = Session::new(NEWEST);
    s.user("u", None, "go");
    let ask = json!({"type": "tool_use", "id": "t1", "name": "AskUserQuestion", "input": {}});
    s.part("a", "u", "m1", ask).result("r", "a", "t1");
    assert_eq!(s.read().flagged(Flags::ASKS_PERSON), [(2, Kind::Call), (3, Kind::Result)]);
}

#[test]
fn background_tasks_by_every_version() {
    let mut s = Session::new(NEWEST);
    let notice = |id: &str, status: &str| {
        format!("<task-notification>\n<task-id>{id}</task-id>\n<status>{status}</status>\n</task-notification>")
    };
    s.user("u", None, "go");
    for n in 1..=6 {
        s.call(&format!("c{n}"), "u", "m1", &format!("t{n}"));
    }
    s.answer("r1", "c1", "t1", "started", false, json!({"toolUseResult": {"backgroundTaskId": "b1"}}));
    let launched = json!({"toolUseResult": {"status": "async_launched", "agentId": "a2"}});
    s.answer("r2", "c2", "t2", "Async agent launched successfully.", false, launched);
    s.answer("r3", "c3", "t3", "Command running in background with ID: bash_3", false, json!({}));
    s.answer("r4", "c4", "t4", "x", false, json!({"toolUseResult": {"status": "completed", "shellId": "bash_3"}}));
    s.answer("r5", "c5", "t5", "x", false, json!({"toolUseResult": {"task": {"task_id": "a2", "status": "running"}}}));
    s.answer("r6", "c6", "t6", "x", false, json!({"toolUseResult": {"task_id": "a2", "task_type": "local_agent"}}));
    let queued = json!({"type": "queue-operation", "operation": "enqueue", "content": notice("b1", "completed")});
    s.raw(&queued.to_string());
    s.user("n1", Some("r6"), &notice("b1", "running"));
    let told = json!({"attachment": {"type": "queued_command", "prompt": notice("b1", "killed")}});
    s.tree("attachment", "n2", Some("n1"), told);
    let status = json!({"attachment": {"type": "task_status", "taskId": "b9", "taskType": "local_bash",
        "status": "running", "shell": {"toolUseId": "t1"}}});
    s.tree("attachment", "n3", Some("n2"), status);
    let by_call = "<task-notification><tool-use-id>t1</tool-use-id><status>stopped</status></task-notification>";
    s.user("n4", Some("n3"), by_call);
    assert_eq!(
        s.read().events(),
        [
            "8 started b1 Task",
            "9 started a2 Subagent",
            "10 started bash_3 Task",
            "11 ended bash_3",
            "13 ended a2",
            "13 ended b1 untold",
            "16 ended b1",
            "17 started b9 Task",
            "18 ended b9"
        ]
    );
}

#[test]
fn retries_end_with_an_answer_or_with_the_final_failure() {
    let mut s = Session::new(NEWEST);
    s.user("u", None, "go");
    s.system("e1", Some("u"), "api_error", json!({"retryAttempt": 1}));
    s.system("e2", Some("e1"), "api_error", json!({"retryAttempt": 2}));
    s.say("a1", "e2", "m1", "at last").say("a2", "a1", "m1", "more");
    s.system("e3", Some("a2"), "api_error", json!({"retryAttempt": 1}));
    let failed = json!({"id": "x", "role": "assistant", "model": "<synthetic>",
        "content": [{"type": "text", "text": "API Error: 500"}], "usage": {"input_tokens": 0}});
    s.tree("assistant", "f", Some("e3"), json!({"isApiErrorMessage": true, "message": failed}));
    let read = s.read();
    assert_eq!(read.events(), ["2 retry", "3 retry", "6 retry"]);
    assert_eq!(read.flagged(Flags::SETTLES_RETRY), [(4, Kind::Assistant), (7, Kind::Assistant)]);
    assert_eq!(read.flagged(Flags::LOCAL), [(7, Kind::Assistant)]);
    assert!(read.context(s.text().as_bytes()).contains(&"-assistant:API Error: 500".to_string()));
    assert_eq!(read.log().usage.len(), 1);
}

#[test]
fn a_hook_may_defer_a_call() {
    let mut s = Session::new("2.1.332");
    s.user("u", None, "go").call("a", "u", "m1", "t1");
    s.tree("attachment", "d", Some("a"), json!({"attachment": {"type": "hook_deferred_tool", "toolUseID": "t1"}}));
    let read = s.read();
    assert_eq!(read.events(), ["3 deferred t1"]);
    // The resume runs it: no placeholder.
    assert_eq!(&read.context(s.text().as_bytes())[..2], ["user:go", "call:t1"]);
    assert!(read.transcript.adapter().unwrap().capability().reexecutes);
}

#[test]
fn the_last_line_of_a_message_has_its_figures() {
    let mut s = Session::new(NEWEST);
    s.user("u", None, "go").call("a1", "u", "m1", "t1").result("r1", "a1", "t1");
    // 2.1.38 lets a result come between two lines of its own message.
    s.call("a2", "a1", "m1", "t2").result("r2", "a2", "t2");
    let usage = json!({"input_tokens": 900, "output_tokens": 9, "iterations": [
        {"type": "message", "input_tokens": 1, "output_tokens": 1}, {"type": "compaction", "input_tokens": 800},
        {"type": "message", "input_tokens": 5, "cache_creation_input_tokens": 300, "output_tokens": 7}]});
    let message = json!({"id": "m2", "role": "assistant", "content": [{"type": "text", "text": "x"}], "usage": usage});
    s.tree("assistant", "a3", Some("r2"), json!({"message": message}));
    let read = s.read();
    let figures: Vec<_> = read.log().usage.iter().map(|u| (u.record, u.input, u.output)).collect();
    assert_eq!(figures, [(3, 110, 3), (5, 305, 7)]);
}

#[test]
fn server_calls_are_answered_inside_their_message() {
    let mut s = Session::new(NEWEST);
    s.user("u", None, "go");
    s.part("a1", "u", "m1", json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}));
    let error = json!({"type": "web_search_tool_result_error", "error_code": "x"});
    s.part("a2", "a1", "m1", json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": error}));
    s.part("a3", "a2", "m1", json!({"type": "mcp_tool_use", "id": "s2", "name": "n", "input": {}}));
    s.part("a4", "a3", "m1", json!({"type": "mcp_tool_result", "tool_use_id": "s2", "content": []}));
    let flagged = s.read().flagged(Flags::SERVER);
    assert_eq!(flagged, [(2, Kind::Call), (3, Kind::Error), (4, Kind::Call), (5, Kind::Result)]);
}

#[test]
fn lanes_of_sub_agents() {
    let mut s = Session::new("1.0.98");
    s.user("u", None, "go").call("a", "u", "m1", "t1");
    let side = |text: &str| json!({"isSidechain": true, "message": {"content": text}});
    s.tree("user", "x1", None, side("one")).tree("user", "x2", Some("x1"), side("more"));
    s.tree("user", "y1", None, side("two"));
    s.tree("user", "z", None, json!({"isSidechain": true, "agentId": "ab12", "message": {"content": "three"}}));
    s.result("r", "a", "t1");
    let read = s.read();
    let lanes: Vec<&str> = read.log().records.iter().map(|r| read.log().lane_name(r.lane)).collect();
    assert_eq!(lanes, ["main", "main", "x1", "x1", "y1", "ab12", "main"]);
    assert_eq!(read.context(s.text().as_bytes()), ["user:go", "call:t1", "result:t1"]);

    let mut s = Session::new(NEWEST);
    let agent = |text: &str| json!({"isSidechain": true, "agentId": "ab12", "message": {"content": text}});
    s.tree("user", "x1", None, agent("do")).tree("user", "x2", Some("x1"), agent("more"));
    let read = s.read();
    assert!(read.log().records.iter().all(|r| r.lane == LaneId::MAIN && !r.flags.has(Flags::HUMAN)));
    assert_eq!(read.log().lane_name(LaneId::MAIN), "ab12");
    assert_eq!(read.context(s.text().as_bytes()), ["user:do", "user:more"]);
}

#[test]
fn a_compaction_run_is_no_sub_agent() {
    let mut s = Session::new("2.1.39");
    let run = json!({"isSidechain": true, "agentId": "acompact-9f", "message": {"content": "summarise"}});
    s.tree("user", "x1", None, run);
    let read = s.read();
    assert_eq!(read.notes(NoteKind::Format).len(), 1);
    assert_eq!(read.transcript.adapter().unwrap().session().generation, Some("compaction run"));
}

#[test]
fn unknown_types_are_kept_and_counted_known_metadata_is_not() {
    let mut s = Session::new(NEWEST);
    s.user("u", None, "go");
    s.tree("hologram", "h", Some("u"), json!({}));
    s.say("a", "h", "m1", "still here");
    s.part("b", "a", "m1", json!({"type": "smell", "of": "rain"}));
    for line in [
        json!({"type": "mode", "mode": "normal"}),
        json!({"type": "file-history-snapshot", "messageId": "u", "snapshot": {}}),
        json!({"type": "custom-title", "customTitle": "Named by hand"}),
        json!({"type": "api-request", "id": "q"}),
    ] {
        s.raw(&line.to_string());
    }
    s.raw(&json!({"no": "type"}).to_string());
    let read = s.read();
    assert_eq!(read.log().not_understood, 3);
    assert_eq!(read.notes(NoteKind::NotUnderstood), [2, 4, 9]);
    let context = read.context(s.text().as_bytes());
    assert_eq!(&context[..2], ["user:go", "assistant:still here"], "an unknown link does not break the chain");
    let adapter = read.transcript.adapter().unwrap();
    assert_eq!(adapter.session().title.as_deref(), Some("Named by hand"));
    assert_eq!(adapter.session().version.as_deref(), Some(NEWEST));
    assert_eq!(adapter.session().model.as_deref(), Some("m"));
    assert_eq!(adapter.counting(), Counting::ById);
}

#[test]
fn nested_messages_of_progress_are_no_calls() {
    let mut s = Session::new("2.1.38");
    s.user("u", None, "go").call("a", "u", "m1", "t1");
    let nested = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t9", "name": "Bash"}]});
    s.tree("progress", "p", Some("a"), json!({"data": {"type": "agent_progress", "message": nested}}));
    s.result("r", "p", "t1");
    let read = s.read();
    assert_eq!(read.log().records.iter().filter(|r| r.kind == Kind::Call).count(), 1);
    assert_eq!(read.context(s.text().as_bytes()), ["user:go", "call:t1", "result:t1"]);
}

#[test]
fn bodies_are_decoded() {
    let mut s = Session::new(NEWEST);
    s.user("u", None, "go").call("a", "u", "m1", "t1");
    let content =
        json!([{"type": "text", "text": "one"}, {"type": "image", "source": {}}, {"type": "text", "text": "two"}]);
    let block = json!({"type": "tool_result", "tool_use_id": "t1", "content": content});
    let report = json!({"durationMs": 12, "interrupted": false});
    s.tree("user", "r", Some("a"), json!({"message": {"content": [block]}, "toolUseResult": report}));
    let read = Read::of(s.text().as_bytes());
    let body = |at: usize| {
        let record = &read.log().records[at];
        let start = usize::try_from(record.offset).unwrap();
        let line = &s.text().as_bytes()[start..start + record.line_len as usize];
        read.transcript.adapter().unwrap().body(line, record)
    };
    assert_eq!(body(1).tool.as_deref(), Some("Bash"));
    assert_eq!(body(1).input.as_deref(), Some(r#"{"command":"t1"}"#));
    assert!(body(1).facts.contains(&("model".to_string(), "m".to_string())));
    assert_eq!(body(2).text, "one\n[image]\ntwo");
    assert!(body(2).facts.contains(&("duration ms".to_string(), "12".to_string())));
}
