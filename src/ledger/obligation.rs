use super::{Carried, Ledger, fold::Entry};
use crate::model::{Flags, Kind, Sym, TaskKind};

/// What is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObligationKind {
    /// A tool call without a terminal resolution.
    Call,
    /// An approval request without an answer.
    Approval,
    /// A transaction without commit or rollback.
    Transaction,
    /// A retry counter above zero.
    Retry,
    /// A background task.
    Task,
    /// A process session that outlived its call.
    Session,
    /// A sub-agent that has not reported.
    Subagent,
    /// Records that live or die together and are not owed themselves (only ever a blocker).
    Unit,
}

impl ObligationKind {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Approval => "approval",
            Self::Transaction => "transaction",
            Self::Retry => "retry",
            Self::Task => "task",
            Self::Session => "session",
            Self::Subagent => "subagent",
            Self::Unit => "unit",
        }
    }

    /// Short name for a column of 5.
    pub fn short(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Approval => "appr",
            Self::Transaction => "txn",
            Self::Retry => "retry",
            Self::Task => "task",
            Self::Session => "sess",
            Self::Subagent => "agent",
            Self::Unit => "unit",
        }
    }

    /// A count with its noun: `1 call`, `2 calls`.
    pub fn counted(self, n: usize) -> String {
        let noun = match self {
            Self::Call => "call",
            Self::Approval => "approval",
            Self::Transaction => "transaction",
            Self::Retry => "retry",
            Self::Task => "background task",
            Self::Session => "live session",
            Self::Subagent => "sub-agent",
            Self::Unit => "closed unit",
        };
        let plural = if self == Self::Retry { "retries".to_string() } else { format!("{noun}s") };
        if n == 1 { format!("1 {noun}") } else { format!("{n} {plural}") }
    }
}

/// State of a call as people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallState {
    /// The newest response asked for it; nothing came back yet.
    InFlight,
    /// A person has to answer.
    Waiting,
    /// The session ended on purpose with the call open.
    Deferred,
    /// Answered.
    Result,
    /// Answered with a failure.
    Error,
    /// Given up: by an operator or by the runtime's own placeholder.
    Abandoned,
    /// Cut off while it ran: outcome unknown.
    Interrupted,
    /// In a response that the runtime discarded.
    Void,
    /// The runtime answers it in memory only.
    ImplicitlyAbandoned,
    /// Answered after another response had begun.
    LateResult,
    /// A later response went on without it.
    Lost,
    /// A transaction or retry that is open, a task that lives on.
    Open,
    /// Ended, but the agent was not told.
    Undelivered,
    /// Nothing says that it runs, nothing says that it ended.
    Uncertain,
}

impl CallState {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::InFlight => "in-flight",
            Self::Waiting => "waiting",
            Self::Deferred => "deferred",
            Self::Result => "result",
            Self::Error => "error",
            Self::Abandoned => "abandoned",
            Self::Interrupted => "interrupted",
            Self::Void => "void",
            Self::ImplicitlyAbandoned => "implicitly-abandoned",
            Self::LateResult => "late-result",
            Self::Lost => "lost",
            Self::Open => "open",
            Self::Undelivered => "undelivered",
            Self::Uncertain => "uncertain",
        }
    }

    /// Why it is open, for a column.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::InFlight => "no result yet",
            Self::Waiting => "waits for a person",
            Self::Deferred => "deferred on purpose",
            Self::Result => "answered",
            Self::Error => "failed",
            Self::Abandoned => "abandoned",
            Self::Interrupted => "interrupted, outcome unknown",
            Self::Void => "discarded by the runtime",
            Self::ImplicitlyAbandoned => "answered in memory only",
            Self::LateResult => "answered late",
            Self::Lost => "the agent went on without it",
            Self::Open => "not ended",
            Self::Undelivered => "ended, agent not told",
            Self::Uncertain => "may still be running",
        }
    }
}

/// What resolves a blocker. A refusal that names none is a defect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Remedy {
    /// Let the agent take one more step.
    Wait,
    /// Wait, or force it to `abandoned`.
    WaitOrAbandon,
    /// Force it to `abandoned`.
    Abandon,
    /// Answer the request, or force it to `abandoned`.
    Answer,
    /// Commit or roll back the transaction.
    Close,
    /// Let the retry settle, or reset it.
    Reset,
    /// Cut before or after the unit.
    MoveCut,
    /// Nothing to do: it does not block; its handle goes into the summary's ledger.
    Carry,
}

impl Remedy {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait one step",
            Self::WaitOrAbandon => "wait or abandon",
            Self::Abandon => "abandon",
            Self::Answer => "answer or abandon",
            Self::Close => "close",
            Self::Reset => "reset",
            Self::MoveCut => "move the cut",
            Self::Carry => "carry",
        }
    }
}

impl ObligationKind {
    /// It lives on after its launch was answered: a task, a session, a sub-agent.
    pub fn is_carried(self) -> bool {
        matches!(self, Self::Task | Self::Session | Self::Subagent)
    }
}

/// Something owed at some place of the effective context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Obligation {
    /// What is owed.
    pub kind: ObligationKind,
    /// Position of the record that opened it: its identity.
    pub at: usize,
    /// The agent's own id.
    pub id: Option<Sym>,
    /// Its state.
    pub state: CallState,
    /// It forbids every cut after [`Obligation::at`].
    pub blocking: bool,
    /// What resolves it.
    pub remedy: Remedy,
}

/// The obligation that a carried task is; `blocking` where the operator's rules let it forbid a cut.
pub(crate) fn task_obligation(task: &Carried, blocking: bool) -> Obligation {
    let kind = match task.kind {
        TaskKind::Task => ObligationKind::Task,
        TaskKind::Session => ObligationKind::Session,
        TaskKind::Subagent => ObligationKind::Subagent,
    };
    let state = match task {
        task if task.undelivered => CallState::Undelivered,
        task if task.uncertain => CallState::Uncertain,
        _ => CallState::Open,
    };
    let remedy = if blocking { Remedy::WaitOrAbandon } else { Remedy::Carry };
    Obligation { kind, at: task.at as usize, id: Some(task.id), state, blocking, remedy }
}

impl Ledger {
    /// State of the call at `position`; `None` if no call stands there.
    pub fn call_state(&self, position: usize) -> Option<CallState> {
        let entry = self.entries.get(position).filter(|entry| entry.kind == Kind::Call)?;
        if entry.flags.has(Flags::VOID) {
            return Some(CallState::Void);
        }
        let Some(answer) = self.partner(position) else {
            return Some(self.open_state(position, entry));
        };
        let resolution = self.entries.get(answer)?;
        let unknown = resolution.flags.has(Flags::UNKNOWN_OUTCOME);
        Some(match resolution.kind {
            Kind::Abandoned if resolution.flags.has(Flags::SYNTHETIC) => CallState::ImplicitlyAbandoned,
            Kind::Abandoned => CallState::Abandoned,
            _ if unknown => CallState::Interrupted,
            _ if self.is_late(answer) => CallState::LateResult,
            Kind::Error => CallState::Error,
            _ => CallState::Result,
        })
    }

    fn open_state(&self, position: usize, entry: &Entry) -> CallState {
        let here = u32::try_from(position).unwrap_or(u32::MAX);
        if self.deferred.contains(&here) {
            CallState::Deferred
        } else if self.overtaken(position) {
            CallState::Lost
        } else if entry.flags.has(Flags::ASKS_PERSON) {
            CallState::Waiting
        } else {
            CallState::InFlight
        }
    }

    /// Everything owed now: blocking ones by position, then the carried ones.
    pub fn obligations(&self, ids: impl Fn(usize) -> Option<Sym>) -> Vec<Obligation> {
        let mut out: Vec<Obligation> = self.pending().filter_map(|at| self.pending_obligation(at, ids(at))).collect();
        for bracket in self.open_brackets() {
            let (kind, remedy) = if bracket.kind == Kind::Retry {
                (ObligationKind::Retry, Remedy::Reset)
            } else {
                (ObligationKind::Transaction, Remedy::Close)
            };
            let (id, at) = (bracket.id, bracket.open_at(self.len()).unwrap_or(bracket.first()));
            out.push(Obligation { kind, at, id, state: CallState::Open, blocking: true, remedy });
        }
        out.sort_by_key(|obligation| obligation.at);
        out.extend(self.carried.iter().map(|task| task_obligation(task, false)));
        out
    }

    fn pending_obligation(&self, at: usize, id: Option<Sym>) -> Option<Obligation> {
        if self.kind(at)? == Kind::ApprovalRequest {
            let (kind, state) = (ObligationKind::Approval, CallState::Waiting);
            return Some(Obligation { kind, at, id, state, blocking: true, remedy: Remedy::Answer });
        }
        let state = self.call_state(at)?;
        let remedy = match state {
            CallState::Waiting => Remedy::Answer,
            CallState::InFlight => Remedy::WaitOrAbandon,
            _ => Remedy::Abandon,
        };
        Some(Obligation { kind: ObligationKind::Call, at, id, state, blocking: true, remedy })
    }
}
