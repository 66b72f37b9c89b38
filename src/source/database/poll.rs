//! Following one session of a store: every look compares its lines with those that were given.

use super::{Address, Mark, Signature};
use crate::source::{Change, Feed, ReadAt, SourceError, Status, Woken};

/// Bytes of one chunk.
const CHUNK: usize = 1 << 20;
/// Milliseconds between two looks.
const TICK: u64 = 400;
/// Milliseconds after a change in which everything is compared at every look: times of files and rows are too coarse
/// to tell two changes of one moment apart.
const LIVELY: u64 = 2_000;

/// Follows one session without a clock or a thread.
pub struct Poller {
    address: Address,
    /// What was given.
    given: ReadAt,
    mark: Option<Mark>,
    signature: Option<Signature>,
    /// When something last changed.
    moved: u64,
    said: Option<Status>,
    failed: bool,
}

impl Poller {
    /// Follows the session at `address`; what is given is kept in `given`, which stays readable.
    pub fn new(address: Address, given: ReadAt) -> Self {
        Self { address, given, mark: None, signature: None, moved: 0, said: None, failed: false }
    }

    /// Looks once. `now` is any clock in milliseconds that never goes back.
    pub fn wake(&mut self, now: u64) -> Woken {
        let mut feeds = Vec::new();
        self.look(now, &mut feeds);
        Woken { feeds, more: false, wait: TICK }
    }

    fn look(&mut self, now: u64, feeds: &mut Vec<Feed>) {
        // Before the rows: what changes while they are read is found by the next look.
        let mark = self.address.mark();
        if mark.is_none() {
            self.mark = None;
            self.failed = true;
            let gone = if self.signature.is_some() { Status::Gone } else { Status::Waiting };
            return self.say(gone, feeds);
        }
        let lively = now.saturating_sub(self.moved) < LIVELY;
        let touched = self.mark != mark;
        if touched {
            self.moved = now;
        } else if !lively && !self.failed {
            return;
        }
        self.mark = mark;
        let known = self.signature.as_ref().filter(|_| !lively && !self.failed);
        match self.address.changed(known) {
            Ok(changed) => {
                self.failed = false;
                if let Some((signature, bytes)) = changed {
                    self.signature = Some(signature);
                    self.give(&bytes, now, feeds);
                }
                self.say(Status::Live, feeds);
            }
            Err(SourceError::Empty(_)) => {
                self.failed = true;
                self.say(Status::Waiting, feeds);
            }
            Err(error) => {
                self.failed = true;
                let why = match error {
                    SourceError::Store { why, .. } => why,
                    SourceError::NoSession { id, .. } => format!("it holds no session {id} any more"),
                    other => other.to_string(),
                };
                self.say(Status::Unreadable(why), feeds);
            }
        }
    }

    fn give(&mut self, bytes: &[u8], now: u64, feeds: &mut Vec<Feed>) {
        let (same, had) = self.given.common(bytes);
        if same == had && same == bytes.len() {
            return;
        }
        self.moved = now;
        let mut start = same;
        if same < had {
            let before = bytes.get(..same).unwrap_or_default();
            let keep = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
            let reason = if same == bytes.len() { Change::Truncated } else { Change::Updated };
            self.given.replace(bytes);
            feeds.push(Feed::Reset { keep: keep as u64, reason });
            start = 0;
        } else {
            self.given.push(bytes.get(same..).unwrap_or_default());
        }
        for chunk in bytes.get(start..).unwrap_or_default().chunks(CHUNK) {
            feeds.push(Feed::Chunk { offset: start as u64, bytes: chunk.to_vec() });
            start += chunk.len();
        }
    }

    fn say(&mut self, status: Status, feeds: &mut Vec<Feed>) {
        let rebuilt = status == Status::Live && feeds.iter().any(|feed| matches!(feed, Feed::Reset { .. }));
        if rebuilt || self.said.as_ref() != Some(&status) {
            self.said = Some(status.clone());
            feeds.push(Feed::Status(status));
        }
    }
}
