//! A transcript file is followed, byte for byte, while an agent writes it.
//!
//! Comes in: a path (or standard input), wake-ups from the directory it lies in, and the passing of time as a value.
//! Goes out: [`Feed`]s. Folding the chunks of a file always gives what a cold read of it would give; when bytes that
//! were already given away change, a [`Feed::Reset`] says so and the file is given again from its start.
//! Must never: parse JSON or look for records (only newlines; of the small documents of a legacy store, the ids), trust a watcher (an event means "look", never "what"),
//! decide by size or time of change alone, map a live file into memory (a truncation would kill the process), write.

pub mod database;
mod disk;
mod files;
pub mod find;
pub mod fingerprint;
pub mod follow;
mod old;
mod read;
pub mod stdin;
mod sweep;
pub mod tail;
mod watch;

pub use database::{Address, Poller, Row};
pub use disk::{Identity, Refused};
pub use files::Files;
pub use find::{Found, Roots, Runtime};
pub use follow::{Follower, Woken};
pub use read::{ReadAt, SourceError, read_all, read_chunks, read_head};
pub use tail::{Options, Tail};

/// What following a transcript gives to its reader, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feed {
    /// The next bytes of the file. `offset` is always the number of bytes given since the start or the last reset.
    Chunk {
        /// Where the bytes stand in the file.
        offset: u64,
        /// At most 1 MiB, in any cut: half a line, half a character.
        bytes: Vec<u8>,
    },
    /// Bytes that were given have changed on disk. All of them are withdrawn; the chunks begin again at offset 0.
    /// A reader that wants no half view builds the new one aside and shows it at [`Status::Live`].
    Reset {
        /// Bytes at the start that are the same as before, up to a line's end. For the notice to the operator; never
        /// more than is truly the same, but less where only hashes of the old bytes are known.
        keep: u64,
        /// How they changed.
        reason: Change,
    },
    /// A large file is being read.
    Progress {
        /// Bytes given so far.
        read: u64,
        /// Bytes the file had when it was last looked at.
        total: u64,
    },
    /// Bytes that stand only in a file that was replaced or deleted, and not in the one that has its name now.
    /// They belong to no offset. Followed by [`Status::StrayWriter`].
    Stray {
        /// The bytes, for whoever wants to save them.
        bytes: Vec<u8>,
    },
    /// An asked-for comparison has found every given byte unchanged on disk.
    Verified {
        /// How many bytes that were.
        bytes: u64,
    },
    /// Something to tell the operator.
    Status(Status),
}

/// How bytes that were already given have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The file was cut short and nothing was added.
    Truncated,
    /// The same file has other bytes.
    Rewritten,
    /// Another file has its name.
    Replaced,
    /// Rows of a store have other content, as those of a message that is being written always have. No news.
    Updated,
}

impl Change {
    /// For a notice: `file rewritten: …`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Rewritten => "rewritten",
            Self::Replaced => "replaced",
            Self::Updated => "updated",
        }
    }
}

/// The state of the followed file. Each value replaces the former one, but for the last three, which stand beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is no file yet, perhaps not even its folder. It will be read when it appears.
    Waiting,
    /// Bytes are being read and the end was not reached yet.
    Reading,
    /// All bytes of the file were given.
    Live,
    /// All bytes were given and the last line has no newline for 5 seconds: its writer has probably died.
    Torn {
        /// Bytes after the last newline.
        bytes: u64,
    },
    /// The file is being changed under us. What was given is stale; it is held until the file is stable.
    Rewriting,
    /// The file was there and is not any more. What was given still stands.
    Gone,
    /// The file cannot be opened or read, in the system's words. Tried again after 0.25 to 5 seconds.
    Unreadable(String),
    /// Something that is no regular file has this name.
    Refused(Refused),
    /// Standard input has ended; nothing will follow.
    Ended,
    /// A writer still writes into a file that was replaced or deleted.
    StrayWriter {
        /// Bytes found there so far that are not in the file itself.
        bytes: u64,
    },
    /// Changes are found by looking every half second only, for this reason.
    Polling(String),
    /// The watcher works (again).
    Watching,
}
