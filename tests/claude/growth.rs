//! A file that grows is read as the same file at once.

use cutline::{
    format::{Format, Transcript},
    model::Context,
};
use proptest::prelude::*;
use serde_json::json;

use super::{samples::SAMPLES, session::Session};

fn read(bytes: &[u8]) -> Transcript {
    let mut transcript = Transcript::new(Some(Format::ClaudeCode), "s");
    transcript.feed(bytes);
    transcript.context();
    transcript
}

fn same(a: &Transcript, b: &Transcript) -> bool {
    let places = |t: &Transcript| {
        let (log, context) = (t.log(), t.current().unwrap());
        (0..context.len())
            .map(|at| {
                let record = *context.get(log, at).unwrap();
                let id = record.id.map(|id| log.syms.name(id).to_string());
                (context.slots()[at].sent, context.slots()[at].id(), record.kind, record.flags, record.line, id)
            })
            .collect::<Vec<_>>()
    };
    places(a) == places(b)
}

#[test]
fn byte_by_byte_gives_the_same() {
    for (name, text) in SAMPLES {
        let mut slow = Transcript::new(Some(Format::ClaudeCode), "s");
        text.as_bytes().iter().for_each(|byte| slow.feed(&[*byte]));
        slow.finish();
        slow.context();
        let mut whole = Transcript::new(Some(Format::ClaudeCode), "s");
        whole.feed(text.as_bytes());
        whole.finish();
        whole.context();
        assert!(same(&slow, &whole), "{name}");
        assert_eq!(slow.log().records, whole.log().records, "{name}");
        assert_eq!(slow.log().events, whole.log().events, "{name}");
        assert_eq!(slow.log().usage, whole.log().usage, "{name}");
        assert_eq!(slow.log().notes, whole.log().notes, "{name}");
    }
}

/// Asks for the context after every line and after every `step` lines; compares with a fresh reader at each.
fn grows(text: &str, step: usize) -> Result<(), String> {
    let mut growing = Transcript::new(Some(Format::ClaudeCode), "s");
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        growing.feed(line.as_bytes());
        end += line.len();
        if number % step != 0 && end < text.len() {
            continue;
        }
        growing.context();
        if !same(&growing, &read(&text.as_bytes()[..end])) {
            return Err(format!("after line {}", number + 1));
        }
    }
    Ok(())
}

#[test]
fn incremental_is_batch_over_the_samples() {
    for (name, text) in SAMPLES {
        for step in [1, 3] {
            assert_eq!(grows(text, step), Ok(()), "{name} by {step}");
        }
    }
}

#[test]
fn a_plain_append_keeps_what_was_there() {
    let mut s = Session::new("2.1.332");
    s.user("u0", None, "p");
    for n in 0..50 {
        s.call(&format!("a{n}"), &format!("u{n}"), &format!("m{n}"), &format!("t{n}"));
        s.result(&format!("r{n}"), &format!("a{n}"), &format!("t{n}"));
        s.pin(&format!("r{n}"), false);
        s.user(&format!("u{}", n + 1), Some(&format!("r{n}")), "p");
    }
    let mut transcript = Transcript::new(Some(Format::ClaudeCode), "s");
    for line in s.text().split_inclusive('\n') {
        transcript.feed(line.as_bytes());
        let (context, _) = transcript.context().unwrap();
        let (len, kept) = (context.len(), Context::kept(context));
        assert!(kept + 5 >= len, "{kept} of {len}");
        context.seen();
    }
}

#[derive(Clone, Debug)]
enum Step {
    Prompt(usize),
    Part(usize, usize, bool),
    Result(usize, usize),
    Notice(usize),
    Boundary(bool),
    Pin(usize, bool),
    Again(usize),
    Orphan,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0usize..4).prop_map(Step::Prompt),
        6 => (0usize..3, 0usize..3, any::<bool>()).prop_map(|(up, message, call)| Step::Part(up, message, call)),
        6 => (0usize..4, 0usize..4).prop_map(|(up, call)| Step::Result(up, call)),
        2 => (0usize..3).prop_map(Step::Notice),
        1 => any::<bool>().prop_map(Step::Boundary),
        2 => (0usize..6, prop::bool::weighted(0.1)).prop_map(|(back, explicit)| Step::Pin(back, explicit)),
        1 => (0usize..8).prop_map(Step::Again),
        1 => Just(Step::Orphan),
    ]
}

/// Writes a session in which most lines hang on the last one and some do not.
fn session(version: &'static str, steps: &[Step]) -> String {
    let mut s = Session::new(version);
    let (mut uuids, mut calls, mut message) = (vec!["root".to_string()], Vec::<(String, String)>::new(), 0usize);
    s.user("root", None, "p");
    let back = |list: &[String], n: usize| list[list.len() - 1 - n.min(list.len() - 1)].clone();
    for (n, step) in steps.iter().enumerate() {
        let uuid = format!("x{n}");
        match step {
            Step::Prompt(up) => {
                s.user(&uuid, Some(&back(&uuids, up.saturating_sub(2) * 3)), "p");
            }
            Step::Part(up, same, call) => {
                message += usize::from(*same == 0);
                let (parent, id) = (back(&uuids, up.saturating_sub(1)), format!("m{message}"));
                if *call {
                    s.call(&uuid, &parent, &id, &format!("t{n}"));
                    calls.push((format!("t{n}"), uuid.clone()));
                } else {
                    s.say(&uuid, &parent, &id, "text");
                }
            }
            Step::Result(up, which) => {
                let Some((id, at)) = calls.iter().rev().nth(*which).cloned() else { continue };
                let parent = if *up == 0 { back(&uuids, 0) } else { at };
                s.result(&uuid, &parent, &id);
            }
            Step::Notice(up) => {
                s.tree(
                    "attachment",
                    &uuid,
                    Some(&back(&uuids, *up)),
                    json!({"attachment": {"type": "x", "text": "y"}}),
                );
            }
            Step::Boundary(keeps) => {
                let kept = json!({"preservedMessages": {"anchorUuid": format!("s{n}"), "uuids": [back(&uuids, 1), back(&uuids, 0)]}});
                let metadata = if *keeps { kept } else { json!({}) };
                s.system(&uuid, None, "compact_boundary", json!({"compactMetadata": metadata}));
                s.summary(&format!("s{n}"), &uuid, "SUMMARY");
                uuids.push(format!("s{n}"));
                continue;
            }
            Step::Pin(0, explicit) => {
                // Names a line that comes later.
                s.pin(&format!("x{}", n + 2), *explicit);
                continue;
            }
            Step::Pin(up, explicit) => {
                s.pin(&back(&uuids, up - 1), *explicit);
                continue;
            }
            Step::Again(which) => {
                let old = s.text().lines().rev().nth(*which).map(str::to_string);
                if let Some(line) = old {
                    s.raw(&line);
                }
                continue;
            }
            Step::Orphan => {
                s.user(&uuid, Some("gone"), "p");
            }
        }
        uuids.push(uuid);
    }
    s.text().to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn incremental_is_batch_over_random_sessions(
        steps in prop::collection::vec(step(), 1..40),
        version in prop::sample::select(vec!["1.0.128", "2.1.39", "2.1.140", "2.1.240", "2.1.332"]),
        stride in 1usize..4,
    ) {
        let text = session(version, &steps);
        prop_assert_eq!(grows(&text, stride), Ok(()), "{}\n{}", version, text);
    }
}

#[test]
fn a_circle_closed_by_a_bridge_is_left_again() {
    let mut s = Session::new("2.1.240");
    s.user("a", Some("b"), "p1").user("b", Some("gone"), "p2").say("c", "a", "m1", "one");
    grows(s.text(), 1).unwrap();
    assert_eq!(s.read().context(s.text().as_bytes()), ["user:p2", "user:p1", "assistant:one"]);
}

#[test]
fn a_pin_on_a_line_of_unknown_type_takes_hold_at_once() {
    let mut s = Session::new("2.1.240");
    s.user("a", None, "p1").say("b", "a", "m1", "one").user("c", None, "p2");
    s.tree("of-tomorrow", "x", Some("b"), json!({})).pin("x", false);
    grows(s.text(), 1).unwrap();
    assert_eq!(s.read().context(s.text().as_bytes()), ["user:p1", "assistant:one"]);
}
