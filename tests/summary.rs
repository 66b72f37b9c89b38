//! Summaries: what stands in them, what they never say, what a summariser may answer.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests stop at the first surprise")]

#[path = "summary/claims.rs"]
mod claims;
#[path = "summary/exchange.rs"]
mod exchange;
#[path = "summary/golden.rs"]
mod golden;
#[path = "summary/hostile.rs"]
mod hostile;
#[path = "summary/second.rs"]
mod second;

use std::{fs, path::PathBuf};

use cutline::{
    budget::Settings,
    format::{Act, Settle},
    plan::{
        Check, Outcome, Session,
        summary::{Author, Material, Prose, Table, checks, compose, extract},
    },
};
use serde_json::{Value, json};

/// A transcript in the neutral format with everything that is asked of it.
struct Case {
    bytes: Vec<u8>,
    session: Session,
    settle: Vec<Settle>,
    to: usize,
}

impl Case {
    fn of(records: &[Value]) -> Self {
        let mut text = String::from("{\"cutline\":1,\"session\":\"case\",\"window\":128000,\"cwd\":\"/srv/app\"}\n");
        for record in records {
            text.push_str(&record.to_string());
            text.push('\n');
        }
        Self::of_bytes(text.into_bytes(), "case")
    }

    fn of_bytes(bytes: Vec<u8>, stem: &str) -> Self {
        let session = Session::of_bytes(&bytes, None, stem, Settings::default());
        let to = session.context().len();
        Self { bytes, session, settle: Vec::new(), to }
    }

    fn of_file(path: &PathBuf) -> Self {
        Self::of_bytes(fs::read(path).unwrap(), &path.file_stem().unwrap().to_string_lossy())
    }

    fn upto(mut self, to: usize) -> Self {
        self.to = to;
        self
    }

    /// Gives up what stands at `at`.
    fn giving_up(mut self, at: usize, act: Act, id: &str) -> Self {
        let (reason, by) = ("host was rebooted".to_string(), "ines".to_string());
        self.settle.push(Settle { at, place: at + 1, act, id: id.to_string(), reason, by });
        self
    }

    fn material(&self) -> Material<'_> {
        Material { session: &self.session, payload: &self.bytes, from: 0, to: self.to, settle: &self.settle }
    }

    fn table(&self) -> Table {
        Table::of(&self.material())
    }

    fn extract(&self) -> String {
        extract(&self.material(), &self.table())
    }

    fn text(&self) -> String {
        compose(&Prose { text: self.extract(), by: Author::Extract }, &self.table())
    }

    fn checks(&self, text: &str, by: Author) -> Vec<Check> {
        checks(&self.material(), &Prose { text: text.to_string(), by }, &self.table())
    }

    /// How the check `name` comes out on hand-written prose.
    fn check(&self, name: &str, prose: &str) -> (Outcome, String) {
        let check = self.checks(prose, Author::Operator).into_iter().find(|check| check.name == name).unwrap();
        (check.outcome, check.text)
    }
}

fn user(text: &str) -> Value {
    json!({"kind": "user", "text": text, "tokens": 400})
}

fn said(response: &str, text: &str) -> Value {
    json!({"kind": "assistant", "response": response, "text": text, "tokens": 400})
}

fn call(id: &str, tool: &str, input: &Value) -> Value {
    json!({"kind": "call", "response": format!("r-{id}"), "id": id, "tool": tool, "input": input, "tokens": 100})
}

fn shell(id: &str, command: &str) -> Value {
    call(id, "shell", &json!({"command": command}))
}

fn result(id: &str, text: &str) -> Value {
    json!({"kind": "result", "id": id, "content": text, "tokens": 1000})
}

fn error(id: &str, text: &str) -> Value {
    json!({"kind": "error", "id": id, "content": text, "tokens": 1000})
}

fn samples() -> Vec<PathBuf> {
    let folders = ["sample-sessions", "tests/claude", "tests/codex"];
    let mut all: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl" || ending == "json"))
        .collect();
    all.sort();
    all
}
