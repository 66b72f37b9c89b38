//! The few system calls of this room: open without hanging, stat what was opened, read at an offset.

use std::{
    fmt,
    fs::{File, Metadata, OpenOptions},
    io,
    path::Path,
};

/// `O_NONBLOCK`: opening a FIFO that nobody writes must not hang. The standard library adds `O_CLOEXEC` by itself.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NONBLOCK: i32 = 0o4000;
/// The value of the BSD family, macOS included.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const NONBLOCK: i32 = 0x4;

/// Something that has a transcript's name and is no regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// A folder.
    Directory,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device, or something unknown.
    Device,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "a directory",
            Self::Fifo => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
        })
    }
}

impl Refused {
    /// What `meta` is, if it is no regular file.
    pub(super) fn of(meta: &Metadata) -> Option<Self> {
        let kind = meta.file_type();
        if kind.is_file() {
            return None;
        }
        if kind.is_dir() {
            return Some(Self::Directory);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt as _;
            if kind.is_fifo() {
                return Some(Self::Fifo);
            }
            if kind.is_socket() {
                return Some(Self::Socket);
            }
        }
        Some(Self::Device)
    }
}

/// Which file it is, as far as the system tells. Never enough alone: numbers are used again after a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    inode: u64,
    /// Elsewhere the time of creation stands for the identity; the fingerprints do the rest.
    #[cfg(not(unix))]
    created: Option<std::time::SystemTime>,
}

impl Identity {
    pub(super) fn of(meta: &Metadata) -> Self {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            Self { device: meta.dev(), inode: meta.ino() }
        }
        #[cfg(not(unix))]
        Self { created: meta.created().ok() }
    }
}

/// What one look at an open file says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) id: Identity,
    pub(super) size: u64,
    stamp: Stamp,
}

/// Times of change. Only ever compared for being equal, so a clock that jumps or a time set by hand has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<std::time::SystemTime>,
    /// Seconds and nanoseconds of the inode's own change, which no program can set.
    #[cfg(unix)]
    changed: (i64, i64),
}

impl Stat {
    pub(super) fn of(meta: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt as _;
        let stamp = Stamp {
            modified: meta.modified().ok(),
            #[cfg(unix)]
            changed: (meta.ctime(), meta.ctime_nsec()),
        };
        Self { id: Identity::of(meta), size: meta.len(), stamp }
    }

    /// True if something was changed between two looks, whatever it was.
    pub(super) fn touched_since(&self, earlier: &Self) -> bool {
        self.stamp != earlier.stamp
    }
}

/// Opens for reading, without waiting for a FIFO's writer. Errors are those of `open(2)`.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(NONBLOCK);
    }
    options.open(path)
}

/// One `pread(2)`, repeated when a signal interrupts it; 0 is the end of the file.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    loop {
        #[cfg(unix)]
        let got = std::os::unix::fs::FileExt::read_at(file, buffer, offset);
        #[cfg(windows)]
        let got = std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
        match got {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Bytes from `offset`, `len` of them or fewer at the end of the file. Errors are those of `pread(2)`.
pub(super) fn bytes_at(file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let mut have = 0;
    while let Some(room) = bytes.get_mut(have..).filter(|room| !room.is_empty()) {
        match read_at(file, room, offset + have as u64)? {
            0 => break,
            got => have += got,
        }
    }
    bytes.truncate(have);
    Ok(bytes)
}

/// `bytes` as a number of bytes in memory; what does not fit is the largest one.
pub(super) fn clamp(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
