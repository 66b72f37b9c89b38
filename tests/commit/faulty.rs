//! The real disk with a fault at the n-th call, a death from the n-th call on, and a trace of all.

use std::{
    collections::HashMap,
    fs::{File, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Mutex,
};

use cutline::commit::{Disk, Fs};

/// What the n-th call does instead of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Fails with this number.
    Fails(i32),
    /// Does its work and says that it failed with this number.
    Lies(i32),
    /// Writes a part only.
    Short,
}

pub(crate) const ENOSPC: i32 = 28;
pub(crate) const EIO: i32 = 5;
pub(crate) const EROFS: i32 = 30;
pub(crate) const EACCES: i32 = 13;
pub(crate) const EINTR: i32 = 4;

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
    /// Of a rename.
    pub(crate) to: Option<PathBuf>,
    /// Of a write.
    pub(crate) bytes: Vec<u8>,
}

impl Call {
    fn on(name: &'static str, path: &Path) -> Self {
        assert!(path.is_absolute(), "{name} {}", path.display());
        Self { name, path: path.into(), to: None, bytes: Vec::new() }
    }
}

/// Faults by the number of the call.
#[derive(Default)]
pub(crate) struct Faulty {
    faults: Vec<(usize, Fault)>,
    dead_from: Option<usize>,
    calls: Mutex<Vec<Call>>,
    names: Mutex<HashMap<u64, PathBuf>>,
}

impl Faulty {
    /// Nothing but the trace.
    pub(crate) fn traced() -> Self {
        Self::default()
    }

    pub(crate) fn at(faults: &[(usize, Fault)]) -> Self {
        Self { faults: faults.to_vec(), ..Self::default() }
    }

    /// Every call from the n-th on fails, as if the process were gone.
    pub(crate) fn dead_from(n: usize) -> Self {
        Self { dead_from: Some(n), ..Self::default() }
    }

    pub(crate) fn trace(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// The n-th call was made.
    pub(crate) fn reached(&self, n: usize) -> bool {
        self.calls.lock().unwrap().len() > n
    }

    fn call<T>(&self, call: Call, work: impl FnOnce(bool) -> io::Result<T>) -> io::Result<T> {
        let n = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(call);
            calls.len() - 1
        };
        if self.dead_from.is_some_and(|from| n >= from) {
            return Err(io::Error::from_raw_os_error(EIO));
        }
        match self.faults.iter().find(|(at, _)| *at == n).map(|(_, fault)| *fault) {
            Some(Fault::Fails(number)) => Err(io::Error::from_raw_os_error(number)),
            Some(Fault::Lies(number)) => work(false).and_then(|_| Err(io::Error::from_raw_os_error(number))),
            Some(Fault::Short) => work(true),
            None => work(false),
        }
    }

    fn of(&self, name: &'static str, file: &File) -> Call {
        let inode = file.metadata().unwrap().ino();
        let path = self.names.lock().unwrap().get(&inode).cloned().unwrap_or_default();
        Call { name, path, to: None, bytes: Vec::new() }
    }

    fn named(&self, file: File, path: &Path) -> File {
        self.names.lock().unwrap().insert(file.metadata().unwrap().ino(), path.into());
        file
    }
}

impl Fs for Faulty {
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.call(Call::on("resolve", path), |_| Disk.resolve(path))
    }

    fn status(&self, path: &Path) -> io::Result<Metadata> {
        self.call(Call::on("status", path), |_| Disk.status(path))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        self.call(Call::on("list", folder), |_| Disk.list(folder))
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        self.call(Call::on("open", path), |_| Disk.open(path).map(|file| self.named(file, path)))
    }

    fn read(&self, file: &File, into: &mut [u8]) -> io::Result<usize> {
        self.call(self.of("read", file), |short| {
            let len = if short { 7 } else { into.len() };
            Disk.read(file, &mut into[..len])
        })
    }

    fn create_new(&self, path: &Path, mode: u32) -> io::Result<File> {
        self.call(Call::on("create", path), |_| Disk.create_new(path, mode).map(|file| self.named(file, path)))
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        let call = Call { bytes: bytes.to_vec(), ..self.of("write", file) };
        self.call(call, |short| Disk.write(file, &bytes[..if short { bytes.len() / 2 } else { bytes.len() }]))
    }

    fn set_mode(&self, file: &File, mode: u32) -> io::Result<()> {
        self.call(self.of("mode", file), |_| Disk.set_mode(file, mode))
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.call(self.of("sync", file), |_| Disk.sync(file))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.call(Call::on("sync-folder", folder), |_| Disk.sync_folder(folder))
    }

    fn create_folder(&self, path: &Path, mode: u32) -> io::Result<()> {
        self.call(Call::on("create-folder", path), |_| Disk.create_folder(path, mode))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call { to: Some(to.into()), ..Call::on("rename", from) }, |_| Disk.rename_new(from, to))
    }

    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call { to: Some(to.into()), ..Call::on("rename-over", from) }, |_| Disk.rename_over(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(Call::on("remove", path), |_| Disk.remove(path))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.call(Call::on("remove-folder", path), |_| Disk.remove_folder(path))
    }

    fn lock(&self, path: &Path, create: bool) -> io::Result<Option<File>> {
        self.call(Call::on("lock", path), |_| Disk.lock(path, create))
    }
}
