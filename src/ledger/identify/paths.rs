//! Paths in the arguments of file tools, with what the tool does to them.

use super::{
    IdentifierKind, IdentifierState,
    call::{Call, scalar},
    found::Found,
};
use crate::format::json::Raw;

/// Arguments that name a file or folder (compared without `_` and case).
const KEYS: [&str; 16] = [
    "filepath",
    "path",
    "notebookpath",
    "filename",
    "file",
    "absolutepath",
    "relativepath",
    "targetfile",
    "targetpath",
    "relativeworkspacepath",
    "directory",
    "dir",
    "dirpath",
    "folder",
    "outputpath",
    "outputfile",
];
/// Arguments that name what is moved or copied away.
const SOURCES: [&str; 6] = ["oldpath", "source", "src", "sourcepath", "frompath", "oldname"];
/// Arguments that name where to.
const DESTINATIONS: [&str; 7] = ["newpath", "destination", "dest", "dst", "destinationpath", "topath", "newname"];
/// Arguments that are lists of paths or of objects with paths.
const LISTS: [&str; 4] = ["paths", "files", "filepaths", "edits"];
/// Parts of tool names that change files.
const WRITERS: [&str; 17] = [
    "write", "edit", "create", "replace", "insert", "append", "patch", "save", "update", "mkdir", "make_dir", "modify",
    "download", "undo", "touch", "set_file", "put_file",
];
const REMOVERS: [&str; 4] = ["delete", "remove", "unlink", "trash"];
const MOVERS: [&str; 2] = ["move", "rename"];
/// Verbs of editors that only look.
const LOOKS: [&str; 4] = ["view", "read", "list", "show"];
/// Items of one list that are kept at most.
const MOST: usize = 256;

/// Identifiers of a file tool.
pub(super) fn paths(call: &Call<'_>, found: &mut Found) {
    let Some(arguments) = call.arguments() else { return };
    let done = done(call);
    for (key, value) in arguments.fields().take(64) {
        let key: String = key.str().chars().filter(|c| *c != '_').flat_map(char::to_lowercase).take(32).collect();
        let key = key.as_str();
        if LISTS.contains(&key) {
            for item in value.items().take(MOST) {
                list_item(call, item, done, found);
            }
            continue;
        }
        let done = if SOURCES.contains(&key) && call.tool_has(&MOVERS) {
            IdentifierState::Deleted
        } else if SOURCES.contains(&key) && call.tool.contains("copy") {
            IdentifierState::Read
        } else if DESTINATIONS.contains(&key) && call.tool_has(&["move", "rename", "copy"]) {
            IdentifierState::Modified
        } else if KEYS.contains(&key) {
            done
        } else {
            continue;
        };
        add(call, value, done, found);
    }
}

/// What the tool does to its files if it works.
fn done(call: &Call<'_>) -> IdentifierState {
    if call.argument("command").is_some_and(|verb| LOOKS.contains(&&*verb)) {
        IdentifierState::Read
    } else if call.tool_has(&REMOVERS) {
        IdentifierState::Deleted
    } else if call.tool_has(&WRITERS) {
        IdentifierState::Modified
    } else {
        IdentifierState::Read
    }
}

fn list_item(call: &Call<'_>, item: Raw<'_>, done: IdentifierState, found: &mut Found) {
    if item.is_object() {
        let path = ["path", "file_path", "filePath", "file"].iter().find_map(|name| item.get(name));
        if let Some(path) = path {
            add(call, path, done, found);
        }
    } else {
        add(call, item, done, found);
    }
}

fn add(call: &Call<'_>, value: Raw<'_>, done: IdentifierState, found: &mut Found) {
    let Some(path) = scalar(value).filter(|path| is_path(path)) else { return };
    let state = if done == IdentifierState::Read { done } else { call.outcome.whole(done) };
    found.add(IdentifierKind::Path, &path, call.at, state);
}

/// One line that is not an address, a pattern or a whole text.
fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\n', '\0', '*']) && !text.contains("://") && text.len() <= 4_096
}
