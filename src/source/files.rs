use std::path::{Path, PathBuf};

use super::{ReadAt, find::find_rollout, read_all};
use crate::model::Payload;

/// Payload on disk: the transcript itself, then the files that it continues, in the order they were fed.
#[derive(Clone, Debug)]
pub struct Files(Vec<ReadAt>);

impl Files {
    /// Payload of one transcript.
    pub fn new(own: ReadAt) -> Self {
        Self(vec![own])
    }

    /// The first `end` bytes of the file with the rollout or thread id `id` that `path` continues, and from now on
    /// its payload as the next segment. Nothing if it is not found: the reader notes that.
    pub fn ancestor(&mut self, path: &Path, id: &str, end: u64) -> Vec<u8> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let found: Option<PathBuf> = find_rollout(folder, id);
        let mut bytes = found.as_ref().and_then(|found| read_all(found).ok()).unwrap_or_default();
        bytes.truncate(usize::try_from(end).unwrap_or(usize::MAX));
        self.0.push(found.map_or_else(ReadAt::memory, ReadAt::file));
        bytes
    }
}

impl Payload for Files {
    fn read(&self, segment: u16, offset: u64, len: u32) -> Option<Vec<u8>> {
        self.0.get(usize::from(segment))?.read_range(offset, len as usize).ok()
    }
}
