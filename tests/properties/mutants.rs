//! Cut algorithms that exist in public and are wrong. Each must be told from the right one by some log.

use cutline::model::{Flags, Kind};

use super::brute::Log;

/// A selector: may one cut here?
pub(crate) type Selector = fn(&Log, usize) -> bool;

/// Logs on which the wrong ones go wrong.
pub(crate) const LOGS: &[&str] = &[
    "U C1 R1 A U",
    "U C1 U R1 A U",
    "C1+C2 R1 R2 A U",
    "C1+C2 R2 A R1 A",
    "C1 R1 C2 R1 A",
    "C1 C1 R1 A",
    "C1 R1 A U r1:C2 R2 A U",
    "r1:C1 R1 A U r1:C2 R2 A",
    "r1:C1 R1 r1:C2 R2 A",
    "U R1 C1 A",
    "C1 A U C2 R2 X1 A",
    "C1 R1",
    "U C1 R1 U",
    "B+1 C1 R1 A B-1",
    "U !C1 A U",
];

/// Name and selector of each.
pub(crate) const ALL: &[(&str, Selector)] = &[
    ("cut anywhere", |_, _| true),
    ("role of the cut record is not tool", |log, cut| {
        log.records.get(cut).is_none_or(|record| !record.kind.is_resolution())
    }),
    ("any id overlap counts as the whole group", |log, cut| {
        let ids = |range: &mut dyn Iterator<Item = usize>, call: bool| -> Vec<_> {
            range
                .filter(
                    |at| if call { log.records[*at].kind == Kind::Call } else { log.records[*at].kind.is_resolution() },
                )
                .map(|at| log.records[at].id)
                .collect()
        };
        let calls = ids(&mut (0..cut), true);
        let results = ids(&mut (0..cut), false);
        calls.is_empty() || calls.iter().any(|id| results.contains(id))
    }),
    ("even count", |log, cut| {
        let calls = log.records[..cut].iter().filter(|r| r.kind == Kind::Call).count();
        let results = log.records[..cut].iter().filter(|r| r.kind.is_resolution()).count();
        calls == results
    }),
    ("drop leading results only", |log, cut| {
        let tail: Vec<_> = log.records[cut..].iter().skip_while(|r| r.kind.is_resolution()).collect();
        tail.first().is_none_or(|r| !r.kind.is_resolution())
    }),
    ("id sets instead of order", |log, cut| {
        let has = |range: &[cutline::model::Record], id| range.iter().any(|r| r.kind.is_resolution() && r.id == id);
        log.records[..cut].iter().filter(|r| r.kind == Kind::Call).all(|r| has(&log.records[..cut], r.id))
    }),
    ("group by response id without contiguity", |log, cut| {
        let split = log.records[..cut].iter().filter(|r| r.kind.is_response_part()).any(|r| {
            log.records[cut..].iter().any(|other| other.kind.is_response_part() && other.response == r.response)
        });
        !split && log.is_legal(0, cut, true)
    }),
    ("abandonment counts wherever it stands", |log, cut| {
        let given_up = |id| log.records.iter().any(|r| r.kind == Kind::Abandoned && r.id == id);
        let others = log.pending_at(cut).into_iter().filter(|at| !given_up(log.records[*at].id)).count();
        others == 0
            && log.orphaned_by(cut).iter().all(|at| log.records[*at].kind == Kind::Abandoned)
            && cut <= log.live_from()
    }),
    ("unread ignored", |log, cut| log.pending_at(cut).is_empty() && log.orphaned_by(cut).is_empty()),
    ("void calls owed", |log, cut| {
        let void = log.records[..cut].iter().any(|r| r.kind == Kind::Call && r.flags.has(Flags::VOID));
        !void && log.is_legal(0, cut, true)
    }),
    ("transactions ignored", |log, cut| {
        log.pending_at(cut).is_empty() && log.orphaned_by(cut).is_empty() && cut <= log.live_from()
    }),
];
