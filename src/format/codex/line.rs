//! The outer shape of a rollout line: which kind of record it is, its payload, its time, its ordinal.

use std::borrow::Cow;

use crate::{
    format::{Line, json::Raw},
    model::{Flags, Kind, Millis, Record, parse_rfc3339},
};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// `session_meta`, or the bare header of G0.
    Header,
    /// A response item: the history that the model sees.
    Item,
    /// `event_msg`.
    Event,
    /// `compacted`.
    Compacted,
    /// `turn_context`.
    TurnContext,
    /// `token_usage_record`.
    TokenUsage,
    /// `inter_agent_communication`: becomes an item that the model sees.
    Communication,
    /// The `{"record_type":"state"}` lines of G0.
    State,
    /// Known, and nothing of it reaches the model as history.
    Display,
    /// Not known to this version.
    Unknown,
}

/// The ordinal that paginated files (G4) carry on every line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ordinal {
    /// The key is absent.
    Absent,
    /// A whole number.
    Number(u64),
    /// Something else: `26.0` made 0.146 to 0.153 use the number twice.
    Odd,
}

/// One line taken apart.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) sort: Sort,
    /// The value of `type`, for notes.
    pub(super) name: Cow<'a, str>,
    /// The payload; of a line without envelope, the line itself.
    pub(super) payload: Raw<'a>,
    pub(super) time: Millis,
    pub(super) ordinal: Ordinal,
    /// True if there was no envelope.
    pub(super) bare: bool,
}

/// The fields called `names` in one pass: a lookup by name walks the whole object, and payloads are large.
/// The last one wins where a key stands twice.
pub(super) fn pick<'a, const N: usize>(value: Raw<'a>, names: [&str; N]) -> [Option<Raw<'a>>; N] {
    let mut found = [None; N];
    for (key, field) in value.fields() {
        for (name, slot) in names.iter().zip(&mut found) {
            if key.is(name) {
                *slot = Some(field);
            }
        }
    }
    found
}

impl<'a> Entry<'a> {
    /// Takes `value` apart.
    pub(super) fn read(value: Raw<'a>) -> Self {
        let [kind, payload, time, ordinal, record_type, id] =
            pick(value, ["type", "payload", "timestamp", "ordinal", "record_type", "id"]);
        let name = kind.and_then(Raw::str);
        let time = time.and_then(Raw::str).map_or(Millis::NONE, |text| parse_rfc3339(&text));
        let ordinal = match ordinal {
            None => Ordinal::Absent,
            Some(raw) => whole(raw).map_or(Ordinal::Odd, Ordinal::Number),
        };
        let made = |sort, name, payload, bare| Self { sort, name, payload, time, ordinal, bare };
        match (name, payload) {
            (Some(name), Some(payload)) if payload.is_object() => made(sort_of(&name), name, payload, false),
            (name, _) if record_type.is_some() => made(Sort::State, name.unwrap_or_default(), value, true),
            (Some(name), _) => made(Sort::Item, name, value, true),
            (None, _) if id.is_some() && time != Millis::NONE => made(Sort::Header, Cow::Borrowed(""), value, true),
            (None, _) => made(Sort::Unknown, Cow::Borrowed(""), value, true),
        }
    }
}

fn sort_of(name: &str) -> Sort {
    match name {
        "session_meta" => Sort::Header,
        "response_item" => Sort::Item,
        "event_msg" => Sort::Event,
        "compacted" => Sort::Compacted,
        "turn_context" => Sort::TurnContext,
        "token_usage_record" => Sort::TokenUsage,
        "inter_agent_communication" => Sort::Communication,
        "world_state"
        | "dynamic_tools_updated"
        | "inter_agent_communication_metadata"
        | "retained_context"
        | "security_risk_score"
        | "realtime_item" => Sort::Display,
        _ => Sort::Unknown,
    }
}

/// A whole number written as one: `12.0` is none here.
pub(super) fn whole(raw: Raw<'_>) -> Option<u64> {
    std::str::from_utf8(raw.bytes()).ok()?.parse().ok()
}

/// A record for a line that no model reads: its place only, without looking at its payload (a `world_state` of
/// 2026 is larger than most conversations).
pub(super) fn unread(line: &Line<'_>, kind: Kind, block: Raw<'_>, time: Millis) -> Record {
    let (at, len) = block.range();
    Record {
        offset: line.offset,
        time,
        line: line.number,
        line_len: u32::try_from(line.bytes.len()).unwrap_or(u32::MAX),
        at,
        len,
        segment: line.segment,
        flags: Flags::NONE.with_if(Flags::SALVAGED, line.salvaged),
        ..Record::new(kind)
    }
}
