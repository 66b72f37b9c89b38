//! A document for `opencode import`: a session of its own with fresh ids, which must sort in the order of the messages;
//! in the place of the span a compaction as OpenCode writes its own: a user message that asks, an assistant message that
//! is the summary. An open call is given up inside its own part.

use rustc_hash::FxHashMap;

use crate::{
    format::{
        Act, ForkError, ForkOrder, Forked, Minted, Origin, SessionFacts, Settle,
        fork::{Edits, line_of, quoted},
        json::Raw,
    },
    model::{Millis, Record},
};

pub(super) fn fork(order: &ForkOrder<'_>, header: Option<&Record>, facts: &SessionFacts) -> Result<Forked, ForkError> {
    if order.summary.is_some() && order.from > 0 {
        let text = "OpenCode forgets everything before a compaction: start the span at 0.";
        return Err(ForkError::Unfit(text.to_string()));
    }
    if let Some(wish) = order.settle.iter().find(|wish| wish.act != Act::Abandon) {
        return Err(ForkError::CannotSay { act: wish.act.name(), id: wish.id.clone() });
    }
    let mut ids = Ids::new(order.minted);
    let session = ids.next("ses");
    let mut out = Forked {
        name: format!("{session}.export.json"),
        resume_by_path: vec!["opencode".to_string(), "import".to_string()],
        document: true,
        envelope: &["id", "sessionID", "messageID"],
        told: vec![format!("After the import: opencode --session {session}")],
        session,
        ..Forked::default()
    };
    let mut writer = Writer { order, ids, asked: None, renamed: FxHashMap::default(), origins: Vec::new(), written: 0 };
    writer.header(header, facts, &mut out)?;
    writer.messages(&mut out)?;
    out.rope.write("]}");
    let mut origins = writer.origins;
    origins.sort_by_key(|(place, _)| *place);
    out.end_line(origins.into_iter().map(|(_, origin)| origin).collect());
    Ok(out)
}

/// Ids that sort by time, as OpenCode makes them: a prefix, 12 hexadecimal digits that rise, 14 random letters.
struct Ids<'a> {
    minted: &'a Minted,
    count: u64,
}

impl<'a> Ids<'a> {
    fn new(minted: &'a Minted) -> Self {
        Self { minted, count: 0 }
    }

    fn next(&mut self, prefix: &str) -> String {
        self.count += 1;
        let millis = u64::try_from(self.minted.now.known().unwrap_or(0)).unwrap_or(0);
        let rising = (millis.wrapping_mul(0x1000).wrapping_add(self.count)) & 0xffff_ffff_ffff;
        let random = self.minted.uuid4(&format!("{prefix} {}", self.count)).replace('-', "");
        format!("{prefix}_{rising:012x}{}", random.get(..14).unwrap_or("00000000000000"))
    }
}

struct Writer<'a> {
    order: &'a ForkOrder<'a>,
    ids: Ids<'a>,
    /// The user message of the compaction.
    asked: Option<String>,
    /// New ids of messages by their old ones.
    renamed: FxHashMap<String, String>,
    /// Order in which a fresh reader finds the records: message, place of the part, half of the part.
    origins: Vec<((usize, u32, u8), Origin)>,
    written: usize,
}

impl Writer<'_> {
    fn header(&mut self, header: Option<&Record>, facts: &SessionFacts, out: &mut Forked) -> Result<(), ForkError> {
        let line = header.map(|record| line_of(self.order, record)).transpose()?;
        let value = line.as_deref().and_then(|line| Raw::prefix(line, 0).ok()).and_then(|value| value.get("info"));
        let mut fields = vec![format!("\"id\":{}", quoted(&out.session))];
        let now = self.order.minted.now.known().unwrap_or(0);
        fields.push(format!("\"time\":{{\"created\":{now},\"updated\":{now}}}"));
        for (key, field) in value.into_iter().flat_map(Raw::fields) {
            let name = key.str();
            if !matches!(&*name, "id" | "time" | "parentID" | "share" | "revert" | "tokens" | "cost") {
                fields.push(format!("{}:{}", quoted(&name), String::from_utf8_lossy(field.bytes())));
            }
        }
        if value.is_none() {
            let text = |text: &Option<String>| quoted(text.as_deref().unwrap_or_default());
            fields.push(format!("\"directory\":{},\"title\":{}", text(&facts.cwd), text(&facts.title)));
            fields.push(format!("\"version\":{}", text(&facts.version)));
        }
        out.rope.write(format!("{{\"info\":{{{}}},\"messages\":[", fields.join(",")));
        Ok(())
    }

    fn comma(&mut self, out: &mut Forked) {
        if self.written > 0 {
            out.rope.write(",");
        }
        self.written += 1;
    }

    fn messages(&mut self, out: &mut Forked) -> Result<(), ForkError> {
        let messages = self.kept()?;
        if self.order.summary.is_some() {
            self.compaction(messages.first().or(messages.last()), out)?;
        }
        for message in &messages {
            self.message(message, out)?;
        }
        Ok(())
    }

    /// The messages that hold a kept record, in order. A document is one line of all messages: it is read once.
    fn kept(&self) -> Result<Vec<Kept>, ForkError> {
        let order = self.order;
        let mut messages: Vec<Kept> = Vec::new();
        let mut page: Option<(u64, Vec<(u32, u32)>)> = None;
        for at in 0..order.context.len() {
            if (order.from..order.to).contains(&at) {
                continue;
            }
            let Some(record) = order.context.get(order.log, at) else { continue };
            let known = messages.last().is_some_and(|last| {
                let same = (last.record.segment, last.record.offset) == (record.segment, record.offset);
                same && (last.start..last.end).contains(&record.at)
            });
            if !known {
                if page.as_ref().is_none_or(|(offset, _)| *offset != record.offset) {
                    page = Some((record.offset, messages_of(&line_of(order, record)?)));
                }
                let places = page.iter().flat_map(|(_, places)| places);
                let place = places.copied().find(|(start, end)| (*start..*end).contains(&record.at));
                let (start, end) = place.ok_or(ForkError::Gone(record.line))?;
                messages.push(Kept { record: *record, start, end, parts: Vec::new() });
            }
            if let Some(last) = messages.last_mut() {
                last.parts.push((record.at, at, u8::from(record.kind.is_resolution())));
            }
        }
        Ok(messages)
    }

    fn compaction(&mut self, like: Option<&Kept>, out: &mut Forked) -> Result<(), ForkError> {
        let (ask, answer) = (self.ids.next("msg"), self.ids.next("msg"));
        let time = like.and_then(|kept| kept.record.time.known()).unwrap_or(0).max(1) - 1;
        let time = if time == 0 { self.order.minted.now.known().unwrap_or(0) } else { time };
        let session = quoted(&out.session);
        let (model, provider, path) = self.model(like)?;
        self.asked = Some(ask.clone());
        let (ask, answer) = (quoted(&ask), quoted(&answer));
        self.comma(out);
        out.rope.write(format!(
            "{{\"info\":{{\"id\":{ask},\"sessionID\":{session},\"role\":\"user\",\"time\":{{\"created\":{time}}},\
             \"agent\":\"build\",\"model\":{{\"providerID\":{provider},\"modelID\":{model}}}}},\
             \"parts\":[{{\"type\":\"compaction\",\"auto\":false,\"id\":{},\"sessionID\":{session},\"messageID\":{ask}}}]}}",
            quoted(&self.ids.next("prt")),
        ));
        self.comma(out);
        let text = quoted(self.order.summary.unwrap_or_default());
        let zero = "{\"input\":0,\"output\":0,\"reasoning\":0,\"cache\":{\"read\":0,\"write\":0}}";
        out.rope.write(format!(
            "{{\"info\":{{\"id\":{answer},\"sessionID\":{session},\"role\":\"assistant\",\"parentID\":{ask},\
             \"time\":{{\"created\":{time},\"completed\":{time}}},\"modelID\":{model},\"providerID\":{provider},\
             \"mode\":\"compaction\",\"agent\":\"compaction\",\"summary\":true,\"path\":{path},\"cost\":0,\"tokens\":{zero},\
             \"finish\":\"stop\"}},\"parts\":[{{\"type\":\"text\",\"text\":{text},\"time\":{{\"start\":{time},\"end\":{time}}},\
             \"id\":{},\"sessionID\":{session},\"messageID\":{answer}}}]}}",
            quoted(&self.ids.next("prt")),
        ));
        self.origins.push(((0, 0, 0), Origin::Summary));
        Ok(())
    }

    /// Model, provider and path of some assistant message, as JSON: the client wants them in every one.
    fn model(&self, like: Option<&Kept>) -> Result<(String, String, String), ForkError> {
        let order = self.order;
        let nobody =
            || ("\"cutline\"".to_string(), "\"cutline\"".to_string(), "{\"cwd\":\"/\",\"root\":\"/\"}".to_string());
        let all = (0..order.context.len()).rev().filter_map(|at| order.context.get(order.log, at));
        let record = all.into_iter().find(|record| record.response.is_some()).copied().or(like.map(|kept| kept.record));
        let Some(record) = record else { return Ok(nobody()) };
        let line = line_of(order, &record)?;
        let place = messages_of(&line).into_iter().find(|(start, end)| (*start..*end).contains(&record.at));
        let info = place.and_then(|(start, _)| Raw::prefix(&line, start as usize).ok()?.get("info"));
        let Some(info) = info else { return Ok(nobody()) };
        let (model, provider, path) = nobody();
        let text = |name: &str, or: String| {
            info.get(name).map_or(or, |value| String::from_utf8_lossy(value.bytes()).into_owned())
        };
        Ok((text("modelID", model), text("providerID", provider), text("path", path)))
    }

    fn message(&mut self, kept: &Kept, out: &mut Forked) -> Result<(), ForkError> {
        let gone = || ForkError::Gone(kept.record.line);
        let (segment, offset) = (kept.record.segment, kept.record.offset + u64::from(kept.start));
        let line = self.order.payload.read(segment, offset, kept.end - kept.start).ok_or_else(gone)?;
        let value = Raw::parse(&line).ok().ok_or_else(gone)?;
        let (info, parts) = (value.get("info").ok_or_else(gone)?, value.get("parts").ok_or_else(gone)?);
        let number = self.written;
        self.comma(out);
        let fresh = self.ids.next("msg");
        let session = quoted(&out.session);
        let mut edits = Edits::default();
        edits.set(info, "id", &quoted(&fresh));
        edits.set(info, "sessionID", &session);
        if let Some(parent) = info.get_str("parentID") {
            // A parent that was cut is replaced by the user message of the compaction.
            let parent = self.renamed.get(&*parent).or(self.asked.as_ref()).cloned().unwrap_or_else(|| fresh.clone());
            edits.set(info, "parentID", &quoted(&parent));
        }
        zero(info.get("tokens"), &mut edits);
        for part in parts.items() {
            edits.set(part, "id", &quoted(&self.ids.next("prt")));
            edits.set(part, "sessionID", &session);
            edits.set(part, "messageID", &quoted(&fresh));
            zero(part.get("tokens"), &mut edits);
        }
        for (at, slot, half) in &kept.parts {
            self.origins.push(((number, *at, *half), Origin::Kept(*slot)));
            let given_up = self.order.settle.iter().enumerate().find(|(_, wish)| wish.at == *slot);
            if let Some((n, wish)) = given_up {
                let part = Raw::prefix(&line, at.saturating_sub(kept.start) as usize).ok().ok_or_else(gone)?;
                give_up(part, wish, self.order.minted.now, &mut edits);
                self.origins.push(((number, *at, 1), Origin::Settled(n)));
            }
        }
        edits.apply(value, segment, offset, &mut out.rope);
        let old = info.get_str("id").unwrap_or_default().into_owned();
        self.renamed.insert(old, fresh);
        Ok(())
    }
}

/// A message of the source: its place in the line, and its kept records (place, position, half of the part).
struct Kept {
    record: Record,
    start: u32,
    end: u32,
    parts: Vec<(u32, usize, u8)>,
}

/// Start and end of each message of a line.
fn messages_of(line: &[u8]) -> Vec<(u32, u32)> {
    let Some(start) = line.iter().position(|byte| *byte == b'{') else { return Vec::new() };
    let Ok(value) = Raw::prefix(line, start) else { return Vec::new() };
    let place = |value: Raw<'_>| (value.range().0, value.range().0 + value.range().1);
    match value.get("messages") {
        Some(messages) => messages.items().map(place).collect(),
        None => vec![place(value)],
    }
}

/// The call ends as a failure whose text says that its outcome is not known.
fn give_up(part: Raw<'_>, wish: &Settle, now: Millis, edits: &mut Edits) {
    let now = now.known().unwrap_or(0);
    let state = part.get("state");
    let input = state
        .and_then(|state| state.get("input"))
        .map_or("{}".to_string(), |input| String::from_utf8_lossy(input.bytes()).into_owned());
    let start = state.and_then(|state| state.path(&["time", "start"])).and_then(Raw::u64);
    let start = start.map_or(now, |start| i64::try_from(start).unwrap_or(now));
    let text = format!(
        "{{\"status\":\"error\",\"input\":{input},\"error\":{},\"time\":{{\"start\":{start},\"end\":{}}}}}",
        quoted(&wish.text()),
        now.max(start)
    );
    edits.set(part, "state", &text);
}

/// Every number of `tokens` becomes 0: stale ones would make OpenCode compact at once.
fn zero(tokens: Option<Raw<'_>>, edits: &mut Edits) {
    for (_, value) in tokens.into_iter().flat_map(Raw::fields) {
        match value.bytes().first() {
            Some(b'0'..=b'9' | b'-') => edits.replace(value.range(), "0"),
            Some(b'{') => zero(Some(value), edits),
            _ => {}
        }
    }
}
