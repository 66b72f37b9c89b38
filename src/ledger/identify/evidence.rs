use rustc_hash::FxHashSet;

use super::{
    IdentifierKind, IdentifierState,
    call::{Call, Input, Outcome, SCAN, head},
    former,
    found::{Entry, Found, Identified},
    handles, hosting, mention, patch, paths, shell, sql, todo,
};
use crate::{
    format::json::Raw,
    ledger::{Carried, Ledger},
    model::{Body, Flags, Kind, Sym, TaskKind},
};

/// Tools that only show something: their answers are the content of files, not identifiers.
const READERS: [&str; 10] =
    ["read", "grep", "glob", "ls", "view", "search", "list_dir", "list_directory", "toolsearch", "notebookread"];

/// What identifiers are taken from: the ledger and the payload behind it.
pub struct Evidence<'a> {
    /// Who was answered how.
    pub ledger: &'a Ledger,
    /// The decoded record at a position.
    pub read: &'a dyn Fn(usize) -> Option<(Kind, Body)>,
    /// The name behind a symbol.
    pub name: &'a dyn Fn(Sym) -> String,
    /// Working folder of the session, if the transcript says one.
    pub cwd: Option<&'a str>,
}

impl Evidence<'_> {
    /// Every identifier that the records before `upto` name. An answer at or after `upto` is not known yet.
    pub fn identify(&self, upto: usize) -> Identified {
        let (entries, mut out) = self.collect(upto);
        out.items = entries.into_iter().map(|entry| entry.item).collect();
        out
    }

    /// The identifiers of the records before `cut` that a summary of them must carry: still open, referenced by what
    /// is kept, or carried over from a former summary and not closed since.
    pub fn live(&self, cut: usize) -> Identified {
        let (entries, mut out) = self.collect(self.ledger.len());
        let candidates: Vec<Entry> = entries.into_iter().filter(|entry| entry.item.from < cut).collect();
        let quiet = |entry: &&Entry| entry.last < cut && !entry.item.state.is_open();
        let asked: Vec<&str> = candidates.iter().filter(quiet).map(|entry| entry.item.value.as_str()).collect();
        let mentioned = if asked.is_empty() { mention::Words::default() } else { self.words(cut) };
        let is_live = |entry: &Entry| !quiet(&entry) || mentioned.names(entry.item.kind, &entry.item.value);
        out.items = candidates.into_iter().filter(is_live).map(|entry| entry.item).collect();
        out
    }

    /// Words of everything that is kept after `cut`.
    fn words(&self, cut: usize) -> mention::Words {
        let mut words = mention::Words::default();
        for at in cut..self.ledger.len() {
            let Some((_, body)) = (self.read)(at) else { continue };
            words.take(body.input.as_deref().unwrap_or_default());
            words.take(&body.text);
            if words.is_full() {
                break;
            }
        }
        words
    }

    fn collect(&self, upto: usize) -> (Vec<Entry>, Identified) {
        let mut found = Found::new(self.cwd);
        let mut todo = todo::Todo::default();
        let launches: FxHashSet<usize> = self.ledger.carried().iter().map(|task| task.at as usize).collect();
        for at in 0..upto.min(self.ledger.len()) {
            match self.ledger.kind(at) {
                Some(Kind::Call) => {
                    let answered = self.ledger.partner(at).filter(|answer| *answer < upto);
                    let lives_on = answered.is_some_and(|answer| launches.contains(&answer));
                    self.call(at, answered, lives_on, &mut found, &mut todo);
                }
                Some(Kind::Summary) => {
                    if let Some((_, body)) = (self.read)(at) {
                        for item in former::former(&body.text) {
                            found.add(item.kind, &item.value, at, item.state);
                        }
                    }
                }
                _ => {}
            }
        }
        if let Some(list) = todo.list() {
            found.todo(list);
        }
        self.open_things(upto, &mut found);
        found.finish()
    }

    fn call(&self, at: usize, answered: Option<usize>, lives_on: bool, found: &mut Found, todo: &mut todo::Todo) {
        let void = self.ledger.entries.get(at).is_some_and(|entry| entry.flags.has(Flags::VOID));
        let Some((_, body)) = Some(at).filter(|_| !void).and_then(self.read) else { return };
        let tool = body.tool.as_deref().unwrap_or_default().to_ascii_lowercase();
        let shows = READERS.contains(&tool.as_str());
        let answer = answered.filter(|_| !shows).and_then(self.read).map(|(_, body)| body);
        let text = body.input.as_deref().map_or("", |input| head(input, 4 * SCAN));
        let input = match Raw::parse(text.as_bytes()) {
            Ok(raw) => Input::Json(raw),
            Err(_) if text.is_empty() => Input::None,
            Err(_) => Input::Text(text),
        };
        let call = Call { at, tool: &tool, input, outcome: self.outcome(answered), lives_on, answer: answer.as_ref() };
        if todo.take(&call) {
            return;
        }
        patch::patch(&call, found);
        shell::shell(&call, found);
        sql::sql(&call, found);
        paths::paths(&call, found);
        hosting::hosting(&call, found);
        handles::handles(&call, found);
    }

    /// How the answer at `answer` ended its call.
    fn outcome(&self, answer: Option<usize>) -> Outcome {
        let Some(entry) = answer.and_then(|at| self.ledger.entries.get(at)) else { return Outcome::Unknown };
        match entry.kind {
            _ if entry.flags.has(Flags::UNKNOWN_OUTCOME) => Outcome::Unknown,
            Kind::Result if entry.flags.has(Flags::DENIED) => Outcome::Failed,
            Kind::Result => Outcome::Done,
            Kind::Error => Outcome::Failed,
            _ => Outcome::Unknown,
        }
    }

    /// What the ledger itself knows to be open: background tasks, sessions, sub-agents, transactions.
    fn open_things(&self, upto: usize, found: &mut Found) {
        let here = |task: &&Carried| (task.at as usize) < upto;
        for task in self.ledger.carried().iter().filter(here) {
            let kind = match task.kind {
                TaskKind::Task => IdentifierKind::Task,
                TaskKind::Session => IdentifierKind::Session,
                TaskKind::Subagent => IdentifierKind::Subagent,
            };
            let state = if task.uncertain { IdentifierState::Unknown } else { IdentifierState::Open };
            found.add(kind, &(self.name)(task.id), task.at as usize, state);
        }
        let brackets = self.ledger.open_brackets().filter(|bracket| bracket.kind == Kind::TransactionBegin);
        for bracket in brackets.filter(|bracket| bracket.first() < upto) {
            let name = bracket.id.map_or_else(|| "transaction".to_string(), |id| (self.name)(id));
            found.add(IdentifierKind::Transaction, &name, bracket.first(), IdentifierState::Open);
        }
    }
}
