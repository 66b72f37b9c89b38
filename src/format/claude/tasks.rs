use rustc_hash::FxHashMap;

use super::envelope::Envelope;
use crate::model::{Event, Log, Sym, TaskKind};

/// Tags that wrap a message about a task that ended, by generation, with the tag of its handle.
const NOTIFICATIONS: [(&str, &str); 3] =
    [("<task-notification>", "task-id"), ("<agent-notification>", "agent-id"), ("<bash-notification>", "shell-id")];
/// First words of the result of a background shell.
const SHELL_LAUNCH: &str = "Command running in background with ID: ";
/// First words of the result of a background agent.
const AGENT_LAUNCH: &str = "Async agent launched successfully";

/// Handles of background tasks.
#[derive(Default)]
pub(super) struct Tasks {
    /// Handle of the task that a call launched; agent notifications have no call, shell notifications mostly both.
    by_call: FxHashMap<Sym, Sym>,
}

/// True if `text` tells of a background task.
pub(super) fn is_notification(text: &str) -> bool {
    NOTIFICATIONS.iter().any(|(open, _)| text.starts_with(open))
}

fn is_final(status: &str) -> bool {
    matches!(status, "completed" | "failed" | "killed" | "stopped")
}

/// Text between `<tag>` and `</tag>`.
fn tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inside.trim()).filter(|inside| !inside.is_empty())
}

/// The word at the start of `text`.
fn word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(text.len());
    text.get(..end).filter(|word| !word.is_empty())
}

impl Tasks {
    /// Handles whose end `text` tells.
    pub(super) fn notified(&self, text: &str, log: &mut Log) -> Vec<Sym> {
        let mut ends = Vec::new();
        for (open, handle) in NOTIFICATIONS {
            for message in text.split(open).skip(1) {
                if !tag(message, "status").is_some_and(is_final) {
                    continue;
                }
                let named = tag(message, handle).map(|id| log.syms.intern(id));
                let call = tag(message, "tool-use-id").and_then(|id| log.syms.find(id));
                ends.extend(named.or_else(|| call.and_then(|call| self.by_call.get(&call).copied())));
            }
        }
        ends
    }

    /// What the result of `call` starts or ends. `report`: the line's own `toolUseResult`; `text`: what the model got.
    pub(super) fn result(
        &mut self,
        call: Sym,
        report: Option<&Envelope<'_>>,
        text: &str,
        failed: bool,
        log: &mut Log,
    ) -> Option<Event> {
        let Some(report) = report else { return self.result_text(call, text, failed, log) };
        let status = report.text("status").unwrap_or_default();
        if let Some(id) = report.text("backgroundTaskId") {
            return Some(self.started(&id, TaskKind::Task, call, log));
        }
        match &*status {
            "async_launched" => {
                let id = report.text("agentId")?;
                return Some(self.started(&id, TaskKind::Subagent, call, log));
            }
            "remote_launched" => {
                let id = report.text("taskId")?;
                return Some(self.started(&id, TaskKind::Subagent, call, log));
            }
            _ => {}
        }
        let ended = if let Some(id) = report.text("shellId").filter(|_| is_final(&status)) {
            id
        } else if let Some(id) = report.text("shell_id").filter(|_| !failed) {
            id
        } else if let Some(task) = report.object("task") {
            task.text("task_id").filter(|_| task.text("status").is_some_and(|status| is_final(&status)))?
        } else {
            report.text("task_id").filter(|_| report.has("task_type") && !failed)?
        };
        Some(Event::TaskEnded { id: log.syms.intern(&ended), delivered: true })
    }

    /// The same from the text alone: files of sub-agents often have no `toolUseResult`.
    fn result_text(&mut self, call: Sym, text: &str, failed: bool, log: &mut Log) -> Option<Event> {
        if failed {
            return None;
        }
        if let Some(id) = text.strip_prefix(SHELL_LAUNCH).and_then(word) {
            return Some(self.started(id, TaskKind::Task, call, log));
        }
        let id = text.strip_prefix(AGENT_LAUNCH)?.split_once("agentId: ").and_then(|(_, rest)| word(rest))?;
        Some(self.started(id, TaskKind::Subagent, call, log))
    }

    fn started(&mut self, id: &str, kind: TaskKind, call: Sym, log: &mut Log) -> Event {
        let id = log.syms.intern(id);
        self.by_call.insert(call, id);
        Event::TaskStarted { id, kind, call: Some(call) }
    }

    /// A task that a compaction announces again, or whose end it tells.
    pub(super) fn status(&mut self, attachment: &Envelope<'_>, log: &mut Log) -> Option<Event> {
        let id = attachment.text("taskId")?;
        let status = attachment.text("status")?;
        let id = log.syms.intern(&id);
        if is_final(&status) {
            return Some(Event::TaskEnded { id, delivered: true });
        }
        let agent = attachment.text("taskType").is_some_and(|kind| kind.contains("agent"));
        let kind = if agent { TaskKind::Subagent } else { TaskKind::Task };
        let call = attachment.object("shell").and_then(|shell| shell.text("toolUseId"));
        let call = call.map(|call| log.syms.intern(&call));
        if let Some(call) = call {
            self.by_call.insert(call, id);
        }
        Some(Event::TaskStarted { id, kind, call })
    }
}
