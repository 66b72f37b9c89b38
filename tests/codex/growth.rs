//! A file that grows is read the same as one that is there.

use super::{
    rollout::{call, compacted, context, event, legacy, output, paginated, said, user, view, whole},
    samples::FILES,
};
use cutline::{
    format::{Format, Transcript},
    model::Log,
};

fn same(a: &Log, b: &Log, name: &str) {
    assert_eq!(a.records, b.records, "{name}");
    assert_eq!(a.events, b.events, "{name}");
    assert_eq!(a.usage, b.usage, "{name}");
    assert_eq!(a.notes, b.notes, "{name}");
    assert_eq!(a.boundaries, b.boundaries, "{name}");
    assert_eq!((a.lines, a.damaged, a.not_understood), (b.lines, b.damaged, b.not_understood), "{name}");
}

#[test]
fn byte_by_byte_equals_whole() {
    for (name, bytes) in FILES {
        let mut slow = Transcript::new(Some(Format::Codex), "rollout");
        for byte in bytes {
            slow.feed(std::slice::from_ref(byte));
        }
        slow.finish();
        let mut fast = whole(bytes);
        same(slow.log(), fast.log(), name);
        assert_eq!(context(&mut slow), context(&mut fast), "{name}");
    }
}

/// Asks for the context after every line; at each the answer must be that of a reader who asks once.
fn grows(name: &str, bytes: &[u8]) {
    let mut watching = Transcript::new(Some(Format::Codex), "rollout");
    let mut end = 0;
    let mut before: Vec<String> = Vec::new();
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        watching.feed(line);
        end += line.len();
        let mut once = whole(&bytes[..end]);
        assert_eq!(context(&mut watching), context(&mut once), "{name} at {end}");
        same(watching.log(), once.log(), name);
        let (context, log) = watching.context().unwrap();
        // What is said to be kept is what stood there.
        let now: Vec<String> = (0..context.len()).map(|at| view(log, context.get(log, at).unwrap())).collect();
        assert_eq!(now[..context.kept()], before[..context.kept()], "{name} at {end}");
        context.seen();
        before = now;
    }
}

#[test]
fn context_after_every_line_equals_context_at_the_end() {
    for (name, bytes) in FILES {
        grows(name, bytes);
    }
}

#[test]
fn hard_orders_grow_the_same() {
    let back = || event(r#"{"type":"thread_rolled_back","num_turns":1}"#);
    let kept = format!(r#"{{"message":"m","replacement_history":[{}]}}"#, said("user", "x"));
    let lines = [
        user("one"),
        output("early"),
        call("a"),
        call("early"),
        output("zz"),
        user("two"),
        output("a"),
        call("b"),
        back(),
        user("three"),
        call("b"),
        compacted(r#"{"message":"raw"}"#),
        output("b"),
        user("four"),
        compacted(&kept),
        call("c"),
        back(),
        user("five"),
        call("c"),
        output("c"),
        output("c"),
    ];
    grows("hard", &paginated(&lines));
}

#[test]
fn a_plain_append_keeps_what_is_there() {
    let lines: Vec<String> = (0..50).flat_map(|n| [call(&n.to_string()), output(&n.to_string())]).collect();
    let mut transcript = legacy(&[vec![user("x")], lines].concat());
    transcript.context().unwrap().0.seen();
    transcript.feed(format!("{}\n", call("next")).as_bytes());
    let (context, _) = transcript.context().unwrap();
    assert_eq!((context.kept(), context.len()), (101, 103));
    context.seen();
    transcript.feed(format!("{}\n", output("next")).as_bytes());
    let (context, _) = transcript.context().unwrap();
    assert_eq!((context.kept(), context.len()), (101, 103), "the placeholder gives way to the output");
}
