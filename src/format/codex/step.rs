//! What one line did, freed of its bytes. Lines of files that this one continues are fed out of order, so they
//! become steps that are taken when their turn comes.

use crate::model::{RecordId, Sym};

/// Class of `function_call` and `local_shell_call`, both answered by `function_call_output`.
pub(super) const FUNCTION: u8 = 1;
/// Class of `custom_tool_call`.
pub(super) const CUSTOM: u8 = 2;
/// Class of `tool_search_call`.
pub(super) const SEARCH: u8 = 3;

/// What pairs a call with its output: ids of different classes never answer each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) class: u8,
    pub(super) id: Sym,
}

/// What an item is to the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A person's message.
    Prompt,
    /// A user message that is a summary; for a rollback it counts as a turn.
    Summary,
    /// A message of another agent; for a rollback it counts as a turn.
    Agent,
    /// Context that belongs to the turn after it: developer messages and wrappers.
    Surround,
    /// Opens a pair.
    Call(Key),
    /// Closes a pair.
    Output(Key),
    /// Everything else.
    Other,
}

impl Role {
    /// Counts as a user turn (`is_user_turn_boundary` upstream).
    pub(super) fn is_turn(self) -> bool {
        matches!(self, Self::Prompt | Self::Summary | Self::Agent)
    }
}

/// One item of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) record: RecordId,
    pub(super) role: Role,
    /// Bytes of the decoded text, for messages.
    pub(super) text: u32,
    /// When it came, in steps; given by the history.
    pub(super) row: u32,
}

/// What an item proves about requests to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Nothing.
    None,
    /// The model wrote it. After an output it proves a request (not in G0 and G1, see [`super::items`]).
    Model,
    /// An output of a tool.
    Output,
}

/// What an item means for processes that outlive their call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Nothing.
    None,
    /// A call of a tool, with the session it writes to.
    Call { call: Sym, tool: Sym, session: Option<Sym> },
    /// An output with what its head says.
    Output { call: Sym, running: Option<Sym>, exited: bool, aborted: bool },
    /// A message that tells of a sub-agent's end.
    Told(Sym),
}

/// Something that a display line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happening {
    /// The process of a command ended.
    CommandEnded { call: Option<Sym>, process: Option<Sym> },
    /// The long-running goal is open, or complete.
    Goal { id: Sym, open: bool },
    /// A sub-agent was started by a call.
    AgentStarted { id: Sym, call: Option<Sym> },
    /// A sub-agent ended; `told` if the model heard of it.
    AgentEnded { id: Sym, told: bool },
}

/// A `compacted` line.
#[derive(Clone, Debug)]
pub(super) struct Compaction {
    /// The line's own item: its message as a user message.
    pub(super) summary: Item,
    pub(super) line: u32,
    /// The replacement history, if there is one.
    pub(super) items: Option<Vec<Item>>,
    /// What its items did, in order.
    pub(super) deeds: Vec<(Deed, RecordId)>,
}

/// What a line did.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A response item. `sent`: the client loads it and sends it.
    Item { item: Item, sent: bool, sign: Sign, deed: Deed },
    /// A display line that proves a later request.
    Asked,
    /// A compaction that the client accepts.
    Compacted(Compaction),
    /// The last turns left the context.
    RolledBack { turns: u64, line: u32 },
    /// Something else.
    Happened(Happening),
}
