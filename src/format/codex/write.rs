//! A new thread file (recipe C): header, one event by which listings find it, and one `compacted` line that holds the
//! whole history. Where nothing is cut, the lines of the source with what was settled put in beside its call.
//!
//! What the client puts in anew at every resume (developer messages, instructions, environment) is left out: kept copies
//! would stand twice. The newest prompt is written again before the summary if the span swallows it: a history without
//! one was lost by clients (codex #43855).

use super::{
    head::Generation,
    line::pick,
    wrappers::{SUMMARY_PREFIX, text_of},
};
use crate::{
    format::{
        Act, ForkError, ForkOrder, Forked, Origin, Settle,
        fork::{Edits, line_of, quoted},
        json::Raw,
    },
    model::{Flags, Kind, Record, local_stamp, rfc3339},
};

/// Texts in the user's name that the client writes anew at every resume.
const RENEWED: [&str; 4] =
    ["# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<recommended_plugins>"];
/// Fields of a header that tie a file to the one it continues.
const TIES: [&str; 3] = ["history_base", "forked_from_ordinal_exclusive", "subagent_history_start_ordinal"];
/// Classes of calls by their number in a record, with the item that answers each.
const OUTPUTS: [(u8, &str); 2] =
    [(super::step::CUSTOM, "custom_tool_call_output"), (super::step::SEARCH, "tool_search_output")];

pub(super) fn fork(order: &ForkOrder<'_>, generation: Generation) -> Result<Forked, ForkError> {
    // No client resumes what was written before 0.32.
    if generation == Generation::G0 {
        return Err(ForkError::ReadOnly);
    }
    let session = order.minted.uuid7("thread");
    let stamp = local_stamp(order.minted.now, &order.minted.zone);
    let (day, time) = stamp.unwrap_or_default();
    let mut out = Forked {
        name: format!("rollout-{time}-{session}.jsonl"),
        day: Some(day),
        resume: ["codex", "resume"].map(str::to_string).into_iter().chain([session.clone()]).collect(),
        session,
        shelf: "sessions",
        envelope: &["ordinal"],
        ..Forked::default()
    };
    let mut writer = Writer { order, paginated: generation == Generation::G4, ordinal: 0 };
    writer.header(&mut out)?;
    if order.summary.is_some() {
        writer.prompt_event(&mut out)?;
        writer.compacted(&mut out)?;
        if !writer.paginated {
            writer.figures(&mut out);
        }
        out.left_out = (order.log.lines as usize).saturating_sub(1);
    } else {
        writer.lines(&mut out)?;
    }
    Ok(out)
}

struct Writer<'a> {
    order: &'a ForkOrder<'a>,
    paginated: bool,
    /// Of the next line.
    ordinal: u64,
}

impl Writer<'_> {
    fn time(&self) -> String {
        quoted(&rfc3339(self.order.minted.now).unwrap_or_default())
    }

    /// A new line of type `kind`.
    fn line(&mut self, kind: &str, payload: &str, origins: Vec<Origin>, out: &mut Forked) {
        let ordinal = self.next_ordinal().map_or(String::new(), |n| format!(",\"ordinal\":{n}"));
        let time = self.time();
        out.rope.write(format!("{{\"timestamp\":{time}{ordinal},\"type\":\"{kind}\",\"payload\":{payload}}}"));
        out.end_line(origins);
    }

    /// Paginated files number their lines without a gap; other files must not.
    fn next_ordinal(&mut self) -> Option<u64> {
        let ordinal = self.ordinal;
        self.ordinal += 1;
        self.paginated.then_some(ordinal)
    }

    /// The source's header under a new id.
    fn header(&mut self, out: &mut Forked) -> Result<(), ForkError> {
        let unfit = || ForkError::Unfit("The rollout has no header that a new one could be made from.".to_string());
        let record = self.order.log.records.iter().find(|record| record.segment == 0).ok_or_else(unfit)?;
        let line = line_of(self.order, record)?;
        let value = Raw::prefix(&line, first_value(&line)).ok().ok_or_else(unfit)?;
        let payload = value.get("payload").filter(|_| value.field_is("type", "session_meta")).ok_or_else(unfit)?;
        let id = quoted(&out.session);
        let old = payload.get("id").map_or("null".into(), |id| String::from_utf8_lossy(id.bytes()));
        let mut fields = vec![format!("\"id\":{id}"), format!("\"forked_from_id\":{old}")];
        for (key, field) in payload.fields() {
            let name = key.str();
            let text = match &*name {
                "id" | "forked_from_id" => continue,
                name if TIES.contains(&name) => continue,
                "session_id" => id.clone(),
                "timestamp" => self.time(),
                _ => String::from_utf8_lossy(field.bytes()).into_owned(),
            };
            fields.push(format!("{}:{text}", quoted(&name)));
        }
        self.line("session_meta", &format!("{{{}}}", fields.join(",")), Vec::new(), out);
        Ok(())
    }

    /// Without a prompt near its head a thread is invisible to listings.
    fn prompt_event(&mut self, out: &mut Forked) -> Result<(), ForkError> {
        let text = match self.newest_prompt() {
            Some(at) => self.prompt_text(at)?,
            None => String::new(),
        };
        let text = quoted(&text);
        let payload = if self.paginated {
            let minted = self.order.minted;
            let millis = minted.now.known().unwrap_or(0);
            format!(
                "{{\"type\":\"item_completed\",\"thread_id\":{},\"turn_id\":{},\"item\":{{\"type\":\"UserMessage\",\"id\":{},\
                 \"content\":[{{\"type\":\"text\",\"text\":{text},\"text_elements\":[]}}]}},\"completed_at_ms\":{millis}}}",
                quoted(&out.session),
                quoted(&minted.uuid7("turn")),
                quoted(&minted.uuid7("prompt")),
            )
        } else {
            format!(
                "{{\"type\":\"user_message\",\"message\":{text},\"images\":[],\"local_images\":[],\"text_elements\":[]}}"
            )
        };
        self.line("event_msg", &payload, Vec::new(), out);
        Ok(())
    }

    fn newest_prompt(&self) -> Option<usize> {
        (0..self.order.context.len()).rev().find(|at| self.written(*at).is_some_and(Record::is_prompt))
    }

    fn prompt_text(&self, at: usize) -> Result<String, ForkError> {
        let Some(record) = self.written(at) else { return Ok(String::new()) };
        let line = line_of(self.order, record)?;
        let item = Raw::prefix(&line, record.at as usize).ok();
        Ok(item.and_then(|item| item.get("content")).map(|content| text_of(content).into_owned()).unwrap_or_default())
    }

    /// The record at `position`, if it stands on a line.
    fn written(&self, position: usize) -> Option<&Record> {
        self.order.context.slots().get(position)?.id()?;
        self.order.context.get(self.order.log, position)
    }

    /// The line that holds the whole history.
    fn compacted(&mut self, out: &mut Forked) -> Result<(), ForkError> {
        let text = quoted(&format!("{SUMMARY_PREFIX}\n{}", self.order.summary.unwrap_or_default()));
        let ordinal = self.next_ordinal().map_or(String::new(), |n| format!(",\"ordinal\":{n}"));
        let time = self.time();
        out.rope.write(format!(
            "{{\"timestamp\":{time}{ordinal},\"type\":\"compacted\",\"payload\":{{\"message\":{text},\"replacement_history\":["
        ));
        let mut items = Items::default();
        let mut settle = self.order.settle.iter().enumerate().peekable();
        let (from, to) = (self.order.from, self.order.to);
        for at in 0..=self.order.context.len() {
            while let Some((n, wish)) = settle.next_if(|(_, wish)| wish.place <= at) {
                // What is settled inside the span is told by the summary.
                if wish.at < from || wish.at >= to {
                    items.begin(out);
                    out.rope.write(self.answer(wish)?);
                    items.origins.push(Origin::Settled(n));
                }
            }
            if at == from {
                self.summary(&text, &mut items, out);
            }
            if at >= from && at < to {
                continue;
            }
            let Some(record) = self.written(at) else {
                self.invented(at, &mut items, out);
                continue;
            };
            if self.is_renewed(record)? {
                out.renewed.push(at);
                continue;
            }
            self.item(record, &mut items, out)?;
            items.origins.push(Origin::Kept(at));
        }
        let window = if self.paginated {
            format!(",\"window_number\":1,\"window_id\":{}", quoted(&self.order.minted.uuid7("window")))
        } else {
            String::new()
        };
        out.rope.write(format!("]{window}}}}}"));
        out.end_line(items.origins);
        Ok(())
    }

    /// The client's own answer to a call that a request has gone over: in a new thread nothing would prove that request,
    /// so the answer is written down as the model has read it.
    fn invented(&self, at: usize, items: &mut Items, out: &mut Forked) {
        let Some(record) = self.order.context.get(self.order.log, at) else { return };
        let Some(id) = record.id.filter(|_| !record.flags.has(Flags::PROSPECTIVE)) else { return };
        items.begin(out);
        let text = quoted("aborted");
        out.rope.write(output(record.class, &quoted(self.order.log.syms.name(id)), &text));
        items.origins.push(Origin::Kept(at));
    }

    /// The summary, and before it the newest prompt, if the span holds that.
    fn summary(&self, text: &str, items: &mut Items, out: &mut Forked) {
        let inside = |at: &usize| (self.order.from..self.order.to).contains(at);
        if let Some(at) = self.newest_prompt().filter(inside)
            && let Some(record) = self.written(at)
        {
            items.begin(out);
            out.rope.copy(record.segment, record.offset + u64::from(record.at), record.len);
            items.origins.push(Origin::Repeated(at));
        }
        items.begin(out);
        out.rope.write(format!(
            "{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":{text}}}]}}"
        ));
        items.origins.push(Origin::Summary);
    }

    fn item(&self, record: &Record, items: &mut Items, out: &mut Forked) -> Result<(), ForkError> {
        let line = line_of(self.order, record)?;
        let item = Raw::prefix(&line, record.at as usize).ok();
        if item.and_then(|item| item.get("type")).is_none() {
            let text = format!("Line {} holds no response item and cannot be kept: cut behind it.", record.line);
            return Err(ForkError::Unfit(text));
        }
        items.begin(out);
        out.rope.copy(record.segment, record.offset + u64::from(record.at), record.len);
        Ok(())
    }

    /// The client writes it anew at every resume.
    fn is_renewed(&self, record: &Record) -> Result<bool, ForkError> {
        let wrapper = record.kind == Kind::User && record.flags.has(Flags::META);
        if !wrapper && record.kind != Kind::Notice {
            return Ok(false);
        }
        let line = line_of(self.order, record)?;
        let Ok(item) = Raw::prefix(&line, record.at as usize) else { return Ok(false) };
        let [role, content] = pick(item, ["role", "content"]);
        if wrapper {
            let text = content.map(text_of).unwrap_or_default();
            return Ok(RENEWED.iter().any(|start| text.trim_start().starts_with(start)));
        }
        Ok(role.is_some_and(|role| role.is("developer") || role.is("system")))
    }

    /// The item that answers what `wish` gives up.
    fn answer(&self, wish: &Settle) -> Result<String, ForkError> {
        if wish.act != Act::Abandon {
            return Err(ForkError::CannotSay { act: wish.act.name(), id: wish.id.clone() });
        }
        let class = self.order.context.get(self.order.log, wish.at).map_or(0, |record| record.class);
        Ok(output(class, &quoted(&wish.id), &quoted(&wish.text())))
    }

    /// Clients before the paginated files read the size of the context from the newest figure: a stale one made 0.133
    /// and 0.144 compact at once over ours.
    fn figures(&mut self, out: &mut Forked) {
        let order = self.order;
        let outside = (0..order.context.len()).filter(|at| *at < order.from || *at >= order.to);
        let kept: u64 = outside.filter_map(|at| self.written(at)).map(|record| u64::from(record.tokens)).sum();
        let total = kept + order.summary.map_or(0, |text| text.len() as u64 / 4);
        let figure = |total: u64| {
            format!(
                "{{\"input_tokens\":0,\"cached_input_tokens\":0,\"output_tokens\":0,\"reasoning_output_tokens\":0,\
                 \"total_tokens\":{total}}}"
            )
        };
        let window = order.log.usage.iter().rev().find_map(|usage| usage.window);
        let window = window.map_or("null".to_string(), |window| window.to_string());
        let payload = format!(
            "{{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{},\"last_token_usage\":{},\
             \"model_context_window\":{window}}},\"rate_limits\":null}}",
            figure(total),
            figure(total)
        );
        self.line("event_msg", &payload, Vec::new(), out);
    }

    /// Every line of the source and of the files that it continues, oldest first, with what is settled in its place.
    fn lines(&mut self, out: &mut Forked) -> Result<(), ForkError> {
        let order = self.order;
        let mut lines = Lines::of(order);
        let mut settle = order.settle.iter().enumerate().peekable();
        for line in lines.take() {
            // Settled directly before the first record of the line, or inside it.
            let mut inside = Vec::new();
            while let Some((n, wish)) = settle.next_if(|(_, wish)| line.first.is_some_and(|first| wish.place <= first))
            {
                self.line("response_item", &self.answer(wish)?, vec![Origin::Settled(n)], out);
            }
            while let Some((n, wish)) = settle.next_if(|(_, wish)| line.last.is_some_and(|last| wish.place <= last)) {
                inside.push((n, wish));
            }
            self.copy(&line, &inside, out)?;
        }
        for (n, wish) in settle {
            self.line("response_item", &self.answer(wish)?, vec![Origin::Settled(n)], out);
        }
        out.left_out += lines.dropped;
        Ok(())
    }

    fn copy(&mut self, line: &Copied, inside: &[(usize, &Settle)], out: &mut Forked) -> Result<(), ForkError> {
        let bytes = line_of(self.order, &line.record)?;
        let Ok(value) = Raw::prefix(&bytes, first_value(&bytes)) else {
            // Damage: nothing of it was read, and it would stop the numbering.
            out.left_out += 1;
            return Ok(());
        };
        let mut edits = Edits::default();
        if let Some(ordinal) = self.next_ordinal() {
            edits.set(value, "ordinal", &ordinal.to_string());
        }
        let mut origins: Vec<(u32, Origin)> =
            line.records.iter().map(|(at, slot)| (*at, Origin::Kept(*slot))).collect();
        for (n, wish) in inside {
            let next = line.records.iter().find(|(_, slot)| *slot >= wish.place).map_or(0, |(at, _)| *at);
            edits.replace((next, 0), format!("{},", self.answer(wish)?));
            origins.push((next.saturating_sub(1), Origin::Settled(*n)));
        }
        origins.sort_by_key(|(at, _)| *at);
        edits.apply(value, line.record.segment, line.record.offset, &mut out.rope);
        out.end_line(origins.into_iter().map(|(_, origin)| origin).collect());
        Ok(())
    }
}

/// The item that answers a call of `class`. A search has no words.
fn output(class: u8, id: &str, text: &str) -> String {
    let name = OUTPUTS.iter().find(|(of, _)| *of == class).map_or("function_call_output", |(_, name)| name);
    if class == super::step::SEARCH {
        return format!(
            "{{\"type\":\"{name}\",\"call_id\":{id},\"status\":\"completed\",\"execution\":\"client\",\"tools\":[]}}"
        );
    }
    format!("{{\"type\":\"{name}\",\"call_id\":{id},\"output\":{text}}}")
}

/// Items of the history that is being written.
#[derive(Default)]
struct Items {
    origins: Vec<Origin>,
}

impl Items {
    fn begin(&self, out: &mut Forked) {
        if !self.origins.is_empty() {
            out.rope.write(",");
        }
    }
}

/// A line that is copied, with the records of it that stand in the context: place in the line, position.
struct Copied {
    record: Record,
    records: Vec<(u32, usize)>,
    first: Option<usize>,
    last: Option<usize>,
}

/// The lines of all segments in logical order.
struct Lines {
    all: Vec<Copied>,
    dropped: usize,
}

impl Lines {
    fn of(order: &ForkOrder<'_>) -> Self {
        let mut by_record = rustc_hash::FxHashMap::default();
        for (at, slot) in order.context.slots().iter().enumerate() {
            if let Some(id) = slot.id() {
                by_record.insert(id, at);
            }
        }
        let mut all: Vec<Copied> = Vec::new();
        let mut dropped = 0;
        for (id, record) in (0u32..).zip(&order.log.records) {
            let same = all
                .last()
                .is_some_and(|line| (line.record.segment, line.record.offset) == (record.segment, record.offset));
            if !same {
                if record.flags.has(Flags::SALVAGED) {
                    dropped += 1;
                    continue;
                }
                all.push(Copied { record: *record, records: Vec::new(), first: None, last: None });
            }
            if let (Some(line), Some(at)) = (all.last_mut(), by_record.get(&id)) {
                line.records.push((record.at, *at));
                line.first = Some(line.first.map_or(*at, |first| first.min(*at)));
                line.last = Some(line.last.map_or(*at, |last| last.max(*at)));
            }
        }
        // Oldest file first; the header of each is its first line.
        all.sort_by_key(|line| (std::cmp::Reverse(line.record.segment), line.record.offset));
        let mut segment = None;
        all.retain(|line| {
            let header = segment != Some(line.record.segment);
            segment = Some(line.record.segment);
            !header
        });
        Self { all, dropped }
    }

    fn take(&mut self) -> Vec<Copied> {
        std::mem::take(&mut self.all)
    }
}

/// Where the first value of a line starts: a byte order mark is no part of it.
fn first_value(line: &[u8]) -> usize {
    line.iter().position(|byte| *byte == b'{').unwrap_or(0)
}
