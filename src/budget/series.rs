use super::Basis;
use crate::model::{Context, Kind, LaneId, Log, Usage};

/// Tokens in use after each record of the context. Between two measurements the estimates are scaled so that each
/// interval sums to what was measured; before the first one stands what the transcript does not hold (system
/// prompt, tool definitions); after the last one plain estimates follow, scaled by the session's own ratio.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// `after[n]`: tokens in use once `n` records are in the context.
    after: Vec<u64>,
    /// The newest measurement: tokens, and the position of the record that carries it.
    measured: Option<(u64, usize)>,
    /// True if the runtime marked its newest number as its own estimate.
    own_estimate: bool,
    /// Growth between measurements, ascending.
    steps: Vec<u64>,
}

/// No context holds more tokens than this; a larger number is a mistake in the file and must not overflow a sum.
const MOST: u64 = 1 << 40;

/// A measurement at its place.
#[derive(Clone, Copy)]
struct Anchor {
    /// Records that it covers.
    upto: usize,
    total: u64,
    usage: Usage,
}

impl Anchor {
    fn new(upto: usize, usage: Usage) -> Self {
        Self { upto, total: usage.input.saturating_add(usage.output).min(MOST), usage }
    }
}

impl Series {
    pub(super) fn of(log: &Log, context: &Context) -> Self {
        let estimates: Vec<u64> =
            (0..context.len()).map(|at| context.get(log, at).map_or(0, |record| u64::from(record.tokens))).collect();
        let anchors = anchors(log, context);
        let mut series = Self::scale(&estimates, &anchors);
        let last = anchors.last();
        series.measured = last.map(|anchor| (anchor.usage.input.min(MOST), anchor.upto.saturating_sub(1)));
        series.own_estimate = last.is_some_and(|anchor| anchor.usage.estimated);
        series.steps = anchors
            .windows(2)
            .filter_map(|pair| Some(pair.last()?.total.saturating_sub(pair.first()?.total)))
            .collect();
        series.steps.sort_unstable();
        series
    }

    fn scale(estimates: &[u64], anchors: &[Anchor]) -> Self {
        let mut after = Vec::with_capacity(estimates.len() + 1);
        let mut from = 0;
        let mut total = 0u64;
        let (mut measured_sum, mut estimated_sum) = (0u64, 0u64);
        for (n, anchor) in anchors.iter().enumerate() {
            let span = estimates.get(from..anchor.upto).unwrap_or_default();
            let sum: u64 = span.iter().sum();
            if n == 0 {
                // What the transcript does not hold comes first.
                total = anchor.total.saturating_sub(sum);
                after.push(total);
            } else {
                measured_sum += anchor.total.saturating_sub(total);
                estimated_sum += sum;
            }
            fill(&mut after, span, total, anchor.total);
            total = anchor.total;
            from = anchor.upto;
        }
        if anchors.is_empty() {
            after.push(0);
        }
        // A session's own ratio of measured to estimated growth, kept within reason.
        let (num, den) = if estimated_sum > 500 && measured_sum > 0 {
            let low = measured_sum.max(estimated_sum / 2);
            (low.min(estimated_sum * 2), estimated_sum)
        } else {
            (1, 1)
        };
        let mut rest = 0u64;
        for estimate in estimates.get(from..).unwrap_or_default() {
            rest += estimate;
            after.push((total + rest.saturating_mul(num) / den).min(MOST));
        }
        Self { after, ..Self::default() }
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.after.len().saturating_sub(1)
    }

    /// True if the context is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tokens in use once the first `records` records are in the context.
    pub fn after(&self, records: usize) -> u64 {
        self.after.get(records.min(self.len())).copied().unwrap_or(0)
    }

    /// Tokens of the record at `position`.
    pub fn at(&self, position: usize) -> u64 {
        self.after(position + 1).saturating_sub(self.after(position))
    }

    /// Tokens in use now.
    pub fn used(&self) -> u64 {
        self.after.last().copied().unwrap_or(0)
    }

    /// Tokens that the context holds beside the records: system prompt, tools.
    pub fn base(&self) -> u64 {
        self.after.first().copied().unwrap_or(0)
    }

    /// The newest measurement as the runtime wrote it, and the position of the record that carries it.
    pub fn measured(&self) -> Option<(u64, usize)> {
        self.measured
    }

    /// Tokens that were added to the newest measurement by estimate.
    pub fn later(&self) -> u64 {
        self.measured.map_or(self.used(), |(tokens, _)| self.used().saturating_sub(tokens))
    }

    /// Where [`Series::used`] comes from.
    pub fn basis(&self) -> Basis {
        match self.measured {
            Some(_) if !self.own_estimate => Basis::Measured,
            None if self.is_empty() => Basis::None,
            _ => Basis::Estimated,
        }
    }

    /// 95th percentile (nearest rank) of the growth between two measurements, 0 if there are fewer than two.
    pub fn step_p95(&self) -> u64 {
        let rank = (self.steps.len() * 95).div_ceil(100);
        rank.checked_sub(1).and_then(|place| self.steps.get(place)).copied().unwrap_or(0)
    }

    /// The first record after which at least `tokens` are in use.
    pub fn crossing(&self, tokens: u64) -> Option<usize> {
        let place = self.after.iter().skip(1).position(|used| *used >= tokens)?;
        (!self.is_empty()).then_some(place)
    }
}

/// Spreads `from..to` over `span` in proportion to the estimates.
fn fill(after: &mut Vec<u64>, span: &[u64], from: u64, to: u64) {
    let sum = u128::from(span.iter().sum::<u64>().max(1));
    let part = |whole: u64, seen: u64| u64::try_from(u128::from(whole) * u128::from(seen) / sum).unwrap_or(whole);
    let mut seen = 0u64;
    for estimate in span {
        seen += estimate;
        let grown = if to >= from { from + part(to - from, seen) } else { from - part(from - to, seen) };
        after.push(grown);
    }
}

/// Measurements that speak of this context: of the main lane, behind the runtime's last compaction, at a record that
/// is still in the context; or at a display line, which stands in no context and speaks of everything before it.
fn anchors(log: &Log, context: &Context) -> Vec<Anchor> {
    let boundary = log.boundaries.last().map_or(0, |boundary| boundary.line);
    let usable = |usage: &Usage| {
        let line = log.records.get(usage.record as usize).map_or(0, |record| record.line);
        usage.lane == LaneId::MAIN && line >= boundary && usage.input > 0
    };
    let mut out: Vec<Anchor> = Vec::new();
    for (position, slot) in context.slots().iter().enumerate() {
        let Some(id) = slot.id() else { continue };
        let at = log.usage.partition_point(|usage| usage.record < id);
        let here = log.usage.get(at..).unwrap_or_default().iter().take_while(|usage| usage.record == id);
        if let Some(usage) = here.last().filter(|usage| usable(usage)) {
            out.push(Anchor::new(position + 1, *usage));
        }
    }
    let display = |usage: &&Usage| {
        let kind = log.records.get(usage.record as usize).map(|record| record.kind);
        usable(usage) && kind == Some(Kind::Notice)
    };
    if let Some(usage) = log.usage.last().filter(display) {
        let newest = context.slots().last().and_then(|slot| slot.id()).unwrap_or(0);
        if usage.record > newest && out.last().is_none_or(|anchor| anchor.upto < context.len() || context.is_empty()) {
            out.push(Anchor::new(context.len(), *usage));
        }
    }
    out
}
