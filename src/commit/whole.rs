//! Whole files out of single calls: loops over interruptions and short reads and writes, hashes, and plain words for
//! what went wrong.

use std::{
    fs::File,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::Fs;

/// Bytes read at once.
const BLOCK: usize = 1 << 18;

/// Repeats `call` as long as signals interrupt it. Not for a sync.
pub(super) fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(why) if why.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Writes all of `bytes`.
pub(super) fn write_all(fs: &dyn Fs, file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = again(|| fs.write(file, bytes))?;
        if written == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// Gives the bytes of an open file to `take`, block by block, until it has enough.
pub(super) fn read_blocks(fs: &dyn Fs, file: &File, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    loop {
        let read = again(|| fs.read(file, &mut block))?;
        if read == 0 || !take(block.get(..read).unwrap_or_default()) {
            return Ok(());
        }
    }
}

/// A whole regular file.
pub(super) fn read_all(fs: &dyn Fs, path: &Path) -> io::Result<Vec<u8>> {
    let file = again(|| fs.open(path))?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut out = Vec::new();
    read_blocks(fs, &file, |bytes| {
        out.extend_from_slice(bytes);
        true
    })?;
    Ok(out)
}

/// Writes a new file of cutline's own, readable by its owner only, down to the disk; its name is not yet.
pub(super) fn create_synced(fs: &dyn Fs, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = again(|| fs.create_new(path, 0o600))?;
    write_all(fs, &file, bytes)?;
    fs.sync(&file)
}

/// Renames to a name that nothing has. A call that reports an error and did its work all the same, as over a network,
/// is told by the file under the new name.
pub(super) fn rename_new(fs: &dyn Fs, from: &Path, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let before = again(|| fs.status(from))?.ino();
    let Err(why) = again(|| fs.rename_new(from, to)) else { return Ok(()) };
    let landed = again(|| fs.status(to)).is_ok_and(|now| now.is_file() && now.ino() == before);
    if !landed {
        return Err(why);
    }
    // The old name may still stand beside the new one.
    drop(again(|| fs.remove(from)));
    Ok(())
}

/// Removes a file; one that is not there is removed.
pub(super) fn remove(fs: &dyn Fs, path: &Path) -> io::Result<()> {
    match again(|| fs.remove(path)) {
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Makes `folder` with all that is missing above it, and makes that last. Answers what was made, outermost first;
/// also of a failure.
pub(super) fn create_folders(fs: &dyn Fs, folder: &Path, mode: u32) -> (Vec<PathBuf>, io::Result<()>) {
    let mut made = Vec::new();
    let mut missing = Vec::new();
    for path in folder.ancestors() {
        match again(|| fs.status(path)) {
            Ok(_) => break,
            Err(why) if why.kind() == ErrorKind::NotFound => missing.push(path),
            Err(why) => return (made, Err(why)),
        }
    }
    for path in missing.into_iter().rev().filter(|path| !path.as_os_str().is_empty()) {
        match again(|| fs.create_folder(path, mode)) {
            Ok(()) => made.push(path.to_path_buf()),
            // Somebody else was quicker.
            Err(why) if why.kind() == ErrorKind::AlreadyExists => continue,
            Err(why) => return (made, Err(why)),
        }
        if let Some(above) = path.parent()
            && let Err(why) = fs.sync_folder(above)
        {
            return (made, Err(why));
        }
    }
    (made, Ok(()))
}

/// Removes those of `folders` that are empty, innermost first, and answers which.
pub(super) fn remove_folders(fs: &dyn Fs, folders: &[PathBuf]) -> Vec<PathBuf> {
    let empty = |path: &&PathBuf| again(|| fs.remove_folder(path)).is_ok();
    folders.iter().rev().filter(empty).cloned().collect()
}

/// SHA-256 in lower-case hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// What went wrong, as part of a sentence.
pub(super) fn plain(why: &io::Error) -> String {
    match why.kind() {
        ErrorKind::StorageFull => "the disk is full".to_string(),
        ErrorKind::QuotaExceeded => "the quota is used up".to_string(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_string(),
        ErrorKind::PermissionDenied => "permission was denied".to_string(),
        ErrorKind::NotFound => "it is not there".to_string(),
        ErrorKind::Interrupted => "a signal interrupted it".to_string(),
        _ => {
            let text = why.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
    }
}
