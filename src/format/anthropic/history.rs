//! Logs of requests: each carries the whole history again, and the newest one is the context.

use rustc_hash::FxHashSet;

use super::{Anthropic, Shape, Spot, message::Base, parts::Parts, same};
use crate::{
    format::{Line, json::Raw, text_weight},
    model::{Boundary, Event, Flags, Kind, LaneId, Log, NoteKind, Record, RecordId, Sym, Usage},
};

/// One conversation of a log.
#[derive(Default)]
pub(super) struct Thread {
    pub(super) lane: LaneId,
    /// The newest list, by numbers of messages, the newest response last.
    pub(super) live: Vec<usize>,
    /// What each says.
    pub(super) keys: Vec<u128>,
    /// What was ever said in it.
    seen: FxHashSet<u128>,
    ids: FxHashSet<(bool, Sym)>,
    /// Of system prompt and tools.
    frame: (u128, u128),
    tools: bool,
    /// The newest request, and the list in it.
    pub(super) body: Option<(Spot, Spot)>,
}

impl Thread {
    pub(super) fn new(lane: LaneId) -> Self {
        Self { lane, ..Self::default() }
    }

    /// Leading messages that are the same as in the newest list.
    fn common(&self, keys: &[u128]) -> usize {
        self.keys.iter().zip(keys).take_while(|(a, b)| a == b).count()
    }
}

/// A list as it was sent.
struct Sent<'a> {
    body: Raw<'a>,
    list: Raw<'a>,
    messages: Vec<Raw<'a>>,
    keys: Vec<u128>,
    frame: (u128, u128),
    tools: bool,
}

impl<'a> Sent<'a> {
    fn of(body: Raw<'a>) -> Option<Self> {
        let list = body.get("messages")?;
        let messages: Vec<Raw<'a>> = list.items().collect();
        let keys = messages.iter().map(|message| same::key(*message)).collect();
        let tools = body.get("tools").filter(|tools| tools.items().next().is_some());
        let frame = (same::value_key(body.get("system")), same::value_key(tools));
        Some(Self { body, list, messages, keys, frame, tools: tools.is_some() })
    }
}

impl Anthropic {
    /// A request, its response, or both.
    pub(super) fn exchange(
        &mut self,
        parts: &Parts<'_>,
        request: Option<Raw<'_>>,
        answer: Option<Raw<'_>>,
        line: &Line<'_>,
        log: &mut Log,
    ) {
        self.shape = Shape::Bodies;
        let thread = match request.and_then(Sent::of) {
            Some(sent) => self.request(&sent, parts, line, log),
            None => self.main,
        };
        let Some(lane) = self.threads.get(thread).map(|thread| thread.lane) else { return };
        if let Some(answer) = answer {
            let first = log.next_id();
            let base = Base { time: parts.time, lane, response: true, ..Base::default() };
            self.add(thread, answer, base, line, log);
            self.usage(answer.get("usage"), lane, log);
            if lane == LaneId::MAIN {
                self.model(answer.get("model"));
            }
            if lane == LaneId::MAIN
                && !std::mem::take(&mut self.errors).is_empty()
                && let Some(record) = log.records.get_mut(first as usize)
            {
                record.flags = record.flags.with(Flags::SETTLES_RETRY);
            }
        } else if let Some(error) = parts.error {
            let record = Record { time: parts.time, lane, tokens: 0, ..line.record(Kind::Notice, error) };
            let at = log.push(record);
            self.failed(at, Spot::of(line, error), thread, log);
        }
    }

    /// A request failed: until one is answered it is being tried again.
    fn failed(&mut self, at: RecordId, error: Spot, thread: usize, log: &mut Log) {
        if thread != self.main {
            return;
        }
        self.errors.push(error);
        let id = log.syms.intern("api-error");
        // The notice is no part of the list; what was sent last is: its words, or its first result, because behind the
        // results a given-up call may be answered.
        let records =
            self.live().last().and_then(|n| self.messages.get(*n)).map_or(at..at + 1, super::Message::records);
        let words = |id: &RecordId| log.records.get(*id as usize).is_some_and(|record| !record.kind.is_resolution());
        let newest = records.clone().last().filter(words).unwrap_or(records.start);
        log.event_at(newest, Event::RetryOpen(id));
    }

    /// Takes what is new in a request and gives the number of its conversation.
    fn request(&mut self, sent: &Sent<'_>, parts: &Parts<'_>, line: &Line<'_>, log: &mut Log) -> usize {
        let n = self.thread_of(sent, log);
        let Some(thread) = self.threads.get_mut(n) else { return n };
        let common = thread.common(&sent.keys);
        let (before, first) = (thread.live.len(), thread.body.is_none());
        let common = echoed(thread, &self.messages, sent, common, log);
        // A response that the client did not take up is no turn.
        let answered = thread.live.last().and_then(|n| self.messages.get(*n)).is_some_and(|message| message.response);
        let taken_back = common + usize::from(answered) < before;
        let goes_back = taken_back && common == sent.keys.len();
        let shrinks = taken_back && !goes_back && (common == 0 || sent.keys.len() < before);
        if shrinks && n == self.main {
            log.boundaries.push(Boundary { line: line.number, before: None, automatic: true });
            let gone = before - common;
            let text = format!("The list is another one than before: a compaction, or a rewind, of {gone} messages.");
            log.note(NoteKind::Format, line.number, text);
        } else if goes_back && n == self.main {
            let text = format!("This request goes back behind {} messages of the one before.", before - common);
            log.note(NoteKind::Format, line.number, text);
        }
        if common < before {
            self.swallowed(n, common, sent, line, log);
        }
        let Some(thread) = self.threads.get_mut(n) else { return n };
        let lane = thread.lane;
        thread.live.truncate(common);
        thread.keys.truncate(common);
        thread.frame = sent.frame;
        thread.tools |= sent.tools;
        thread.body = Some((Spot::of(line, sent.body), Spot::of(line, sent.list)));
        if n == self.main {
            self.stale |= common < self.placed;
            self.placed = self.placed.min(common);
            self.model(sent.body.get("model"));
        }
        // Another request than the one that failed: the attempts are over, whatever became of them.
        let over =
            n == self.main && sent.keys.len().max(before) > common && !std::mem::take(&mut self.errors).is_empty();
        let fresh = log.next_id();
        for (message, key) in sent.messages.iter().zip(&sent.keys).skip(common) {
            let known = self.threads.get(n).is_some_and(|thread| thread.seen.contains(key));
            let flags = Flags::NONE.with_if(Flags::REPEAT, known);
            self.add(n, *message, Base { time: parts.time, lane, flags, ..Base::default() }, line, log);
            if (first || shrinks) && self.live().len() == 1 && n == self.main && !self.measured {
                frame_weight(sent.body, log);
            }
        }
        if let Some(record) = log.records.get_mut(fresh as usize).filter(|_| over) {
            record.flags = record.flags.with(Flags::SETTLES_RETRY);
        }
        n
    }

    /// A message at the end of a conversation.
    fn add(&mut self, n: usize, message: Raw<'_>, base: Base, line: &Line<'_>, log: &mut Log) {
        let number = self.take(message, line, base, log);
        let key = same::key(message);
        let records = self.messages.get(number).map_or(0..0, super::Message::records);
        let Some(thread) = self.threads.get_mut(n) else { return };
        thread.live.push(number);
        thread.keys.push(key);
        thread.seen.insert(key);
        for id in records {
            let Some(record) = log.records.get_mut(id as usize) else { continue };
            let Some(sym) = record.id else { continue };
            // The same call in other words: a list that was rewritten round it.
            if !thread.ids.insert((record.kind == Kind::Call, sym)) {
                record.flags = record.flags.with(Flags::REPEAT);
            }
        }
    }

    /// The conversation that a request belongs to: the one it shares most with; else one whose words it repeats, or
    /// whose system prompt and tools it has; else a new one.
    fn thread_of(&mut self, sent: &Sent<'_>, log: &mut Log) -> usize {
        let common = |thread: &Thread| thread.common(&sent.keys);
        let most = self.threads.iter().enumerate().max_by_key(|(n, thread)| (common(thread), usize::MAX - n));
        // A first message alone says little: a title is asked for with the same one, in another frame.
        let framed = |thread: &Thread| thread.frame.0 == sent.frame.0 || thread.frame.1 == sent.frame.1;
        let same = |thread: &Thread| common(thread) > 1 || (common(thread) == 1 && framed(thread));
        if let Some((n, _)) = most.filter(|(_, thread)| same(thread)) {
            return n;
        }
        let tail = sent.keys.get(1..).unwrap_or_default();
        let repeats = |thread: &Thread| tail.iter().any(|key| thread.seen.contains(key)) || thread.frame == sent.frame;
        if let Some(n) = self.threads.iter().position(repeats) {
            return n;
        }
        let n = self.threads.len();
        let lane = if n == 0 { LaneId::MAIN } else { log.lane(&format!("conversation {}", n + 1)) };
        self.threads.push(Thread::new(lane));
        // A title or a topic is asked for without tools, often before the first request of the work itself.
        if n > 0 && sent.tools && self.threads.get(self.main).is_some_and(|thread| !thread.tools) {
            self.swap_main(n, log);
        }
        n
    }

    /// Makes conversation `n` the main one.
    fn swap_main(&mut self, n: usize, log: &mut Log) {
        let old = self.main;
        let Some(lane) = self.threads.get(n).map(|thread| thread.lane) else { return };
        for record in log.records.iter_mut().filter(|record| record.lane == LaneId::MAIN) {
            record.lane = lane;
        }
        for usage in log.usage.iter_mut().filter(|usage| usage.lane == LaneId::MAIN) {
            usage.lane = lane;
        }
        if let Some(thread) = self.threads.get_mut(old) {
            thread.lane = lane;
        }
        if let Some(thread) = self.threads.get_mut(n) {
            thread.lane = LaneId::MAIN;
        }
        self.main = n;
        self.placed = 0;
        self.stale = true;
    }

    /// Names calls that were open and are gone with what a request took back.
    fn swallowed(&self, n: usize, common: usize, sent: &Sent<'_>, line: &Line<'_>, log: &mut Log) {
        let Some(thread) = self.threads.get(n) else { return };
        let gone = thread.live.iter().skip(common).filter_map(|n| self.messages.get(*n));
        let kept: FxHashSet<u128> = sent.keys.iter().copied().collect();
        let gone = gone.zip(thread.keys.iter().skip(common)).filter(|(_, key)| !kept.contains(key));
        let mut open: Vec<Sym> = Vec::new();
        for (message, _) in gone.filter(|(message, _)| !message.response) {
            for record in message.records().filter_map(|id| log.records.get(id as usize)) {
                match record.kind {
                    Kind::Call if !record.flags.has(Flags::SERVER) => open.extend(record.id),
                    kind if kind.is_resolution() => open.retain(|id| Some(*id) != record.id),
                    _ => {}
                }
            }
        }
        for id in open {
            let text = format!("A request takes back a call that was open: {}", log.syms.name(id));
            log.note(NoteKind::Swallowed, line.number, text);
        }
    }
}

/// Clients send a response back in words of their own (fields left out): the same calls at the same place are the same
/// message.
fn echoed(thread: &mut Thread, messages: &[super::Message], sent: &Sent<'_>, common: usize, log: &Log) -> usize {
    let last = thread.live.len().checked_sub(1).filter(|last| *last == common);
    let Some(message) = last.and_then(|last| messages.get(*thread.live.get(last)?)).filter(|m| m.response) else {
        return common;
    };
    let Some(echo) = sent.messages.get(common).filter(|echo| echo.field_is("role", "assistant")) else { return common };
    let calls = message.records().filter_map(|id| log.records.get(id as usize));
    let calls: Vec<&str> = calls
        .filter(|record| record.kind == Kind::Call)
        .filter_map(|record| record.id.map(|id| log.syms.name(id)))
        .collect();
    let blocks = echo.get("content").into_iter().flat_map(Raw::items);
    let sent_ids: Vec<String> = blocks
        .filter(|block| block.get("input").is_some())
        .filter_map(|b| Some(b.get_str("id")?.into_owned()))
        .collect();
    if calls.is_empty() || calls != sent_ids {
        return common;
    }
    if let (Some(key), Some(own)) = (sent.keys.get(common), thread.keys.get_mut(common)) {
        *own = *key;
        thread.seen.insert(*key);
    }
    let rest = thread.keys.iter().zip(&sent.keys).take_while(|(a, b)| a == b).count();
    rest.max(common + 1)
}

/// What a request carries beside its messages stands in no record: estimated where nothing is measured.
fn frame_weight(body: Raw<'_>, log: &mut Log) {
    let weight = |name: &str| body.get(name).map_or(0, |value| u64::from(text_weight(value).tokens));
    let record = log.next_id().saturating_sub(1);
    let first = log.records.iter().rev().take_while(|r| r.line == log.records.last().map_or(0, |last| last.line));
    let said: u64 = first.map(|record| u64::from(record.tokens)).sum();
    let input = weight("system") + weight("tools") + said;
    log.usage.push(Usage { record, lane: LaneId::MAIN, input, output: 0, window: None, estimated: true });
}
