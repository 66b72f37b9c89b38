//! The loop: drains what happened, settles, carries effects out, draws at most once a frame.

use std::{
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use ratatui::crossterm::event::{Event, KeyEventKind};

use super::{
    Effect, Msg, ReadAgain, State,
    by_hand::ByHand,
    hands::Hands,
    keys,
    search::smart,
    terminal::{self, Asked, Screen},
    update, view,
};
use crate::{
    export::head_of,
    model::Millis,
    source::{self, Feed, Files, Tail},
};

/// Between two frames at least.
const FRAME: Duration = Duration::from_millis(8);
/// While a large file is read, everything is derived only so often.
const DERIVE: Duration = Duration::from_millis(250);
/// Messages that may wait. Few: a key must not wait behind many chunks of a file, each up to 1 MiB.
const QUEUE: usize = 2;

/// Where the bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feeder {
    /// A file that is followed; `poll`: without file events.
    File {
        /// Its path.
        path: PathBuf,
        /// Never ask the system for events.
        poll: bool,
    },
    /// Standard input.
    Stdin,
    /// Nothing: a list to choose from.
    Nothing,
}

/// How a screen ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Quit.
    Quit,
    /// Ctrl-C.
    Interrupted,
    /// Open this transcript next.
    Open(PathBuf),
    /// Show the demo next.
    Demo,
}

/// Something from outside.
pub(super) enum Incoming {
    Terminal(Event),
    Feed(Feed),
    Asked(Asked),
    /// From a thread that was started for an effect.
    Answer(Msg),
    HangUp,
}

/// Shows one screen after another until `next` has no more. `now` reads the clock, `hands` carry out what the operator
/// does by hand.
///
/// # Errors
/// The terminal or a thread could not be had.
pub fn run(
    first: (State, Feeder),
    mut next: impl FnMut(&End) -> io::Result<Option<(State, Feeder)>>,
    now: &dyn Fn() -> Millis,
    hands: &dyn Hands,
) -> io::Result<End> {
    // Dropped after the receiver, however this function ends: its thread may wait for room in the queue.
    let mut tail;
    let (send, receive) = sync_channel(QUEUE);
    let mut screen = Screen::take()?;
    let ask = send.clone();
    terminal::listen(move |asked| drop(ask.send(Incoming::Asked(asked))))?;
    let gate = keys::read(send.clone())?;
    let mut shown = Some(first);
    let mut ended = End::Quit;
    while let Some((mut state, feeder)) = shown.take() {
        let files;
        // Only the list of sessions is followed by another screen, and it has no tail whose feeds could be left over.
        (tail, files) = start(&feeder, &send)?;
        let path = match &feeder {
            Feeder::File { path, .. } => path.clone(),
            _ => PathBuf::new(),
        };
        let (state, screen, tail) = (&mut state, &mut screen, tail.as_ref());
        let keys = io::stdin().is_terminal();
        let (send, gate) = (&send, &gate);
        let by_hand = ByHand { hands, send, gate, minted: None, cancel: None };
        let receive = &receive;
        ended = Run { state, screen, receive, tail, files, path, now, keys, by_hand, end: None }.until_end()?;
        shown = next(&ended)?;
    }
    Ok(ended)
}

fn start(feeder: &Feeder, send: &SyncSender<Incoming>) -> io::Result<(Option<Tail>, Option<Files>)> {
    let send = send.clone();
    let forward = move |feed| send.send(Incoming::Feed(feed)).is_ok();
    Ok(match feeder {
        Feeder::File { path, poll } => {
            let options = source::Options { watch: !poll };
            let (tail, payload) = source::tail::open(path.clone(), options, forward)?;
            (Some(tail), Some(Files::new(payload)))
        }
        Feeder::Stdin => (None, Some(Files::new(source::stdin::spawn(forward)?))),
        Feeder::Nothing => (None, None),
    })
}

pub(super) struct Run<'a> {
    pub(super) state: &'a mut State,
    pub(super) screen: &'a mut Screen,
    receive: &'a Receiver<Incoming>,
    tail: Option<&'a Tail>,
    pub(super) files: Option<Files>,
    /// Empty if no file is followed.
    pub(super) path: PathBuf,
    pub(super) now: &'a dyn Fn() -> Millis,
    /// Standard input is the terminal that keys come from.
    keys: bool,
    pub(super) by_hand: ByHand<'a>,
    end: Option<End>,
}

impl Run<'_> {
    fn until_end(&mut self) -> io::Result<End> {
        let size = self.screen.size()?;
        self.tell(Msg::Resize(size.0, size.1));
        self.tell_what_is_staged();
        let mut derived: Option<Instant> = None;
        let mut drawn: Option<Instant> = None;
        loop {
            let loading = self.state.loading && derived.is_some_and(|at| at.elapsed() < DERIVE);
            if !loading {
                self.tell(Msg::Settle((self.now)()));
                derived = Some(Instant::now());
            }
            if let Some(end) = self.end.take() {
                return Ok(end);
            }
            let state = &*self.state;
            let frame = self.screen.draw(|frame| view(state, frame));
            #[cfg(debug_assertions)]
            panic_if_asked();
            // A terminal that is gone takes no frame, and would be read for ever.
            if frame.is_err() || (self.keys && !io::stdin().is_terminal()) {
                terminal::hang_up();
                return frame.map(|()| End::Quit);
            }
            let last = drawn.insert(Instant::now());
            let wait = if self.state.is_waiting() { Duration::from_millis(100) } else { Duration::from_secs(1) };
            let wait = if self.state.loading { wait.min(DERIVE) } else { wait };
            match self.receive.recv_timeout(wait) {
                Ok(incoming) => {
                    self.take(incoming);
                    self.drain(*last + FRAME);
                }
                Err(RecvTimeoutError::Timeout) => self.tell(Msg::Tick((self.now)())),
                Err(RecvTimeoutError::Disconnected) => return Ok(End::Quit),
            }
        }
    }

    /// Takes everything that waits, and what comes until the frame is due.
    fn drain(&mut self, until: Instant) {
        while self.end.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            match self.receive.recv_timeout(left) {
                Ok(incoming) => self.take(incoming),
                Err(_) => return,
            }
        }
    }

    fn take(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Terminal(Event::Key(key)) if key.kind != KeyEventKind::Release => self.tell(Msg::Key(key)),
            Incoming::Terminal(Event::Paste(text)) => self.tell(Msg::Paste(text)),
            Incoming::Terminal(Event::Resize(width, height)) => self.tell(Msg::Resize(width, height)),
            Incoming::Terminal(_) => {}
            Incoming::Feed(feed) => self.feed(feed),
            Incoming::Answer(msg) => self.tell(msg),
            Incoming::Asked(Asked::Stop) => self.carry_out(Effect::Suspend),
            Incoming::Asked(Asked::Again) => {
                let taken = self.screen.take_again();
                self.resumed(taken);
            }
            Incoming::HangUp => self.hang_up(),
        }
    }

    /// The first line is fed alone: it may name a file that has to be fed before the second one.
    fn feed(&mut self, feed: Feed) {
        let first = self.state.reading().bytes() == 0;
        match feed {
            Feed::Chunk { offset, bytes } if first => {
                let newline = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1);
                let (head, rest) = bytes.split_at(newline);
                self.tell(Msg::Feed(Feed::Chunk { offset, bytes: head.to_vec() }));
                self.feed_ancestors();
                if !rest.is_empty() {
                    let offset = offset + head.len() as u64;
                    self.tell(Msg::Feed(Feed::Chunk { offset, bytes: rest.to_vec() }));
                }
            }
            feed => self.tell(Msg::Feed(feed)),
        }
    }

    fn feed_ancestors(&mut self) {
        const DEEPEST: u16 = 64;
        for segment in 1..=DEEPEST {
            let Some(continues) = self.state.reading().continues() else { return };
            let Some(files) = &mut self.files else { return };
            let bytes = files.ancestor(Path::new(&self.path), &continues.id, continues.end);
            self.tell(Msg::Segment(segment, bytes));
        }
    }

    pub(super) fn tell(&mut self, msg: Msg) {
        for effect in update(self.state, msg) {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Quit => self.end = Some(End::Quit),
            Effect::Interrupt => self.end = Some(End::Interrupted),
            Effect::Open(path) => self.end = Some(End::Open(path)),
            Effect::Demo => self.end = Some(End::Demo),
            Effect::Look => {
                if let Some(tail) = self.tail {
                    tail.look();
                }
            }
            Effect::Suspend => match self.screen.suspend() {
                Ok(false) => self.tell(Msg::NotSuspended),
                suspended => self.resumed(suspended.map(|_| ())),
            },
            Effect::LoadHeads(positions) => {
                let Some(files) = &self.files else { return };
                let session = self.state.session();
                let heads = positions.into_iter().map(|at| (at, head_of(session, files, at).unwrap_or_default()));
                let heads = heads.collect();
                self.tell(Msg::Heads(heads));
            }
            Effect::LoadBody(at) => {
                let body = self.files.as_ref().and_then(|files| self.state.session().body(at, files));
                self.tell(Msg::Body(at, body));
            }
            Effect::ReadAs(format) => {
                let read = self.read_as(format).map(Box::new);
                self.tell(Msg::ReadAgain(ReadAgain(format, read)));
            }
            Effect::Search(pattern) => {
                let found = self.search(&pattern);
                self.tell(Msg::Found(found));
            }
            effect => self.carry_out_by_hand(effect),
        }
    }

    /// Whoever had the terminal meanwhile may have changed its size, of which only they were told.
    pub(super) fn resumed(&mut self, taken: io::Result<()>) {
        match taken.and_then(|()| self.screen.size()) {
            Ok((width, height)) => self.tell(Msg::Resize(width, height)),
            Err(_) => self.hang_up(),
        }
        self.tell(Msg::Resumed);
    }

    fn hang_up(&mut self) {
        terminal::hang_up();
        self.end = Some(End::Quit);
    }

    /// Every record whose decoded text, input or tool matches.
    fn search(&self, pattern: &str) -> Result<Vec<usize>, String> {
        let regex = smart(pattern)?;
        let Some(files) = &self.files else { return Ok(Vec::new()) };
        let session = self.state.session();
        let matches = |at: &usize| {
            let body = session.body(*at, files).unwrap_or_default();
            let fields = [body.tool.as_deref(), body.input.as_deref(), Some(body.text.as_str())];
            fields.into_iter().flatten().any(|text| regex.is_match(text))
        };
        Ok((0..session.context().len()).filter(matches).collect())
    }
}

/// Lets tests see what a panic leaves behind.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "asked for")]
fn panic_if_asked() {
    match std::env::var("CUTLINE_TEST_PANIC").as_deref() {
        Ok("main") => panic!("asked\u{1b}[31m for"),
        Ok("thread") => drop(thread::spawn(|| panic!("asked\u{1b}[31m for"))),
        _ => {}
    }
}
