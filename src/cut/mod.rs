//! Where a compaction may cut, why elsewhere it may not, and what to do: COMPACT, DEFER, REFUSE or NO-OP.
//!
//! Comes in: a [`Ledger`](crate::ledger::Ledger) and token figures. Goes out: legality of every position with
//! reasons as data, the nearest legal cut, a [`Decision`] whose blockers name their remedy.
//! Must never: panic; say "illegal" without saying why; refuse without a remedy.
//!
//! The pure questions that a runtime asks before it compacts are functions here:
//!
//! ```
//! use cutline::{cut, format::notation, ledger::Ledger};
//!
//! let log = notation::parse("U C1 R1 A U C2").unwrap();
//! let ledger = Ledger::of(&log.log, &log.context, log.context.len());
//! assert_eq!(cut::pending_calls_at(&ledger, 6), [5]);
//! assert_eq!(cut::orphan_results_at(&ledger, 2), [2]);
//! assert_eq!(cut::select_legal_cut(&ledger, 6).unwrap(), 5);
//! let error = cut::is_obligation_closed(&ledger, 0, 6).unwrap_err();
//! assert_eq!(error.open, [5]);
//! ```

mod candidates;
mod decide;
mod legality;
mod verdict;

pub use candidates::{Candidate, candidates};
pub use decide::{Demand, Target, decide};
pub use legality::{
    IllegalCompactionCut, OpenObligation, Reason, ReasonKind, Reasons, Rules, is_legal_cut, is_obligation_closed,
    legal_cuts, legal_ends, orphan_results_at, pending_calls_at, reasons_at_every_cut, select_legal_cut, why_illegal,
};
pub use verdict::{Because, Blocker, Decision, Relief, Verdict};
