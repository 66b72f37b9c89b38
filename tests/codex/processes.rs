//! What lives on after its call was answered.

use super::rollout::{answers, call, calls, compacted, event, events, item, output, paginated, said, user, whole};

fn ran(id: &str, head: &str) -> String {
    item(&answers(id, &format!("Chunk ID: 1\\nWall time: 1.0 seconds\\n{head}\\nOutput:\\nx")))
}

fn command(id: &str, process: &str, status: &str) -> String {
    event(&format!(
        r#"{{"type":"item_completed","item":{{"type":"CommandExecution","id":"{id}","process_id":"{process}","status":"{status}"}}}}"#
    ))
}

fn told(lines: &[String]) -> Vec<String> {
    events(whole(&paginated(lines)).log())
}

#[test]
fn an_exec_session_from_start_to_end() {
    let poll = |id: &str| item(&calls(id, "write_stdin", r#"{"session_id": 7}"#));
    let mut lines = vec![
        user("x"),
        call("a"),
        ran("a", "Process running with session ID 7"),
        poll("b"),
        ran("b", "Process running with session ID 7"),
    ];
    assert_eq!(told(&lines), ["4 Session 7 started"]);
    lines.extend([poll("c"), ran("c", "Process exited with code 0")]);
    assert_eq!(told(&lines), ["4 Session 7 started", "8 7 ended"]);
}

#[test]
fn a_session_may_end_without_the_model_being_told() {
    let start = vec![user("x"), call("a"), ran("a", "Process running with session ID 7")];
    for ended in [command("a", "other", "failed"), command("z", "7", "completed")] {
        let lines = [start.clone(), vec![ended]].concat();
        assert_eq!(told(&lines), ["4 Session 7 started", "4 7 ended unseen"]);
    }
    let lines = [start, vec![command("a", "7", "in_progress")]].concat();
    assert_eq!(told(&lines), ["4 Session 7 started"]);
}

#[test]
fn a_session_outlives_a_compaction() {
    let cut = compacted(&format!(r#"{{"message":"","replacement_history":[{}]}}"#, said("user", "x")));
    let lines =
        [user("x"), call("a"), ran("a", "Process running with session ID 7"), cut, command("a", "7", "completed")];
    assert_eq!(told(&lines), ["4 Session 7 started", "5 7 ended unseen"], "told at the newest record of the context");
}

#[test]
fn a_broken_off_command() {
    let abort = || item(&answers("a", "Wall time: 1 seconds\\naborted by user"));
    let open = [user("x"), call("a"), abort()];
    assert_eq!(told(&open), ["4 a may live on"]);
    assert_eq!(told(&[&open[..], &[command("a", "7", "failed")]].concat()), ["4 a may live on", "4 a ended unseen"]);
    assert!(told(&[user("x"), call("a"), command("a", "7", "failed"), abort()]).is_empty());
    assert!(told(&[user("x"), item(&calls("a", "other_tool", "{}")), abort()]).is_empty());
}

#[test]
fn goals_and_agents() {
    let goal = |status: &str| event(&format!(r#"{{"type":"thread_goal_updated","goal":{{"status":"{status}"}}}}"#));
    assert_eq!(told(&[user("x"), goal("active"), goal("paused")]), ["2 Task goal started"]);
    assert_eq!(told(&[user("x"), goal("active"), goal("complete")]), ["2 Task goal started", "2 goal ended"]);
    let spawned = event(r#"{"type":"collab_agent_spawn_end","call_id":"a","new_thread_id":"k","status":"running"}"#);
    let notified =
        r#"<subagent_notification>{\"agent_id\":\"k\",\"status\":{\"completed\":\"done\"}}</subagent_notification>"#;
    let lines = [user("x"), item(&calls("a", "spawn_agent", "{}")), spawned, output("a"), user(notified)];
    assert_eq!(told(&lines[..4]), ["3 Subagent k started"]);
    assert_eq!(told(&lines), ["3 Subagent k started", "6 k ended"]);
    let item = r#"{"type":"CollabAgentToolCall","id":"a","tool":"spawn_agent","status":"completed","receiver_thread_ids":["k"],"agents_states":{"k":"running"}}"#;
    let waited = r#"{"type":"CollabAgentToolCall","id":"b","tool":"wait","status":"completed","receiver_thread_ids":["k"],"agents_states":{"k":{"completed":null}}}"#;
    let done = |item: &str| event(&format!(r#"{{"type":"item_completed","item":{item}}}"#));
    assert_eq!(told(&[user("x"), done(item), done(waited)]), ["2 Subagent k started", "2 k ended"]);
}
