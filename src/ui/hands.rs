//! What reaches out of the screen: the only place of this room that knows how a file comes to be written.

use std::path::Path;

use crate::{
    cut::Verdict,
    format::{Format, Minted},
    model::Millis,
    plan::{Abandonment, Draft},
};

/// What the loop needs to carry an operator's work out. Looking asks for nothing but `minted`, `staged` and `writer`.
pub trait Hands {
    /// Seed, clock and zone of a new session file. Asked once for each preview.
    fn minted(&self) -> Minted;

    /// What was staged earlier for the transcript at `source`.
    fn staged(&self, source: &Path) -> Vec<Abandonment>;

    /// Stages exactly `staged` for the transcript at `source`.
    ///
    /// # Errors
    /// A sentence: the stage could not be stored, and would not survive a crash.
    fn stage(&self, source: &Path, staged: &[Abandonment]) -> Result<(), String>;

    /// Whether something still writes the transcript at `source`.
    fn writer(&self, source: &Path, format: Option<Format>, session: Option<&str>, now: Millis) -> Writer;

    /// Writes `draft` into a new file; the transcript at `source` is not touched.
    ///
    /// # Errors
    /// What stood in the way, and what to do next. Then nothing was written.
    fn commit(&self, source: &Path, draft: &Draft, order: &Order, now: Millis) -> Result<Written, Told>;

    /// Removes what the commit with this receipt wrote. Answers with a sentence.
    ///
    /// # Errors
    /// What stood in the way, and what to do next.
    fn undo(&self, receipt: &str, now: Millis) -> Result<String, Told>;
}

/// What the operator confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The verdict that is carried out.
    pub verdict: Verdict,
    /// The span is the one that a refusal offered.
    pub relief: bool,
    /// Names of the checks that the operator said yes to.
    pub confirmed: Vec<String>,
    /// Who.
    pub operator: String,
}

/// What came of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Id of the receipt.
    pub receipt: String,
    /// The new file.
    pub output: String,
    /// The command that resumes it, quoted for a shell; empty if the format belongs to no runtime.
    pub resume: String,
    /// Tokens in use before and after.
    pub tokens: (u64, u64),
}

/// Why something was not done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What stood in the way.
    pub sentence: String,
    /// What to do next.
    pub hint: String,
}

/// Whether something writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// Yes.
    Live,
    /// Nobody can say.
    Unknown,
    /// No.
    Dead,
}

/// Who writes a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// Whether it lives.
    pub liveness: Liveness,
    /// How that is known, as a sentence.
    pub text: String,
}
