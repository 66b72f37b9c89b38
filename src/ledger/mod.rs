//! Who owes what: records of the effective context become calls, units, obligations, the live frontier.
//!
//! Comes in: records in logical order, one [`Ledger::push`] each, and the [`Event`](crate::model::Event)s that happen at them.
//! Goes out: pairing, pending sets, atomic units, unread results, carried tasks; all incremental, so that a fold of
//! any prefix is the same as a fold from scratch.
//! Must never: do quadratic work, pair by *sets* of ids (an id may be used again), or forget an open call because
//! something else looks like its answer.

mod answers;
mod carried;
mod fold;
pub mod identify;
mod obligation;
mod tally;
mod units;

pub use carried::{Carried, CarriedSet};
pub use fold::{Bracket, Ledger};
pub(crate) use obligation::task_obligation;
pub use obligation::{CallState, Obligation, ObligationKind, Remedy};
pub use tally::{Tally, TallyOpen};
pub use units::{Unit, Units};
