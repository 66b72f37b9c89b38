use super::{Reason, ReasonKind};
use crate::ledger::{CallState, Obligation, ObligationKind, Remedy};

/// What to do with the wanted compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The span is closed: compact it.
    Compact,
    /// Compact a strictly older closed span, hold the open one verbatim.
    Defer,
    /// Raise, naming each blocker and its remedy.
    Refuse,
    /// Nothing to do.
    NoOp,
}

impl Verdict {
    /// Its name everywhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compact => "COMPACT",
            Self::Defer => "DEFER",
            Self::Refuse => "REFUSE",
            Self::NoOp => "NO-OP",
        }
    }

    /// Exit code of `plan` and `compact`.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Compact => 0,
            Self::Defer => 10,
            Self::Refuse => 11,
            Self::NoOp => 17,
        }
    }
}

/// Something that forbids the target, with what resolves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    /// What stands in the way. For a severed unit: its first call, or its first record.
    pub obligation: Obligation,
    /// Why it forbids the cut.
    pub reason: Reason,
}

impl Blocker {
    /// What resolves it.
    pub fn remedy(&self) -> Remedy {
        self.obligation.remedy
    }

    /// True if it is something owed, not just an inconvenient place.
    pub fn is_owed(&self) -> bool {
        self.reason.kind != ReasonKind::Severs && self.obligation.kind != ObligationKind::Unit
    }

    /// State for people: an unread result is answered but not read.
    pub fn state_sentence(&self) -> &'static str {
        match self.reason.kind {
            ReasonKind::Live if self.obligation.state != CallState::InFlight => "answered, not read yet",
            ReasonKind::Severs => "would be split from its result",
            ReasonKind::Empty => "the span is empty",
            ReasonKind::HeadOpen | ReasonKind::TxnCloser | ReasonKind::RetryCloser if !self.is_owed() => {
                "ends inside the span, begins before it"
            }
            ReasonKind::Txn | ReasonKind::Retry if !self.is_owed() => "ends behind the cut",
            _ => self.obligation.state.sentence(),
        }
    }
}

/// The older closed span that a refusal under critical pressure offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relief {
    /// Its end.
    pub cut: usize,
    /// Tokens it would free, summary not counted.
    pub frees: u64,
}

/// The answer with everything that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What to do.
    pub verdict: Verdict,
    /// Start of the span.
    pub start: usize,
    /// The wanted end.
    pub target: usize,
    /// End of the span to compact now; `None` for REFUSE and NO-OP.
    pub cut: Option<usize>,
    /// What forbids the target, by position.
    pub blockers: Vec<Blocker>,
    /// Offered by a refusal under critical pressure.
    pub relief: Option<Relief>,
    /// Why, without ids.
    pub because: Because,
}

/// Why a decision is what it is; displayed as one sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Because {
    /// NO-OP.
    #[error("The context is below the trigger; nothing needs to be cut.")]
    BelowTrigger,
    /// NO-OP.
    #[error("What has to be kept is all there is; nothing is left to compact.")]
    AllIsKept,
    /// COMPACT.
    #[error("Everything before {cut} is closed.")]
    Closed {
        /// End of the span.
        cut: usize,
    },
    /// NO-OP.
    #[error("Cutting at {cut} would free too little.")]
    TooLittle {
        /// The nearest legal end.
        cut: usize,
    },
    /// REFUSE with relief.
    #[error("{start}..{target} is open and the context is critical; {start}..{cut} is offered as relief.")]
    Relief {
        /// Start of the span.
        start: usize,
        /// Wanted end.
        target: usize,
        /// End of what is offered.
        cut: usize,
    },
    /// DEFER.
    #[error("{start}..{target} is open; walked back {target} to {cut}.")]
    WalkedBack {
        /// Start of the span.
        start: usize,
        /// Wanted end.
        target: usize,
        /// End of the older closed span.
        cut: usize,
    },
    /// REFUSE.
    #[error("{start}..{target} holds nothing to compact.")]
    Empty {
        /// Start of the span.
        start: usize,
        /// Wanted end.
        target: usize,
    },
    /// REFUSE.
    #[error("{start}..{target} is open and nothing older is closed and large enough.")]
    Open {
        /// Start of the span.
        start: usize,
        /// Wanted end.
        target: usize,
    },
}

impl Because {
    /// The same with other numbers for the same positions.
    #[must_use]
    pub fn renumbered(self, back: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::BelowTrigger | Self::AllIsKept => self,
            Self::Closed { cut } => Self::Closed { cut: back(cut) },
            Self::TooLittle { cut } => Self::TooLittle { cut: back(cut) },
            Self::Relief { start, target, cut } => {
                Self::Relief { start: back(start), target: back(target), cut: back(cut) }
            }
            Self::WalkedBack { start, target, cut } => {
                Self::WalkedBack { start: back(start), target: back(target), cut: back(cut) }
            }
            Self::Empty { start, target } => Self::Empty { start: back(start), target: back(target) },
            Self::Open { start, target } => Self::Open { start: back(start), target: back(target) },
        }
    }
}
