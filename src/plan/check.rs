/// How a check of a plan came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// As it must be.
    Passed,
    /// Worth knowing, forbids nothing.
    Told,
    /// A person has to say yes; forbids a commit that nobody confirms.
    Asks,
    /// Forbids the commit.
    Failed,
}

impl Outcome {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Told => "told",
            Self::Asks => "asks",
            Self::Failed => "failed",
        }
    }
}

/// One thing that was looked at before anything is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Kebab-case name, stable.
    pub name: &'static str,
    /// How it came out.
    pub outcome: Outcome,
    /// One sentence: what was found, and what to do if it failed. May hold the transcript's own text: show it safely.
    pub text: String,
}

impl Check {
    /// `text` says what was found in either case.
    pub fn new(name: &'static str, outcome: Outcome, text: impl Into<String>) -> Self {
        Self { name, outcome, text: text.into() }
    }

    /// Passed with one sentence or failed with another.
    pub fn of(name: &'static str, failed: Option<String>, passed: impl Into<String>) -> Self {
        match failed {
            Some(text) => Self::new(name, Outcome::Failed, text),
            None => Self::new(name, Outcome::Passed, passed),
        }
    }
}
