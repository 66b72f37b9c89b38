//! What lives on after its call was answered: exec sessions, commands whose call was broken off, sub-agents, goals.
//! These do not keep a span open for the provider, but a summary must name them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::step::{Deed, Happening};
use crate::model::{Event, Log, RecordId, Sym, TaskKind};

/// Tools whose call runs a command.
const EXEC: [&str; 3] = ["exec_command", "shell_command", "shell"];
/// The tool that writes to a running session.
const WRITE: &str = "write_stdin";

/// What is known of running things.
#[derive(Default)]
pub(super) struct Processes {
    calls: FxHashMap<Sym, (Sym, Option<Sym>)>,
    /// Sessions that run (`true`), or whose end stands only on a display line (`false`).
    sessions: FxHashMap<Sym, bool>,
    /// The session that a call started.
    started: FxHashMap<Sym, Sym>,
    /// Calls whose command has ended.
    ended: FxHashSet<Sym>,
    /// Calls that were broken off while their command may run on.
    adrift: FxHashSet<Sym>,
    /// Sub-agents and goals that are open.
    open: FxHashSet<Sym>,
}

impl Processes {
    /// Takes an item that stands at `record`.
    pub(super) fn item(&mut self, deed: Deed, record: RecordId, log: &mut Log) {
        match deed {
            Deed::None => {}
            Deed::Call { call, tool, session } => {
                self.calls.insert(call, (tool, session));
            }
            Deed::Output { call, running, exited, aborted } => {
                let (tool, session) = self.calls.get(&call).copied().unzip();
                let tool = tool.map_or("", |tool| log.syms.name(tool)).to_string();
                if let Some(id) = running {
                    if self.sessions.insert(id, true) != Some(true) {
                        let kind = TaskKind::Session;
                        log.event_at(record, Event::TaskStarted { id, kind, call: Some(call) });
                    }
                    if tool != WRITE {
                        self.started.insert(call, id);
                    }
                } else if exited && tool == WRITE {
                    if let Some(id) = session.flatten()
                        && self.sessions.remove(&id).is_some()
                    {
                        log.event_at(record, Event::TaskEnded { id, delivered: true });
                    }
                } else if aborted && EXEC.contains(&&*tool) && !self.ended.contains(&call) {
                    // No session id is ever printed for these; the only sign of the end is a late display item.
                    self.adrift.insert(call);
                    log.event_at(record, Event::MayLiveOn(call));
                }
            }
            Deed::Told(id) => {
                if self.open.remove(&id) {
                    log.event_at(record, Event::TaskEnded { id, delivered: true });
                }
            }
        }
    }

    /// Takes the items of a replacement history. Those that the file has told before are old news; a new thread file
    /// tells them here for the first time.
    pub(super) fn repeated(&mut self, deeds: &[(Deed, RecordId)], log: &mut Log) {
        let mut fresh = FxHashSet::default();
        for (deed, record) in deeds {
            let new = match deed {
                Deed::Call { call, .. } => !self.calls.contains_key(call) && fresh.insert(*call),
                Deed::Output { call, .. } => fresh.contains(call),
                Deed::None | Deed::Told(_) => false,
            };
            if new {
                self.item(*deed, *record, log);
            }
        }
    }

    /// Takes what a display line tells, at the newest record of the context. True if something came of it.
    pub(super) fn happened(&mut self, what: Happening, record: RecordId, log: &mut Log) -> bool {
        let before = log.events.len();
        match what {
            Happening::CommandEnded { call, process } => {
                if let Some(id) = call.and_then(|call| self.started.get(&call)).copied().or(process)
                    && self.sessions.get(&id) == Some(&true)
                {
                    self.sessions.insert(id, false);
                    log.event_at(record, Event::TaskEnded { id, delivered: false });
                }
                if let Some(call) = call {
                    self.ended.insert(call);
                    if self.adrift.remove(&call) {
                        log.event_at(record, Event::TaskEnded { id: call, delivered: false });
                    }
                }
            }
            Happening::Goal { id, open: true } => {
                if self.open.insert(id) {
                    log.event_at(record, Event::TaskStarted { id, kind: TaskKind::Task, call: None });
                }
            }
            Happening::AgentStarted { id, call } => {
                if self.open.insert(id) {
                    log.event_at(record, Event::TaskStarted { id, kind: TaskKind::Subagent, call });
                }
            }
            Happening::Goal { id, open: false } | Happening::AgentEnded { id, told: true } => {
                if self.open.remove(&id) {
                    log.event_at(record, Event::TaskEnded { id, delivered: true });
                }
            }
            Happening::AgentEnded { id, told: false } => {
                // Kept as open: the model may still be told, and then the end is delivered.
                if self.open.contains(&id) {
                    log.event_at(record, Event::TaskEnded { id, delivered: false });
                }
            }
        }
        log.events.len() > before
    }
}
