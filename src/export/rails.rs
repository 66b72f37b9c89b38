use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{ledger::Ledger, model::Kind};

/// Link lanes that are drawn; more are folded into a count.
pub(super) const LANES: usize = 4;

/// What one lane shows at one record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rail {
    /// Nothing.
    #[default]
    Empty,
    /// A link begins here; `open`: its end is not on record.
    Start {
        /// Heavy: nothing closed it.
        open: bool,
    },
    /// A link passes.
    Through {
        /// Heavy: nothing closed it.
        open: bool,
    },
    /// A link ends here.
    End,
}

/// For every position the lanes that are drawn there. A cut is legal only where it crosses no lane.
#[derive(Clone, Debug, Default)]
pub struct Rails {
    rows: Vec<[Rail; LANES]>,
    folded: Vec<u32>,
}

/// A link that is being drawn in a lane.
#[derive(Clone, Copy)]
struct Link {
    end: Option<usize>,
}

impl Rails {
    /// The rails of a ledger. Linear in records: links beyond the drawn lanes are only counted.
    pub fn of(ledger: &Ledger) -> Self {
        Self::without(ledger, &[])
    }

    /// The same as if what opened at the positions `given_up`, ascending, owed nothing any more.
    pub fn without(ledger: &Ledger, given_up: &[usize]) -> Self {
        let len = ledger.len();
        let kept = |at: usize| given_up.binary_search(&at).is_err();
        let mut ends: Vec<(usize, Option<usize>)> =
            (0..len).filter(|at| kept(*at)).filter_map(|at| link_of(ledger, at)).collect();
        let brackets = ledger.brackets();
        ends.extend(brackets.iter().filter_map(|bracket| {
            let newest = bracket.openers.last().map_or(0, |at| *at as usize);
            match bracket.closer {
                // What is given up ends where it was opened last.
                None if !kept(newest) => (newest > bracket.first()).then_some((bracket.first(), Some(newest))),
                closer => Some((bracket.first(), closer.map(|at| at as usize))),
            }
        }));
        ends.sort_unstable_by_key(|(start, _)| *start);
        let mut waiting = ends.into_iter().peekable();
        let mut lanes: [Option<Link>; LANES] = [None; LANES];
        let mut hidden_ends: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
        let mut hidden = 0u32;
        let (mut rows, mut folded) = (Vec::with_capacity(len), Vec::with_capacity(len));
        for at in 0..len {
            let mut row = [Rail::Empty; LANES];
            for (lane, rail) in lanes.iter_mut().zip(&mut row) {
                if let Some(link) = lane {
                    let ends = link.end == Some(at);
                    *rail = if ends { Rail::End } else { Rail::Through { open: link.end.is_none() } };
                    if ends {
                        *lane = None;
                    }
                }
            }
            let mut shown = hidden;
            while hidden_ends.peek().is_some_and(|Reverse(end)| *end <= at) {
                hidden_ends.pop();
                hidden -= 1;
            }
            while let Some((_, end)) = waiting.next_if(|(start, _)| *start == at) {
                let free = lanes.iter_mut().zip(&mut row).find(|(lane, rail)| lane.is_none() && **rail == Rail::Empty);
                if let Some((lane, rail)) = free {
                    *rail = Rail::Start { open: end.is_none() };
                    *lane = Some(Link { end });
                } else {
                    hidden += 1;
                    shown += 1;
                    hidden_ends.extend(end.map(Reverse));
                }
            }
            rows.push(row);
            folded.push(shown);
        }
        Self { rows, folded }
    }

    /// The lanes at `position`.
    pub fn at(&self, position: usize) -> [Rail; LANES] {
        self.rows.get(position).copied().unwrap_or_default()
    }

    /// The lanes that a cut before `position` would cross.
    pub fn crossing(&self, position: usize) -> [Rail; LANES] {
        let before = position.checked_sub(1).map(|at| self.at(at)).unwrap_or_default();
        before.map(|rail| match rail {
            Rail::Start { open } | Rail::Through { open } => Rail::Through { open },
            Rail::Empty | Rail::End => Rail::Empty,
        })
    }

    /// Links that pass `position` beyond the first `lanes` lanes.
    pub fn folded(&self, position: usize, lanes: usize) -> usize {
        let drawn = self.at(position);
        let beyond = drawn.iter().skip(lanes).filter(|rail| **rail != Rail::Empty).count();
        beyond + self.folded.get(position).map_or(0, |n| *n as usize)
    }

    /// How many lanes are in use anywhere in `from..to`, at most `lanes`.
    pub fn width(&self, from: usize, to: usize, lanes: usize) -> usize {
        let rows = self.rows.get(from.min(self.rows.len())..to.min(self.rows.len())).unwrap_or_default();
        let used = |row: &[Rail; LANES]| row.iter().rposition(|rail| *rail != Rail::Empty).map_or(0, |lane| lane + 1);
        rows.iter().map(used).max().unwrap_or(0).min(lanes)
    }
}

/// The link that begins at `at`: a call or an approval request with its closer. Void calls owe nothing.
fn link_of(ledger: &Ledger, at: usize) -> Option<(usize, Option<usize>)> {
    match ledger.kind(at)? {
        Kind::ApprovalRequest => Some((at, ledger.partner(at))),
        Kind::Call if ledger.partner(at).is_some() || ledger.is_pending(at) => Some((at, ledger.partner(at))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::notation;

    fn drawn(text: &str) -> Vec<String> {
        let s = notation::parse(text).unwrap();
        let rails = Rails::of(&Ledger::of(&s.log, &s.context, s.context.len()));
        let glyph = |rail: &Rail| match rail {
            Rail::Empty => '.',
            Rail::Start { open: false } => '[',
            Rail::Start { open: true } => '{',
            Rail::Through { open: false } => '|',
            Rail::Through { open: true } => '!',
            Rail::End => ']',
        };
        (0..s.context.len()).map(|at| rails.at(at).iter().map(glyph).collect()).collect()
    }

    #[test]
    fn lanes_are_reused_and_told_apart() {
        assert_eq!(drawn("U C1 R1 A"), ["....", "[...", "]...", "...."]);
        assert_eq!(drawn("C1+C2 R2 R1"), ["[...", "|[..", "|]..", "]..."]);
        assert_eq!(drawn("C1 C2 R2 A"), ["{...", "![..", "!]..", "!..."]);
        assert_eq!(drawn("B+1 C1 R1 B-1"), ["[...", "|[..", "|]..", "]..."]);
    }

    #[test]
    fn what_is_given_up_draws_no_lane() {
        let s = notation::parse("C1 C2 R2 A").unwrap();
        let rails = Rails::without(&Ledger::of(&s.log, &s.context, s.context.len()), &[0]);
        assert!(rails.at(0).iter().all(|rail| *rail == Rail::Empty));
        assert_eq!(rails.at(1)[0], Rail::Start { open: false });
    }

    #[test]
    fn beyond_four_lanes_links_are_counted() {
        let s = notation::parse("C1+C2+C3+C4+C5+C6").unwrap();
        let rails = Rails::of(&Ledger::of(&s.log, &s.context, 6));
        assert_eq!(rails.folded(5, 4), 2);
        assert_eq!(rails.folded(5, 2), 4);
        assert_eq!(rails.width(0, 6, 4), 4);
    }
}
