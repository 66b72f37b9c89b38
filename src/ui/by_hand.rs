//! Carries out what the operator does by hand: drafts, commits, the clipboard, the editor, the summariser.

use std::{
    io::{Write as _, stdout},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::SyncSender,
    },
    thread,
};

use ratatui::crossterm::{clipboard::CopyToClipboard, execute};

use super::{
    Drafted, Effect, Msg, Order, Told, Written, editor,
    hands::Hands,
    keys::Gate,
    run::{Incoming, Run},
};
use crate::{
    budget::Settings,
    commit::Summariser,
    format::{Format, Minted},
    plan::{
        Abandonment, Draft, DraftError, Session, Wish, draft, plan,
        summary::{Material, Prose, Table, summarised},
    },
    source::{Files, ReadAt, read_all},
};

/// Bytes that terminals take through OSC 52.
const CLIPBOARD: usize = 74_994;
/// Files in a row that one transcript may continue.
const DEEPEST: u16 = 64;

/// What is needed beside the state.
pub(super) struct ByHand<'a> {
    pub(super) hands: &'a dyn Hands,
    pub(super) send: &'a SyncSender<Incoming>,
    pub(super) gate: &'a Gate,
    /// Seed and time of the preview that is open: its session keeps its id while the cut moves.
    pub(super) minted: Option<Minted>,
    /// Ends the summariser.
    pub(super) cancel: Option<Arc<AtomicBool>>,
}

impl Drop for ByHand<'_> {
    fn drop(&mut self) {
        if let Some(cancel) = &self.cancel {
            cancel.store(true, Ordering::SeqCst);
        }
    }
}

impl Run<'_> {
    /// What an earlier run left staged for this file.
    pub(super) fn tell_what_is_staged(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let staged = self.by_hand.hands.staged(&self.path);
            self.tell(Msg::Staged(staged));
        }
    }

    pub(super) fn carry_out_by_hand(&mut self, effect: Effect) {
        let answer = match effect {
            Effect::Draft { wish, fresh } => Msg::Drafted(Drafted(self.draft(&wish, fresh).map(Box::new))),
            Effect::Writer => {
                let session = self.state.session();
                let format = session.adapter().map(crate::format::Adapter::format);
                let id = session.facts().id;
                Msg::Writer(self.by_hand.hands.writer(&self.path, format, id.as_deref(), (self.now)()))
            }
            Effect::Stage(staged) => Msg::Stored(self.stage(&staged)),
            Effect::Commit(order) => Msg::Committed(self.commit(&order)),
            Effect::Undo(receipt) => Msg::Undone(self.by_hand.hands.undo(&receipt, (self.now)())),
            Effect::Copy(text) => Msg::Copied(copy(&text)),
            Effect::Edit(text) => self.edit(&text),
            Effect::Summarise => match self.summarise() {
                Ok(()) => return,
                Err(why) => Msg::Summarised(Err(why)),
            },
            Effect::CancelSummary => {
                if let Some(cancel) = self.by_hand.cancel.take() {
                    cancel.store(true, Ordering::SeqCst);
                }
                return;
            }
            _ => return,
        };
        self.tell(answer);
    }

    fn draft(&mut self, wish: &Wish, fresh: bool) -> Result<Draft, String> {
        let files = self.files.as_ref().ok_or("There is no transcript to draft from.")?;
        if fresh || self.by_hand.minted.is_none() {
            self.by_hand.minted = Some(self.by_hand.hands.minted()?);
        }
        let minted = self.by_hand.minted.as_ref().ok_or("There is nothing to mint ids from.")?;
        draft(self.state.session(), files, wish, minted).map_err(|error| error.to_string())
    }

    fn stage(&self, staged: &[Abandonment]) -> Result<(), String> {
        if self.path.as_os_str().is_empty() {
            return Err("this transcript is no file, so its stage has no name".to_string());
        }
        self.by_hand.hands.stage(&self.path, staged)
    }

    /// Reads the source anew: what is written was drafted from what lies there now, and is what was previewed.
    fn commit(&self, order: &Order) -> Result<Written, Told> {
        let changed = |sentence: String| Told { sentence, hint: "Look at the preview again, then commit.".to_string() };
        let (Some(previewed), Some(minted)) = (self.state.previewed(), &self.by_hand.minted) else {
            return Err(changed("There is no preview to commit.".to_string()));
        };
        let fresh = Fresh::read(&self.path, self.state.reading()).map_err(changed)?;
        let now = (self.now)();
        let (session, files) = (&fresh.session, &fresh.files);
        let next = match (fresh.bytes.len() as u64).cmp(&previewed.source_bytes) {
            std::cmp::Ordering::Less => Err("The source is shorter than it was at the preview.".to_string()),
            std::cmp::Ordering::Equal => same(previewed, session, files, minted),
            std::cmp::Ordering::Greater => {
                previewed.grown(session, files, minted).map_err(|error: DraftError| error.to_string())
            }
        };
        let next = next.map_err(changed)?;
        self.by_hand.hands.commit((&self.path, &fresh.bytes), &next, order, now)
    }

    fn edit(&mut self, text: &str) -> Msg {
        let closed = self.by_hand.gate.close();
        let (edited, taken) = self.screen.lend(|| editor::edit(text));
        drop(closed);
        self.resumed(taken);
        Msg::Edited(edited)
    }

    fn summarise(&mut self) -> Result<(), String> {
        let summariser = self.by_hand.hands.summariser().ok_or("There is no summariser command.")?;
        let previewed = self.state.previewed().ok_or("There is no preview to summarise for.")?;
        let nonce = self.by_hand.minted.as_ref().map(|minted| minted.uuid4("nonce")).unwrap_or_default();
        let span = previewed.wish.span.ok_or("Nothing is cut, so there is nothing to summarise.")?;
        let cancel = Arc::new(AtomicBool::new(false));
        let errand = Errand {
            summariser,
            nonce,
            span,
            settle: previewed.wish.settle.clone(),
            upto: previewed.source_bytes,
            path: self.path.clone(),
            format: self.state.session().adapter().map(crate::format::Adapter::format),
            stem: stem(&self.path),
            settings: *self.state.session().settings(),
            cancel: Arc::clone(&cancel),
            send: self.by_hand.send.clone(),
        };
        self.by_hand.cancel = Some(cancel);
        let started = thread::Builder::new().name("summariser".to_string()).spawn(move || errand.run());
        started.map(drop).map_err(|error| error.to_string())
    }
}

/// The draft made again from what lies on the disk: the same bytes, or the source changed.
fn same(previewed: &Draft, session: &Session, files: &Files, minted: &Minted) -> Result<Draft, String> {
    let next = draft(session, files, &previewed.wish, minted).map_err(|error| error.to_string())?;
    if next.bytes != previewed.bytes {
        return Err("The source changed since the preview.".to_string());
    }
    Ok(next)
}

/// Puts `text` into the clipboard of the terminal.
fn copy(text: &str) -> Result<usize, String> {
    if text.len() > CLIPBOARD {
        return Err(format!("{} bytes are more than terminals take (at most {CLIPBOARD}); not copied", text.len()));
    }
    let mut out = stdout().lock();
    let copied = execute!(out, CopyToClipboard::to_clipboard_from(text)).and_then(|()| out.flush());
    copied.map(|()| text.len()).map_err(|error| format!("not copied: {error}"))
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The source as it lies on the disk at this moment.
struct Fresh {
    session: Session,
    files: Files,
    bytes: Vec<u8>,
}

impl Fresh {
    fn read(path: &Path, like: &Session) -> Result<Self, String> {
        let bytes = read_all(path).map_err(|error| error.to_string())?;
        let format = like.adapter().map(crate::format::Adapter::format);
        Ok(Self::of(path, bytes, format, &stem(path), *like.settings()))
    }

    fn of(path: &Path, bytes: Vec<u8>, format: Option<Format>, stem: &str, settings: Settings) -> Self {
        let mut session = Session::new(format, stem, settings);
        let mut files = Files::new(ReadAt::of(path, &bytes));
        let newline = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1);
        let (head, rest) = bytes.split_at(newline);
        session.feed(head);
        for segment in 1..=DEEPEST {
            let Some(continues) = session.continues() else { break };
            let ancestor = files.ancestor(path, &continues.id, continues.end);
            session.feed_segment(segment, &ancestor);
        }
        session.feed(rest);
        session.refresh();
        Self { session, files, bytes }
    }
}

/// What the summariser's thread takes with it.
struct Errand {
    summariser: Summariser,
    nonce: String,
    span: (usize, usize),
    settle: Vec<Abandonment>,
    upto: u64,
    path: PathBuf,
    format: Option<Format>,
    stem: String,
    settings: Settings,
    cancel: Arc<AtomicBool>,
    send: SyncSender<Incoming>,
}

impl Errand {
    fn run(self) {
        let answer = self.prose();
        // Whoever ended it waits for no answer.
        if !self.cancel.load(Ordering::SeqCst) {
            drop(self.send.send(Incoming::Answer(Msg::Summarised(answer))));
        }
    }

    fn prose(&self) -> Result<(Prose, Option<String>), String> {
        let mut bytes = read_all(&self.path).map_err(|error| error.to_string())?;
        bytes.truncate(usize::try_from(self.upto).unwrap_or(usize::MAX));
        let Fresh { session, files, .. } = Fresh::of(&self.path, bytes, self.format, &self.stem, self.settings);
        let request = crate::plan::Request { abandon: self.settle.clone(), ..crate::plan::Request::default() };
        let settle = plan(&session, &request).map_err(|error| error.to_string())?.settled;
        let (from, to) = self.span;
        let material = Material { session: &session, payload: &files, from, to, settle: &settle };
        let table = Table::of(&material);
        let name = self.summariser.program().to_string();
        let progress = |at: crate::commit::Progress| {
            let words = format!(
                "{name}: {} of the request sent, {} received, {} s",
                at.sent,
                at.received,
                at.elapsed.as_secs()
            );
            // A full queue means that the next one says it.
            drop(self.send.try_send(Incoming::Answer(Msg::Progress(words))));
        };
        let ask =
            |request: &[u8]| self.summariser.run(request, &self.cancel, &progress).map_err(|error| error.to_string());
        summarised(&material, &table, &self.nonce, &name, ask)
    }
}
