//! Cutline's own folder: receipts of what was written, and what is staged for a transcript. Nothing in it is ever
//! removed but what a commit that broke off left there, and a stage that is empty.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::File,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Disk, Fs, Receipt,
    receipt::{PLAN_DIGITS, path_text},
    whole::{self, again},
};
use crate::plan::Abandonment;

/// The folder that holds receipts and stages. Its folders are made with mode 0700, its files with 0600.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
}

/// Ending of a receipt.
const WRITTEN: &str = "json";
/// Ending of a receipt whose output may not have its name yet.
const PENDING: &str = "pending";
/// Ending of the mark beside a receipt that was undone.
const UNDONE: &str = "undone";
/// Ending of the mark of an undo that has begun.
const UNDOING: &str = "undoing";

/// What stands beside a receipt once it is undone.
#[derive(Serialize, Deserialize)]
struct Mark {
    /// When, as RFC 3339.
    time: String,
}

/// Staged work of one transcript.
#[derive(Serialize, Deserialize)]
struct Stage {
    #[serde(with = "path_text")]
    source: PathBuf,
    staged: Vec<Staged>,
}

/// One thing that is to be settled by force.
#[derive(Serialize, Deserialize)]
struct Staged {
    id: String,
    instance: Option<usize>,
    reason: String,
    #[serde(default)]
    evidence: String,
    #[serde(default)]
    by: String,
}

/// A plan that nobody else can commit or undo.
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

/// Files of one receipt, by their endings.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    written: bool,
    pending: bool,
    undone: bool,
    undoing: bool,
}

/// Reading.
impl Store {
    /// `$XDG_STATE_HOME/cutline`, else `$HOME/.local/state/cutline`; `None` if neither is known.
    pub fn from_env(var: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        // A relative path in the variable is to be ignored, says the XDG specification.
        let folder = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
        Some(Self::at(state.join("cutline")))
    }

    /// At this folder, which need not exist.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Every receipt, newest first, and how many files could not be read as one.
    pub fn receipts(&self) -> (Vec<Receipt>, usize) {
        let mut unread = 0;
        let mut all = Vec::new();
        for (stem, group) in self.groups(&Disk).unwrap_or_default().iter().rev() {
            match self.receipt(&Disk, stem, *group) {
                Some(receipt) if group.written || stands(&receipt) => all.push(receipt),
                // Its commit is under way, or broke off before anything had a name.
                _ if !group.written => {}
                Some(_) | None => unread += 1,
            }
        }
        (all, unread)
    }

    /// The receipt of this whole id, of the one id that begins so, or in this file.
    pub fn find(&self, id: &str) -> Option<Receipt> {
        if id.is_empty() {
            return None;
        }
        let (all, _) = self.receipts();
        let file = Path::new(id).canonicalize().ok();
        let whole = all.iter().find(|receipt| receipt.id == id || file.is_some() && file == real(&receipt.path));
        if let Some(receipt) = whole {
            return Some(receipt.clone());
        }
        let mut named = all.into_iter().filter(|receipt| receipt.id.starts_with(id));
        let first = named.next()?;
        named.next().is_none().then_some(first)
    }

    /// What is staged for the transcript at `source`; survives a crash.
    pub fn staged(&self, source: &Path) -> Vec<Abandonment> {
        let read = whole::read_all(&Disk, &self.stage_file(source)).ok();
        let stage = read.and_then(|bytes| serde_json::from_slice::<Stage>(&bytes).ok());
        let staged = stage.map(|stage| stage.staged).unwrap_or_default();
        let known = staged.into_iter().map(|staged| {
            let Staged { id, instance, reason, evidence, by } = staged;
            Abandonment { id, instance, reason, evidence, by }
        });
        known.collect()
    }

    /// Stages `staged` for the transcript at `source` in the place of what was staged before, as one step. Nothing
    /// staged: no file.
    ///
    /// # Errors
    /// If the state folder cannot be written; what was staged before stays.
    pub fn stage(&self, source: &Path, staged: &[Abandonment]) -> io::Result<()> {
        self.stage_by(&Disk, source, staged)
    }

    /// The same on another disk.
    ///
    /// # Errors
    /// If the state folder cannot be written; what was staged before stays.
    pub fn stage_by(&self, fs: &dyn Fs, source: &Path, staged: &[Abandonment]) -> io::Result<()> {
        let file = self.stage_file(source);
        let folder = self.root.join("stage");
        if staged.is_empty() {
            return match again(|| fs.remove(&file)) {
                Ok(()) => fs.sync_folder(&folder),
                Err(why) if why.kind() == ErrorKind::NotFound => Ok(()),
                Err(why) => Err(why),
            };
        }
        let known = staged.iter().map(|wish| Staged {
            id: wish.id.clone(),
            instance: wish.instance,
            reason: wish.reason.clone(),
            evidence: wish.evidence.clone(),
            by: wish.by.clone(),
        });
        let stage = Stage { source: real(source).unwrap_or_else(|| source.into()), staged: known.collect() };
        let bytes = serde_json::to_vec_pretty(&stage)?;
        whole::create_folders(fs, &folder, 0o700).1?;
        // One name for each process: two screens on one transcript do not write into each other's file.
        let temp = file.with_extension(format!("{}.tmp", std::process::id()));
        whole::remove(fs, &temp)?;
        let put = whole::create_synced(fs, &temp, &bytes).and_then(|()| again(|| fs.rename_over(&temp, &file)));
        if put.is_err() {
            drop(whole::remove(fs, &temp));
        }
        put.and_then(|()| fs.sync_folder(&folder))
    }

    fn stage_file(&self, source: &Path) -> PathBuf {
        use std::os::unix::ffi::OsStrExt as _;
        let path = real(source).unwrap_or_else(|| source.to_path_buf());
        let name: String = whole::sha256(path.as_os_str().as_bytes()).chars().take(32).collect();
        self.root.join("stage").join(name + ".json")
    }

    pub(super) fn receipts_folder(&self) -> PathBuf {
        self.root.join("receipts")
    }

    fn file(&self, stem: &str, ending: &str) -> PathBuf {
        self.receipts_folder().join(format!("{stem}.{ending}"))
    }

    /// Files of the receipts folder by stem: `TIME-ID`, so that the newest comes last.
    fn groups(&self, fs: &dyn Fs) -> io::Result<BTreeMap<String, Group>> {
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        let names = match again(|| fs.list(&self.receipts_folder())) {
            Err(why) if why.kind() == ErrorKind::NotFound => return Ok(groups),
            names => names?,
        };
        for path in names {
            let name = path.file_name().and_then(|name| name.to_str());
            let Some((stem, ending)) = name.and_then(|name| name.rsplit_once('.')) else { continue };
            let mut group = |set: fn(&mut Group)| set(groups.entry(stem.to_string()).or_default());
            match ending {
                WRITTEN => group(|group| group.written = true),
                PENDING => group(|group| group.pending = true),
                UNDONE => group(|group| group.undone = true),
                UNDOING => group(|group| group.undoing = true),
                _ => {}
            }
        }
        groups.retain(|_, group| group.written || group.pending);
        Ok(groups)
    }

    fn receipt(&self, fs: &dyn Fs, stem: &str, group: Group) -> Option<Receipt> {
        let path = self.file(stem, if group.written { WRITTEN } else { PENDING });
        let mut receipt: Receipt = serde_json::from_slice(&whole::read_all(fs, &path).ok()?).ok()?;
        receipt.path = path;
        receipt.undone = group.undone.then(|| self.mark(fs, stem));
        Some(receipt)
    }

    /// When an undo was done. The mark counts even if it cannot be read.
    fn mark(&self, fs: &dyn Fs, stem: &str) -> String {
        let read = whole::read_all(fs, &self.file(stem, UNDONE)).ok();
        let mark = read.and_then(|bytes| serde_json::from_slice::<Mark>(&bytes).ok());
        mark.map_or_else(|| "unknown".to_string(), |mark| mark.time)
    }
}

/// Writing: for commits and undos, under the lock of a plan.
impl Store {
    /// Nobody else may commit or undo this plan as long as the answer lives; `None` if somebody else does.
    pub(super) fn lock(&self, fs: &dyn Fs, plan: &str) -> io::Result<Option<Lock>> {
        whole::create_folders(fs, &self.receipts_folder(), 0o700).1?;
        let path = self.receipts_folder().join(format!("{plan}.lock"));
        let file = again(|| fs.lock(&path, true))?;
        Ok(file.map(|file| Lock { path, _file: file }))
    }

    /// The file goes first and the lock after it: whoever opened it meanwhile notices that it has lost its name.
    pub(super) fn unlock(fs: &dyn Fs, lock: Lock) {
        // A file that stays behind unlocked stops nobody.
        drop(whole::remove(fs, &lock.path));
        drop(lock);
    }

    /// The receipt that says that `plan` is committed and not undone; else the id for the next one. A file that
    /// cannot be read counts: nobody can say that the plan was not committed.
    pub(super) fn committed(&self, fs: &dyn Fs, plan: &str) -> io::Result<Result<String, Box<Receipt>>> {
        let mut before = 0;
        for (stem, group) in self.groups(fs)?.iter().filter(|(stem, _)| plan_of(stem) == Some(plan)) {
            let group = if group.pending && !group.written { self.settle(fs, stem)? } else { Some(*group) };
            let Some(group) = group else { continue };
            before += 1;
            if !group.undone {
                let path = self.file(stem, WRITTEN);
                let unread = || io::Error::new(ErrorKind::InvalidData, format!("{} cannot be read", path.display()));
                return Ok(Err(Box::new(self.receipt(fs, stem, group).ok_or_else(unread)?)));
            }
        }
        Ok(Ok(if before == 0 { plan.to_string() } else { format!("{plan}-{}", before + 1) }))
    }

    /// Finishes the receipts of commits that were killed: a receipt whose output stands is one, any other is none.
    /// Those of commits under way are left alone.
    pub(super) fn recover(&self, fs: &dyn Fs, own: &str) -> io::Result<()> {
        for (stem, _) in self.groups(fs)?.iter().filter(|(_, group)| group.pending && !group.written) {
            let Some(plan) = plan_of(stem).filter(|plan| *plan != own) else { continue };
            if let Some(lock) = self.lock(fs, plan)? {
                let settled = self.settle(fs, stem);
                Self::unlock(fs, lock);
                settled?;
            }
        }
        Ok(())
    }

    /// Under the lock of its plan.
    fn settle(&self, fs: &dyn Fs, stem: &str) -> io::Result<Option<Group>> {
        let group = Group { pending: true, ..Group::default() };
        let receipt = self.receipt(fs, stem, group);
        if let Some(receipt) = receipt
            && stands_whole(fs, &receipt)?
        {
            if let Some(folder) = receipt.output.path.parent() {
                fs.sync_folder(folder)?;
            }
            self.confirm(fs, stem)?;
            fs.sync_folder(&self.receipts_folder())?;
            return Ok(Some(Group { written: true, ..Group::default() }));
        }
        whole::remove(fs, &self.file(stem, PENDING))?;
        Ok(None)
    }

    /// Where a receipt stands before its output has its name. Nothing is there: `committed` saw to that.
    pub(super) fn pending(&self, receipt: &Receipt) -> PathBuf {
        self.file(&stem_of(receipt), PENDING)
    }

    /// Puts a receipt down before its output gets its name. After a failure a part of it may be there.
    pub(super) fn announce(&self, fs: &dyn Fs, pending: &Path, receipt: &Receipt) -> io::Result<()> {
        whole::create_synced(fs, pending, &serde_json::to_vec_pretty(receipt)?)?;
        fs.sync_folder(&self.receipts_folder())
    }

    /// The output has its name: the receipt holds once the folder is synced.
    pub(super) fn confirm(&self, fs: &dyn Fs, stem: &str) -> io::Result<PathBuf> {
        let written = self.file(stem, WRITTEN);
        whole::rename_new(fs, &self.file(stem, PENDING), &written)?;
        Ok(written)
    }

    /// Finishes a receipt that an undo found pending, under the lock of its plan.
    pub(super) fn promote(&self, fs: &dyn Fs, receipt: &Receipt) -> io::Result<PathBuf> {
        if !is_pending(&receipt.path) {
            return Ok(receipt.path.clone());
        }
        let written = self.file(&stem_of(receipt), WRITTEN);
        if again(|| fs.status(&written)).is_ok() {
            // Somebody else finished it since it was listed.
            return Ok(written);
        }
        let path = self.confirm(fs, &stem_of(receipt))?;
        fs.sync_folder(&self.receipts_folder())?;
        Ok(path)
    }

    /// How far an undo of `receipt` has come: `(begun, done)`.
    pub(super) fn undo_state(&self, fs: &dyn Fs, receipt: &Receipt) -> io::Result<(bool, Option<String>)> {
        let stem = stem_of(receipt);
        let groups = self.groups(fs)?;
        let group = groups.get(&stem).ok_or(ErrorKind::NotFound)?;
        Ok((group.undoing, group.undone.then(|| self.mark(fs, &stem))))
    }

    /// An undo begins: the disk has room for its mark before anything is removed.
    pub(super) fn begin_undo(&self, fs: &dyn Fs, receipt: &Receipt, time: &str) -> io::Result<()> {
        let path = self.file(&stem_of(receipt), UNDOING);
        whole::remove(fs, &path)?;
        let bytes = serde_json::to_vec_pretty(&Mark { time: time.to_string() })?;
        let put = whole::create_synced(fs, &path, &bytes).and_then(|()| fs.sync_folder(&self.receipts_folder()));
        if put.is_err() {
            drop(whole::remove(fs, &path));
        }
        put
    }

    /// It came to nothing.
    pub(super) fn drop_undo(&self, fs: &dyn Fs, receipt: &Receipt) {
        drop(whole::remove(fs, &self.file(&stem_of(receipt), UNDOING)));
    }

    /// It is done.
    pub(super) fn end_undo(&self, fs: &dyn Fs, receipt: &Receipt) -> io::Result<()> {
        let stem = stem_of(receipt);
        whole::rename_new(fs, &self.file(&stem, UNDOING), &self.file(&stem, UNDONE))?;
        fs.sync_folder(&self.receipts_folder())
    }
}

/// True for the file of a receipt that does not hold yet.
pub(super) fn is_pending(receipt: &Path) -> bool {
    receipt.extension().is_some_and(|ending| ending == PENDING)
}

/// The file of a receipt, as long as it does not hold.
pub(super) fn pending_of(receipt: &Path) -> PathBuf {
    receipt.with_extension(PENDING)
}

/// `2026-11-30T14-38-02.000Z-ID`; of a receipt that has a file, the name of that.
pub(super) fn stem_of(receipt: &Receipt) -> String {
    if let Some(stem) = receipt.path.file_stem() {
        return stem.to_string_lossy().into_owned();
    }
    format!("{}-{}", receipt.time.replace(':', "-"), receipt.id)
}

/// The plan in a stem: the run of hexadecimal digits behind the time, with or without a number behind it.
fn plan_of(stem: &str) -> Option<&str> {
    let plan = |part: &&str| part.len() == PLAN_DIGITS && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    stem.rsplit('-').take(2).find(plan)
}

fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// A quick look for lists: something of its size stands where the receipt says.
fn stands(receipt: &Receipt) -> bool {
    Disk.status(&receipt.output.path).is_ok_and(|meta| meta.is_file() && meta.len() >= receipt.output.bytes)
}

/// The output stands there, byte for byte.
fn stands_whole(fs: &dyn Fs, receipt: &Receipt) -> io::Result<bool> {
    match again(|| fs.status(&receipt.output.path)) {
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(false),
        meta if !meta.as_ref().is_ok_and(std::fs::Metadata::is_file) => return meta.map(|_| false),
        _ => {}
    }
    let bytes = whole::read_all(fs, &receipt.output.path)?;
    // A runtime may have resumed into it already.
    let len = usize::try_from(receipt.output.bytes).unwrap_or(usize::MAX);
    Ok(bytes.get(..len).is_some_and(|bytes| whole::sha256(bytes) == receipt.output.sha256))
}
