//! Facts of files that real clients wrote, counted by hand and by an independent program.

use super::rollout::{context, events, noted, whole};
use cutline::{
    format::{Commit, Transcript},
    model::{Flags, Kind, NoteKind},
};

pub(crate) const FILES: [(&str, &[u8]); 11] = [
    ("g0_0.20_calls", include_bytes!("g0_0.20_calls.jsonl")),
    ("g1_0.39_calls", include_bytes!("g1_0.39_calls.jsonl")),
    ("g1_0.39_compacted", include_bytes!("g1_0.39_compacted.jsonl")),
    ("g2_0.63_interrupted", include_bytes!("g2_0.63_interrupted.jsonl")),
    ("g2_0.80_compacted", include_bytes!("g2_0.80_compacted.jsonl")),
    ("g3_0.133_rolled_back", include_bytes!("g3_0.133_rolled_back.jsonl")),
    ("g3_0.144_killed", include_bytes!("g3_0.144_killed.jsonl")),
    ("g4_0.171_broken_replacement", include_bytes!("g4_0.171_broken_replacement.jsonl")),
    ("g4_0.171_escape", include_bytes!("g4_0.171_escape.jsonl")),
    ("g4_0.171_killed_resumed", include_bytes!("g4_0.171_killed_resumed.jsonl")),
    ("g4_0.171_sessions", include_bytes!("g4_0.171_sessions.jsonl")),
];

pub(crate) fn sample(name: &str) -> Transcript {
    whole(FILES.iter().find(|(file, _)| *file == name).unwrap().1)
}

/// Counts of one file.
#[derive(Debug, PartialEq, Eq)]
struct Facts {
    generation: &'static str,
    /// One per line, repeats left out.
    records: usize,
    calls: usize,
    outputs: usize,
    boundaries: Vec<u32>,
    /// Newest figure and its window.
    tokens: Option<(u64, Option<u64>)>,
    /// What the next request would carry.
    sent: usize,
    placeholders: usize,
}

fn facts(name: &str) -> Facts {
    let mut transcript = sample(name);
    let generation = transcript.adapter().unwrap().session().generation.unwrap();
    let (context, log) = transcript.context().unwrap();
    let own = || log.records.iter().filter(|r| !r.flags.has(Flags::REPEAT));
    assert_eq!((log.damaged, log.not_understood), (0, 0), "{name}");
    Facts {
        generation,
        records: own().count(),
        calls: own().filter(|r| r.kind == Kind::Call).count(),
        outputs: own().filter(|r| r.kind.is_resolution()).count(),
        boundaries: log.boundaries.iter().map(|b| b.line).collect(),
        tokens: log.usage.last().map(|usage| (usage.input, usage.window)),
        sent: context.slots().iter().filter(|slot| slot.sent).count(),
        placeholders: context.slots().iter().filter(|slot| slot.id().is_none()).count(),
    }
}

#[test]
fn counts_of_every_sample() {
    let full = Some(258_400);
    for (name, generation, [records, calls, outputs], boundary, tokens, [sent, placeholders]) in [
        ("g0_0.20_calls", "G0", [13, 2, 2], None, None, [7, 0]),
        ("g1_0.39_calls", "G1", [16, 2, 2], None, Some((1550, Some(272_000))), [8, 0]),
        ("g1_0.39_compacted", "G1", [15, 1, 1], Some(10), Some((1220, Some(272_000))), [3, 0]),
        ("g2_0.63_interrupted", "G2", [15, 2, 2], None, Some((1050, full)), [7, 0]),
        ("g2_0.80_compacted", "G2", [21, 1, 1], Some(15), Some((1220, full)), [3, 0]),
        ("g3_0.133_rolled_back", "G3", [55, 3, 3], Some(42), Some((3550, full)), [7, 0]),
        ("g3_0.144_killed", "G3", [13, 2, 1], None, None, [8, 1]),
        ("g4_0.171_broken_replacement", "G4", [17, 2, 1], Some(17), Some((1050, full)), [12, 4]),
        ("g4_0.171_escape", "G4", [30, 4, 4], None, Some((13080, full)), [14, 0]),
        ("g4_0.171_killed_resumed", "G4", [26, 2, 1], None, Some((1050, full)), [10, 1]),
        ("g4_0.171_sessions", "G4", [36, 4, 4], None, Some((14080, full)), [14, 0]),
    ] {
        let boundaries = boundary.into_iter().collect();
        let wanted = Facts { generation, records, calls, outputs, boundaries, tokens, sent, placeholders };
        assert_eq!(facts(name), wanted, "{name}");
    }
}

#[test]
fn contexts() {
    for (name, wanted) in [
        ("g0_0.20_calls", "U H Ccall_A Rcall_A Ccall_B Rcall_B A"),
        // The raw summary of G1 is a prompt to every later client; here it is still known to be one.
        ("g1_0.39_compacted", "U S A"),
        ("g2_0.80_compacted", "U S A"),
        ("g2_0.63_interrupted", "u U A Ccall_FAST Ccall_SLOW Xcall_FAST? Xcall_SLOW?"),
        ("g3_0.133_rolled_back", "U' U' S' N u U A"),
        ("g3_0.144_killed", "N u U A Ccall_FAST Ccall_SLOW [Xcall_SLOW?] Rcall_FAST"),
        ("g4_0.171_killed_resumed", "N u U A Ccall_FAST Ccall_SLOW <Xcall_SLOW?> Rcall_FAST U A"),
    ] {
        assert_eq!(context(&mut sample(name)), wanted, "{name}");
    }
}

#[test]
fn a_broken_replacement_history_is_repaired() {
    let mut transcript = sample("g4_0.171_broken_replacement");
    let text = context(&mut transcript);
    assert_eq!(text.matches("[X").count(), 4, "{text}");
    assert_eq!(text.matches("(R").count(), 2, "{text}");
    assert_eq!(noted(transcript.log(), NoteKind::Swallowed), [13]);
}

#[test]
fn sessions_that_end() {
    assert_eq!(
        events(sample("g4_0.171_sessions").log()),
        [
            "14 Session 37953 started",
            // The display line comes first; the model hears of it by the output of its own poll.
            "16 37953 ended unseen",
            "19 37953 ended",
            "25 Session 67946 started",
            "32 67946 ended unseen",
        ]
    );
}

#[test]
fn a_broken_off_command_may_live_on() {
    assert_eq!(events(sample("g4_0.171_escape").log()), ["27 call_f88718e8f6a74fedae489d9e may live on"]);
}

#[test]
fn session_facts() {
    let facts = sample("g3_0.133_rolled_back").adapter().unwrap().session();
    assert_eq!(facts.version.as_deref(), Some("0.133.0"));
    assert_eq!(facts.cwd.as_deref(), Some("/home/user/projects/lab/proj"));
    assert_eq!(facts.branch.as_deref(), Some("master"));
    assert_eq!(facts.model.as_deref(), Some("gpt-5.2-codex"));
    assert_eq!(facts.window, Some(258_400));
}

#[test]
fn what_a_generation_can_tell() {
    let capability = |name| sample(name).adapter().unwrap().capability();
    for (name, shows_open, lock, appends) in [
        ("g0_0.20_calls", false, false, false),
        ("g1_0.39_calls", false, false, false),
        ("g2_0.63_interrupted", false, false, true),
        ("g2_0.80_compacted", true, false, true),
        ("g3_0.144_killed", true, false, true),
        ("g4_0.171_sessions", true, true, true),
    ] {
        let told = capability(name);
        assert_eq!((told.shows_open, told.lock), (shows_open, lock), "{name}");
        assert_eq!(told.commits.contains(&Commit::Append), appends, "{name}");
        assert!(!told.hides.is_empty());
    }
}

#[test]
fn responses_of_interleaved_generations() {
    // Reasoning, both calls and nothing else: one response, though an output stands between the calls.
    for name in ["g0_0.20_calls", "g1_0.39_calls"] {
        let transcript = sample(name);
        let log = transcript.log();
        let parts: Vec<_> = log.records.iter().filter(|r| r.kind.is_response_part()).collect();
        assert_eq!(parts.len(), 4, "{name}");
        assert!(parts[..3].iter().all(|part| part.response == parts[0].response), "{name}");
        assert_ne!(parts[3].response, parts[0].response, "{name}");
    }
}

#[test]
fn bodies() {
    let bytes = FILES.iter().find(|(file, _)| *file == "g0_0.20_calls").unwrap().1;
    let transcript = whole(bytes);
    let body = |kind| {
        let record = transcript.log().records.iter().find(|r| r.kind == kind).unwrap();
        let from = usize::try_from(record.offset).unwrap();
        transcript.adapter().unwrap().body(&bytes[from..from + record.line_len as usize], record)
    };
    let call = body(Kind::Call);
    assert_eq!(call.tool.as_deref(), Some("shell"));
    assert_eq!(call.input.as_deref(), Some(r#"{"command": ["bash", "-lc", "cat README.md"]}"#));
    let result = body(Kind::Result);
    assert_eq!(result.text, "hello\n");
    assert!(result.facts.contains(&("exit code".to_string(), "0".to_string())), "{:?}", result.facts);
    assert_eq!(body(Kind::Thinking).text, "Look at the directory");
    assert_eq!(body(Kind::User).text, "List the directory");
}
