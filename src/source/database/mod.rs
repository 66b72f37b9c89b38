//! Sessions that live in a store of many: a SQLite database, or a folder of small documents. One of them is read as
//! lines, as if its runtime had written a file.
//!
//! Comes in: `STORE#SESSION`, or the store alone. Goes out: its sessions, the lines of one, and feeds of what changed.
//! Must never: write to a store, leave a file beside it, hold a transaction or a connection between two looks, or say
//! what a row means: a row's own document is copied, byte for byte, into the line that stands for it.

mod lines;
mod poll;
#[cfg(feature = "sqlite")]
mod sqlite;
mod storage;

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

pub use poll::Poller;

use super::SourceError;
use crate::model::Millis;

/// First bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// What a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Store {
    /// A SQLite database.
    Sqlite,
    /// `session/`, `message/` and `part/` of OpenCode before it had a database.
    Storage,
}

/// A session in a store, or the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    kind: Store,
    store: PathBuf,
    session: Option<String>,
}

/// One session of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Its title; raw.
    pub title: Option<String>,
    /// The folder it works in; raw.
    pub directory: Option<String>,
    /// When it was last changed, as its runtime says.
    pub updated: Millis,
    /// It belongs to another session.
    pub sub_agent: bool,
}

/// What tells that nothing was written since: sizes and times of a store's files.
type Mark = Vec<(u64, u128)>;

/// What tells, inside a store, that a session is the same: rows or sizes, and times of change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Signature(Vec<i128>);

impl Address {
    /// What `path` names, if that is a store or a session in one. A file or folder that has the whole name goes first.
    pub fn of(path: &Path) -> Option<Self> {
        if let Some(kind) = kind(path) {
            return Some(Self { kind, store: path.to_path_buf(), session: None });
        }
        if path.exists() {
            return None;
        }
        let name = path.file_name()?.to_str()?;
        let (store, session) = name.rsplit_once('#')?;
        let store = path.with_file_name(store);
        let named = !session.is_empty() && !matches!(session, "." | "..");
        named.then_some(())?;
        Some(Self { kind: kind(&store)?, store, session: Some(session.to_string()) })
    }

    /// The session `id` of the same store.
    #[must_use]
    pub fn with(&self, id: &str) -> Self {
        Self { session: Some(id.to_string()), ..self.clone() }
    }

    /// The database or folder.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// The session, if one is named.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// `STORE#SESSION`.
    pub fn path(&self) -> PathBuf {
        let mut path = self.store.clone().into_os_string();
        if let Some(session) = &self.session {
            path.push("#");
            path.push(session);
        }
        path.into()
    }

    /// The same with a session: the one that is named, or the only one.
    ///
    /// # Errors
    /// [`SourceError::Several`] names the sessions; [`SourceError::Empty`] if there is none; else those of reading.
    pub fn settled(&self) -> Result<Self, SourceError> {
        if self.session.is_some() {
            return Ok(self.clone());
        }
        let sessions = self.sessions()?;
        let mut own = sessions.iter().filter(|row| !row.sub_agent);
        match (own.next(), own.next()) {
            (None, _) => Err(SourceError::Empty(self.store.clone())),
            (Some(only), None) => Ok(self.with(&only.id)),
            _ => Err(SourceError::Several { path: self.store.clone(), sessions }),
        }
    }

    /// The sessions of the store, the last changed first.
    ///
    /// # Errors
    /// [`SourceError::Store`] says why it cannot be read.
    pub fn sessions(&self) -> Result<Vec<Row>, SourceError> {
        let mut rows = match self.kind {
            #[cfg(feature = "sqlite")]
            Store::Sqlite => sqlite::sessions(&self.store).map_err(|why| self.refused(why))?,
            #[cfg(not(feature = "sqlite"))]
            Store::Sqlite => return Err(self.refused(WITHOUT.to_string())),
            Store::Storage => storage::sessions(&self.store),
        };
        rows.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| a.id.cmp(&b.id)));
        Ok(rows)
    }

    /// The lines of the session.
    ///
    /// # Errors
    /// See [`SourceError`].
    pub fn read(&self) -> Result<Vec<u8>, SourceError> {
        Ok(self.changed(None)?.map(|(_, bytes)| bytes).unwrap_or_default())
    }

    /// The lines of the session, unless it still has the signature `known`.
    fn changed(&self, known: Option<&Signature>) -> Result<Option<(Signature, Vec<u8>)>, SourceError> {
        let settled = self.settled()?;
        let id = settled.session.as_deref().unwrap_or_default();
        let read = match self.kind {
            #[cfg(feature = "sqlite")]
            Store::Sqlite => sqlite::read(&self.store, id, known).map_err(|why| self.refused(why))?,
            #[cfg(not(feature = "sqlite"))]
            Store::Sqlite => return Err(self.refused(WITHOUT.to_string())),
            Store::Storage => storage::read(&self.store, id, known).map_err(|why| self.refused(why))?,
        };
        match read {
            Lines::Same => Ok(None),
            Lines::Absent => Err(SourceError::NoSession { path: self.store.clone(), id: id.to_string() }),
            Lines::Read(signature, bytes) => Ok(Some((signature, bytes))),
        }
    }

    fn refused(&self, why: String) -> SourceError {
        SourceError::Store { path: self.store.clone(), why }
    }

    /// Sizes and times of the files that a writer of this session changes; `None` if the store is gone.
    fn mark(&self) -> Option<Mark> {
        match self.kind {
            Store::Sqlite => {
                let main = stat(&self.store)?;
                Some([Some(main), stat(&beside(&self.store, "-wal"))].into_iter().flatten().collect())
            }
            Store::Storage => self.store.is_dir().then(|| storage::mark(&self.store, self.session.as_deref())),
        }
    }
}

/// What a store without its reader says.
#[cfg(not(feature = "sqlite"))]
const WITHOUT: &str =
    "this cutline was built without the feature `sqlite`: build it with that, or export the session with its runtime";

/// What came of reading a session.
enum Lines {
    /// Nothing changed.
    Same,
    /// The store has no such session.
    Absent,
    /// Its lines.
    Read(Signature, Vec<u8>),
}

fn kind(path: &Path) -> Option<Store> {
    let meta = fs::metadata(path).ok()?;
    if meta.is_dir() {
        let all = ["session", "message", "part"].iter().all(|name| path.join(name).is_dir());
        return all.then_some(Store::Storage);
    }
    if !meta.is_file() {
        return None;
    }
    let mut head = [0; MAGIC.len()];
    File::open(path).ok()?.read_exact(&mut head).ok()?;
    (head == *MAGIC).then_some(Store::Sqlite)
}

/// `path` with `end` after its name.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name: OsString = path.file_name().unwrap_or(OsStr::new("")).to_os_string();
    name.push(end);
    path.with_file_name(name)
}

/// Size and time of change, in nanoseconds.
fn stat(path: &Path) -> Option<(u64, u128)> {
    let meta = fs::metadata(path).ok()?;
    let since = meta.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((meta.len(), since.as_nanos()))
}
