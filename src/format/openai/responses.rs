//! Items of OpenAI Responses: each is one record. A reasoning item lives and dies with the model's item behind it.

use super::{
    read::{Base, Reader, unknown},
    words::{self, COMPACTIONS, PAIRS, SELF_CONTAINED},
};
use crate::{
    format::{Line, json::Raw},
    model::{Flags, Kind, Log, NoteKind, Record, Sym},
};

impl Reader {
    /// Pushes the record of an item. Goes out: true for an opaque compaction, behind which the context begins.
    pub(super) fn item(&mut self, line: &Line<'_>, item: Raw<'_>, base: Base, log: &mut Log) -> bool {
        let kind = item.get_str("type").unwrap_or_else(|| "message".into());
        let kind: &str = if item.is_string() { "message" } else { &kind };
        self.lint.item(line, item, kind, log);
        let model = |reader: &mut Self, log: &mut Log| Base { response: Some(reader.part(log)), ..base };
        if COMPACTIONS.contains(&kind) {
            log.push(base.record(line, Kind::Notice, Flags::NONE, item));
            return true;
        }
        if PAIRS.iter().any(|(call, _)| *call == kind) {
            let base = model(self, log);
            call(line, item, kind, base, log);
        } else if PAIRS.iter().any(|(_, answer)| *answer == kind) {
            self.answer(line, item, base, log);
        } else if SELF_CONTAINED.contains(&kind) {
            let base = model(self, log);
            let tool = log.syms.intern(item.get_str("name").as_deref().unwrap_or(kind));
            log.push(Record { tool: Some(tool), ..base.record(line, Kind::Assistant, Flags::NONE, item) });
        } else {
            match kind {
                "message" => self.said(line, item, base, log),
                "reasoning" => {
                    let base = model(self, log);
                    log.push(base.record(line, Kind::Thinking, Flags::NONE, item));
                }
                "mcp_approval_request" => {
                    let (id, tool) = (intern(item, "id", log), intern(item, "name", log));
                    log.push(Record { id, tool, ..base.record(line, Kind::ApprovalRequest, Flags::NONE, item) });
                }
                "mcp_approval_response" => {
                    let denied = item.get("approve").and_then(Raw::bool) == Some(false);
                    let flags = Flags::NONE.with_if(Flags::DENIED, denied);
                    let id = intern(item, "approval_request_id", log);
                    log.push(Record { id, ..base.record(line, Kind::Approval, flags, item) });
                }
                _ if item.get("call_id").is_some_and(Raw::is_string) => {
                    let base = model(self, log);
                    strange(line, item, kind, base, log);
                }
                _ => {
                    unknown(line, item, "item type", base, log);
                }
            }
        }
        false
    }

    fn said(&mut self, line: &Line<'_>, item: Raw<'_>, base: Base, log: &mut Log) {
        let role = if item.is_string() { "user".into() } else { item.get_str("role").unwrap_or_default() };
        let (kind, flags) = match &*role {
            "assistant" => {
                let base = Base { response: Some(self.part(log)), ..base };
                log.push(base.record(line, Kind::Assistant, Flags::NONE, item));
                return;
            }
            "user" => {
                let content = if item.is_string() { Some(item) } else { item.get("content") };
                words::voice(&content.map(words::text_of).unwrap_or_default())
            }
            _ => (Kind::Notice, Flags::NONE),
        };
        log.push(base.record(line, kind, flags, item));
    }

    fn answer(&mut self, line: &Line<'_>, item: Raw<'_>, base: Base, log: &mut Log) {
        let text = item.get("output").map(words::text_of).unwrap_or_default();
        let (kind, flags) = words::outcome(&text, item.field_is("status", "failed"));
        let id = intern(item, "call_id", log);
        // Its call may stand in the response that the request goes on from.
        let flags = flags.with_if(Flags::REMOTE, self.lint.remote);
        log.push(Record { id, ..base.record(line, kind, flags, item) });
    }
}

fn intern(item: Raw<'_>, name: &str, log: &mut Log) -> Option<Sym> {
    item.get_str(name).map(|id| log.syms.intern(&id))
}

fn call(line: &Line<'_>, item: Raw<'_>, kind: &str, base: Base, log: &mut Log) {
    let tool = log.syms.intern(item.get_str("name").as_deref().unwrap_or(kind));
    let record = Record { tool: Some(tool), ..base.record(line, Kind::Call, Flags::NONE, item) };
    // A search that the provider carries out is answered inside the response.
    if item.field_is("execution", "server") {
        log.push(Record { kind: Kind::Assistant, ..record });
        return;
    }
    let id = intern(item, "call_id", log).or_else(|| intern(item, "id", log).filter(|_| kind == "program"));
    log.push(Record { id, ..record });
}

/// A type that looks like a call and has no known partner: owed until somebody says what it is.
fn strange(line: &Line<'_>, item: Raw<'_>, kind: &str, base: Base, log: &mut Log) {
    log.not_understood += 1;
    let id = intern(item, "call_id", log);
    let tool = Some(log.syms.intern(kind));
    let (what, kind_of) = if kind.ends_with("_output") || item.get("output").is_some() {
        ("an answer", Kind::Result)
    } else {
        ("a call", Kind::Call)
    };
    let text = format!("The item type `{kind}` is not known; it is held for {what}, because it has a call_id.");
    log.note(NoteKind::NotUnderstood, line.number, text);
    log.push(Record { id, tool, ..base.record(line, kind_of, Flags::NONE, item) });
}
