//! A file that grows is read as the same file at once.

use cutline::{
    format::{Format, Transcript},
    model::Context,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    samples::SAMPLES,
    session::{Session, blocks},
};

fn read(bytes: &[u8]) -> Transcript {
    let mut transcript = Transcript::new(Some(Format::Pi), "s");
    transcript.feed(bytes);
    transcript.context();
    transcript
}

fn same(a: &Transcript, b: &Transcript) -> bool {
    let places = |t: &Transcript| {
        let (log, context) = (t.log(), t.current().unwrap());
        (0..context.len())
            .map(|at| (context.slots()[at].sent, context.slots()[at].id(), *context.get(log, at).unwrap()))
            .collect::<Vec<_>>()
    };
    places(a) == places(b) && a.log().boundaries == b.log().boundaries
}

#[test]
fn byte_by_byte_gives_the_same() {
    for (name, text) in SAMPLES {
        let mut slow = Transcript::new(Some(Format::Pi), "s");
        text.as_bytes().iter().for_each(|byte| slow.feed(&[*byte]));
        slow.finish();
        slow.context();
        let mut whole = Transcript::new(Some(Format::Pi), "s");
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

/// Asks for the context after every `step` lines; compares with a fresh reader at each.
fn grows(text: &str, step: usize) -> Result<(), String> {
    let mut growing = Transcript::new(Some(Format::Pi), "s");
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
    let mut s = Session::new();
    for n in 0..50 {
        s.user(&format!("u{n}"), "p").calls(&format!("a{n}"), &[&format!("c{n}")]);
        s.result(&format!("r{n}"), &format!("c{n}")).entry(&format!("m{n}"), "custom", &json!({"customType": "x"}));
    }
    let mut transcript = Transcript::new(Some(Format::Pi), "s");
    for line in s.text().split_inclusive('\n') {
        transcript.feed(line.as_bytes());
        let (context, _) = transcript.context().unwrap();
        let (len, kept) = (context.len(), Context::kept(context));
        assert!(kept + 2 >= len, "{kept} of {len}");
        context.seen();
    }
}

#[derive(Clone, Debug)]
enum Step {
    User,
    Answer(usize, &'static str),
    Result(usize),
    Quiet,
    Compaction(usize),
    Edit(usize, bool),
    Back(usize),
    Lost,
    Again(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let stop = prop::sample::select(vec!["toolUse", "toolUse", "toolUse", "error", "aborted"]);
    prop_oneof![
        4 => Just(Step::User),
        6 => (0..3usize, stop).prop_map(|(calls, stop)| Step::Answer(calls, stop)),
        6 => (0..4usize).prop_map(Step::Result),
        2 => Just(Step::Quiet),
        2 => (0..30usize).prop_map(Step::Compaction),
        2 => (0..30usize, any::<bool>()).prop_map(|(of, omits)| Step::Edit(of, omits)),
        2 => (0..30usize).prop_map(Step::Back),
        1 => Just(Step::Lost),
        1 => (0..30usize).prop_map(Step::Again),
    ]
}

fn file(steps: &[Step]) -> String {
    let mut s = Session::new();
    let mut calls: Vec<String> = vec!["stray".to_string()];
    for (n, step) in steps.iter().enumerate() {
        let id = format!("e{n}");
        let old = |of: &usize| format!("e{}", of % (n + 1));
        match step {
            Step::User => s.user(&id, "p"),
            Step::Answer(count, stop) => {
                let new: Vec<String> = (0..*count).map(|call| format!("c{n}-{call}")).collect();
                let names: Vec<&str> = new.iter().map(String::as_str).collect();
                s.answer(&id, stop, &blocks(&names));
                calls.extend(new);
                &mut s
            }
            Step::Result(back) => {
                let call = calls[calls.len().saturating_sub(back + 1)].clone();
                s.result(&id, &call)
            }
            Step::Quiet => s.entry(&id, "model_change", &json!({"modelId": "m"})),
            Step::Compaction(first) => s.compaction(&id, &old(first), "S"),
            Step::Edit(of, true) => s.edit(&id, &old(of), &Value::Null),
            Step::Edit(of, false) => s.edit(&id, &old(of), &json!({"content": [{"type": "text", "text": "new"}]})),
            Step::Back(to) => s.on(&old(to)).user(&id, "back"),
            Step::Lost => s.on("nowhere").user(&id, "lost"),
            Step::Again(of) => s.user(&old(of), "the id again"),
        };
    }
    s.text().to_string()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn incremental_is_batch(steps in prop::collection::vec(step(), 1..30), by in 1..4usize) {
        prop_assert_eq!(grows(&file(&steps), by), Ok(()));
    }
}
