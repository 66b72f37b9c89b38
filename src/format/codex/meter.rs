//! Token figures of the runtime become [`Usage`].

use super::line::{pick, whole};
use crate::{
    format::{Line, json::Raw},
    model::{LaneId, Log, NoteKind, RecordId, Usage},
};

/// What is known of the figures so far.
#[derive(Default)]
pub(super) struct Meter {
    /// Newest item, and newest item that the model wrote, since the last boundary.
    newest: Option<RecordId>,
    model: Option<RecordId>,
    /// The figure came before the items that it covers: they follow at once.
    extends: bool,
    window: Option<u64>,
    /// Newest figure that was measured, and whether a boundary or a rollback came since.
    measured: Option<(u64, bool)>,
    /// The newest impossible figure, so that it is told once.
    flagged: Option<u64>,
    /// The file of the bundle that is being read, and the newest one with a figure.
    segment: u16,
    told: Option<u16>,
}

/// A figure that may be there, absent, or no whole number.
enum Figure {
    Absent,
    Number(u64),
    Odd,
}

impl Figure {
    fn of(raw: Option<Raw<'_>>) -> Self {
        match raw {
            None => Self::Absent,
            Some(raw) if raw.is_null() => Self::Absent,
            Some(raw) => whole(raw).map_or(Self::Odd, Self::Number),
        }
    }

    fn known(&self) -> Option<u64> {
        match self {
            Self::Number(n) => Some(*n),
            _ => None,
        }
    }
}

impl Meter {
    /// The window, if the file named one.
    pub(super) fn window(&self) -> Option<u64> {
        self.window
    }

    /// The newest measured figure.
    fn measured(&self) -> Option<u64> {
        self.measured.map(|(total, _)| total)
    }

    /// Tokens in use before a compaction that comes now. An estimate is only taken where nothing was measured since
    /// the last one: 0.80 writes the estimate of what will be left *before* its `compacted` line.
    pub(super) fn before(&self, log: &Log) -> Option<u64> {
        match self.measured {
            Some((total, false)) => Some(total),
            _ => log.usage.last().map(|usage| usage.input),
        }
    }

    /// Another file of the bundle begins.
    pub(super) fn enter(&mut self, segment: u16) {
        *self = Self { window: self.window, segment, told: self.told, ..Self::default() };
    }

    /// The window as another line names it.
    pub(super) fn see_window(&mut self, raw: Option<Raw<'_>>) {
        self.window = raw.and_then(whole).filter(|n| *n > 0).or(self.window);
    }

    /// An item of the history was read.
    pub(super) fn item(&mut self, record: RecordId, model: bool, log: &mut Log) {
        self.newest = Some(record);
        if model {
            self.model = Some(record);
        }
        self.extends &= model;
        if self.extends
            && let Some(usage) = log.usage.last_mut()
        {
            usage.record = record;
        }
    }

    /// A compaction, or a rollback: what was measured before says nothing of what is left.
    pub(super) fn boundary(&mut self, newest: Option<RecordId>) {
        self.newest = newest.or(self.newest);
        self.model = None;
        self.extends = false;
        self.measured = self.measured.map(|(total, _)| (total, true));
    }

    /// A `token_count` with its `info`; without one it speaks of rate limits only. `batch`: this client (to 0.63)
    /// writes the figure before the items of its response, all others after them.
    pub(super) fn token_count(&mut self, info: Option<Raw<'_>>, batch: bool, line: &Line<'_>, log: &mut Log) {
        let Some(info) = info.filter(|raw| raw.is_object()) else { return };
        let [last, window] = pick(info, ["last_token_usage", "model_context_window"]);
        match Figure::of(window) {
            Figure::Number(n) if n > 0 => self.window = Some(n),
            Figure::Absent => {}
            _ => log.note(NoteKind::Figures, line.number, "The context window is no positive whole number."),
        }
        let Some(last) = last.filter(|raw| raw.is_object()) else { return };
        let [total, input, output] = pick(last, ["total_tokens", "input_tokens", "output_tokens"]);
        let parts = [input, output].map(|part| Figure::of(part).known().unwrap_or(0));
        match Figure::of(total) {
            Figure::Number(total) => self.take(total, parts == [0, 0] && total > 0, batch, line, log),
            Figure::Odd => log.note(NoteKind::Figures, line.number, "A token figure is no whole number."),
            Figure::Absent => {}
        }
    }

    /// A `token_usage_record`: it precedes the outputs, and the `token_count` that says the same follows them. If a
    /// tool runs, or the client died, it is the newest figure there is.
    pub(super) fn usage_record(&mut self, payload: Raw<'_>, line: &Line<'_>, log: &mut Log) {
        match Figure::of(payload.path(&["usage", "total_tokens"])) {
            Figure::Number(total) => self.take(total, false, false, line, log),
            Figure::Odd => log.note(NoteKind::Figures, line.number, "A token figure is no whole number."),
            Figure::Absent => {}
        }
    }

    fn take(&mut self, total: u64, estimated: bool, batch: bool, line: &Line<'_>, log: &mut Log) {
        let since_boundary = self.measured.is_some_and(|(_, since)| since);
        let repeated = self.measured() == Some(total);
        if !estimated && repeated && (batch || since_boundary && self.model.is_none()) {
            // The old figure again, with news of rate limits: it says nothing of what came since, and after a
            // boundary it speaks of what was dropped.
            return;
        }
        self.check(total, estimated, line, log);
        if self.segment > 0 && self.told.is_some_and(|told| told != self.segment) {
            // Older files of a bundle are read after newer ones; their figures are older too.
            return;
        }
        self.told = Some(self.segment);
        let covered = if estimated || batch { self.newest } else { self.model.or(self.newest) };
        let usage = Usage {
            record: covered.unwrap_or_else(|| log.next_id().saturating_sub(1)),
            lane: LaneId::MAIN,
            input: total,
            output: 0,
            window: self.window,
            estimated,
        };
        // The list is ascending by record; a figure after a rollback may cover less.
        let record = usage.record.max(log.usage.last().map_or(0, |last| last.record));
        let usage = Usage { record, ..usage };
        if log.usage.last() != Some(&usage) {
            log.usage.push(usage);
        }
        self.extends = batch && !estimated;
        if !estimated {
            self.measured = Some((total, false));
        }
    }

    /// Figures that cannot be right are shown as such, never corrected in silence.
    fn check(&mut self, total: u64, estimated: bool, line: &Line<'_>, log: &mut Log) {
        if let Some(window) = self.window.filter(|window| total > *window)
            && self.flagged.replace(total) != Some(total)
        {
            let text = format!("{total} tokens in use are more than the window of {window}.");
            log.note(NoteKind::Figures, line.number, text);
        }
        if let Some((before, false)) = self.measured
            && !estimated
            && total < before / 2
        {
            let text = format!("Use fell from {before} to {total} tokens without a compaction.");
            log.note(NoteKind::Figures, line.number, text);
        }
    }
}
