//! Rows of the ledger: what they hold, how each is written on one line, and how it is read back. Everything that the
//! transcript has a say in stands in a JSON string, so that no value can end its row or begin another one.

use serde_json::Value;

use crate::{
    format::Act,
    ledger::{CallState, ObligationKind},
};

/// What became of a side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EffectState {
    /// Answered with success.
    Done,
    /// Answered with a failure.
    Failed,
    /// Not allowed, and not executed.
    Denied,
    /// Given up; whether it took place is not on record.
    Abandoned,
    /// Cut off while it ran; whether it took place is not on record.
    Interrupted,
    /// Not answered.
    Open,
    /// Launched; it goes on after its launch was answered.
    Running,
}

impl EffectState {
    /// Every state.
    pub const ALL: [Self; 7] =
        [Self::Done, Self::Failed, Self::Denied, Self::Abandoned, Self::Interrupted, Self::Open, Self::Running];

    /// Name in the ledger, in requests to a summariser and in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Abandoned => "abandoned",
            Self::Interrupted => "interrupted",
            Self::Open => "open",
            Self::Running => "running",
        }
    }

    /// In words, for people and models.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Denied => "denied, not executed",
            Self::Abandoned => "abandoned, outcome unknown",
            Self::Interrupted => "interrupted, outcome unknown",
            Self::Open => "open, no result",
            Self::Running => "running, not ended",
        }
    }

    /// Whether it took place is on record.
    pub fn is_known(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Denied)
    }
}

/// Something open, anywhere in the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// What is owed.
    pub kind: ObligationKind,
    /// Position of what opened it.
    pub at: usize,
    /// The agent's own id.
    pub id: String,
    /// Tool of the call.
    pub tool: String,
    /// What the call acts on.
    pub target: String,
    /// Its state.
    pub state: CallState,
    /// It lies in the span; else it stands verbatim beside the summary.
    pub inside: bool,
}

/// Something settled by force: its outcome is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// What was done to it.
    pub act: Act,
    /// Position of what was open; 0 of an earlier summary.
    pub at: usize,
    /// The agent's own id.
    pub id: String,
    /// Tool of the call.
    pub tool: String,
    /// What the call acts on.
    pub target: String,
    /// Why, in the operator's words.
    pub reason: String,
    /// Who.
    pub by: String,
    /// It lies in the span: then only the summary tells of it.
    pub inside: bool,
    /// Carried over from an earlier summary.
    pub earlier: bool,
}

/// Equal side effects: same tool, target and state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Tool.
    pub tool: String,
    /// What it acts on.
    pub target: String,
    /// What became of it.
    pub state: EffectState,
    /// How often.
    pub count: usize,
    /// Id of the newest call; may be empty.
    pub id: String,
    /// Position of the newest call; 0 of an earlier summary.
    pub at: usize,
    /// Carried over from an earlier summary.
    pub earlier: bool,
}

/// Side effects that are counted only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rest {
    /// Tool.
    pub tool: String,
    /// What became of them.
    pub state: EffectState,
    /// How many.
    pub count: usize,
}

/// Something launched in the span that lives on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LivesOn {
    /// A task, a session or a sub-agent.
    pub kind: ObligationKind,
    /// The handle by which later work names it.
    pub id: String,
    /// Id of the call that launched it; may be empty.
    pub call: String,
    /// What it is about.
    pub target: String,
    /// Open, undelivered or uncertain.
    pub state: CallState,
    /// Carried over from an earlier summary.
    pub earlier: bool,
}

/// A row that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Open(Open),
    GivenUp(GivenUp),
    Effect(Effect),
    Rest(Rest),
    LivesOn(LivesOn),
}

/// Of everything that a row says to be open or given up: does it stand beside the summary, too?
fn place(inside: bool) -> &'static str {
    if inside { "inside" } else { "outside" }
}

/// What is owed, as a row names it. The counter is not called by its short name: that is a word of command.
pub(super) fn kind_word(kind: ObligationKind) -> &'static str {
    if kind == ObligationKind::Retry { "attempt-counter" } else { kind.name() }
}

fn act_word(act: Act) -> &'static str {
    match act {
        Act::Abandon => "call",
        Act::Deny => "approval",
        Act::Close => "transaction",
        Act::Reset => "attempt-counter",
        Act::DeclareDead => "task",
    }
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

fn origin(earlier: bool) -> &'static str {
    if earlier { " earlier" } else { "" }
}

impl Open {
    pub(super) fn row(&self) -> String {
        let (id, tool, target) = (json(&self.id), json(&self.tool), json(&self.target));
        format!("- open {} {id} {tool} {target} not-done {}", kind_word(self.kind), place(self.inside))
    }
}

impl GivenUp {
    pub(super) fn row(&self) -> String {
        let (id, tool, target) = (json(&self.id), json(&self.tool), json(&self.target));
        let (by, reason) = (json(&self.by), json(&self.reason));
        let (act, place, origin) = (act_word(self.act), place(self.inside), origin(self.earlier));
        format!("- given-up {act} {id} {tool} {target} outcome-UNKNOWN by {by} reason {reason} {place}{origin}")
    }
}

impl Effect {
    pub(super) fn row(&self) -> String {
        let (id, tool, target) = (json(&self.id), json(&self.tool), json(&self.target));
        let (state, count, origin) = (self.state.name(), self.count, origin(self.earlier));
        format!("- effect {state} {tool} {target} times {count} last {id}{origin}")
    }

    /// By what a summariser names it: the id, or the position where there is none.
    pub(super) fn key(&self) -> String {
        if self.id.is_empty() { format!("#{}", self.at) } else { self.id.clone() }
    }
}

impl Rest {
    pub(super) fn row(&self) -> String {
        format!("- further {} {} times {}", self.state.name(), json(&self.tool), self.count)
    }
}

impl LivesOn {
    pub(super) fn row(&self) -> String {
        let (id, call, target) = (json(&self.id), json(&self.call), json(&self.target));
        let (kind, state, origin) = (self.kind.name(), self.state.name(), origin(self.earlier));
        format!("- lives-on {kind} {id} launched-by {call} {target} {state}{origin}")
    }
}

impl Row {
    /// Reads one line; `None` if it is no row.
    pub(super) fn read(line: &str) -> Option<Self> {
        let words = words(line.strip_prefix("- ")?)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["open", kind, id, tool, target, "not-done", place] => Some(Self::Open(Open {
                kind: kind_of(kind)?,
                at: 0,
                id: (*id).to_string(),
                tool: (*tool).to_string(),
                target: (*target).to_string(),
                state: CallState::Lost,
                inside: *place == "inside",
            })),
            ["given-up", act, id, tool, target, "outcome-UNKNOWN", "by", by, "reason", reason, place, ..] => {
                Some(Self::GivenUp(GivenUp {
                    act: act_of(act)?,
                    at: 0,
                    id: (*id).to_string(),
                    tool: (*tool).to_string(),
                    target: (*target).to_string(),
                    reason: (*reason).to_string(),
                    by: (*by).to_string(),
                    inside: *place == "inside",
                    earlier: true,
                }))
            }
            ["effect", state, tool, target, "times", count, "last", id, ..] => Some(Self::Effect(Effect {
                tool: (*tool).to_string(),
                target: (*target).to_string(),
                state: state_of(state)?,
                count: count.parse().ok()?,
                id: (*id).to_string(),
                at: 0,
                earlier: true,
            })),
            ["further", state, tool, "times", count] => Some(Self::Rest(Rest {
                tool: (*tool).to_string(),
                state: state_of(state)?,
                count: count.parse().ok()?,
            })),
            ["lives-on", kind, id, "launched-by", call, target, state, ..] => Some(Self::LivesOn(LivesOn {
                kind: kind_of(kind).filter(|kind| kind.is_carried())?,
                id: (*id).to_string(),
                call: (*call).to_string(),
                target: (*target).to_string(),
                state: [CallState::Open, CallState::Undelivered, CallState::Uncertain]
                    .into_iter()
                    .find(|known| known.name() == *state)?,
                earlier: true,
            })),
            _ => None,
        }
    }
}

fn state_of(name: &str) -> Option<EffectState> {
    EffectState::ALL.into_iter().find(|state| state.name() == name)
}

fn kind_of(name: &str) -> Option<ObligationKind> {
    use ObligationKind::{Approval, Call, Retry, Session, Subagent, Task, Transaction};
    [Call, Approval, Transaction, Retry, Task, Session, Subagent].into_iter().find(|kind| kind_word(*kind) == name)
}

fn act_of(name: &str) -> Option<Act> {
    use Act::{Abandon, Close, DeclareDead, Deny, Reset};
    [Abandon, Deny, Close, Reset, DeclareDead].into_iter().find(|act| act_word(*act) == name)
}

/// Words and JSON strings of `text`, separated by one space.
fn words(text: &str) -> Option<Vec<String>> {
    let mut out = Vec::new();
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        if rest.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            out.push(values.next()?.ok()?);
            let used = values.byte_offset();
            rest = rest.get(used..)?;
        } else {
            let (word, behind) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
            out.push(word.to_string());
            rest = behind;
        }
        match rest.strip_prefix(' ') {
            Some(behind) => rest = behind,
            None if rest.is_empty() => {}
            None => return None,
        }
    }
    Some(out)
}
