//! OpenCode before it had a database: one document a session, a message and a part.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{Lines, Mark, Row, Signature, lines, stat};
use crate::model::Millis;

/// What has to be known of a document to find its neighbours: everything else is copied.
#[derive(Default, Deserialize)]
struct Named {
    id: String,
    #[serde(default)]
    time: Time,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    directory: Option<String>,
    #[serde(default, rename = "parentID")]
    parent: Option<String>,
}

#[derive(Default, Deserialize)]
struct Time {
    #[serde(default)]
    created: i64,
    #[serde(default)]
    updated: i64,
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort_unstable();
    entries
}

fn documents(folder: &Path) -> Vec<PathBuf> {
    let mut found = entries(folder);
    found.retain(|path| path.extension().is_some_and(|end| end == "json"));
    found
}

fn named(path: &Path) -> Option<(Named, String)> {
    let text = fs::read_to_string(path).ok()?;
    Some((serde_json::from_str(&text).ok()?, text))
}

/// All documents that describe a session, one folder a project.
fn described(store: &Path) -> impl Iterator<Item = (Named, String)> {
    let folders = entries(&store.join("session"));
    folders.into_iter().flat_map(|folder| documents(&folder)).filter_map(|path| named(&path))
}

/// The sessions of the folder, in any order.
pub(super) fn sessions(store: &Path) -> Vec<Row> {
    let row = |(named, _): (Named, String)| Row {
        updated: Millis(named.time.updated.max(named.time.created)),
        sub_agent: named.parent.is_some(),
        id: named.id,
        title: named.title,
        directory: named.directory,
    };
    described(store).map(row).collect()
}

/// The lines of the session `id`, unless its signature is `known`.
pub(super) fn read(store: &Path, id: &str, known: Option<&Signature>) -> Result<Lines, String> {
    let marks = mark(store, Some(id)).into_iter();
    let signature =
        Signature(marks.flat_map(|(size, time)| [size.into(), i128::try_from(time).unwrap_or(0)]).collect());
    if known == Some(&signature) {
        return Ok(Lines::Same);
    }
    let Some((_, header)) = described(store).find(|(named, _)| named.id == id) else { return Ok(Lines::Absent) };
    let mut out = String::new();
    lines::push(&mut out, &lines::object([lines::members(&header).as_str()]), None);
    let mut messages = Vec::new();
    for path in documents(&store.join("message").join(id)) {
        // A document that is being written is whole at the next look.
        let half = || format!("{} is no whole document: try again when its runtime has written it", path.display());
        messages.push(named(&path).ok_or_else(half)?);
    }
    messages.sort_by(|(a, _), (b, _)| (a.time.created, &a.id).cmp(&(b.time.created, &b.id)));
    for (message, info) in &messages {
        let mut parts = Vec::new();
        for path in documents(&store.join("part").join(&message.id)) {
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            parts.push(lines::object([lines::members(&text).as_str()]));
        }
        lines::push(&mut out, &lines::object([lines::members(info).as_str()]), Some(&parts));
    }
    Ok(Lines::Read(signature, out.into_bytes()))
}

/// Sizes and times of the messages and of the parts, whose folders have the messages' names.
pub(super) fn mark(store: &Path, id: Option<&str>) -> Mark {
    let messages = id.map(|id| documents(&store.join("message").join(id))).unwrap_or_default();
    let parts = messages.iter().filter_map(|path| path.file_stem()).flat_map(|stem| {
        let folder = store.join("part").join(stem);
        documents(&folder)
    });
    let parts: Vec<PathBuf> = parts.collect();
    messages.iter().chain(&parts).filter_map(|path| stat(path)).collect()
}
