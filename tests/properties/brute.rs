//! Legality by the letter: every question is asked anew over the whole log.

use cutline::{
    format::notation::Scenario,
    model::{Flags, Kind, Record},
};

/// The records of one log.
pub(crate) struct Log {
    pub(crate) records: Vec<Record>,
}

impl Log {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        Self { records: scenario.log.records.clone() }
    }

    fn opens(record: &Record) -> Option<bool> {
        match record.kind {
            Kind::Call => Some(false),
            Kind::ApprovalRequest => Some(true),
            _ => None,
        }
    }

    fn closes(record: &Record) -> Option<bool> {
        match record.kind {
            Kind::Result | Kind::Error | Kind::Abandoned => Some(false),
            Kind::Approval => Some(true),
            _ => None,
        }
    }

    /// (opener, closer), (second closer, opener), closers without opener.
    #[expect(clippy::type_complexity, reason = "three lists of one walk")]
    pub(crate) fn pairing(&self) -> (Vec<(usize, usize)>, Vec<(usize, usize)>, Vec<usize>) {
        let (mut pairs, mut doubles, mut orphans) = (Vec::new(), Vec::new(), Vec::new());
        for (at, record) in self.records.iter().enumerate() {
            let Some(class) = Self::closes(record) else { continue };
            // The newest opener of the id before it is the one that can be answered; an older open one stays owed.
            let same = |i: &usize| Self::opens(&self.records[*i]) == Some(class) && self.records[*i].id == record.id;
            let newest = (0..at).rev().find(same);
            let answered = |i: usize| pairs.iter().any(|(c, _)| *c == i);
            match newest {
                Some(i) if !answered(i) => pairs.push((i, at)),
                Some(_) => {
                    let closed = pairs.iter().rev().find(|(c, _)| same(c)).map(|(c, _)| *c).unwrap();
                    doubles.push((at, closed));
                }
                None => orphans.push(at),
            }
        }
        (pairs, doubles, orphans)
    }

    fn owed(&self, at: usize) -> bool {
        Self::opens(&self.records[at]).is_some() && !self.records[at].flags.has(Flags::VOID)
    }

    pub(crate) fn pending_at(&self, cut: usize) -> Vec<usize> {
        let (pairs, ..) = self.pairing();
        (0..cut).filter(|at| self.owed(*at) && !pairs.iter().any(|(c, r)| c == at && *r < cut)).collect()
    }

    pub(crate) fn orphaned_by(&self, cut: usize) -> Vec<usize> {
        let (pairs, doubles, _) = self.pairing();
        let mut out: Vec<usize> = pairs.iter().filter(|(c, r)| *c < cut && *r >= cut).map(|(_, r)| *r).collect();
        out.extend(doubles.iter().filter(|(r, c)| *c < cut && *r >= cut).map(|(r, _)| *r));
        out.sort_unstable();
        out
    }

    /// First and last part of each response: contiguous, no human turn and no other response between.
    pub(crate) fn runs(&self) -> Vec<Vec<usize>> {
        let mut runs: Vec<Vec<usize>> = Vec::new();
        let mut open = false;
        for (at, record) in self.records.iter().enumerate() {
            if record.kind.is_response_part() {
                let same = open && runs.last().is_some_and(|run| self.records[run[0]].response == record.response);
                if same {
                    runs.last_mut().unwrap().push(at);
                } else {
                    runs.push(vec![at]);
                }
                open = true;
            } else if matches!(record.kind, Kind::User | Kind::Summary) && record.message.is_none() {
                open = false;
            }
        }
        runs
    }

    /// Groups of two or more, by merging until nothing changes.
    pub(crate) fn units(&self) -> Vec<Vec<usize>> {
        let (pairs, doubles, orphans) = self.pairing();
        let mut groups: Vec<Vec<usize>> = (0..self.records.len()).map(|at| vec![at]).collect();
        groups.extend(self.runs());
        groups.extend(pairs.iter().map(|(c, r)| vec![*c, *r]));
        groups.extend(doubles.iter().map(|(r, c)| vec![*r, *c]));
        for orphan in orphans {
            let later = (orphan + 1..self.records.len()).find(|at| {
                let record = &self.records[*at];
                record.kind == Kind::Call && record.id == self.records[orphan].id && !pairs.iter().any(|(c, _)| c == at)
            });
            groups.extend(later.map(|call| vec![orphan, call]));
        }
        for (at, record) in self.records.iter().enumerate() {
            let before = (0..at).rev().find(|i| record.message.is_some() && self.records[*i].message == record.message);
            groups.extend(before.map(|i| vec![i, at]));
        }
        let touching = |groups: &[Vec<usize>]| {
            let mut pairs = (0..groups.len()).flat_map(|a| (a + 1..groups.len()).map(move |b| (a, b)));
            pairs.find(|(a, b)| groups[*a].iter().any(|x| groups[*b].contains(x)))
        };
        while let Some((a, b)) = touching(&groups) {
            let moved = groups.remove(b);
            groups[a].extend(moved);
            groups[a].sort_unstable();
            groups[a].dedup();
        }
        groups.into_iter().filter(|group| group.len() > 1).collect()
    }

    pub(crate) fn live_from(&self) -> usize {
        let n = self.records.len();
        let (pairs, ..) = self.pairing();
        let runs = self.runs();
        let Some(last) = runs.last() else { return n };
        let mut from = n;
        for at in last.iter().filter(|at| self.records[**at].kind == Kind::Call && self.owed(**at)) {
            let answer = pairs.iter().find(|(c, _)| c == at).map(|(_, r)| self.records[*r].kind);
            if answer != Some(Kind::Abandoned) {
                from = from.min(last[0]);
            }
        }
        let newest = *last.last().unwrap();
        for (call, result) in &pairs {
            let payload = matches!(self.records[*result].kind, Kind::Result | Kind::Error);
            if *result > newest && payload && self.records[*call].kind == Kind::Call {
                // The start of the call's response as of the call itself.
                let run = runs.iter().find(|run| run.contains(call)).unwrap();
                from = from.min(run[0]);
            }
        }
        from
    }

    /// What a late result between two parts of the newest response adds: that response has not read it.
    fn between(&self) -> usize {
        let (pairs, ..) = self.pairing();
        let runs = self.runs();
        let Some(last) = runs.last() else { return self.records.len() };
        pairs
            .iter()
            .filter(|(call, result)| {
                matches!(self.records[*result].kind, Kind::Result | Kind::Error)
                    && self.records[*call].kind == Kind::Call
                    && last[0] < *result
            })
            .filter_map(|(call, _)| runs.iter().find(|run| run.contains(call)).map(|run| run[0]))
            .filter(|start| *start != last[0])
            .min()
            .unwrap_or(self.records.len())
    }

    /// Open transactions and retries: (kind, id, newest opener).
    fn brackets_at(&self, cut: usize) -> Vec<(Kind, Option<cutline::model::Sym>, usize)> {
        let mut open: Vec<(Kind, Option<cutline::model::Sym>, usize)> = Vec::new();
        for (at, record) in self.records.iter().take(cut).enumerate() {
            let opener = match record.kind {
                Kind::TransactionBegin | Kind::Retry => record.kind,
                Kind::TransactionEnd => Kind::TransactionBegin,
                Kind::RetrySettled => Kind::Retry,
                _ => continue,
            };
            open.retain(|(kind, id, _)| (*kind, *id) != (opener, record.id));
            if record.kind == opener {
                open.push((opener, record.id, at));
            }
        }
        open
    }

    pub(crate) fn is_legal(&self, start: usize, end: usize, strict: bool) -> bool {
        let n = self.records.len();
        if start >= end || end > n {
            return false;
        }
        let (pairs, ..) = self.pairing();
        if strict && !self.pending_at(start).is_empty() {
            return false;
        }
        if (start..end).any(|at| self.owed(at) && !pairs.iter().any(|(c, _)| *c == at)) {
            return false;
        }
        for unit in self.units() {
            let inside = unit.iter().filter(|at| (start..end).contains(*at)).count();
            let around = unit[0] < start && *unit.last().unwrap() >= end;
            let call = unit.iter().any(|at| self.records[*at].kind == Kind::Call);
            if (inside > 0 && inside < unit.len()) || (strict && inside == 0 && around && call) {
                return false;
            }
        }
        let (before, after) = (self.brackets_at(start), self.brackets_at(end));
        if after.iter().any(|(.., at)| *at >= start || strict) {
            return false;
        }
        if before.iter().any(|(kind, id, _)| !after.iter().any(|(k, i, _)| (k, i) == (kind, id))) {
            return false;
        }
        end <= self.live_from().min(self.between())
    }
}
