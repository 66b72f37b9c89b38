use std::path::PathBuf;

use ratatui::crossterm::event::KeyEvent;

use crate::{
    model::{Body, Millis},
    source::Feed,
};

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
    /// Look at the file now instead of at the next tick.
    Look,
    /// Open this transcript instead.
    Open(PathBuf),
    /// Start the demo instead.
    Demo,
}
