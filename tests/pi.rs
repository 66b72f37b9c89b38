//! The reader and writer of pi sessions: what lines become, what pi would send next, and what it resumes from.

#[cfg(test)]
#[path = "pi/session.rs"]
mod session;

#[cfg(test)]
#[path = "pi/lines.rs"]
mod lines;

#[cfg(test)]
#[path = "pi/context.rs"]
mod context;

#[cfg(test)]
#[path = "pi/samples.rs"]
mod samples;

#[cfg(test)]
#[path = "pi/growth.rs"]
mod growth;

#[cfg(test)]
#[path = "pi/damage.rs"]
mod damage;

#[cfg(test)]
#[path = "pi/forks.rs"]
mod forks;
