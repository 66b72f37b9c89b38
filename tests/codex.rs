//! The reader of Codex rollouts: what lines become, and what the client would send next.

#[cfg(test)]
#[path = "codex/rollout.rs"]
mod rollout;

#[cfg(test)]
#[path = "codex/samples.rs"]
mod samples;

#[cfg(test)]
#[path = "codex/pairs.rs"]
mod pairs;

#[cfg(test)]
#[path = "codex/boundaries.rs"]
mod boundaries;

#[cfg(test)]
#[path = "codex/processes.rs"]
mod processes;

#[cfg(test)]
#[path = "codex/figures.rs"]
mod figures;

#[cfg(test)]
#[path = "codex/lineage.rs"]
mod lineage;

#[cfg(test)]
#[path = "codex/growth.rs"]
mod growth;
