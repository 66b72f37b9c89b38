//! One message becomes a record for each of its blocks.

use super::{Anthropic, Spot};
use crate::{
    format::{Line, envelope::first_text, json::Raw},
    model::{Flags, Kind, LaneId, Log, Millis, NoteKind, Record, RecordId, Sym},
};

/// First words of a text that stands for history that was cut: ours, Claude Code's, and what loops of one's own write.
const SUMMARIES: [&str; 3] = [
    "[Compacted by cutline.",
    "This session is being continued from a previous conversation",
    "Summary of the conversation so far",
];
/// First words of texts in the user's name that no person typed.
const INJECTED: [&str; 2] = ["<system-reminder>", "[Request interrupted by user"];
/// First words of results that say nothing of the outcome.
const UNKNOWN: [&str; 5] = [
    "abandoned by operator",
    "[Abandoned by operator",
    "[Tool result missing",
    "[Tool call interrupted",
    "No result provided",
];
/// First words of the results of calls that a person refused.
const REFUSED: [&str; 2] =
    ["The user doesn't want to proceed with this tool use.", "The user doesn't want to take this action right now."];

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    System,
}

/// A message and its records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) role: Role,
    first: RecordId,
    end: RecordId,
    /// The message itself.
    pub(super) spot: Spot,
    /// The value that is its line or item.
    pub(super) whole: Spot,
    /// A response of a log: it stands in no list yet.
    pub(super) response: bool,
    /// A compaction block of the server's: the API ignores what stands before it.
    pub(super) compaction: Option<RecordId>,
}

impl Message {
    pub(super) fn records(&self) -> std::ops::Range<RecordId> {
        self.first..self.end
    }
}

/// What the records of one message share.
#[derive(Clone, Copy)]
pub(super) struct Base {
    pub(super) time: Millis,
    pub(super) lane: LaneId,
    pub(super) flags: Flags,
    pub(super) response: bool,
}

impl Default for Base {
    fn default() -> Self {
        Self { time: Millis::NONE, lane: LaneId::MAIN, flags: Flags::NONE, response: false }
    }
}

/// The same with the names of its message and response.
#[derive(Clone, Copy)]
struct Named {
    base: Base,
    message: Option<Sym>,
    response: Option<Sym>,
}

impl Named {
    fn record(&self, line: &Line<'_>, kind: Kind, block: Raw<'_>) -> Record {
        let record = line.record(kind, block);
        let response = self.response.filter(|_| kind != Kind::Summary && kind != Kind::Notice);
        let Base { time, lane, flags, .. } = self.base;
        Record { time, lane, response, message: self.message, flags: record.flags.with(flags), ..record }
    }
}

impl Anthropic {
    /// Pushes the records of a message and gives its number.
    pub(super) fn take(&mut self, value: Raw<'_>, line: &Line<'_>, base: Base, log: &mut Log) -> usize {
        let role = match value.get_str("role").as_deref() {
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            _ => Role::User,
        };
        self.lint(value, line, log);
        let first = log.next_id();
        let content = value.get("content").unwrap_or(value);
        // One message is one thing, also if it has one block: a block that is put into it belongs to it.
        let message = content.items().nth(1).map(|_| log.syms.intern(&format!("\0m{first}")));
        let response = (role == Role::Assistant).then(|| match value.get_str("id") {
            Some(id) if !id.is_empty() => log.syms.intern(&id),
            _ => log.syms.intern(&format!("\0{first}")),
        });
        let named = Named { base, message, response };
        let mut compaction = None;
        if content.is_string() {
            push_text(line, content, role, named, log);
        }
        for block in content.items() {
            match role {
                Role::User => user_block(line, block, named, log),
                Role::System => push_text(line, block.get("text").unwrap_or(block), role, named, log),
                Role::Assistant => {
                    if let Some(id) = assistant_block(line, block, named, log) {
                        compaction = Some(id);
                    }
                }
            }
        }
        let (spot, whole) = (Spot::of(line, value), Spot::of(line, line.value));
        let response = base.response;
        self.messages.push(Message { role, first, end: log.next_id(), spot, whole, response, compaction });
        self.messages.len() - 1
    }
}

/// Text, as the string alone: a writer may put it into a list of blocks, and its bytes stay the same.
fn push_text(line: &Line<'_>, text: Raw<'_>, role: Role, named: Named, log: &mut Log) {
    let said = text.str().unwrap_or_default();
    let begins = |list: &[&str]| list.iter().any(|first| said.starts_with(first));
    let (kind, flags) = match role {
        Role::Assistant => (Kind::Assistant, Flags::NONE),
        Role::System => (Kind::Notice, Flags::NONE),
        Role::User if begins(&SUMMARIES) => (Kind::Summary, Flags::NONE),
        Role::User if begins(&INJECTED) => (Kind::User, Flags::META),
        Role::User => (Kind::User, Flags::HUMAN),
    };
    let record = named.record(line, kind, text);
    log.push(Record { flags: record.flags.with(flags), ..record });
}

fn user_block(line: &Line<'_>, block: Raw<'_>, named: Named, log: &mut Log) {
    let name = block.get_str("type").unwrap_or_default();
    match &*name {
        "text" => push_text(line, block.get("text").filter(|t| t.is_string()).unwrap_or(block), Role::User, named, log),
        "image" | "document" | "search_result" | "container_upload" => {
            let record = named.record(line, Kind::User, block);
            log.push(Record { flags: record.flags.with(Flags::HUMAN), ..record });
        }
        "tool_result" => {
            let (kind, flags) = outcome(block);
            let record = named.record(line, kind, block);
            let id = block.get_str("tool_use_id").map(|id| log.syms.intern(&id));
            log.push(Record { id, flags: record.flags.with(flags), ..record });
        }
        name => unknown(line, block, name, named, log),
    }
}

/// What a result says of its call.
fn outcome(block: Raw<'_>) -> (Kind, Flags) {
    let text = block.get("content").map(first_text).unwrap_or_default();
    if UNKNOWN.iter().any(|first| text.starts_with(first)) || text.trim() == "aborted" {
        return (Kind::Abandoned, Flags::UNKNOWN_OUTCOME);
    }
    let failed = block.get("is_error").and_then(Raw::bool) == Some(true);
    let refused = REFUSED.iter().any(|first| text.starts_with(first));
    (if failed { Kind::Error } else { Kind::Result }, Flags::NONE.with_if(Flags::DENIED, refused))
}

/// Gives the record of a compaction block.
fn assistant_block(line: &Line<'_>, block: Raw<'_>, named: Named, log: &mut Log) -> Option<RecordId> {
    let name = block.get_str("type").unwrap_or_default();
    let (kind, flags) = match &*name {
        "text" => {
            let text = block.get("text").filter(|text| text.is_string()).unwrap_or(block);
            push_text(line, text, Role::Assistant, named, log);
            return None;
        }
        "thinking" | "redacted_thinking" => (Kind::Thinking, Flags::NONE),
        "tool_use" => (Kind::Call, Flags::NONE),
        "server_tool_use" | "mcp_tool_use" => (Kind::Call, Flags::SERVER),
        // One that failed changes nothing.
        "compaction" if block.get("content").is_none_or(Raw::is_null) && block.get("encrypted_content").is_none() => {
            (Kind::Notice, Flags::NONE)
        }
        "compaction" => (Kind::Summary, Flags::NONE),
        name if name.ends_with("_tool_result") => (server_outcome(block), Flags::SERVER),
        name => {
            unknown(line, block, name, named, log);
            return None;
        }
    };
    let record = named.record(line, kind, block);
    let id = if kind == Kind::Call { "id" } else { "tool_use_id" };
    let id = block.get_str(id).map(|id| log.syms.intern(&id));
    let tool = (kind == Kind::Call).then(|| log.syms.intern(&block.get_str("name").unwrap_or_default()));
    let pushed = log.push(Record { id, tool, flags: record.flags.with(flags), ..record });
    (kind == Kind::Summary).then_some(pushed)
}

/// Server tools tell an error by the type of their content.
fn server_outcome(block: Raw<'_>) -> Kind {
    let failed = block.get("is_error").and_then(Raw::bool) == Some(true)
        || block.path(&["content", "type"]).and_then(Raw::str).is_some_and(|name| name.ends_with("_error"));
    if failed { Kind::Error } else { Kind::Result }
}

fn unknown(line: &Line<'_>, block: Raw<'_>, name: &str, named: Named, log: &mut Log) {
    log.not_understood += 1;
    let text = format!("The content block `{name}` is not known; it is kept as it is.");
    log.note(NoteKind::NotUnderstood, line.number, text);
    log.push(named.record(line, Kind::Opaque, block));
}
