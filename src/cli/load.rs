//! A whole transcript into memory-light form, for the commands that answer once.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::exit::Failure;
use crate::{
    budget::Settings,
    export::hex,
    format::Format,
    plan::{Payload, Session},
    source::{self, ReadAt},
};

/// A transcript that was read to its end, with access to its payload and the hash of its bytes.
pub(super) struct Loaded {
    pub(super) session: Session,
    pub(super) payload: Files,
    pub(super) sha256: String,
    /// As the user wrote it.
    pub(super) path: String,
}

/// Payload on disk: the file itself, then the files that it continues.
pub(crate) struct Files(pub(crate) Vec<ReadAt>);

impl Payload for Files {
    fn read(&self, segment: u16, offset: u64, len: u32) -> Option<Vec<u8>> {
        self.0.get(usize::from(segment))?.read_range(offset, len as usize).ok()
    }
}

/// File name without folder and ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads `path` (`-`: standard input).
pub(super) fn load(path: &Path, format: Option<Format>, settings: Settings) -> Result<Loaded, Failure> {
    let mut session = Session::new(format, &stem(path), settings);
    let mut hash = Sha256::new();
    let name = path.display().to_string();
    let mut files = Files(Vec::new());
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        let memory = ReadAt::memory();
        memory.push(&bytes);
        hash.update(&bytes);
        session.feed(&bytes);
        files.0.push(memory);
    } else {
        files.0.push(ReadAt::file(path.to_path_buf()));
        let mut head: Option<Vec<u8>> = Some(Vec::new());
        source::read_chunks(path, |bytes| {
            hash.update(bytes);
            feed_with_lineage(&mut session, path, &mut files, &mut head, bytes);
        })?;
        if let Some(head) = head.take() {
            session.feed(&head);
        }
    }
    session.finish();
    if session.detection().is_none() {
        return Err(Failure::not_a_transcript(&name));
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
pub(crate) fn feed_ancestors(session: &mut Session, path: &Path, files: &mut Files) {
    const DEEPEST: u16 = 64;
    for segment in 1..=DEEPEST {
        let Some(continues) = session.continues() else { return };
        let found: Option<PathBuf> = source::find::find_rollout(path, &continues.id);
        let bytes = found.as_ref().and_then(|found| source::read_all(found).ok()).unwrap_or_default();
        let end = usize::try_from(continues.end).unwrap_or(usize::MAX).min(bytes.len());
        files.0.push(found.map_or_else(ReadAt::memory, ReadAt::file));
        session.feed_segment(segment, bytes.get(..end).unwrap_or_default());
    }
}
