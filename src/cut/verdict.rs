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
    /// One sentence for people, without ids.
    pub because: String,
}

impl Decision {
    /// Says why in the numbering that the fields have now. The sentences of a NO-OP hold no number and stay.
    pub(crate) fn say(&mut self) {
        let (start, target) = (self.start, self.target);
        self.because = match (self.verdict, self.cut, self.relief) {
            (Verdict::NoOp, ..) => return,
            (Verdict::Compact, Some(cut), _) => format!("Everything before {cut} is closed."),
            (_, Some(cut), _) => format!("{start}..{target} is open; walked back {target} to {cut}."),
            (_, None, Some(relief)) => {
                let cut = relief.cut;
                format!("{start}..{target} is open and the context is critical; {start}..{cut} is offered as relief.")
            }
            (_, None, None) if target <= start => format!("{start}..{target} holds nothing to compact."),
            (_, None, None) => format!("{start}..{target} is open and nothing older is closed and large enough."),
        };
    }
}
