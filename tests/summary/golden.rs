//! Whole texts of samples, and what holds for the extract of every sample.

use std::{env, fs, path::PathBuf};

use cutline::{
    cut::legal_cuts,
    format::Act,
    plan::{Outcome, summary::Author},
};

use crate::{Case, call, error, result, said, samples, shell, user};

/// Compares `text` with the file; `UPDATE_SUMMARY=1` accepts it.
fn golden(name: &str, text: &str) {
    let path = PathBuf::from("tests/summary").join(name);
    if env::var_os("UPDATE_SUMMARY").is_some() {
        fs::write(&path, text).unwrap();
    }
    let want = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, want, "{}: look at the difference, then accept it with UPDATE_SUMMARY=1", path.display());
}

#[test]
fn summary_of_the_critical_sample() {
    let case = Case::of_file(&"sample-sessions/critical.jsonl".into()).giving_up(8, Act::Abandon, "c4");
    golden("critical.txt", &case.text());
}

#[test]
fn summary_of_the_background_sample() {
    golden("background.txt", &Case::of_file(&"sample-sessions/background.jsonl".into()).text());
}

#[test]
fn summary_of_the_codex_sample() {
    golden("codex.txt", &Case::of_file(&"sample-sessions/codex.jsonl".into()).text());
}

#[test]
fn the_extract_of_every_legal_cut_of_every_sample_passes_its_own_checks() {
    let mut looked = 0;
    for path in samples() {
        let mut case = Case::of_file(&path);
        for cut in legal_cuts(case.session.ledger()).into_iter().filter(|cut| *cut > 0) {
            case.to = cut;
            for check in case.checks(&case.extract(), Author::Extract) {
                assert_eq!(check.outcome, Outcome::Passed, "{} at {cut}: {check:?}", path.display());
                looked += 1;
            }
            assert!(case.extract().chars().count() < 7_000, "{} at {cut}", path.display());
        }
    }
    assert!(looked > 400, "{looked}");
}

#[test]
fn the_ledger_tells_states_apart() {
    let case = Case::of(&[
        user("Ship it."),
        said("r1", "I'll run the tests first because the last release broke."),
        shell("t1", "cargo test"),
        error("t1", "1 failed"),
        shell("t2", "cargo test"),
        result("t2", "ok"),
        shell("t3", "cargo test"),
        result("t3", "ok"),
        call("p1", "read", &serde_json::json!({"path": "src/secret.rs"})),
        result("p1", "fn main() {}"),
        call("m1", "mcp__mail__send", &serde_json::json!({"to": "all@example.org"})),
        shell("d1", "./deploy.sh prod-eu"),
    ])
    .giving_up(10, Act::Abandon, "m1");
    let text = case.text();
    for row in [
        r#"- effect failed "shell" "cargo test" times 1 last "t1""#,
        r#"- effect done "shell" "cargo test" times 2 last "t3""#,
        r#"- given-up call "m1" "mcp__mail__send" "all@example.org" outcome-UNKNOWN by "ines" reason "host was rebooted" inside"#,
        r#"- open call "d1" "shell" "./deploy.sh prod-eu" not-done inside"#,
    ] {
        assert!(text.contains(row), "{row}\n\n{text}");
    }
    assert!(!text.contains("effect done \"read\""), "{text}");
    assert!(!text.to_lowercase().contains("retry"), "{text}");
    assert!(text.contains("because the last release broke"), "{text}");
}

#[test]
fn an_open_call_behind_the_span_is_pending_but_not_told_as_part_of_it() {
    let case =
        Case::of(&[user("Go."), shell("a1", "make all"), result("a1", "ok"), shell("b1", "make install")]).upto(3);
    let table = case.table();
    assert_eq!(table.open.len(), 1);
    assert!(!table.open[0].inside);
    assert_eq!(table.effects.len(), 1);
    assert!(case.text().contains(r#"- open call "b1" "shell" "make install" not-done outside"#), "{}", case.text());
}

#[test]
fn very_many_side_effects_are_counted_not_dropped() {
    let mut records = vec![user("Write files.")];
    for n in 0..500 {
        records.push(call(&format!("w{n}"), "write", &serde_json::json!({"path": format!("out/{n}.txt")})));
        records.push(result(&format!("w{n}"), "ok"));
    }
    let table = Case::of(&records).table();
    let named: usize = table.effects.iter().map(|row| row.count).sum();
    let counted: usize = table.rest.iter().map(|row| row.count).sum();
    assert_eq!(named + counted, 500);
    assert!(table.effects.len() <= 60);
    assert_eq!(table.effects.last().unwrap().id, "w499");
}
