//! The only room that writes.
//!
//! Comes in: what is to be written. Goes out: files. Today that is the demo's replay into a temporary file of its own;
//! forks and receipts of compactions come here.
//! Must never: write into a transcript that it did not create, or leave anything behind that nobody asked for.

mod replay;

pub use replay::Replay;
