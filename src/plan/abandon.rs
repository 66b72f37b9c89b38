use crate::{
    ledger::Ledger,
    model::{Context, Flags, Kind, Log, Record},
};

/// An operator's decision to give up an open call: outcome unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abandonment {
    /// The agent's id.
    pub id: String,
    /// Position of the call, if the id is not enough.
    pub instance: Option<usize>,
    /// Why, in the operator's words.
    pub reason: String,
}

impl std::str::FromStr for Abandonment {
    type Err = String;

    /// `ID[@INSTANCE]=REASON`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is not of the form ID[@INSTANCE]=REASON");
        let (call, reason) = text.split_once('=').ok_or_else(wrong)?;
        if call.is_empty() || reason.trim().is_empty() {
            return Err(wrong());
        }
        let (id, instance) = match call.rsplit_once('@') {
            Some((id, position)) => (id, Some(position.parse().ok().ok_or_else(wrong)?)),
            None => (call, None),
        };
        Ok(Self { id: id.to_string(), instance, reason: reason.to_string() })
    }
}

/// Where the abandonment of the call at `position` is written: directly after the results of its response, whatever
/// the time. Appended at the end of a log it would legalise nothing.
pub(super) fn place(ledger: &Ledger, position: usize) -> usize {
    let run = ledger.response_start(position);
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
    at
}

/// `context` with each call at `calls` abandoned at its place. Also the positions, in the new context, of what was
/// put in, ascending.
pub(super) fn with_abandoned(context: &Context, log: &Log, ledger: &Ledger, calls: &[usize]) -> (Context, Vec<usize>) {
    let mut places: Vec<(usize, usize)> = calls.iter().map(|call| (place(ledger, *call), *call)).collect();
    places.sort_unstable();
    let mut out = context.clone();
    let mut put = Vec::new();
    for (n, (at, call)) in places.into_iter().enumerate() {
        let Some(open) = context.get(log, call) else { continue };
        let mut record = Record::new(Kind::Abandoned);
        record.id = open.id;
        record.class = open.class;
        record.lane = open.lane;
        record.tokens = 40;
        record.flags = Flags::UNKNOWN_OUTCOME;
        out.insert(at + n, record);
        put.push(at + n);
    }
    (out, put)
}
