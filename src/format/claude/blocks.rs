use super::{
    Claude,
    envelope::{Envelope, first_text},
    user,
};
use crate::{
    format::{Line, json::Raw},
    model::{Event, Flags, Kind, LaneId, Log, Millis, NoteKind, Record, RecordId, Sym},
};

/// What the records of one line share.
#[derive(Clone, Copy)]
pub(super) struct Base {
    pub(super) time: Millis,
    pub(super) lane: LaneId,
    pub(super) flags: Flags,
    pub(super) response: Option<Sym>,
    pub(super) message: Option<Sym>,
}

/// What the records of one line did.
#[derive(Default)]
pub(super) struct Made {
    pub(super) calls: Vec<Sym>,
    pub(super) answers: Vec<(Sym, RecordId)>,
}

/// A record that no model reads: its text is not weighed, however long it is.
pub(super) fn quiet(line: &Line<'_>, kind: Kind, block: Raw<'_>) -> Record {
    let (at, len) = block.range();
    Record {
        offset: line.offset,
        line: line.number,
        line_len: u32::try_from(line.bytes.len()).unwrap_or(u32::MAX),
        at,
        len,
        tokens: 0,
        segment: line.segment,
        flags: Flags::NONE.with_if(Flags::SALVAGED, line.salvaged),
        ..Record::new(kind)
    }
}

impl Base {
    pub(super) fn fill(&self, record: Record) -> Record {
        let flags = record.flags.with(self.flags);
        let Self { time, lane, response, message, .. } = *self;
        Record { time, response, message, flags, lane, ..record }
    }
}

impl Claude {
    /// Pushes one record for each block of an assistant's content.
    pub(super) fn assistant_blocks(&mut self, line: &Line<'_>, content: Raw<'_>, base: Base, log: &mut Log) -> Made {
        let mut made = Made::default();
        if content.is_string() {
            log.push(base.fill(line.record(Kind::Assistant, content)));
        }
        if !content.is_string() && !content.is_array() {
            log.not_understood += 1;
            let text = "The message has no content that is known; the line is kept as it is.";
            log.note(NoteKind::NotUnderstood, line.number, text);
            log.push(base.fill(quiet(line, Kind::Opaque, line.value)));
        }
        for block in content.items() {
            let inner = Envelope::of(block);
            let name = inner.text("type").unwrap_or_default();
            let (kind, flags) = match &*name {
                "text" => (Kind::Assistant, Flags::NONE),
                "thinking" | "redacted_thinking" => (Kind::Thinking, Flags::NONE),
                "tool_use" => (Kind::Call, Flags::NONE),
                "server_tool_use" | "mcp_tool_use" => (Kind::Call, Flags::SERVER),
                name if name.ends_with("_tool_result") => (server_outcome(block), Flags::SERVER),
                _ => {
                    unknown_block(line, block, base, &name, log);
                    continue;
                }
            };
            let mut record = base.fill(line.record(kind, block));
            record.flags = record.flags.with(flags);
            let id = if kind == Kind::Call { "id" } else { "tool_use_id" };
            record.id = inner.get(id).and_then(Raw::str).map(|id| log.syms.intern(&id));
            if kind == Kind::Call {
                self.call(&inner, &mut record, &mut made, log);
            }
            log.push(record);
        }
        made
    }

    fn call(&mut self, block: &Envelope<'_>, record: &mut Record, made: &mut Made, log: &mut Log) {
        let name = block.text("name").unwrap_or_default();
        record.tool = Some(log.syms.intern(&name));
        let asks = matches!(&*name, "AskUserQuestion" | "ExitPlanMode");
        record.flags = record.flags.with_if(Flags::ASKS_PERSON, asks);
        let Some(id) = record.id.filter(|_| !record.flags.has(Flags::SERVER)) else { return };
        if asks {
            self.asking.insert(id);
        }
        made.calls.push(id);
    }

    /// Pushes one record for each block of a line that carries results.
    pub(super) fn carrier_blocks(
        &mut self,
        line: &Line<'_>,
        env: &Envelope<'_>,
        content: Raw<'_>,
        base: Base,
        log: &mut Log,
    ) -> Made {
        let mut made = Made::default();
        let denial = env.text("toolDenialKind");
        // The report speaks of the line's only result; of several it cannot be said of which.
        let mut report = env.object("toolUseResult");
        for block in content.items() {
            let inner = Envelope::of(block);
            let name = inner.text("type").unwrap_or_default();
            if name != "tool_result" {
                user_block(line, block, Kind::User, Base { flags: base.flags.with(Flags::META), ..base }, &name, log);
                continue;
            }
            let failed = inner.flag("is_error");
            let text = inner.get("content").map(first_text).unwrap_or_default();
            let (kind, flags) = user::outcome(&text, failed, denial.as_deref());
            let mut record = base.fill(line.record(kind, block));
            record.id = inner.get("tool_use_id").and_then(Raw::str).map(|id| log.syms.intern(&id));
            let asked = record.id.is_some_and(|id| self.asking.contains(&id));
            record.flags = record.flags.with(flags).with_if(Flags::ASKS_PERSON, asked);
            let at = log.push(record);
            let Some(call) = record.id else { continue };
            made.answers.push((call, at));
            if !base.flags.has(Flags::REPEAT)
                && let Some(event) = self.tasks.result(call, report.take().as_ref(), &text, failed, log)
            {
                log.event(event);
            }
        }
        made
    }

    /// Pushes the records of a line in the user's name that carries no result.
    pub(super) fn user_blocks(&mut self, line: &Line<'_>, content: Raw<'_>, kind: Kind, base: Base, log: &mut Log) {
        let first = log.next_id();
        if content.is_array() && kind != Kind::Summary {
            for block in content.items() {
                let name = block.get_str("type").unwrap_or_default();
                user_block(line, block, kind, base, &name, log);
            }
        } else {
            log.push(base.fill(line.record(kind, content)));
        }
        if base.flags.has(Flags::REPEAT) || log.next_id() == first {
            return;
        }
        let text = first_text(content);
        if user::is_interrupt(&text) {
            log.event(Event::Interrupted);
        }
        for id in self.tasks.notified(&text, log) {
            log.event(Event::TaskEnded { id, delivered: true });
        }
    }
}

fn user_block(line: &Line<'_>, block: Raw<'_>, kind: Kind, base: Base, name: &str, log: &mut Log) {
    match name {
        "text" | "image" | "document" | "search_result" | "container_upload" => {
            log.push(base.fill(line.record(kind, block)));
        }
        _ => unknown_block(line, block, base, name, log),
    }
}

fn unknown_block(line: &Line<'_>, block: Raw<'_>, base: Base, name: &str, log: &mut Log) {
    log.not_understood += 1;
    let text = format!("The content block `{name}` is not known; it is kept as it is.");
    log.note(NoteKind::NotUnderstood, line.number, text);
    log.push(base.fill(line.record(Kind::Opaque, block)));
}

/// Server tools tell an error by the type of their content.
fn server_outcome(block: Raw<'_>) -> Kind {
    let failed = block.get("is_error").and_then(Raw::bool) == Some(true)
        || block.path(&["content", "type"]).and_then(Raw::str).is_some_and(|name| name.ends_with("_error"));
    if failed { Kind::Error } else { Kind::Result }
}
