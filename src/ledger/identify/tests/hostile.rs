use proptest::prelude::*;

use super::{Answer, Story};
use crate::ledger::identify::{former, rendered, words::commands};

#[test]
fn hostile_arguments_are_bounded() {
    for (part, times) in [
        ("touch a;", 6_000),
        ("((((", 10_000),
        ("$(", 10_000),
        ("'", 35_000),
        ("<<A ", 9_000),
        ("`\\", 17_500),
        ("/* ", 17_500),
        ("$a$ ", 17_500),
        ("-O ", 17_500),
        ("*** Update File: x\n", 10_000),
        ("--- a\n+++ b\n", 10_000),
        ("https://a:b@c/pull/1 ", 10_000),
        ("../", 12_500),
    ] {
        let text = part.repeat(times);
        let mut story = Story::default();
        for prefix in ["", "git ", "psql -c '", "*** Begin Patch\n", "mv "] {
            story.shell(&format!("{prefix}{text}"), &Answer::Ok(&text));
        }
        story.call("execute_sql", &serde_json::json!({ "sql": text }).to_string(), &Answer::Ok(&text));
        story.call("apply_patch", &text, &Answer::Ok(&text));
        story.call("x", &"[".repeat(20_000), &Answer::Ok(&"{\"a\":".repeat(20_000)));
        assert!(story.all().items.len() < 10_000);
        assert!(story.live(3).len() < 10_000);
    }
}

#[test]
fn too_many_are_counted() {
    let mut story = Story::default();
    for n in 0..90 {
        let paths: Vec<String> = (0..256).map(|m| format!("d{n}/f{m}")).collect();
        story.call("read_many_files", &serde_json::json!({ "paths": paths }).to_string(), &Answer::Ok(""));
    }
    let all = story.all();
    assert_eq!((all.items.len(), all.left_out), (20_000, 90 * 256 - 20_000));
}

fn tool() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Bash".to_string()),
        Just("apply_patch".to_string()),
        Just("execute_sql".to_string()),
        Just("TodoWrite".to_string()),
        Just("create_pull_request".to_string()),
        Just("write_stdin".to_string()),
        ".{0,12}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        Just("git rebase ".to_string()),
        Just("cd ".to_string()),
        Just("&& ".to_string()),
        Just("|| ".to_string()),
        Just("<<E\n".to_string()),
        Just("\nE\n".to_string()),
        Just(">".to_string()),
        Just("'".to_string()),
        Just("\"".to_string()),
        Just("$(".to_string()),
        Just(")".to_string()),
        Just("BEGIN;".to_string()),
        Just("*** Begin Patch\n*** Update File: ".to_string()),
        Just("sed -i ".to_string()),
        Just("../".to_string()),
        ".{0,6}",
    ];
    proptest::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_panics(calls in proptest::collection::vec((tool(), text(), text(), 0..4u8), 0..6), cut in 0..14usize) {
        let mut story = Story { cwd: Some("/r"), ..Story::default() };
        for (tool, input, answer, how) in &calls {
            let json = serde_json::json!({
                "command": input, "sql": input, "path": input, "chars": answer, "page_id": input, "todos": [answer],
            });
            let input = if how % 2 == 0 { json.to_string() } else { input.clone() };
            let answer = match how { 0 => Answer::Ok(answer), 1 => Answer::Err(answer), 2 => Answer::Abandoned, _ => Answer::Open };
            story.call(tool, &input, &answer);
        }
        let all = story.all();
        for item in &all.items {
            prop_assert!(!item.value.trim().is_empty() && item.from < story.log.records.len());
        }
        // What is live is a part of what there is, and what is open before the cut is live.
        let live = story.with(|evidence| evidence.live(cut)).items;
        for item in &live {
            prop_assert!(item.from < cut && all.items.contains(item));
        }
        for item in all.items.iter().filter(|item| item.state.is_open() && item.from < cut) {
            prop_assert!(live.contains(item));
        }
        prop_assert_eq!(&former(&rendered(&live)).len(), &live.len());
    }

    #[test]
    fn words_are_never_lost_to_quotes(words in proptest::collection::vec("[^']{0,8}", 1..6)) {
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let script = quoted.join(" ");
        let read = commands(&script);
        let texts: Vec<String> = read.iter().flat_map(|c| c.words.iter().map(|w| w.text.clone())).collect();
        let wanted: Vec<String> = words;
        // A first word of the shell's own grammar is taken away.
        prop_assert!(texts == wanted || texts.len() < wanted.len());
    }
}
