//! The thread that follows a file: waits for the watcher or the tick, wakes the [`Follower`], hands its feeds on.

use std::{
    io,
    path::PathBuf,
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{
    Feed, Follower, Status, Woken,
    database::{Address, Poller},
    read::ReadAt,
    watch::{Armed, Watch},
};

/// Milliseconds between two wakes at least, so that a writer of many small lines does not cost a core.
const GAP: u64 = 4;
/// Milliseconds in which an event may come after the tick has found its change already.
const LATE: u64 = 1_000;
/// Milliseconds in which what an event announced may be found: longer than any hold of a file being rewritten.
const ANNOUNCED: u64 = 3_000;

/// How a file is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Ask the system for events. Without, the file is looked at every quarter or half second only.
    pub watch: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { watch: true }
    }
}

/// What the thread is told.
#[derive(Debug)]
pub(super) enum Ping {
    /// Something happened in a watched folder.
    Event,
    /// The watcher complains.
    Fault(String),
    /// Look now.
    Look,
    /// Compare everything now.
    Sweep,
    /// End.
    Stop,
}

/// A file that is being followed in a thread. Dropping it ends the thread and waits for it: if `send` can block (a
/// bounded channel), drop the receiving end first.
#[derive(Debug)]
pub struct Tail {
    ping: Sender<Ping>,
    thread: Option<JoinHandle<()>>,
}

/// Follows `path` in a thread of its own until `send` returns false or the [`Tail`] is dropped. The first polling
/// reason, if there is one, is sent before the first bytes.
///
/// # Errors
/// The system has no thread left.
pub fn spawn(path: PathBuf, options: Options, send: impl Fn(Feed) -> bool + Send + 'static) -> io::Result<Tail> {
    let (ping, pings) = channel();
    let watch = options.watch.then(|| Watch::new(&path, ping.clone()));
    let run = Run {
        follower: Follower::new(path),
        watch,
        pings,
        send,
        start: Instant::now(),
        polling: None,
        event: None,
        unannounced: None,
    };
    let thread = thread::Builder::new().name("source".to_string()).spawn(move || {
        run.follow();
    })?;
    Ok(Tail { ping, thread: Some(thread) })
}

/// Follows `path` like [`spawn`], whether it names a file or a session in a store, and gives access to its payload.
///
/// # Errors
/// The system has no thread left.
pub fn open(
    path: PathBuf,
    options: Options,
    send: impl Fn(Feed) -> bool + Send + 'static,
) -> io::Result<(Tail, ReadAt)> {
    let Some(address) = Address::of(&path) else {
        return Ok((spawn(path.clone(), options, send)?, ReadAt::file(path)));
    };
    let (ping, pings) = channel();
    let given = ReadAt::memory();
    let mut poller = Poller::new(address.settled().unwrap_or(address), given.clone());
    let start = Instant::now();
    let poll = move || {
        loop {
            let woken = poller.wake(u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
            let given = woken.feeds.into_iter().all(&send);
            let stopped = match pings.recv_timeout(Duration::from_millis(woken.wait)) {
                Ok(Ping::Stop) | Err(RecvTimeoutError::Disconnected) => true,
                Ok(_) | Err(RecvTimeoutError::Timeout) => false,
            };
            if !given || stopped {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("source".to_string()).spawn(poll)?;
    Ok((Tail { ping, thread: Some(thread) }, given))
}

impl Tail {
    /// Looks at the file now, for example because a key was pressed.
    pub fn look(&self) {
        self.tell(Ping::Look);
    }

    /// Compares everything that was given with the file; see [`Follower::sweep_now`].
    pub fn sweep(&self) {
        self.tell(Ping::Sweep);
    }

    /// Ends the thread and waits for it, as dropping does.
    pub fn stop(self) {
        drop(self);
    }

    fn tell(&self, ping: Ping) {
        // Fails only if the thread has ended because nobody takes its feeds.
        drop(self.ping.send(ping));
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.tell(Ping::Stop);
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // A panic of the thread was already reported by the panic hook.
            drop(thread.join());
        }
    }
}

/// The thread's own state.
struct Run<S> {
    follower: Follower,
    watch: Option<Watch>,
    pings: Receiver<Ping>,
    send: S,
    start: Instant,
    /// Why the tick is all there is, as it was last told.
    polling: Option<String>,
    /// When the last event came.
    event: Option<u64>,
    /// When the tick found a change that no event had announced.
    unannounced: Option<u64>,
}

/// Why the thread woke.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Woke {
    /// Nothing but the time.
    Tick,
    /// An event, a fault or a request.
    Pinged,
    /// To go on with what it was doing.
    More,
}

impl<S: Fn(Feed) -> bool> Run<S> {
    /// Runs to the end; `None` is the end.
    fn follow(mut self) -> Option<()> {
        let mut woke = Woke::Pinged;
        if self.watch.is_none() {
            self.tell_polling("asked for")?;
        }
        loop {
            let rearmed = self.rearm()?;
            let now = self.now();
            let woken = self.follower.wake(now);
            if woke == Woke::Tick && !rearmed && self.watch.is_some() {
                self.suspect(&woken, now)?;
            }
            for feed in woken.feeds {
                self.give(feed)?;
            }
            woke = if woken.more {
                self.take_pings()?;
                Woke::More
            } else {
                self.wait(now, woken.wait)?
            };
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn give(&self, feed: Feed) -> Option<()> {
        (self.send)(feed).then_some(())
    }

    fn tell_polling(&mut self, reason: &str) -> Option<()> {
        if self.polling.as_deref() == Some(reason) {
            return Some(());
        }
        self.polling = Some(reason.to_string());
        self.give(Feed::Status(Status::Polling(reason.to_string())))
    }

    /// True if other folders are watched now than before.
    fn rearm(&mut self) -> Option<bool> {
        match self.watch.as_mut().map(Watch::refresh) {
            None | Some(Armed::Unchanged) => Some(false),
            Some(Armed::Anew) => {
                if self.polling.take().is_some() {
                    self.give(Feed::Status(Status::Watching))?;
                }
                Some(true)
            }
            Some(Armed::Failed(reason)) => {
                self.tell_polling(&reason)?;
                Some(true)
            }
        }
    }

    /// A watcher that stays silent about a change is none, whatever the reason: a file system of another machine, the
    /// lower part of an overlay, a lost event.
    fn suspect(&mut self, woken: &Woken, now: u64) -> Option<()> {
        if self.unannounced.is_some_and(|at| now.saturating_sub(at) >= LATE) {
            self.unannounced = None;
            self.tell_polling("a change came without an event")?;
        }
        // A reset may be the late result of an event, or of a sweep. Bytes that were appended are neither.
        let announced = self.event.is_some_and(|at| now.saturating_sub(at) < ANNOUNCED);
        let appended = woken.feeds.iter().any(|feed| matches!(feed, Feed::Chunk { .. }))
            && !woken.feeds.iter().any(|feed| matches!(feed, Feed::Reset { .. }));
        if appended && !announced && self.polling.is_none() && self.unannounced.is_none() {
            self.unannounced = Some(now);
        }
        Some(())
    }

    /// Waits for a ping, at most `wait` milliseconds after `now`.
    fn wait(&mut self, now: u64, wait: u64) -> Option<Woke> {
        let left = Duration::from_millis((now + wait).saturating_sub(self.now()));
        match self.pings.recv_timeout(left) {
            Ok(ping) => {
                self.take(ping)?;
                let since = self.now().saturating_sub(now);
                thread::sleep(Duration::from_millis(GAP.saturating_sub(since)));
                self.take_pings()?;
                Some(Woke::Pinged)
            }
            Err(RecvTimeoutError::Timeout) => Some(Woke::Tick),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Takes every ping that is there: however many events, one look.
    fn take_pings(&mut self) -> Option<()> {
        while let Ok(ping) = self.pings.try_recv() {
            self.take(ping)?;
        }
        Some(())
    }

    fn take(&mut self, ping: Ping) -> Option<()> {
        match ping {
            Ping::Event => {
                self.event = Some(self.now());
                self.unannounced = None;
                self.follower.nudge();
            }
            Ping::Look => self.follower.nudge(),
            Ping::Sweep => self.follower.sweep_now(),
            Ping::Fault(reason) => self.tell_polling(&reason)?,
            Ping::Stop => return None,
        }
        Some(())
    }
}
