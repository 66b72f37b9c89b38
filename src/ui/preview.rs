//! The cut preview: a draft and how it is looked at. Rows of before and after stand side by side, record for record.

use rustc_hash::FxHashMap;

use super::{
    action::Action,
    layout::{Panes, panes},
    text::wrap,
};
use crate::{
    cut::{Candidate, Verdict},
    export::{Rails, head_of},
    format::Origin,
    model::Shown,
    plan::{Draft, Outcome, summary::Prose},
};

/// Kept records that stay in view above the span.
const ABOVE: usize = 3;
/// Records of the span that are shown at each end of a folded middle.
const EDGE: usize = 3;

/// How before and after are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum View {
    /// Side by side; one below the other on a narrow screen.
    #[default]
    Both,
    /// One below the other.
    Unified,
    /// Only before.
    Before,
    /// Only after.
    After,
}

/// A span that Tab offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) why: Why,
}

/// Where a choice comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// The decision chose it.
    Planned(Verdict),
    /// Offered by a refusal under critical pressure; taking it is recorded.
    Relief,
    /// Another legal cut, before the target.
    Nearer,
    /// The next legal cut after the target.
    Forward,
    /// The operator's own.
    Own,
    /// Nothing is cut: what is staged alone.
    StagedOnly,
}

/// A record before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Old {
    /// Kept, or cut.
    Record(usize, bool),
    /// Records `from..to` of the span that are not shown.
    Fold(usize, usize),
    /// Where the span ends: before this record.
    Cut(usize),
}

/// A record after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum New {
    /// Kept, or new.
    Record(usize, bool),
    /// A line of the summary's text.
    Text(usize),
    /// The kept records begin.
    Cut(usize),
}

/// A row of the preview: a record before, one after, or the same one on both sides.
pub(super) type Row = (Option<Old>, Option<New>);

/// What a new draft brings into view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reveal {
    /// What was in view.
    #[default]
    Nothing,
    /// Where the span and its summary begin.
    Top,
    /// Where the span ends.
    Cut,
}

/// Everything about an open preview.
pub(super) struct Preview {
    pub(super) choices: Vec<Choice>,
    /// Which of them is shown; the operator's own span if none.
    pub(super) chosen: Option<usize>,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) why: Why,
    /// Words by hand or from a command; the extract if none.
    pub(super) prose: Option<Prose>,
    pub(super) view: View,
    pub(super) unfolded: bool,
    pub(super) scroll: usize,
    /// No draft was asked for yet: the next one gets ids of its own.
    pub(super) fresh: bool,
    /// The draft shown is not of the span wished for.
    pub(super) stale: bool,
    /// Asked for before the draft was there: done once it is.
    pub(super) then: Option<Action>,
    pub(super) draft: Option<Draft>,
    /// Why there is no draft.
    pub(super) trouble: Option<String>,
    pub(super) rails: Rails,
    pub(super) rows: Vec<Row>,
    /// Lines of the summary, wrapped and safe.
    pub(super) text: Vec<String>,
    /// Words of records of the new file.
    pub(super) heads: FxHashMap<usize, String>,
    /// How far the summariser command is; none while it does not run.
    pub(super) summarising: Option<String>,
    /// Records of the source when the draft was made.
    pub(super) seen: usize,
    size: (u16, u16),
    /// What is to be brought into view when the draft is there.
    reveal: Reveal,
}

impl Preview {
    pub(super) fn new(choices: Vec<Choice>, first: Choice, size: (u16, u16)) -> Self {
        let chosen = choices.iter().position(|choice| *choice == first);
        Self {
            choices,
            chosen,
            start: first.start,
            end: first.end,
            why: first.why,
            prose: None,
            view: View::Both,
            unfolded: false,
            scroll: 0,
            fresh: true,
            stale: true,
            then: None,
            draft: None,
            trouble: None,
            rails: Rails::default(),
            rows: Vec::new(),
            text: Vec::new(),
            heads: FxHashMap::default(),
            summarising: None,
            seen: 0,
            size,
            reveal: Reveal::Top,
        }
    }

    /// The span wished for, if anything is cut.
    pub(super) fn span(&self) -> Option<(usize, usize)> {
        (self.why != Why::StagedOnly).then_some((self.start, self.end))
    }

    /// Takes a draft, or why there is none.
    pub(super) fn take(&mut self, drafted: Result<Draft, String>, records: usize) {
        self.seen = records;
        self.heads.clear();
        match drafted {
            Ok(draft) => {
                self.rails = Rails::of(draft.after.ledger());
                self.trouble = None;
                self.draft = Some(draft);
            }
            Err(why) => {
                self.trouble = Some(why);
                self.draft = None;
            }
        }
        self.lay_out(records);
    }

    /// The screen has this size now.
    pub(super) fn resize(&mut self, size: (u16, u16), records: usize) {
        if self.size != size {
            self.size = size;
            self.lay_out(records);
        }
    }

    /// Where things stand.
    pub(super) fn panes(&self) -> Panes {
        let checks = self.draft.as_ref().map_or(1, |draft| draft.checks.len());
        panes(self.size, self.view, checks)
    }

    /// Rows that fit.
    pub(super) fn page(&self) -> usize {
        usize::from(self.panes().inner().height).max(1)
    }

    pub(super) fn scroll_by(&mut self, steps: isize) {
        let last = self.rows.len().saturating_sub(self.page());
        self.scroll = self.scroll.saturating_add_signed(steps).min(last);
        self.read_heads();
    }

    /// Lays the rows out anew and keeps the scroll inside them.
    pub(super) fn lay_out(&mut self, records: usize) {
        let Some(draft) = &self.draft else {
            self.rows.clear();
            return;
        };
        let width = usize::from(self.panes().text_width());
        self.text = draft.summary.as_ref().map_or_else(Vec::new, |summary| lines(&summary.text, width));
        let unified = self.panes().unified;
        self.rows = Rows::of(draft, records, self.text.len(), unified, self.unfolded);
        let view = self.view;
        self.rows.retain(|row| match (row, view) {
            ((old, _), View::Before) => old.is_some(),
            ((_, new), View::After) => new.is_some(),
            _ => true,
        });
        let page = self.page();
        match std::mem::take(&mut self.reveal) {
            Reveal::Nothing => {}
            Reveal::Top => {
                let first = self.rows.iter().position(|row| !matches!(row, (Some(Old::Record(_, false)), _)));
                self.scroll = first.unwrap_or(0).saturating_sub(ABOVE);
            }
            Reveal::Cut => {
                let cut = self.rows.iter().position(|row| cut_of(row).is_some()).unwrap_or(0);
                if !(self.scroll..self.scroll + page * 3 / 4).contains(&cut) {
                    self.scroll = cut.saturating_sub(page * 2 / 3);
                }
            }
        }
        self.scroll_by(0);
    }

    fn visible(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().skip(self.scroll).take(self.page())
    }

    /// The next draft brings this into view.
    pub(super) fn reveal(&mut self, what: Reveal) {
        self.reveal = what;
        self.stale = true;
    }

    /// The cut lies below what is shown.
    pub(super) fn cut_below(&self) -> Option<usize> {
        let shown = self.rows.iter().take(self.scroll + self.page()).any(|row| cut_of(row).is_some());
        if shown { None } else { self.rows.iter().find_map(cut_of) }
    }

    /// Old records whose words are needed.
    pub(super) fn visible_old(&self) -> impl Iterator<Item = usize> + '_ {
        self.visible().filter_map(|row| match row {
            (Some(Old::Record(at, _)), _) => Some(*at),
            _ => None,
        })
    }

    /// Words of the new records in view, from the bytes of the draft.
    fn read_heads(&mut self) {
        let Some(draft) = &self.draft else { return };
        let new = self.visible().filter_map(|row| match row {
            (_, Some(New::Record(at, _))) => Some(*at),
            _ => None,
        });
        let missing: Vec<usize> = new.filter(|at| !self.heads.contains_key(at)).collect();
        for at in missing {
            let head = head_of(&draft.after, &draft.bytes, at).unwrap_or_default();
            self.heads.insert(at, head);
        }
    }

    /// The first check that forbids the commit.
    pub(super) fn forbidden(&self) -> Option<String> {
        match (&self.draft, &self.trouble) {
            (Some(draft), _) => draft.failed().next().map(|check| check.text.clone()),
            (None, Some(why)) => Some(why.clone()),
            (None, None) => Some("there is no preview yet".to_string()),
        }
    }

    /// Checks with the outcome that matters most first.
    pub(super) fn checks(&self) -> Vec<&crate::plan::Check> {
        let mut checks: Vec<_> = self.draft.iter().flat_map(|draft| &draft.checks).collect();
        checks.sort_by_key(|check| std::cmp::Reverse(rank(check.outcome)));
        checks
    }
}

/// The end of the span, if this row shows it.
fn cut_of(row: &Row) -> Option<usize> {
    match row {
        (Some(Old::Cut(cut)), _) | (_, Some(New::Cut(cut))) => Some(*cut),
        _ => None,
    }
}

/// What matters most is read first: what failed, what asks, what is told.
fn rank(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed => 0,
        Outcome::Told => 1,
        Outcome::Asks => 2,
        Outcome::Failed => 3,
    }
}

/// Safe lines of `text`, wrapped.
fn lines(text: &str, width: usize) -> Vec<String> {
    let safe = text.lines().map(|line| Shown::new(line).into_string());
    safe.flat_map(|line| wrap(&line, width).into_iter().map(str::to_string).collect::<Vec<_>>()).collect()
}

/// Spans that Tab goes through: what the planner chose or offers first, then other legal cuts.
pub(super) fn choices(decision: &crate::cut::Decision, candidates: &[Candidate]) -> Vec<Choice> {
    let start = decision.start;
    let planned = decision.cut.map(|end| Choice { start, end, why: Why::Planned(decision.verdict) });
    let relief = decision.relief.map(|relief| Choice { start, end: relief.cut, why: Why::Relief });
    let mut out: Vec<Choice> = planned.into_iter().chain(relief).collect();
    for candidate in candidates {
        if out.iter().all(|choice| choice.end != candidate.cut) {
            let why = if candidate.forward { Why::Forward } else { Why::Nearer };
            out.push(Choice { start, end: candidate.cut, why });
        }
    }
    out
}

/// Lays rows out: what is on one side only is collected until something stands on both.
struct Rows {
    laid: Vec<Row>,
    old: Vec<usize>,
    new: Vec<New>,
    span: Option<(usize, usize)>,
    unified: bool,
    unfolded: bool,
}

impl Rows {
    fn of(draft: &Draft, records: usize, text: usize, unified: bool, unfolded: bool) -> Vec<Row> {
        let span = draft.wish.span.filter(|(from, to)| from < to);
        let mut rows = Self { laid: Vec::new(), old: Vec::new(), new: Vec::new(), span, unified, unfolded };
        let mut next = 0;
        for at in 0..draft.after.context().len() {
            match draft.origin(at) {
                Some(Origin::Kept(old)) if old >= next => {
                    rows.old.extend(next..old);
                    rows.flush(old);
                    rows.laid.push((Some(Old::Record(old, false)), Some(New::Record(at, false))));
                    next = old + 1;
                }
                Some(Origin::Summary) => {
                    rows.new.push(New::Record(at, true));
                    rows.new.extend((0..text).map(New::Text));
                }
                _ => rows.new.push(New::Record(at, true)),
            }
        }
        rows.old.extend(next..records);
        rows.flush(records);
        rows.laid
    }

    /// Lays out what was collected before the old record `next`. Before, the cut stands directly below what leaves, so
    /// that one sees what it crosses; after, below what comes.
    fn flush(&mut self, next: usize) {
        let mut new = std::mem::take(&mut self.new);
        let room = if self.unified { 0 } else { new.len() };
        let mut old = self.folded(room);
        if let Some((_, to)) = self.span.take_if(|(_, to)| *to <= next) {
            old.push(Old::Cut(to));
            new.extend((!self.unified).then_some(New::Cut(to)));
        }
        if self.unified {
            self.laid.extend(old.into_iter().map(|old| (Some(old), None)));
            self.laid.extend(new.into_iter().map(|new| (None, Some(new))));
            return;
        }
        let most = old.len().max(new.len());
        let (mut old, mut new) = (old.into_iter(), new.into_iter());
        self.laid.extend((0..most).map(|_| (old.next(), new.next())));
    }

    /// The middle of a long span is folded to what fits beside the summary.
    fn folded(&mut self, room: usize) -> Vec<Old> {
        let old = std::mem::take(&mut self.old);
        let most = room.max(2 * EDGE + 1);
        let record = |at: &usize| Old::Record(*at, true);
        if self.unfolded || old.len() <= most {
            return old.iter().map(record).collect();
        }
        let tail = EDGE.max(most / 3);
        let head = most - 1 - tail;
        let (first, rest) = old.split_at(head);
        let (middle, last) = rest.split_at(rest.len() - tail);
        let fold = middle.first().zip(middle.last()).map(|(from, to)| Old::Fold(*from, to + 1));
        first.iter().map(record).chain(fold).chain(last.iter().map(record)).collect()
    }
}
