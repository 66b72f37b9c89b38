//! cutline: what an agent's transcript owes, how full its context is, and where it may be cut.

pub mod format;
pub mod model;
pub mod source;
