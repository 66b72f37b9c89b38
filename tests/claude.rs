//! The reader of Claude Code sessions: what lines become, and what the runtime would send next.

#[cfg(test)]
#[path = "claude/session.rs"]
mod session;

#[cfg(test)]
#[path = "claude/lines.rs"]
mod lines;

#[cfg(test)]
#[path = "claude/context.rs"]
mod context;

#[cfg(test)]
#[path = "claude/damage.rs"]
mod damage;

#[cfg(test)]
#[path = "claude/growth.rs"]
mod growth;

#[cfg(test)]
#[path = "claude/samples.rs"]
mod samples;
