//! For readers: the machine contract's documents and the plain-text forms of the same facts.
//!
//! Comes in: a [`Session`](crate::plan::Session), a moment, and access to payload. Goes out: structs with serde
//! types of their own, blocks of text with rails.
//! Must never: write a file, load anything from a network, print, or let raw transcript text into a text form
//! without [`Shown`](crate::model::Shown).

mod check;
mod rails;
mod report;
mod row;
mod show;

pub use check::MapCheck;
pub use rails::{Rail, Rails};
pub use report::{
    CommitReport, ContextReport, CutsReport, ErrorReport, FormatsReport, InspectReport, ObligationItem,
    ObligationsReport, PlanReport, ReceiptsReport, UndoReport, hex,
};
pub use row::{Row, Sign, Symbols, head_of, row};
pub use show::{ShowOptions, show, tokens, worth_a_ruler};
