//! The machine contract: documents, exit codes, errors. Scripts depend on every line of this.
#![expect(clippy::disallowed_methods, reason = "tests write their inputs")]
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

const LOG: &str = r#"{"cutline":1,"session":"t","window":10000}
{"kind":"user","text":"do it","time":"2026-11-30T10:00:00Z"}
{"kind":"call","id":"c1","tool":"Bash","input":{"command":"ls -l"},"response":"r1","time":"2026-11-30T10:00:01Z"}
{"kind":"result","id":"c1","content":"a\nb","time":"2026-11-30T10:00:02Z"}
{"kind":"assistant","text":"ok","response":"r2"}
{"kind":"usage","input_tokens":8000,"output_tokens":100}
{"kind":"user","text":"next"}
{"kind":"call","id":"c2","tool":"Bash","input":{"command":"deploy"},"response":"r3","time":"2026-11-30T10:00:05Z"}
{"kind":"result","id":"zzz","content":"answers nothing"}
{"kind":"from-the-future","text":"?"}
not json at all
"#;

struct Case {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn file(name: &str, text: &str) -> Case {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    Case { _folder: folder, path }
}

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cutline"));
    for name in ["CUTLINE_WINDOW", "CUTLINE_TRIGGER", "CUTLINE_CRITICAL", "CUTLINE_KEEP"] {
        command.env_remove(name);
    }
    command.args(args).stdin(Stdio::null()).output().unwrap()
}

fn document(args: &[&str]) -> (Value, i32) {
    let output = run(args);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("{\"schema\":\"cutline."), "{args:?}: {text}");
    assert_eq!(text.lines().count(), 1, "one document");
    (serde_json::from_str(&text).unwrap(), output.status.code().unwrap())
}

fn path(case: &Case) -> &str {
    case.path.to_str().unwrap()
}

#[test]
fn inspect() {
    let case = file("log.jsonl", LOG);
    let (doc, code) = document(&["inspect", path(&case), "--json"]);
    assert_eq!(code, 0);
    assert_eq!(doc["schema"], "cutline.inspect/1");
    assert_eq!(doc["format"], "cutline");
    let file = &doc["file"];
    for (name, want) in [
        ("lines", 11),
        ("calls", 2),
        ("results", 2),
        ("open", 1),
        ("orphans", 1),
        ("duplicates", 0),
        ("not_understood", 1),
        ("damaged", 1),
        ("lanes", 1),
    ] {
        assert_eq!(file[name], want, "{name}");
    }
    assert_eq!(file["torn_tail"], false);
    assert_eq!(doc["context"]["open"], 1);
    assert_eq!(doc["tokens"]["window"], 10_000);
    assert_eq!(doc["tokens"]["basis"], "measured");
    assert_eq!(doc["tokens"]["measured"], 8_000);
    let used = doc["tokens"]["used"].as_u64().unwrap();
    assert!((8_100..8_300).contains(&used), "{used}");
    assert_eq!((doc["tokens"]["trigger"].as_u64(), doc["tokens"]["critical"].as_u64()), (Some(7_000), Some(9_000)));
    let kinds: Vec<&str> = doc["notes"].as_array().unwrap().iter().filter_map(|note| note["kind"].as_str()).collect();
    assert_eq!(kinds, ["orphan", "not-understood", "damaged"]);
    assert_eq!(doc["capabilities"]["ids"], "repeat");
}

#[test]
fn context_and_obligations() {
    let case = file("log.jsonl", LOG);
    let (doc, _) = document(&["context", path(&case), "--json"]);
    let records = doc["records"].as_array().unwrap();
    assert_eq!(records[1]["kind"], "call");
    assert_eq!((records[1]["at"].as_u64(), records[1]["line"].as_u64()), (Some(1), Some(3)));
    assert_eq!(records[1]["response"], "r1");
    assert_eq!(records[0]["response"], Value::Null);
    let (short, _) = document(&["context", path(&case), "--json", "--as-of", "2"]);
    assert_eq!(short["records"].as_array().unwrap().len(), 2);

    let (doc, _) = document(&["obligations", path(&case), "--json"]);
    let owed = doc["obligations"].as_array().unwrap();
    assert_eq!(owed.len(), 1);
    let call = &owed[0];
    assert_eq!(
        (call["kind"].as_str(), call["id"].as_str(), call["tool"].as_str()),
        (Some("call"), Some("c2"), Some("Bash"))
    );
    assert_eq!((call["target"].as_str(), call["state"].as_str()), (Some("deploy"), Some("in-flight")));
    assert_eq!(
        (call["at"].as_u64(), call["instance"].as_u64(), call["blocks_from"].as_u64()),
        (Some(5), Some(5), Some(6))
    );
    assert_eq!((call["blocking"].as_bool(), call["lane"].as_str()), (Some(true), Some("main")));
    assert_eq!(call["opened"], "2026-11-30T10:00:05.000Z");
    assert_eq!(call["remedy"], "wait or abandon");
    let (all, _) = document(&["obligations", path(&case), "--json", "--all"]);
    assert_eq!(all["obligations"].as_array().unwrap().len(), 2);
    let (then, _) = document(&["obligations", path(&case), "--json", "--as-of", "2"]);
    assert_eq!(then["obligations"][0]["id"], "c1");
}

#[test]
fn cuts() {
    let case = file("log.jsonl", LOG);
    let (doc, _) = document(&["cuts", path(&case), "--json"]);
    let cuts = doc["cuts"].as_array().unwrap();
    assert_eq!(doc["records"], cuts.len());
    let legal: Vec<u64> =
        cuts.iter().filter(|cut| cut["legal"] == true).map(|cut| cut["at"].as_u64().unwrap()).collect();
    assert_eq!(legal, [1, 3, 4, 5]);
    assert_eq!(cuts[1]["reasons"], serde_json::json!([{"kind": "severs", "records": [1, 2]}]));
    assert!(cuts[2]["frees"].as_u64().unwrap() > 0 && cuts[2]["after"].as_u64().unwrap() > 0);
    let (only, _) = document(&["cuts", path(&case), "--json", "--legal-only"]);
    assert_eq!(only["cuts"].as_array().unwrap().len(), 4);
}

#[test]
fn plans_are_exit_codes() {
    let case = file("log.jsonl", LOG);
    for (args, verdict, code) in [
        (vec!["--to", "5"], "COMPACT", 0),
        (vec!["--to", "6"], "DEFER", 10),
        (vec!["--to", "6", "--critical"], "REFUSE", 11),
        (vec!["--from", "5", "--to", "6"], "REFUSE", 11),
        (vec!["--window", "1M"], "NO-OP", 17),
        (vec!["--to", "5", "--block-carried"], "COMPACT", 0),
        (vec!["--to", "6", "--min-progress", "9M"], "REFUSE", 11),
        (vec!["--to", "6", "--abandon", "c2=host is gone"], "COMPACT", 0),
        (vec!["--to", "6", "--abandon", "c2@5=host is gone"], "COMPACT", 0),
    ] {
        let mut all = vec!["plan", path(&case), "--json"];
        all.extend(&args);
        let (doc, exit) = document(&all);
        assert_eq!((doc["verdict"].as_str().unwrap(), exit), (verdict, code), "{args:?}");
        for blocker in doc["blockers"].as_array().unwrap() {
            assert!(!blocker["remedy"].as_str().unwrap().is_empty());
            assert!(blocker["reason"].is_string());
        }
        assert_eq!(doc["relief"].is_object(), args.contains(&"--critical"));
        assert_eq!(doc["source"]["bytes"], LOG.len());
        assert_eq!(doc["source"]["sha256"].as_str().unwrap().len(), 64);
        assert!(doc["live_identifiers"].is_array());
    }
}

#[test]
fn what_lives_on_blocks_only_on_request() {
    let sample = "sample-sessions/background.jsonl";
    assert_eq!(document(&["plan", sample, "--json"]).1, 0);
    let (doc, code) = document(&["plan", sample, "--json", "--block-carried"]);
    assert_eq!(code, 11);
    let blocker = &doc["blockers"][0];
    assert_eq!((blocker["kind"].as_str(), blocker["id"].as_str()), (Some("task"), Some("b7m2kd90q")));
    assert_eq!((blocker["reason"].as_str(), blocker["remedy"].as_str()), (Some("pending"), Some("wait or abandon")));
}

#[test]
fn failures_are_documents_too() {
    let no = file("readme.txt", "just some words\nand more of them\n");
    for (args, code, kind) in [
        (vec!["inspect", path(&no)], 15, "not-a-transcript"),
        (vec!["inspect", "/nowhere/at/all.jsonl"], 1, "missing"),
        (vec!["inspect", "/"], 15, "not-a-file"),
        (vec!["plan", path(&no)], 15, "not-a-transcript"),
    ] {
        let mut all = args.clone();
        all.push("--json");
        let (doc, exit) = document(&all);
        assert_eq!((doc["error"]["code"].as_i64(), exit), (Some(code), i32::try_from(code).unwrap()), "{args:?}");
        assert_eq!(doc["error"]["kind"], kind);
        let plain = run(&args);
        assert!(plain.stdout.is_empty());
        let said = String::from_utf8(plain.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.starts_with("cutline: ") && said.trim_end().ends_with('.'), "{said}");
    }
    let case = file("log.jsonl", LOG);
    let (doc, exit) = document(&["plan", path(&case), "--json", "--abandon", "nobody=x"]);
    assert_eq!((doc["error"]["kind"].as_str(), exit), (Some("usage"), 2));
    assert_eq!(run(&["plan"]).status.code(), Some(2));
    assert_eq!(run(&["inspect", path(&case), "--format", "nope"]).status.code(), Some(2));
    assert_eq!(run(&["plan", path(&case), "--window", "0"]).status.code(), Some(2));
    assert_eq!(run(&["--help"]).status.code(), Some(0));
}

#[test]
fn plain_output_has_no_control_characters() {
    let hostile =
        LOG.replace("do it", "evil \\u001b[31m \\u202e \\r \\u0007 \\u009b").replace("ls -l", "\\u001b]52;c;x\\u0007");
    let case = file("log.jsonl", &hostile);
    for args in [&["show"][..], &["inspect"], &["context"], &["obligations", "--all"], &["cuts"], &["plan"], &[]] {
        let mut all: Vec<&str> = args.iter().take(1).copied().collect();
        all.push(path(&case));
        all.extend(args.iter().skip(1));
        let output = run(&all);
        let text = String::from_utf8(output.stdout).unwrap();
        let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(bad, None, "{args:?}");
        assert!(!text.is_empty(), "{args:?}");
    }
}

#[test]
fn standard_input_is_a_transcript_too() {
    let case = file("log.jsonl", LOG);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cutline"));
    let output = command.args(["inspect", "-", "--json"]).stdin(fs::File::open(&case.path).unwrap()).output().unwrap();
    let doc: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(doc["file"]["calls"], 2);
    assert!(Path::new(&case.path).exists());
}
