//! A dialog: what would happen, said before it happens, and what the operator has to type first.

use crate::{format::Format, ledger::ObligationKind};

/// What a dialog is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Give up what is owed at this position.
    Abandon {
        /// Where it was opened.
        at: usize,
        /// What it is.
        kind: ObligationKind,
        /// The agent's id.
        id: String,
    },
    /// Give up every lost call at these positions.
    Lost(Vec<usize>),
    /// Write what was previewed.
    Commit,
    /// Undo the newest commit of this run.
    UndoCommit,
    /// Choose between formats that fit equally well.
    Format,
    /// Leave although something is staged.
    Quit,
    /// Only tells something.
    Told,
}

/// How a line of a dialog is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    Plain,
    Quiet,
    Good,
    Warns,
    Bad,
}

/// A line of a dialog; `text` may hold the transcript's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) label: &'static str,
    pub(super) text: String,
    pub(super) voice: Voice,
}

impl Fact {
    pub(super) fn new(label: &'static str, text: impl Into<String>, voice: Voice) -> Self {
        Self { label, text: text.into(), voice }
    }

    pub(super) fn quiet(label: &'static str, text: impl Into<String>) -> Self {
        Self::new(label, text, Voice::Quiet)
    }

    pub(super) fn plain(label: &'static str, text: impl Into<String>) -> Self {
        Self::new(label, text, Voice::Plain)
    }
}

/// What a field must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Must {
    /// Anything.
    Nothing,
    /// Something.
    Filled,
    /// Exactly this.
    Word(String),
}

/// Something to type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) label: String,
    pub(super) text: String,
    pub(super) must: Must,
}

impl Field {
    pub(super) fn new(label: impl Into<String>, text: &str, must: Must) -> Self {
        Self { label: label.into(), text: text.to_string(), must }
    }

    /// A word that has to be typed.
    pub(super) fn word(word: &str, why: &str) -> Self {
        Self::new(format!("Type  {word}  {why}"), "", Must::Word(word.to_string()))
    }

    pub(super) fn is_right(&self) -> bool {
        match &self.must {
            Must::Nothing => true,
            Must::Filled => !self.text.trim().is_empty(),
            Must::Word(word) => self.text.trim() == word,
        }
    }
}

/// One of those between which the operator chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pick {
    pub(super) format: Format,
    /// Why it may be this one.
    pub(super) why: String,
}

/// A window that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialog {
    pub(super) purpose: Purpose,
    pub(super) title: String,
    pub(super) facts: Vec<Fact>,
    pub(super) fields: Vec<Field>,
    /// What can be chosen; none where nothing is chosen. A dialog has fields or picks, never both.
    pub(super) picks: Vec<Pick>,
    /// The field that is typed into, or the pick that Enter takes.
    pub(super) at: usize,
    /// What Enter does in the end.
    pub(super) button: &'static str,
    /// What is still wrong.
    pub(super) complaint: Option<String>,
    /// First fact that is shown, where not all fit.
    pub(super) scroll: usize,
}

impl Dialog {
    pub(super) fn new(purpose: Purpose, title: impl Into<String>, button: &'static str) -> Self {
        let (facts, fields, picks) = (Vec::new(), Vec::new(), Vec::new());
        Self { purpose, title: title.into(), facts, fields, picks, at: 0, button, complaint: None, scroll: 0 }
    }

    /// A window that only tells.
    pub(super) fn told(title: impl Into<String>, facts: Vec<Fact>) -> Self {
        Self { facts, ..Self::new(Purpose::Told, title, "close") }
    }

    /// What was typed into the n-th field.
    pub(super) fn text(&self, n: usize) -> String {
        self.fields.get(n).map(|field| field.text.trim().to_string()).unwrap_or_default()
    }

    /// The first field that does not hold what it must.
    pub(super) fn wrong(&self) -> Option<usize> {
        self.fields.iter().position(|field| !field.is_right())
    }
}
