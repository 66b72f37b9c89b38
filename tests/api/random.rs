//! Random logs: whatever conversation they hold, every legal cut and every settlement is read back as planned, and a
//! log read line by line is the one read at once.

use cutline::{
    budget::Settings,
    cut::{Rules, legal_cuts, legal_ends},
    plan::{Abandonment, Session, Wish, draft},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    conversation::{Dialect, assistant, body, response, user},
    forks::minted,
    kinds,
};

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    Ask(u8),
    Say(u8),
    /// A response with so many calls, ids from a small set.
    Calls(Vec<u8>),
    /// Answers some of the calls that wait, from the newest on.
    Answer(u8),
    /// Words of the system in between.
    Note,
    /// A request is sent; true: with its response.
    Send(bool),
    /// The list becomes a summary and its last messages.
    Compact(u8),
    /// The last messages are taken back.
    Back(u8),
    /// A request of another conversation.
    Title,
    Fail,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0u8..9).prop_map(Step::Ask),
        2 => (0u8..9).prop_map(Step::Say),
        4 => prop::collection::vec(0u8..30, 1..4).prop_map(Step::Calls),
        5 => (1u8..4).prop_map(Step::Answer),
        1 => Just(Step::Note),
        4 => any::<bool>().prop_map(Step::Send),
        1 => (0u8..5).prop_map(Step::Compact),
        1 => (1u8..4).prop_map(Step::Back),
        1 => Just(Step::Title),
        1 => Just(Step::Fail),
    ]
}

struct Story {
    dialect: Dialect,
    list: Vec<Value>,
    waiting: Vec<String>,
    /// Bodies of requests and what came back.
    log: Vec<Value>,
}

impl Story {
    fn calls(&mut self, ids: &[u8]) {
        let mut ids: Vec<String> = ids.iter().map(|id| format!("c{id}")).collect();
        ids.dedup();
        if self.dialect == Dialect::Responses {
            self.list.push(json!({"type": "reasoning", "id": format!("rs_{}", self.list.len()), "summary": []}));
            let call = |id| json!({"type": "function_call", "call_id": id, "name": "look", "arguments": "{}"});
            self.list.extend(ids.iter().map(call));
        } else {
            let function = json!({"name": "look", "arguments": "{}"});
            let call = |id: &String| json!({"id": id, "type": "function", "function": function});
            let calls: Vec<Value> = ids.iter().map(call).collect();
            self.list.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
        }
        self.waiting = ids;
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Ask(n) => self.list.push(user(self.dialect, &format!("do {n}"))),
            Step::Say(n) => self.list.push(assistant(self.dialect, &format!("so {n}"))),
            Step::Calls(ids) => self.calls(ids),
            Step::Answer(n) => {
                for _ in 0..*n {
                    let Some(id) = self.waiting.pop() else { return };
                    self.list.extend(super::conversation::results(self.dialect, &[&id]));
                }
            }
            Step::Note => self.list.push(json!({"role": "system", "content": "it is late"})),
            Step::Send(answered) => {
                let ask = body(self.dialect, &self.list);
                let said = assistant(self.dialect, "well");
                if *answered {
                    let answer = response(self.dialect, std::slice::from_ref(&said), 900);
                    self.log.push(json!({"request": ask, "response": answer}));
                    self.list.push(said);
                } else {
                    self.log.push(ask);
                }
            }
            Step::Compact(kept) => {
                let tail = self.list.split_off(self.list.len().saturating_sub(usize::from(*kept)));
                self.list = vec![user(self.dialect, "What was said before, in short.")];
                self.list.extend(tail);
            }
            Step::Back(n) => self.list.truncate(self.list.len().saturating_sub(usize::from(*n))),
            Step::Title => {
                let name = if self.dialect == Dialect::Responses { "input" } else { "messages" };
                let list = [json!({"role": "system", "content": "You write titles."}), user(self.dialect, "title")];
                self.log.push(json!({"model": "m", "stream_options": {}, name: list}));
            }
            Step::Fail => {
                let error = json!({"error": {"type": "overloaded", "message": "busy"}});
                self.log.push(json!({"request": body(self.dialect, &self.list), "response": error}));
            }
        }
    }
}

fn lines(values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(|value| format!("{value}\n").into_bytes()).collect()
}

fn check(bytes: &[u8], dialect: Dialect) {
    let format = cutline::format::Format::from_name(dialect.name());
    let session = Session::of_bytes(bytes, format, "x", Settings::default());
    let mut grown = Session::new(format, "x", Settings::default());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        grown.feed(line);
        grown.refresh();
    }
    grown.finish();
    grown.refresh();
    assert_eq!(kinds(&grown), kinds(&session));
    assert_eq!(grown.obligations(), session.obligations());
    let open: Vec<Abandonment> = session
        .obligations()
        .into_iter()
        .filter(|owed| owed.blocking && owed.kind == cutline::ledger::ObligationKind::Call)
        .map(|owed| Abandonment {
            id: session.name(owed.id).to_string(),
            instance: Some(owed.at),
            reason: "lost".into(),
            ..Abandonment::default()
        })
        .collect();
    let mut wishes: Vec<Wish> =
        legal_cuts(session.ledger()).into_iter().map(|cut| Wish { span: Some((0, cut)), ..Wish::default() }).collect();
    for from in 1..session.context().len() {
        let ends = legal_ends(session.ledger(), from, Rules::default());
        let ends = ends.iter().enumerate().filter(|(end, legal)| **legal && *end > from).map(|(end, _)| end);
        wishes.extend(ends.take(3).map(|end| Wish { span: Some((from, end)), ..Wish::default() }));
    }
    if !open.is_empty() {
        wishes.push(Wish { settle: open, ..Wish::default() });
    }
    for wish in wishes {
        let draft = draft(&session, &bytes, &wish, &minted()).unwrap();
        let failed: Vec<_> = draft
            .failed()
            .filter(|check| !matches!(check.name, "smaller" | "one-summary"))
            .map(|check| (check.name, check.text.clone()))
            .collect();
        let text = || String::from_utf8_lossy(&draft.bytes).into_owned();
        assert!(failed.is_empty(), "{:?} {failed:?}\n{}\n---\n{}", wish.span, String::from_utf8_lossy(bytes), text());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_draft_of_a_random_log_is_sound(steps in prop::collection::vec(step(), 1..24), chat in any::<bool>(), container in 0u8..3) {
        let dialect = if chat { Dialect::Chat } else { Dialect::Responses };
        let mut story = Story { dialect, list: vec![user(dialect, "go")], waiting: Vec::new(), log: Vec::new() };
        for step in &steps {
            story.take(step);
        }
        story.take(&Step::Send(false));
        let bytes = match container {
            0 => serde_json::to_vec_pretty(&story.list).unwrap(),
            1 => lines(&story.list),
            _ => lines(&story.log),
        };
        check(&bytes, dialect);
    }
}
