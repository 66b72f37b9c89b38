//! The neutral `cutline` JSONL: for runtimes of one's own, for tests, and as the target of exports.
//!
//! Comes in: one JSON object a line, its `kind` one of the product's own. Goes out: a record a line, in file order, and
//! new files in the same format.
//! Must never: give a meaning to a kind that it does not know, or drop one.

use std::borrow::Cow;

mod convert;
mod write;

pub use convert::convert;

use super::{
    Adapter, Capability, Commit, Counting, ForkError, ForkOrder, Forked, Format, Ids, LateResults, Line, SessionFacts,
    json::Raw,
};
use crate::model::{
    Body, Boundary, Context, Event, Flags, Kind, LaneId, Log, NoteKind, Record, Slot, TaskKind, Usage, parse_rfc3339,
};

/// Reader of the neutral format.
#[derive(Default)]
pub struct Neutral {
    context: Context,
    /// Records of the log already looked at for the context.
    taken: u32,
    facts: SessionFacts,
    /// Place of the header.
    header: Option<Record>,
}

/// True if `name` is a value of `kind` in this format.
pub fn is_kind(name: &str) -> bool {
    kind_of(name).is_some() || name == "usage"
}

fn kind_of(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name && !matches!(kind, Kind::Opaque | Kind::RetrySettled))
}

impl Neutral {
    /// A reader that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn header(&mut self, value: Raw<'_>) {
        let text = |name| value.get_str(name).map(Cow::into_owned);
        self.facts.id = text("session");
        self.facts.version = text("agent").or_else(|| value.get_u64("cutline").map(|n| n.to_string()));
        self.facts.window = value.get_u64("window");
        self.facts.cwd = text("cwd");
        self.facts.branch = text("branch");
        self.facts.model = text("model");
        self.facts.title = text("title");
    }

    fn usage(&mut self, value: Raw<'_>, log: &mut Log) {
        let window = value.get_u64("window");
        self.facts.window = window.or(self.facts.window);
        let Some(input) = value.get_u64("input_tokens") else { return };
        log.usage.push(Usage {
            record: log.next_id().saturating_sub(1),
            lane: LaneId::MAIN,
            input,
            output: value.get_u64("output_tokens").unwrap_or(0),
            window,
            estimated: false,
        });
    }

    fn record(line: &Line<'_>, kind: Kind, log: &mut Log) -> Record {
        let value = line.value;
        let mut sym = |name: &str| value.get(name).map(|v| log.syms.intern(&plain(v)));
        let mut record = line.record(kind, value);
        record.id = sym("id");
        record.tool = sym("tool");
        record.response = if kind.is_response_part() { sym("response") } else { None };
        record.message = sym("message");
        if kind.is_response_part() && record.response.is_none() {
            // A part without a response id is a response of its own.
            record.response = Some(log.syms.intern(&format!("\u{0}{}", log.records.len())));
        }
        record.time = value.get_str("time").map_or(record.time, |t| parse_rfc3339(&t));
        if let Some(tokens) = value.get_u64("tokens") {
            record.tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        }
        let is_set = |name: &str| value.get(name).and_then(Raw::bool) == Some(true);
        record.flags = record
            .flags
            .with_if(Flags::VOID, is_set("void"))
            .with_if(Flags::HUMAN, kind == Kind::User && !is_set("injected"))
            .with_if(Flags::META, is_set("injected"))
            .with_if(Flags::SERVER, is_set("server"))
            .with_if(Flags::UNKNOWN_OUTCOME, kind.is_resolution() && value.field_is("outcome", "unknown"));
        let lane = value.get_str("lane").unwrap_or(Cow::Borrowed("main"));
        record.lane = log.lane(&lane);
        record
    }
}

/// A string as its text, anything else as its JSON: ids may be numbers.
fn plain(value: Raw<'_>) -> Cow<'_, str> {
    value.str().unwrap_or_else(|| String::from_utf8_lossy(value.bytes()))
}

impl Adapter for Neutral {
    fn format(&self) -> Format {
        Format::Cutline
    }

    fn capability(&self) -> Capability {
        Capability {
            shows_open: true,
            shows_results: true,
            ids: Ids::Repeat,
            usage: true,
            window: true,
            lock: false,
            reexecutes: false,
            late_results: LateResults::Kept,
            commits: &[Commit::Fork],
            hides: Vec::new(),
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
        let name = value.get_str("kind").unwrap_or_default();
        if value.get("cutline").is_some() && name.is_empty() {
            self.header(value);
            self.header.get_or_insert_with(|| line.record(Kind::Opaque, value));
            return;
        }
        if name == "usage" {
            self.usage(value, log);
            return;
        }
        let Some(mut kind) = kind_of(&name) else {
            log.not_understood += 1;
            log.note(
                NoteKind::NotUnderstood,
                line.number,
                format!("The kind `{name}` is not known; the line is kept as it is."),
            );
            let record = Self::record(line, Kind::Opaque, log);
            log.push(record);
            return;
        };
        if kind == Kind::Retry && value.get_u64("count") == Some(0) {
            kind = Kind::RetrySettled;
        }
        let record = Self::record(line, kind, log);
        if kind == Kind::Summary {
            log.boundaries.push(Boundary { line: line.number, before: None, automatic: false });
        }
        log.push(record);
        // Files that were converted from another format say it on the record that tells it there.
        for (name, starts) in [("starts_task", true), ("ends_task", false)] {
            let Some(id) = value.get(name).map(|id| log.syms.intern(&plain(id))) else { continue };
            log.event(if starts {
                Event::TaskStarted { id, kind: TaskKind::Task, call: record.id }
            } else {
                Event::TaskEnded { id, delivered: true }
            });
        }
        if let Some(id) = record.id.filter(|_| value.get("may_live_on").and_then(Raw::bool) == Some(true)) {
            log.event(Event::MayLiveOn(id));
        }
        match (kind, record.id) {
            (Kind::TaskStarted, Some(id)) => log.event(Event::TaskStarted { id, kind: TaskKind::Task, call: None }),
            (Kind::TaskEnded, Some(id)) => log.event(Event::TaskEnded { id, delivered: true }),
            _ => {}
        }
    }

    fn context(&mut self, log: &mut Log) -> &mut Context {
        for id in self.taken..log.next_id() {
            if log.records.get(id as usize).is_some_and(|r| r.lane == LaneId::MAIN) {
                self.context.push(Slot::record(id));
            }
        }
        self.taken = log.next_id();
        &mut self.context
    }

    fn current(&self) -> &Context {
        &self.context
    }

    fn body(&self, line: &[u8], record: &Record) -> Body {
        let Ok(value) = Raw::prefix(line, record.at as usize) else {
            return Body::text(String::from_utf8_lossy(line));
        };
        let text = |name| value.get(name).map(plain).unwrap_or_default().into_owned();
        let mut body = match record.kind {
            Kind::Call => Body {
                tool: Some(text("tool")),
                input: value.get("input").map(|v| plain(v).into_owned()),
                ..Body::default()
            },
            Kind::Result | Kind::Error => Body::text(text("content")),
            Kind::Abandoned => Body::text(text("reason")),
            Kind::TaskStarted => Body::text(text("command")),
            Kind::Opaque => Body::text(String::from_utf8_lossy(value.bytes())),
            _ => Body::text(text("text")),
        };
        let extra = ["by", "outcome", "count", "granted", "signature", "covers"];
        body.facts = extra
            .into_iter()
            .filter_map(|name| Some((name.to_string(), plain(value.get(name)?).into_owned())))
            .collect();
        body
    }

    fn session(&self) -> SessionFacts {
        self.facts.clone()
    }

    fn fork(&self, order: &ForkOrder<'_>) -> Result<Forked, ForkError> {
        write::fork(order, self.header.as_ref(), self.facts.id.as_deref())
    }
}
