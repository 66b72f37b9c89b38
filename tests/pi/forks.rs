//! New session files: what stands in them, line for line, and what pi would make of them.

use cutline::{
    budget::Settings,
    format::Minted,
    model::Millis,
    plan::{Abandonment, Draft, Session as Whole, Wish, draft},
};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::session::{Read, Session};

fn forked(s: &Session, span: Option<(usize, usize)>, given_up: &[&str]) -> Result<Draft, String> {
    let bytes = s.text().as_bytes().to_vec();
    let whole = Whole::of_bytes(&bytes, None, "2026_s", Settings::default());
    let settle = given_up.iter().map(|id| Abandonment {
        id: (*id).to_string(),
        reason: "host lost".to_string(),
        by: "jo".to_string(),
        ..Abandonment::default()
    });
    let wish = Wish { span, settle: settle.collect(), ..Wish::default() };
    let minted = Minted::new([7; 16], Millis(1_795_000_000_000), TimeZone::UTC);
    let draft = draft(&whole, &bytes, &wish, &minted).map_err(|why| why.to_string())?;
    let failed: Vec<String> =
        draft.failed().filter(|check| check.name != "smaller").map(|check| check.text.clone()).collect();
    assert_eq!(failed, Vec::<String>::new());
    Ok(draft)
}

/// The lines of a fork, each hung on the one before.
fn lines(draft: &Draft) -> Vec<Value> {
    let text = std::str::from_utf8(&draft.bytes).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut before = Value::Null;
    for line in &lines[1..] {
        assert_eq!(line["parentId"], before, "{line}");
        before = line["id"].clone();
        assert!(before.as_str().is_some_and(|id| !id.is_empty()), "{line}");
    }
    lines
}

fn ids(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["id"].as_str().unwrap()).collect()
}

/// A prompt, a batch of which one call is open, a prompt, a closed batch.
fn session() -> Session {
    let mut s = Session::new();
    s.entry("m", "model_change", &json!({"provider": "p", "modelId": "m"})).user("u1", "p1");
    s.calls("a1", &["c1", "c2"]).result("r1", "c1").entry("x", "custom", &json!({"customType": "ext", "data": 1}));
    s.user("u2", "p2").calls("a2", &["c3"]).result("r3", "c3").say("a3", "done");
    s
}

#[test]
fn the_header_is_its_own_and_names_where_it_comes_from() {
    let draft = forked(&session(), None, &["c2"]).unwrap();
    let header = &lines(&draft)[0];
    let named = ["type", "version", "id", "timestamp", "cwd", "parentSession"].map(|name| header[name].to_string());
    let (id, time) = (format!("\"{}\"", draft.forked.session), "\"2026-11-18T11:06:40.000Z\"");
    assert_eq!(named, ["\"session\"", "3", &id, time, "\"/w\"", "\"2026_s.jsonl\""]);
    assert_eq!(draft.forked.name, format!("2026-11-18T11-06-40-000Z_{}.jsonl", draft.forked.session));
    assert_eq!((draft.forked.resume.len(), draft.forked.resume_by_path.join(" ")), (0, "pi --session".to_string()));
}

#[test]
fn what_is_given_up_is_answered_directly_behind_its_response() {
    let draft = forked(&session(), None, &["c2"]).unwrap();
    let all = lines(&draft);
    let at = all.iter().position(|line| line["message"]["toolCallId"] == "c2").unwrap();
    let before: Vec<&str> = ids(&all[1..at]);
    assert_eq!(before, ["m", "u1", "a1", "r1", "x"]);
    let message = &all[at]["message"];
    assert_eq!(
        (&message["role"], &message["toolName"], &message["isError"]),
        (&json!("toolResult"), &json!("bash"), &json!(true))
    );
    assert!(message["content"][0]["text"].as_str().unwrap().contains("outcome UNKNOWN"));
    let read = Read::of(&draft.bytes);
    let context = ["user:p1", "call:c1", "call:c2", "result:c1", "abandoned:c2", "user:p2", "call:c3", "result:c3"];
    assert_eq!(read.context()[..8], context);
    // Nothing was cut: the figures still hold.
    assert_eq!(all[3]["message"]["usage"]["totalTokens"], 112);
}

#[test]
fn a_head_is_told_by_a_compaction_that_keeps_nothing() {
    let draft = forked(&session(), Some((0, 5)), &["c2"]).unwrap();
    let all = lines(&draft);
    assert_eq!(ids(&all[1..2]), ["m"]);
    let compaction = &all[2];
    assert_eq!((&compaction["type"], &compaction["firstKeptEntryId"]), (&json!("compaction"), &compaction["id"]));
    // The state of an extension is read from the whole path.
    assert_eq!(ids(&all[3..]), ["x", "u2", "a2", "r3", "a3"]);
    assert!(compaction["timestamp"].as_str() >= all[7]["timestamp"].as_str());
    let usage = &all[5]["message"]["usage"];
    assert_eq!((&usage["totalTokens"], &usage["input"]), (&json!(0), &json!(0)));
    let context = Read::of(&draft.bytes).context();
    assert!(context[0].starts_with("summary:"));
    assert_eq!(context[1..], ["user:p2", "call:c3", "result:c3", "assistant:done"]);
}

#[test]
fn a_middle_is_told_by_a_custom_message() {
    let draft = forked(&session(), Some((1, 5)), &["c2"]).unwrap();
    let all = lines(&draft);
    assert_eq!(ids(&all[1..3]), ["m", "u1"]);
    assert_eq!((&all[3]["type"], &all[3]["customType"]), (&json!("custom_message"), &json!("cutline-summary")));
    let context = Read::of(&draft.bytes).context();
    assert_eq!(context[0], "user:p1");
    assert!(context[1].starts_with("summary:"), "{context:?}");
}

#[test]
fn a_compacted_session_keeps_its_summary_or_gets_a_new_one() {
    let mut s = session();
    s.compaction("k", "u2", "OLD").user("u3", "p3");
    let kept = forked(&s, None, &[]).unwrap();
    let all = lines(&kept);
    assert_eq!(ids(&all[1..]), ["m", "x", "k", "u2", "a2", "r3", "a3", "u3"]);
    assert_eq!(all[3]["firstKeptEntryId"], "k");
    assert_eq!(kept.forked.left_out, 3);
    let cut = forked(&s, Some((0, 2)), &[]).unwrap();
    let summaries = lines(&cut).iter().filter(|line| line["type"] == "compaction").count();
    assert_eq!(summaries, 1);
}

#[test]
fn edits_are_written_into_what_they_edit() {
    let mut s = Session::new();
    s.user("u1", "p1").calls("a1", &["c1"]).result("r1", "c1").say("a2", "long story").say("a3", "gone");
    s.edit("e1", "a2", &json!({"content": [{"type": "text", "text": "short"}]})).edit("e2", "a3", &Value::Null);
    s.user("u2", "p2");
    let draft = forked(&s, Some((0, 1)), &[]).unwrap();
    let all = lines(&draft);
    assert_eq!(ids(&all[2..]), ["a1", "r1", "a2", "u2"]);
    assert_eq!(all[4]["message"]["content"], json!([{"type": "text", "text": "short"}]));
}

#[test]
fn dead_branches_and_prompts_of_the_system_stay_behind() {
    let mut s = Session::new();
    s.message("y", &json!({"role": "system", "content": "", "sections": {}})).user("u1", "p1").say("a1", "no");
    s.on("u1").say("a2", "yes").user("u2", "p2");
    assert_eq!(ids(&lines(&forked(&s, None, &[]).unwrap())[1..]), ["y", "u1", "a2", "u2"]);
    let cut = forked(&s, Some((0, 2)), &[]).unwrap();
    assert_eq!(ids(&lines(&cut)[2..]), ["u2"]);
}

#[test]
fn version_1_becomes_version_3() {
    let lines_of = |version: Option<u64>| {
        let mut header = json!({"id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"});
        if let Some(version) = version {
            header["version"] = json!(version);
        }
        let mut s = Session::with(&header);
        for role in ["user", "hookMessage", "user"] {
            let message = json!({"role": role, "content": role});
            let line = json!({"type": "message", "timestamp": "2026-01-01T00:00:01Z", "message": message});
            s.raw(&line.to_string());
        }
        lines(&forked(&s, None, &[]).unwrap())
    };
    let all = lines_of(None);
    assert_eq!((all.len(), &all[0]["version"], &all[2]["message"]["role"]), (4, &json!(3), &json!("custom")));
    let fresh: std::collections::BTreeSet<_> = ids(&all[1..]).into_iter().map(str::to_string).collect();
    assert!(fresh.len() == 3 && fresh.iter().all(|id| id.len() == 8), "{fresh:?}");
    // From version 2 on an entry without id and parent stands alone.
    assert_eq!(lines_of(Some(2)).len(), 2);
}

#[test]
fn what_pi_could_not_open_becomes_neutral() {
    let headed = session();
    let (_, body) = headed.text().split_once('\n').unwrap();
    let whole = Whole::of_bytes(body.as_bytes(), None, "s", Settings::default());
    let minted = Minted::new([7; 16], Millis(0), TimeZone::UTC);
    let headless = draft(&whole, &body.as_bytes().to_vec(), &Wish::default(), &minted).unwrap();
    let mut newer = Session::with(&json!({"version": 4, "id": "s", "timestamp": "t", "cwd": "/"}));
    newer.user("u", "p");
    let mut cousin = Session::new();
    cousin.on("s").user("u", "p");
    let forks = [headless, forked(&newer, None, &[]).unwrap(), forked(&cousin, None, &[]).unwrap()];
    for fork in forks {
        assert!(fork.forked.converted && fork.forked.resume_by_path.is_empty());
        assert_eq!(fork.after.detection().map(|found| found.format), Some(cutline::format::Format::Cutline));
    }
    assert!(!forked(&session(), None, &["c2"]).unwrap().forked.converted);
}

#[test]
fn a_retry_has_to_end_by_itself() {
    let mut retry = Session::new();
    retry.user("u", "p").answer("x", "error", &json!([]));
    assert!(forked(&retry, None, &["attempt"]).err().unwrap().contains("cannot say `reset`"));
}
