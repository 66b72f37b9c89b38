//! Display lines: nothing of them is model history, but they tell of turns, figures, rollbacks and processes.

use super::{
    Codex,
    line::{Entry, pick, whole},
    step::{Happening, Step},
};
use crate::{
    format::{Line, json::Raw},
    model::{Log, NoteKind},
};

/// Events of 0.32 to 0.171, sorted; any other is counted as not understood.
const KNOWN: [&str; 93] = [
    "agent_message",
    "agent_message_content_delta",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "auth_recovery_completed",
    "auth_recovery_started",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_abandoned",
    "elicitation_request",
    "entered_review_mode",
    "environment_connected",
    "environment_disconnected",
    "error",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "exited_review_mode",
    "guardian_assessment",
    "guardian_warning",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_completed",
    "item_started",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "model_verification",
    "patch_apply_begin",
    "patch_apply_end",
    "patch_apply_updated",
    "plan_delta",
    "plan_update",
    "raw_response_completed",
    "raw_response_item",
    "realtime_conversation_closed",
    "realtime_conversation_list_voices_response",
    "realtime_conversation_realtime",
    "realtime_conversation_sdp",
    "realtime_conversation_started",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "request_permissions",
    "request_user_input",
    "safety_buffering",
    "session_configured",
    "shutdown_complete",
    "stream_error",
    "sub_agent_activity",
    "task_complete",
    "task_started",
    "terminal_interaction",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_queue_changed",
    "thread_rolled_back",
    "thread_settings_applied",
    "token_count",
    "turn_aborted",
    "turn_complete",
    "turn_diff",
    "turn_moderation_metadata",
    "turn_started",
    "undo_completed",
    "undo_started",
    "user_message",
    "view_image_tool_call",
    "warning",
    "web_search_begin",
    "web_search_end",
];

/// True for a status of a sub-agent after which nothing comes: `{"completed":..}`, `{"errored":..}`, `shutdown`,
/// `not_found`.
pub(super) fn is_final(status: Raw<'_>) -> bool {
    if status.is_object() {
        return status.get("completed").is_some() || status.get("errored").is_some();
    }
    ["completed", "errored", "shutdown", "not_found"].into_iter().any(|name| status.is(name))
}

/// True if the event type `name` is known.
pub(super) fn is_known(name: &str) -> bool {
    KNOWN.binary_search(&name).is_ok()
}

impl Codex {
    /// Takes an `event_msg` of the type `name`.
    pub(super) fn event(&mut self, name: &str, entry: &Entry<'_>, line: &Line<'_>, log: &mut Log) {
        let payload = entry.payload;
        match name {
            "task_started" | "turn_started" => {
                self.meter.see_window(payload.get("model_context_window"));
                self.reader.responses.end();
                self.turn_is_busy = false;
                self.take(Step::Asked, log);
            }
            "user_message" => {
                self.turn_is_busy = true;
                self.take(Step::Asked, log);
            }
            "task_complete" | "turn_complete" | "turn_aborted" => {
                self.reader.responses.end();
                self.turn_is_busy = false;
            }
            "token_count" => {
                if self.head.is_interleaved() {
                    self.reader.responses.end();
                }
                let batch = self.head.writes_batches();
                self.meter.token_count(payload.get("info"), batch, line, log);
            }
            "thread_rolled_back" => self.rolled_back(payload, line, log),
            "thread_name_updated" => {
                let title = payload.get_str("thread_name").map(std::borrow::Cow::into_owned);
                self.head.set_title(title);
            }
            "patch_apply_end" => {
                if payload.get("success").and_then(Raw::bool) == Some(false)
                    && let Some(call) = payload.get_str("call_id")
                {
                    self.reader.failed.insert(log.syms.intern(&call));
                }
            }
            "thread_goal_updated" => {
                let complete = payload.path(&["goal", "status"]).is_some_and(|raw| raw.is("complete"));
                let id = log.syms.intern("goal");
                self.take(Step::Happened(Happening::Goal { id, open: !complete }), log);
            }
            "item_completed" => {
                if let Some(item) = payload.get("item") {
                    self.display_item(item, log);
                }
            }
            _ => self.agents(name, payload, log),
        }
    }

    fn rolled_back(&mut self, payload: Raw<'_>, line: &Line<'_>, log: &mut Log) {
        let turns = payload.get("num_turns").and_then(whole);
        if turns.is_none() {
            log.note(NoteKind::Format, line.number, "A rollback that names no number of turns.");
        }
        self.reader.responses.end();
        self.meter.boundary(None);
        self.take(Step::RolledBack { turns: turns.unwrap_or(0), line: line.number }, log);
    }

    /// A display item of a paginated file.
    fn display_item(&mut self, item: Raw<'_>, log: &mut Log) {
        let [kind, id, process, status] = pick(item, ["type", "id", "process_id", "status"]);
        let kind = kind.and_then(Raw::str).unwrap_or_default();
        let call = id.and_then(Raw::str).map(|id| log.syms.intern(&id));
        let status = status.and_then(Raw::str).unwrap_or_default();
        match &*kind {
            "UserMessage" => self.turn_is_busy = true,
            "CommandExecution" | "FileChange" | "McpToolCall" | "DynamicToolCall" if status != "in_progress" => {
                match (&*status, call) {
                    ("failed", Some(call)) => drop(self.reader.failed.insert(call)),
                    ("declined", Some(call)) => drop(self.reader.declined.insert(call)),
                    _ => {}
                }
                if kind == "CommandExecution" {
                    let process = process.and_then(Raw::str).map(|id| log.syms.intern(&id));
                    self.take(Step::Happened(Happening::CommandEnded { call, process }), log);
                }
            }
            "SubAgentActivity" => {
                self.agent_activity(item, call.map(|call| log.syms.name(call).to_string()).as_deref(), log);
            }
            "CollabAgentToolCall" => {
                if item.field_is("tool", "spawn_agent") || item.field_is("tool", "spawnAgent") {
                    let ids = item.get("receiver_thread_ids").into_iter().flat_map(Raw::items).filter_map(Raw::str);
                    for id in ids.collect::<Vec<_>>() {
                        let id = log.syms.intern(&id);
                        self.take(Step::Happened(Happening::AgentStarted { id, call }), log);
                    }
                }
                self.agent_states(item.get("agents_states"), log);
            }
            _ => {}
        }
    }

    /// Display lines of sub-agents, G2 and G3 by their tools, later by their paths.
    fn agents(&mut self, name: &str, payload: Raw<'_>, log: &mut Log) {
        match name {
            "collab_agent_spawn_end" => {
                if let Some(id) = payload.get_str("new_thread_id") {
                    let id = log.syms.intern(&id);
                    let call = payload.get_str("call_id").map(|call| log.syms.intern(&call));
                    self.take(Step::Happened(Happening::AgentStarted { id, call }), log);
                }
            }
            "collab_waiting_end" => self.agent_states(payload.get("statuses"), log),
            "collab_close_end" => {
                if let Some(id) = payload.get_str("receiver_thread_id") {
                    let id = log.syms.intern(&id);
                    self.take(Step::Happened(Happening::AgentEnded { id, told: true }), log);
                }
            }
            "sub_agent_activity" => {
                let call = payload.get_str("event_id");
                self.agent_activity(payload, call.as_deref(), log);
            }
            _ => {}
        }
    }

    fn agent_activity(&mut self, value: Raw<'_>, call: Option<&str>, log: &mut Log) {
        let Some(id) = value.get_str("agent_thread_id") else { return };
        let id = log.syms.intern(&id);
        let what = match value.get_str("kind").as_deref() {
            Some("started") => Happening::AgentStarted { id, call: call.map(|call| log.syms.intern(call)) },
            Some("completed") => Happening::AgentEnded { id, told: false },
            _ => return,
        };
        self.take(Step::Happened(what), log);
    }

    /// An object of sub-agents by id with the status that the waiting call was told.
    fn agent_states(&mut self, states: Option<Raw<'_>>, log: &mut Log) {
        for (id, status) in states.into_iter().flat_map(Raw::fields) {
            if is_final(status) {
                let id = log.syms.intern(&id.str());
                self.take(Step::Happened(Happening::AgentEnded { id, told: true }), log);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_events_are_sorted() {
        assert!(KNOWN.is_sorted());
        assert!(is_known("token_count") && !is_known("future_event"));
    }
}
