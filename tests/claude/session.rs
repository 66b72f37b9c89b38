//! Builds small session files and tells what was read from them in short words.

use cutline::{
    format::{Format, Transcript},
    model::{Event, Flags, Kind, Log, NoteKind},
};
use serde_json::{Value, json};

/// A session file in the making. Every line is one second later than the one before.
pub(crate) struct Session {
    text: String,
    version: &'static str,
    seconds: u32,
}

impl Session {
    pub(crate) fn new(version: &'static str) -> Self {
        Self { text: String::new(), version, seconds: 0 }
    }

    pub(crate) fn raw(&mut self, line: &str) -> &mut Self {
        self.text.push_str(line);
        self.text.push('\n');
        self
    }

    pub(crate) fn wait(&mut self, seconds: u32) -> &mut Self {
        self.seconds += seconds;
        self
    }

    /// A line in the tree; fields of `extra` win.
    pub(crate) fn tree(&mut self, kind: &str, uuid: &str, parent: Option<&str>, extra: Value) -> &mut Self {
        self.seconds += 1;
        let mut line = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid, "sessionId": "s",
            "version": self.version,
            "timestamp": format!("2026-01-01T00:{:02}:{:02}.000Z", self.seconds / 60, self.seconds % 60),
        });
        merge(&mut line, extra);
        self.raw(&line.to_string())
    }

    pub(crate) fn user(&mut self, uuid: &str, parent: Option<&str>, text: &str) -> &mut Self {
        self.tree("user", uuid, parent, json!({"message": {"role": "user", "content": text}}))
    }

    pub(crate) fn part(&mut self, uuid: &str, parent: &str, message: &str, block: Value) -> &mut Self {
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 100, "output_tokens": self.seconds});
        let message = json!({"id": message, "role": "assistant", "model": "m", "content": Value::Array(vec![block]), "usage": usage});
        self.tree("assistant", uuid, Some(parent), json!({"message": message}))
    }

    pub(crate) fn say(&mut self, uuid: &str, parent: &str, message: &str, text: &str) -> &mut Self {
        self.part(uuid, parent, message, json!({"type": "text", "text": text}))
    }

    pub(crate) fn call(&mut self, uuid: &str, parent: &str, message: &str, id: &str) -> &mut Self {
        self.part(
            uuid,
            parent,
            message,
            json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": id}}),
        )
    }

    pub(crate) fn result(&mut self, uuid: &str, parent: &str, id: &str) -> &mut Self {
        self.answer(uuid, parent, id, id, false, json!({}))
    }

    pub(crate) fn answer(
        &mut self,
        uuid: &str,
        parent: &str,
        id: &str,
        text: &str,
        error: bool,
        extra: Value,
    ) -> &mut Self {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": error});
        let mut line = json!({"message": {"role": "user", "content": [block]}});
        merge(&mut line, extra);
        self.tree("user", uuid, Some(parent), line)
    }

    pub(crate) fn system(&mut self, uuid: &str, parent: Option<&str>, subtype: &str, extra: Value) -> &mut Self {
        let mut line = extra;
        line["subtype"] = json!(subtype);
        self.tree("system", uuid, parent, line)
    }

    pub(crate) fn summary(&mut self, uuid: &str, parent: &str, text: &str) -> &mut Self {
        let message = json!({"role": "user", "content": text});
        self.tree("user", uuid, Some(parent), json!({"isCompactSummary": true, "message": message}))
    }

    pub(crate) fn pin(&mut self, leaf: &str, explicit: bool) -> &mut Self {
        let line = json!({"type": "last-prompt", "leafUuid": leaf, "explicit": explicit, "sessionId": "s"});
        self.raw(&line.to_string())
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn read(&self) -> Read {
        Read::of(self.text.as_bytes())
    }
}

fn merge(line: &mut Value, extra: Value) {
    if let Value::Object(fields) = extra {
        for (name, value) in fields {
            line[name.as_str()] = value;
        }
    }
}

/// What was read.
pub(crate) struct Read {
    pub(crate) transcript: Transcript,
}

impl Read {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut transcript = Transcript::new(Some(Format::ClaudeCode), "s");
        transcript.feed(bytes);
        transcript.finish();
        transcript.context();
        Self { transcript }
    }

    pub(crate) fn log(&self) -> &Log {
        self.transcript.log()
    }

    /// The context: kind and id or text, `-` before what is not sent, `+` before what the runtime invents.
    pub(crate) fn context(&self, bytes: &[u8]) -> Vec<String> {
        let (log, context) = (self.log(), self.transcript.current().unwrap());
        (0..context.len())
            .map(|at| {
                let (record, slot) = (context.get(log, at).unwrap(), context.slots()[at]);
                let what = record.id.map_or_else(
                    || {
                        let start = usize::try_from(record.offset).unwrap();
                        let line = &bytes[start..start + record.line_len as usize];
                        self.transcript.adapter().unwrap().body(line, record).text
                    },
                    |id| log.syms.name(id).to_string(),
                );
                let owed = record.flags.has(Flags::PROSPECTIVE);
                let sign = match slot.id() {
                    None if owed => "?",
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

    /// Events in short words.
    pub(crate) fn events(&self) -> Vec<String> {
        let log = self.log();
        let name = |sym| log.syms.name(sym);
        log.events
            .iter()
            .map(|(at, event)| {
                let line = log.records[*at as usize].line;
                let what = match event {
                    Event::TaskStarted { id, kind, .. } => format!("started {} {kind:?}", name(*id)),
                    Event::TaskEnded { id, delivered: true } => format!("ended {}", name(*id)),
                    Event::TaskEnded { id, delivered: false } => format!("ended {} untold", name(*id)),
                    Event::RetryOpen(_) => "retry".to_string(),
                    Event::Interrupted => "interrupted".to_string(),
                    Event::Deferred(id) => format!("deferred {}", name(*id)),
                    other => format!("{other:?}"),
                };
                format!("{line} {what}")
            })
            .collect()
    }

    /// Kinds of the records with `flags`, by line.
    pub(crate) fn flagged(&self, flags: Flags) -> Vec<(u32, Kind)> {
        self.log().records.iter().filter(|r| r.flags.has(flags)).map(|r| (r.line, r.kind)).collect()
    }
}
