//! Tokens by kind of record.

use ratatui::{
    buffer::Buffer,
    text::{Line, Span},
};

use super::{pane, put_line, row_of};
use crate::{
    export::{Symbols, tokens},
    ui::{Focus, Regions, State},
};

pub(super) fn draw(state: &State, regions: &Regions, buf: &mut Buffer) {
    if regions.budget.area() == 0 {
        return;
    }
    let inner = pane(state, regions, Focus::Budget, "Budget by kind", "", buf);
    let Some(budget) = state.session.budget() else { return };
    let shares = state.shares;
    let sums = [
        ("tool results", shares.results),
        ("tool calls", shares.calls),
        ("assistant", shares.assistant),
        ("user", shares.user),
        ("summaries", shares.summaries),
        ("other", shares.other),
    ];
    let system = ("system, tools", budget.series.base());
    let most = sums.iter().map(|(_, sum)| *sum).chain([system.1]).max().unwrap_or(1).max(1);
    let width = u64::from(inner.width.saturating_sub(36));
    let full = if state.options.symbols == Symbols::Unicode { "█" } else { "#" };
    for (n, (name, sum)) in sums.into_iter().chain([system]).enumerate() {
        let Some(area) = row_of(inner, n) else { break };
        let cells = usize::try_from(sum * width / most).unwrap_or(0);
        let note = if name == "system, tools" && sum > 0 { " (inferred)" } else { "" };
        let line = Line::from(vec![
            Span::raw(format!(" {name:<14} {:>7} ", tokens(sum))),
            Span::styled(full.repeat(cells), state.options.theme.mark()),
            Span::styled(note, state.options.theme.quiet()),
        ]);
        put_line(buf, area.x, area.y, area.width, &line);
    }
}
