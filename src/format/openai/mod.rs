//! Logs of the APIs of OpenAI, which many others speak: Chat Completions and Responses.
//!
//! Comes in: messages one by one, or bodies of requests and responses; a request repeats the whole list before it.
//! Goes out: records of each message where it stands first, usage, failed requests as retries, the context as the last
//! request and its response say it; a file of the same container with a span replaced.
//! Must never: count a repeated message twice, mix the conversations of one log, write into a list whose other half the
//! provider keeps.

use rustc_hash::FxHashSet;

use super::{
    Adapter, Capability, Commit, Counting, ForkError, ForkOrder, Forked, Format, Ids, LateResults, Line, SessionFacts,
    json::Raw,
};
use crate::model::{
    Body, Boundary, Context, Event, Flags, Kind, LaneId, Log, Millis, NoteKind, Record, RecordId, Slot, Sym, Usage,
};

mod body;
mod chain;
mod lint;
mod messages;
mod read;
mod responses;
pub(super) mod words;
pub(super) mod wrap;
mod write;

use chain::{Chain, Told};
use read::Reader;
use wrap::Found;

/// Whose shape the messages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `tool_calls` and messages of the role `tool`.
    Chat,
    /// Items with a type.
    Responses,
}

/// Where the body of the newest request stands, and the list in it.
#[derive(Clone, Copy, Debug)]
struct Place {
    segment: u16,
    offset: u64,
    line: u32,
    line_len: u32,
    body: (u32, u32),
    list: (u32, u32),
}

/// Reader of API logs.
pub(super) struct OpenAi {
    dialect: Dialect,
    reader: Reader,
    chains: Vec<Chain>,
    /// The chain that spoke last.
    current: usize,
    body: Option<Place>,
    /// Where the requests failed that nothing came after.
    errors: Vec<(u16, u64, (u32, u32))>,
    /// The records at which they are told.
    failed_at: Vec<RecordId>,
    /// The messages are items of one document.
    in_document: bool,
    /// The provider keeps a part of the conversation.
    remote: bool,
    facts: SessionFacts,
    context: Context,
    /// How many records of the main chain are in the context.
    placed: usize,
    stale: bool,
}

impl OpenAi {
    /// A reader that has seen nothing yet.
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            reader: Reader::new(dialect),
            chains: Vec::new(),
            current: 0,
            body: None,
            errors: Vec::new(),
            failed_at: Vec::new(),
            in_document: false,
            remote: false,
            facts: SessionFacts::default(),
            context: Context::default(),
            placed: 0,
            stale: false,
        }
    }

    /// The conversation of messages that stand outside of any request.
    fn begin(&mut self) {
        if self.chains.is_empty() {
            self.chains.push(Chain::new(LaneId::MAIN, false, 0));
        }
    }

    /// A request: what it adds to the conversation that it goes on with.
    fn request(&mut self, line: &Line<'_>, found: &Found<'_>, body: Raw<'_>, list: Raw<'_>, log: &mut Log) {
        let items: Vec<Raw<'_>> = if list.is_string() { vec![list] } else { list.items().collect() };
        let hashes: Vec<u64> = items.iter().map(|item| chain::hash(self.dialect, *item)).collect();
        let lead = items.iter().take_while(|item| words::is_system(**item)).count();
        let tools = ["tools", "functions"].iter().any(|name| body.get(name).is_some_and(chain::holds_something));
        let kept = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
        // The list is only what is new: the rest of the conversation is the provider's.
        self.reader.lint.remote = kept("previous_response_id") || kept("conversation");
        self.remote |= self.reader.lint.remote;
        let system = chain::system(body, hashes.get(..lead).unwrap_or_default());
        let n = if self.remote { self.current } else { self.route(&hashes, lead, tools, system, log) };
        if self.chains.is_empty() {
            self.chains.push(Chain::new(LaneId::MAIN, tools, system));
        }
        self.current = n;
        let mut left = if self.remote { Vec::new() } else { self.rewind(n, &items, &hashes, line.number, log) };
        let Some(chain) = self.chains.get_mut(n) else { return };
        let known = if self.remote { 0 } else { chain.told.len() };
        let before: FxHashSet<u64> = left.iter().map(|told| told.hash).collect();
        let counted = counted(&left, log);
        for (item, hash) in items.into_iter().zip(hashes).skip(known) {
            // A compaction keeps messages behind its summary: they are the same ones, not new ones.
            let again = before.contains(&hash).then(|| left.iter().position(|told| told.hash == hash)).flatten();
            let told = again.and_then(|at| left.drain(..=at).next_back()).unwrap_or_else(|| {
                let told = self.reader.message(line, item, hash, chain, found.time, log);
                mark_repeats(&counted, told, log);
                told
            });
            chain.push(told);
        }
        if n == 0 {
            let (range, list) = (body.range(), list.range());
            let line_len = u32::try_from(line.bytes.len()).unwrap_or(u32::MAX);
            let (segment, offset, line) = (line.segment, line.offset, line.number);
            self.body = Some(Place { segment, offset, line, line_len, body: range, list });
            self.facts.model = body.get_str("model").map(std::borrow::Cow::into_owned).or(self.facts.model.take());
        }
    }

    /// The conversation that a request with this list goes on with; a new one if none fits.
    fn route(&mut self, hashes: &[u64], lead: usize, tools: bool, system: u64, log: &mut Log) -> usize {
        let found = chain::find(&self.chains, hashes, lead, tools, system);
        if let Some(n) = found {
            return n;
        }
        // A question for a title may come before the first real request.
        if let Some(main) = self.chains.first_mut().filter(|main| tools && !main.tools && main.calls == 0) {
            main.tools = true;
            main.system = system;
            return 0;
        }
        let lane = if self.chains.is_empty() {
            LaneId::MAIN
        } else {
            log.lane(&format!("conversation {}", self.chains.len() + 1))
        };
        self.chains.push(Chain::new(lane, tools, system));
        self.chains.len() - 1
    }

    /// Takes back what the list no longer holds.
    fn rewind(&mut self, n: usize, items: &[Raw<'_>], hashes: &[u64], line: u32, log: &mut Log) -> Vec<Told> {
        let Some(chain) = self.chains.get_mut(n) else { return Vec::new() };
        let same = chain::echoed(chain, items, hashes, log);
        let left = chain.cut(same);
        if left.is_empty() {
            return left;
        }
        self.stale |= n == 0;
        let shorter = hashes.len() < same + left.len();
        let text = if hashes.len() == same {
            format!("The request goes back: {} messages of the one before are not in it.", left.len())
        } else if shorter {
            if n == 0 {
                log.boundaries.push(Boundary { line, before: None, automatic: true });
            }
            format!(
                "The request holds {} messages where {} were: a compaction, or a rewind.",
                hashes.len(),
                same + left.len()
            )
        } else {
            format!("{} messages of the request before say something else in this one.", left.len())
        };
        log.note(NoteKind::Format, line, text);
        left
    }

    /// One message outside of a request: an item of a list, or a response.
    fn message(&mut self, line: &Line<'_>, item: Raw<'_>, time: Millis, log: &mut Log) {
        self.begin();
        let hash = chain::hash(self.dialect, item);
        let Some(chain) = self.chains.get_mut(self.current) else { return };
        let told = self.reader.message(line, item, hash, chain, time, log);
        chain.push(told);
    }

    /// What was measured of the newest response.
    fn usage(&mut self, found: &Found<'_>, log: &mut Log) {
        let Some(chain) = self.chains.get(self.current) else { return };
        let (Some((input, output)), Some(record)) = (found.usage(self.dialect), chain.newest()) else { return };
        let lane = chain.lane;
        log.usage.push(Usage { record, lane, input, output, window: None, estimated: false });
    }

    /// A request failed: until another one is sent it is being tried again.
    fn failed(&mut self, line: &Line<'_>, error: Raw<'_>, time: Millis, log: &mut Log) {
        let newest = self.chains.get(self.current).and_then(Chain::newest);
        log.push(Record { time, tokens: 0, ..line.record(Kind::Notice, error) });
        if self.current != 0 {
            return;
        }
        let id = log.syms.intern("model-request");
        let at = newest.unwrap_or_else(|| log.next_id().saturating_sub(1));
        log.event_at(at, Event::RetryOpen(id));
        self.failed_at.push(at);
        self.errors.push((line.segment, line.offset, error.range()));
    }

    /// A response came, or another request was sent: what failed before is over. It is told where the failure is, so that
    /// both leave the context together.
    fn settled(&mut self, log: &mut Log) {
        self.errors.clear();
        for at in std::mem::take(&mut self.failed_at) {
            let id = log.syms.intern("model-request");
            log.event_at(at, Event::RetrySettled(id));
        }
    }

    fn sent(&self) -> impl Iterator<Item = RecordId> {
        self.chains.first().into_iter().flat_map(Chain::sent)
    }
}

/// Calls and results of messages.
fn counted(told: &[Told], log: &Log) -> FxHashSet<(Kind, Option<Sym>)> {
    told.iter()
        .flat_map(|told| log.records.get(told.range()).unwrap_or_default())
        .filter(|record| record.kind == Kind::Call || record.kind.is_resolution())
        .map(|record| (record.kind, record.id))
        .collect()
}

/// A message that is said anew with a change repeats calls and results that were counted in its older form.
fn mark_repeats(counted: &FxHashSet<(Kind, Option<Sym>)>, told: Told, log: &mut Log) {
    for record in log.records.get_mut(told.range()).unwrap_or_default() {
        if counted.contains(&(record.kind, record.id)) {
            record.flags = record.flags.with(Flags::REPEAT);
        }
    }
}

impl Adapter for OpenAi {
    fn format(&self) -> Format {
        match self.dialect {
            Dialect::Chat => Format::OpenAiChat,
            Dialect::Responses => Format::OpenAiResponses,
        }
    }

    fn capability(&self) -> Capability {
        let mut hides =
            vec!["A log of requests shows an open call one request late, unless it holds the responses too."];
        match self.dialect {
            Dialect::Chat => hides.push("Nothing tells an error of a tool from a success."),
            Dialect::Responses => {
                hides.push("An open call waits for approval or was given up; nothing tells which.");
                hides.push("An item `compaction` is opaque: it is kept, and its size is not counted.");
            }
        }
        if self.remote {
            hides.push("The provider keeps a part of this conversation: what is open there is in no file.");
        }
        Capability {
            shows_open: true,
            shows_results: true,
            ids: Ids::Repeat,
            usage: true,
            window: false,
            lock: false,
            reexecutes: false,
            late_results: LateResults::Unknown,
            commits: &[Commit::Fork],
            hides,
        }
    }

    fn counting(&self) -> Counting {
        Counting::ByInstance
    }

    fn line(&mut self, line: &Line<'_>, log: &mut Log) {
        if log.lanes.is_empty() {
            log.lane("main");
        }
        self.in_document |= line.in_document;
        let found = Found::of(line.value, self.dialect);
        if let Some((body, list)) = found.request {
            self.request(line, &found, body, list, log);
        }
        for item in found.messages() {
            self.message(line, item, found.time, log);
        }
        if self.current == 0 && (found.request.is_some() || found.response.is_some() || found.item.is_some()) {
            self.settled(log);
        }
        self.usage(&found, log);
        if let Some(model) = found.response.and_then(|response| response.get_str("model")) {
            self.facts.model = Some(model.into_owned());
        }
        if let Some(error) = found.error {
            self.failed(line, error, found.time, log);
        }
        if found.is_nothing() {
            log.not_understood += 1;
            log.note(NoteKind::NotUnderstood, line.number, "Neither a message nor a request; it is kept as it is.");
            log.push(Record { time: found.time, ..line.record(Kind::Opaque, line.value) });
        }
    }

    fn context(&mut self, _log: &mut Log) -> &mut Context {
        let restarted = self.chains.first_mut().is_some_and(|chain| std::mem::take(&mut chain.restarted));
        if std::mem::take(&mut self.stale) || restarted {
            let mut next = Context::default();
            self.sent().for_each(|id| next.push(Slot::record(id)));
            self.context.replace(next);
        } else {
            let new: Vec<RecordId> = self.sent().skip(self.placed).collect();
            for id in new {
                self.context.push(Slot::record(id));
            }
        }
        self.placed = self.context.len();
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
        let told = self.chains.first().map_or(&[][..], |chain| &chain.told);
        let Self { dialect, body, in_document, remote, .. } = *self;
        write::fork(order, &write::Source { dialect, told, body, errors: &self.errors, in_document, remote })
    }
}
