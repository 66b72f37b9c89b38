//! Other lanes and dead branches owe nothing to the main lane. A selector that folds them in is caught.

use cutline::{
    budget::Settings,
    cut::legal_cuts,
    ledger::Ledger,
    model::{Context, LaneId, Record, Slot},
    plan::Session,
};

/// A neutral line.
fn line(kind: &str, id: &str, lane: &str) -> String {
    let lane = if lane.is_empty() { String::new() } else { format!(",\"lane\":\"{lane}\"") };
    format!("{{\"kind\":\"{kind}\",\"id\":\"{id}\",\"tool\":\"t\",\"text\":\"x\"{lane}}}\n")
}

fn read(text: &str) -> Session {
    Session::of_bytes(text.as_bytes(), None, "lanes", Settings::default())
}

/// The legal cuts of a selector that folds every record that `taken` takes, in file order.
fn folded(session: &Session, taken: impl Fn(&Record) -> bool) -> Vec<usize> {
    let mut context = Context::default();
    let log = session.log();
    let ids = (0..log.next_id()).zip(&log.records);
    ids.filter(|(_, record)| taken(record)).for_each(|(id, _)| context.push(Slot::record(id)));
    legal_cuts(&Ledger::of(log, &context, context.len()))
}

const MAIN: [(&str, &str); 7] = [
    ("user", "u"),
    ("call", "c1"),
    ("result", "c1"),
    ("assistant", "a"),
    ("user", "u"),
    ("call", "c2"),
    ("result", "c2"),
];

#[test]
fn another_lane_changes_nothing() {
    let plain: String = MAIN.iter().map(|(kind, id)| line(kind, id, "")).collect();
    let want = legal_cuts(read(&plain).ledger());
    // Calls of a sub-agent stay open, share an id with the main lane, and stand at every place.
    let mut caught = 0;
    for place in 1..=MAIN.len() {
        let mut mixed: Vec<String> = MAIN.iter().map(|(kind, id)| line(kind, id, "")).collect();
        mixed.insert(place, line("call", "c1", "sub") + &line("call", "s9", "sub") + &line("result", "c2", "sub"));
        let session = read(&mixed.concat());
        assert_eq!(legal_cuts(session.ledger()), want, "at {place}");
        assert_eq!(session.context().len(), MAIN.len());
        caught += usize::from(folded(&session, |_| true) != want);
    }
    assert!(caught > MAIN.len() / 2, "the mutant that ignores lanes survives: caught {caught} times");
}

/// A line of a Claude Code session.
fn claude(n: u32, parent: Option<u32>, kind: &str, content: &str) -> String {
    let uuid = |n: u32| format!("\"00000000-0000-4000-8000-{n:012}\"");
    let parent = parent.map_or_else(|| "null".to_string(), uuid);
    let (role, id) =
        if kind == "assistant" { ("assistant", format!("\"id\":\"msg_{n}\",")) } else { ("user", String::new()) };
    format!(
        "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\"message\":{{{id}\"role\":\"{role}\",\"content\":{content}}},\"uuid\":{},\"timestamp\":\"2026-11-30T10:00:{n:02}.000Z\",\"sessionId\":\"s\",\"version\":\"2.1.240\"}}\n",
        uuid(n)
    )
}

fn call(id: &str) -> String {
    format!("[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Bash\",\"input\":{{}}}}]")
}

fn result(id: &str) -> String {
    format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"ok\"}}]")
}

#[test]
fn a_dead_branch_changes_nothing() {
    let live = [
        claude(1, None, "user", "\"go\""),
        claude(2, Some(1), "assistant", &call("c1")),
        claude(3, Some(2), "user", &result("c1")),
        claude(6, Some(3), "assistant", "[{\"type\":\"text\",\"text\":\"done\"}]"),
        claude(7, Some(6), "user", "\"next\""),
        claude(8, Some(7), "assistant", "[{\"type\":\"text\",\"text\":\"yes\"}]"),
    ];
    let want = legal_cuts(read(&live.concat()).ledger());
    assert_eq!(want.last(), Some(&6), "everything is closed and read");
    // The operator went back to record 3: what was tried from there stays in the file, with a call that nobody answers.
    let dead = claude(4, Some(3), "assistant", &call("c2")) + &claude(5, Some(4), "user", "\"never mind\"");
    let mut rewound = live.to_vec();
    rewound.insert(3, dead);
    let session = read(&rewound.concat());
    assert_eq!(legal_cuts(session.ledger()), want);
    assert_eq!(session.tally().open().len(), 1, "the file still holds the open call");
    assert_eq!(session.ledger().pending().count(), 0, "the agent does not owe it");
    let counted = folded(&session, |record| record.lane == LaneId::MAIN);
    assert_ne!(counted, want, "the mutant that counts dead branches survives");
    assert_eq!(want.first(), Some(&1));
}
