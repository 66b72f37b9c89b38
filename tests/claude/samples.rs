//! Sessions that the real client wrote against a scripted model server, and small ones in their form.

use cutline::model::NoteKind;

use super::session::Read;

macro_rules! samples {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every sample.
        pub(crate) const SAMPLES: &[(&str, &str)] = &[$(($name, include_str!(concat!($name, ".jsonl")))),*];
    };
}

samples![
    "abandoned-mid",
    "background",
    "bridged",
    "copied-tail",
    "deferred",
    "id-used-twice",
    "inline-sidechain",
    "interrupted",
    "kept-list",
    "killed",
    "killed-then-compacted",
    "killed-then-compacted-1.0",
    "malformed",
    "missing-parent",
    "orphan-first",
    "partly-compacted",
    "pinned-then-branch",
    "replayed",
    "rewound",
    "server-tools",
    "stopped-after-pin",
    "sub-agent",
    "torn",
    "turn-on-anchor",
    "undone-by-pin",
];

/// What is sent of a sample, notices aside; ids without their leading zeros.
fn sent(name: &str) -> Vec<String> {
    let (_, text) = SAMPLES.iter().find(|(known, _)| *known == name).unwrap();
    let read = Read::of(text.as_bytes());
    let short = |part: String| {
        let part = part.replace("toolu_01", "").replace("000000000000000000000", "");
        part.lines().next().unwrap_or_default().chars().take(40).collect::<String>()
    };
    let parts = read.context(text.as_bytes()).into_iter();
    parts.filter(|part| !part.contains("notice:") && !part.starts_with(['-', '?'])).map(short).collect()
}

#[test]
fn what_the_real_client_sent_after_a_resume() {
    let tail = ["call:3", "call:4", "result:4", "result:3", "call:5", "result:5", "assistant:A2 done"];
    let after = |first: &[&'static str]| [first, &tail[..]].concat();
    let summary = "summary:SUMMARY of span; live ids: branch";
    let head =
        ["user:first prompt", "assistant:A1 text", "call:1", "call:2", "result:1", "result:2", "assistant:A1 done"];
    let whole = [&head[..], &["user:second prompt"], &tail[..]].concat();
    let cut = |text: &str| text.chars().take(40).collect::<String>();
    let check = |name: &str, wanted: &[&str]| {
        assert_eq!(sent(name), wanted.iter().map(|part| cut(part)).collect::<Vec<_>>(), "{name}");
    };
    check("kept-list", &after(&[summary, "user:second prompt"]));
    check("copied-tail", &after(&[summary, "user:second prompt"]));
    check("bridged", &after(&[summary, "user:second prompt"]));
    check("undone-by-pin", &whole);
    check("malformed", &whole);
    check("inline-sidechain", &whole);
    check("replayed", &head[..6]);
    check("pinned-then-branch", &whole);
    check("missing-parent", &[&head[..6], &["user:second prompt"], &tail[..]].concat());
    check("orphan-first", &["assistant:hm", "user:second", "assistant:fine"]);
    check("id-used-twice", &["user:p1", "call:1", "result:1", "assistant:end"]);
    check("rewound", &["user:first prompt", "assistant:A1 done", "user:second prompt, edited", "assistant:A4 done"]);
}

#[test]
fn obligations_of_the_samples() {
    let read = |name: &str| Read::of(SAMPLES.iter().find(|(known, _)| *known == name).unwrap().1.as_bytes());
    let background = ["10 started bqdc18l1t Task", "12 ended bqdc18l1t untold", "15 ended bqdc18l1t"];
    assert_eq!(read("background").events(), background);
    assert_eq!(read("deferred").events().len(), 1);
    assert_eq!(read("interrupted").events().len(), 1);
    assert_eq!(read("killed-then-compacted").notes(NoteKind::Swallowed).len(), 1);
    assert_eq!(read("killed-then-compacted-1.0").notes(NoteKind::Swallowed).len(), 2);
    assert_eq!(read("sub-agent").log().lanes.len(), 1);
    assert_eq!(read("inline-sidechain").log().lanes.len(), 2);
    assert_eq!(read("torn").notes(NoteKind::TornTail).len(), 1);
}
