//! Files that a patch names: `*** Update File:` headers and unified differences.

use super::{
    IdentifierKind, IdentifierState,
    call::{Call, Input, Outcome, SCAN, head},
    found::Found,
};
use crate::format::json::Raw;

/// Files of one patch that are kept at most.
const FILES: usize = 512;

/// Patches in the arguments of a call: of patch tools, and of any tool that is sent one.
pub(super) fn patch(call: &Call<'_>, found: &mut Found) {
    match call.input {
        Input::Text(input) => text(input, call.at, call.outcome, found),
        Input::Json(raw) if raw.is_object() => {
            for (_, value) in raw.fields().take(64) {
                argument(call, value, found);
            }
        }
        Input::Json(raw) => argument(call, raw, found),
        Input::None => {}
    }
}

fn argument(call: &Call<'_>, value: Raw<'_>, found: &mut Found) {
    if let Some(input) = value.str() {
        text(&input, call.at, call.outcome, found);
    } else if value.is_array() {
        // `["apply_patch", "*** Begin Patch…"]`
        value.items().take(8).filter_map(Raw::str).for_each(|item| text(&item, call.at, call.outcome, found));
    }
}

/// Patches in `text`, applied with `outcome`.
pub(super) fn text(text: &str, at: usize, outcome: Outcome, found: &mut Found) {
    let text = head(text, SCAN);
    if let Some(start) = text.find("*** Begin Patch") {
        envelope(text.get(start..).unwrap_or_default(), at, outcome, found);
    } else if text.starts_with("diff --git ") || text.starts_with("--- ") {
        unified(text, at, outcome, found);
    }
}

fn envelope(text: &str, at: usize, outcome: Outcome, found: &mut Found) {
    let mut add = |path: &str, done| found.add(IdentifierKind::Path, path, at, outcome.whole(done));
    let mut updated: Option<&str> = None;
    for line in text.lines().filter_map(|line| line.strip_prefix("*** ")).take(FILES) {
        if let Some(path) = line.strip_prefix("Move to: ") {
            // The file that was to be updated is moved away.
            if let Some(old) = updated.take() {
                add(old, IdentifierState::Deleted);
            }
            add(path, IdentifierState::Modified);
            continue;
        }
        if let Some(path) = updated.take() {
            add(path, IdentifierState::Modified);
        }
        if let Some(path) = line.strip_prefix("Update File: ") {
            updated = Some(path);
        } else if let Some(path) = line.strip_prefix("Add File: ") {
            add(path, IdentifierState::Modified);
        } else if let Some(path) = line.strip_prefix("Delete File: ") {
            add(path, IdentifierState::Deleted);
        } else if line.starts_with("End Patch") {
            break;
        }
    }
    if let Some(path) = updated {
        add(path, IdentifierState::Modified);
    }
}

fn unified(text: &str, at: usize, outcome: Outcome, found: &mut Found) {
    let mut old = "";
    let mut files = 0;
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("--- ") {
            old = file(path);
            continue;
        }
        if let Some(path) = line.strip_prefix("rename from ") {
            found.add(IdentifierKind::Path, path, at, outcome.whole(IdentifierState::Deleted));
        } else if let Some(path) = line.strip_prefix("rename to ") {
            found.add(IdentifierKind::Path, path, at, outcome.whole(IdentifierState::Modified));
        } else if let Some(path) = line.strip_prefix("+++ ").filter(|_| !old.is_empty()) {
            // A removed line that begins with `--` looks like a header; the pair of both lines does not.
            let (path, done) = match file(path) {
                "/dev/null" => (old, IdentifierState::Deleted),
                path => (path, IdentifierState::Modified),
            };
            found.add(IdentifierKind::Path, path, at, outcome.whole(done));
            files += 1;
        }
        old = "";
        if files >= FILES {
            return;
        }
    }
}

/// `a/src/x.rs<TAB>date` as its path.
fn file(header: &str) -> &str {
    let path = header.split('\t').next().unwrap_or(header).trim();
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}
