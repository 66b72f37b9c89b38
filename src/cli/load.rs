//! A whole transcript into memory-light form, for the commands that answer once.

use std::{io::Read as _, path::Path};

use sha2::{Digest as _, Sha256};

use super::exit::Failure;
use crate::{
    budget::Settings,
    export::hex,
    format::Format,
    plan::Session,
    source::{self, Address, Files, ReadAt},
};

/// A transcript that was read to its end, with access to its payload and the hash of its bytes.
pub(super) struct Loaded {
    pub(super) session: Session,
    pub(super) payload: Files,
    pub(super) sha256: String,
    /// As the user wrote it.
    pub(super) path: String,
}

/// File name without folder and ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads `path` (`-`: standard input).
pub(super) fn load(path: &Path, format: Option<Format>, settings: Settings) -> Result<Loaded, Failure> {
    let settled = Address::of(path).map(|address| address.settled()).transpose()?;
    let settled = settled.map(|address| address.path());
    let path = settled.as_deref().unwrap_or(path);
    let mut session = Session::new(format, &stem(path), settings);
    let mut hash = Sha256::new();
    let name = path.display().to_string();
    let files = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        let memory = ReadAt::memory();
        memory.push(&bytes);
        hash.update(&bytes);
        session.feed(&bytes);
        Files::new(memory)
    } else if settled.is_some() {
        // Read once: a second look might see other rows.
        let bytes = source::read_all(path)?;
        hash.update(&bytes);
        session.feed(&bytes);
        Files::new(ReadAt::of(path, &bytes))
    } else {
        let mut files = Files::new(ReadAt::file(path.to_path_buf()));
        let mut head: Option<Vec<u8>> = Some(Vec::new());
        source::read_chunks(path, |bytes| {
            hash.update(bytes);
            feed_with_lineage(&mut session, path, &mut files, &mut head, bytes);
        })?;
        if let Some(head) = head.take() {
            session.feed(&head);
        }
        files
    };
    session.finish();
    if session.detection().is_none() {
        return Err(Failure::not_a_transcript(&name));
    }
    if let Some(tie) = session.tie() {
        return Err(Failure::ambiguous(&name, tie));
    }
    let sha256 = hex(&hash.finalize());
    Ok(Loaded { session, payload: files, sha256, path: name })
}

/// Feeds `bytes`; directly after the first line come the files that this one continues.
fn feed_with_lineage(session: &mut Session, path: &Path, files: &mut Files, head: &mut Option<Vec<u8>>, bytes: &[u8]) {
    let Some(mut held) = head.take() else {
        session.feed(bytes);
        return;
    };
    held.extend_from_slice(bytes);
    let Some(newline) = memchr::memchr(b'\n', &held) else {
        *head = Some(held);
        return;
    };
    let (first, rest) = held.split_at(newline + 1);
    session.feed(first);
    feed_ancestors(session, path, files);
    session.feed(rest);
}

/// Feeds every file that `path` continues, as far as they are found.
fn feed_ancestors(session: &mut Session, path: &Path, files: &mut Files) {
    const DEEPEST: u16 = 64;
    for segment in 1..=DEEPEST {
        let Some(continues) = session.continues() else { return };
        let bytes = files.ancestor(path, &continues.id, continues.end);
        session.feed_segment(segment, &bytes);
    }
}
