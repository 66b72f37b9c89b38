//! Exit codes and how failures are told.

use std::process::ExitCode;

use crate::{
    commit::{CommitError, UndoError},
    export::ErrorReport,
    format::{Detection, ForkError, Format},
    model::show_line,
    plan::{DraftError, PlanError},
    source::SourceError,
};

/// Internal or I/O error.
pub(super) const IO: u8 = 1;
/// A plan that is refused.
pub(super) const REFUSED: u8 = 11;
/// The source is not what it was, or somebody writes it.
pub(super) const CHANGED: u8 = 14;
/// Usage.
pub(super) const USAGE: u8 = 2;
/// Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;
/// The input is no transcript, or could be one of more than one format.
pub(super) const NOT_A_TRANSCRIPT: u8 = 15;

/// A failure on its way out.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: u8,
    pub(super) kind: &'static str,
    pub(super) message: String,
    pub(super) hint: String,
    pub(super) retryable: bool,
}

impl Failure {
    pub(super) fn new(code: u8, kind: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, kind, message: message.into(), hint: hint.into(), retryable: false }
    }

    /// The file is no transcript that cutline knows.
    pub(super) fn not_a_transcript(path: &str) -> Self {
        Self::new(
            NOT_A_TRANSCRIPT,
            "not-a-transcript",
            format!("{path} is not a transcript that cutline knows."),
            "If you know its format, force it with --format (`cutline formats` lists them); for a format of your own write a map and name it with --map.",
        )
    }

    /// The file fits formats equally well, so none of them is taken for granted.
    pub(super) fn ambiguous(path: &str, tie: &Detection) -> Self {
        let path = if path == "-" { "Standard input" } else { path };
        let names: Vec<&str> = tie.formats().map(Format::name).collect();
        let message = format!("{path} fits {} formats equally well: {}.", names.len(), names.join(", "));
        let hint = format!("Name the one it is: --format {}.", tie.format.name());
        Self::new(NOT_A_TRANSCRIPT, "ambiguous-format", message, hint)
    }

    /// Tells it: as a document on stdout with `--json`, else as sentences on stderr.
    pub(super) fn tell(&self, json: bool) -> ExitCode {
        if json {
            let (message, hint) = (self.message.clone(), self.hint.clone());
            super::out::document(&ErrorReport::new(self.code, self.kind, message, hint, self.retryable));
        } else {
            super::out::say(&format!("cutline: {} {}", show_line(&self.message), show_line(&self.hint)));
        }
        ExitCode::from(self.code)
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        let (kind, code, retryable) = match &error {
            SourceError::Missing(_) => ("missing", IO, false),
            SourceError::Refused { .. } => ("not-a-file", NOT_A_TRANSCRIPT, false),
            SourceError::Denied(_) => ("denied", IO, false),
            SourceError::Empty(_) => ("empty", NOT_A_TRANSCRIPT, true),
            SourceError::Several { .. } => ("several-sessions", NOT_A_TRANSCRIPT, false),
            SourceError::NoSession { .. } => ("no-session", NOT_A_TRANSCRIPT, false),
            SourceError::Store { .. } => ("store", IO, true),
            SourceError::Io { .. } => ("io", IO, true),
        };
        Self { retryable, ..Self::new(code, kind, error.to_string(), "") }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Self::new(USAGE, "usage", error.to_string(), "")
    }
}

impl From<DraftError> for Failure {
    fn from(error: DraftError) -> Self {
        match error {
            DraftError::Plan(error) => error.into(),
            DraftError::Fork(error) => {
                let kind = if error == ForkError::ReadOnly { "read-only" } else { "cannot-write" };
                Self::new(IO, kind, error.to_string(), "Nothing was written.")
            }
            DraftError::Changed(_) => {
                let hint = "Nothing was written. Run the command again: it plans anew.";
                Self { retryable: true, ..Self::new(CHANGED, "source-changed", error.to_string(), hint) }
            }
        }
    }
}

impl From<CommitError> for Failure {
    fn from(error: CommitError) -> Self {
        let (code, kind, hint) = (error.code(), error.kind(), error.hint());
        Self { retryable: error.retryable(), ..Self::new(code, kind, error.to_string(), hint) }
    }
}

impl From<UndoError> for Failure {
    fn from(error: UndoError) -> Self {
        let (code, kind, hint) = (error.code(), error.kind(), error.hint());
        Self { retryable: error.retryable(), ..Self::new(code, kind, error.to_string(), hint) }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self { retryable: true, ..Self::new(IO, "io", format!("{error}."), "") }
    }
}

/// What clap has to say: help and version on stdout with 0, mistakes on stderr with 2.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    let code = if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
    // Nobody is left to tell if the stream is closed.
    drop(error.print());
    code
}
