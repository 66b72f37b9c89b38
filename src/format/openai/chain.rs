//! Conversations of one log: which messages each holds, and with which a request goes on.

use super::Dialect;
use crate::{
    format::json::Raw,
    model::{Kind, LaneId, Log, RecordId},
};

/// Fields that the client changes between two requests, or that the provider adds: no part of what is said.
const OUTSIDE: [&str; 6] = ["cache_control", "id", "status", "annotations", "logprobs", "refusal"];
/// Objects in objects that are looked into; below it bytes are compared.
const DEPTH: usize = 24;

/// One message with its place and its records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    /// Of what it says.
    pub(super) hash: u64,
    pub(super) segment: u16,
    pub(super) offset: u64,
    pub(super) line: u32,
    /// Start and length of the message in its line.
    pub(super) at: u32,
    pub(super) len: u32,
    /// Its records: first, and the one behind the last.
    pub(super) records: (RecordId, RecordId),
    /// Kept by every compaction and not counted: the system's words at the head, opaque items of the provider.
    pub(super) outside: bool,
    /// The context begins with this record of it.
    pub(super) restart: Option<RecordId>,
}

impl Told {
    /// Places of its records in the log.
    pub(super) fn range(self) -> std::ops::Range<usize> {
        self.records.0 as usize..self.records.1 as usize
    }
}

/// One conversation.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) lane: LaneId,
    pub(super) told: Vec<Told>,
    /// Its requests offer tools.
    pub(super) tools: bool,
    /// Of the system's words.
    pub(super) system: u64,
    /// Calls that were read.
    pub(super) calls: usize,
    /// The context begins later than it did.
    pub(super) restarted: bool,
}

impl Chain {
    pub(super) fn new(lane: LaneId, tools: bool, system: u64) -> Self {
        Self { lane, told: Vec::new(), tools, system, calls: 0, restarted: false }
    }

    pub(super) fn push(&mut self, told: Told) {
        self.restarted |= told.restart.is_some();
        self.told.push(told);
    }

    /// Takes everything from the message `at` on.
    pub(super) fn cut(&mut self, at: usize) -> Vec<Told> {
        self.told.split_off(at.min(self.told.len()))
    }

    /// Nothing but the system's words was said yet.
    pub(super) fn is_head(&self) -> bool {
        self.told.iter().all(|told| told.outside)
    }

    /// Records that a model reads.
    pub(super) fn sent(&self) -> impl Iterator<Item = RecordId> {
        let start = self.told.iter().rposition(|told| told.restart.is_some()).unwrap_or(0);
        self.told.iter().skip(start).filter(|told| !told.outside).flat_map(move |told| {
            let (first, end) = told.records;
            told.restart.unwrap_or(first).max(first)..end
        })
    }

    /// The newest record.
    pub(super) fn newest(&self) -> Option<RecordId> {
        self.told.iter().rev().find(|told| told.records.1 > told.records.0).map(|told| told.records.1 - 1)
    }
}

/// True for what is no empty list.
pub(super) fn holds_something(list: Raw<'_>) -> bool {
    !list.is_array() || list.items().next().is_some()
}

/// How many messages at the head are the same.
pub(super) fn common(told: &[Told], hashes: &[u64]) -> usize {
    told.iter().zip(hashes).take_while(|(told, hash)| told.hash == **hash).count()
}

/// How many messages of a request were said before. Clients send a response back in words of their own (fields left out,
/// arguments written anew): the same calls at its place are the same message.
pub(super) fn echoed(chain: &mut Chain, items: &[Raw<'_>], hashes: &[u64], log: &Log) -> usize {
    loop {
        let same = common(&chain.told, hashes);
        let (Some(told), Some(item), Some(hash)) = (chain.told.get_mut(same), items.get(same), hashes.get(same)) else {
            return same;
        };
        let records = log.records.get(told.range()).unwrap_or_default();
        let calls = records.iter().filter(|record| record.kind == Kind::Call);
        let calls: Vec<&str> = calls.filter_map(|record| Some(log.syms.name(record.id?))).collect();
        if calls.is_empty() || calls != calls_of(*item) {
            return same;
        }
        told.hash = *hash;
    }
}

/// Ids of the calls of a message or an item.
fn calls_of(item: Raw<'_>) -> Vec<String> {
    let id = |call: Raw<'_>, name: &str| call.get_str(name).map(std::borrow::Cow::into_owned);
    let listed = item.get("tool_calls").into_iter().flat_map(Raw::items).filter_map(|call| id(call, "id"));
    let own = id(item, "call_id").filter(|_| item.get("output").is_none());
    listed.chain(own).collect()
}

/// The conversation that a request goes on with: the one of which it repeats most; else one of the same system and
/// tools, which was compacted.
pub(super) fn find(chains: &[Chain], hashes: &[u64], lead: usize, tools: bool, system: u64) -> Option<usize> {
    let repeats = |chain: &Chain| {
        let same = common(&chain.told, hashes);
        // The whole of it, or its first real words under the same tools.
        let fits = same > 0 && (same == chain.told.len() || (same > lead && chain.tools == tools));
        fits.then_some(same)
    };
    let most = chains.iter().enumerate().filter_map(|(n, chain)| Some((repeats(chain)?, std::cmp::Reverse(n)))).max();
    most.map(|(_, n)| n.0).or_else(|| chains.iter().position(|chain| chain.tools == tools && chain.system == system))
}

/// Of the system's words of a request.
pub(super) fn system(body: Raw<'_>, lead: &[u64]) -> u64 {
    let mut bytes = Vec::new();
    for name in ["system", "instructions"] {
        if let Some(value) = body.get(name) {
            canonical(value, 0, &mut bytes);
        }
    }
    bytes.extend(lead.iter().flat_map(|hash| hash.to_le_bytes()));
    xxhash_rust::xxh3::xxh3_64(&bytes)
}

/// Of what a message says: two copies of one message are the same however they are written down.
pub(super) fn hash(dialect: Dialect, item: Raw<'_>) -> u64 {
    let mut bytes = Vec::new();
    if item.is_string() {
        // A request of Responses may be one string: one message of the user.
        bytes.extend_from_slice(b"user");
        content(item, &mut bytes);
    } else {
        match dialect {
            Dialect::Responses if item.get("role").is_none() => canonical(item, 0, &mut bytes),
            _ => message(item, &mut bytes),
        }
    }
    xxhash_rust::xxh3::xxh3_64(&bytes)
}

fn message(item: Raw<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(item.get_str("role").unwrap_or_default().as_bytes());
    if let Some(value) = item.get("content") {
        content(value, out);
    }
    for name in ["tool_calls", "function_call", "tool_call_id", "name"] {
        if let Some(value) = item.get(name).filter(|value| !value.is_null() && holds_something(*value)) {
            out.push(0xff);
            out.extend_from_slice(name.as_bytes());
            // The id of a call is what it is answered by.
            value.items().filter_map(|call| call.get_str("id")).for_each(|id| out.extend_from_slice(id.as_bytes()));
            canonical(value, 0, out);
        }
    }
}

/// A string is the same as a list with one block of text.
fn content(value: Raw<'_>, out: &mut Vec<u8>) {
    if let Some(whole) = value.str() {
        if !whole.is_empty() {
            out.push(0xfe);
            out.extend_from_slice(whole.as_bytes());
        }
        return;
    }
    for block in value.items() {
        let kind = block.get_str("type").unwrap_or_default();
        let words = block.get_str("text").filter(|_| matches!(&*kind, "text" | "input_text" | "output_text"));
        if let Some(words) = words {
            out.push(0xfe);
            out.extend_from_slice(words.as_bytes());
        } else {
            // A call is told from another by its id.
            let id = block.get_str("id").filter(|_| kind.ends_with("tool_use"));
            out.extend_from_slice(id.unwrap_or_default().as_bytes());
            canonical(block, 0, out);
        }
    }
}

/// Fields in the order of their names, without what is no part of what is said.
fn canonical(value: Raw<'_>, depth: usize, out: &mut Vec<u8>) {
    if value.is_object() && depth < DEPTH {
        let mut fields: Vec<_> = value.fields().map(|(key, value)| (key.str(), value)).collect();
        fields.retain(|(key, value)| !OUTSIDE.contains(&&**key) && !value.is_null());
        fields.sort_by(|(a, _), (b, _)| a.cmp(b));
        out.push(b'{');
        for (key, value) in fields {
            out.extend_from_slice(key.as_bytes());
            out.push(b':');
            canonical(value, depth + 1, out);
        }
        out.push(b'}');
    } else if value.is_array() && depth < DEPTH {
        out.push(b'[');
        value.items().for_each(|item| canonical(item, depth + 1, out));
        out.push(b']');
    } else if let Some(text) = value.str() {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        out.extend_from_slice(value.bytes());
    }
    out.push(b',');
}
