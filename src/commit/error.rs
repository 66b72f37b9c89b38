//! Why nothing was written, or not everything. Each text is one sentence or two; `hint` says what to do next. Paths
//! and checks in them may hold anything: show them safely.

use std::{io, path::PathBuf};

use super::whole::plain;

/// The source changed, or somebody else is at it.
const CHANGED: u8 = 14;
/// Everything else.
const FAILED: u8 = 1;

/// A commit that was not done.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A check forbids it.
    #[error("A check forbids this commit: {name}. {text}")]
    Forbidden {
        /// Its name.
        name: &'static str,
        /// What was found.
        text: String,
    },
    /// A check waits for a person's yes.
    #[error("Nobody has said yes to this yet: {name}. {text}")]
    Unconfirmed {
        /// Its name.
        name: &'static str,
        /// What was found.
        text: String,
    },
    /// The plan was committed before.
    #[error("This plan was already committed: receipt {id} of {time}.")]
    Already {
        /// Id of the first receipt.
        id: String,
        /// Its time.
        time: String,
        /// Its file.
        receipt: PathBuf,
    },
    /// Another process is at the same plan.
    #[error("Another cutline is committing this plan at this moment.")]
    Busy,
    /// The source is not what was previewed.
    #[error("The source changed since the preview: {0}. Nothing was written.")]
    Changed(String),
    /// The source cannot be read.
    #[error("{path} could not be read: {}. Nothing was written.", plain(.why))]
    Unreadable {
        /// The source.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// The name of the new file is taken.
    #[error("{0} exists already, and nothing is written over.")]
    Taken(PathBuf),
    /// The last component of where to write is a link.
    #[error("{0} is a link, and nothing is written through one.")]
    Link(PathBuf),
    /// The folder is not there.
    #[error("There is no folder {0}.")]
    NoFolder(PathBuf),
    /// The name of the new file is none.
    #[error("`{0}` cannot be the name of a file.")]
    Name(String),
    /// The folder of the new file cannot be written.
    #[error("{path} could not be written: {}. Nothing was committed.", plain(.why))]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// The state folder cannot be used.
    #[error("The state folder {path} could not be used: {}. Nothing was committed.", plain(.why))]
    State {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// What stands on the disk is not what was previewed.
    #[error("{0} Nothing was committed.")]
    Differs(String),
    /// Nothing was committed, but something could not be cleaned away.
    #[error("{cause} Left behind: {}.", listed(.left))]
    LeftBehind {
        /// Why nothing was committed.
        cause: Box<Self>,
        /// What is still there.
        left: Vec<PathBuf>,
    },
    /// The new file stands under its name, but the commit could not be finished, nor taken back.
    #[error("{path} is written and whole, but its receipt could not be finished: {cause}. {why}")]
    Stands {
        /// The new file.
        path: PathBuf,
        /// What could not be finished.
        cause: String,
        /// Why it was not taken back.
        why: String,
    },
}

fn listed(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl CommitError {
    /// Exit code: 14 if the source changed or somebody else is at it, else 1.
    pub fn code(&self) -> u8 {
        match self {
            Self::Already { .. } | Self::Busy | Self::Changed(_) => CHANGED,
            Self::LeftBehind { cause, .. } => cause.code(),
            _ => FAILED,
        }
    }

    /// Kebab-case name for `--json`, stable.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Forbidden { .. } => "failed-check",
            Self::Unconfirmed { .. } => "unconfirmed",
            Self::Already { .. } => "already-committed",
            Self::Busy => "busy",
            Self::Changed(_) => "source-changed",
            Self::Unreadable { .. } => "source-unreadable",
            Self::Taken(_) => "name-taken",
            Self::Link(_) => "link",
            Self::NoFolder(_) => "no-folder",
            Self::Name(_) => "bad-name",
            Self::Unwritable { .. } => "unwritable",
            Self::State { .. } => "state",
            Self::Differs(_) => "differs",
            Self::LeftBehind { cause, .. } => cause.kind(),
            Self::Stands { .. } => "unfinished",
        }
    }

    /// True if the same wish may well succeed later or from a new plan.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Busy | Self::Changed(_) | Self::Differs(_) => true,
            Self::LeftBehind { cause, .. } => cause.retryable(),
            _ => false,
        }
    }

    /// What to do next, in a sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::Forbidden { .. } => "Choose another span, or settle first what is open.".to_string(),
            Self::Unconfirmed { name, .. } => format!("Look at it, then confirm `{name}`."),
            Self::Already { id, .. } => format!("Undo it first (cutline undo {id}), or plan again."),
            Self::Busy => "Wait for it to end; its receipt says what it did.".to_string(),
            Self::Changed(_) => "Look at a new preview: re-plan, then commit that.".to_string(),
            Self::Unreadable { .. } => "Check that the transcript is still there and yours to read.".to_string(),
            Self::Taken(_) => "Move that file away, or choose another folder with --out.".to_string(),
            Self::Link(_) => "Name the place that it points to.".to_string(),
            Self::NoFolder(_) => "Make it first, or choose another folder with --out.".to_string(),
            Self::Name(_) => "The transcript names a session that no file can be called by; report this.".to_string(),
            Self::Unwritable { .. } => "Make room or get the right to write there, or choose --out.".to_string(),
            Self::State { .. } => "Repair it, or set XDG_STATE_HOME to a folder that you can write.".to_string(),
            Self::Differs(_) => "Try again; if it happens twice, distrust the disk.".to_string(),
            Self::LeftBehind { cause, .. } => {
                format!("{} The next commit into that folder cleans up, or remove it by hand.", cause.hint())
            }
            Self::Stands { .. } => {
                "Use it as it is; `cutline undo` removes it once the disk is well again.".to_string()
            }
        }
    }
}

/// An undo that was not done.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// It was undone before.
    #[error("This commit was already undone at {0}.")]
    Already(String),
    /// The receipt is not that of a fork.
    #[error("This receipt is of mode `{0}`; this version can only undo a fork.")]
    OtherMode(String),
    /// The file is not there.
    #[error("{0} is gone: somebody else moved or removed it. There is nothing to undo.")]
    Gone(PathBuf),
    /// Something else has its name.
    #[error("{0} is not the file that was committed: another one took its place. It was left alone.")]
    Replaced(PathBuf),
    /// Its bytes are others.
    #[error("{0} was changed since the commit, not only continued. It was left alone.")]
    Changed(PathBuf),
    /// Somebody went on in it.
    #[error("{path} was resumed: {lines} lines ({bytes} bytes) were added since the commit. It was left alone.")]
    Grown {
        /// The file.
        path: PathBuf,
        /// Bytes behind those of the commit.
        bytes: u64,
        /// Lines in them.
        lines: u64,
    },
    /// Somebody has it open for writing.
    #[error("Process {pid} has {path} open for writing. It was left alone.")]
    Live {
        /// The file.
        path: PathBuf,
        /// The process.
        pid: u32,
    },
    /// Another process is at the same plan.
    #[error("Another cutline is committing or undoing this plan at this moment.")]
    Busy,
    /// The system said no; everything is as it was.
    #[error("{path}: {}. Nothing was undone.", plain(.why))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// The file is removed or set aside, but the undo could not be finished.
    #[error("{path} was taken away, but the undo could not be finished: {}.", plain(.why))]
    Unfinished {
        /// The file, or the name under which it was set aside.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
}

impl UndoError {
    /// Exit code: 14 if the file changed or somebody else is at it, else 1.
    pub fn code(&self) -> u8 {
        match self {
            Self::Replaced(_) | Self::Changed(_) | Self::Grown { .. } | Self::Live { .. } | Self::Busy => CHANGED,
            _ => FAILED,
        }
    }

    /// Kebab-case name for `--json`, stable.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Already(_) => "already-undone",
            Self::OtherMode(_) => "other-mode",
            Self::Gone(_) => "gone",
            Self::Replaced(_) => "replaced",
            Self::Changed(_) => "output-changed",
            Self::Grown { .. } => "resumed",
            Self::Live { .. } => "writer-alive",
            Self::Busy => "busy",
            Self::Io { .. } => "io",
            Self::Unfinished { .. } => "unfinished",
        }
    }

    /// True if the same wish may well succeed later.
    pub fn retryable(&self) -> bool {
        matches!(self, Self::Live { .. } | Self::Busy | Self::Io { .. } | Self::Unfinished { .. })
    }

    /// What to do next, in a sentence.
    pub fn hint(&self) -> String {
        let text = match self {
            Self::Already(_) | Self::Gone(_) => "The source never changed; go on with it.",
            Self::OtherMode(_) => "Use the version of cutline that wrote the receipt.",
            Self::Replaced(_) | Self::Changed(_) => "Look at it; if nobody needs it, remove it by hand.",
            Self::Grown { .. } => "Work was done in it: keep it, or remove it by hand if that work is worth nothing.",
            Self::Live { .. } => "End the agent first, then undo again.",
            Self::Busy => "Wait for it to end, then look at the receipts.",
            Self::Io { .. } => "Repair that, then undo again.",
            Self::Unfinished { .. } => "Undo again once the disk is well; it goes on where it stopped.",
        };
        text.to_string()
    }
}
