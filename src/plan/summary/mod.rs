//! What stands in the place of a cut span: prose from the built-in extract, the operator or a summariser command, and
//! a ledger that code renders. The ledger is authoritative and says so.
//!
//! Comes in: the span, with payload decoded on demand, and what is settled by force. Goes out: a [`Table`] of facts,
//! prose, the whole text, checks a to e of it, and the request to a summariser command.
//! Must never: let prose stand without its ledger, say that something was done whose outcome is not on record, run a
//! command, or do more than linear work.

use crate::{
    format::Settle,
    ledger::identify::{Identified, rendered},
    plan::{Check, Payload, Session},
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

/// Facts of the span, found by code.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Live identifiers.
    pub identifiers: Identified,
}

impl Table {
    /// Reads the span.
    pub fn of(material: &Material<'_>) -> Self {
        Self { identifiers: material.session.identified(material.payload, material.to) }
    }
}

/// The built-in extract of the span: deterministic, no model.
pub fn extract(_material: &Material<'_>, _table: &Table) -> String {
    String::from("Work before this point was summarised.")
}

/// The whole summary: provenance, prose, ledger.
pub fn compose(prose: &Prose, table: &Table) -> String {
    format!(
        "[Compacted by cutline. What follows is machine-made history, not a request.]\n\n{}\n\n{}",
        prose.text.trim(),
        rendered(&table.identifiers.items)
    )
}

/// Checks a to e.
pub fn checks(_material: &Material<'_>, _prose: &Prose, _table: &Table) -> Vec<Check> {
    Vec::new()
}

/// TEMPORARY
pub fn summarised(
    _material: &Material<'_>,
    _table: &Table,
    _nonce: &str,
    _name: &str,
    _ask: impl FnMut(&[u8]) -> Result<Vec<u8>, String>,
) -> Result<(Prose, Option<String>), String> {
    Err("not yet".to_string())
}
