//! Messages of the Anthropic API in every form in which they are kept: one array, one message a line, request bodies
//! (each with the whole history again), requests with their responses.
//!
//! Comes in: messages, bodies and exchanges, as lines or as items of a document. Goes out: a record for each content
//! block, measured tokens of responses, failed requests as retries, the newest list of the main conversation as the
//! context (from its last compaction block on), other conversations of the same log as lanes; and a new file of the same
//! shape.
//! Must never: count a message again that a later request repeats, demand a form of ids (gateways give any), pair what
//! the provider's own server answers with results of the client.

use super::{
    Adapter, Capability, Commit, Counting, ForkError, ForkOrder, Forked, Format, Ids, LateResults, Line, SessionFacts,
    json::Raw,
};
use crate::model::{Body, Context, Kind, LaneId, Log, Millis, NoteKind, Record, RecordId, Slot, Usage, parse_rfc3339};

mod body;
mod history;
mod lint;
mod message;
mod parts;
mod same;
mod write;

use history::Thread;
use message::Message;
use parts::Parts;

/// Where a value of the file stands.
#[derive(Clone, Copy, Debug)]
struct Spot {
    segment: u16,
    /// Of the line or item.
    offset: u64,
    /// 1-based.
    line: u32,
    /// Place of the value in the line or item.
    at: u32,
    len: u32,
}

impl Spot {
    fn of(line: &Line<'_>, value: Raw<'_>) -> Self {
        let (at, len) = value.range();
        Self { segment: line.segment, offset: line.offset, line: line.number, at, len }
    }

    /// Its first byte in the file.
    fn start(self) -> u64 {
        self.offset + u64::from(self.at)
    }
}

/// How messages lie in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Shape {
    /// One a line.
    #[default]
    Lines,
    /// Items of one array.
    Array,
    /// Lists inside request bodies.
    Bodies,
}

/// Something in a file of messages, in file order.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// A message, by its number.
    Message(usize),
    /// Anything else: kept as it is.
    Foreign(Spot),
}

/// Reader of Anthropic Messages.
#[derive(Default)]
pub struct Anthropic {
    /// The file's name without ending.
    stem: String,
    facts: SessionFacts,
    shape: Shape,
    in_document: bool,
    /// Every message of the file once, in file order.
    messages: Vec<Message>,
    /// Of a file of messages: what stands in it.
    entries: Vec<Entry>,
    /// Conversations of a log; a file of messages has one.
    threads: Vec<Thread>,
    /// The main one.
    main: usize,
    context: Context,
    /// Messages of the main conversation that are in the context.
    placed: usize,
    /// The list changed before its end.
    stale: bool,
    /// Errors in the place of responses, since the last response.
    errors: Vec<Spot>,
    /// Notes of what the API refuses.
    linted: usize,
    /// Some response says how many tokens it took.
    measured: bool,
}

impl Anthropic {
    /// A reader that has seen nothing yet. `file_stem` names forks.
    pub fn new(file_stem: &str) -> Self {
        Self { stem: file_stem.to_string(), ..Self::default() }
    }

    /// A message that stands for itself.
    fn single(&mut self, parts: &Parts<'_>, value: Raw<'_>, line: &Line<'_>, log: &mut Log) {
        if self.shape != Shape::Bodies {
            self.shape = if line.in_document { Shape::Array } else { Shape::Lines };
        }
        if self.threads.is_empty() {
            self.threads.push(Thread::new(LaneId::MAIN));
        }
        let message = self.take(value, line, message::Base { time: parts.time, ..message::Base::default() }, log);
        self.entries.push(Entry::Message(message));
        let key = same::key(value);
        if let Some(thread) = self.threads.get_mut(self.main) {
            thread.live.push(message);
            thread.keys.push(key);
        }
        let usage = value.get("usage").or_else(|| line.value.get("usage"));
        self.usage(usage, LaneId::MAIN, log);
        self.model(value.get("model").or_else(|| line.value.get("model")));
    }

    fn foreign(&mut self, line: &Line<'_>, log: &mut Log) {
        self.entries.push(Entry::Foreign(Spot::of(line, line.value)));
        log.not_understood += 1;
        log.note(NoteKind::NotUnderstood, line.number, "This is no message and no request; it is kept as it is.");
        log.push(Record { tokens: 0, ..line.record(Kind::Opaque, line.value) });
    }

    fn model(&mut self, value: Option<Raw<'_>>) {
        if let Some(model) = value.and_then(Raw::str) {
            self.facts.model = Some(model.into_owned());
        }
    }

    /// What a response measured: with server-side loops the sums cover several requests, the last one of type message is
    /// the context.
    fn usage(&mut self, usage: Option<Raw<'_>>, lane: LaneId, log: &mut Log) {
        let Some(whole) = usage.filter(|usage| usage.is_object()) else { return };
        let last =
            whole.get("iterations").and_then(|list| list.items().filter(|i| i.field_is("type", "message")).last());
        let usage = last.unwrap_or(whole);
        let number = |name: &str| usage.get_u64(name).unwrap_or(0);
        let input = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
            .map(number)
            .into_iter()
            .fold(0, u64::saturating_add);
        let output = number("output_tokens");
        // A fork zeroes the numbers of what it copies: that is no measurement.
        if input == 0 && output == 0 {
            return;
        }
        self.measured = true;
        let record = log.next_id().saturating_sub(1);
        log.usage.push(Usage { record, lane, input, output, window: None, estimated: false });
    }

    /// The main conversation's messages in the context, from the last compaction block on.
    fn build(&self, log: &Log) -> Context {
        let mut context = Context::default();
        let live = self.live();
        let last = live.iter().rposition(|n| self.messages.get(*n).is_some_and(|m| m.compaction.is_some()));
        let from = last.and_then(|at| self.messages.get(*live.get(at)?)?.compaction);
        for n in live.iter().skip(last.unwrap_or(0)) {
            self.place(*n, from, log, &mut context);
        }
        context
    }

    fn place(&self, n: usize, from: Option<RecordId>, log: &Log, context: &mut Context) {
        let Some(message) = self.messages.get(n) else { return };
        for id in message.records() {
            if from.is_none_or(|from| id >= from) && log.records.get(id as usize).is_some() {
                context.push(Slot::record(id));
            }
        }
    }

    fn live(&self) -> &[usize] {
        self.threads.get(self.main).map_or(&[], |thread| &thread.live)
    }
}

fn time_of(value: Raw<'_>) -> Millis {
    ["ts", "timestamp", "created_at", "time"].into_iter().find_map(|name| value.get(name)).map_or(
        Millis::NONE,
        |time| {
            match (time.str(), time.u64()) {
                (Some(text), _) => parse_rfc3339(&text),
                // Milliseconds; a number that small is of seconds.
                (None, Some(n)) => {
                    i64::try_from(n).map_or(Millis::NONE, |n| Millis(if n < 100_000_000_000 { n * 1000 } else { n }))
                }
                (None, None) => Millis::NONE,
            }
        },
    )
}

impl Adapter for Anthropic {
    fn format(&self) -> Format {
        Format::Anthropic
    }

    fn capability(&self) -> Capability {
        let mut hides = Vec::new();
        if self.shape == Shape::Bodies && !self.messages.iter().any(|message| message.response) {
            hides.push("Without responses a call is seen only with the request that answers it.");
        }
        if !self.measured {
            hides.push("What the server itself cut from the context (context_management) is not in the list.");
        }
        Capability {
            shows_open: true,
            shows_results: true,
            ids: Ids::Unique,
            usage: self.measured,
            window: false,
            lock: false,
            reexecutes: false,
            late_results: LateResults::Unknown,
            commits: &[Commit::Fork],
            hides,
        }
    }

    fn counting(&self) -> Counting {
        Counting::ById
    }

    fn line(&mut self, line: &Line<'_>, log: &mut Log) {
        if log.lanes.is_empty() {
            log.lane("main");
        }
        self.in_document |= line.in_document;
        let parts = Parts::of(line.value);
        if parts.is_none() {
            self.foreign(line, log);
            return;
        }
        // In a log of requests a response may stand on a line of its own.
        let response = |answer: Raw<'_>| self.shape == Shape::Bodies && answer.field_is("type", "message");
        match (parts.request, parts.answer) {
            (None, Some(answer)) if !parts.exchange() && !response(answer) => self.single(&parts, answer, line, log),
            (request, answer) => self.exchange(&parts, request, answer, line, log),
        }
    }

    fn context(&mut self, log: &mut Log) -> &mut Context {
        let live: Vec<usize> = self.live().iter().skip(self.placed).copied().collect();
        let compacts = |n: &usize| self.messages.get(*n).is_some_and(|message| message.compaction.is_some());
        if self.stale || live.iter().any(compacts) {
            let next = self.build(log);
            self.context.replace(next);
        } else {
            let mut context = std::mem::take(&mut self.context);
            for n in &live {
                self.place(*n, None, log, &mut context);
            }
            self.context = context;
        }
        self.placed = self.live().len();
        self.stale = false;
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
        write::fork(self, order)
    }
}
