//! Following a file: whatever happens to it, the folded feeds are a cold read of it.
#![expect(clippy::disallowed_methods, reason = "these tests are the agent that writes, replaces and deletes the file")]

mod cases;
mod discovery;
mod once;
mod programs;
mod rig;
mod threads;
mod trouble;
