//! How full the context is, by the runtime's own words.

use super::rollout::{assistant, call, compacted, event, file, legacy, noted, output, paginated, said, user, whole};
use cutline::model::{Log, NoteKind};

fn count(last: &str, window: &str) -> String {
    event(&format!(
        r#"{{"type":"token_count","info":{{"total_token_usage":{{"total_tokens":9999999}},"last_token_usage":{last},"model_context_window":{window}}}}}"#
    ))
}

fn measured(total: u64) -> String {
    count(&format!(r#"{{"input_tokens":{},"output_tokens":10,"total_tokens":{total}}}"#, total - 10), "258400")
}

fn estimate(total: u64) -> String {
    count(&format!(r#"{{"input_tokens":0,"output_tokens":0,"total_tokens":{total}}}"#), "258400")
}

fn record(total: u64) -> String {
    format!(r#"{{"type":"token_usage_record","payload":{{"usage":{{"total_tokens":{total}}}}}}}"#)
}

/// Line, tokens, estimated.
fn figures(log: &Log) -> Vec<(u32, u64, bool)> {
    log.usage.iter().map(|u| (log.records[u.record as usize].line, u.input, u.estimated)).collect()
}

#[test]
fn the_last_request_counts_not_the_lifetime() {
    let nothing = event(r#"{"type":"token_count","info":null}"#);
    let lines = [user("x"), call("a"), output("a"), measured(1000), nothing, measured(1000)];
    let transcript = legacy(&lines);
    // It covers the response, not the output that the client got meanwhile.
    assert_eq!(figures(transcript.log()), [(3, 1000, false)]);
    assert_eq!(transcript.log().usage[0].window, Some(258_400));
}

#[test]
fn a_usage_record_is_newer_while_tools_run() {
    let lines = [user("x"), call("a"), record(1000)];
    assert_eq!(figures(whole(&paginated(&lines)).log()), [(3, 1000, false)]);
    let lines = [user("x"), call("a"), record(1000), output("a"), measured(1000), assistant("b"), record(1500)];
    let log = whole(&paginated(&lines)).log().clone();
    assert_eq!(figures(&log).last(), Some(&(7, 1500, false)));
}

#[test]
fn old_clients_write_the_figure_before_the_response() {
    let header = r#"{"type":"session_meta","payload":{"id":"t","cli_version":"0.63.0"}}"#;
    let lines = [user("x"), measured(1000), call("a"), call("b"), output("a"), output("b"), measured(1000)];
    let mut all = vec![header];
    all.extend(lines.iter().map(String::as_str));
    assert_eq!(figures(whole(&file(&all)).log()), [(5, 1000, false)]);
}

#[test]
fn after_a_compaction_the_figure_is_an_estimate() {
    let cut = compacted(&format!(r#"{{"message":"","replacement_history":[{}]}}"#, said("user", "x")));
    let lines = [user("x"), assistant("a"), measured(90_000), cut, measured(90_000), estimate(5000), assistant("b")];
    let transcript = legacy(&[&lines[..], &[measured(6000)]].concat());
    let log = transcript.log();
    // The old figure once more, with news of rate limits, speaks of what was dropped.
    assert_eq!(figures(log), [(3, 90_000, false), (5, 5000, true), (8, 6000, false)]);
    assert_eq!(log.boundaries[0].before, Some(90_000));
    assert!(noted(log, NoteKind::Figures).is_empty());
}

#[test]
fn impossible_figures_are_told() {
    for (last, window) in [
        (r#"{"input_tokens":1,"total_tokens":300000}"#, "258400"),
        (r#"{"input_tokens":1,"total_tokens":-5}"#, "258400"),
        (r#"{"input_tokens":1,"total_tokens":5.5}"#, "258400"),
        (r#"{"input_tokens":1,"total_tokens":5}"#, "0"),
    ] {
        let transcript = legacy(&[user("x"), count(last, window)]);
        assert_eq!(noted(transcript.log(), NoteKind::Figures), [3], "{last} {window}");
    }
    let fell = legacy(&[user("x"), assistant("a"), measured(9000), assistant("b"), measured(1000)]);
    assert_eq!(noted(fell.log(), NoteKind::Figures), [6]);
}
