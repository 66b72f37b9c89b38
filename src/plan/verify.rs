//! Reads the new file back and holds it against the plan. Nothing is taken from the writer's word but where it says
//! that each record comes from.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Check, Outcome, Payload, Plan, Session,
    settle::{self, Put, Settled},
};
use crate::{
    format::{Act, Forked, Origin, json::Raw},
    ledger::{Ledger, ObligationKind},
    model::{Body, Flags, Kind, Record},
};

/// The old side.
pub(super) struct Old<'a> {
    pub(super) session: &'a Session,
    pub(super) payload: &'a dyn Payload,
    pub(super) plan: &'a Plan,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// A record by what it is, not by where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    Old(usize),
    Settled(usize),
}

/// Where each record of the new context comes from.
pub(super) struct Placed {
    /// By position in the new context.
    pub(super) by_position: Vec<(usize, Origin)>,
    /// Records that were to be written and are not found, and those that are found and were not to be written.
    missing: usize,
    strange: usize,
}

impl Placed {
    /// By line and place in the line, so that the format's own rule of order is no part of it.
    pub(super) fn of(forked: &Forked, after: &Session) -> Self {
        let place = |record: &Record| {
            let line = if forked.document { 1 } else { record.line };
            (line, record.offset + u64::from(record.at))
        };
        let mut found: Vec<((u32, u64), usize)> =
            after.written().filter_map(|at| after.record(at).map(|record| (place(record), at))).collect();
        found.sort_unstable();
        let mut out = Self { by_position: Vec::with_capacity(found.len()), missing: 0, strange: 0 };
        let mut found = found.into_iter().peekable();
        for (line, origins) in (1u32..).zip(&forked.lines) {
            let mut origins = origins.iter();
            while let Some((_, at)) = found.next_if(|((of, _), _)| *of == line) {
                match origins.next() {
                    Some(origin) => out.by_position.push((at, *origin)),
                    None => out.strange += 1,
                }
            }
            out.missing += origins.count();
        }
        out.strange += found.count();
        out.by_position.sort_unstable_by_key(|(at, _)| *at);
        out
    }
}

/// Every structural check of `bytes`, which `after` was read from.
pub(super) fn checks(old: &Old<'_>, forked: &Forked, bytes: &[u8], after: &Session, placed: &Placed) -> Vec<Check> {
    let mut checks = vec![read_back(old, after, placed), records(old, after, placed), coverage(old, forked)];
    checks.push(verbatim(old, forked, after, placed, bytes));
    let places: FxHashMap<usize, Place> = placed
        .by_position
        .iter()
        .filter_map(|(at, origin)| match origin {
            Origin::Kept(position) => Some((*at, Place::Old(*position))),
            Origin::Settled(n) => Some((*at, Place::Settled(*n))),
            _ => None,
        })
        .collect();
    let Settled { ledger, put, .. } = settle::settled(old.session, &old.plan.settled);
    let here = Renumbered { put };
    checks.push(pending(old, &ledger, &here, after, &places));
    checks.push(pairing(old, &ledger, &here, after, &places));
    checks.push(carried(old, &ledger, &here, after, &places));
    checks.push(summaries(old, placed, after));
    checks
}

/// Numbers of a context into which settlements were put, back to those without.
struct Renumbered {
    put: Put,
}

impl Renumbered {
    fn of(&self, at: usize) -> Place {
        self.put.at(at).map_or_else(|| Place::Old(self.put.unshifted(at)), Place::Settled)
    }
}

/// The only damage in the new file is what was kept of the old one's.
fn read_back(old: &Old<'_>, after: &Session, placed: &Placed) -> Check {
    let log = after.log();
    let kept = placed.by_position.iter().filter(|(_, origin)| match origin {
        Origin::Kept(at) => old.session.record(*at).is_some_and(|record| record.kind == Kind::Opaque),
        _ => false,
    });
    let bad = log.damaged as usize > kept.count() || !after.partial().is_empty() || after.is_torn();
    let failed = bad.then(|| "A fresh reader finds damage in the new file that the source does not have.".to_string());
    Check::of("read-back", failed, format!("A fresh reader understands the {} lines of the new file.", log.lines))
}

/// The new context is exactly what the writer says it is, in the old order, with the summary where the span was.
fn records(old: &Old<'_>, after: &Session, placed: &Placed) -> Check {
    let mut failed = (placed.missing + placed.strange > 0)
        .then(|| format!("{} records would be missing, {} were not planned.", placed.missing, placed.strange));
    let mut newest = None;
    for (at, origin) in &placed.by_position {
        let Some(record) = after.record(*at) else { continue };
        let same = match origin {
            Origin::Kept(position) => {
                let rises = newest.is_none_or(|newest| newest < *position);
                newest = newest.max(Some(*position));
                rises && is_alike(old, *position, after, record)
            }
            Origin::Repeated(position) => is_alike(old, *position, after, record),
            Origin::Summary => record.kind == Kind::Summary && newest.is_none_or(|newest| newest < old.from),
            Origin::Settled(n) => old.plan.settled.get(*n).is_some_and(|wish| {
                // The end of a task is told by a message, which has no id of its own.
                wish.act == Act::DeclareDead || after.name(record.id) == wish.id
            }),
        };
        if !same && failed.is_none() {
            failed =
                Some(format!("Record {at} of the new file is not what was planned there ({}).", record.kind.name()));
        }
    }
    let n = placed.by_position.len();
    Check::of("records-as-planned", failed, format!("{n} records, each where it was planned."))
}

fn is_alike(old: &Old<'_>, position: usize, after: &Session, now: &Record) -> bool {
    old.session.record(position).is_some_and(|before| alike(old.session, before, after, now))
}

/// Whether a result is a failure may stand on a line that no model reads, and that is not written again.
fn alike(old: &Session, before: &Record, new: &Session, now: &Record) -> bool {
    let kind = |kind: Kind| if kind == Kind::Error { Kind::Result } else { kind };
    let same = |flag: Flags| before.flags.has(flag) == now.flags.has(flag);
    kind(before.kind) == kind(now.kind)
        && old.name(before.id) == new.name(now.id)
        && (before.flags.has(Flags::SYNTHETIC) || old.name(before.tool) == new.name(now.tool))
        && [Flags::VOID, Flags::HUMAN, Flags::META, Flags::SERVER, Flags::UNKNOWN_OUTCOME].into_iter().all(same)
}

/// Each old record is kept, summarised or put in anew by the runtime, and none is twice.
fn coverage(old: &Old<'_>, forked: &Forked) -> Check {
    let len = old.session.context().len();
    let mut seen = vec![0u32; len];
    let kept = forked.lines.iter().flatten().filter_map(|origin| match origin {
        Origin::Kept(at) => Some(*at),
        _ => None,
    });
    let renewed = forked.renewed.iter().copied();
    let invented = (0..len).filter(|at| old.session.context().slots().get(*at).is_some_and(|slot| slot.id().is_none()));
    let outside: Vec<usize> = invented.filter(|at| *at < old.from || *at >= old.to).collect();
    let kept: FxHashSet<usize> = kept.collect();
    // What the runtime invented may be written down.
    let outside = outside.into_iter().filter(|at| !kept.contains(at));
    let twice = forked.lines.iter().flatten().filter(|origin| matches!(origin, Origin::Kept(_))).count() > kept.len();
    for at in (old.from..old.to).chain(kept.iter().copied()).chain(renewed).chain(outside) {
        if let Some(count) = seen.get_mut(at) {
            *count += 1;
        }
    }
    let wrong = seen.iter().position(|count| *count != 1).or(twice.then_some(0));
    let failed =
        wrong.map(|at| format!("Record {at} would be {}.", if seen.get(at) == Some(&0) { "lost" } else { "twice" }));
    let summarised = old.to - old.from;
    let renewed = forked.renewed.len();
    let renewed = if renewed > 0 { format!(", {renewed} put in anew by the runtime") } else { String::new() };
    let kept = forked.lines.iter().flatten().filter(|origin| matches!(origin, Origin::Kept(_))).count();
    Check::of(
        "coverage",
        failed,
        format!("{summarised} records summarised, {kept} kept{renewed}; none lost, none twice."),
    )
}

/// What is kept is kept byte for byte.
fn verbatim(old: &Old<'_>, forked: &Forked, after: &Session, placed: &Placed, bytes: &[u8]) -> Check {
    let mut failed = None;
    let mut kept = 0;
    for (at, origin) in &placed.by_position {
        let (Origin::Kept(position) | Origin::Repeated(position)) = origin else { continue };
        let (Some(before), Some(now)) = (old.session.record(*position), after.record(*at)) else { continue };
        kept += 1;
        if forked.converted {
            let said = |body: Option<Body>| body.map(|body| (body.input.as_deref().map(flat), body.text));
            if said(old.session.body(*position, old.payload)) != said(after.body(*at, &bytes)) {
                failed.get_or_insert_with(|| format!("The words of record {position} would not be kept."));
            }
            continue;
        }
        // Nothing stands in the source for what the runtime invented.
        if before.flags.has(Flags::SYNTHETIC) {
            continue;
        }
        let was = old.payload.read(before.segment, before.offset + u64::from(before.at), before.len);
        let is = Payload::read(bytes, 0, now.offset + u64::from(now.at), now.len);
        // A format may keep the end of a call inside the call: giving it up changes its state, and nothing else.
        let given_up = old.plan.settled.iter().any(|wish| wish.at == *position);
        let input = |body: Option<Body>| body.and_then(|body| body.input);
        let own = |session: &Session, at: usize, payload: &dyn Payload| input(session.body(at, payload));
        let stated = given_up && own(old.session, *position, old.payload) == own(after, *at, &bytes);
        let mut envelope = forked.envelope.to_vec();
        envelope.extend(stated.then_some("state"));
        let same = was.zip(is).is_some_and(|(was, is)| was == is || is_same_inside(&was, &is, &envelope));
        if !same {
            failed.get_or_insert_with(|| format!("Record {position} would not be kept byte for byte."));
        }
    }
    let how = if forked.converted {
        "say word for word what the source says"
    } else {
        "are byte for byte those of the source"
    };
    Check::of("kept-verbatim", failed, format!("{kept} kept records {how}."))
}

/// White space between the values of an input is none of its words.
fn flat(input: &str) -> String {
    input.replace(['\n', '\r'], " ")
}

/// The same fields with the same bytes, but for those of `envelope`: some records are a whole line.
fn is_same_inside(was: &[u8], is: &[u8], envelope: &[&str]) -> bool {
    let (Ok(was), Ok(is)) = (Raw::parse(was), Raw::parse(is)) else { return false };
    let inside = |value: Raw<'_>| -> Vec<(String, Vec<u8>)> {
        let fields = value.fields().map(|(key, value)| (key.str().into_owned(), value.bytes().to_vec()));
        fields.filter(|(key, _)| !envelope.contains(&key.as_str())).collect()
    };
    was.is_object() && is.is_object() && inside(was) == inside(is)
}

/// What is owed stays owed, as instances; nothing else is.
fn pending(
    old: &Old<'_>,
    ledger: &Ledger,
    here: &Renumbered,
    after: &Session,
    places: &FxHashMap<usize, Place>,
) -> Check {
    type Owed = (ObligationKind, Place);
    let before: FxHashSet<Owed> = ledger
        .obligations(|_| None)
        .iter()
        .filter(|owed| owed.blocking)
        .map(|owed| (owed.kind, here.of(owed.at)))
        .collect();
    let mut strange = 0;
    let now: FxHashSet<Owed> = after
        .obligations()
        .iter()
        .filter(|owed| owed.blocking)
        .filter_map(|owed| {
            let place = places.get(&owed.at).copied();
            strange += usize::from(place.is_none());
            Some((owed.kind, place?))
        })
        .collect();
    let lost: Vec<_> = before.difference(&now).collect();
    let new = now.difference(&before).count() + strange;
    let failed = (!lost.is_empty() || new > 0).then(|| {
        let named = lost.iter().take(3).map(|(kind, place)| match place {
            Place::Old(at) => {
                let id = old.session.name(old.session.id_at(*at));
                format!(" {} #{at} {id}", kind.name())
            }
            Place::Settled(n) => format!(" {} (settlement {n})", kind.name()),
        });
        let named: Vec<String> = named.collect();
        let named = if named.is_empty() { String::new() } else { format!(":{}", named.join(",")) };
        let new = if new > 0 { format!("; {new} would be new") } else { String::new() };
        format!("{} of what is open would be lost{named}{new}.", lost.len())
    });
    Check::of("pending-set-equal", failed, format!("{} open before and after, the same ones.", before.len()))
}

/// Kept calls keep their own results; no result loses its call.
fn pairing(
    old: &Old<'_>,
    ledger: &Ledger,
    here: &Renumbered,
    after: &Session,
    places: &FxHashMap<usize, Place>,
) -> Check {
    let new = after.ledger();
    let strangers = |list: Vec<usize>, known: &dyn Fn(usize) -> bool| {
        list.into_iter().find(|at| places.get(at).is_some_and(|_| !known(*at)))
    };
    let old_of = |at: usize| match places.get(&at) {
        Some(Place::Old(position)) => Some(*position),
        _ => None,
    };
    let orphans: FxHashSet<Place> = ledger.orphans().iter().map(|at| here.of(*at as usize)).collect();
    let doubles: FxHashSet<Place> = ledger.duplicates().iter().map(|(at, _)| here.of(*at as usize)).collect();
    let place = |at: usize| places.get(&at).copied();
    let orphan = strangers(new.orphans().iter().map(|at| *at as usize).collect(), &|at| {
        place(at).is_some_and(|place| orphans.contains(&place))
    });
    let double = strangers(new.duplicates().iter().map(|(at, _)| *at as usize).collect(), &|at| {
        place(at).is_some_and(|place| doubles.contains(&place))
    });
    // A partner that the runtime invents is one wherever it stands.
    let invented = |place: Place| match place {
        Place::Old(at) => old.session.record(at).is_some_and(|record| record.flags.has(Flags::SYNTHETIC)),
        Place::Settled(_) => false,
    };
    let told = |place: Place| (!invented(place)).then_some(place);
    let mut partner: FxHashMap<Place, Option<Place>> = FxHashMap::default();
    for at in 0..ledger.len() {
        if let Some(other) = ledger.partner(at) {
            partner.insert(here.of(at), told(here.of(other)));
        }
    }
    let parted = places.iter().find(|(at, place)| {
        let now = new.partner(**at).map(|other| places.get(&other).copied().and_then(told));
        !invented(**place) && partner.get(place).copied() != now
    });
    let failed = if let Some(at) = orphan {
        Some(format!("Result {} would lose its call.", old_of(at).unwrap_or(at)))
    } else if let Some(at) = double {
        Some(format!("Result {} would answer a call twice.", old_of(at).unwrap_or(at)))
    } else {
        parted.map(|(at, _)| format!("Record {} would be paired with another record.", old_of(*at).unwrap_or(*at)))
    };
    Check::of("pairing", failed, "Every kept call keeps its own result; no result is orphaned or doubled.")
}

/// What lives on behind the span lives on; what was launched inside it stands in the ledger of the summary.
fn carried(
    old: &Old<'_>,
    ledger: &Ledger,
    here: &Renumbered,
    after: &Session,
    places: &FxHashMap<usize, Place>,
) -> Check {
    let now: FxHashSet<Place> =
        after.ledger().carried().iter().filter_map(|task| places.get(&(task.at as usize)).copied()).collect();
    let inside = |place: &Place| matches!(place, Place::Old(at) if (old.from..old.to).contains(at));
    let mut summarised = 0;
    let mut failed = None;
    for task in ledger.carried().iter() {
        let place = here.of(task.at as usize);
        if inside(&place) {
            summarised += 1;
        } else if !now.contains(&place) {
            let id = old.session.log().syms.name(task.id);
            failed.get_or_insert_with(|| format!("{id} lives on, but the new file would not say so."));
        }
    }
    let outcome = if failed.is_some() { Outcome::Failed } else { Outcome::Passed };
    let kept = ledger.carried().len() - summarised;
    let text = failed.unwrap_or_else(|| {
        format!("{kept} that live on behind the cut are still known; {summarised} stand in the ledger of the summary.")
    });
    Check::new("carried", outcome, text)
}

fn summaries(old: &Old<'_>, placed: &Placed, after: &Session) -> Check {
    let wanted = placed.by_position.iter().filter(|(_, origin)| match origin {
        Origin::Summary => true,
        Origin::Kept(at) => old.session.record(*at).is_some_and(|record| record.kind == Kind::Summary),
        _ => false,
    });
    let wanted = wanted.count();
    let found =
        after.written().filter(|at| after.record(*at).is_some_and(|record| record.kind == Kind::Summary)).count();
    let cut = old.from < old.to;
    let failed = (found != wanted || (cut && found != 1))
        .then(|| format!("The new context would hold {found} summaries: start the span at or before the earlier one."));
    Check::of("one-summary", failed, if cut { "Exactly one summary, marked as machine-made." } else { "No summary." })
}
