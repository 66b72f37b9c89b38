use super::RecordId;

/// What kind of oddity a [`Note`] tells of. Every one is counted on screen and listed by `inspect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoteKind {
    /// A result whose call is nowhere before it.
    Orphan,
    /// A second resolution of a call that was already closed.
    Duplicate,
    /// A call id used again while the older call was still open.
    Shadowed,
    /// A line that is not JSON, or was cut.
    Damaged,
    /// A whole record recovered from a damaged line.
    Salvaged,
    /// The last line has no newline and its writer seems to have stopped.
    TornTail,
    /// A type that this version does not know.
    NotUnderstood,
    /// A parent that stands nowhere in the file.
    MissingParent,
    /// Parents that lead back to themselves.
    Cycle,
    /// The same uuid on two lines.
    DuplicateUuid,
    /// A call that a compaction of the runtime's own dropped while it was open.
    Swallowed,
    /// Something about the format's own rules (ordinals, lineage, several session headers, ...).
    Format,
    /// Figures that cannot be right (usage above the window, negative, ...).
    Figures,
    /// Something that a resume will do to this file.
    Resume,
}

impl NoteKind {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Orphan => "orphan",
            Self::Duplicate => "duplicate",
            Self::Shadowed => "shadowed",
            Self::Damaged => "damaged",
            Self::Salvaged => "salvaged",
            Self::TornTail => "torn-tail",
            Self::NotUnderstood => "not-understood",
            Self::MissingParent => "missing-parent",
            Self::Cycle => "cycle",
            Self::DuplicateUuid => "duplicate-uuid",
            Self::Swallowed => "swallowed",
            Self::Format => "format",
            Self::Figures => "figures",
            Self::Resume => "resume",
        }
    }
}

/// One oddity with its place: a sentence for people, a kind and a line for scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub kind: NoteKind,
    /// 1-based physical line, 0 if it has none.
    pub line: u32,
    /// The record, where there is one.
    pub record: Option<RecordId>,
    /// A sentence. May quote the transcript: show it through [`super::Shown`].
    pub text: String,
}
