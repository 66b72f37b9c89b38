//! A file that was replaced or deleted and may still have a writer. One that keeps its descriptor open (Codex does)
//! goes on writing into it, and nobody who opens the path will ever see those bytes.

use std::{fs::File, io};

use super::disk::{Identity, bytes_at, clamp};

/// Milliseconds without a byte after which the old file is let go, once its end was met twice.
const LINGER: u64 = 5_000;
/// Milliseconds in which the new file may still get the bytes that the old one had at last (a compacting replace
/// copies the rows appended meanwhile).
const GRACE: u64 = 500;
/// Bytes read at one wake.
const READ: usize = 1 << 20;
/// How much of the new file's end is searched for the old one's last bytes, beyond their own length.
const SEARCH: u64 = 1 << 20;

/// An old file, open as long as it may get bytes.
pub(super) struct Old {
    file: File,
    id: Identity,
    /// Offset of the next byte.
    read: u64,
    /// When a byte was last found, or when the file became an old one.
    since: u64,
    /// How often in a row the end was met.
    ends: u32,
    /// Found and not yet judged.
    fresh: Vec<u8>,
}

impl Old {
    /// `given` bytes of the file were given before it became an old one at `now`.
    pub(super) fn new(file: File, id: Identity, given: u64, now: u64) -> Self {
        Self { file, id, read: given, since: now, ends: 0, fresh: Vec::new() }
    }

    pub(super) fn id(&self) -> Identity {
        self.id
    }

    /// True if it may still get bytes that matter.
    pub(super) fn is_of_interest(&self, now: u64) -> bool {
        self.ends < 2 || !self.fresh.is_empty() || now.saturating_sub(self.since) < LINGER
    }

    /// Bytes that stand in this file only. `new` is the one that has the name now, with its size.
    /// Errors are those of reading either.
    pub(super) fn drain(&mut self, now: u64, new: Option<(&File, u64)>) -> io::Result<Vec<u8>> {
        let bytes = bytes_at(&self.file, self.read, READ)?;
        if bytes.is_empty() {
            self.ends += 1;
        } else {
            self.read += bytes.len() as u64;
            self.ends = 0;
            if self.fresh.is_empty() {
                self.since = now;
            }
            self.fresh.extend_from_slice(&bytes);
        }
        if self.fresh.is_empty() || now.saturating_sub(self.since) < GRACE {
            return Ok(Vec::new());
        }
        let fresh = std::mem::take(&mut self.fresh);
        self.since = now;
        let copied = match new {
            Some((file, size)) => stands_in(file, size, &fresh, self.read - fresh.len() as u64)?,
            None => false,
        };
        Ok(if copied { Vec::new() } else { fresh })
    }
}

/// True if `bytes` stand in `file` at `offset`, where they stood before, or near its end.
fn stands_in(file: &File, size: u64, bytes: &[u8], offset: u64) -> io::Result<bool> {
    if bytes_at(file, offset, bytes.len())? == bytes {
        return Ok(true);
    }
    let reach = SEARCH + bytes.len() as u64;
    let end = bytes_at(file, size.saturating_sub(reach), clamp(reach.min(size)))?;
    Ok(memchr::memmem::find(&end, bytes).is_some())
}
