//! Messages of Chat Completions: calls stand beside the content, results in messages of their own.

use super::{
    read::{Base, Reader, unknown},
    words,
};
use crate::{
    format::{Line, json::Raw},
    model::{Flags, Kind, Log, Record},
};

impl Reader {
    /// Pushes the records of a message.
    pub(super) fn role(&mut self, line: &Line<'_>, message: Raw<'_>, base: Base, log: &mut Log) {
        let role = message.get_str("role").unwrap_or_default();
        self.lint.message(line, message, &role, log);
        match &*role {
            "assistant" => {
                let base = Base { response: Some(self.response(message, log)), ..base };
                assistant(line, message, base, log);
                calls(line, message, base, log);
            }
            "user" => {
                let base = Base { message: Some(self.own(log)), ..base };
                user(line, message, base, log);
            }
            "tool" | "function" => result(line, message, &role, base, log),
            "system" | "developer" => {
                log.push(base.record(line, Kind::Notice, Flags::NONE, message));
            }
            _ => {
                unknown(line, message, "role", base, log);
            }
        }
    }
}

fn intern(block: Raw<'_>, name: &str, log: &mut Log) -> Option<crate::model::Sym> {
    block.get_str(name).map(|id| log.syms.intern(&id))
}

fn assistant(line: &Line<'_>, message: Raw<'_>, base: Base, log: &mut Log) {
    // What DeepSeek and others write beside the content.
    for name in ["reasoning_content", "reasoning"] {
        if let Some(thought) = message.get(name).filter(|text| text.is_string() && text.text_len() > 0) {
            log.push(base.record(line, Kind::Thinking, Flags::NONE, thought));
        }
    }
    let Some(content) = message.get("content") else { return };
    if content.is_string() && content.text_len() > 0 {
        log.push(base.record(line, Kind::Assistant, Flags::NONE, content));
    }
    for block in content.items() {
        match block.get_str("type").as_deref() {
            Some("text" | "refusal" | "output_text" | "audio") => {
                log.push(base.record(line, Kind::Assistant, Flags::NONE, block));
            }
            Some("thinking" | "reasoning") => {
                log.push(base.record(line, Kind::Thinking, Flags::NONE, block));
            }
            _ => {
                unknown(line, block, "content part", base, log);
            }
        }
    }
}

/// Calls beside the content: `tool_calls`, and `function_call`, which has no id but its name.
fn calls(line: &Line<'_>, message: Raw<'_>, base: Base, log: &mut Log) {
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
    for block in content.items() {
        match block.get_str("type").as_deref() {
            Some("text" | "input_text") => {
                let (kind, flags) = words::voice(&block.get_str("text").unwrap_or_default());
                log.push(said(kind, base).record(line, kind, flags, block));
            }
            Some("image_url" | "input_image" | "input_audio" | "input_file" | "file" | "video_url" | "image") => {
                log.push(base.record(line, Kind::User, Flags::META, block));
            }
            _ => {
                unknown(line, block, "content part", base, log);
            }
        }
    }
}

/// A summary stands for itself.
fn said(kind: Kind, base: Base) -> Base {
    if kind == Kind::Summary { Base { message: None, ..base } } else { base }
}
