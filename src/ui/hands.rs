//! What reaches out of the screen: the only place of this room that knows how a file comes to be written.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::{
    commit::{self, Disk, Job, Store, Summariser},
    cut::Verdict,
    export::hex,
    format::{Format, Minted},
    model::Millis,
    plan::{Abandonment, Draft},
};

/// What the loop needs to carry an operator's work out. Looking asks for nothing but `minted`, `staged` and `writer`.
pub trait Hands {
    /// Seed, clock and zone of a new session file. Asked once for each preview.
    ///
    /// # Errors
    /// A sentence: there is no chance to be had from the system.
    fn minted(&self) -> Result<Minted, String>;

    /// What was staged earlier for the transcript at `source`.
    fn staged(&self, source: &Path) -> Vec<Abandonment>;

    /// Stages exactly `staged` for the transcript at `source`.
    ///
    /// # Errors
    /// A sentence: the stage could not be stored, and would not survive a crash.
    fn stage(&self, source: &Path, staged: &[Abandonment]) -> Result<(), String>;

    /// Whether something still writes the transcript at `source`.
    fn writer(&self, source: &Path, format: Option<Format>, session: Option<&str>, now: Millis) -> Writer;

    /// Writes `draft` into a new file; the transcript at `source`, which holds `bytes`, is not touched.
    ///
    /// # Errors
    /// What stood in the way, and what to do next. Then nothing was written.
    fn commit(&self, from: (&Path, &[u8]), draft: &Draft, order: &Order, now: Millis) -> Result<Written, Told>;

    /// Removes what the commit with this receipt wrote. Answers with a sentence.
    ///
    /// # Errors
    /// What stood in the way, and what to do next.
    fn undo(&self, receipt: &str, now: Millis) -> Result<String, Told>;

    /// The command that writes the words of a summary, if one is set.
    fn summariser(&self) -> Option<Summariser>;
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

/// The hands of a person at this machine.
pub struct Desk<S, M> {
    /// Receipts and stages; none where neither a state folder nor a home is known. Asked anew each time.
    pub store: S,
    /// Seed, clock and zone.
    pub mint: M,
    /// The command that writes the words of a summary.
    pub summariser: Option<Summariser>,
}

impl<S: Fn() -> Option<Store>, M> Desk<S, M> {
    fn store(&self) -> Result<Store, Told> {
        (self.store)().ok_or_else(|| Told {
            sentence: "There is no place for receipts, so nothing is written.".to_string(),
            hint: "Set XDG_STATE_HOME or HOME to a folder in which receipts can be kept.".to_string(),
        })
    }
}

impl<S: Fn() -> Option<Store>, M: Fn() -> Result<Minted, String>> Hands for Desk<S, M> {
    fn minted(&self) -> Result<Minted, String> {
        (self.mint)()
    }

    fn staged(&self, source: &Path) -> Vec<Abandonment> {
        (self.store)().map(|store| store.staged(source)).unwrap_or_default()
    }

    fn stage(&self, source: &Path, staged: &[Abandonment]) -> Result<(), String> {
        let store = self.store().map_err(|told| told.sentence)?;
        store.stage(source, staged).map_err(|error| error.to_string())
    }

    fn writer(&self, source: &Path, format: Option<Format>, session: Option<&str>, now: Millis) -> Writer {
        let Some(format) = format else {
            return Writer { liveness: Liveness::Unknown, text: "unknown: no format is known yet".to_string() };
        };
        let writer = commit::writer(source, format, session, now);
        let liveness = match writer.liveness {
            commit::Liveness::Live => Liveness::Live,
            commit::Liveness::Unknown => Liveness::Unknown,
            commit::Liveness::Dead => Liveness::Dead,
        };
        Writer { liveness, text: writer.sentence }
    }

    fn commit(&self, from: (&Path, &[u8]), draft: &Draft, order: &Order, now: Millis) -> Result<Written, Told> {
        let (source, bytes) = from;
        let source_sha256 = &hex(&Sha256::digest(bytes));
        let Order { verdict, relief, confirmed, operator } = order;
        let job = Job {
            draft,
            source,
            source_sha256,
            out: None,
            verdict: *verdict,
            relief: *relief,
            confirmed,
            operator,
            now,
        };
        match commit::commit(&Disk, &self.store()?, &job) {
            Ok(receipt) => Ok(Written {
                resume: receipt.resume_line(),
                output: receipt.output.path.display().to_string(),
                tokens: (receipt.before, receipt.after),
                receipt: receipt.id,
            }),
            Err(error) => Err(Told { sentence: error.to_string(), hint: error.hint() }),
        }
    }

    fn undo(&self, receipt: &str, now: Millis) -> Result<String, Told> {
        let store = self.store()?;
        let receipt = store.find(receipt).ok_or_else(|| Told {
            sentence: format!("There is no receipt `{receipt}` any more."),
            hint: "`cutline receipts` lists what was committed.".to_string(),
        })?;
        match commit::undo(&Disk, &store, &receipt, now) {
            Ok(undone) => Ok(format!("{} was removed.", undone.removed.display())),
            Err(error) => Err(Told { sentence: error.to_string(), hint: error.hint() }),
        }
    }

    fn summariser(&self) -> Option<Summariser> {
        self.summariser.clone()
    }
}
