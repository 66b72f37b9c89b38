use crate::{format::SessionFacts, model::Log};

/// How the size of the window is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowBasis {
    /// Given by the operator.
    Given,
    /// Written in the file.
    File,
    /// From the table of models.
    Model,
    /// The runtime compacted by itself at this many tokens.
    Compaction(u64),
    /// More than the usual window was in use.
    Usage(u64),
    /// Nothing is known; the usual window is assumed.
    Assumed,
}

impl WindowBasis {
    /// For people and for `window_basis` in `--json`.
    pub fn sentence(&self) -> String {
        match self {
            Self::Given => "given".to_string(),
            Self::File => "written in the file".to_string(),
            Self::Model => "model table".to_string(),
            Self::Compaction(tokens) => format!("automatic compaction seen at {tokens}"),
            Self::Usage(tokens) => format!("usage of {tokens} seen"),
            Self::Assumed => "assumed".to_string(),
        }
    }
}

/// The context window in tokens, always with its basis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens.
    pub tokens: u64,
    /// How that is known.
    pub basis: WindowBasis,
}

/// The usual window where nothing is known, in tokens.
const USUAL: u64 = 200_000;
/// No window is larger than this; what claims to be is a mistake.
const SANE: u64 = 1 << 40;
/// The next larger window, in tokens.
const LARGE: u64 = 1_000_000;

impl Window {
    pub(super) fn of(log: &Log, facts: &SessionFacts, given: Option<u64>) -> Self {
        let of = |tokens, basis| Self { tokens, basis };
        if let Some(tokens) = given {
            return of(tokens, WindowBasis::Given);
        }
        let written = log.usage.iter().rev().find_map(|usage| usage.window);
        if let Some(tokens) = written.or(facts.window).filter(|tokens| (1..=SANE).contains(tokens)) {
            return of(tokens, WindowBasis::File);
        }
        let peak = log.usage.iter().map(|usage| usage.input).max().unwrap_or(0).min(SANE);
        // What drives a runtime's own compaction is not the window it reports: sessions of models with a window of
        // 1,000,000 were compacted at 185,138 and 194,138 tokens. The session's own history is the best witness.
        let automatic = log.boundaries.iter().rev().filter(|b| b.automatic).find_map(|b| b.before);
        if let Some(before) = automatic
            && before <= USUAL
            && peak <= USUAL
        {
            return of(USUAL, WindowBasis::Compaction(before));
        }
        let model = facts.model.as_deref().and_then(known_window);
        match model {
            Some(tokens) if peak <= tokens => of(tokens, WindowBasis::Model),
            _ if peak > USUAL => of(LARGE.max(peak), WindowBasis::Usage(peak)),
            _ => of(USUAL, WindowBasis::Assumed),
        }
    }
}

/// Context window of a model by its name, in tokens: what the newest client of each vendor reports.
///
/// ```
/// assert_eq!(cutline::budget::known_window("claude-sonnet-4-5-20250929"), Some(200_000));
/// assert_eq!(cutline::budget::known_window("claude-opus-4-6[1m]"), Some(1_000_000));
/// assert_eq!(cutline::budget::known_window("something-else"), None);
/// ```
pub fn known_window(model: &str) -> Option<u64> {
    let name = model.to_ascii_lowercase();
    if name.contains("[1m]") {
        return Some(LARGE);
    }
    if name.contains("claude") {
        let small = [
            "claude-3",
            "sonnet-4-0",
            "sonnet-4-2",
            "sonnet-4-5",
            "sonnet-4-6",
            "haiku-4-5",
            "opus-4-0",
            "opus-4-1",
            "opus-4-2",
            "opus-4-5",
            "opus-4-6",
        ];
        let bare = name.ends_with("sonnet-4") || name.ends_with("opus-4");
        return Some(if bare || small.iter().any(|part| name.contains(part)) { USUAL } else { LARGE });
    }
    if name.contains("gpt-5") || name.contains("codex") {
        return Some(258_400);
    }
    None
}
