//! Builds small session files and tells what was read from them in short words.

use cutline::{
    format::{Format, Transcript},
    model::{Flags, Log, NoteKind},
};
use serde_json::{Value, json};

/// A session file in the making. Every line is one second later than the one before and hangs on it.
pub(crate) struct Session {
    text: String,
    seconds: u32,
    leaf: Option<String>,
}

impl Session {
    /// With the header of version 3.
    pub(crate) fn new() -> Self {
        Self::with(&json!({"version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/w"}))
    }

    pub(crate) fn with(header: &Value) -> Self {
        let mut line = json!({"type": "session"});
        merge(&mut line, header);
        let mut new = Self { text: String::new(), seconds: 0, leaf: None };
        new.raw(&line.to_string());
        new
    }

    pub(crate) fn raw(&mut self, line: &str) -> &mut Self {
        self.text.push_str(line);
        self.text.push('\n');
        self
    }

    /// The next entry hangs on `id`.
    pub(crate) fn on(&mut self, id: &str) -> &mut Self {
        self.leaf = Some(id.to_string());
        self
    }

    /// An entry; fields of `extra` win.
    pub(crate) fn entry(&mut self, id: &str, kind: &str, extra: &Value) -> &mut Self {
        self.seconds += 1;
        let time = format!("2026-01-01T00:{:02}:{:02}.000Z", self.seconds / 60, self.seconds % 60);
        let mut line = json!({"type": kind, "id": id, "parentId": self.leaf, "timestamp": time});
        merge(&mut line, extra);
        self.leaf = Some(id.to_string());
        self.raw(&line.to_string())
    }

    pub(crate) fn message(&mut self, id: &str, message: &Value) -> &mut Self {
        self.entry(id, "message", &json!({ "message": message }))
    }

    pub(crate) fn user(&mut self, id: &str, text: &str) -> &mut Self {
        self.message(id, &json!({"role": "user", "content": [{"type": "text", "text": text}]}))
    }

    pub(crate) fn answer(&mut self, id: &str, stop: &str, content: &Value) -> &mut Self {
        let usage = json!({"input": 100, "output": 10, "cacheRead": self.seconds, "cacheWrite": 0,
            "totalTokens": 110 + self.seconds});
        let message =
            json!({"role": "assistant", "content": content, "model": "m", "usage": usage, "stopReason": stop});
        self.message(id, &message)
    }

    pub(crate) fn say(&mut self, id: &str, text: &str) -> &mut Self {
        self.answer(id, "stop", &json!([{"type": "text", "text": text}]))
    }

    /// A response with these calls.
    pub(crate) fn calls(&mut self, id: &str, calls: &[&str]) -> &mut Self {
        self.answer(id, "toolUse", &blocks(calls))
    }

    pub(crate) fn result(&mut self, id: &str, call: &str) -> &mut Self {
        self.resolved(id, call, call, false)
    }

    pub(crate) fn resolved(&mut self, id: &str, call: &str, text: &str, failed: bool) -> &mut Self {
        let content = json!([{"type": "text", "text": text}]);
        let message = json!({"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": content,
            "isError": failed});
        self.message(id, &message)
    }

    pub(crate) fn compaction(&mut self, id: &str, first: &str, text: &str) -> &mut Self {
        self.entry(id, "compaction", &json!({"summary": text, "firstKeptEntryId": first, "tokensBefore": 9000}))
    }

    pub(crate) fn edit(&mut self, id: &str, target: &str, replacement: &Value) -> &mut Self {
        self.entry(id, "context_edit", &json!({"targetId": target, "replacement": replacement}))
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn read(&self) -> Read {
        Read::of(self.text.as_bytes())
    }
}

pub(crate) fn blocks(calls: &[&str]) -> Value {
    calls.iter().map(|id| json!({"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": id}})).collect()
}

fn merge(line: &mut Value, extra: &Value) {
    for (name, value) in extra.as_object().into_iter().flatten() {
        line[name.as_str()] = value.clone();
    }
}

/// What was read.
pub(crate) struct Read {
    pub(crate) transcript: Transcript,
    bytes: Vec<u8>,
}

impl Read {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut transcript = Transcript::new(Some(Format::Pi), "s");
        transcript.feed(bytes);
        transcript.finish();
        transcript.context();
        Self { transcript, bytes: bytes.to_vec() }
    }

    pub(crate) fn log(&self) -> &Log {
        self.transcript.log()
    }

    /// The context: kind and id or text, `-` before what is not sent, `?` before what pi would invent.
    pub(crate) fn context(&self) -> Vec<String> {
        let (log, context) = (self.log(), self.transcript.current().unwrap());
        (0..context.len())
            .map(|at| {
                let (record, slot) = (context.get(log, at).unwrap(), context.slots()[at]);
                let what = record.id.map_or_else(
                    || {
                        let start = usize::try_from(record.offset).unwrap();
                        let line = &self.bytes[start..start + record.line_len as usize];
                        self.transcript.adapter().unwrap().body(line, record).text
                    },
                    |id| log.syms.name(id).to_string(),
                );
                let sign = match slot.id() {
                    None if record.flags.has(Flags::PROSPECTIVE) => "?",
                    None => "+",
                    Some(_) if slot.sent => "",
                    Some(_) => "-",
                };
                format!("{sign}{}:{what}", record.kind.name())
            })
            .collect()
    }

    pub(crate) fn notes(&self, kind: NoteKind) -> Vec<u32> {
        self.log().notes.iter().filter(|note| note.kind == kind).map(|note| note.line).collect()
    }
}
