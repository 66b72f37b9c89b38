//! cutline: what an agent's transcript owes, how full its context is, and where it may be cut.

pub mod budget;
pub mod cut;
pub mod export;
pub mod format;
pub mod ledger;
pub mod model;
pub mod plan;
