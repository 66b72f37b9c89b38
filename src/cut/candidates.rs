use super::legality::legal_cuts;
use crate::ledger::Ledger;

/// A legal cut that an operator may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Where.
    pub cut: usize,
    /// Tokens it would free, summary not counted.
    pub frees: u64,
    /// It lies after the target: offered, never chosen automatically.
    pub forward: bool,
}

/// Legal cuts round `target`: the nearest ones backward, newest first, that free at least `min_progress`, then the
/// next one forward. At most `most`.
pub fn candidates(
    ledger: &Ledger,
    target: usize,
    min_progress: u64,
    most: usize,
    frees: impl Fn(usize) -> u64,
) -> Vec<Candidate> {
    let cuts = legal_cuts(ledger);
    let split = cuts.partition_point(|cut| *cut <= target);
    let (back, ahead) = cuts.split_at(split);
    let candidate = |cut: usize, forward| Candidate { cut, frees: frees(cut), forward };
    let mut out: Vec<Candidate> = back
        .iter()
        .rev()
        .map(|cut| candidate(*cut, false))
        .filter(|candidate| candidate.frees >= min_progress)
        .take(most.saturating_sub(1))
        .collect();
    out.extend(ahead.first().map(|cut| candidate(*cut, true)));
    out
}
