//! Takes a fork away again, as long as nobody went on in it.

use std::{
    fs::Metadata,
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::{
    Fs, Receipt, Roots, Store, UndoError, fork,
    receipt::FORK,
    whole::{self, again},
};
use crate::model::{Millis, rfc3339};

/// An undo that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The file that was removed.
    pub removed: PathBuf,
    /// Folders that the commit had made and that were empty again.
    pub folders: Vec<PathBuf>,
    /// When, as RFC 3339: what the receipt says from now on.
    pub time: String,
}

/// Removes what the commit of `receipt` wrote, and marks the receipt. The folder is then as it was before.
///
/// # Errors
/// [`UndoError`] if the file is not exactly what was committed, or the disk refuses.
pub fn undo(fs: &dyn Fs, store: &Store, receipt: &Receipt, now: Millis) -> Result<Undone, UndoError> {
    if receipt.mode != FORK {
        return Err(UndoError::OtherMode(receipt.mode.clone()));
    }
    // 1. Nobody else commits or undoes this plan. On disk: an empty lock file.
    let lock = store.lock(fs, &receipt.plan).map_err(|why| failed(store.root(), why))?.ok_or(UndoError::Busy)?;
    let result = Undo { fs, store, receipt, now }.run();
    Store::unlock(fs, lock);
    result
}

fn failed(path: &Path, why: io::Error) -> UndoError {
    UndoError::Io { path: path.into(), why }
}

struct Undo<'a> {
    fs: &'a dyn Fs,
    store: &'a Store,
    receipt: &'a Receipt,
    now: Millis,
}

impl Undo<'_> {
    fn run(&self) -> Result<Undone, UndoError> {
        let (fs, store) = (self.fs, self.store);
        let fork = self.receipt.output.path.as_path();
        let aside = fork::aside(self.receipt);
        let kept = |why| failed(&self.receipt.path, why);
        let promoted = Receipt { path: store.promote(fs, self.receipt).map_err(kept)?, ..self.receipt.clone() };
        let (begun, done) = store.undo_state(fs, &promoted).map_err(kept)?;
        if let Some(time) = done {
            return Err(UndoError::Already(time));
        }
        let time = rfc3339(self.now).unwrap_or_else(|| "unknown".to_string());
        let mut found = self.standing(fork)?;
        let set_aside = self.standing(&aside)?;
        if set_aside.is_some() && found.is_some() {
            // Both after an undo that was killed, and a new file under the old name.
            return Err(UndoError::Replaced(fork.into()));
        }
        if let Some(meta) = &found {
            self.same(fork, meta)?;
            unwatched(fork, meta)?;
        } else if let Some(meta) = &set_aside {
            // An undo was killed between setting aside and removing.
            self.same(&aside, meta)?;
        } else if !begun {
            return Err(UndoError::Gone(fork.into()));
        }
        // 2. The mark of the undo is on the disk, as begun. A full disk refuses here.
        store.begin_undo(fs, &promoted, &time).map_err(kept)?;
        let result = self.remove(fork, &aside, &mut found);
        if let Err(why) = result {
            if !matches!(why, UndoError::Unfinished { .. }) {
                store.drop_undo(fs, &promoted);
            }
            return Err(why);
        }
        // 6. Folders that the commit made and that are empty are gone.
        let folders = whole::remove_folders(fs, &self.receipt.folders);
        let unfinished = |why| UndoError::Unfinished { path: fork.into(), why };
        if let Some(above) = folders.last().and_then(|folder| folder.parent()) {
            fs.sync_folder(above).map_err(unfinished)?;
        }
        // 7. The receipt is marked as undone, on the disk.
        store.end_undo(fs, &promoted).map_err(unfinished)?;
        Ok(Undone { removed: fork.into(), folders, time })
    }

    fn remove(&self, fork: &Path, aside: &Path, found: &mut Option<Metadata>) -> Result<(), UndoError> {
        let fs = self.fs;
        if let Some(before) = found.take() {
            // 3. The file has a name that no runtime looks for: whoever opens it by its old name from now on starts
            //    anew, and whoever was quicker is seen.
            whole::rename_new(fs, fork, aside).map_err(|why| failed(fork, why))?;
            let now = again(|| fs.status(aside));
            let same = now.as_ref().is_ok_and(|now| {
                let facts = |meta: &Metadata| (meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec());
                facts(now) == facts(&before)
            });
            if !same {
                self.put_back(fork, aside)?;
                return Err(match now {
                    Ok(now) if now.len() > before.len() => self.grown(fork, now.len()),
                    Ok(_) => UndoError::Changed(fork.into()),
                    Err(why) => failed(fork, why),
                });
            }
        }
        // 4. The file is gone.
        if let Err(why) = whole::remove(fs, aside) {
            self.put_back(fork, aside)?;
            return Err(failed(fork, why));
        }
        // 5. And stays gone. A folder that is gone itself has nothing to sync.
        match fork.parent().map(|folder| fs.sync_folder(folder)) {
            Some(Err(why)) if why.kind() != ErrorKind::NotFound => {
                Err(UndoError::Unfinished { path: fork.into(), why })
            }
            _ => Ok(()),
        }
    }

    fn put_back(&self, fork: &Path, aside: &Path) -> Result<(), UndoError> {
        let back = whole::rename_new(self.fs, aside, fork);
        back.map_err(|why| UndoError::Unfinished { path: aside.into(), why })
    }

    /// What has this name, if anything has.
    fn standing(&self, path: &Path) -> Result<Option<Metadata>, UndoError> {
        match again(|| self.fs.status(path)) {
            Ok(meta) => Ok(Some(meta)),
            Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(why) => Err(failed(path, why)),
        }
    }

    /// The very file that was committed, byte for byte.
    fn same(&self, path: &Path, meta: &Metadata) -> Result<(), UndoError> {
        let (fork, marked) = (self.receipt.output.path.as_path(), &self.receipt.output);
        if !meta.is_file() || meta.ino() != self.receipt.inode {
            return Err(UndoError::Replaced(fork.into()));
        }
        let changed = || UndoError::Changed(fork.into());
        if meta.len() < marked.bytes {
            return Err(changed());
        }
        let file = again(|| self.fs.open(path)).map_err(|why| failed(path, why))?;
        let mut hash = Sha256::new();
        let (mut left, mut more, mut lines, mut last) = (marked.bytes, 0u64, 0u64, b'\n');
        whole::read_blocks(self.fs, &file, |bytes| {
            let own = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
            let (own, added) = bytes.split_at_checked(own).unwrap_or((bytes, &[]));
            hash.update(own);
            left -= own.len() as u64;
            more += added.len() as u64;
            lines += memchr::memchr_iter(b'\n', added).count() as u64;
            last = added.last().copied().unwrap_or(last);
            true
        })
        .map_err(|why| failed(path, why))?;
        if left > 0 || whole::hex(&hash.finalize()) != marked.sha256 {
            return Err(changed());
        }
        // A line that is not ended yet is one, too.
        lines += u64::from(last != b'\n');
        if more > 0 { Err(UndoError::Grown { path: fork.into(), bytes: more, lines }) } else { Ok(()) }
    }

    /// It grew between two looks.
    fn grown(&self, fork: &Path, len: u64) -> UndoError {
        let counted = self.standing(fork).ok().flatten().map(|meta| self.same(fork, &meta));
        match counted {
            Some(Err(why @ UndoError::Grown { .. })) => why,
            _ => UndoError::Grown { path: fork.into(), bytes: len.saturating_sub(self.receipt.output.bytes), lines: 1 },
        }
    }
}

/// A runtime that holds the file open would write on into nothing.
fn unwatched(fork: &Path, meta: &Metadata) -> Result<(), UndoError> {
    match Roots::default().holder(meta) {
        Some(pid) => Err(UndoError::Live { path: fork.into(), pid }),
        None => Ok(()),
    }
}
