//! The cut preview: two gauges, before and after, the checks.
//!
//! ```text
//!  CUT PREVIEW #0–#5  candidate 1/3          nothing written yet
//!  before 92.7k 72% ███████┃██░░╏░    after 70.0k 54% ██████░┃░░░╏░
//!  Before                    │ After
//!  Checks, the worst first
//!  message, keys
//! ```

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use super::{edges, footer, frame, header::bar, preview_rows, put, put_line, row_of};
use crate::{
    export::{Symbols, tokens},
    model::Shown,
    plan::{Check, Outcome},
    ui::{
        State, Theme,
        layout::Panes,
        preview::{Preview, View, Why},
        text::wrap,
    },
};

pub(super) fn draw(state: &State, preview: &Preview, buf: &mut Buffer) {
    let panes = preview.panes();
    header(state, preview, panes.header, buf);
    sides(state, preview, &panes, buf);
    checks(state, preview, &panes, buf);
    footer::preview(state, panes.footer, buf);
}

fn header(state: &State, preview: &Preview, area: Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let theme = state.options.theme;
    let legal = preview.forbidden().is_none();
    let span = match preview.span() {
        Some((from, to)) => format!("#{from}–#{}", to.saturating_sub(1)),
        None => "nothing is cut".to_string(),
    };
    let verdict = if legal { theme.good() } else { theme.bad() };
    let mut left = vec![Span::styled(" CUT PREVIEW  ", theme.strong()), Span::styled(span, verdict)];
    if !legal && preview.draft.is_some() {
        left.push(Span::styled("  CANNOT BE COMMITTED", theme.bad()));
    }
    left.push(Span::styled(format!("  {}", from_where(preview)), theme.quiet()));
    let right = vec![Span::styled("nothing written yet ", theme.strong())];
    let mut used: usize = left.iter().chain(&right).map(Span::width).sum();
    if used + 2 > usize::from(area.width) {
        // Who offers it gives way to the rest.
        used -= left.pop().map_or(0, |last| last.width());
    }
    if used + 4 < usize::from(area.width) {
        let room = usize::from(area.width) - used - 4;
        left.push(Span::styled(format!("  {}", Shown::cut(&state.options.name, room)), theme.quiet()));
    }
    put_line(buf, area.x, area.y, area.width, &edges(left, right, area.width));
    if area.height > 1 {
        put_line(buf, area.x, area.y + 1, area.width, &gauges(state, preview, area.width));
    }
}

/// Who offers this span.
fn from_where(preview: &Preview) -> String {
    let n = preview.choices.len();
    let number = preview.chosen.map_or_else(String::new, |chosen| format!("{}/{n} ", chosen + 1));
    match preview.why {
        Why::Planned(verdict) => format!("candidate {number}{}", verdict.name()),
        Why::Relief => format!("candidate {number}relief"),
        Why::Nearer => format!("candidate {number}"),
        Why::Forward => format!("candidate {number}after the target"),
        Why::Own if n == 1 => "your own; Tab: 1 candidate".to_string(),
        Why::Own if n > 0 => format!("your own; Tab: {n} candidates"),
        Why::Own => "your own".to_string(),
        Why::StagedOnly => "what is staged alone".to_string(),
    }
}

fn gauges(state: &State, preview: &Preview, width: u16) -> Line<'static> {
    let (Some(budget), Some(draft)) = (state.session.budget(), &preview.draft) else {
        return Line::default();
    };
    let half = usize::from(width) / 2;
    let window = budget.window.tokens.max(1);
    let mut spans = Vec::new();
    for (name, used) in [("before", draft.before_tokens), ("after", draft.after_tokens)] {
        let words = format!(" {name} {} {}% ", tokens(used), used * 100 / window);
        let cells = half.saturating_sub(words.chars().count() + 1);
        let taken = words.chars().count() + cells;
        spans.push(Span::styled(words, state.options.theme.strong()));
        spans.extend(bar(state, budget, used, cells));
        spans.push(Span::raw(" ".repeat(half.saturating_sub(taken))));
    }
    Line::from(spans)
}

fn sides(state: &State, preview: &Preview, panes: &Panes, buf: &mut Buffer) {
    let theme = state.options.theme;
    let both = panes.right.area() > 0;
    let (title, hint) = match preview.view {
        _ if both => ("Before", leaving(state, preview)),
        View::Before => ("Before", leaving(state, preview)),
        View::After => ("After", arriving(preview)),
        View::Both | View::Unified => ("Before and after", leaving(state, preview)),
    };
    let down = if state.options.symbols == Symbols::Unicode { "▼" } else { "v" };
    let below = |hint: String| match preview.cut_below() {
        Some(cut) => format!("{down} cut #{cut} · {hint}"),
        None => hint,
    };
    let hint = below(hint);
    let bare = panes.footer.height == 0;
    if !bare {
        frame(state, panes.left, (panes.boxed, !both), title, &hint, buf);
    }
    if both {
        frame(state, panes.right, (panes.boxed, true), "After", &arriving(preview), buf);
    }
    let inner = panes.inner();
    let Some(draft) = &preview.draft else {
        let text = preview.trouble.as_deref().unwrap_or("drafting");
        let style = if preview.trouble.is_some() { theme.bad() } else { theme.quiet() };
        let safe = Shown::new(text).into_string();
        for (n, piece) in wrap(&safe, usize::from(inner.width.saturating_sub(2))).into_iter().enumerate() {
            let Some(area) = row_of(inner, n) else { break };
            put(buf, area.x + 1, area.y, area.width.saturating_sub(1), piece, style);
        }
        return;
    };
    preview_rows::draw(state, preview, draft, panes, buf);
}

/// What the cut takes away.
fn leaving(state: &State, preview: &Preview) -> String {
    match (state.session.budget(), preview.span()) {
        (Some(budget), Some((from, to))) => {
            format!("{} records, {} tokens leave", to.saturating_sub(from), tokens(budget.frees(from, to)))
        }
        _ => "nothing leaves".to_string(),
    }
}

/// What comes in its place.
fn arriving(preview: &Preview) -> String {
    let Some(draft) = &preview.draft else { return String::new() };
    let budget = draft.after.budget();
    let kept = |at: &usize| matches!(draft.origin(*at), Some(crate::format::Origin::Kept(_)));
    let new = (0..draft.after.context().len()).filter(|at| !kept(at));
    let sum: u64 = new.map(|at| budget.map_or(0, |budget| budget.series.at(at))).sum();
    format!("{} tokens arrive", tokens(sum))
}

fn checks(state: &State, preview: &Preview, panes: &Panes, buf: &mut Buffer) {
    let inner = panes.inner_checks();
    if panes.checks.area() == 0 {
        return;
    }
    let theme = state.options.theme;
    let all = preview.checks();
    let count = |outcome: Outcome| all.iter().filter(|check| check.outcome == outcome).count();
    let (failed, asks) = (count(Outcome::Failed), count(Outcome::Asks));
    let asks = if asks > 0 { format!(", {asks} to confirm") } else { String::new() };
    let hint = format!("{} checks, {failed} failed{asks} · i all", all.len());
    frame(state, panes.checks, (panes.boxed, false), "Checks", &hint, buf);
    let width = usize::from(inner.width.saturating_sub(4));
    let mut line = 0;
    for check in all {
        let (sign, style) = sign(state, check, theme);
        let safe = Shown::new(&check.text).into_string();
        for (n, piece) in wrap(&safe, width).into_iter().enumerate() {
            let Some(area) = row_of(inner, line) else { return };
            let lead = if n == 0 { sign } else { " " };
            put(buf, area.x + 1, area.y, 2, lead, style);
            let words = if check.outcome == Outcome::Passed { theme.text() } else { style };
            put(buf, area.x + 3, area.y, area.width.saturating_sub(3), piece, words);
            line += 1;
        }
    }
}

fn sign(state: &State, check: &Check, theme: Theme) -> (&'static str, Style) {
    let unicode = state.options.symbols == Symbols::Unicode;
    match check.outcome {
        Outcome::Passed => (if unicode { "✓" } else { "+" }, theme.good()),
        Outcome::Told => ("i", theme.quiet()),
        Outcome::Asks => ("?", theme.open()),
        Outcome::Failed => (if unicode { "✗" } else { "x" }, theme.bad()),
    }
}
