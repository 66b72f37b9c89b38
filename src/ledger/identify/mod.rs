//! Live identifiers: what later work refers to, taken by code from arguments and results of calls, never from prose.
//!
//! Comes in: the ledger (which call was answered how) and the payload of calls, decoded on demand. Goes out: paths
//! with what happened to them, branches, worktrees, commits, pull requests, background handles, open transactions,
//! ids by which tools are addressed, the last todo list; and of these the ones that a summary must carry verbatim.
//! Must never: claim that something was done whose outcome is not on record, let a secret through, or do more than
//! linear work on hostile arguments. Values are the transcript's own text: show them through `Shown` only.

mod call;
mod evidence;
mod former;
mod found;
mod git;
mod handles;
mod hosting;
mod mention;
mod patch;
mod paths;
mod redact;
mod shell;
mod sql;
mod target;
mod todo;
mod words;

pub use evidence::Evidence;
pub use former::{former, rendered};
pub use found::Identified;
pub use redact::{Redacted, redact};
pub use target::target;

#[cfg(test)]
mod tests;

/// What an identifier names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdentifierKind {
    /// A file or folder. Its state says whether it was only looked at.
    Path,
    /// A branch of a repository.
    Branch,
    /// A second working tree of a repository, by its path.
    Worktree,
    /// A commit that the agent made, by its hash.
    Commit,
    /// A pull or merge request: its address, or `#12`.
    PullRequest,
    /// An address.
    Url,
    /// Something that runs in the background: the runtime's id, or `pid=…`, `port=…`, `tmux=…`, `output=…`.
    Task,
    /// A process or tool session that later calls are sent to.
    Session,
    /// Another agent.
    Subagent,
    /// Something begun that must be ended: a rebase, a merge, a bisection, a database transaction.
    Transaction,
    /// An id by which a tool is addressed, with the name of its key: `page_id=7`.
    Handle,
    /// The working folder.
    Cwd,
    /// An item of the last todo list.
    Todo,
}

impl IdentifierKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::Path,
        Self::Branch,
        Self::Worktree,
        Self::Commit,
        Self::PullRequest,
        Self::Url,
        Self::Task,
        Self::Session,
        Self::Subagent,
        Self::Transaction,
        Self::Handle,
        Self::Cwd,
        Self::Todo,
    ];

    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Branch => "branch",
            Self::Worktree => "worktree",
            Self::Commit => "commit",
            Self::PullRequest => "pull-request",
            Self::Url => "url",
            Self::Task => "task",
            Self::Session => "session",
            Self::Subagent => "subagent",
            Self::Transaction => "transaction",
            Self::Handle => "handle",
            Self::Cwd => "cwd",
            Self::Todo => "todo",
        }
    }
}

/// What is known to have happened to the thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdentifierState {
    /// Only looked at.
    Read,
    /// Only named.
    Named,
    /// An attempt that is known to have changed nothing.
    Failed,
    /// Made by the agent.
    Made,
    /// Written: created or changed.
    Modified,
    /// Removed, or moved away.
    Deleted,
    /// An attempt whose outcome is not on record: check before relying on it.
    Unknown,
    /// Begun and not ended.
    Open,
    /// The one in use: branch, working folder, item being worked on.
    Current,
    /// Ended.
    Closed,
}

impl IdentifierState {
    /// Every state.
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Named,
        Self::Failed,
        Self::Made,
        Self::Modified,
        Self::Deleted,
        Self::Unknown,
        Self::Open,
        Self::Current,
        Self::Closed,
    ];

    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Named => "named",
            Self::Failed => "failed",
            Self::Made => "made",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Unknown => "unknown",
            Self::Open => "open",
            Self::Current => "current",
            Self::Closed => "closed",
        }
    }

    /// Later work depends on it, whether it is mentioned again or not.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Current | Self::Unknown)
    }

    /// Says nothing about what became of the thing, so it replaces no other state.
    fn is_look(self) -> bool {
        matches!(self, Self::Read | Self::Named)
    }

    /// True if a newer `self` replaces `older`.
    fn replaces(self, older: Self) -> bool {
        match self {
            Self::Read => false,
            Self::Named => older == Self::Read,
            // What failed changed nothing, so it says less than a write that took place.
            Self::Failed => older.is_look(),
            _ => true,
        }
    }
}

/// Something that later work refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier {
    /// What it names.
    pub kind: IdentifierKind,
    /// The transcript's own spelling, secrets removed.
    pub value: String,
    /// Position of the call that named it first; of a todo item, of the list it stands in.
    pub from: usize,
    /// The newest that is known of it.
    pub state: IdentifierState,
}
