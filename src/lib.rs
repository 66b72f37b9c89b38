//! cutline: what an agent's transcript owes, how full its context is, and where it may be cut.
//!
//! The rooms below `ui` are a library too: a runtime can ask [`cut`] before it compacts.

pub mod budget;
pub mod cli;
pub mod commit;
pub mod cut;
pub mod export;
pub mod format;
pub mod ledger;
pub mod model;
pub mod plan;
pub mod source;
pub mod ui;
