//! A new file of the same shape: a list stays a list, lines stay lines, and of a log the newest request is written with
//! what was answered to it.
//!
//! The API's rules: the first message is the user's; every call of a response is answered in the user message directly
//! after it, all results before any text. So what was given up goes into that message, and into one of its own only where
//! there is none; and the summary becomes the first text of the user message behind it, where there is one.

use rustc_hash::FxHashMap;

use super::{
    Anthropic, Entry, Shape, Spot,
    message::{Message, Role},
    parts::Parts,
};
use crate::{
    format::{
        Act, ForkError, ForkOrder, Forked, Origin,
        fork::{Edits, quoted, zero},
        json::Raw,
    },
    model::RecordId,
};

/// A block that the source does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum New {
    Summary,
    Settled(usize),
}

/// A message of the source in the new file.
struct Kept {
    message: Message,
    /// Its blocks that stay, with where they come from.
    origins: Vec<(RecordId, Origin)>,
    /// Some of its blocks do not stay; only a draft of an illegal cut has such.
    partial: bool,
    /// Put in behind its leading results.
    before: Vec<New>,
    /// Put in behind its last block.
    after: Vec<New>,
}

/// What the new file holds, in order.
enum Out {
    Foreign(Spot),
    Kept(Kept),
    /// A user message of new blocks.
    New(Vec<New>),
}

pub(super) fn fork(source: &Anthropic, order: &ForkOrder<'_>) -> Result<Forked, ForkError> {
    if let Some(wish) = order.settle.iter().find(|wish| !matches!(wish.act, Act::Abandon | Act::Reset)) {
        return Err(ForkError::CannotSay { act: wish.act.name(), id: wish.id.clone() });
    }
    let session = order.minted.uuid4("session");
    let mut out = Forked { document: source.in_document, envelope: &["cache_control"], ..Forked::default() };
    if source.in_document {
        let stem = Some(&*source.stem).filter(|stem| !stem.is_empty()).unwrap_or("session");
        out.name = format!("{stem}.{}.json", session.chars().take(8).collect::<String>());
    }
    out.session = session;
    let outs = Plan::of(source, order)?.outs(&mut out);
    let writer = Writer { source, order, marked: marked(source, &outs) };
    match source.shape {
        Shape::Lines => writer.lines(&outs, &mut out)?,
        Shape::Array => writer.array(&outs, &mut out)?,
        Shape::Bodies => writer.body(&outs, &mut out)?,
    }
    Ok(out)
}

/// A request may mark four blocks for the cache. Messages of different requests of a log may together have more.
fn marked(source: &Anthropic, outs: &[Out]) -> bool {
    let mut places = outs.iter().filter_map(|out| match out {
        Out::Kept(kept) => Some(kept.message.whole.offset),
        _ => None,
    });
    let first = places.next();
    source.shape == Shape::Bodies && places.any(|place| Some(place) != first)
}

/// Decides what is written, in order.
struct Plan<'a> {
    order: &'a ForkOrder<'a>,
    positions: FxHashMap<RecordId, usize>,
    outs: Vec<Out>,
    pending: Vec<New>,
    /// The summary has its place.
    told: bool,
    left_out: usize,
}

impl<'a> Plan<'a> {
    fn of(source: &'a Anthropic, order: &'a ForkOrder<'a>) -> Result<Self, ForkError> {
        let slots = order.context.slots().iter().enumerate();
        let positions = slots.filter_map(|(at, slot)| Some((slot.id()?, at))).collect();
        let told = order.summary.is_none();
        let mut plan = Self { order, positions, outs: Vec::new(), pending: Vec::new(), told, left_out: 0 };
        let entries: Vec<Entry> = match source.shape {
            Shape::Bodies => source.live().iter().copied().map(Entry::Message).collect(),
            Shape::Lines | Shape::Array => source.entries.clone(),
        };
        // Behind the newest place of the context that was passed; before the first message nothing was.
        let mut passed = None;
        let mut head = true;
        for entry in entries {
            match entry {
                Entry::Foreign(spot) => {
                    let inside = passed.is_some_and(|at| at >= order.from && at + 1 < order.to);
                    if inside { plan.left_out += 1 } else { plan.outs.push(Out::Foreign(spot)) }
                }
                Entry::Message(n) => {
                    let Some(message) = source.messages.get(n).copied() else { continue };
                    head &= message.role == Role::System;
                    plan.message(message, head)?;
                    passed = message.records().filter_map(|id| plan.positions.get(&id).copied()).max().or(passed);
                }
            }
        }
        if !plan.told {
            plan.pending.push(New::Summary);
        }
        plan.flush();
        Ok(plan)
    }

    fn outs(self, out: &mut Forked) -> Vec<Out> {
        out.left_out = self.left_out;
        self.outs
    }

    /// `head`: only system messages stand before it; they are written again if the span takes them in.
    fn message(&mut self, message: Message, head: bool) -> Result<(), ForkError> {
        let order = self.order;
        let cut = order.from..order.to;
        let mut origins = Vec::new();
        let mut inside = false;
        for id in message.records() {
            match self.positions.get(&id).copied() {
                Some(at) if !cut.contains(&at) => origins.push((id, Origin::Kept(at))),
                Some(at) => {
                    inside = true;
                    if head {
                        origins.push((id, Origin::Repeated(at)));
                    }
                }
                // Before a compaction block of the server's: no context, and kept as long as that block is.
                None if order.from > 0 || order.summary.is_none() => {}
                None => inside = true,
            }
        }
        let reached = message.records().filter_map(|id| self.positions.get(&id)).any(|at| *at >= order.from);
        if !self.told && reached && !head {
            self.told = true;
            self.pending.push(New::Summary);
        }
        if inside && origins.is_empty() {
            self.left_out += usize::from(!reached);
            return Ok(());
        }
        let calls: Vec<usize> = origins.iter().filter_map(|(_, origin)| kept_at(*origin)).collect();
        let partial = inside && !head;
        let mut kept = Kept { message, origins, partial, before: Vec::new(), after: Vec::new() };
        self.place_before(&mut kept)?;
        self.outs.push(Out::Kept(kept));
        let settled = order.settle.iter().enumerate().filter(|(_, wish)| wish.act == Act::Abandon);
        self.pending.extend(settled.filter(|(_, wish)| calls.contains(&wish.at)).map(|(n, _)| New::Settled(n)));
        Ok(())
    }

    /// Puts what waits before `kept`: into it, if it is the user's.
    fn place_before(&mut self, kept: &mut Kept) -> Result<(), ForkError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let fits = kept.message.role == Role::User && !kept.partial;
        let text = self.pending.contains(&New::Summary);
        if fits && !(text && leading_results(&read(self.order, kept.message.spot)?) > 0) {
            kept.before = std::mem::take(&mut self.pending);
        } else {
            self.flush();
        }
        Ok(())
    }

    /// Puts what waits behind what is there: the summary into a user message that ends there.
    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return;
        }
        match self.outs.last_mut() {
            Some(Out::Kept(kept))
                if kept.message.role == Role::User && !kept.partial && pending.as_slice() == [New::Summary] =>
            {
                kept.after = pending;
            }
            _ => self.outs.push(Out::New(pending)),
        }
    }
}

fn kept_at(origin: Origin) -> Option<usize> {
    match origin {
        Origin::Kept(at) => Some(at),
        _ => None,
    }
}

/// The bytes of a value of the source.
fn read(order: &ForkOrder<'_>, spot: Spot) -> Result<Vec<u8>, ForkError> {
    order.payload.read(spot.segment, spot.start(), spot.len).ok_or(ForkError::Gone(spot.line))
}

/// How many results begin the content of the message that `bytes` are.
fn leading_results(bytes: &[u8]) -> usize {
    let content = Raw::parse(bytes).ok().and_then(|message| message.get("content"));
    let blocks = content.into_iter().flat_map(Raw::items);
    blocks.take_while(|block| block.field_is("type", "tool_result")).count()
}

struct Writer<'a> {
    source: &'a Anthropic,
    order: &'a ForkOrder<'a>,
    /// Cache marks are left out.
    marked: bool,
}

impl Writer<'_> {
    fn lines(&self, outs: &[Out], to: &mut Forked) -> Result<(), ForkError> {
        for out in outs {
            let origins = self.out(out, to)?;
            to.end_line(origins);
        }
        Ok(())
    }

    /// What stands before the first item and between the first two is the style of the list.
    fn array(&self, outs: &[Out], to: &mut Forked) -> Result<(), ForkError> {
        let places: Vec<(u64, u64)> =
            self.source.entries.iter().take(2).filter_map(|entry| self.extent(entry)).collect();
        let first = places.first().map_or(0, |(start, _)| *start);
        let gap = |from: u64, until: u64| {
            let len = u32::try_from(until.saturating_sub(from)).unwrap_or(u32::MAX);
            self.order.payload.read(0, from, len).ok_or(ForkError::Gone(1))
        };
        let head = gap(0, first)?;
        let between = match *places.as_slice() {
            [(_, end), (next, _)] => gap(end, next)?,
            _ => [b",".as_slice(), head.rsplit(|byte| *byte == b'[').next().unwrap_or_default()].concat(),
        };
        let plain = between.trim_ascii() == b",";
        to.rope.write(&head);
        let mut origins = Vec::new();
        for (n, out) in outs.iter().enumerate() {
            if n > 0 {
                to.rope.write(if plain { between.as_slice() } else { b"," });
            }
            origins.extend(self.out(out, to)?);
        }
        to.rope.write(if head.contains(&b'\n') { "\n]" } else { "]" });
        to.end_line(origins);
        Ok(())
    }

    /// Start and end of an item.
    fn extent(&self, entry: &Entry) -> Option<(u64, u64)> {
        let spot = match entry {
            Entry::Message(n) => self.source.messages.get(*n)?.whole,
            Entry::Foreign(spot) => *spot,
        };
        Some((spot.start(), spot.start() + u64::from(spot.len)))
    }

    /// The newest request with another list.
    fn body(&self, outs: &[Out], to: &mut Forked) -> Result<(), ForkError> {
        let unfit = || ForkError::Unfit("The log holds no request that a new one could be made from.".to_string());
        let (body, list) =
            self.source.threads.get(self.source.main).and_then(|thread| thread.body).ok_or_else(unfit)?;
        let clip = |from: u64, until: u64| u32::try_from(until.saturating_sub(from)).unwrap_or(u32::MAX);
        to.rope.copy(body.segment, body.start(), clip(body.start(), list.start()));
        to.rope.write("[");
        let mut origins = Vec::new();
        for (n, out) in outs.iter().enumerate() {
            if n > 0 {
                to.rope.write(",");
            }
            origins.extend(self.out(out, to)?);
        }
        to.rope.write("]");
        let end = list.start() + u64::from(list.len);
        to.rope.copy(body.segment, end, clip(end, body.start() + u64::from(body.len)));
        to.end_line(origins);
        // Attempts that failed and were not answered yet still stand.
        let reset = self.order.settle.iter().any(|wish| wish.act == Act::Reset);
        let errors = if reset || to.document { &[] } else { self.source.errors.as_slice() };
        for spot in errors {
            to.rope.copy(spot.segment, spot.start(), spot.len);
            to.end_line(Vec::new());
        }
        to.left_out = (self.order.log.lines as usize).saturating_sub(to.lines.len());
        to.told.push(
            "A log is told again with every request: only the newest request is written, with what was answered to it."
                .to_string(),
        );
        Ok(())
    }

    /// Writes one item and gives its origins in the order of its bytes.
    fn out(&self, out: &Out, to: &mut Forked) -> Result<Vec<Origin>, ForkError> {
        match out {
            Out::Foreign(spot) => {
                to.rope.copy(spot.segment, spot.start(), spot.len);
                Ok(Vec::new())
            }
            Out::New(blocks) => {
                to.rope.write(format!("{{\"role\":\"user\",\"content\":[{}]}}", self.blocks(blocks)));
                Ok(origins(blocks))
            }
            Out::Kept(kept) if kept.partial => self.rest(kept, to),
            Out::Kept(kept) => self.kept(kept, to),
        }
    }

    fn kept(&self, kept: &Kept, to: &mut Forked) -> Result<Vec<Origin>, ForkError> {
        let Message { whole, spot, response, .. } = kept.message;
        // Of a log the message alone is written, of anything else the line or item that it is in.
        let place = if self.source.shape == Shape::Bodies { spot } else { whole };
        let gone = || ForkError::Gone(place.line);
        let bytes = read(self.order, place)?;
        let value = Raw::parse(&bytes).ok().ok_or_else(gone)?;
        let message = Parts::of(value).answer.ok_or_else(gone)?;
        let content = message.get("content").ok_or_else(gone)?;
        if self.source.shape == Shape::Bodies && response {
            // A response has fields that no request may have.
            let (at, len) = content.range();
            to.rope.write("{\"role\":\"assistant\",\"content\":");
            to.rope.copy(place.segment, place.start() + u64::from(at), len);
            to.rope.write("}");
            return Ok(kept.origins.iter().map(|(_, origin)| *origin).collect());
        }
        let mut edits = Edits::default();
        let results = content.items().take_while(|block| block.field_is("type", "tool_result")).count();
        self.insert(kept, content, results, &mut edits);
        if self.marked {
            content.items().for_each(|block| unmark(block, &mut edits));
        }
        if self.order.summary.is_some() {
            // Numbers of the old context would speak of the new one.
            let stale = [value.get("usage"), message.get("usage").filter(|_| message.range() != value.range())];
            stale.into_iter().flatten().for_each(|usage| zero(usage, &mut edits));
        }
        edits.apply(value, place.segment, place.start(), &mut to.rope);
        let own: Vec<Origin> = kept.origins.iter().map(|(_, origin)| *origin).collect();
        let (first, rest) = own.split_at(results.min(own.len()));
        Ok([first, &origins(&kept.before), rest, &origins(&kept.after)].concat())
    }

    /// Puts new blocks into the content of a user message, results first.
    fn insert(&self, kept: &Kept, content: Raw<'_>, results: usize, edits: &mut Edits) {
        let (start, len) = content.range();
        let (before, after) = (self.blocks(&kept.before), self.blocks(&kept.after));
        if before.is_empty() && after.is_empty() {
            return;
        }
        let comma = |text: &str| if text.is_empty() { "" } else { "," };
        if content.is_string() {
            edits.replace((start, 0), format!("[{before}{}{{\"type\":\"text\",\"text\":", comma(&before)));
            edits.replace((start + len, 0), format!("}}{}{after}]", comma(&after)));
            return;
        }
        let end = |block: Raw<'_>| block.range().0 + block.range().1;
        if !before.is_empty() {
            match (content.items().nth(results), content.items().last()) {
                (Some(block), _) => edits.replace((block.range().0, 0), format!("{before},")),
                (None, Some(last)) => edits.replace((end(last), 0), format!(",{before}")),
                (None, None) => edits.replace((start + 1, 0), before),
            }
        }
        if !after.is_empty() {
            match content.items().last() {
                Some(last) => edits.replace((end(last), 0), format!(",{after}")),
                None => edits.replace((start + 1, 0), after),
            }
        }
    }

    /// What stays of a message that the span splits.
    fn rest(&self, kept: &Kept, to: &mut Forked) -> Result<Vec<Origin>, ForkError> {
        let role = match kept.message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        };
        to.rope.write(format!("{{\"role\":\"{role}\",\"content\":["));
        for (n, (id, _)) in kept.origins.iter().enumerate() {
            let gone = || ForkError::Gone(kept.message.spot.line);
            let record = self.order.log.records.get(*id as usize).ok_or_else(gone)?;
            let at = record.offset + u64::from(record.at);
            let first = self.order.payload.read(record.segment, at, 1).ok_or_else(gone)?;
            let text = first == b"\"";
            to.rope.write(if n > 0 { "," } else { "" });
            to.rope.write(if text { "{\"type\":\"text\",\"text\":" } else { "" });
            to.rope.copy(record.segment, at, record.len);
            to.rope.write(if text { "}" } else { "" });
        }
        to.rope.write("]}");
        Ok(kept.origins.iter().map(|(_, origin)| *origin).collect())
    }

    fn blocks(&self, blocks: &[New]) -> String {
        let blocks = blocks.iter().filter_map(|block| match block {
            New::Summary => {
                Some(format!("{{\"type\":\"text\",\"text\":{}}}", quoted(self.order.summary.unwrap_or_default())))
            }
            New::Settled(n) => {
                let wish = self.order.settle.get(*n)?;
                let (id, text) = (quoted(&wish.id), quoted(&wish.text()));
                Some(format!("{{\"type\":\"tool_result\",\"tool_use_id\":{id},\"is_error\":true,\"content\":{text}}}"))
            }
        });
        blocks.collect::<Vec<_>>().join(",")
    }
}

fn origins(blocks: &[New]) -> Vec<Origin> {
    let of = |block: &New| match block {
        New::Summary => Origin::Summary,
        New::Settled(n) => Origin::Settled(*n),
    };
    blocks.iter().map(of).collect()
}

/// Leaves the cache mark of a block out.
fn unmark(block: Raw<'_>, edits: &mut Edits) {
    if block.get("cache_control").is_none() {
        return;
    }
    let fields = block.fields().filter(|(key, _)| !key.is("cache_control"));
    let fields: Vec<Vec<u8>> =
        fields.map(|(key, value)| [quoted(&key.str()).as_bytes(), b":", value.bytes()].concat()).collect();
    edits.replace(block.range(), [b"{".as_slice(), &fields.join(b",".as_slice()), b"}"].concat());
}
