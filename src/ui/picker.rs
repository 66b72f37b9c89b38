//! Choosing a session from those found on this machine.

use std::path::PathBuf;

use crate::model::Millis;

/// One session that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its file.
    pub path: PathBuf,
    /// `claude` or `codex`.
    pub runtime: &'static str,
    /// When it was written last.
    pub modified: Millis,
    /// Bytes.
    pub bytes: u64,
    /// First prompt of a person, if it stands near the start. Raw.
    pub title: Option<String>,
}

/// The list with its cursor.
#[derive(Clone, Debug, Default)]
pub struct Picker {
    /// Newest first.
    pub choices: Vec<Choice>,
    /// Where was searched, for the message when nothing was found.
    pub searched: Vec<PathBuf>,
    pub(super) cursor: usize,
}

impl Picker {
    /// A list with the cursor on the newest.
    pub fn new(choices: Vec<Choice>, searched: Vec<PathBuf>) -> Self {
        Self { choices, searched, cursor: 0 }
    }
}
