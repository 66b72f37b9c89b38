//! Following a file: whatever happens to it, the folded feeds are a cold read of it.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "these tests are the agent that writes, replaces and deletes the file")]

#[cfg(test)]
mod cases;
#[cfg(test)]
mod discovery;
#[cfg(test)]
mod once;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod rig;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod trouble;
