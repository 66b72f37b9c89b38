//! summariser commands. Everything happens in temporary folders.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "these tests are the other side: who writes, replaces and removes files"
)]

#[path = "commit/faults.rs"]
mod faults;
#[path = "commit/faulty.rs"]
mod faulty;
#[path = "commit/forks.rs"]
mod forks;
#[path = "commit/power.rs"]
mod power;
#[path = "commit/rig.rs"]
mod rig;
#[path = "commit/stages.rs"]
mod stages;
#[path = "commit/summarisers.rs"]
mod summarisers;
#[path = "commit/undos.rs"]
mod undos;
#[path = "commit/writers.rs"]
mod writers;
