//! Identifiers in the ledger of a summary: written as lines that people can read and code can read back.

use super::{Identifier, IdentifierKind, IdentifierState};
use crate::format::json::Raw;

/// First line of the block; what stands under it was written by code.
const HEADING: &str = "Live identifiers (written by code, not by the model):";

/// `items` as the block of a summary's ledger: one line each, values as JSON strings.
pub fn rendered(items: &[Identifier]) -> String {
    let mut out = String::from(HEADING);
    out.push('\n');
    for item in items {
        let value = serde_json::Value::from(item.value.as_str());
        for part in ["- ", item.kind.name(), " ", &value.to_string(), " ", item.state.name(), "\n"] {
            out.push_str(part);
        }
    }
    out
}

/// The identifiers of the last such block in `summary`; none if there is none. Positions are not in the text: 0.
pub fn former(summary: &str) -> Vec<Identifier> {
    // Only at the start of a line: a value may be named like the heading, and stands inside of its line.
    let begins = |at: usize| at == 0 || summary.as_bytes().get(at - 1) == Some(&b'\n');
    let mut places = summary.rmatch_indices(HEADING).map(|(at, _)| at);
    let Some(start) = places.find(|at| begins(*at)) else { return Vec::new() };
    let block = summary.get(start..).unwrap_or_default();
    block.lines().skip(1).map_while(line).collect()
}

fn line(line: &str) -> Option<Identifier> {
    let (kind, rest) = line.strip_prefix("- ")?.split_once(' ')?;
    let (value, state) = rest.rsplit_once(' ')?;
    let kind = IdentifierKind::ALL.into_iter().find(|known| known.name() == kind)?;
    let state = IdentifierState::ALL.into_iter().find(|known| known.name() == state)?;
    let value = Raw::parse(value.as_bytes()).ok()?.str()?.into_owned();
    Some(Identifier { kind, value, from: 0, state })
}
