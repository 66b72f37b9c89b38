//! What would happen: one transcript at one moment with everything derived from it, and the plan of a compaction.
//!
//! Comes in: bytes (through [`Session::feed`]) and the operator's choices. Goes out: a [`Session`] that answers every
//! question of screen, gate and report alike, and a [`Plan`] as a value.
//! Must never: touch the disk, read a clock, or plan what `cut` forbids.

mod check;
mod draft;
mod request;
mod session;
mod settle;
pub mod summary;
mod verify;

pub use check::{Check, Outcome};
pub use draft::{Draft, DraftError, Summary, Wish, draft};
pub use request::{Plan, PlanError, Request, plan};
pub use session::{Session, Shift};
pub use settle::{Abandonment, legal_cuts_settled, named};

pub use crate::model::Payload;
