//! Logs of requests: each repeats the list before it.

use cutline::model::Kind;
use serde_json::{Value, json};

use super::{
    conversation::{ALL, Dialect, assistant, body, containers, list, response, turns, user},
    kinds, notes, session,
};

fn lines(values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(|value| format!("{value}\n").into_bytes()).collect()
}

#[test]
fn a_repeated_list_adds_nothing() {
    for dialect in ALL {
        let all = body(dialect, &list(dialect));
        let (once, thrice) =
            (session(&lines(std::slice::from_ref(&all))), session(&lines(&[all.clone(), all.clone(), all])));
        assert_eq!(once.log().records.len(), thrice.log().records.len());
        assert_eq!(notes(&thrice), "");
    }
}

#[test]
fn what_changes_between_requests_without_saying_anything_is_no_change() {
    let first =
        json!([{"role": "user", "content": [{"type": "text", "text": "go", "cache_control": {"type": "ephemeral"}}]}]);
    let second = json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": [{"text": "ok", "type": "text"}]},
                        {"role": "user", "content": "on"}]);
    let body = |list: &Value| json!({"system": "s", "messages": list});
    let session = session(&lines(&[body(&first), body(&second)]));
    assert_eq!(session.context().len(), 3);
    assert_eq!(notes(&session), "");
}

#[test]
fn a_shorter_list_is_a_compaction_and_its_kept_tail_is_not_new() {
    for dialect in ALL {
        let all = list(dialect);
        let tail = turns(dialect).into_iter().skip(4).flatten();
        let mut short = vec![user(dialect, "What was said before: it rains.")];
        short.extend(tail);
        let session = session(&lines(&[body(dialect, &all), body(dialect, &short)]));
        assert_eq!((session.tally().calls, session.tally().results), (4, 3), "{dialect:?}");
        assert_eq!(session.log().boundaries.len(), 1, "{dialect:?}");
        assert_eq!(session.log().boundaries[0].line, 2);
        assert_eq!(session.obligations().len(), 1, "{dialect:?}");
        assert_eq!(kinds(&session).first().unwrap().0, Kind::User);
        assert!(notes(&session).contains("a compaction, or a rewind"), "{}", notes(&session));
    }
}

#[test]
fn a_request_that_goes_back_takes_back_what_was_said() {
    let dialect = Dialect::Anthropic;
    let all = list(dialect);
    let session = session(&lines(&[body(dialect, &all), body(dialect, &all[..4])]));
    assert_eq!(session.obligations().len(), 0, "the call that was open is no part of the conversation");
    assert!(notes(&session).contains("goes back"), "{}", notes(&session));
}

#[test]
fn conversations_of_one_log_are_told_apart() {
    let dialect = Dialect::Chat;
    let title = json!({"model": "m", "stream_options": {}, "messages": [{"role": "system", "content": "You write titles."},
                       {"role": "user", "content": "title for: weather"}]});
    let all = list(dialect);
    let log = lines(&[body(dialect, &all[..1]), title.clone(), body(dialect, &all)]);
    let session_ = session(&log);
    assert_eq!(session_.log().lanes.len(), 2);
    assert_eq!(session_.context().len(), session(&lines(&[body(dialect, &all)])).context().len());
    // A question for a title that comes first does not take the place of the conversation.
    let first = session(&lines(&[title, body(dialect, &all)]));
    assert_eq!(first.obligations().len(), 1);
}

#[test]
fn figures_come_from_the_newest_response() {
    for dialect in ALL {
        let (_, exchanges) = containers(dialect).pop().unwrap();
        let session = session(&exchanges);
        let measured = session.budget().unwrap().series.measured().unwrap().0;
        assert_eq!(measured, 1_005, "{dialect:?}");
        assert_eq!(session.facts().model.as_deref(), Some("m-1"));
    }
}

#[test]
fn a_response_that_no_request_repeats_is_the_newest() {
    for dialect in ALL {
        let turns = turns(dialect);
        let exchange = json!({"request": body(dialect, &turns[0]), "response": response(dialect, &turns[1], 500)});
        let session = session(&lines(&[exchange]));
        let open: Vec<&str> = session.obligations().iter().map(|owed| session.name(owed.id)).collect();
        assert_eq!(open, ["w1", "w2"], "{dialect:?}");
    }
}

#[test]
fn a_request_that_failed_is_a_retry_until_one_succeeds() {
    let dialect = Dialect::Anthropic;
    let ask = body(dialect, &[user(dialect, "go")]);
    let failed = json!({"request": ask, "response": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}});
    let waiting = session(&lines(&[failed.clone(), failed.clone()]));
    assert_eq!(waiting.obligations().len(), 1);
    let answer = response(dialect, &[assistant(dialect, "done")], 100);
    let settled = session(&lines(&[failed, json!({"request": ask, "response": answer})]));
    assert_eq!(settled.obligations().len(), 0);
}
