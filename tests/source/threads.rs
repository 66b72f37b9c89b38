//! The whole tail with its thread, with and without the system's watcher.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use cutline::source::{Feed, Options, ReadAt, Status, Tail, stdin, tail};

use crate::rig::{append, lines};

/// Far longer than anything takes, so that a slow machine fails no test.
const DEADLINE: Duration = Duration::from_secs(30);

struct Seen {
    feeds: Receiver<Feed>,
    view: Vec<u8>,
    statuses: Vec<Status>,
    stray: u64,
    verified: bool,
}

impl Seen {
    fn follow(path: &Path, watch: bool) -> (Tail, Self) {
        let (send, feeds) = channel();
        let tail = tail::spawn(path.to_path_buf(), Options { watch }, move |feed| send.send(feed).is_ok()).unwrap();
        (tail, Self { feeds, view: Vec::new(), statuses: Vec::new(), stray: 0, verified: false })
    }

    fn until(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            let left = DEADLINE.checked_sub(start.elapsed()).unwrap_or_else(|| panic!("{what}: {:?}", self.statuses));
            match self.feeds.recv_timeout(left) {
                Ok(feed) => self.fold(feed),
                Err(error) => panic!("{what}: {error}: {:?}", self.statuses),
            }
        }
    }

    /// Takes what comes in a while.
    fn pause(&mut self, time: Duration) {
        let start = Instant::now();
        while let Some(left) = time.checked_sub(start.elapsed()) {
            if let Ok(feed) = self.feeds.recv_timeout(left) {
                self.fold(feed);
            }
        }
    }

    fn fold(&mut self, feed: Feed) {
        match feed {
            Feed::Chunk { offset, bytes } => {
                assert_eq!(offset, self.view.len() as u64);
                self.view.extend_from_slice(&bytes);
            }
            Feed::Reset { .. } => self.view.clear(),
            Feed::Status(status) => self.statuses.push(status),
            Feed::Stray { bytes } => self.stray += bytes.len() as u64,
            Feed::Verified { .. } => self.verified = true,
            Feed::Progress { .. } => {}
        }
    }

    fn until_cold_read(&mut self, what: &str, path: &Path) {
        let cold = fs::read(path).unwrap();
        self.until(what, |seen| seen.view == cold);
    }
}

fn life(path: &Path, seen: &mut Seen, tail: &Tail) {
    seen.until("waits", |seen| seen.statuses.contains(&Status::Waiting));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, lines(10)).unwrap();
    seen.until_cold_read("appeared", path);
    append(path, "on\n");
    seen.until_cold_read("appended", path);
    let temp = path.with_extension("tmp");
    fs::write(&temp, lines(4)).unwrap();
    fs::rename(&temp, path).unwrap();
    seen.until_cold_read("replaced", path);
    append(path, "after the replacement\n");
    seen.until_cold_read("appended after the replacement", path);
    fs::remove_file(path).unwrap();
    seen.until("deleted", |seen| seen.statuses.last() == Some(&Status::Gone));
    fs::write(path, "anew\n").unwrap();
    seen.until_cold_read("made anew", path);
    let folder = path.parent().unwrap();
    fs::rename(folder, folder.with_extension("away")).unwrap();
    seen.until("moved away", |seen| seen.statuses.last() == Some(&Status::Gone));
    fs::create_dir(folder).unwrap();
    fs::write(path, "in another folder\n").unwrap();
    seen.until_cold_read("in another folder", path);
    append(path, "and on\n");
    seen.until_cold_read("appended there", path);
    tail.sweep();
    seen.until("verified", |seen| seen.verified);
}

#[test]
fn a_life_with_the_watcher() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("project/log.jsonl");
    let (tail, mut seen) = Seen::follow(&path, true);
    life(&path, &mut seen, &tail);
    tail.stop();
    assert!(seen.feeds.iter().all(|feed| !matches!(feed, Feed::Chunk { .. })), "nothing comes after the end");
}

#[test]
fn a_life_with_polling_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("project/log.jsonl");
    let (tail, mut seen) = Seen::follow(&path, false);
    life(&path, &mut seen, &tail);
    assert_eq!(seen.statuses.first(), Some(&Status::Polling("asked for".into())));
}

#[test]
fn the_thread_ends_when_nobody_takes_its_feeds() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    fs::write(&path, lines(10)).unwrap();
    let tail = tail::spawn(path, Options::default(), |_| false).unwrap();
    // Waits for the thread, so it hangs if the thread does not end.
    drop(tail);
}

#[test]
fn a_watched_append_is_announced() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    fs::write(&path, lines(10)).unwrap();
    let (_tail, mut seen) = Seen::follow(&path, true);
    seen.until_cold_read("read", &path);
    for n in 0..20 {
        append(&path, format!("{n}\n"));
        seen.until_cold_read("appended", &path);
    }
    assert!(!seen.statuses.iter().any(|status| matches!(status, Status::Polling(_))), "{:?}", seen.statuses);
}

/// What a hold or a sweep brings up later is not what a silent watcher missed.
#[test]
fn a_late_reset_does_not_accuse_the_watcher() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    fs::write(&path, lines(10)).unwrap();
    let (_tail, mut seen) = Seen::follow(&path, true);
    seen.until_cold_read("read", &path);
    fs::write(&path, "rewritten\n").unwrap();
    seen.until_cold_read("rewritten", &path);
    seen.pause(Duration::from_secs(2));
    assert!(!seen.statuses.iter().any(|status| matches!(status, Status::Polling(_))), "{:?}", seen.statuses);
}

/// A writer that never waits for the follower: appends, rewrites, replaces, cuts.
#[test]
fn a_race_ends_in_a_cold_read() {
    for watch in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl");
        let (tail, mut seen) = Seen::follow(&path, watch);
        let start = Instant::now();
        let mut turn = 0;
        while start.elapsed() < Duration::from_secs(2) {
            turn += 1;
            match turn % 17 {
                3 => fs::write(&path, lines(turn % 5_000)).unwrap(),
                7 => {
                    let temp = dir.path().join("temp");
                    fs::write(&temp, lines(turn % 3_000)).unwrap();
                    fs::rename(&temp, &path).unwrap();
                }
                11 => fs::File::options().write(true).open(&path).unwrap().set_len(100).unwrap(),
                13 => fs::remove_file(&path).unwrap(),
                _ => append(&path, lines(turn % 200)),
            }
        }
        append(&path, "the end\n");
        tail.sweep();
        seen.until_cold_read("after the race", &path);
        seen.verified = false;
        tail.sweep();
        seen.until("verified", |seen| seen.verified);
        seen.until_cold_read("after the sweep", &path);
    }
}

#[test]
fn standard_input_is_given_and_kept() {
    let input = lines(50_000);
    let kept = ReadAt::memory();
    let feeds = std::cell::RefCell::new(Vec::new());
    stdin::follow(input.as_slice(), &kept, |feed| {
        feeds.borrow_mut().push(feed);
        true
    });
    let mut view = Vec::new();
    for feed in feeds.borrow().iter() {
        if let Feed::Chunk { offset, bytes } = feed {
            assert_eq!(*offset, view.len() as u64);
            view.extend_from_slice(bytes);
        }
    }
    assert_eq!(view, input);
    assert_eq!(feeds.borrow().last(), Some(&Feed::Status(Status::Ended)));
    assert_eq!(kept.read_range(7, 100).unwrap(), &input[7..107]);
    assert!(kept.read_range(input.len() as u64 - 3, 4).is_err());
    assert!(ReadAt::file(PathBuf::from("/nowhere")).read_range(0, 1).is_err());
}
