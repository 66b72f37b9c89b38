//! Messages with a role: those of Anthropic, whose blocks are calls and results, and those of Chat Completions.

use super::{
    read::{Base, Reader, unknown},
    words,
};
use crate::{
    format::{Line, json::Raw},
    model::{Flags, Kind, Log, Record, RecordId},
};

impl Reader {
    /// Pushes the records of a message. Goes out: the record with which the context begins anew.
    pub(super) fn role(&mut self, line: &Line<'_>, message: Raw<'_>, base: Base, log: &mut Log) -> Option<RecordId> {
        let role = message.get_str("role").unwrap_or_default();
        self.lint.message(line, message, &role, log);
        match &*role {
            "assistant" => {
                let base = Base { response: Some(self.response(message, log)), ..base };
                let restart = assistant(line, message, base, log);
                chat_calls(line, message, base, log);
                restart
            }
            "user" => {
                let base = Base { message: Some(self.own(log)), ..base };
                user(line, message, base, log);
                None
            }
            "tool" | "function" => {
                result(line, message, &role, base, log);
                None
            }
            "system" | "developer" => {
                log.push(base.record(line, Kind::Notice, Flags::NONE, message));
                None
            }
            _ => {
                unknown(line, message, "role", base, log);
                None
            }
        }
    }
}

fn intern(block: Raw<'_>, name: &str, log: &mut Log) -> Option<crate::model::Sym> {
    block.get_str(name).map(|id| log.syms.intern(&id))
}

fn assistant(line: &Line<'_>, message: Raw<'_>, base: Base, log: &mut Log) -> Option<RecordId> {
    // What DeepSeek and others write beside the content.
    for name in ["reasoning_content", "reasoning"] {
        if let Some(thought) = message.get(name).filter(|text| text.is_string() && text.text_len() > 0) {
            log.push(base.record(line, Kind::Thinking, Flags::NONE, thought));
        }
    }
    let content = message.get("content")?;
    if content.is_string() {
        if content.text_len() > 0 {
            log.push(base.record(line, Kind::Assistant, Flags::NONE, content));
        }
        return None;
    }
    let mut restart = None;
    for block in content.items() {
        let kind = block.get_str("type").unwrap_or_default();
        let (kind, flags) = match &*kind {
            "text" | "refusal" | "output_text" | "fallback" => (Kind::Assistant, Flags::NONE),
            "thinking" | "redacted_thinking" => (Kind::Thinking, Flags::NONE),
            "tool_use" => (Kind::Call, Flags::NONE),
            "server_tool_use" | "mcp_tool_use" => (Kind::Call, Flags::SERVER),
            "compaction" if block.get("content").is_some_and(|content| !content.is_null()) => {
                let base = Base { response: None, ..base };
                restart = Some(log.push(base.record(line, Kind::Summary, Flags::NONE, block)));
                continue;
            }
            "compaction" => (Kind::Notice, Flags::NONE),
            name if name.ends_with("_tool_result") => (server_outcome(block), Flags::SERVER),
            _ => {
                unknown(line, block, "content block", base, log);
                continue;
            }
        };
        let id = intern(block, if kind == Kind::Call { "id" } else { "tool_use_id" }, log);
        let tool = if kind == Kind::Call { intern(block, "name", log) } else { None };
        log.push(Record { id, tool, ..base.record(line, kind, flags, block) });
    }
    restart
}

/// Server tools tell an error by the type of their content.
fn server_outcome(block: Raw<'_>) -> Kind {
    let failed = block.get("is_error").and_then(Raw::bool) == Some(true)
        || block.path(&["content", "type"]).and_then(Raw::str).is_some_and(|name| name.ends_with("_error"));
    if failed { Kind::Error } else { Kind::Result }
}

/// Calls beside the content: `tool_calls`, and `function_call`, which has no id but its name.
fn chat_calls(line: &Line<'_>, message: Raw<'_>, base: Base, log: &mut Log) {
    for call in message.get("tool_calls").into_iter().flat_map(Raw::items) {
        let id = intern(call, "id", log);
        let inner = call.get("function").or_else(|| call.get("custom")).unwrap_or(call);
        let tool = intern(inner, "name", log);
        log.push(Record { id, tool, ..base.record(line, Kind::Call, Flags::NONE, call) });
    }
    if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
        let tool = intern(call, "name", log);
        log.push(Record { id: tool, tool, ..base.record(line, Kind::Call, Flags::NONE, call) });
    }
}

/// A message of the role `tool`, or `function` in the old form.
fn result(line: &Line<'_>, message: Raw<'_>, role: &str, base: Base, log: &mut Log) {
    let text = message.get("content").map(words::text_of).unwrap_or_default();
    let (kind, flags) = words::outcome(&text, false);
    let id = intern(message, if role == "tool" { "tool_call_id" } else { "name" }, log);
    log.push(Record { id, ..base.record(line, kind, flags, message) });
}

fn user(line: &Line<'_>, message: Raw<'_>, base: Base, log: &mut Log) {
    let Some(content) = message.get("content") else { return };
    if let Some(text) = content.str() {
        let (kind, flags) = words::voice(&text);
        log.push(said(kind, base).record(line, kind, flags, content));
        return;
    }
    let carries = content.items().any(|block| block.field_is("type", "tool_result"));
    for block in content.items() {
        let kind = block.get_str("type").unwrap_or_default();
        match &*kind {
            "tool_result" => {
                let text = block.get("content").map(words::text_of).unwrap_or_default();
                let failed = block.get("is_error").and_then(Raw::bool) == Some(true);
                let (kind, flags) = words::outcome(&text, failed);
                let id = intern(block, "tool_use_id", log);
                log.push(Record { id, ..base.record(line, kind, flags, block) });
            }
            "text" | "input_text" => {
                let (kind, flags) = words::voice(&block.get_str("text").unwrap_or_default());
                let (kind, flags) = if carries { (Kind::User, Flags::META) } else { (kind, flags) };
                log.push(said(kind, base).record(line, kind, flags, block));
            }
            "image" | "document" | "search_result" | "container_upload" | "image_url" | "input_image"
            | "input_audio" | "input_file" | "file" | "video_url" => {
                log.push(base.record(line, Kind::User, Flags::META, block));
            }
            _ => {
                unknown(line, block, "content block", base, log);
            }
        }
    }
}

/// A summary stands for itself.
fn said(kind: Kind, base: Base) -> Base {
    if kind == Kind::Summary { Base { message: None, ..base } } else { base }
}
