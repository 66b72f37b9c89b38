//! Sessions of OpenCode: what `opencode export` writes, and its database row by row, one message a line.
//!
//! Comes in: an export document, or messages with their parts in order, each `{"info": …, "parts": […]}`. Goes out: a
//! record for each part that a model reads (of a tool part two: its call, and its result once there is one), usage,
//! compactions, retries, the context from the newest compaction on; and a document that `opencode import` takes.
//! Must never: split a call from its result (they are one part), take the tokens of a summary for a size after it, or
//! write to the database.

use super::{
    Adapter, Capability, Commit, Counting, ForkError, ForkOrder, Forked, Format, Ids, LateResults, Line, SessionFacts,
    json::Raw, text_weight,
};
use crate::model::{
    Body, Boundary, Context, Event, Flags, Kind, LaneId, Log, Millis, NoteKind, Record, RecordId, Slot, Sym, Usage,
};

mod body;
mod write;

/// First words of the text that stands for a call whose process was killed; OpenCode says it in memory only.
const ABORTED: &str = "Tool execution aborted";
/// Parts that no model reads.
const SILENT: [&str; 8] = ["step-start", "step-finish", "snapshot", "patch", "agent", "compaction", "retry", "subtask"];

/// Reader of OpenCode sessions.
#[derive(Default)]
pub struct OpenCode {
    facts: SessionFacts,
    context: Context,
    /// Places in the context, and with them what a compaction forgets.
    placed: RecordId,
    /// Records that a model reads, in order.
    sent: Vec<RecordId>,
    /// The user message of the newest compaction that waits for its summary, with the record it stood before.
    asked: Option<(String, RecordId, usize)>,
    /// The compaction in force: the first of `sent` behind it.
    start: usize,
    stale: bool,
    header: Option<Record>,
}

/// The message that parts belong to.
#[derive(Clone, Copy)]
struct Message<'a> {
    info: Raw<'a>,
    user: bool,
    summary: bool,
    id: Option<Sym>,
    time: Millis,
}

fn millis(value: Option<Raw<'_>>) -> Millis {
    value.and_then(Raw::u64).and_then(|ms| i64::try_from(ms).ok()).map_or(Millis::NONE, Millis)
}

impl OpenCode {
    /// A reader that has seen nothing yet. The file's name says nothing that the document does not.
    pub fn new(_file_stem: &str) -> Self {
        Self::default()
    }

    fn header(&mut self, info: Raw<'_>, line: &Line<'_>) {
        let text = |name: &str| info.get_str(name).map(std::borrow::Cow::into_owned);
        self.facts.id = text("id");
        self.facts.version = text("version");
        self.facts.cwd = text("directory");
        self.facts.title = text("title");
        self.header.get_or_insert_with(|| line.record(Kind::Notice, line.value));
    }

    fn message(&mut self, value: Raw<'_>, line: &Line<'_>, log: &mut Log) {
        let Some(info) = value.get("info").filter(|info| info.is_object()) else {
            log.not_understood += 1;
            log.note(NoteKind::NotUnderstood, line.number, "A message without `info`; it is kept as it is.");
            log.push(line.record(Kind::Opaque, value));
            return;
        };
        let id = info.get_str("id");
        let message = Message {
            info,
            user: info.field_is("role", "user"),
            summary: info.get("summary").and_then(Raw::bool) == Some(true),
            id: id.as_ref().map(|id| log.syms.intern(id)),
            time: millis(info.path(&["time", "created"])),
        };
        if let Some(model) = info.get_str("modelID").filter(|_| !message.user) {
            self.facts.model = Some(model.into_owned());
        }
        self.facts.id = self.facts.id.take().or_else(|| info.get_str("sessionID").map(std::borrow::Cow::into_owned));
        let first = log.next_id();
        for (step, part) in value.get("parts").into_iter().flat_map(Raw::items).enumerate() {
            self.part(message, step, part, line, log);
        }
        if message.summary {
            self.summarised(message, line, log);
        }
        // An aborted or failed message may hold calls that were never carried out.
        if info.get("error").is_some_and(Raw::is_object) && log.next_id() == first {
            log.push(Record { time: message.time, ..line.record(Kind::Notice, value) });
        }
    }

    fn part(&mut self, message: Message<'_>, step: usize, part: Raw<'_>, line: &Line<'_>, log: &mut Log) {
        let kind = part.get_str("type").unwrap_or_default();
        let response = message.id.filter(|_| !message.user);
        // Ids and times of a part are no words.
        let words = part.get("text").map(text_weight);
        let base = |kind: Kind| {
            let record = Record { time: message.time, response, ..line.record(kind, part) };
            words.map_or(record, |words| Record { text: words.bytes, tokens: words.tokens, ..record })
        };
        match &*kind {
            "text" if message.summary => self.sent(Record { response: None, ..base(Kind::Summary) }, log),
            "text" if message.user => {
                let meta = part.get("synthetic").and_then(Raw::bool) == Some(true);
                let flag = if meta { Flags::META } else { Flags::HUMAN };
                let user = base(Kind::User);
                self.sent(Record { flags: user.flags.with(flag), message: message.id, ..user }, log);
            }
            "file" if message.user => {
                let user = base(Kind::User);
                self.sent(Record { flags: user.flags.with(Flags::META), message: message.id, ..user }, log);
            }
            "text" => self.sent(base(Kind::Assistant), log),
            "reasoning" => self.sent(base(Kind::Thinking), log),
            "tool" => self.tool(message, part, line, log),
            name if SILENT.contains(&name) => self.silent(message, name, step, part, line, log),
            _ => {
                log.not_understood += 1;
                log.note(
                    NoteKind::NotUnderstood,
                    line.number,
                    format!("The part type `{kind}` is not known; it is kept."),
                );
                log.push(base(Kind::Opaque));
            }
        }
    }

    fn sent(&mut self, record: Record, log: &mut Log) {
        self.sent.push(log.push(record));
    }

    /// A call, and its resolution as soon as the part says one.
    fn tool(&mut self, message: Message<'_>, part: Raw<'_>, line: &Line<'_>, log: &mut Log) {
        let state = part.get("state");
        let status = state.and_then(|state| state.get_str("status")).unwrap_or_default();
        let name = part.get_str("tool").unwrap_or_default();
        let (id, tool) = (part.get_str("callID").map(|id| log.syms.intern(&id)), log.syms.intern(&name));
        let started = millis(state.and_then(|state| state.path(&["time", "start"])));
        let ended = millis(state.and_then(|state| state.path(&["time", "end"])));
        let or_created = |time: Millis| if time == Millis::NONE { message.time } else { time };
        let base = line.record(Kind::Call, part);
        let input = state.and_then(|state| state.get("input")).map_or(0, |input| input.range().1);
        let tokens = (input / 4).max(8);
        let call = Record { id, tool: Some(tool), response: message.id, time: or_created(started), tokens, ..base };
        self.sent(call, log);
        let text = state.and_then(|state| state.get("output").or_else(|| state.get("error"))).and_then(Raw::str);
        let text = text.unwrap_or_default();
        let interrupted =
            state.and_then(|state| state.path(&["metadata", "interrupted"])).and_then(Raw::bool) == Some(true);
        let (kind, unknown) = match &*status {
            "completed" => (Kind::Result, false),
            "error" if text.starts_with("abandoned by operator") => (Kind::Abandoned, true),
            "error" => (Kind::Error, interrupted || text.starts_with(ABORTED)),
            _ => return,
        };
        let mut flags = base.flags.with_if(Flags::UNKNOWN_OUTCOME, unknown);
        // Pruned: the model gets a stub in the place of an old output.
        let pruned = state.is_some_and(|state| state.path(&["time", "compacted"]).is_some());
        flags = flags.with_if(Flags::TRUNCATED, pruned);
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let (text, tokens) = if pruned { (0, 8) } else { (bytes, (bytes / 4).max(1)) };
        self.sent(Record { kind, id, tool: Some(tool), time: or_created(ended), text, tokens, flags, ..base }, log);
    }

    fn silent(&mut self, message: Message<'_>, name: &str, step: usize, part: Raw<'_>, line: &Line<'_>, log: &mut Log) {
        let record = log.push(Record { time: message.time, tokens: 0, text: 0, ..line.record(Kind::Notice, part) });
        match name {
            "compaction" => {
                let id = message.info.get_str("id").map(std::borrow::Cow::into_owned).unwrap_or_default();
                // Older sessions mark the assistant's message; no summary follows there.
                if message.user {
                    self.asked = Some((id, record, self.sent.len()));
                }
                let automatic = part.get("auto").and_then(Raw::bool) == Some(true);
                log.boundaries.push(Boundary { line: line.number, before: None, automatic });
            }
            "step-finish" if !message.summary => self.usage(part, log),
            "retry" => {
                let id = log.syms.intern("model-request");
                let again = part.path(&["error", "isRetryable"]).and_then(Raw::bool) != Some(false);
                log.event(if again && step > 0 { Event::RetryOpen(id) } else { Event::RetrySettled(id) });
            }
            _ => {}
        }
    }

    /// The size before a compaction, which its own message repeats, is none of what comes after.
    fn usage(&mut self, part: Raw<'_>, log: &mut Log) {
        let Some(tokens) = part.get("tokens") else { return };
        let number = |path: &[&str]| tokens.path(path).and_then(Raw::u64).unwrap_or(0);
        let input = number(&["input"]) + number(&["cache", "read"]) + number(&["cache", "write"]);
        let Some(record) = self.sent.last().copied().filter(|_| input > 0) else { return };
        let output = number(&["output"]) + number(&["reasoning"]);
        log.usage.push(Usage { record, lane: LaneId::MAIN, input, output, window: None, estimated: false });
    }

    /// A summary is there: the context begins with it.
    fn summarised(&mut self, message: Message<'_>, line: &Line<'_>, log: &mut Log) {
        let parent = message.info.get_str("parentID").unwrap_or_default();
        let Some((_, _, before)) = self.asked.take().filter(|(id, ..)| *id == *parent) else {
            log.note(NoteKind::Format, line.number, "A summary without the compaction that asked for it.");
            return;
        };
        self.start = before;
        self.stale = true;
        log.boundaries.retain(|boundary| boundary.line <= line.number);
    }
}

impl Adapter for OpenCode {
    fn format(&self) -> Format {
        Format::OpenCode
    }

    fn capability(&self) -> Capability {
        Capability {
            shows_open: true,
            shows_results: true,
            ids: Ids::Unique,
            usage: true,
            window: false,
            lock: false,
            reexecutes: false,
            late_results: LateResults::Unknown,
            commits: &[Commit::Fork],
            hides: vec![
                "A call whose process was killed stays `running` for ever; at a resume it is answered in memory only.",
                "Permission requests are not in an export: waiting for a person looks like running.",
            ],
        }
    }

    fn counting(&self) -> Counting {
        Counting::ByInstance
    }

    fn line(&mut self, line: &Line<'_>, log: &mut Log) {
        if log.lanes.is_empty() {
            log.lane("main");
        }
        let value = line.value;
        if let Some(messages) = value.get("messages").filter(|messages| messages.is_array()) {
            if let Some(info) = value.get("info") {
                self.header(info, line);
            }
            for message in messages.items() {
                self.message(message, line, log);
            }
        } else if value.get("parts").is_some() {
            self.message(value, line, log);
        } else if let Some(info) = value.get("info").filter(|info| info.get("id").is_some()) {
            self.header(info, line);
        } else {
            log.not_understood += 1;
            log.note(NoteKind::NotUnderstood, line.number, "Neither session nor message; the line is kept as it is.");
            log.push(line.record(Kind::Opaque, value));
        }
    }

    fn context(&mut self, _log: &mut Log) -> &mut Context {
        if std::mem::take(&mut self.stale) {
            let mut next = Context::default();
            self.sent.iter().skip(self.start).for_each(|id| next.push(Slot::record(*id)));
            self.context.replace(next);
        } else {
            let placed = self.sent.partition_point(|id| *id < self.placed).max(self.start);
            self.sent.iter().skip(placed).for_each(|id| self.context.push(Slot::record(*id)));
        }
        self.placed = self.sent.last().map_or(0, |id| id + 1);
        &mut self.context
    }

    fn current(&self) -> &Context {
        &self.context
    }

    fn body(&self, line: &[u8], record: &Record) -> Body {
        body::decode(line, record)
    }

    fn session(&self) -> SessionFacts {
        self.facts.clone()
    }

    fn fork(&self, order: &ForkOrder<'_>) -> Result<Forked, ForkError> {
        write::fork(order, self.header.as_ref(), &self.facts)
    }
}
