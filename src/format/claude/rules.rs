use crate::format::{Capability, Commit, Ids, LateResults};

/// How a runtime chooses the record at which it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeafRule {
    /// The newest timestamp of the main lane.
    NewestTime,
    /// What the last `last-prompt` line pins, else the last line.
    LastLine,
}

/// What one generation of the runtime does with a file. Every border is the newer of two tested versions between
/// which the behaviour changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) leaf: LeafRule,
    /// Calls and results of a message that the parents do not reach still belong to it.
    pub(super) siblings: bool,
    /// A missing parent is replaced by the newest record of the five seconds before.
    pub(super) bridge: bool,
    /// A record that names itself as its parent counts as one whose parent is missing.
    pub(super) bridge_self: bool,
    /// A boundary's list of kept records is followed.
    pub(super) kept_list: bool,
    /// A boundary's head and tail of kept records are followed.
    pub(super) kept_segment: bool,
    /// Orphans, duplicates and late results are repaired in memory instead of being sent.
    pub(super) repairs: bool,
    /// What hangs on another call of the pinned record's batch continues it.
    pub(super) batch: bool,
    /// A call that is open at the end gets a placeholder at resume, in the file.
    pub(super) placeholder: bool,
}

/// A version as the runtime writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32, u32);

impl Version {
    /// Reads `2.1.332` and `2.1.332-anything`; `None` for what is no version.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>().ok()
        });
        Some(Self(parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0)))
    }
}

impl Rules {
    /// The rules of `version`; those of the newest tested one if the file names none.
    pub(super) fn of(version: Option<Version>) -> Self {
        let from = |patch| version.is_none_or(|v| v >= Version(2, 1, patch));
        Self {
            leaf: if from(140) { LeafRule::LastLine } else { LeafRule::NewestTime },
            // The runtime itself lost siblings at a resume until 2.1.80, but what it holds in memory is whole.
            siblings: from(0),
            bridge: from(100),
            bridge_self: from(140),
            kept_list: from(197),
            kept_segment: from(140),
            repairs: from(100),
            batch: from(332),
            placeholder: from(285),
        }
    }
}

/// What a file of `version` can tell. `deferred`: it holds a call that a hook deferred.
pub(super) fn capability(version: Option<Version>, deferred: bool) -> Capability {
    let from = |patch| version.is_none_or(|v| v >= Version(2, 1, patch));
    let mut hides = vec![
        "A call that waits for a permission looks like one that runs.",
        "The context window is not written; tokens of the system prompt are known only through the last usage.",
    ];
    if from(20) {
        hides.push("Old results may be cleared in memory only (micro-compaction); the file keeps their text.");
    }
    if from(20) && !from(40) {
        hides.push("The stop reason is never written: a finished message looks like one that was cut.");
    }
    if !from(285) {
        hides.push("A resume drops calls that are still open from the next request; no line says so.");
    }
    if !from(197) {
        hides.push("Background tasks that ended with their process leave no line.");
    }
    Capability {
        shows_open: true,
        shows_results: true,
        ids: Ids::Unique,
        usage: true,
        window: false,
        lock: false,
        reexecutes: deferred,
        late_results: if from(100) { LateResults::Hidden } else { LateResults::Kept },
        commits: &[Commit::Fork, Commit::Append],
        hides,
    }
}
