//! The few calls to the file system that the rest of this room makes, as a trait: tests put faults, traces and deaths
//! between two of them, and no release build knows of it.

use std::{
    fs::{File, Metadata},
    io::{self, Read as _, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};

/// What a commit, a receipt and an undo ask of a disk. Every call may fail with `Interrupted`; callers repeat it,
/// but never [`Fs::sync`] and [`Fs::sync_folder`].
pub trait Fs: Sync {
    /// The path without any link in it.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;
    /// What stands under this very name; a link is not followed.
    fn status(&self, path: &Path) -> io::Result<Metadata>;
    /// Names in a folder.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;
    /// Opens for reading only. Neither follows a link at the end of `path` nor hangs on a pipe.
    fn open(&self, path: &Path) -> io::Result<File>;
    /// Reads on.
    fn read(&self, file: &File, into: &mut [u8]) -> io::Result<usize>;
    /// Makes a file of that name for writing, locked as long as it is open. Fails if the name exists, whatever it is.
    fn create_new(&self, path: &Path, mode: u32) -> io::Result<File>;
    /// Writes some of `bytes` and says how many.
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize>;
    /// Sets the permissions.
    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()>;
    /// Everything written is on the disk. After a failure the pages may be gone and a second try would lie: never
    /// repeat it.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// The names in `folder` are on the disk. Never repeat it either.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Makes one folder.
    fn create_folder(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Gives a file another name that nothing has yet.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file another name, in the place of what has it. For cutline's own files only.
    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder if it is empty.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Locks a file for as long as the answer lives, and makes it first if `create`. `None`: somebody else holds it.
    fn lock(&self, path: &Path, create: bool) -> io::Result<Option<File>>;
}

/// The disk itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

/// For reading: no link at the end, no hanging on a pipe.
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);
/// Times that a lock file may vanish between opening and locking it before this is an error.
const TRIES: usize = 16;

fn mode(bits: u32) -> Mode {
    // The field is narrower on some systems; permission bits fit everywhere.
    Mode::from_bits_truncate((bits & 0o777) as _)
}

impl Fs for Disk {
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        path.canonicalize()
    }

    fn status(&self, path: &Path) -> io::Result<Metadata> {
        path.symlink_metadata()
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        folder.read_dir()?.map(|entry| Ok(entry?.path())).collect()
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        Ok(rustix::fs::open(path, READ, Mode::empty())?.into())
    }

    fn read(&self, mut file: &File, into: &mut [u8]) -> io::Result<usize> {
        file.read(into)
    }

    fn create_new(&self, path: &Path, bits: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file: File = rustix::fs::open(path, flags, mode(bits))?.into();
        // Shows others that its writer lives. Where a file system knows no locks there is nobody to show it to.
        drop(file.try_lock());
        Ok(file)
    }

    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }

    fn set_mode(&self, file: &File, bits: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(file, mode(bits))?)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        // Not `File::sync_all`: it repeats an interrupted call.
        Ok(rustix::fs::fsync(file)?)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::fsync(rustix::fs::open(folder, flags, Mode::empty())?)?)
    }

    fn create_folder(&self, path: &Path, bits: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdir(path, mode(bits))?)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match rename_without_replacing(from, to) {
            // The file system does not know it. A link fails if the name exists, too.
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {
                rustix::fs::link(from, to)?;
                Ok(rustix::fs::unlink(from)?)
            }
            other => Ok(other?),
        }
    }

    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        Ok(rustix::fs::rename(from, to)?)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::unlink(path)?)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        Ok(rustix::fs::rmdir(path)?)
    }

    fn lock(&self, path: &Path, create: bool) -> io::Result<Option<File>> {
        let flags = if create { READ | OFlags::CREATE } else { READ };
        for _ in 0..TRIES {
            let file: File = rustix::fs::open(path, flags, mode(0o600))?.into();
            match file.try_lock() {
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
                Err(std::fs::TryLockError::Error(why)) => return Err(why),
            }
            // Whoever held it may have removed the name just now: a lock on a file without name protects nothing.
            match path.symlink_metadata() {
                Ok(now) if now.ino() == file.metadata()?.ino() => return Ok(Some(file)),
                Err(why) if !create || why.kind() != io::ErrorKind::NotFound => return Err(why),
                _ => {}
            }
        }
        Ok(None)
    }
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_without_replacing(from: &Path, to: &Path) -> rustix::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_without_replacing(_from: &Path, _to: &Path) -> rustix::io::Result<()> {
    Err(Errno::NOSYS)
}
