//! What was fed is read once more, as the format that the operator chose.

use std::path::Path;

use super::run::Run;
use crate::{format::Format, model::Payload as _, plan::Session, source::Files};

/// Bytes that are read at once.
const CHUNK: u64 = 1 << 20;
/// Files in a row that one transcript may continue.
const DEEPEST: u16 = 64;

impl Run<'_> {
    /// As many bytes as the state has seen, so that what is fed next follows them.
    pub(super) fn read_as(&mut self, format: Format) -> Result<Session, String> {
        let upto = self.state.reading().bytes();
        let mut session = self.state.fresh(Some(format));
        let files = self.files.as_mut().ok_or("there is nothing to read")?;
        while session.bytes() < upto {
            let offset = session.bytes();
            let len = u32::try_from(CHUNK.min(upto - offset)).unwrap_or(u32::MAX);
            let bytes = files.read(0, offset, len).ok_or("it changed, or cannot be read any more")?;
            let newline = memchr::memchr(b'\n', &bytes).filter(|_| offset == 0).map_or(0, |at| at + 1);
            let (head, rest) = bytes.split_at(newline);
            if !head.is_empty() {
                session.feed(head);
                feed_ancestors(&mut session, &self.path, files);
            }
            session.feed(rest);
        }
        Ok(session)
    }
}

fn feed_ancestors(session: &mut Session, path: &Path, files: &mut Files) {
    for segment in 1..=DEEPEST {
        let Some(continues) = session.continues() else { return };
        let bytes = files.ancestor(path, &continues.id, continues.end);
        session.feed_segment(segment, &bytes);
    }
}
