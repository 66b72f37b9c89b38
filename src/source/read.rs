//! Reading without following: single ranges of a payload when somebody looks at it, and whole files for commands that
//! answer once.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
};

use super::{
    database::{Address, Row},
    disk::{self, Refused, bytes_at, clamp},
};
use crate::model::show_line;

/// Bytes that [`read_chunks`] gives at once.
const CHUNK: usize = 1 << 20;

/// Random access to the bytes of a source. Cheap to clone; usable from any thread.
#[derive(Clone, Debug)]
pub struct ReadAt(Place);

#[derive(Clone, Debug)]
enum Place {
    /// Opened again at every read, so that it is always the file that has the name now.
    File(PathBuf),
    /// Standard input cannot be read twice, so what came is kept.
    Memory(Arc<RwLock<Vec<u8>>>),
}

impl ReadAt {
    /// Reads from the file at `path`.
    pub fn file(path: PathBuf) -> Self {
        Self(Place::File(path))
    }

    /// Reads from the file at `path`; of a session in a store, from `bytes`, which were read of it: the lines that
    /// stand for its rows lie nowhere else.
    pub fn of(path: &Path, bytes: &[u8]) -> Self {
        if Address::of(path).is_none() {
            return Self::file(path.to_path_buf());
        }
        let memory = Self::memory();
        memory.push(bytes);
        memory
    }

    /// Reads from what came on standard input so far; see [`super::stdin::spawn`].
    pub fn memory() -> Self {
        Self(Place::Memory(Arc::default()))
    }

    /// Keeps the next bytes, if they are kept in memory at all.
    pub fn push(&self, bytes: &[u8]) {
        if let Place::Memory(kept) = &self.0 {
            kept.write().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        }
    }

    /// Keeps these bytes instead, if any are kept in memory.
    pub(super) fn replace(&self, bytes: &[u8]) {
        if let Place::Memory(kept) = &self.0 {
            *kept.write().unwrap_or_else(PoisonError::into_inner) = bytes.to_vec();
        }
    }

    /// How many of the first bytes kept in memory are those of `bytes`, and how many are kept.
    pub(super) fn common(&self, bytes: &[u8]) -> (usize, usize) {
        let Place::Memory(kept) = &self.0 else { return (0, 0) };
        let kept = kept.read().unwrap_or_else(PoisonError::into_inner);
        let same = kept.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        (same, kept.len())
    }

    /// Bytes `offset..offset + len`, exactly. Whether they are still those of a record is for the caller to judge: the
    /// file may have been rewritten since.
    ///
    /// # Errors
    /// Those of opening and reading the file; `UnexpectedEof` if it is shorter; `InvalidInput` if it is no file.
    pub fn read_range(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let bytes = match &self.0 {
            Place::File(path) => {
                let file = disk::open(path)?;
                let meta = file.metadata()?;
                if let Some(kind) = Refused::of(&meta) {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, kind.to_string()));
                }
                // A length from a file that has shrunk must not become an allocation.
                bytes_at(&file, offset, len.min(clamp(meta.len().saturating_sub(offset))))?
            }
            Place::Memory(kept) => {
                let kept = kept.read().unwrap_or_else(PoisonError::into_inner);
                let start = clamp(offset);
                kept.get(start..start.saturating_add(len)).unwrap_or_default().to_vec()
            }
        };
        if bytes.len() < len { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
    }
}

/// Why a transcript cannot be read. Each says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Nothing has this name.
    #[error("There is no file {}: check the path, or open it in a terminal, where cutline waits until an agent creates it.", show(.0))]
    Missing(PathBuf),
    /// Something else than a regular file has this name.
    #[error("{} is {kind}, not a transcript: {}.", show(path), advice(*kind))]
    Refused {
        /// What was given.
        path: PathBuf,
        /// What it is.
        kind: Refused,
    },
    /// The file is there and must not be read.
    #[error("{} may not be read by this user: ask its owner, or run cutline as the user who runs the agent.", show(.0))]
    Denied(PathBuf),
    /// The file has no bytes.
    #[error("{} is empty: the agent has written nothing yet; try again after its first message.", show(.0))]
    Empty(PathBuf),
    /// A store of sessions cannot be read.
    #[error("{} cannot be read as a store of sessions: {}.", show(path), show_line(why))]
    Store {
        /// What was given.
        path: PathBuf,
        /// Why, and what to do next; no full stop.
        why: String,
    },
    /// A store has no such session.
    #[error("{} holds no session {}: give the store alone to see which it holds.", show(path), show_line(id))]
    NoSession {
        /// The store.
        path: PathBuf,
        /// What was asked for.
        id: String,
    },
    /// A store holds several sessions and none was named.
    #[error("{} holds {} sessions: name one, as FILE#ID or with --session ID: {}.", show(path), sessions.len(), names(sessions))]
    Several {
        /// The store.
        path: PathBuf,
        /// Its sessions, the last changed first.
        sessions: Vec<Row>,
    },
    /// Opening or reading failed for another reason.
    #[error("{} could not be read ({error}): check the disk or the mount, then try again.", show(path))]
    Io {
        /// What was given.
        path: PathBuf,
        /// In the system's words.
        error: io::Error,
    },
}

/// A path may hold any bytes, also those that a terminal acts on.
fn show(path: &Path) -> String {
    show_line(&path.display().to_string())
}

/// The sessions that may be meant.
fn names(sessions: &[Row]) -> String {
    const MOST: usize = 12;
    let name = |row: &Row| match &row.title {
        Some(title) => format!("{} ({})", show_line(&row.id), show_line(title)),
        None => show_line(&row.id),
    };
    let mut names: Vec<String> = sessions.iter().filter(|row| !row.sub_agent).take(MOST).map(name).collect();
    if sessions.len() > names.len() {
        names.push(format!("and {} more", sessions.len() - names.len()));
    }
    names.join(", ")
}

fn advice(kind: Refused) -> &'static str {
    match kind {
        Refused::Directory => "give the path of a session file inside it",
        Refused::Fifo => "give `-` and connect it to standard input",
        Refused::Socket | Refused::Device => "give the path of a regular file",
    }
}

impl SourceError {
    fn of(path: &Path, error: io::Error) -> Self {
        let path = path.to_path_buf();
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing(path),
            io::ErrorKind::PermissionDenied => Self::Denied(path),
            _ => Self::Io { path, error },
        }
    }
}

/// Opens a transcript for reading it once; its size at that moment is at least 1.
fn open_once(path: &Path) -> Result<(File, u64), SourceError> {
    let opened = disk::open(path).and_then(|file| file.metadata().map(|meta| (file, meta)));
    let (file, meta) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            // A socket cannot be opened at all, a directory on some systems.
            let kind = fs::metadata(path).ok().and_then(|meta| Refused::of(&meta));
            return Err(match kind {
                Some(kind) => SourceError::Refused { path: path.to_path_buf(), kind },
                None => SourceError::of(path, error),
            });
        }
    };
    match Refused::of(&meta) {
        Some(kind) => Err(SourceError::Refused { path: path.to_path_buf(), kind }),
        None if meta.len() == 0 => Err(SourceError::Empty(path.to_path_buf())),
        None => Ok((file, meta.len())),
    }
}

/// Gives the bytes of the file, at most 1 MiB at a time, up to the end it has by then. Returns how many they were.
///
/// # Errors
/// See [`SourceError`]; bytes that were given before an error stay given.
pub fn read_chunks(path: &Path, mut take: impl FnMut(&[u8])) -> Result<u64, SourceError> {
    if let Some(address) = Address::of(path) {
        let bytes = address.read()?;
        bytes.chunks(CHUNK).for_each(take);
        return Ok(bytes.len() as u64);
    }
    let (file, _) = open_once(path)?;
    let mut offset = 0;
    loop {
        let bytes = bytes_at(&file, offset, CHUNK).map_err(|error| SourceError::of(path, error))?;
        take(&bytes);
        offset += bytes.len() as u64;
        if bytes.len() < CHUNK {
            return Ok(offset);
        }
    }
}

/// The first bytes of the file, at most `most`, and whether that is all of it.
///
/// # Errors
/// See [`SourceError`].
pub fn read_head(path: &Path, most: usize) -> Result<(Vec<u8>, bool), SourceError> {
    if let Some(address) = Address::of(path) {
        let mut bytes = address.read()?;
        let whole = bytes.len() <= most;
        bytes.truncate(most);
        return Ok((bytes, whole));
    }
    let (file, size) = open_once(path)?;
    let bytes = bytes_at(&file, 0, most).map_err(|error| SourceError::of(path, error))?;
    let whole = bytes.len() as u64 >= size;
    Ok((bytes, whole))
}

/// All bytes of the file.
///
/// # Errors
/// See [`SourceError`].
pub fn read_all(path: &Path) -> Result<Vec<u8>, SourceError> {
    let mut all = Vec::new();
    read_chunks(path, |bytes| all.extend_from_slice(bytes))?;
    Ok(all)
}
