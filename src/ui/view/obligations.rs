//! What is owed, with its age.

use ratatui::{
    buffer::Buffer,
    text::{Line, Span},
};

use super::{edges, pane, put, put_line, row_of, transcript::STAGED};
use crate::{
    ledger::{Obligation, ObligationKind},
    model::{Shown, age},
    ui::{Focus, Regions, State},
};

pub(super) fn draw(state: &State, regions: &Regions, buf: &mut Buffer) {
    if regions.obligations.area() == 0 {
        return;
    }
    let is_staged = |obligation: &&Obligation| state.hand.is_staged(obligation.at);
    let staged = state.obligations.iter().filter(is_staged).count();
    let left = state.obligations.iter().filter(|obligation| !is_staged(obligation));
    let (blocking, carried): (Vec<&Obligation>, Vec<&Obligation>) = left.partition(|obligation| obligation.blocking);
    let mut title = format!("Open obligations {}", blocking.len());
    for (n, word) in [(carried.len(), "carried"), (staged, "staged")] {
        if n > 0 {
            title = format!("{title} + {n} {word}");
        }
    }
    let hint = if staged > 0 { "u takes back" } else { "a abandon" };
    let inner = pane(state, regions, Focus::Obligations, &title, hint, buf);
    if state.obligations.is_empty() {
        put(buf, inner.x + 1, inner.y, inner.width.saturating_sub(1), "nothing is owed", state.options.theme.quiet());
        return;
    }
    let (first, height) = state.owed_rows();
    let rest = state.obligations.len().saturating_sub(first);
    for (n, obligation) in state.obligations.iter().skip(first).take(height).enumerate() {
        let Some(area) = row_of(inner, n) else { break };
        if n + 1 == height && rest > height {
            let text = format!("  … {} more", rest - n);
            put(buf, area.x, area.y, area.width, &text, state.options.theme.quiet());
            break;
        }
        put_line(buf, area.x, area.y, area.width, &line(state, obligation, area.width));
        let here =
            if state.focus == Focus::Obligations { first + n == state.owed_row } else { obligation.at == state.cursor };
        if here {
            buf.set_style(area, state.options.theme.cursor());
        }
    }
}

fn line(state: &State, obligation: &Obligation, width: u16) -> Line<'static> {
    let theme = state.options.theme;
    let staged = state.hand.is_staged(obligation.at);
    let style = match obligation.blocking {
        _ if staged => theme.mark(),
        true => theme.open(),
        false => theme.text(),
    };
    let opened = state.record(obligation.at).map(|record| record.time);
    let age = opened.and_then(|time| time.age_s(state.now)).map_or_else(|| "-".to_string(), age);
    let why = if staged { staged_as(obligation.kind) } else { obligation.state.sentence() };
    let mut left = vec![
        Span::styled(format!(" {:<5} ", obligation.kind.short()), style),
        Span::styled(format!("#{:<5} ", obligation.at), theme.quiet()),
    ];
    let right = if width >= 78 {
        vec![Span::raw(format!(" {age:>7}  ")), Span::styled(format!("{why:<28}"), theme.quiet())]
    } else if staged {
        vec![Span::styled(format!(" {STAGED}"), theme.mark())]
    } else {
        vec![Span::raw(format!(" {age:>7}"))]
    };
    let used: usize = left.iter().chain(&right).map(Span::width).sum();
    let what = what(state, obligation);
    left.push(Span::raw(Shown::cut(&what, usize::from(width).saturating_sub(used)).into_string()));
    edges(left, right, width)
}

fn staged_as(kind: ObligationKind) -> &'static str {
    match kind {
        ObligationKind::Call | ObligationKind::Unit => "staged: abandoned",
        ObligationKind::Approval => "staged: denied",
        ObligationKind::Transaction => "staged: closed",
        ObligationKind::Retry => "staged: reset",
        ObligationKind::Task | ObligationKind::Session | ObligationKind::Subagent => "staged: declared dead",
    }
}

/// What an obligation is about, raw: tool and target, or its id.
pub(super) fn what(state: &State, obligation: &Obligation) -> String {
    let head = state.heads.get(&state.session.about(obligation)).cloned().unwrap_or_default();
    let id = state.session.name(obligation.id);
    match obligation.kind {
        ObligationKind::Call => head,
        ObligationKind::Task | ObligationKind::Session | ObligationKind::Subagent if !head.is_empty() => {
            format!("{head} ({id})")
        }
        _ => format!("{id} {head}").trim().to_string(),
    }
}
