//! One response item becomes one record and what it means for history, pairs and processes.
//!
//! Responses: items carry no response id, so it is derived. From 0.60 on, model items between two outputs, user
//! messages or usage records are one response. Before, a response is written as call, output, call, output in one
//! batch when its tools have ended; there it lasts from one `turn_context` (or figure, or state line) to the next.
//! A reasoning item is always in one response with the model item after it.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::{
    line::pick,
    output::{self, Outcome},
    step::{CUSTOM, Deed, FUNCTION, Item, Key, Role, SEARCH, Sign, Step},
    wrappers::{is_contextual, is_summary, text_of},
};
use crate::{
    format::{Line, json::Raw},
    model::{Flags, Kind, Log, Millis, NoteKind, Record, Sym},
};

/// Names the responses of a file.
#[derive(Default)]
pub(super) struct Responses {
    number: u32,
    current: Option<Sym>,
}

impl Responses {
    /// The response that a part which comes now belongs to.
    fn part(&mut self, log: &mut Log) -> Sym {
        if let Some(sym) = self.current {
            return sym;
        }
        self.number += 1;
        let sym = log.syms.intern(&format!("\u{0}response {}", self.number));
        self.current = Some(sym);
        sym
    }

    /// The next part begins another response.
    pub(super) fn end(&mut self) {
        self.current = None;
    }
}

/// What items are read with.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) responses: Responses,
    /// Calls of which a display line has said that they failed, or that they were declined.
    pub(super) failed: FxHashSet<Sym>,
    pub(super) declined: FxHashSet<Sym>,
}

/// How the file at hand is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// Calls and outputs of one response are interleaved (G0, G1).
    pub(super) interleaved: bool,
    /// Paginated (G4): a broken-off command that goes on is recognisable.
    pub(super) paginated: bool,
    /// The item stands inside a replacement history.
    pub(super) repeat: bool,
}

/// The fields of an item, all that any type needs.
struct Fields<'a> {
    name: Cow<'a, str>,
    role: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
    call: Option<Raw<'a>>,
    tool: Option<Raw<'a>>,
    arguments: Option<Raw<'a>>,
    output: Option<Raw<'a>>,
    server: bool,
}

impl<'a> Fields<'a> {
    fn of(item: Raw<'a>) -> Self {
        let names = ["type", "role", "content", "call_id", "name", "arguments", "output", "execution"];
        let [kind, role, content, call, tool, arguments, output, execution] = pick(item, names);
        Self {
            name: kind.and_then(Raw::str).unwrap_or_default(),
            role,
            content,
            call: call.filter(|raw| raw.is_string()),
            tool,
            arguments,
            output,
            server: execution.is_some_and(|raw| raw.is("server")),
        }
    }
}

/// A record without id, response and place in the history, to be completed.
struct Draft {
    kind: Kind,
    flags: Flags,
    role: Role,
    sign: Sign,
    sent: bool,
    text: usize,
    tool: Option<Sym>,
    key: Option<Key>,
    deed: Deed,
}

impl Draft {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            flags: Flags::NONE,
            role: Role::Other,
            sign: Sign::None,
            sent: true,
            text: 0,
            tool: None,
            key: None,
            deed: Deed::None,
        }
    }

    fn model(kind: Kind) -> Self {
        Self { sign: Sign::Model, ..Self::new(kind) }
    }
}

impl Reader {
    /// Reads `item`, pushes its record, and says what it did.
    pub(super) fn item(&mut self, line: &Line<'_>, item: Raw<'_>, time: Millis, manner: Manner, log: &mut Log) -> Step {
        let fields = Fields::of(item);
        let draft = match &*fields.name {
            "message" => message(&fields, manner, log),
            "agent_message" => Draft { role: Role::Agent, flags: Flags::META, ..Draft::new(Kind::User) },
            "reasoning" => Draft::model(Kind::Thinking),
            "function_call" => call(&fields, FUNCTION, None, log),
            "local_shell_call" => call(&fields, FUNCTION, Some("local_shell"), log),
            "custom_tool_call" => call(&fields, CUSTOM, None, log),
            "tool_search_call" => call(&fields, SEARCH, Some("tool_search"), log),
            "function_call_output" => self.output(&fields, FUNCTION, manner, log),
            "custom_tool_call_output" => self.output(&fields, CUSTOM, manner, log),
            "tool_search_output" => self.output(&fields, SEARCH, manner, log),
            "web_search_call" => tooled("web_search", log),
            "image_generation_call" => tooled("image_generation", log),
            "compaction" | "compaction_summary" | "context_compaction" => Draft::model(Kind::Summary),
            "ghost_snapshot" => Draft { sent: false, ..Draft::new(Kind::Notice) },
            "additional_tools" | "configuration_update" | "compaction_trigger" => {
                Draft { sent: manner.repeat, ..Draft::new(Kind::Notice) }
            }
            name => unknown(name, line, manner, log),
        };
        self.finish(line, item, time, draft, manner, log)
    }

    fn output(&mut self, fields: &Fields<'_>, class: u8, manner: Manner, log: &mut Log) -> Draft {
        let key = key(fields, class, log);
        let object = class != SEARCH && fields.output.is_some_and(Raw::is_object);
        let Some(key) = key else {
            // Supplied by the client or by the provider's server without a call of ours: legal, sent as it is.
            return Draft { sign: Sign::Output, sent: manner.repeat || !object, ..Draft::new(Kind::Notice) };
        };
        let text = fields.output.map(output::text).unwrap_or_default();
        let declined = self.declined.contains(&key.id);
        let outcome = match output::outcome(&text, self.failed.contains(&key.id)) {
            Outcome::Fine | Outcome::Failed if declined => Outcome::Denied,
            outcome => outcome,
        };
        let (kind, flags) = match outcome {
            Outcome::Fine => (Kind::Result, Flags::NONE),
            Outcome::Failed => (Kind::Error, Flags::NONE),
            Outcome::Denied => (Kind::Error, Flags::DENIED),
            // An interruption counts like an abandonment: no payload, outcome unknown.
            Outcome::Aborted => (Kind::Abandoned, Flags::UNKNOWN_OUTCOME),
            Outcome::Abandoned => (Kind::Abandoned, Flags::NONE),
        };
        let refused = object && !manner.repeat;
        let deed = if class == FUNCTION && !refused {
            Deed::Output {
                call: key.id,
                running: output::running(&text).map(|id| log.syms.intern(id)),
                exited: output::exited(&text),
                aborted: outcome == Outcome::Aborted && manner.paginated,
            }
        } else {
            Deed::None
        };
        Draft {
            flags: flags.with_if(Flags::NOT_LOADED, refused),
            role: if refused { Role::Other } else { Role::Output(key) },
            sign: Sign::Output,
            sent: !refused,
            key: Some(key),
            deed,
            ..Draft::new(kind)
        }
    }

    fn finish(
        &mut self,
        line: &Line<'_>,
        item: Raw<'_>,
        time: Millis,
        mut draft: Draft,
        manner: Manner,
        log: &mut Log,
    ) -> Step {
        let mut record = Record { time, ..line.record(draft.kind, item) };
        record.flags = record.flags.with(draft.flags).with_if(Flags::REPEAT, manner.repeat);
        record.id = draft.key.map(|key| key.id);
        record.class = draft.key.map_or(0, |key| key.class);
        record.tool = draft.tool;
        let ends = if draft.sign == Sign::Output { !manner.interleaved } else { draft.sent };
        if draft.kind.is_response_part() {
            record.response = Some(self.responses.part(log));
        } else if ends {
            self.responses.end();
        }
        if manner.interleaved && draft.sign == Sign::Model {
            draft.sign = Sign::None;
        }
        if draft.flags.has(Flags::NOT_LOADED) && draft.key.is_some() {
            let text = "The output is an object; Codex does not load such a line, and the call stays open.";
            log.note(NoteKind::Resume, line.number, text);
        }
        let id = log.push(record);
        let text = u32::try_from(draft.text).unwrap_or(u32::MAX);
        let item = Item { record: id, role: draft.role, text, row: 0 };
        Step::Item { item, sent: draft.sent, sign: draft.sign, deed: draft.deed }
    }
}

fn message(fields: &Fields<'_>, manner: Manner, log: &mut Log) -> Draft {
    let role = fields.role.and_then(Raw::str).unwrap_or_default();
    match &*role {
        "assistant" => Draft::model(Kind::Assistant),
        "user" => user(fields, log),
        "developer" => Draft { role: Role::Surround, ..Draft::new(Kind::Notice) },
        // System messages are never sent.
        "system" => Draft { sent: manner.repeat, ..Draft::new(Kind::Notice) },
        _ => Draft::new(Kind::Notice),
    }
}

fn user(fields: &Fields<'_>, log: &mut Log) -> Draft {
    let Some(content) = fields.content else {
        return Draft { role: Role::Prompt, flags: Flags::HUMAN, ..Draft::new(Kind::User) };
    };
    let text = text_of(content);
    let (kind, role, flags) = if is_contextual(content) {
        (Kind::User, Role::Surround, Flags::META)
    } else if is_summary(&text) {
        (Kind::Summary, Role::Summary, Flags::NONE)
    } else {
        (Kind::User, Role::Prompt, Flags::HUMAN)
    };
    let deed = if flags == Flags::META { told(&text, log) } else { Deed::None };
    Draft { role, flags, text: text.len(), deed, ..Draft::new(kind) }
}

/// The end of a sub-agent, as the model is told it.
fn told(text: &str, log: &mut Log) -> Deed {
    let Some((_, rest)) = text.split_once("<subagent_notification>") else { return Deed::None };
    let Ok(value) = Raw::prefix(rest.as_bytes(), 0) else { return Deed::None };
    let ended = value.get("status").is_some_and(super::events::is_final);
    let id = ["agent_id", "thread_id", "agent_path"].into_iter().find_map(|name| value.get_str(name));
    match id {
        Some(id) if ended => Deed::Told(log.syms.intern(&id)),
        _ => Deed::None,
    }
}

fn key(fields: &Fields<'_>, class: u8, log: &mut Log) -> Option<Key> {
    if class == SEARCH && fields.server {
        return None;
    }
    let id = fields.call?.str()?;
    Some(Key { class, id: log.syms.intern(&id) })
}

fn call(fields: &Fields<'_>, class: u8, fixed: Option<&str>, log: &mut Log) -> Draft {
    let named = fields.tool.and_then(Raw::str);
    let tool = log.syms.intern(fixed.or(named.as_deref()).unwrap_or("tool"));
    let Some(key) = key(fields, class, log) else {
        // Answered by the provider's server inside the response, or without an id to answer to: owes nothing.
        return Draft { tool: Some(tool), ..Draft::model(Kind::Assistant) };
    };
    let session = (class == FUNCTION).then(|| session(fields)).flatten();
    let deed = Deed::Call { call: key.id, tool, session: session.map(|id| log.syms.intern(&id)) };
    let asks = Flags::NONE.with_if(Flags::ASKS_PERSON, named.as_deref() == Some("request_user_input"));
    Draft { role: Role::Call(key), flags: asks, tool: Some(tool), key: Some(key), deed, ..Draft::model(Kind::Call) }
}

/// The session that a call writes to, as `session_id` in its arguments names it.
fn session(fields: &Fields<'_>) -> Option<String> {
    if !fields.tool?.is("write_stdin") {
        return None;
    }
    let arguments = fields.arguments?.str()?;
    let id = Raw::parse(arguments.as_bytes()).ok()?.get("session_id")?;
    Some(id.str().unwrap_or_else(|| String::from_utf8_lossy(id.bytes())).into_owned())
}

fn tooled(tool: &str, log: &mut Log) -> Draft {
    Draft { tool: Some(log.syms.intern(tool)), ..Draft::model(Kind::Assistant) }
}

/// A type that is not known: as a line of the file the client skips it, inside a replacement history it is sent as
/// an item of the type `other`.
fn unknown(name: &str, line: &Line<'_>, manner: Manner, log: &mut Log) -> Draft {
    log.not_understood += 1;
    let what = if manner.repeat { "Codex sends it as an item of the type `other`" } else { "Codex skips it too" };
    let text = format!("The item type `{name}` is not known; {what}.");
    log.note(NoteKind::NotUnderstood, line.number, text);
    let flags = if manner.repeat { Flags::NONE } else { Flags::NOT_LOADED };
    Draft { flags, sent: manner.repeat, ..Draft::new(Kind::Opaque) }
}
