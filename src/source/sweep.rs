//! The background comparison of everything that was given, because an edit of equal length far before the end leaves
//! size, head and tail as they were.

use std::{fs::File, io};

use super::fingerprint::{Fingerprint, Scan, Scanned};

/// Milliseconds between two sweeps, so that with the 20 s that one may take none is older than 30 s.
const REST: u64 = 8_000;
/// Wakes over which an idle sweep is spread.
const SPREAD: usize = 40;
/// Blocks of one idle wake at most (4 MiB): idle must cost nothing, even with a file of many gigabytes.
const IDLE: usize = 64;
/// Blocks of one wake at most when the result is waited for (16 MiB).
const URGENT: usize = 256;

/// When to compare next, and how far the running comparison is.
#[derive(Default)]
pub(super) struct Sweep {
    running: Option<Scan>,
    /// When the last one ended.
    ended: u64,
    /// Somebody touched the file, or somebody waits for the result.
    urgent: bool,
    /// Somebody waits for the result.
    asked: bool,
}

/// What a step of the sweep found.
pub(super) enum Swept {
    /// Nothing to do, or not ready yet.
    Idle,
    /// Not ready, and urgent.
    More,
    /// Everything is as it was, and somebody had asked.
    Verified,
    /// It is not.
    Differs,
}

impl Sweep {
    /// Starts anew because the file was touched: the result is wanted soon.
    pub(super) fn touched(&mut self) {
        self.running = None;
        self.urgent = true;
    }

    /// Starts anew and gives the result to whoever asked.
    pub(super) fn ask(&mut self) {
        self.touched();
        self.asked = true;
    }

    /// Forgets the running comparison because its bytes were withdrawn. A question stays.
    pub(super) fn reset(&mut self, now: u64) {
        *self = Self { ended: now, urgent: self.asked, asked: self.asked, running: None };
    }

    /// Compares a little. Errors are those of reading `file`.
    pub(super) fn step(&mut self, print: &Fingerprint, file: &File, now: u64) -> io::Result<Swept> {
        let due = self.urgent || now.saturating_sub(self.ended) >= REST;
        if self.running.is_none() && !due {
            return Ok(Swept::Idle);
        }
        let limit = if self.urgent { URGENT } else { (print.blocks().len() / SPREAD + 1).min(IDLE) };
        let mut scan = self.running.take().unwrap_or_default();
        match scan.step(print, file, limit)? {
            Scanned::More => {
                self.running = Some(scan);
                Ok(if self.urgent { Swept::More } else { Swept::Idle })
            }
            Scanned::Same => {
                self.ended = now;
                self.urgent = false;
                Ok(if std::mem::take(&mut self.asked) { Swept::Verified } else { Swept::Idle })
            }
            Scanned::Differs { .. } => Ok(Swept::Differs),
        }
    }
}
