//! How full the context is, at every record, and how that is known.
//!
//! Comes in: records of the effective context, the usage that the runtime measured, the operator's settings.
//! Goes out: tokens in use after each record, the window with its basis, trigger and critical marks, the record at
//! which the trigger was crossed.
//! Must never: hide whether a number is measured or estimated; take a lifetime sum for a context size; carry usage
//! over a compaction.

mod series;
mod window;

pub use series::Series;
pub use window::{Window, WindowBasis, known_window};

use crate::{
    format::SessionFacts,
    model::{Context, Log},
};

/// Tokens that a runtime keeps free for its answer.
const OUTPUT_RESERVE: u64 = 20_000;
/// A summary that is not written yet is taken to be a twentieth of its span, between these.
const SUMMARY: (u64, u64) = (300, 3_000);

/// How full the context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pressure {
    /// Below the trigger.
    Below,
    /// At or over the trigger.
    Pressed,
    /// So full that the next step may not fit.
    Critical,
}

impl Pressure {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Below => "below",
            Self::Pressed => "pressed",
            Self::Critical => "critical",
        }
    }
}

/// Where a number comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// Written by the runtime; what came after it is estimated and told apart.
    Measured,
    /// Estimated from the text.
    Estimated,
    /// There is nothing to count.
    None,
}

impl Basis {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Estimated => "estimated",
            Self::None => "none",
        }
    }
}

/// A limit given by the operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Share of the window, 0 to 1.
    Share(f64),
    /// Tokens.
    Tokens(u64),
}

impl Limit {
    /// In tokens of `window`.
    pub fn of(self, window: u64) -> u64 {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "windows are far below 2^52 tokens and shares are not negative"
            )]
            Self::Share(share) => (window as f64 * share).round() as u64,
            Self::Tokens(tokens) => tokens,
        }
    }
}

impl std::str::FromStr for Limit {
    type Err = String;

    /// `70%`, `0.7`, `140000` or `140k`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` is no limit; give a share (`70%`, `0.7`) or tokens (`140000`, `140k`)");
        if let Some(percent) = text.strip_suffix('%') {
            let value: f64 = percent.trim().parse().ok().ok_or_else(wrong)?;
            return if (0.0..=100.0).contains(&value) { Ok(Self::Share(value / 100.0)) } else { Err(wrong()) };
        }
        if let Ok(share) = text.parse::<f64>()
            && text.contains('.')
            && (0.0..=1.0).contains(&share)
        {
            return Ok(Self::Share(share));
        }
        parse_tokens(text).map(Self::Tokens).ok_or_else(wrong)
    }
}

/// `200000`, `200k` or `1M` as tokens.
pub fn parse_tokens(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let (digits, factor) = match (lower.strip_suffix('k'), lower.strip_suffix('m')) {
        (Some(digits), _) => (digits, 1_000),
        (_, Some(digits)) => (digits, 1_000_000),
        _ => (lower.as_str(), 1),
    };
    digits.replace('_', "").parse::<u64>().ok()?.checked_mul(factor)
}

/// What the operator set. Everything unset has a default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// Context window in tokens.
    pub window: Option<u64>,
    /// Where a compaction is due; default 70 % of the window.
    pub trigger: Option<Limit>,
    /// Where the next step may not fit; default see [`Budget::critical`].
    pub critical: Option<Limit>,
    /// Tokens of the newest part to keep; default: enough to land at half the window.
    pub keep: Option<u64>,
}

/// The budget of one effective context.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Tokens in use after each record.
    pub series: Series,
    /// The context window.
    pub window: Window,
    /// Tokens at which a compaction is due.
    pub trigger: u64,
    /// Tokens at which the next step may not fit: window less the output reserve and the 95th percentile of one
    /// step's growth in this log, but never below 90 % of the window.
    pub critical: u64,
    /// Tokens of the newest part that a compaction keeps.
    pub keep: Option<u64>,
    /// The record at which use crossed the trigger.
    line_at: Option<usize>,
}

impl Budget {
    /// The budget of `context`.
    pub fn of(log: &Log, context: &Context, facts: &SessionFacts, settings: &Settings) -> Self {
        let series = Series::of(log, context);
        let window = Window::of(log, facts, settings.window);
        let trigger = settings.trigger.unwrap_or(Limit::Share(0.7)).of(window.tokens);
        let floor = Limit::Share(0.9).of(window.tokens);
        let reserve = OUTPUT_RESERVE.min(window.tokens / 10);
        let room = window.tokens.saturating_sub(reserve).saturating_sub(series.step_p95());
        let critical = settings.critical.map_or(room.max(floor), |limit| limit.of(window.tokens));
        let line_at = series.crossing(trigger);
        Self { series, window, trigger, critical: critical.max(trigger), keep: settings.keep, line_at }
    }

    /// Tokens in use now.
    pub fn used(&self) -> u64 {
        self.series.used()
    }

    /// How full the context is.
    pub fn pressure(&self) -> Pressure {
        match self.used() {
            used if used >= self.critical => Pressure::Critical,
            used if used >= self.trigger => Pressure::Pressed,
            _ => Pressure::Below,
        }
    }

    /// The record at which use crossed the trigger: the budget line.
    pub fn line_at(&self) -> Option<usize> {
        self.line_at
    }

    /// Tokens of the records `start..end`.
    pub fn frees(&self, start: usize, end: usize) -> u64 {
        self.series.after(end).saturating_sub(self.series.after(start))
    }

    /// Tokens in use if `start..end` became a summary of a usual size.
    pub fn after_cut(&self, start: usize, end: usize) -> u64 {
        let frees = self.frees(start, end);
        self.used().saturating_sub(frees) + Self::summary_of(frees)
    }

    /// Size that a summary of `tokens` is taken to have while it is not written.
    pub fn summary_of(tokens: u64) -> u64 {
        (tokens / 20).clamp(SUMMARY.0, SUMMARY.1)
    }

    /// Where the newest `keep` tokens begin: the target of a compaction.
    pub fn target(&self, start: usize) -> usize {
        let len = self.series.len();
        let half = self.window.tokens / 2;
        let fits = |cut: usize| match self.keep {
            Some(keep) => self.frees(cut, len) <= keep,
            None => self.after_cut(start, cut) <= half,
        };
        // The first cut that lands low enough. Not a binary search: a runtime that drops old results shrinks the context
        // between two measurements.
        (start..len).find(|cut| fits(*cut)).unwrap_or(len)
    }

    /// Fewest tokens that a compaction must free to be worth its loss: 2,000 or 5 % of the window.
    pub fn min_progress(&self) -> u64 {
        (self.window.tokens / 20).max(2_000)
    }
}

#[cfg(test)]
mod tests;
