//! Mode A: a new session file beside the source. The source is opened for reading only, always.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt as _,
    path::{Component, Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::{
    CommitError, FileMark, Fs, Receipt, Store,
    leftovers::{Made, is_ours, set_aside_name, sweep, temp_name},
    receipt, store,
    whole::{self, again},
};
use crate::{cut::Verdict, model::Millis, plan::Draft, source::Address};

/// What is to be committed.
pub struct Job<'a> {
    /// The new file.
    pub draft: &'a Draft,
    /// The transcript that it was drafted from.
    pub source: &'a Path,
    /// SHA-256 of the first `draft.source_bytes` bytes of the source, as previewed, in hexadecimal.
    pub source_sha256: &'a str,
    /// The new file, or a folder for it; `None`: where its runtime looks for it, from where the source lies.
    pub out: Option<&'a Path>,
    /// The verdict that this carries out.
    pub verdict: Verdict,
    /// The span is the one that a refusal offered.
    pub relief: bool,
    /// Names of checks that ask and that a person said yes to.
    pub confirmed: &'a [String],
    /// Who commits.
    pub operator: &'a str,
    /// When.
    pub now: Millis,
}

/// Writes the draft as a new session file and its receipt. All of it stands on the disk when this returns, or
/// nothing does.
///
/// # Errors
/// [`CommitError`] says why not, and of what could not be cleaned away, where it is.
pub fn commit(fs: &dyn Fs, store: &Store, job: &Job<'_>) -> Result<Receipt, CommitError> {
    if let Some(check) = job.draft.failed().next() {
        return Err(CommitError::Forbidden { name: check.name, text: check.text.clone() });
    }
    if let Some(check) = job.draft.asks().find(|check| !job.confirmed.iter().any(|name| name == check.name)) {
        return Err(CommitError::Unconfirmed { name: check.name, text: check.text.clone() });
    }
    let plan = receipt::plan_id(job);
    // 1. The plan is locked: of all who commit it, one is here. On disk: the state folder and an empty lock file.
    let lock = store.lock(fs, &plan).map_err(|why| state(store, why))?.ok_or(CommitError::Busy)?;
    let result = Fork { fs, store, job, plan: &plan }.run();
    Store::unlock(fs, lock);
    result
}

fn state(store: &Store, why: io::Error) -> CommitError {
    CommitError::State { path: store.root().into(), why }
}

fn unwritable(path: &Path, why: io::Error) -> CommitError {
    CommitError::Unwritable { path: path.into(), why }
}

/// A commit under the lock of its plan.
struct Fork<'a> {
    fs: &'a dyn Fs,
    store: &'a Store,
    job: &'a Job<'a>,
    plan: &'a str,
}

/// The source, compared with the preview.
struct Source {
    path: PathBuf,
    mode: u32,
    behind: u64,
}

/// Where the new file goes.
struct Place {
    folder: PathBuf,
    target: PathBuf,
    /// Its runtime does not find it there by itself.
    moved: bool,
}

impl Fork<'_> {
    fn run(&self) -> Result<Receipt, CommitError> {
        let (fs, store, plan) = (self.fs, self.store, self.plan);
        let state = |why| state(store, why);
        store.recover(fs, plan).map_err(state)?;
        let id = match store.committed(fs, plan).map_err(state)? {
            Ok(id) => id,
            Err(first) => {
                let first = *first;
                return Err(CommitError::Already { id: first.id, time: first.time, receipt: first.path });
            }
        };
        // 2. The source begins with what was previewed. On disk: as before.
        let source = self.source()?;
        let place = self.place(&source)?;
        let mut made = Made::default();
        let done = self.put(id, &source, &place, &mut made);
        done.map_err(|cause| made.take_back(fs, cause))
    }

    /// Reads the source again: what was previewed must still be its beginning.
    fn source(&self) -> Result<Source, CommitError> {
        let (fs, job) = (self.fs, self.job);
        let unreadable = |why| CommitError::Unreadable { path: job.source.into(), why };
        if let Some(address) = Address::of(job.source) {
            return self.rows(&address);
        }
        let path = again(|| fs.resolve(job.source)).map_err(unreadable)?;
        let file = again(|| fs.open(&path)).map_err(unreadable)?;
        let meta = file.metadata().map_err(unreadable)?;
        if !meta.is_file() {
            return Err(CommitError::Changed("it is no regular file any more".to_string()));
        }
        let wanted = job.draft.source_bytes;
        if meta.len() < wanted {
            return Err(CommitError::Changed(format!("it has {} bytes, not {wanted} or more", meta.len())));
        }
        let (hash, read) = prefix(fs, &file, wanted).map_err(unreadable)?;
        if read < wanted {
            return Err(CommitError::Changed(format!("it has {read} bytes, not {wanted} or more")));
        }
        if hash != job.source_sha256 {
            return Err(CommitError::Changed("what was previewed reads differently now".to_string()));
        }
        // As private as the source; but its agent has to write into it, also where the source is a read-only copy.
        Ok(Source { path, mode: (meta.mode() & 0o777) | 0o600, behind: meta.len() - wanted })
    }

    /// A session in a store: its lines are compared, not the store, in which others are written too.
    fn rows(&self, address: &Address) -> Result<Source, CommitError> {
        let (fs, job) = (self.fs, self.job);
        let unreadable = |why| CommitError::Unreadable { path: job.source.into(), why };
        let store = again(|| fs.resolve(address.store())).map_err(unreadable)?;
        let meta = again(|| fs.status(&store)).map_err(unreadable)?;
        let bytes = address.read().map_err(|error| unreadable(io::Error::other(error.to_string())))?;
        let wanted = job.draft.source_bytes;
        let previewed = usize::try_from(wanted).ok().and_then(|wanted| bytes.get(..wanted));
        if previewed.is_none_or(|bytes| whole::sha256(bytes) != job.source_sha256) {
            return Err(CommitError::Changed("what was previewed reads differently now".to_string()));
        }
        let name = address.path().file_name().unwrap_or_default().to_os_string();
        // A folder's right to be entered is none of a file's.
        let mode = (meta.mode() & 0o666) | 0o600;
        Ok(Source { path: store.with_file_name(name), mode, behind: bytes.len() as u64 - wanted })
    }

    fn place(&self, source: &Source) -> Result<Place, CommitError> {
        let (fs, draft) = (self.fs, self.job.draft);
        let usual = by_day(source.path.parent().unwrap_or(Path::new("/")), draft.forked.day.as_deref());
        let (folder, name) = match self.job.out {
            Some(out) => self.given(out, &source.path)?,
            None => (usual.clone(), name(draft, &source.path)?),
        };
        let shelf = draft.forked.shelf;
        let shelved = shelf.is_empty() || folder.ancestors().any(|above| above.file_name() == Some(OsStr::new(shelf)));
        let moved =
            !shelved || folder != usual || (!draft.forked.name.is_empty() && name != OsStr::new(&draft.forked.name));
        let target = folder.join(name);
        match again(|| fs.status(&target)) {
            Ok(meta) if meta.is_symlink() => Err(CommitError::Link(target)),
            Ok(_) => Err(CommitError::Taken(target)),
            Err(why) if why.kind() == ErrorKind::NotFound => Ok(Place { folder, target, moved }),
            Err(why) => Err(unwritable(&target, why)),
        }
    }

    /// Folder and name that the operator chose: a folder that is there, or a name in one.
    fn given(&self, out: &Path, source: &Path) -> Result<(PathBuf, OsString), CommitError> {
        let fs = self.fs;
        let folder = |path: &Path| match again(|| fs.resolve(path)) {
            Ok(real) => Ok(real),
            Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(CommitError::NoFolder(path.into()))
            }
            Err(why) => Err(unwritable(path, why)),
        };
        match again(|| fs.status(out)) {
            Ok(meta) if meta.is_symlink() => Err(CommitError::Link(out.into())),
            Ok(meta) if meta.is_dir() => Ok((folder(out)?, name(self.job.draft, source)?)),
            Err(why) if !matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(unwritable(out, why))
            }
            _ => {
                let above = out.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let named = out.file_name().filter(|name| !is_ours(name));
                let named = named.ok_or_else(|| CommitError::Name(out.display().to_string()))?;
                Ok((folder(above)?, named.to_os_string()))
            }
        }
    }

    fn put(&self, id: String, source: &Source, place: &Place, made: &mut Made) -> Result<Receipt, CommitError> {
        let (fs, store, job) = (self.fs, self.store, self.job);
        let draft = job.draft;
        // 3. The bytes are in the draft. On disk: the folders of the new day, empty.
        self.folders(source, place, made)?;
        // 4. The temporary file is whole, has the source's permissions and is on the disk, under a name of its own.
        let temp = place.folder.join(temp_name(self.plan));
        let file = self.temp(&temp, source.mode, made)?;
        // 5. A fresh reader found in it what was previewed. On disk: as before.
        let read = whole::read_all(fs, &temp).map_err(|why| unwritable(&temp, why))?;
        draft.accepts(&read).map_err(CommitError::Differs)?;
        // 6. The receipt is on the disk, marked as pending: whoever finds it looks whether the output stands. A disk
        //    that is full refuses here, before anything has its name.
        let from =
            FileMark { path: source.path.clone(), bytes: draft.source_bytes, sha256: job.source_sha256.to_string() };
        let (bytes, sha256) = (draft.bytes.len() as u64, draft.sha256());
        let output = FileMark { path: place.target.clone(), bytes, sha256 };
        let mut receipt = Receipt::of(job, id, self.plan, from, source.behind, output);
        // A runtime may take nothing but a path.
        if place.moved || receipt.resume.is_empty() {
            receipt.resume.clone_from(&draft.forked.resume_by_path);
            if !receipt.resume.is_empty() {
                receipt.resume.push(place.target.display().to_string());
            }
        }
        receipt.inode = file.metadata().map_err(|why| unwritable(&temp, why))?.ino();
        receipt.folders.clone_from(&made.folders);
        let pending = store.pending(&receipt);
        made.receipt = Some(pending.clone());
        store.announce(fs, &pending, &receipt).map_err(|why| state(store, why))?;
        receipt.path = pending;
        // 7. The new file has its name; nothing was replaced. A power cut may still take the name back.
        whole::rename_new(fs, &temp, &place.target).map_err(|why| match why.kind() {
            ErrorKind::AlreadyExists => CommitError::Taken(place.target.clone()),
            _ => unwritable(&place.target, why),
        })?;
        made.temp = None;
        made.fork = Some(receipt.output.clone());
        made.inode = receipt.inode;
        drop(file);
        // 8. The name is on the disk.
        fs.sync_folder(&place.folder).map_err(|why| unwritable(&place.folder, why))?;
        // 9. The receipt holds, and is on the disk.
        receipt.path = store.confirm(fs, &store::stem_of(&receipt)).map_err(|why| state(store, why))?;
        made.receipt = Some(receipt.path.clone());
        fs.sync_folder(&store.receipts_folder()).map_err(|why| state(store, why))?;
        Ok(receipt)
    }

    fn folders(&self, source: &Source, place: &Place, made: &mut Made) -> Result<(), CommitError> {
        let fs = self.fs;
        // The day's folder is as private as the one that the source lies in.
        let beside = source.path.parent().map(|folder| again(|| fs.status(folder)));
        let mode = beside.and_then(Result::ok).map_or(0o700, |meta| meta.mode() & 0o777);
        let (folders, done) = whole::create_folders(fs, &place.folder, mode);
        made.folders = folders;
        done.map_err(|why| unwritable(&place.folder, why))?;
        sweep(fs, self.store, &place.folder, self.plan);
        Ok(())
    }

    fn temp(&self, temp: &Path, mode: u32, made: &mut Made) -> Result<File, CommitError> {
        let fs = self.fs;
        let unwritable = |why: io::Error| match why.kind() {
            // It outlived the sweep: its writer lives, with a state folder of its own.
            ErrorKind::AlreadyExists => CommitError::Busy,
            ErrorKind::NotFound => CommitError::NoFolder(temp.parent().unwrap_or(temp).into()),
            _ => unwritable(temp, why),
        };
        let file = again(|| fs.create_new(temp, 0o600)).map_err(unwritable)?;
        made.temp = Some(temp.to_path_buf());
        whole::write_all(fs, &file, &self.job.draft.bytes).map_err(unwritable)?;
        again(|| fs.set_mode(&file, mode)).map_err(unwritable)?;
        fs.sync(&file).map_err(unwritable)?;
        Ok(file)
    }
}

/// SHA-256 of at most the first `wanted` bytes, and how many there were.
pub(super) fn prefix(fs: &dyn Fs, file: &File, wanted: u64) -> io::Result<(String, u64)> {
    let mut hash = Sha256::new();
    let mut read = 0;
    whole::read_blocks(fs, file, |bytes| {
        let left = usize::try_from(wanted - read).unwrap_or(usize::MAX);
        let bytes = bytes.get(..left).unwrap_or(bytes);
        hash.update(bytes);
        read += bytes.len() as u64;
        read < wanted
    })?;
    Ok((whole::hex(&hash.finalize()), read))
}

/// `folder`, with its last three components made to be `day` if they are a day, too.
fn by_day(folder: &Path, day: Option<&str>) -> PathBuf {
    let Some(day) = day.filter(|day| is_day(Path::new(day))) else { return folder.into() };
    let mut above = folder.ancestors();
    let root = above.nth(3);
    match root.and_then(|root| Some((root, folder.strip_prefix(root).ok()?))) {
        Some((root, last)) if is_day(last) => root.join(day),
        _ => folder.into(),
    }
}

/// `2026/11/30`.
fn is_day(path: &Path) -> bool {
    let lengths = path.components().map(|part| match part {
        Component::Normal(name) if name.as_encoded_bytes().iter().all(u8::is_ascii_digit) => name.len(),
        _ => 0,
    });
    lengths.eq([4, 2, 2])
}

/// The file's name: one component, never one of cutline's own.
fn name(draft: &Draft, source: &Path) -> Result<OsString, CommitError> {
    let name = if draft.forked.name.is_empty() {
        let short: String = draft.forked.session.chars().take(8).collect();
        let mut name = source.file_stem().unwrap_or(OsStr::new("session")).to_os_string();
        name.push(format!(".{short}.jsonl"));
        name
    } else {
        OsString::from(&draft.forked.name)
    };
    let mut parts = Path::new(&name).components();
    let whole = matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name);
    if !whole || name.as_encoded_bytes().contains(&0) || is_ours(&name) {
        return Err(CommitError::Name(name.to_string_lossy().into_owned()));
    }
    Ok(name)
}

/// Where an undo sets its file aside before it goes.
pub(super) fn aside(receipt: &Receipt) -> PathBuf {
    receipt.output.path.with_file_name(set_aside_name(&receipt.plan))
}
