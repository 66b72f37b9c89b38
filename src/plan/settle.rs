use rustc_hash::FxHashMap;

use super::{PlanError, Session};
use crate::{
    cut::{Rules, legal_ends},
    format::{Act, Settle},
    ledger::{Ledger, Obligation, ObligationKind},
    model::{Context, Event, Flags, Kind, Record, Sym},
};

/// An operator's decision to give up something open: a call, an approval request, a transaction, a retry counter,
/// something that lives on. Its outcome stays unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Abandonment {
    /// The agent's id.
    pub id: String,
    /// Position of what is open, if the id is not enough.
    pub instance: Option<usize>,
    /// Why, in the operator's words.
    pub reason: String,
    /// What shows it, in the operator's words; goes to the receipt.
    pub evidence: String,
    /// Who.
    pub by: String,
}

impl std::str::FromStr for Abandonment {
    type Err = String;

    /// `ID[@INSTANCE]=REASON`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not of the form ID[@INSTANCE]=REASON");
        let (call, reason) = text.split_once('=').ok_or_else(wrong)?;
        if reason.trim().is_empty() {
            return Err(wrong());
        }
        let (id, instance) = named(call).ok_or_else(wrong)?;
        Ok(Self { id, instance, reason: reason.to_string(), ..Self::default() })
    }
}

/// `ID` or `ID@INSTANCE`.
pub fn named(call: &str) -> Option<(String, Option<usize>)> {
    let (id, instance) = match call.rsplit_once('@') {
        Some((id, position)) => (id, Some(position.parse().ok()?)),
        None => (call, None),
    };
    (!id.is_empty()).then(|| (id.to_string(), instance))
}

/// The obligations of the session that `wishes` name, with their places, ascending.
pub(super) fn settlements(session: &Session, wishes: &[Abandonment]) -> Result<Vec<Settle>, PlanError> {
    if wishes.is_empty() {
        return Ok(Vec::new());
    }
    let mut open: FxHashMap<Sym, Vec<Obligation>> = FxHashMap::default();
    for owed in session.obligations() {
        if let Some(id) = owed.id {
            open.entry(id).or_default().push(owed);
        }
    }
    let mut out = Vec::with_capacity(wishes.len());
    for wish in wishes {
        let found = find(session, &open, wish)?;
        out.push(Settle {
            at: found.at,
            place: place(session, found.at),
            act: act(found.kind),
            id: wish.id.clone(),
            reason: wish.reason.clone(),
            by: wish.by.clone(),
        });
    }
    out.sort_by_key(|settle| (settle.place, settle.at));
    out.dedup_by_key(|settle| (settle.at, settle.act.name(), settle.id.clone()));
    Ok(out)
}

fn find<'a>(
    session: &Session,
    open: &'a FxHashMap<Sym, Vec<Obligation>>,
    wish: &Abandonment,
) -> Result<&'a Obligation, PlanError> {
    let missing = || PlanError::NoSuchCall(wish.id.clone());
    let sym = session.log().syms.find(&wish.id).ok_or_else(missing)?;
    let named = open.get(&sym).ok_or_else(missing)?;
    let mut meant = named.iter().filter(|owed| wish.instance.is_none_or(|instance| instance == owed.at));
    let first = meant.next().ok_or_else(missing)?;
    match meant.count() {
        0 => Ok(first),
        more => Err(PlanError::Ambiguous { id: wish.id.clone(), count: more + 1 }),
    }
}

fn act(kind: ObligationKind) -> Act {
    match kind {
        ObligationKind::Approval => Act::Deny,
        ObligationKind::Transaction => Act::Close,
        ObligationKind::Retry => Act::Reset,
        ObligationKind::Task | ObligationKind::Session | ObligationKind::Subagent => Act::DeclareDead,
        ObligationKind::Call | ObligationKind::Unit => Act::Abandon,
    }
}

/// Where the settlement of what opened at `position` is written: directly after the results of its response, whatever
/// the time. Appended at the end of a log it would legalise nothing.
fn place(session: &Session, position: usize) -> usize {
    let ledger = session.ledger();
    let of = ledger.partner(position).filter(|_| ledger.kind(position).is_some_and(Kind::is_resolution));
    let run = ledger.response_start(of.unwrap_or(position));
    let mut at = position + 1;
    while let Some(kind) = ledger.kind(at) {
        let same = kind.is_response_part() && ledger.response_start(at) == run;
        let call = ledger.partner(at).or_else(|| ledger.duplicate_of(at)).filter(|_| kind.is_resolution());
        let own = call.is_some_and(|call| ledger.response_start(call) == run);
        if !same && !own {
            break;
        }
        at += 1;
    }
    // Nothing comes between the parts of one physical message.
    let message = |at: usize| session.record(at).and_then(|record| record.message);
    while message(at).is_some() && message(at) == message(at - 1) {
        at += 1;
    }
    at
}

/// What was put into a context, for going from the numbers without it to those with it and back.
#[derive(Clone, Debug, Default)]
pub(super) struct Put {
    /// Old positions before which something was put, ascending.
    places: Vec<usize>,
    /// Where it stands now, ascending.
    now: Vec<usize>,
}

impl Put {
    fn push(&mut self, place: usize) {
        self.now.push(place + self.places.len());
        self.places.push(place);
    }

    /// How many things were put in.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The new number of the record, or the cut, at the old `position`: what was put before it stands before it.
    pub(super) fn shifted(&self, position: usize) -> usize {
        position + self.places.partition_point(|place| *place <= position)
    }

    /// The old number of `position`; of something that was put in, that of what it stands before.
    pub(super) fn unshifted(&self, position: usize) -> usize {
        position - self.now.partition_point(|now| *now < position)
    }

    /// Which of the things that were put in stands at `position`.
    pub(super) fn at(&self, position: usize) -> Option<usize> {
        self.now.binary_search(&position).ok()
    }
}

/// Ends of a span from `start` on that are legal once everything of `settle` is settled, ascending. Positions are
/// those of the context before anything is put in.
pub fn legal_cuts_settled(session: &Session, settle: &[Settle], start: usize) -> Vec<usize> {
    let Settled { context, ledger, put } = settled(session, settle);
    let legal = legal_ends(&ledger, put.shifted(start), Rules::default());
    let is_legal = |cut: &usize| legal.get(put.shifted(*cut)).copied().unwrap_or(false);
    (start + 1..=context.len() - put.len()).filter(is_legal).collect()
}

/// A context in which everything is settled.
pub(super) struct Settled {
    pub(super) context: Context,
    pub(super) ledger: Ledger,
    pub(super) put: Put,
}

/// The context of `session` with everything of `settle`, which is ascending by place, settled at its place.
pub(super) fn settled(session: &Session, settle: &[Settle]) -> Settled {
    let (context, log) = (session.context(), session.log());
    let mut put = Put::default();
    let mut records = Vec::with_capacity(settle.len());
    for wish in settle {
        let Some(open) = context.get(log, wish.at) else { continue };
        let kind = match wish.act {
            Act::Abandon => Kind::Abandoned,
            Act::Deny => Kind::Approval,
            Act::Close => Kind::TransactionEnd,
            Act::Reset => Kind::RetrySettled,
            Act::DeclareDead => Kind::TaskEnded,
        };
        let mut record = Record::new(kind);
        record.id = log.syms.find(&wish.id);
        record.class = open.class;
        record.lane = open.lane;
        record.tokens = 60;
        record.flags = Flags::UNKNOWN_OUTCOME;
        records.push((wish.place, record));
        put.push(wish.place);
    }
    let context = context.with(&records);
    let mut ledger = Ledger::of(log, &context, context.len());
    for wish in settle.iter().filter(|wish| wish.act == Act::DeclareDead) {
        if let Some(id) = log.syms.find(&wish.id) {
            ledger.apply(Event::TaskEnded { id, delivered: true });
        }
    }
    Settled { context, ledger, put }
}
