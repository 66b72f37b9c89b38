//! What stands on the disk for the time of a commit only, how it goes again, and how a commit that was killed is
//! cleaned up after.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::{
    CommitError, FileMark, Fs, Store,
    receipt::PLAN_DIGITS,
    store,
    whole::{self, again, plain},
};

const HEAD: &str = ".cutline-";
const TEMP: &str = ".tmp";
const ASIDE: &str = ".undo";

/// Name of the temporary file of a plan.
pub(super) fn temp_name(plan: &str) -> OsString {
    format!("{HEAD}{plan}{TEMP}").into()
}

/// Name under which an undo sets a file aside.
pub(super) fn set_aside_name(plan: &str) -> OsString {
    format!("{HEAD}{plan}{ASIDE}").into()
}

/// True for a name that only cutline gives.
pub(super) fn is_ours(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(HEAD.as_bytes())
}

/// The plan in the name of a temporary file.
fn plan_of(path: &Path) -> Option<&str> {
    let plan = path.file_name()?.to_str()?.strip_prefix(HEAD)?.strip_suffix(TEMP)?;
    (plan.len() == PLAN_DIGITS && plan.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(plan)
}

/// Removes temporary files of commits that were killed. One belongs to nobody if its plan is not locked in this state
/// folder and its writer, which may have another one, does not hold it. What cannot be removed stays: it is in
/// nobody's way.
pub(super) fn sweep(fs: &dyn Fs, store: &Store, folder: &Path, own: &str) {
    for path in again(|| fs.list(folder)).unwrap_or_default() {
        let Some(plan) = plan_of(&path) else { continue };
        if plan == own {
            drop(remove_ownerless(fs, &path));
        } else if let Ok(Some(lock)) = store.lock(fs, plan) {
            drop(remove_ownerless(fs, &path));
            Store::unlock(fs, lock);
        }
    }
}

fn remove_ownerless(fs: &dyn Fs, path: &Path) -> io::Result<()> {
    let Some(held) = again(|| fs.lock(path, false))? else { return Ok(()) };
    let meta = held.metadata()?;
    if meta.is_file() && meta.uid() == rustix::process::geteuid().as_raw() {
        whole::remove(fs, path)?;
    }
    Ok(())
}

/// What a commit has made so far.
#[derive(Default)]
pub(super) struct Made {
    /// Folders, outermost first.
    pub(super) folders: Vec<PathBuf>,
    /// The temporary file.
    pub(super) temp: Option<PathBuf>,
    /// The receipt.
    pub(super) receipt: Option<PathBuf>,
    /// The new file under its name.
    pub(super) fork: Option<FileMark>,
    /// Its inode.
    pub(super) inode: u64,
}

impl Made {
    /// Removes everything again and returns `cause`, with what could not be removed.
    pub(super) fn take_back(mut self, fs: &dyn Fs, cause: CommitError) -> CommitError {
        if let Some(fork) = self.fork.take()
            && let Err(why) = self.disown(fs).and_then(|()| remove_fork(fs, &fork, self.inode))
        {
            // The receipt stays: it makes the file known and can be undone.
            return CommitError::Stands { path: fork.path, cause: brief(&cause), why };
        }
        let own = self.temp.iter().chain(&self.receipt);
        let mut left: Vec<PathBuf> = own.filter(|path| stays(fs, path)).cloned().collect();
        let removed = whole::remove_folders(fs, &self.folders);
        // A folder may have been filled by somebody else meanwhile: then it is not a thing left behind.
        let empty =
            |path: &&PathBuf| !removed.contains(path) && again(|| fs.list(path)).is_ok_and(|all| all.is_empty());
        left.extend(self.folders.iter().filter(empty).cloned());
        if left.is_empty() { cause } else { CommitError::LeftBehind { cause: Box::new(cause), left } }
    }
}

impl Made {
    /// A receipt that holds becomes a pending one before its file goes: there is never one that holds without a file.
    fn disown(&mut self, fs: &dyn Fs) -> Result<(), String> {
        let Some(receipt) = self.receipt.as_mut().filter(|path| !store::is_pending(path)) else { return Ok(()) };
        let pending = store::pending_of(receipt);
        whole::rename_new(fs, receipt, &pending).map_err(|why| not_taken_back(&why))?;
        *receipt = pending;
        Ok(())
    }
}

fn not_taken_back(why: &io::Error) -> String {
    format!("It could not be taken back: {}.", plain(why))
}

/// Removes a file that may not be there; true if it is after that.
fn stays(fs: &dyn Fs, path: &Path) -> bool {
    let gone = |why: &io::Error| why.kind() == io::ErrorKind::NotFound;
    whole::remove(fs, path).is_err() && !again(|| fs.status(path)).is_err_and(|why| gone(&why))
}

/// Takes the name away from the new file if it is still what was written; says why not.
fn remove_fork(fs: &dyn Fs, fork: &FileMark, inode: u64) -> Result<(), String> {
    let said = |why: io::Error| not_taken_back(&why);
    let meta = again(|| fs.status(&fork.path)).map_err(said)?;
    let same = meta.is_file() && meta.ino() == inode && meta.len() == fork.bytes;
    if !same || whole::sha256(&whole::read_all(fs, &fork.path).map_err(said)?) != fork.sha256 {
        return Err("Somebody has already gone on in it, so it was not taken back.".to_string());
    }
    whole::remove(fs, &fork.path).map_err(said)?;
    // If this fails too, a power cut may bring the name back; then its pending receipt, if that comes back as well,
    // makes it a commit.
    if let Some(folder) = fork.path.parent() {
        drop(fs.sync_folder(folder));
    }
    Ok(())
}

/// The cause without its last sentence, which speaks of nothing written.
fn brief(cause: &CommitError) -> String {
    match cause {
        CommitError::Unwritable { path, why } | CommitError::State { path, why } => {
            format!("{}: {}", path.display(), plain(why))
        }
        other => other.to_string(),
    }
}
