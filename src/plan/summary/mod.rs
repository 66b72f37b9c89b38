//! What stands in the place of a cut span: prose from the built-in extract, the operator or a summariser command, and
//! a ledger that code renders. The ledger is authoritative and says so.
//!
//! Comes in: the span, with payload decoded on demand, and what is settled by force. Goes out: a [`Table`] of facts,
//! prose, the whole text, checks a to e of it, and the request to a summariser command.
//! Must never: let prose stand without its ledger, say that something was done whose outcome is not on record, run a
//! command, or do more than linear work.

mod checks;
mod claims;
mod exchange;
mod extract;
mod ledger;
mod looks;
mod quote;
mod rows;
mod table;
mod words;

pub use checks::checks;
pub use exchange::{Answer, ShapeError, answer, correction, request, states_match, summarised};
pub use extract::extract;
pub use ledger::{compose, ledger_json};
pub use rows::{Effect, EffectState, GivenUp, LivesOn, Open, Rest};
pub use table::Table;

use crate::{
    format::Settle,
    model::Body,
    plan::{Payload, Session},
};

/// Who wrote the prose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// The built-in extract.
    Extract,
    /// A person, by hand.
    Operator,
    /// A summariser command, by the name of its program.
    Command(String),
}

/// Prose of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prose {
    /// The words.
    pub text: String,
    /// Whose.
    pub by: Author,
}

/// What a summary is made from.
pub struct Material<'a> {
    /// The transcript.
    pub session: &'a Session,
    /// Its bytes.
    pub payload: &'a dyn Payload,
    /// First position of the span.
    pub from: usize,
    /// First position behind it.
    pub to: usize,
    /// What is settled by force.
    pub settle: &'a [Settle],
}

impl Material<'_> {
    fn body(&self, at: usize) -> Option<Body> {
        self.session.body(at, self.payload)
    }

    fn is_inside(&self, at: usize) -> bool {
        (self.from..self.to).contains(&at)
    }

    /// Estimated tokens of the span.
    fn tokens(&self) -> u64 {
        (self.from..self.to).filter_map(|at| self.session.record(at)).map(|record| u64::from(record.tokens)).sum()
    }
}
