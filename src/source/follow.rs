//! Following one file without a clock, a thread or a watcher: every [`Follower::wake`] looks once and says what it saw.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::{
    Change, Feed, Identity, Refused, Status,
    disk::{self, Stat, bytes_at},
    fingerprint::{Fingerprint, Scan, Scanned, line_floor},
    old::Old,
    sweep::{Sweep, Swept},
};

/// Bytes of one chunk.
const CHUNK: usize = 1 << 20;
/// Chunks of one wake; then the caller gets its turn.
const CHUNKS: usize = 4;
/// Blocks compared in one wake when the file was exchanged (32 MiB).
const SCAN: usize = 512;
/// Milliseconds between two equal looks at a file that is being rewritten, until it counts as stable.
const STABLE: u64 = 100;
/// Milliseconds after which a file that is being rewritten is taken as it is.
const PATIENCE: u64 = 2_000;
/// Milliseconds of silence after which an unterminated line counts as torn.
const TORN: u64 = 5_000;
/// Milliseconds in which a file that has moved is looked at more often.
const LIVELY: u64 = 10_000;
/// Milliseconds between two looks at such a file.
const TICK_LIVELY: u64 = 250;
/// Milliseconds between two looks at most.
const TICK: u64 = 500;
/// First and longest wait, in milliseconds, before an unreadable file is tried again.
const RETRY: (u64, u64) = (250, 5_000);
/// Old files that are kept open at most.
const OLD_FILES: usize = 4;

/// How a path is opened; [`Follower::with_opener`] exchanges it.
pub type Opener = Box<dyn Fn(&Path) -> io::Result<File> + Send>;

/// What one wake saw.
#[derive(Debug)]
pub struct Woken {
    /// In order.
    pub feeds: Vec<Feed>,
    /// There is more to do right now: wake again without waiting.
    pub more: bool,
    /// Otherwise: milliseconds until the next look, if nothing else wakes the follower before. At most 500.
    pub wait: u64,
}

/// Follows the file that a path names, whichever that is from time to time.
pub struct Follower {
    path: PathBuf,
    open: Opener,
    /// What was given.
    print: Fingerprint,
    /// The file whose bytes are known to be those of `print`.
    known: Option<Identity>,
    /// The file that had the name at the last look, kept open in case it is replaced.
    current: Option<(File, Stat)>,
    phase: Phase,
    olds: Vec<Old>,
    stray: u64,
    said: Option<Status>,
    /// When bytes were last given or withdrawn.
    moved: u64,
    /// When an unreadable file is tried again, and the wait that led there.
    retry: Option<(u64, u64)>,
    sweep: Sweep,
}

/// What is done with the file that has the name.
#[derive(Default)]
enum Phase {
    /// Its new bytes are read.
    #[default]
    Follow,
    /// It differs from what was given, and may be in the middle of a rewrite.
    Hold(Hold),
    /// It is compared, block by block, with what was given.
    Compare {
        scan: Scan,
        id: Identity,
        /// The file was stable: a difference counts.
        stable: bool,
    },
}

struct Hold {
    since: u64,
    /// The last look that differed from the one before, and when.
    last: Option<(Stat, u64)>,
    /// Head and tail are the same, the difference lies between them.
    hidden: bool,
}

impl Phase {
    fn hold(now: u64, hidden: bool) -> Self {
        Self::Hold(Hold { since: now, last: None, hidden })
    }
}

/// Whether a phase goes on within the same wake.
enum Step {
    Go(Phase),
    Rest(Phase),
}

/// One look.
enum Look {
    File(File, Stat),
    Absent,
    Refused(Refused),
}

impl Follower {
    /// Follows `path`, which need not exist.
    pub fn new(path: PathBuf) -> Self {
        Self::with_opener(path, Box::new(disk::open))
    }

    /// Like [`Follower::new`], with another way to open the path: for systems and tests whose failures are not those
    /// of a plain `open(2)`.
    pub fn with_opener(path: PathBuf, open: Opener) -> Self {
        Self {
            path,
            open,
            print: Fingerprint::default(),
            known: None,
            current: None,
            phase: Phase::Follow,
            olds: Vec::new(),
            stray: 0,
            said: None,
            moved: 0,
            retry: None,
            sweep: Sweep::default(),
        }
    }

    /// The path that is followed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The memory of the bytes that were given.
    pub fn fingerprint(&self) -> &Fingerprint {
        &self.print
    }

    /// The file whose bytes were given, if any was opened.
    pub fn identity(&self) -> Option<Identity> {
        self.known
    }

    /// Compares everything that was given with the file, as fast as wakes follow; [`Feed::Verified`] is the good end,
    /// [`Feed::Reset`] the other one. While the file is gone or unreadable there is no answer. For the moment before a
    /// decision that rests on old bytes.
    pub fn sweep_now(&mut self) {
        self.sweep.ask();
    }

    /// Something happened in the file's folder: an unreadable file is tried again at once.
    pub fn nudge(&mut self) {
        if let Some((at, _)) = &mut self.retry {
            *at = 0;
        }
    }

    /// Looks at the file once. `now` is any clock in milliseconds that never goes back.
    pub fn wake(&mut self, now: u64) -> Woken {
        let mut woken = Woken { feeds: Vec::new(), more: false, wait: TICK };
        if self.retry.is_none_or(|(at, _)| now >= at) {
            self.look_and_follow(now, &mut woken);
        }
        self.drain_olds(now, &mut woken);
        let tick = if now.saturating_sub(self.moved) < LIVELY { TICK_LIVELY } else { TICK };
        woken.wait = woken.wait.min(tick);
        woken
    }

    fn look_and_follow(&mut self, now: u64, woken: &mut Woken) {
        let followed = match self.look() {
            Ok(Look::File(file, stat)) => {
                self.set_aside(Some(stat.id), now);
                let before = self.current.as_ref().map(|(_, before)| *before);
                let followed = self.follow(&file, stat, now, woken);
                let seen = match &followed {
                    // What was appended since the look was given with the rest: it is no touch without an append.
                    Ok(()) if self.moved == now => Self::stat(&file).unwrap_or(stat),
                    Ok(()) => stat,
                    Err(_) => before.unwrap_or(stat),
                };
                self.current = Some((file, seen));
                followed
            }
            Ok(Look::Absent) => {
                self.set_aside(None, now);
                self.say(if self.known.is_some() { Status::Gone } else { Status::Waiting }, woken);
                Ok(())
            }
            Ok(Look::Refused(kind)) => {
                self.set_aside(None, now);
                self.say(Status::Refused(kind), woken);
                Ok(())
            }
            Err(error) => Err(error),
        };
        self.retry = match followed {
            Ok(()) => None,
            Err(error) => {
                self.say(Status::Unreadable(error.to_string()), woken);
                let wait = self.retry.map_or(RETRY.0, |(_, wait)| (wait * 2).min(RETRY.1));
                Some((now + wait, wait))
            }
        };
    }

    /// Opens first and asks what it is afterwards: asking first would be about another file.
    fn look(&self) -> io::Result<Look> {
        match (self.open)(&self.path) {
            Ok(file) => {
                let meta = file.metadata()?;
                Ok(Refused::of(&meta).map_or_else(|| Look::File(file, Stat::of(&meta)), Look::Refused))
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(Look::Absent)
            }
            // A socket cannot be opened at all, a directory on some systems.
            Err(error) => match fs::metadata(&self.path).ok().and_then(|meta| Refused::of(&meta)) {
                Some(kind) => Ok(Look::Refused(kind)),
                None => Err(error),
            },
        }
    }

    fn stat(file: &File) -> io::Result<Stat> {
        Ok(Stat::of(&file.metadata()?))
    }

    /// Keeps the former file open when another one, or none, has its name.
    fn set_aside(&mut self, id: Option<Identity>, now: u64) {
        self.olds.retain(|old| Some(old.id()) != id);
        if let Some((file, stat)) = self.current.take_if(|(_, stat)| Some(stat.id) != id) {
            // Only a file whose bytes were given has a place from which on its bytes are unknown.
            if self.known == Some(stat.id) && matches!(self.phase, Phase::Follow) {
                if self.olds.len() == OLD_FILES {
                    self.olds.remove(0);
                }
                // What was there all the time and not read yet is no stray writing.
                let seen = if self.said == Some(Status::Reading) { stat.size } else { 0 };
                self.olds.push(Old::new(file, stat.id, self.print.len().max(seen), now));
            }
        }
    }

    fn drain_olds(&mut self, now: u64, woken: &mut Woken) {
        let new = self.current.as_ref().map(|(file, stat)| (file, stat.size));
        let mut found = Vec::new();
        self.olds.retain_mut(|old| match old.drain(now, new) {
            Ok(bytes) => {
                if !bytes.is_empty() {
                    found.push(bytes);
                }
                old.is_of_interest(now)
            }
            Err(_) => false,
        });
        for bytes in found {
            self.stray += bytes.len() as u64;
            woken.feeds.push(Feed::Stray { bytes });
            woken.feeds.push(Feed::Status(Status::StrayWriter { bytes: self.stray }));
        }
    }

    fn say(&mut self, status: Status, woken: &mut Woken) {
        if self.said.as_ref() != Some(&status) {
            self.said = Some(status.clone());
            woken.feeds.push(Feed::Status(status));
        }
    }

    fn follow(&mut self, file: &File, stat: Stat, now: u64, woken: &mut Woken) -> io::Result<()> {
        loop {
            let step = match std::mem::take(&mut self.phase) {
                Phase::Follow => self.read(file, stat, now, woken),
                Phase::Hold(hold) => self.hold(hold, file, stat, now, woken),
                Phase::Compare { id, .. } if id != stat.id => Ok(Step::Go(Phase::hold(now, false))),
                Phase::Compare { scan, stable, .. } => self.compare(scan, stable, file, now, woken),
            }?;
            match step {
                Step::Go(phase) => self.phase = phase,
                Step::Rest(phase) => {
                    self.phase = phase;
                    return Ok(());
                }
            }
        }
    }

    /// Reads from the offset to the end, or as much as one wake may.
    fn read(&mut self, file: &File, stat: Stat, now: u64, woken: &mut Woken) -> io::Result<Step> {
        if !self.print.is_empty() && self.known != Some(stat.id) {
            let phase = if self.print.holds(file)? {
                Phase::Compare { scan: Scan::default(), id: stat.id, stable: false }
            } else {
                Phase::hold(now, false)
            };
            return Ok(Step::Go(phase));
        }
        self.known = Some(stat.id);
        for number in 0..=CHUNKS {
            // Read first, compare then, give at last: a rewrite between comparing and reading would go unseen.
            let bytes = bytes_at(file, self.print.len(), if number < CHUNKS { CHUNK } else { 1 })?;
            if !self.print.holds(file)? {
                return Ok(Step::Go(Phase::hold(now, false)));
            }
            if bytes.is_empty() {
                return self.at_end(number > 0, file, stat, now, woken);
            }
            if number < CHUNKS {
                self.moved = now;
                let offset = self.print.len();
                self.print.take(&bytes);
                woken.feeds.push(Feed::Chunk { offset, bytes });
            }
        }
        self.say(Status::Reading, woken);
        let read = self.print.len();
        woken.feeds.push(Feed::Progress { read, total: Self::stat(file)?.size.max(read) });
        woken.more = true;
        Ok(Step::Rest(Phase::Follow))
    }

    fn at_end(&mut self, moved: bool, file: &File, stat: Stat, now: u64, woken: &mut Woken) -> io::Result<Step> {
        if self.said == Some(Status::Reading) {
            woken.feeds.push(Feed::Progress { read: self.print.len(), total: self.print.len() });
        }
        let partial = self.print.partial();
        if partial > 0 && now.saturating_sub(self.moved) >= TORN {
            self.say(Status::Torn { bytes: partial }, woken);
        } else {
            self.say(Status::Live, woken);
        }
        let touched = self.current.as_ref().is_some_and(|(_, before)| stat.touched_since(before));
        if touched && !moved {
            self.sweep.touched();
        }
        match self.sweep.step(&self.print, file, now)? {
            Swept::Idle => {}
            Swept::More => woken.more = true,
            Swept::Verified => woken.feeds.push(Feed::Verified { bytes: self.print.len() }),
            Swept::Differs => return Ok(Step::Go(Phase::hold(now, true))),
        }
        Ok(Step::Rest(Phase::Follow))
    }

    /// Waits until the file is the same at two looks, so that one which is emptied and written again is never shown
    /// in between.
    fn hold(&mut self, mut hold: Hold, file: &File, stat: Stat, now: u64, woken: &mut Woken) -> io::Result<Step> {
        if !hold.hidden && self.print.holds(file)? {
            // It came back; whether all of it did is for the sweep to say.
            self.sweep.touched();
            return Ok(Step::Go(Phase::Follow));
        }
        self.say(Status::Rewriting, woken);
        let stable = match &hold.last {
            Some((last, at)) if *last == stat => now.saturating_sub(*at) >= STABLE,
            _ => {
                hold.last = Some((stat, now));
                false
            }
        };
        if stable || now.saturating_sub(hold.since) >= PATIENCE {
            return Ok(Step::Go(Phase::Compare { scan: Scan::default(), id: stat.id, stable: true }));
        }
        woken.wait = STABLE;
        Ok(Step::Rest(Phase::Hold(hold)))
    }

    fn compare(&mut self, mut scan: Scan, stable: bool, file: &File, now: u64, woken: &mut Woken) -> io::Result<Step> {
        let stat = Self::stat(file)?;
        match scan.step(&self.print, file, SCAN)? {
            Scanned::More => {
                woken.more = true;
                return Ok(Step::Rest(Phase::Compare { scan, id: stat.id, stable }));
            }
            // The same content in another file, or an edit that was taken back.
            Scanned::Same => self.known = Some(stat.id),
            Scanned::Differs { .. } if !stable => return Ok(Step::Go(Phase::hold(now, true))),
            Scanned::Differs { prefix } => {
                let reason = if self.known.is_some_and(|known| known != stat.id) {
                    Change::Replaced
                } else if prefix >= stat.size {
                    Change::Truncated
                } else {
                    Change::Rewritten
                };
                let keep = line_floor(file, prefix)?;
                self.print = Fingerprint::default();
                self.known = Some(stat.id);
                self.moved = now;
                self.sweep.reset(now);
                woken.feeds.push(Feed::Reset { keep, reason });
            }
        }
        Ok(Step::Go(Phase::Follow))
    }
}
