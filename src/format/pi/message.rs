use super::{
    Pi, SUMMARY, opaque, quiet,
    tree::{Node, Role},
};
use crate::{
    format::{
        Line,
        envelope::{Envelope, first_text},
        json::Raw,
    },
    model::{Event, Flags, Kind, LaneId, Log, Millis, NoteKind, Record, Sym, Usage},
};

/// What pi writes as the result of a call that a person interrupted.
const INTERRUPTED: [&str; 2] = ["Command aborted", "Operation aborted"];
/// How the answer to a call that an operator gave up begins.
const ABANDONED: &str = "abandoned by operator";

/// What pi answers for a call without a result; it should stand in no file.
const PLACEHOLDER: &str = "No result provided";
/// What `OpenClaw` and its relatives write for such a call, behind their name in brackets.
const REPAIRED: &str = "] missing tool result in session history; inserted synthetic error result";

/// In whose voice text in the user role stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    /// A person's.
    Person,
    /// Put there by pi or an extension.
    Injected,
    /// A summary of what was cut.
    Summary,
}

impl Voice {
    /// Of a `custom_message` entry.
    pub(super) fn of(env: &Envelope<'_>) -> Self {
        if env.is("customType", SUMMARY) { Self::Summary } else { Self::Injected }
    }

    fn kind(self) -> Kind {
        if self == Self::Summary { Kind::Summary } else { Kind::User }
    }

    fn flags(self) -> Flags {
        match self {
            // The next prompt ends the attempts before it.
            Self::Person => Flags::HUMAN.with(Flags::SETTLES_RETRY),
            Self::Injected => Flags::META,
            Self::Summary => Flags::NONE,
        }
    }
}

/// What the records of one entry share.
#[derive(Clone, Copy)]
struct Base {
    time: Millis,
    flags: Flags,
    response: Option<Sym>,
    message: Option<Sym>,
}

impl Base {
    fn fill(self, record: Record) -> Record {
        let Self { time, response, message, .. } = self;
        Record { time, response, message, flags: record.flags.with(self.flags), ..record }
    }

    /// Beside the response, but in its message.
    fn beside(self, record: Record) -> Record {
        Self { response: None, ..self }.fill(record)
    }
}

/// The id of an entry; a name of our own where it has none.
fn name(env: &Envelope<'_>, log: &mut Log) -> Sym {
    let own = env.text("id").map(std::borrow::Cow::into_owned);
    let own = own.unwrap_or_else(|| format!("\0{}", log.records.len()));
    log.syms.intern(&own)
}

/// Text in the user role, in any of the forms that it has.
pub(super) fn said(env: &Envelope<'_>, content: Option<Raw<'_>>, voice: Voice, line: &Line<'_>, log: &mut Log) -> Role {
    let content = content.unwrap_or(line.value);
    let message = (voice != Voice::Summary && content.items().nth(1).is_some()).then(|| name(env, log));
    let base = Base { time: env.time(), flags: voice.flags(), response: None, message };
    if voice == Voice::Summary || content.items().next().is_none() {
        log.push(base.fill(line.record(voice.kind(), content)));
        return Role::Said;
    }
    said_blocks(content, base, line, log);
    Role::Said
}

fn said_blocks(content: Raw<'_>, base: Base, line: &Line<'_>, log: &mut Log) {
    for block in content.items() {
        match block.get_str("type").as_deref() {
            Some("text" | "image") => {
                log.push(base.fill(line.record(Kind::User, block)));
            }
            other => unknown(line, block, base, other.unwrap_or_default(), log),
        }
    }
}

fn unknown(line: &Line<'_>, block: Raw<'_>, base: Base, name: &str, log: &mut Log) {
    log.not_understood += 1;
    let text = format!("The content block `{name}` is not known; it is kept as it is.");
    log.note(NoteKind::NotUnderstood, line.number, text);
    log.push(base.beside(line.record(Kind::Opaque, block)));
}

/// The records of a response: one for each block.
fn answer_blocks(content: Raw<'_>, base: Base, line: &Line<'_>, log: &mut Log) {
    // The partial text of a discarded response reads no result.
    let local = Flags::NONE.with_if(Flags::LOCAL, base.flags.has(Flags::VOID));
    if content.is_string() {
        let record = line.record(Kind::Assistant, content);
        log.push(base.fill(Record { flags: record.flags.with(local), ..record }));
    }
    for block in content.items() {
        let inner = Envelope::of(block);
        let record = match inner.text("type").as_deref() {
            Some("text") => line.record(Kind::Assistant, block),
            Some("thinking") => line.record(Kind::Thinking, block),
            Some("toolCall") => {
                let tool = inner.text("name").unwrap_or_default();
                let tool = Some(log.syms.intern(&tool));
                let id = inner.get("id").and_then(Raw::str).map(|id| log.syms.intern(&id));
                Record { id, tool, ..line.record(Kind::Call, block) }
            }
            other => {
                unknown(line, block, base, other.unwrap_or_default(), log);
                continue;
            }
        };
        let local = if record.kind == Kind::Call { Flags::NONE } else { local };
        log.push(base.fill(Record { flags: record.flags.with(local), ..record }));
    }
}

/// The result of a call: one record, whose block is its content.
fn result_record(
    content: Raw<'_>,
    failed: bool,
    id: Option<Sym>,
    tool: Option<Sym>,
    base: Base,
    line: &Line<'_>,
) -> Record {
    let text = first_text(content);
    let alone = content.is_string() || content.items().nth(1).is_none();
    let repaired = text.starts_with('[') && text.contains(REPAIRED);
    let given_up = text.starts_with(ABANDONED) || repaired || &*text == PLACEHOLDER;
    let (kind, flags) = if failed && alone && given_up {
        (Kind::Abandoned, Flags::UNKNOWN_OUTCOME)
    } else if failed && alone && INTERRUPTED.contains(&text.trim()) {
        (Kind::Error, Flags::UNKNOWN_OUTCOME)
    } else if failed {
        (Kind::Error, Flags::NONE)
    } else {
        (Kind::Result, Flags::NONE)
    };
    let record = base.fill(Record { id, tool, ..line.record(kind, content) });
    Record { flags: record.flags.with(flags), ..record }
}

/// What a context edit puts in the place of the entry `old`. Its records repeat those of the entry.
pub(super) fn replaced(old: &Node, content: Raw<'_>, line: &Line<'_>, log: &mut Log) {
    let first = log.records.get(old.records.0 as usize).copied().unwrap_or_else(|| Record::new(Kind::Notice));
    let kept = [Flags::HUMAN, Flags::META, Flags::VOID].into_iter().filter(|flag| first.flags.has(*flag));
    let flags = kept.fold(Flags::REPEAT, Flags::with);
    let message = content.items().nth(1).is_some().then(|| log.syms.intern(&format!("\0{}", log.records.len())));
    let base = Base { time: first.time, flags, response: first.response, message };
    match old.role {
        Role::Result => {
            let failed = first.kind != Kind::Result;
            let record = result_record(content, failed, first.id, first.tool, base, line);
            log.push(record);
        }
        Role::Answer | Role::Discarded => answer_blocks(content, base, line, log),
        Role::Said if content.items().next().is_some() => said_blocks(content, base, line, log),
        Role::Said => {
            log.push(base.fill(line.record(Kind::User, content)));
        }
        _ => {
            log.push(quiet(line, Kind::Notice, line.value));
        }
    }
}

impl Pi {
    pub(super) fn message(
        &mut self,
        env: &Envelope<'_>,
        message: &Envelope<'_>,
        line: &Line<'_>,
        log: &mut Log,
    ) -> Role {
        let content = message.get("content");
        let whole = env.get("message").unwrap_or(line.value);
        match message.text("role").as_deref() {
            Some("user") => said(env, content.or(Some(whole)), Voice::Person, line, log),
            Some("assistant") => self.answer(env, message, line, log),
            Some("toolResult") => {
                let id = message.get("toolCallId").and_then(Raw::str).map(|id| log.syms.intern(&id));
                let tool = message.text("toolName").map(|name| log.syms.intern(&name));
                let base = Base { time: env.time(), flags: Flags::NONE, response: None, message: None };
                let failed = message.flag("isError");
                log.push(result_record(content.unwrap_or(whole), failed, id, tool, base, line));
                nested(message, line, log);
                Role::Result
            }
            Some("bashExecution") => {
                if message.flag("excludeFromContext") {
                    log.push(Record { time: env.time(), ..quiet(line, Kind::Notice, whole) });
                    return Role::Hidden;
                }
                said(env, Some(whole), Voice::Injected, line, log)
            }
            Some("custom") => said(env, content, Voice::of(message), line, log),
            // The name up to version 2; in a file of version 3 pi does not know it.
            Some("hookMessage") if self.header.is_some_and(|header| header.version < 3) => {
                said(env, content, Voice::of(message), line, log)
            }
            Some("branchSummary" | "compactionSummary") => {
                said(env, message.get("summary"), Voice::Injected, line, log)
            }
            Some("system") => {
                log.push(Record { time: env.time(), ..quiet(line, Kind::Notice, whole) });
                Role::System
            }
            role => {
                let role = role.unwrap_or_default();
                opaque(line, &format!("The message role `{role}` is not known; the line is kept as it is."), log)
            }
        }
    }

    fn answer(&mut self, env: &Envelope<'_>, message: &Envelope<'_>, line: &Line<'_>, log: &mut Log) -> Role {
        let stop = message.text("stopReason").unwrap_or_default();
        let discarded = matches!(&*stop, "error" | "aborted");
        let response = name(env, log);
        let content = message.get("content").filter(|content| content.is_string() || content.items().next().is_some());
        let shared = discarded || content.is_some_and(|content| content.items().nth(1).is_some());
        // A response that goes through, and one that a person stops, ends the attempts before it.
        let flags = Flags::NONE.with_if(Flags::VOID, discarded).with_if(Flags::SETTLES_RETRY, &*stop != "error");
        let base = Base { time: env.time(), flags, response: Some(response), message: shared.then_some(response) };
        if let Some(content) = content {
            answer_blocks(content, base, line, log);
        } else {
            // An empty response reads nothing.
            let whole = env.get("message").unwrap_or(line.value);
            log.push(base.beside(quiet(line, Kind::Notice, whole)));
        }
        if &*stop == "error" && !line.salvaged {
            let attempt = log.syms.intern("attempt");
            log.event(Event::RetryOpen(attempt));
        }
        if message.has("deferred") {
            let text = "This response was deferred; nothing in the file says whether it was fetched.";
            log.note(NoteKind::Format, line.number, text);
        }
        if discarded {
            return Role::Discarded;
        }
        if let Some(model) = message.text("model").filter(|_| !line.salvaged) {
            self.facts.model = Some(model.into_owned());
        }
        if let Some(usage) = message.object("usage").filter(|_| !line.salvaged) {
            measure(&usage, log);
        }
        Role::Answer
    }
}

/// The figures of a response; all zero is no measurement.
fn measure(usage: &Envelope<'_>, log: &mut Log) {
    let number = |name: &str| usage.number(name).unwrap_or(0);
    let parts = ["input", "cacheRead", "cacheWrite"].map(number).into_iter().fold(0, u64::saturating_add);
    let output = number("output");
    let total = Some(number("totalTokens")).filter(|total| *total > 0).unwrap_or(parts.saturating_add(output));
    if total == 0 {
        return;
    }
    let (input, output) = (total.saturating_sub(output), output.min(total));
    let record = log.next_id().saturating_sub(1);
    log.usage.push(Usage { record, lane: LaneId::MAIN, input, output, window: None, estimated: false });
}

/// Calls that a tool made itself and that did not end.
fn nested(message: &Envelope<'_>, line: &Line<'_>, log: &mut Log) {
    let Some(calls) = message.object("nestedCalls").and_then(|nested| nested.get("calls")) else { return };
    let unfinished = calls.items().filter(|call| call.field_is("status", "unfinished")).count();
    if unfinished > 0 {
        let text = format!("{unfinished} calls inside this result are unfinished; their outcome is unknown.");
        log.note(NoteKind::Format, line.number, text);
    }
}
