use super::{PlanError, Session};
use crate::{
    cut::{Rules, legal_ends},
    format::{Act, Settle},
    ledger::{Ledger, Obligation, ObligationKind},
    model::{Context, Event, Flags, Kind, Record},
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
    let open = session.obligations();
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

fn find<'a>(session: &Session, open: &'a [Obligation], wish: &Abandonment) -> Result<&'a Obligation, PlanError> {
    let missing = || PlanError::NoSuchCall(wish.id.clone());
    let sym = session.log().syms.find(&wish.id).ok_or_else(missing)?;
    let mut named =
        open.iter().filter(|owed| owed.id == Some(sym) && wish.instance.is_none_or(|instance| instance == owed.at));
    let first = named.next().ok_or_else(missing)?;
    match named.count() {
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

/// The place of the old `position` among what was put in.
pub(super) fn shifted(position: usize, put: &[usize]) -> usize {
    put.iter().fold(position, |at, inserted| at + usize::from(*inserted <= at))
}

/// The old place of `position`.
pub(super) fn unshifted(position: usize, put: &[usize]) -> usize {
    position - put.iter().filter(|inserted| **inserted < position).count()
}

/// Ends of a span from `start` on that are legal once everything of `settle` is settled, ascending. Positions are
/// those of the context before anything is put in.
pub fn legal_cuts_settled(session: &Session, settle: &[Settle], start: usize) -> Vec<usize> {
    let (context, ledger, put) = settled(session, settle);
    let legal = legal_ends(&ledger, shifted(start, &put), Rules::default());
    let is_legal = |cut: &usize| legal.get(shifted(*cut, &put)).copied().unwrap_or(false);
    (start + 1..=context.len() - put.len()).filter(is_legal).collect()
}

/// The context and its ledger with everything of `settle` settled at its place. Also the positions, in the new
/// context, of what was put in, ascending.
pub(super) fn settled(session: &Session, settle: &[Settle]) -> (Context, Ledger, Vec<usize>) {
    let (context, log) = (session.context(), session.log());
    let mut out = context.clone();
    let mut put = Vec::new();
    for (n, wish) in settle.iter().enumerate() {
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
        out.insert(wish.place + n, record);
        put.push(wish.place + n);
    }
    let mut ledger = Ledger::of(log, &out, out.len());
    for wish in settle.iter().filter(|wish| wish.act == Act::DeclareDead) {
        if let Some(id) = log.syms.find(&wish.id) {
            ledger.apply(Event::TaskEnded { id, delivered: true });
        }
    }
    (out, ledger, put)
}
