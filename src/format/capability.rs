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

impl Capability {
    /// Words for the header: what a person must not take for granted here.
    pub fn doubts(&self) -> Vec<&'static str> {
        let mut words = Vec::new();
        let mut add = |doubtful: bool, word| words.extend(doubtful.then_some(word));
        add(!self.shows_open, "hides open calls");
        add(!self.shows_results, "hides results");
        add(self.ids == Ids::None, "no ids");
        add(!self.usage, "no usage");
        add(self.reexecutes, "re-executes open calls");
        words
    }

    /// Everything that is known of the format, one sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |line: &str| lines.push(line.to_string());
        say(if self.shows_open {
            "Open calls: on disk while they run."
        } else {
            "Open calls: not on disk while they run, so that none is open here proves nothing."
        });
        say(if self.shows_results { "Results: on disk." } else { "Results: not on disk." });
        say(match self.ids {
            Ids::Unique => "Ids of calls: never used twice.",
            Ids::Repeat => "Ids of calls: may be used again; a call is its position.",
            Ids::None => "Ids of calls: none; calls and results are paired by name and order.",
        });
        say(if self.usage { "Token usage: written." } else { "Token usage: not written; numbers are estimates." });
        say(if self.window {
            "Context window: written."
        } else {
            "Context window: not written; it comes from the model's name or from --window."
        });
        say(if self.lock {
            "A living writer: holds a lock that can be tested."
        } else {
            "A living writer: holds no lock; between two lines nothing shows that it lives."
        });
        say(if self.reexecutes {
            "Resume: runs open calls again. Give them up first."
        } else {
            "Resume: does not run open calls again."
        });
        say(match self.late_results {
            LateResults::Kept => "A late result: the model gets it.",
            LateResults::Hidden => "A late result: the model never sees it.",
            LateResults::Unknown => "A late result: what becomes of it is not known.",
        });
        say(if self.commits.contains(&Commit::Fork) {
            "Commit: a new session file that the runtime resumes from."
        } else {
            "Commit: only into the neutral format; the runtime cannot load that by itself, because no writer for its own \
             format is known to be safe."
        });
        say(if self.commits.contains(&Commit::Append) {
            "Commit in place: not offered; it would need proof that no writer lives."
        } else {
            "Commit in place: never; the runtime would lose or ignore it."
        });
        lines.extend(self.hides.iter().map(|hides| (*hides).to_string()));
        lines
    }
}
