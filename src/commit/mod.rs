//! The only room that writes.
//!
//! Comes in: values that say what is to be written, and the time as a value or a question. Goes out: files that are
//! whole after every step. Today that is the replay of a recorded incident into a private folder of its own.
//! Must never: touch a transcript that somebody else writes without a plan and its receipt, write half a line, leave
//! a file behind that nobody was told of, or retry a failed fsync.

mod replay;

pub use replay::Replay;
