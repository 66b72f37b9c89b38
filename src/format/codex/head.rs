//! What the session header says: generation, version, facts, and the file that this one continues.

use super::line::{Entry, pick, whole};
use crate::{
    format::{Capability, Commit, Continues, Ids, LateResults, Line, SessionFacts, json::Raw},
    model::{Log, NoteKind},
};

/// Generations of the format. The version is that of the client that *created* the file; later lines may come from
/// a newer one, so the newer borders are told by what the header has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Generation {
    /// To 0.31: no envelope.
    G0,
    /// 0.32 to 0.58: calls are written when they have ended.
    G1,
    /// An envelope without a version.
    #[default]
    Unknown,
    /// 0.59 to 0.119.
    G2,
    /// 0.120 to about 0.150, or `history_mode` legacy.
    G3,
    /// Paginated: an ordinal on every line.
    G4,
}

impl Generation {
    fn name(self) -> &'static str {
        match self {
            Self::G0 => "G0",
            Self::G1 => "G1",
            Self::Unknown => "G1+",
            Self::G2 => "G2",
            Self::G3 => "G3",
            Self::G4 => "G4",
        }
    }
}

/// The header as far as it was read.
#[derive(Default)]
pub(super) struct Head {
    pub(super) generation: Generation,
    /// `N` of the version 0.N.
    minor: Option<u32>,
    seen: bool,
    facts: SessionFacts,
}

impl Head {
    /// True once the file's own header was read.
    pub(super) fn is_seen(&self) -> bool {
        self.seen
    }

    /// A line without envelope was read where no header said otherwise.
    pub(super) fn see_bare(&mut self) {
        self.generation = Generation::G0;
    }

    /// Takes the file's own header.
    pub(super) fn take(&mut self, entry: &Entry<'_>) {
        self.seen = true;
        let [id, cwd, version, mode, git] = pick(entry.payload, ["id", "cwd", "cli_version", "history_mode", "git"]);
        let text = |raw: Option<Raw<'_>>| raw.and_then(Raw::str).map(std::borrow::Cow::into_owned);
        self.facts.id = text(id);
        self.facts.cwd = text(cwd);
        self.facts.branch = text(git.and_then(|git| git.get("branch")));
        self.facts.version = text(version);
        self.minor = self.facts.version.as_deref().and_then(minor);
        self.generation = if entry.bare {
            Generation::G0
        } else if mode.is_some_and(|mode| mode.is("paginated")) {
            Generation::G4
        } else if mode.is_some_and(|mode| mode.is("legacy")) {
            Generation::G3
        } else {
            match self.minor {
                None => Generation::Unknown,
                Some(..59) => Generation::G1,
                Some(59..120) => Generation::G2,
                Some(_) => Generation::G3,
            }
        };
    }

    /// Takes a `turn_context`.
    pub(super) fn turn_context(&mut self, payload: Raw<'_>) {
        let [model, cwd] = pick(payload, ["model", "cwd"]);
        let text = |raw: Option<Raw<'_>>| raw.and_then(Raw::str).map(std::borrow::Cow::into_owned);
        self.facts.model = text(model).or(self.facts.model.take());
        self.facts.cwd = text(cwd).or(self.facts.cwd.take());
    }

    /// The thread's name as the user gave it.
    pub(super) fn set_title(&mut self, title: Option<String>) {
        self.facts.title = title;
    }

    /// One response is written as call, output, call, output.
    pub(super) fn is_interleaved(&self) -> bool {
        self.generation <= Generation::G1
    }

    /// Items are written after the tools of their response have ended (to 0.63; the change lies before 0.80).
    pub(super) fn writes_batches(&self) -> bool {
        self.is_interleaved() || self.minor.is_some_and(|minor| minor < 64)
    }

    /// Facts for people and scripts.
    pub(super) fn facts(&self, window: Option<u64>) -> SessionFacts {
        let generation = self.seen || self.generation == Generation::G0;
        SessionFacts { generation: generation.then(|| self.generation.name()), window, ..self.facts.clone() }
    }

    /// What this generation can tell and what it hides.
    pub(super) fn capability(&self) -> Capability {
        // Measured: 0.63 writes no call before it ends, 0.80 does; between them it is not known.
        let shows_open = match self.generation {
            Generation::G0 | Generation::G1 => false,
            Generation::Unknown | Generation::G2 => self.minor.is_none_or(|minor| minor >= 80),
            Generation::G3 | Generation::G4 => true,
        };
        let mut hides = Vec::new();
        if !shows_open {
            hides.push("Calls are written when they have ended: no open call here proves nothing.");
        }
        hides.push("Approval requests are not written: waiting for a person looks like running.");
        hides.push("Retries of a model request are not written.");
        if self.generation == Generation::G0 {
            hides.push("Token usage, turns and injected context are not written.");
        }
        Capability {
            shows_open,
            shows_results: true,
            ids: Ids::Repeat,
            usage: self.generation != Generation::G0,
            window: self.generation != Generation::G0,
            lock: self.minor.is_some_and(|minor| minor >= 154) || self.generation == Generation::G4,
            reexecutes: false,
            late_results: LateResults::Kept,
            commits: match self.generation {
                Generation::G0 => &[],
                // 0.39 and 0.47 ignore a replacement history; a new file is read by every later client.
                Generation::G1 | Generation::Unknown => &[Commit::Fork],
                Generation::G2 | Generation::G3 | Generation::G4 => &[Commit::Fork, Commit::Append],
            },
            hides,
        }
    }
}

/// `N` of `0.N.P`.
fn minor(version: &str) -> Option<u32> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    (numbers.next()? == "0").then(|| numbers.next()?.parse().ok())?
}

/// The chain of files that this one continues (`history_base`).
#[derive(Default)]
pub(super) struct Lineage {
    want: Option<Continues>,
    seen: Vec<Continues>,
    told: bool,
}

impl Lineage {
    /// The next file that is missing.
    pub(super) fn want(&self) -> Option<Continues> {
        self.want.clone()
    }

    /// The file that was wanted is being fed.
    pub(super) fn fed(&mut self) {
        self.want = None;
    }

    /// A header of this file, or of one that it continues.
    pub(super) fn header(&mut self, payload: Raw<'_>, line: &Line<'_>, log: &mut Log) {
        self.want = None;
        let Some(base) = payload.get("history_base").filter(|base| base.is_object()) else { return };
        let [id, end] = pick(base, ["thread_id", "end_byte_offset"]);
        let (Some(id), Some(end)) = (id.and_then(Raw::str), end.and_then(whole)) else {
            log.note(NoteKind::Resume, line.number, "The history base names no file and offset; a resume is refused.");
            return;
        };
        let base = Continues { id: id.into_owned(), end };
        if self.seen.contains(&base) {
            let text = format!("The history base {} leads back to itself; a resume is refused.", base.id);
            log.note(NoteKind::Cycle, line.number, text);
            return;
        }
        if line.segment > 0 && !payload.field_is("history_mode", "paginated") {
            log.note(NoteKind::Resume, line.number, "A continued file is not paginated; a resume is refused.");
        }
        self.seen.push(base.clone());
        if end > 0 {
            self.want = Some(base);
        }
    }

    /// Our own lines begin: what is still missing will not come.
    pub(super) fn closed(&mut self, line: u32, log: &mut Log) {
        if let Some(base) = &self.want
            && !std::mem::replace(&mut self.told, true)
        {
            let text = format!("The rollout {} that this one continues is missing; a resume is refused.", base.id);
            log.note(NoteKind::MissingParent, line, text);
        }
    }
}
