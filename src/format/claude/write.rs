//! A new session file that every tested version resumes (form A): one line after another, each the parent of the next,
//! a session id of its own, no usage numbers of the old context, the newest time last.
//!
//! Why linear: below 2.1.80 only a chain keeps the siblings of a parallel batch. Why zeroed usage: stale numbers made
//! 1.0.128 to 2.1.140 compact again at once. Why the newest time last: up to 2.1.100 the newest line is the leaf.

use rustc_hash::FxHashMap;

use super::envelope::Envelope;
use crate::{
    format::{
        Act, ForkError, ForkOrder, Forked, Origin, Settle,
        fork::{Edits, line_of, quoted, zero},
        json::Raw,
    },
    model::{Event, Millis, Record, rfc3339},
};

/// Fields of a line that say where and by what it was written; new lines repeat those of their neighbour.
const ENVELOPE: [&str; 5] = ["userType", "entrypoint", "cwd", "version", "gitBranch"];

/// A line of the new file, in order.
enum Entry {
    /// A line of the source, with the records of it that stand in the context: place in the line, position.
    Kept(Record, Vec<(u32, usize)>),
    Boundary,
    Summary,
    Settled(usize),
}

pub(super) fn fork(order: &ForkOrder<'_>) -> Result<Forked, ForkError> {
    let session = order.minted.uuid4("session");
    let mut out = Forked {
        name: format!("{session}.jsonl"),
        envelope: &["parentUuid", "sessionId", "timestamp", "uuid"],
        resume: vec!["claude".to_string(), "--resume".to_string(), session.clone()],
        shelf: "projects",
        resume_by_path: vec!["claude".to_string(), "--resume".to_string()],
        session,
        ..Forked::default()
    };
    let entries = entries(order, &mut out);
    let kept = entries.iter().filter(|entry| matches!(entry, Entry::Kept(..))).count();
    out.left_out = (order.log.lines as usize).saturating_sub(kept);
    let times = times(order, &entries);
    let frame = frame(order, &entries)?;
    let mut writer = Writer { order, session: out.session.clone(), parent: None, frame, pointing: 0 };
    for (entry, time) in entries.iter().zip(times) {
        let time = rfc3339(time).unwrap_or_default();
        match entry {
            Entry::Kept(record, places) => writer.keep(record, places, &time, &mut out)?,
            Entry::Boundary => writer.boundary(&time, &mut out),
            Entry::Summary => writer.summary(&time, &mut out),
            Entry::Settled(n) => writer.settled(*n, &time, &mut out)?,
        }
    }
    if writer.pointing > 0 {
        let n = writer.pointing;
        let text = format!(
            "{n} kept lines point to files in the folder of the old session; they stay there, keep that folder."
        );
        out.told.push(text);
    }
    Ok(out)
}

/// The lines in effective order, with where their records come from.
fn entries(order: &ForkOrder<'_>, out: &mut Forked) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut written: FxHashMap<u64, usize> = FxHashMap::default();
    let mut settle = order.settle.iter().enumerate().peekable();
    let len = order.context.len();
    for at in 0..=len {
        while let Some((n, wish)) = settle.next_if(|(_, wish)| wish.place <= at) {
            // What is settled inside the span is told by the summary.
            if wish.at < order.from || wish.at >= order.to {
                entries.push(Entry::Settled(n));
            }
        }
        if at == order.from && order.summary.is_some() {
            // In the middle of a chain a boundary would drop what stands before it.
            if at == 0 {
                entries.push(Entry::Boundary);
            }
            entries.push(Entry::Summary);
        }
        if at >= order.from && at < order.to {
            continue;
        }
        let Some(id) = order.context.slots().get(at).and_then(|slot| slot.id()) else { continue };
        let Some(record) = order.context.get(order.log, at) else { continue };
        if is_dropped(order, id) {
            out.renewed.push(at);
            continue;
        }
        let place = *written.entry(record.offset).or_insert(entries.len());
        if place == entries.len() {
            entries.push(Entry::Kept(*record, Vec::new()));
        }
        if let Some(Entry::Kept(_, origins)) = entries.get_mut(place) {
            origins.push((record.at, at));
        }
    }
    entries
}

/// A resume would run a deferred call again as long as this line stands in the file, whatever answers the call.
fn is_dropped(order: &ForkOrder<'_>, id: u32) -> bool {
    order.log.events_at(id).any(|event| match event {
        Event::Deferred(call) => {
            let name = order.log.syms.name(call);
            order.settle.iter().any(|wish| wish.act == Act::Abandon && wish.id == name)
        }
        _ => false,
    })
}

/// The time of each line: its own; of a new one, just before the next kept one. The last is the newest: up to 2.1.100
/// that makes it the leaf, and of two equal ones the first would be.
fn times(order: &ForkOrder<'_>, entries: &[Entry]) -> Vec<Millis> {
    let mut next = order.minted.now.known().unwrap_or(0);
    let mut times: Vec<i64> = entries
        .iter()
        .rev()
        .map(|entry| {
            next = match entry {
                Entry::Kept(record, _) => record.time.known().unwrap_or(next - 1),
                _ => next - 1,
            };
            next
        })
        .collect();
    times.reverse();
    if let Some((last, others)) = times.split_last_mut() {
        *last = others.iter().max().map_or(*last, |newest| (*last).max(newest + 1));
    }
    times.into_iter().map(Millis).collect()
}

/// What new lines say of where they were written, as JSON fields.
fn frame(order: &ForkOrder<'_>, entries: &[Entry]) -> Result<String, ForkError> {
    let kept = entries.iter().rev().find_map(|entry| match entry {
        Entry::Kept(record, _) => Some(*record),
        _ => None,
    });
    let last = || (0..order.context.len()).rev().find_map(|at| written(order, at));
    let Some(record) = kept.or_else(last) else { return Ok(String::new()) };
    let line = line_of(order, &record)?;
    let Ok(value) = Raw::prefix(&line, first_value(&line)) else { return Ok(String::new()) };
    let fields = ENVELOPE.iter().filter_map(|name| {
        let value = value.get(name)?;
        Some(format!(",{}:{}", quoted(name), String::from_utf8_lossy(value.bytes())))
    });
    Ok(fields.collect())
}

fn written(order: &ForkOrder<'_>, at: usize) -> Option<Record> {
    order.context.slots().get(at)?.id()?;
    order.context.get(order.log, at).copied()
}

/// Where the first value of a line starts: a byte order mark is no part of it.
fn first_value(line: &[u8]) -> usize {
    line.iter().position(|byte| *byte == b'{').unwrap_or(0)
}

struct Writer<'a> {
    order: &'a ForkOrder<'a>,
    session: String,
    parent: Option<String>,
    frame: String,
    /// Kept lines that point into the folder of the old session.
    pointing: usize,
}

impl Writer<'_> {
    fn parent(&self) -> String {
        self.parent.as_deref().map_or_else(|| "null".to_string(), quoted)
    }

    fn keep(
        &mut self,
        record: &Record,
        places: &[(u32, usize)],
        time: &str,
        out: &mut Forked,
    ) -> Result<(), ForkError> {
        let line = line_of(self.order, record)?;
        let start = first_value(&line);
        let value = Raw::prefix(&line, start).ok().ok_or(ForkError::Gone(record.line))?;
        let env = Envelope::of(value);
        let mut edits = Edits::default();
        let uuid = env
            .text("uuid")
            .map_or_else(|| self.order.minted.uuid4(&format!("line {}", record.line)), std::borrow::Cow::into_owned);
        edits.set(value, "parentUuid", &self.parent());
        edits.set(value, "sessionId", &quoted(&self.session));
        if !env.has("uuid") {
            edits.set(value, "uuid", &quoted(&uuid));
        }
        // Only a time that is missing, or that must be the newest, is written.
        if rfc3339(env.time()).is_none_or(|own| own != time) {
            edits.set(value, "timestamp", &quoted(time));
        }
        if memchr::memmem::find(&line, b"/tool-results/").is_some() {
            self.pointing += 1;
        }
        if let Some(usage) = value.path(&["message", "usage"]) {
            zero(usage, &mut edits);
        }
        edits.apply(value, record.segment, record.offset, &mut out.rope);
        let mut places = places.to_vec();
        places.sort_unstable();
        out.end_line(places.into_iter().map(|(_, position)| Origin::Kept(position)).collect());
        self.written(uuid);
        Ok(())
    }

    fn written(&mut self, uuid: String) {
        self.parent = Some(uuid);
    }

    /// The fields with which every new line begins, and its uuid.
    fn begin(&self, what: &str, time: &str) -> (String, String) {
        let uuid = self.order.minted.uuid4(what);
        let head = format!(
            "{{\"parentUuid\":{},\"isSidechain\":false,\"uuid\":{},\"timestamp\":{},\"sessionId\":{}{}",
            self.parent(),
            quoted(&uuid),
            quoted(time),
            quoted(&self.session),
            self.frame
        );
        (head, uuid)
    }

    fn boundary(&mut self, time: &str, out: &mut Forked) {
        let (head, uuid) = self.begin("boundary", time);
        let before = self.order.tokens;
        out.rope.write(format!(
            "{head},\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\",\
             \"isMeta\":false,\"level\":\"info\",\"compactMetadata\":{{\"trigger\":\"manual\",\"preTokens\":{before}}}}}"
        ));
        out.end_line(Vec::new());
        self.written(uuid);
    }

    fn summary(&mut self, time: &str, out: &mut Forked) {
        let (head, uuid) = self.begin("summary", time);
        let text = quoted(self.order.summary.unwrap_or_default());
        out.rope.write(format!(
            "{head},\"type\":\"user\",\"isVisibleInTranscriptOnly\":true,\"isCompactSummary\":true,\
             \"message\":{{\"role\":\"user\",\"content\":{text}}}}}"
        ));
        out.end_line(vec![Origin::Summary]);
        self.written(uuid);
    }

    fn settled(&mut self, n: usize, time: &str, out: &mut Forked) -> Result<(), ForkError> {
        let Some(wish) = self.order.settle.get(n) else { return Ok(()) };
        let (head, uuid) = self.begin(&format!("settled {n}"), time);
        let line = match wish.act {
            Act::Abandon => {
                let (id, text) = (quoted(&wish.id), quoted(&abandoned(wish)));
                let source = self
                    .call_line(wish)?
                    .map_or(String::new(), |uuid| format!(",\"sourceToolAssistantUUID\":{}", quoted(&uuid)));
                format!(
                    "{head},\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
                     \"tool_use_id\":{id},\"is_error\":true,\"content\":{text}}}]}},\"toolUseResult\":{text},\
                     \"toolDenialKind\":\"interrupted\"{source}}}"
                )
            }
            Act::DeclareDead => {
                let text = format!(
                    "<task-notification>\n<task-id>{}</task-id>\n<status>stopped</status>\n<summary>{}</summary>\n\
                     </task-notification>",
                    wish.id,
                    wish.text().replace('<', "(").replace('>', ")")
                );
                let text = quoted(&text);
                format!(
                    "{head},\"type\":\"user\",\"origin\":{{\"kind\":\"task-notification\"}},\
                     \"message\":{{\"role\":\"user\",\"content\":{text}}}}}"
                )
            }
            Act::Deny | Act::Close | Act::Reset => {
                return Err(ForkError::CannotSay { act: wish.act.name(), id: wish.id.clone() });
            }
        };
        out.rope.write(line);
        out.end_line(vec![Origin::Settled(n)]);
        self.written(uuid);
        Ok(())
    }

    /// The uuid of the line that holds the call.
    fn call_line(&self, wish: &Settle) -> Result<Option<String>, ForkError> {
        let Some(call) = written(self.order, wish.at) else { return Ok(None) };
        let line = line_of(self.order, &call)?;
        let value = Raw::prefix(&line, first_value(&line)).ok();
        Ok(value.and_then(|value| value.get_str("uuid").map(std::borrow::Cow::into_owned)))
    }
}

/// As the readers of this format know it.
fn abandoned(wish: &Settle) -> String {
    let text = wish.text();
    format!("[A{}]", text.strip_prefix('a').unwrap_or(&text))
}

/// Nothing of it can be resumed as a session.
pub(super) fn of_sub_agent() -> ForkError {
    ForkError::Unfit(
        "This is the file of a sub-agent: no session can be resumed from it. Open the session that launched it."
            .to_string(),
    )
}
