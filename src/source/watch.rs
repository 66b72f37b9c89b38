//! Wake-ups from the file's folder. Only ever a reason to look earlier: an event's kind and content are not used.
//!
//! The folder is watched, not the file: a watch on the file itself is blind after the first replacement.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    sync::mpsc::Sender,
};

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::{disk::Identity, tail::Ping};

/// A folder, and the name in it whose events are of interest.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spot {
    folder: PathBuf,
    name: OsString,
    id: Option<Identity>,
}

/// The watch of one path, made anew whenever the folders on the way to it have changed.
pub(super) struct Watch {
    path: PathBuf,
    ping: Sender<Ping>,
    spots: Vec<Spot>,
    watcher: Option<RecommendedWatcher>,
}

/// What [`Watch::refresh`] did.
pub(super) enum Armed {
    /// The same folders are watched as before.
    Unchanged,
    /// Other folders are watched than before.
    Anew,
    /// No watch is possible, for this reason.
    Failed(String),
}

impl Watch {
    /// A watch that [`Watch::refresh`] will arm.
    pub(super) fn new(path: &Path, ping: Sender<Ping>) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        Self { path, ping, spots: Vec::new(), watcher: None }
    }

    /// Watches what is to be watched now: the folder of the path or its nearest existing ancestor, and for a symlink
    /// that of its target too. A folder that was moved away and made anew has another identity.
    pub(super) fn refresh(&mut self) -> Armed {
        let spots = spots(&self.path);
        if spots == self.spots {
            return Armed::Unchanged;
        }
        self.watcher = None;
        self.spots = spots;
        if let Some(kind) = self.spots.iter().find_map(|spot| remote(&spot.folder)) {
            return Armed::Failed(format!("no events on {kind}"));
        }
        match self.arm() {
            Ok(watcher) => {
                self.watcher = Some(watcher);
                Armed::Anew
            }
            Err(error) => Armed::Failed(error.to_string()),
        }
    }

    fn arm(&self) -> notify::Result<RecommendedWatcher> {
        let (ping, spots) = (self.ping.clone(), self.spots.clone());
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let tell = match event {
                Ok(event) if event.need_rescan() => Ping::Fault("the queue of events overflowed".to_string()),
                Ok(event) if is_of_interest(&event, &spots) => Ping::Event,
                Ok(_) => return,
                Err(error) => Ping::Fault(error.to_string()),
            };
            // A closed channel means that nobody follows any more.
            drop(ping.send(tell));
        })?;
        for spot in &self.spots {
            watcher.watch(&spot.folder, RecursiveMode::NonRecursive)?;
        }
        Ok(watcher)
    }
}

/// Our own reading raises access events: whoever takes them wakes himself for ever. Names are compared without their
/// folders, because some systems give the folder's resolved path.
fn is_of_interest(event: &Event, spots: &[Spot]) -> bool {
    let named = |name: &OsStr| spots.iter().any(|spot| name == spot.name || Some(name) == spot.folder.file_name());
    !event.kind.is_access() && (event.paths.is_empty() || event.paths.iter().filter_map(|p| p.file_name()).any(named))
}

fn spots(path: &Path) -> Vec<Spot> {
    let mut spots: Vec<Spot> = spot(path).into_iter().collect();
    if let Some(target) = target(path)
        && let Some(spot) = spot(&target)
        && !spots.contains(&spot)
    {
        spots.push(spot);
    }
    spots
}

/// The nearest existing folder above `path`, and the name on the way from there.
fn spot(path: &Path) -> Option<Spot> {
    let mut below = path;
    while let (Some(folder), Some(name)) = (below.parent(), below.file_name()) {
        if let Ok(meta) = fs::metadata(folder)
            && meta.is_dir()
        {
            return Some(Spot { folder: folder.to_path_buf(), name: name.to_owned(), id: Some(Identity::of(&meta)) });
        }
        below = folder;
    }
    None
}

/// Where a symlink leads, even if nothing is there.
fn target(path: &Path) -> Option<PathBuf> {
    if !fs::symlink_metadata(path).ok()?.is_symlink() {
        return None;
    }
    fs::canonicalize(path).or_else(|_| fs::read_link(path).map(|to| path.parent().unwrap_or(path).join(to))).ok()
}

/// The kind of `folder`'s file system, if it gives no events for what other machines write.
#[cfg(target_os = "linux")]
fn remote(folder: &Path) -> Option<String> {
    let folder = fs::canonicalize(folder).ok()?;
    remote_in(&fs::read_to_string("/proc/self/mountinfo").ok()?, &folder)
}

#[cfg(not(target_os = "linux"))]
fn remote(_folder: &Path) -> Option<String> {
    None
}

/// Looks `folder` up in the kernel's list of mounts (`proc_pid_mountinfo(5)`): the longest mount point above it, the
/// last one of several at the same place.
#[cfg(target_os = "linux")]
fn remote_in(mounts: &str, folder: &Path) -> Option<String> {
    let (_, kind) = mounts
        .lines()
        .filter_map(|line| {
            let (mount, rest) = line.split_once(" - ")?;
            let point = mount.split(' ').nth(4)?.replace("\\040", " ");
            folder.starts_with(&point).then_some((point.len(), rest.split(' ').next()?))
        })
        .max_by_key(|(depth, _)| *depth)?;
    let silent = matches!(kind, "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "9p" | "virtiofs" | "ceph" | "vboxsf")
        || kind.starts_with("fuse");
    silent.then(|| kind.to_string())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_decides() {
        let mounts = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
                      30 22 0:40 / /home rw shared:9 - nfs4 server:/home rw\n\
                      31 30 0:41 / /home/me/local\\040disk rw - ext4 /dev/sdb rw\n\
                      32 22 0:42 / /mnt rw - fuse.sshfs host: rw\n";
        for (folder, kind) in [
            ("/var/tmp", None),
            ("/home/me", Some("nfs4")),
            ("/home/me/local disk/x", None),
            ("/homely", None),
            ("/mnt/a/b", Some("fuse.sshfs")),
        ] {
            assert_eq!(remote_in(mounts, Path::new(folder)).as_deref(), kind, "{folder}");
        }
    }

    #[test]
    fn the_nearest_existing_ancestor_is_watched() {
        let dir = tempfile::tempdir().unwrap();
        let spot = spot(&dir.path().join("a/b/log.jsonl")).unwrap();
        assert_eq!((spot.folder.as_path(), spot.name.as_os_str()), (dir.path(), OsStr::new("a")));
    }
}
