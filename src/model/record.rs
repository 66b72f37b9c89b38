use super::{Kind, Millis, Sym};

/// Index of a record in its [`super::Log`], in file order.
pub type RecordId = u32;

/// A conversation thread inside one file: the main one or a sub-agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LaneId(pub u16);

impl LaneId {
    /// The main lane.
    pub const MAIN: Self = Self(0);
}

/// Properties of a record beyond its kind, as a bit set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u32);

impl Flags {
    /// No property.
    pub const NONE: Self = Self(0);
    /// Typed by a person: a prompt, the start of a human turn.
    pub const HUMAN: Self = Self(1);
    /// Text in the user's name that no person typed.
    pub const META: Self = Self(1 << 1);
    /// Call in a response that the runtime itself discarded: never owed.
    pub const VOID: Self = Self(1 << 2);
    /// A resolution without payload whose outcome is unknown: the runtime's placeholder or interruption.
    pub const UNKNOWN_OUTCOME: Self = Self(1 << 3);
    /// The call was denied and not executed.
    pub const DENIED: Self = Self(1 << 4);
    /// Invented by the runtime in memory when it builds the next request; stands on no line of the file.
    pub const SYNTHETIC: Self = Self(1 << 5);
    /// A synthetic record that the runtime *would* write into its next request, while the call is still owed.
    pub const PROSPECTIVE: Self = Self(1 << 6);
    /// Repeats a record that was already counted (same uuid, or an item inside a compaction's replacement list).
    pub const REPEAT: Self = Self(1 << 7);
    /// Recovered from a damaged line; the runtime itself does not see it.
    pub const SALVAGED: Self = Self(1 << 8);
    /// A call that the provider's server answers inside the same response.
    pub const SERVER: Self = Self(1 << 9);
    /// The resolution stands on disk in a form the runtime refuses to load.
    pub const NOT_LOADED: Self = Self(1 << 10);
    /// Ends every open retry of its lane.
    pub const SETTLES_RETRY: Self = Self(1 << 11);
    /// Written locally by the client, not by the model (API error texts and the like).
    pub const LOCAL: Self = Self(1 << 12);
    /// The payload was shortened by the runtime before it was sent.
    pub const TRUNCATED: Self = Self(1 << 13);
    /// Answers a call that stands in the provider's store and in no file.
    pub const REMOTE: Self = Self(1 << 14);
    /// The line was larger than the cap and was not read whole.
    pub const OVERSIZED: Self = Self(1 << 15);
    /// Answers a call whose tool asks a person (questions, plan approval).
    pub const ASKS_PERSON: Self = Self(1 << 16);

    /// True if every bit of `other` is set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// This set with `other` added.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set with `other` added if `on`.
    #[must_use]
    pub fn with_if(self, other: Self, on: bool) -> Self {
        if on { self.with(other) } else { self }
    }
}

/// One block-level unit of a transcript. A line may hold several; one response may spread over several lines.
/// Payload is not here: it is read again from `offset` when it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Byte offset of the line in its segment.
    pub offset: u64,
    /// Unix milliseconds, or [`Millis::NONE`].
    pub time: Millis,
    /// 1-based physical line; 0 for a record that stands on no line.
    pub line: u32,
    /// Bytes of the line without its newline.
    pub line_len: u32,
    /// Start of this block's JSON inside the line.
    pub at: u32,
    /// Bytes of this block's JSON.
    pub len: u32,
    /// Bytes of text that a model reads of this record (decoded roughly, base64 left out).
    pub text: u32,
    /// Estimated tokens.
    pub tokens: u32,
    /// The agent's own id of the call, approval, transaction, retry or task.
    pub id: Option<Sym>,
    /// Id of the model response this record is a part of.
    pub response: Option<Sym>,
    /// Physical message this record shares with its neighbours.
    pub message: Option<Sym>,
    /// Tool name of a call; of a resolution, if the format repeats it.
    pub tool: Option<Sym>,
    /// Properties.
    pub flags: Flags,
    /// Which thread of the file.
    pub lane: LaneId,
    /// 0: the file itself; n: the n-th file of a bundle that it continues.
    pub segment: u16,
    /// What it is.
    pub kind: Kind,
    /// Distinguishes id spaces of one format that never answer each other (Codex call classes); 0 where there is one.
    pub class: u8,
}

impl Record {
    /// A record of `kind` without any property, for builders and tests.
    pub fn new(kind: Kind) -> Self {
        Self {
            offset: 0,
            time: Millis::NONE,
            line: 0,
            line_len: 0,
            at: 0,
            len: 0,
            text: 0,
            tokens: 1,
            id: None,
            response: None,
            message: None,
            tool: None,
            flags: Flags::NONE,
            lane: LaneId::MAIN,
            segment: 0,
            kind,
            class: 0,
        }
    }

    /// A person's prompt.
    pub fn is_prompt(&self) -> bool {
        self.kind == Kind::User && self.flags.has(Flags::HUMAN)
    }

    /// A call that can be owed: not discarded by the runtime, not answered by the provider's own server.
    pub fn is_owed_call(&self) -> bool {
        self.kind == Kind::Call && !self.flags.has(Flags::VOID)
    }
}
