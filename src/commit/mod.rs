//! The only room that writes, and the only one that starts a program.
//!
//! Comes in: values that say what is to be written, and the time as a value or a question. Goes out: a new session
//! file with its [`Receipt`], or nothing and one sentence why; the same file taken away again; what is staged; who
//! may be writing a transcript; what a summariser command answered; the demo's replay in a private folder.
//! Must never: open a transcript for writing, write over a name, touch a file without a plan and its receipt, leave
//! anything behind that nobody was told of, retry a failed fsync, or start a shell.

mod error;
mod fork;
mod fs;
mod leftovers;
mod receipt;
mod replay;
mod store;
mod summariser;
mod undo;
mod whole;
mod writer;

pub use error::{CommitError, UndoError};
pub use fork::{Job, commit};
pub use fs::{Disk, Fs};
pub use receipt::{CheckMark, FileMark, Receipt, SettledMark, SummaryMark};
pub use replay::Replay;
pub use store::Store;
pub use summariser::{Progress, RunError, Summariser};
pub use undo::{Undone, undo};
pub use writer::{Liveness, Roots, Writer, writer};
