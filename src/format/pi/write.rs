//! A new session file that pi resumes: the header with an id of its own, then one entry after another, each the parent
//! of the next, in the order of the effective context.
//!
//! Why a compaction entry that keeps its own id: it keeps nothing before it in every version, and pi shows it as what it
//! is. It would drop what stands before it, so a cut in the middle is told by a custom message. Why zeroed usage: pi
//! trusts the newest figure of a rewritten file and would compact again at once. Why entries that no model reads stay,
//! those of the span too: the model, the name and the state of extensions are read from the whole path.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Header, SUMMARY,
    live::Live,
    tree::{NodeId, Role, Tree},
};
use crate::{
    format::{
        Act, ForkError, ForkOrder, Forked, Origin,
        envelope::Envelope,
        fork::{Edits, line_of, quoted},
        json::Raw,
    },
    model::{Millis, Record, rfc3339},
};

/// Figures of a response that speak of the old context.
const FIGURES: [&str; 5] = ["input", "output", "cacheRead", "cacheWrite", "totalTokens"];

/// What the reader knows of the source.
pub(super) struct Source<'a> {
    pub(super) tree: &'a Tree,
    pub(super) live: &'a Live,
    pub(super) header: Header,
    /// The source's name without ending.
    pub(super) stem: &'a str,
}

/// An entry of the new file, in order.
enum Entry {
    /// An entry of the source, with the records of it that stand in the context: place in the line, position.
    Kept(NodeId, Vec<(u32, usize)>),
    Summary,
    Settled(usize),
}

pub(super) fn fork(order: &ForkOrder<'_>, source: &Source<'_>) -> Result<Forked, ForkError> {
    let session = order.minted.uuid7("session");
    let stamp = rfc3339(order.minted.now).unwrap_or_default().replace([':', '.'], "-");
    let mut out = Forked {
        name: format!("{stamp}_{session}.jsonl"),
        resume_by_path: vec!["pi".to_string(), "--session".to_string()],
        envelope: &["id", "parentId"],
        session,
        ..Forked::default()
    };
    let entries = entries(order, source, &mut out);
    let mut writer =
        Writer { order, source, parent: None, used: used(order, source, &entries)?, newest: order.minted.now };
    writer.header(&mut out)?;
    for entry in &entries {
        if let Entry::Kept(id, _) = entry {
            writer.newest = writer.newest.max(writer.first(*id).map_or(Millis::NONE, |record| record.time));
        }
    }
    for entry in &entries {
        match entry {
            Entry::Kept(id, places) => writer.keep(*id, places, &mut out)?,
            Entry::Summary => writer.summary(&mut out),
            Entry::Settled(n) => writer.settled(*n, &mut out)?,
        }
    }
    Ok(out)
}

/// The entries in effective order, with where their records come from.
fn entries(order: &ForkOrder<'_>, source: &Source<'_>, out: &mut Forked) -> Vec<Entry> {
    let slots = order.context.slots().iter().enumerate();
    let positions: FxHashMap<u32, usize> = slots.filter_map(|(at, slot)| Some((slot.id()?, at))).collect();
    let mut entries = Vec::new();
    let mut settle = order.settle.iter().enumerate().peekable();
    let mut summary = order.summary.is_some();
    let mut cut = 0;
    for id in source.live.effective(source.tree) {
        let Some(node) = source.tree.node(id) else { continue };
        match node.role {
            Role::Inert => entries.push(Entry::Kept(id, Vec::new())),
            // The runtime writes the prompt of the system anew where it is missing.
            Role::System if order.summary.is_none() => entries.push(Entry::Kept(id, Vec::new())),
            // What an edit says is written into the entry that it edits.
            Role::Edit { .. } => continue,
            _ => {}
        }
        let edit = source.live.edit_of(id).and_then(|edit| source.tree.node(edit));
        let (from, to) = edit.map_or(node.records, |edit| edit.records);
        let records = (from..to).filter_map(|id| Some((order.log.records.get(id as usize)?.at, *positions.get(&id)?)));
        let records: Vec<(u32, usize)> = records.collect();
        let Some(first) = records.iter().map(|(_, at)| *at).min() else { continue };
        while let Some((n, wish)) = settle.next_if(|(_, wish)| wish.place <= first) {
            entries.extend(is_told(order, wish.at).then_some(Entry::Settled(n)));
        }
        if first >= order.from && std::mem::take(&mut summary) {
            entries.push(Entry::Summary);
        }
        let kept: Vec<_> = records.into_iter().filter(|(_, at)| is_told(order, *at)).collect();
        if kept.is_empty() {
            cut += 1;
        } else {
            entries.push(Entry::Kept(id, kept));
        }
    }
    entries.extend(settle.filter(|(_, wish)| is_told(order, wish.at)).map(|(n, _)| Entry::Settled(n)));
    if summary {
        entries.push(Entry::Summary);
    }
    let kept = entries.iter().filter(|entry| matches!(entry, Entry::Kept(..))).count();
    out.left_out = (order.log.lines as usize).saturating_sub(kept + cut + 1);
    entries
}

/// Outside the span; what lies inside is told by the summary.
fn is_told(order: &ForkOrder<'_>, at: usize) -> bool {
    at < order.from || at >= order.to
}

/// The entry on a line of the source: a byte order mark is no part of it.
fn entry_of<'a>(line: &'a [u8], record: &Record) -> Result<Raw<'a>, ForkError> {
    let at = line.iter().position(|byte| *byte == b'{');
    at.and_then(|at| Raw::prefix(line, at).ok()).ok_or(ForkError::Gone(record.line))
}

/// The ids of the kept entries: a new one may not be among them.
fn used(order: &ForkOrder<'_>, source: &Source<'_>, entries: &[Entry]) -> Result<FxHashSet<String>, ForkError> {
    let mut used = FxHashSet::default();
    for entry in entries {
        let Entry::Kept(id, _) = entry else { continue };
        let Some(record) = first(order, source, *id) else { continue };
        let line = line_of(order, &record)?;
        let value = entry_of(&line, &record)?;
        used.extend(value.get_str("id").map(std::borrow::Cow::into_owned));
    }
    Ok(used)
}

/// The first record of an entry.
fn first(order: &ForkOrder<'_>, source: &Source<'_>, id: NodeId) -> Option<Record> {
    let node = source.tree.node(id)?;
    order.log.records.get(node.records.0 as usize).copied()
}

struct Writer<'a> {
    order: &'a ForkOrder<'a>,
    source: &'a Source<'a>,
    /// Id of the entry before.
    parent: Option<String>,
    used: FxHashSet<String>,
    /// No kept entry is newer.
    newest: Millis,
}

impl Writer<'_> {
    fn first(&self, id: NodeId) -> Option<Record> {
        first(self.order, self.source, id)
    }

    fn parent(&self) -> String {
        self.parent.as_deref().map_or_else(|| "null".to_string(), quoted)
    }

    /// A short id that stands nowhere in the new file: an id used twice makes pi walk in a circle.
    fn fresh(&mut self, what: &str) -> String {
        let mut n = 0;
        loop {
            let id: String = self.order.minted.uuid4(&format!("{what} {n}")).chars().take(8).collect();
            if self.used.insert(id.clone()) {
                return id;
            }
            n += 1;
        }
    }

    fn header(&self, out: &mut Forked) -> Result<(), ForkError> {
        let record = self.source.header.place;
        let line = line_of(self.order, &record)?;
        let value = entry_of(&line, &record)?;
        let mut edits = Edits::default();
        edits.set(value, "type", "\"session\"");
        edits.set(value, "version", &super::NEWEST.to_string());
        edits.set(value, "id", &quoted(&out.session));
        edits.set(value, "timestamp", &quoted(&rfc3339(self.order.minted.now).unwrap_or_default()));
        if !self.source.stem.is_empty() {
            edits.set(value, "parentSession", &quoted(&format!("{}.jsonl", self.source.stem)));
        }
        edits.apply(value, record.segment, record.offset, &mut out.rope);
        out.end_line(Vec::new());
        Ok(())
    }

    fn keep(&mut self, id: NodeId, places: &[(u32, usize)], out: &mut Forked) -> Result<(), ForkError> {
        let (Some(node), Some(record)) = (self.source.tree.node(id), self.first(id)) else { return Ok(()) };
        let line = line_of(self.order, &record)?;
        let value = entry_of(&line, &record)?;
        let env = Envelope::of(value);
        let mut edits = Edits::default();
        // The newest of two entries with one id is the one that was read.
        let own = env.text("id").map(std::borrow::Cow::into_owned);
        let is_own = own.as_deref().is_some_and(|own| self.source.tree.find(super::uuid_key(own)) == Some(id));
        let name = own.filter(|_| is_own).unwrap_or_else(|| self.fresh(&format!("line {}", record.line)));
        edits.set(value, "parentId", &self.parent());
        if !is_own {
            edits.set(value, "id", &quoted(&name));
        }
        if let Role::Compaction(_) = node.role {
            edits.set(value, "firstKeptEntryId", &quoted(&name));
        }
        let message = env.object("message");
        if let Some(role) =
            message.as_ref().and_then(|message| message.get("role")).filter(|role| role.is("hookMessage"))
        {
            edits.replace(role.range(), "\"custom\"");
        }
        if node.role == Role::Answer && self.order.summary.is_some() {
            let usage = message.as_ref().and_then(|message| message.get("usage"));
            for figure in FIGURES.iter().filter_map(|name| usage?.get(name)) {
                edits.replace(figure.range(), "0");
            }
        }
        if let Some(edit) = self.source.live.edit_of(id) {
            let content = message.as_ref().map_or_else(|| env.get("content"), |message| message.get("content"));
            if let Some(content) = content {
                edits.replace(content.range(), self.replacement(edit)?);
            }
        }
        edits.apply(value, record.segment, record.offset, &mut out.rope);
        let mut places = places.to_vec();
        places.sort_unstable();
        out.end_line(places.into_iter().map(|(_, position)| Origin::Kept(position)).collect());
        self.parent = Some(name);
        Ok(())
    }

    /// The content that a context edit puts in the place of an older one.
    fn replacement(&self, edit: NodeId) -> Result<Vec<u8>, ForkError> {
        let record = self.first(edit).ok_or(ForkError::Gone(0))?;
        let line = line_of(self.order, &record)?;
        let content = entry_of(&line, &record)?.path(&["replacement", "content"]);
        content.map(|content| content.bytes().to_vec()).ok_or(ForkError::Gone(record.line))
    }

    /// The fields with which every new entry begins.
    fn begin(&mut self, kind: &str, what: &str, time: Millis) -> (String, String) {
        let id = self.fresh(what);
        let time = quoted(&rfc3339(time).unwrap_or_default());
        let head = format!(
            "{{\"type\":{},\"id\":{},\"parentId\":{},\"timestamp\":{time}",
            quoted(kind),
            quoted(&id),
            self.parent()
        );
        (head, id)
    }

    fn summary(&mut self, out: &mut Forked) {
        let text = quoted(self.order.summary.unwrap_or_default());
        let id = if self.order.from == 0 {
            // Newer than every kept response: pi 0.73 holds the figures of newer ones for fresh.
            let (head, id) = self.begin("compaction", "summary", self.newest);
            let before = self.order.tokens;
            out.rope.write(format!(
                "{head},\"summary\":{text},\"firstKeptEntryId\":{},\"tokensBefore\":{before},\
                 \"details\":{{\"by\":\"cutline\"}},\"fromHook\":true}}",
                quoted(&id)
            ));
            id
        } else {
            let (head, id) = self.begin("custom_message", "summary", self.order.minted.now);
            out.rope.write(format!(
                "{head},\"customType\":{},\"content\":{text},\"display\":true,\"details\":{{\"by\":\"cutline\"}}}}",
                quoted(SUMMARY)
            ));
            id
        };
        out.end_line(vec![Origin::Summary]);
        self.parent = Some(id);
    }

    fn settled(&mut self, n: usize, out: &mut Forked) -> Result<(), ForkError> {
        let Some(wish) = self.order.settle.get(n) else { return Ok(()) };
        if wish.act != Act::Abandon {
            return Err(ForkError::CannotSay { act: wish.act.name(), id: wish.id.clone() });
        }
        let tool = self.order.context.get(self.order.log, wish.at).and_then(|call| call.tool);
        let tool = quoted(tool.map_or("", |tool| self.order.log.syms.name(tool)));
        let millis = self.order.minted.now.known().unwrap_or(0);
        let (head, id) = self.begin("message", &format!("settled {n}"), self.order.minted.now);
        out.rope.write(format!(
            "{head},\"message\":{{\"role\":\"toolResult\",\"toolCallId\":{},\"toolName\":{tool},\
             \"content\":[{{\"type\":\"text\",\"text\":{}}}],\"isError\":true,\"timestamp\":{millis}}}}}",
            quoted(&wish.id),
            quoted(&wish.text())
        ));
        out.end_line(vec![Origin::Settled(n)]);
        self.parent = Some(id);
        Ok(())
    }
}
