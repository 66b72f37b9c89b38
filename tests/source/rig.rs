//! A follower in a folder of its own, driven by hand: the clock is a number, and every feed is folded and checked.

use std::{
    fs::{self, File, OpenOptions},
    io::Write as _,
    path::{Path, PathBuf},
};

use cutline::source::{Change, Feed, Follower, Status, follow::Opener};

const BLOCK: u64 = 64 << 10;

pub(crate) struct Rig {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) path: PathBuf,
    pub(crate) follower: Follower,
    pub(crate) now: u64,
    /// The fold of all feeds.
    pub(crate) view: Vec<u8>,
    pub(crate) resets: Vec<(u64, Change)>,
    pub(crate) statuses: Vec<Status>,
    pub(crate) stray: Vec<u8>,
    pub(crate) verified: Vec<u64>,
    /// Bytes given since the last call of [`Rig::fresh`].
    given: u64,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::at("log.jsonl", None)
    }

    pub(crate) fn at(below: &str, opener: Option<Opener>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(below);
        let follower = match opener {
            Some(opener) => Follower::with_opener(path.clone(), opener),
            None => Follower::new(path.clone()),
        };
        Self {
            dir,
            path,
            follower,
            now: 0,
            view: Vec::new(),
            resets: Vec::new(),
            statuses: Vec::new(),
            stray: Vec::new(),
            verified: Vec::new(),
            given: 0,
        }
    }

    /// A rig that has read `bytes` already.
    pub(crate) fn with(bytes: &[u8]) -> Self {
        let mut rig = Self::new();
        fs::write(&rig.path, bytes).unwrap();
        rig.wake();
        assert_eq!(rig.view, bytes);
        assert_eq!(rig.status(), &Status::Live);
        rig.fresh();
        rig
    }

    /// One look, with everything that can be done at once. Returns the wait that the follower asks for.
    pub(crate) fn wake(&mut self) -> u64 {
        for _ in 0..100_000 {
            let woken = self.follower.wake(self.now);
            assert!(woken.wait <= 500);
            for feed in woken.feeds {
                self.fold(feed);
            }
            if !woken.more {
                return woken.wait;
            }
        }
        panic!("the follower never rests");
    }

    /// One look `ms` later.
    pub(crate) fn later(&mut self, ms: u64) -> u64 {
        self.now += ms;
        self.wake()
    }

    /// Looks at the follower's own pace for `ms`.
    pub(crate) fn run(&mut self, ms: u64) {
        let end = self.now + ms;
        let mut wait = self.wake();
        while self.now < end {
            wait = self.later(wait.max(1));
        }
    }

    /// Compares everything, looks for the longest hold, and requires the cold read.
    pub(crate) fn settle(&mut self) {
        self.follower.sweep_now();
        self.run(3_000);
        self.require_cold_read();
    }

    pub(crate) fn require_cold_read(&self) {
        let cold = fs::read(&self.path).unwrap();
        assert!(
            self.view == cold,
            "the view ({} bytes) is no cold read ({} bytes); status {:?}",
            self.view.len(),
            cold.len(),
            self.statuses.last()
        );
    }

    pub(crate) fn status(&self) -> &Status {
        self.statuses.last().expect("a status")
    }

    /// Bytes given since the last time.
    pub(crate) fn fresh(&mut self) -> u64 {
        std::mem::take(&mut self.given)
    }

    pub(crate) fn append(&self, bytes: impl AsRef<[u8]>) {
        append(&self.path, bytes);
    }

    /// A new file under a temporary name takes the place of the old one.
    pub(crate) fn replace(&self, bytes: impl AsRef<[u8]>) {
        let temp = self.dir.path().join("log.jsonl.tmp");
        fs::write(&temp, bytes).unwrap();
        fs::rename(&temp, &self.path).unwrap();
    }

    pub(crate) fn truncate(&self, len: u64) {
        OpenOptions::new().write(true).open(&self.path).unwrap().set_len(len).unwrap();
    }

    pub(crate) fn fold(&mut self, feed: Feed) {
        match feed {
            Feed::Chunk { offset, bytes } => {
                assert_eq!(offset, self.view.len() as u64, "nothing twice, nothing skipped");
                assert!(!bytes.is_empty() && bytes.len() <= 4 << 20);
                self.given += bytes.len() as u64;
                self.view.extend_from_slice(&bytes);
            }
            Feed::Reset { keep, reason } => {
                self.check_keep(keep);
                self.resets.push((keep, reason));
                self.view.clear();
            }
            Feed::Progress { read, total } => assert!(read == self.view.len() as u64 && read <= total),
            Feed::Stray { bytes } => self.stray.extend_from_slice(&bytes),
            Feed::Verified { bytes } => self.verified.push(bytes),
            Feed::Status(status) => self.statuses.push(status),
        }
    }

    /// What is kept is the same in old and new, ends a line, and is as long as the memory allows.
    fn check_keep(&self, keep: u64) {
        let cold = fs::read(&self.path).unwrap();
        let same = self.view.iter().zip(&cold).take_while(|(a, b)| a == b).count() as u64;
        let floor = |end: u64| {
            cold[..usize::try_from(end).unwrap()].iter().rposition(|b| *b == b'\n').map_or(0, |at| at as u64 + 1)
        };
        let exact_from = (self.view.len() as u64).saturating_sub(BLOCK);
        let known = if same >= exact_from { same } else { same / BLOCK * BLOCK };
        assert_eq!(keep, floor(known), "same {same} of {} old bytes", self.view.len());
    }
}

pub(crate) fn append(path: &Path, bytes: impl AsRef<[u8]>) {
    appender(path).write_all(bytes.as_ref()).unwrap();
}

/// A writer that keeps its descriptor.
pub(crate) fn appender(path: &Path) -> File {
    OpenOptions::new().append(true).create(true).open(path).unwrap()
}

/// `n` numbered lines.
pub(crate) fn lines(n: usize) -> Vec<u8> {
    (0..n).flat_map(|i| format!("{{\"type\":\"user\",\"n\":{i}}}\n").into_bytes()).collect()
}
