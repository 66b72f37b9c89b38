//! Who, how full, how sure: session and liveness, then the gauge with its two marks and the verdict.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use super::{edges, put_line, thousands};
use crate::{
    budget::{Basis, Budget, WindowBasis},
    export::{Symbols, tokens},
    model::{Shown, age},
    source::Status,
    ui::{State, update::feed::not_understood},
};

/// Seconds without a record after which the header says so.
const QUIET: i64 = 10;
/// Seconds without a record after which the session is called idle. The file is followed all the same.
const IDLE: i64 = 600;

pub(super) fn draw(state: &State, area: Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    if area.height == 1 {
        put_line(buf, area.x, area.y, area.width, &small(state));
        return;
    }
    put_line(buf, area.x, area.y, area.width, &who(state, area.width));
    put_line(buf, area.x, area.y + 1, area.width, &gauge(state, area.width));
}

/// Everything in one line, below 60×15: `ctx 76% open 4 DEFER→#151`.
fn small(state: &State) -> Line<'static> {
    let theme = state.options.theme;
    let Some(budget) = state.session.budget() else { return Line::from(" cutline: reading") };
    let blocking = state.obligations.iter().filter(|o| o.blocking).count();
    let mut spans = vec![Span::raw(format!("ctx {}% open {blocking} ", percent(budget)))];
    spans.extend(verdict(state));
    spans.push(Span::styled(format!(" #{}", state.cursor), theme.quiet()));
    Line::from(spans)
}

fn who(state: &State, width: u16) -> Line<'static> {
    let theme = state.options.theme;
    let facts = state.session.facts();
    let format = state.session.adapter().map_or("", |adapter| adapter.format().name());
    let version = facts.version.or(facts.generation.map(str::to_string)).unwrap_or_default();
    let mut left = vec![Span::styled(" cutline ", theme.strong()), Span::raw(" ")];
    let right = liveness(state);
    let used: usize = right.iter().map(Span::width).sum::<usize>() + 11;
    let room = usize::from(width).saturating_sub(used);
    let mut parts = vec![state.options.name.clone()];
    if !format.is_empty() {
        parts.push(format!("{format} {version}").trim().to_string());
    }
    parts.extend(facts.branch.filter(|branch| branch != "HEAD").map(|branch| format!("branch {branch}")));
    parts.extend(facts.model);
    let doubts = doubts(state);
    let doubt_width: usize = doubts.iter().map(Span::width).sum();
    left.push(Span::raw(Shown::cut(&parts.join(" · "), room.saturating_sub(doubt_width)).into_string()));
    left.extend(doubts);
    edges(left, right, width)
}

/// What the tool does not know, always said.
fn doubts(state: &State) -> Vec<Span<'static>> {
    let theme = state.options.theme;
    let mut words = Vec::new();
    let lost = not_understood(&state.session.log().notes);
    if lost > 0 {
        words.push(format!("{lost} not read"));
    }
    if let Some(capability) = state.session.capability() {
        words.extend(capability.doubts().into_iter().map(str::to_string));
    }
    if state.news.stray > 0 {
        words.push("writer on an old file".to_string());
    }
    if state.news.polling.is_some() {
        words.push("polling".to_string());
    }
    words.into_iter().map(|word| Span::styled(format!(" · {word}"), theme.open())).collect()
}

fn liveness(state: &State) -> Vec<Span<'static>> {
    let theme = state.options.theme;
    let (dot, ring) = if state.options.symbols == Symbols::Unicode { ("●", "○") } else { ("*", "o") };
    let quiet_for = state.session.log().newest_time().age_s(state.now);
    let (word, style): (String, Style) = match &state.news.status {
        // The newest whole state is shown while the next one is half written.
        _ if state.rebuild.as_ref().is_some_and(|rebuild| rebuild.waits) => {
            ("stale: half rewritten".to_string(), theme.open())
        }
        _ if state.rebuild.is_some() => ("rereading".to_string(), theme.open()),
        None | Some(Status::Reading) => (reading(state), theme.quiet()),
        Some(Status::Waiting) => ("waiting for the file".to_string(), theme.open()),
        Some(Status::Torn { .. }) if state.session.is_document() && state.session.is_torn() => {
            ("document not whole".to_string(), theme.bad())
        }
        Some(Status::Torn { .. }) if !state.session.partial().is_empty() => ("torn last line".to_string(), theme.bad()),
        // A whole document needs no newline behind its last bracket.
        Some(Status::Live | Status::Torn { .. }) => match quiet_for {
            Some(s) if s >= IDLE => (format!("{ring} idle {}", age(s)), theme.quiet()),
            Some(s) if s >= QUIET => (format!("{dot} LIVE quiet {}", age(s)), theme.good()),
            _ => (format!("{dot} LIVE"), theme.good()),
        },
        Some(Status::Rewriting) => ("being rewritten".to_string(), theme.open()),
        Some(Status::Gone) => ("file is gone".to_string(), theme.bad()),
        Some(Status::Unreadable(why)) => (format!("unreadable: {}", Shown::cut(why, 30)), theme.bad()),
        Some(Status::Refused(_)) => ("no regular file any more".to_string(), theme.bad()),
        Some(Status::Ended) => ("input ended".to_string(), theme.quiet()),
        Some(_) => (String::new(), theme.quiet()),
    };
    let mut spans = vec![Span::styled(word, style)];
    if !state.following && state.len() > state.paused_at {
        let arrow = if state.options.symbols == Symbols::Unicode { "▼" } else { "v" };
        spans.push(Span::styled(format!("  {arrow} {} new", state.len() - state.paused_at), theme.open()));
    } else if !state.following {
        spans.push(Span::styled("  paused", theme.quiet()));
    }
    let last = state.len().saturating_sub(1);
    spans.push(Span::raw(format!("  #{}/#{last} ", state.cursor)));
    spans
}

fn reading(state: &State) -> String {
    match state.news.progress {
        Some((read, total)) if total > 0 => format!("reading {} %", read * 100 / total),
        _ => "reading".to_string(),
    }
}

fn gauge(state: &State, width: u16) -> Line<'static> {
    let theme = state.options.theme;
    let Some(budget) = state.session.budget() else {
        return Line::from(Span::styled(" no transcript yet", theme.quiet()));
    };
    let approx = if budget.series.basis() == Basis::Measured { "" } else { "~" };
    let long = width >= 120;
    let (used, window) = (budget.used(), budget.window.tokens);
    let figures = if long {
        format!(" ctx {approx}{} / {}  {}% ", thousands(used), thousands(window), percent(budget))
    } else {
        format!(" ctx {approx}{}/{} {}% ", tokens(used), tokens(window), percent(budget))
    };
    let mut right = vec![Span::raw(" ")];
    right.push(Span::styled(over(budget, long), theme.quiet()));
    if long {
        right.push(Span::styled(format!("  {}  ", basis(budget, width)), theme.quiet()));
    } else {
        right.push(Span::raw("  "));
    }
    right.extend(verdict(state));
    right.push(Span::raw(" "));
    let taken: usize = figures.len() + right.iter().map(Span::width).sum::<usize>();
    let cells = usize::from(width).saturating_sub(taken).min(60);
    let mut left = vec![Span::raw(figures)];
    left.extend(bar(state, budget, used, cells));
    edges(left, right, width)
}

/// `+7.8k over line` or `12.1k below line`.
fn over(budget: &Budget, long: bool) -> String {
    let (used, line) = (budget.used(), budget.trigger);
    let distance =
        if used >= line { format!("+{} over", tokens(used - line)) } else { format!("{} below", tokens(line - used)) };
    if long {
        format!("{distance} line {}  crit {}", tokens(line), tokens(budget.critical))
    } else {
        format!("{distance} line")
    }
}

/// Where the numbers come from.
fn basis(budget: &Budget, width: u16) -> String {
    let window = match budget.window.basis {
        WindowBasis::Given => "window given",
        WindowBasis::File => "window from file",
        WindowBasis::Model => "window by model",
        WindowBasis::Compaction(_) => "window by compaction",
        WindowBasis::Usage(_) => "window by usage",
        WindowBasis::Assumed => "window assumed",
    };
    let used = match budget.series.measured() {
        Some((_, at)) if budget.series.basis() == Basis::Measured => format!("usage of #{at}"),
        Some(_) => "runtime's estimate".to_string(),
        None => "estimated".to_string(),
    };
    if width >= 160 { format!("{used}, {window}") } else { used }
}

fn percent(budget: &Budget) -> u64 {
    budget.used() * 100 / budget.window.tokens.max(1)
}

/// The filled bar with the trigger (heavy) and critical (dashed) marks.
pub(super) fn bar(state: &State, budget: &Budget, used: u64, cells: usize) -> Vec<Span<'static>> {
    let theme = state.options.theme;
    let (full, empty, line, critical) = match state.options.symbols {
        Symbols::Unicode => ("█", "░", "┃", "╏"),
        Symbols::Ascii => ("#", ".", "|", "!"),
    };
    let window = budget.window.tokens.max(1);
    let cell = |tokens: u64| usize::try_from(u128::from(tokens) * cells as u128 / u128::from(window)).unwrap_or(cells);
    let (filled, at_line, at_critical) = (cell(used), cell(budget.trigger), cell(budget.critical));
    let style = match used {
        used if used >= budget.critical => theme.bad(),
        used if used >= budget.trigger => theme.open(),
        _ => theme.good(),
    };
    (0..cells)
        .map(|n| {
            if n == at_line {
                Span::styled(line, theme.strong())
            } else if n == at_critical {
                Span::styled(critical, theme.strong())
            } else if n < filled {
                Span::styled(full, style)
            } else {
                Span::styled(empty, theme.quiet())
            }
        })
        .collect()
}

/// `DEFER→#151`.
fn verdict(state: &State) -> Vec<Span<'static>> {
    let Some(plan) = &state.plan else { return Vec::new() };
    let decision = &plan.decision;
    let arrow = if state.options.symbols == Symbols::Unicode { "→" } else { "->" };
    let place = decision.cut.map_or_else(String::new, |cut| format!("{arrow}#{cut}"));
    vec![Span::styled(format!("{}{place}", decision.verdict.name()), state.options.theme.verdict(decision.verdict))]
}
