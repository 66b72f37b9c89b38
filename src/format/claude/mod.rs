//! Session files of Claude Code, 1.0 to 2.1: main files and files of sub-agents.
//!
//! Comes in: the lines of a file that grows by append, where one line is one content block, one result, or metadata.
//! Goes out: a record for each content block, the events of tasks, retries and interrupts, usage, and the context
//! that the runtime would rebuild from the tree of parents (leaf, boundaries, kept records, siblings, repairs); and new
//! session files that it resumes.
//! Must never: trust the order or the completeness of parents (they are missing, doubled and cyclic in real files),
//! count calls of nested progress messages, or treat an unknown type as an error.

use rustc_hash::FxHashSet;

use super::{Adapter, Capability, Counting, ForkError, ForkOrder, Forked, Format, Line, SessionFacts, envelope};
use crate::model::{Body, Context, Flags, Kind, LaneId, Log, NoteKind, Record, RecordId, Sym};

mod blocks;
mod body;
mod facts;
mod line;
mod live;
mod rules;
mod segment;
mod tasks;
mod tree;
mod user;
mod write;

use envelope::Envelope;
use live::Live;
use rules::{Rules, Version};
use tasks::Tasks;
use tree::Tree;

/// Lines that are no part of the tree of messages and need not be understood to know what is owed.
const METADATA: [&str; 22] = [
    "summary",
    "queue-operation",
    "file-history-snapshot",
    "file-history-delta",
    "last-prompt",
    "custom-title",
    "ai-title",
    "agent-name",
    "tag",
    "mode",
    "permission-mode",
    "pr-link",
    "continued-in",
    "atis-latch",
    "content-replacement",
    "turn_end",
    "tools-used",
    "cost-state",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    // The last line of `--output-format stream-json`.
    "result",
];

/// Reader of Claude Code transcripts.
pub struct Claude {
    tree: Tree,
    live: Live,
    tasks: Tasks,
    facts: SessionFacts,
    /// How good the known title is; a better source replaces it.
    title: u8,
    /// Newest version that any line names: its rules decide what a resume sees.
    newest: Option<Version>,
    /// Rules of this version instead.
    resumed_by: Option<Version>,
    /// Lanes in which an API error was written and no answer since.
    retrying: FxHashSet<LaneId>,
    /// Calls that ask a person.
    asking: FxHashSet<Sym>,
    /// Newest record of the main lane that can stand in the context.
    newest_main: Option<RecordId>,
    /// Response that the newest usage entry speaks of.
    measured: Option<Sym>,
    /// The file is the log of a compaction run, not of a sub-agent.
    compaction_run: bool,
    /// The main lane is a sub-agent's own.
    agent_file: bool,
}

impl Claude {
    /// A reader that has seen nothing yet.
    pub fn new(file_stem: &str) -> Self {
        Self {
            tree: Tree::default(),
            live: Live::new(),
            tasks: Tasks::default(),
            facts: SessionFacts::default(),
            title: 0,
            newest: None,
            resumed_by: None,
            retrying: FxHashSet::default(),
            asking: FxHashSet::default(),
            newest_main: None,
            measured: None,
            compaction_run: file_stem.starts_with("agent-acompact"),
            agent_file: false,
        }
    }

    /// The same reader, whose context is what a resume by `version` sees (`2.1.332`), whoever wrote the file.
    #[must_use]
    pub fn resumed_by(mut self, version: &str) -> Self {
        self.resumed_by = Version::parse(version);
        self
    }

    fn rules(&self) -> Rules {
        Rules::of(self.resumed_by.or(self.newest))
    }

    /// A line whose type is not known: kept, counted, inert.
    fn opaque(line: &Line<'_>, kind: Option<&str>, log: &mut Log) -> RecordId {
        log.not_understood += 1;
        let text = match kind {
            Some(kind) => format!("The type `{kind}` is not known; the line is kept as it is."),
            None => "The line has no type; it is kept as it is.".to_string(),
        };
        log.note(NoteKind::NotUnderstood, line.number, text);
        log.push(blocks::quiet(line, Kind::Opaque, line.value))
    }

    fn metadata(&mut self, kind: &str, env: &Envelope<'_>, log: &mut Log) {
        match kind {
            "last-prompt" => self.last_prompt(env),
            "queue-operation" if env.is("operation", "enqueue") => {
                let Some(text) = env.text("content") else { return };
                let ends = self.tasks.notified(&text, log);
                let Some(at) = self.newest_main.filter(|_| !ends.is_empty()) else { return };
                self.live.touch();
                for id in ends {
                    log.event_at(at, crate::model::Event::TaskEnded { id, delivered: false });
                }
            }
            _ => {}
        }
    }

    fn last_prompt(&mut self, env: &Envelope<'_>) {
        let Some(leaf) = env.text("leafUuid") else { return };
        let target = envelope::uuid_key(&leaf);
        self.live.pinned(&self.tree, target);
        self.tree.moves.push(tree::Move::Pin { target, explicit: env.flag("explicit") });
    }
}

impl Adapter for Claude {
    fn format(&self) -> Format {
        Format::ClaudeCode
    }

    fn capability(&self) -> Capability {
        rules::capability(self.newest, !self.tree.deferred.is_empty())
    }

    fn counting(&self) -> Counting {
        Counting::ById
    }

    fn line(&mut self, line: &Line<'_>, log: &mut Log) {
        let env = Envelope::of(line.value);
        let kind = env.text("type").unwrap_or_default();
        if METADATA.contains(&&*kind) {
            self.learn(&kind, &env);
            if !line.salvaged {
                self.metadata(&kind, &env, log);
            }
            return;
        }
        match &*kind {
            "user" | "assistant" | "system" | "attachment" | "progress" => {
                self.learn(&kind, &env);
                self.tree_line(&kind, &env, line, log);
            }
            _ => {
                let id = Self::opaque(line, Some(&*kind).filter(|kind| !kind.is_empty()), log);
                self.unknown_link(&env, line, id, log);
            }
        }
    }

    fn context(&mut self, log: &mut Log) -> &mut Context {
        let rules = self.rules();
        self.live.update(&self.tree, rules, log)
    }

    fn current(&self) -> &Context {
        self.live.context()
    }

    fn body(&self, line: &[u8], record: &Record) -> Body {
        body::decode(line, record)
    }

    fn fork(&self, order: &ForkOrder<'_>) -> Result<Forked, ForkError> {
        if self.agent_file || self.compaction_run {
            return Err(write::of_sub_agent());
        }
        write::fork(order)
    }

    fn session(&self) -> SessionFacts {
        self.facts.clone()
    }
}

/// Flags that a record has beside its kind, and what it means for the tree.
#[derive(Clone, Copy, Debug)]
struct Voice {
    kind: Kind,
    flags: Flags,
    role: tree::Role,
}
