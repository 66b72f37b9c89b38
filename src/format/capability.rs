/// How call ids behave in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// Never used twice by the runtime.
    Unique,
    /// May be used again after closing.
    Repeat,
    /// The format has none.
    None,
}

impl Ids {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::Repeat => "repeat",
            Self::None => "none",
        }
    }
}

/// What the runtime does with a result that arrives after another turn began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateResults {
    /// Sent in place.
    Kept,
    /// The model never sees it.
    Hidden,
    /// Not measured.
    Unknown,
}

impl LateResults {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Hidden => "hidden",
            Self::Unknown => "unknown",
        }
    }
}

/// A way to write a compacted transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Commit {
    /// A new session file beside the original.
    Fork,
    /// Lines appended to the original.
    Append,
}

impl Commit {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Append => "append",
        }
    }
}

/// What a format (in the version at hand) can tell and what it hides. Shown in the header and by `inspect`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// A call is on disk while it runs.
    pub shows_open: bool,
    /// Results are on disk.
    pub shows_results: bool,
    /// How ids behave.
    pub ids: Ids,
    /// Token usage is written.
    pub usage: bool,
    /// The context window is written.
    pub window: bool,
    /// A writer holds a lock that others can test.
    pub lock: bool,
    /// An open call may be executed again when the session is resumed.
    pub reexecutes: bool,
    /// Late results.
    pub late_results: LateResults,
    /// Which commits the format allows.
    pub commits: &'static [Commit],
    /// Sentences about what this format hides, for people.
    pub hides: Vec<&'static str>,
}
