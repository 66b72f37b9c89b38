use std::path::PathBuf;

use ratatui::crossterm::event::KeyEvent;

use super::hands::{Order, Told, Writer, Written};
use crate::{
    format::Format,
    model::{Body, Millis},
    plan::{Abandonment, Draft, Session, Wish, summary::Prose},
    source::Feed,
};

/// Answer to [`Effect::Draft`]: the draft, or one sentence why there is none.
pub struct Drafted(pub Result<Box<Draft>, String>);

impl std::fmt::Debug for Drafted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let span = self.0.as_ref().map(|draft| draft.wish.span);
        f.debug_tuple("Drafted").field(&span).finish()
    }
}

/// Answer to [`Effect::ReadAs`]: everything that was fed so far, read as this format; or why it could not be read again.
pub struct ReadAgain(pub Format, pub Result<Box<Session>, String>);

impl std::fmt::Debug for ReadAgain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.1.as_ref().map(|session| session.bytes());
        f.debug_tuple("ReadAgain").field(&self.0.name()).field(&bytes).finish()
    }
}

/// Something that happened.
#[derive(Debug)]
pub enum Msg {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted: it never triggers a key binding.
    Paste(String),
    /// The terminal has this many columns and rows now.
    Resize(u16, u16),
    /// Bytes or news of the followed file.
    Feed(Feed),
    /// The bytes of the n-th file that this one continues (see `Adapter::continues`), directly after its first line.
    Segment(u16, Vec<u8>),
    /// Everything that waited was taken: derive and be ready to draw. Sent once a frame by the loop.
    Settle(Millis),
    /// Time goes on: ages are drawn anew.
    Tick(Millis),
    /// Answer to [`Effect::LoadHeads`]: words of records by position.
    Heads(Vec<(usize, String)>),
    /// Answer to [`Effect::LoadBody`]: `None` if the payload cannot be read any more.
    Body(usize, Option<Body>),
    /// Answer to [`Effect::Search`]: positions that match, ascending; or why the search failed.
    Found(Result<Vec<usize>, String>),
    /// Answer to [`Effect::Draft`].
    Drafted(Drafted),
    /// Answer to [`Effect::ReadAs`].
    ReadAgain(ReadAgain),
    /// What was staged for this transcript in an earlier run.
    Staged(Vec<Abandonment>),
    /// Answer to [`Effect::Stage`]: why it could not be stored.
    Stored(Result<(), String>),
    /// Answer to [`Effect::Writer`].
    Writer(Writer),
    /// Answer to [`Effect::Commit`].
    Committed(Result<Written, Told>),
    /// Answer to [`Effect::Undo`]: one sentence.
    Undone(Result<String, Told>),
    /// Answer to [`Effect::Copy`]: how many bytes, or why not.
    Copied(Result<usize, String>),
    /// Answer to [`Effect::Edit`]: the text as it was left, or why there is none.
    Edited(Result<String, String>),
    /// How far the summariser command is, in words.
    Progress(String),
    /// Answer to [`Effect::Summarise`]: the words, with a remark if they are not the command's own; or why there are
    /// none.
    Summarised(Result<(Prose, Option<String>), String>),
    /// Back from being suspended: draw everything anew.
    Resumed,
    /// Not suspended, because nobody could continue the program.
    NotSuspended,
}

/// What the loop has to do outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Leave, exit 0.
    Quit,
    /// Leave at once, exit 130.
    Interrupt,
    /// Give the terminal back, stop, and come back when continued.
    Suspend,
    /// Read the words of these positions.
    LoadHeads(Vec<usize>),
    /// Read one record whole.
    LoadBody(usize),
    /// Search all records for a regular expression (smart case is already applied).
    Search(String),
    /// Draft this in memory. `fresh`: with new ids; else with those of the draft before.
    Draft {
        /// What is wished.
        wish: Wish,
        /// A new preview.
        fresh: bool,
    },
    /// Look who writes the transcript.
    Writer,
    /// Store this as everything that is staged, so that it survives a crash.
    Stage(Vec<Abandonment>),
    /// Write the draft of the preview into a new file.
    Commit(Order),
    /// Undo the commit with this receipt.
    Undo(String),
    /// Put this into the clipboard of the terminal.
    Copy(String),
    /// Give the terminal to the operator's editor with this text.
    Edit(String),
    /// Have the summariser command write the words of the previewed summary.
    Summarise,
    /// End the summariser command.
    CancelSummary,
    /// Read everything that was fed so far again, as this format.
    ReadAs(Format),
    /// Look at the file now instead of at the next tick.
    Look,
    /// Open this transcript instead.
    Open(PathBuf),
    /// Start the demo instead.
    Demo,
}
