//! Rows of before and after: what leaves, what comes, what stays, and the ruler where the span ends.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span},
};

use super::{put, put_line, row_of, transcript};
use crate::{
    export::{self, Rail, Rails},
    model::Shown,
    plan::{Draft, Session, summary::Author},
    ui::{
        State,
        layout::Panes,
        preview::{New, Old, Preview, View},
    },
};

/// How a record stands on its side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Leaves,
    Comes,
    Stays,
}

pub(super) fn draw(state: &State, preview: &Preview, draft: &Draft, panes: &Panes, buf: &mut Buffer) {
    let (left, right) = (panes.inner(), panes.inner_right());
    let both = right.area() > 0;
    let most = if state.size.0 < 100 { 2 } else { 4 };
    let number = state.len().max(draft.after.context().len()).to_string().len().max(3);
    let shape = |rails, lanes| transcript::Shape { number, time: 0, lanes, folds: 0, rails };
    let old = Side { session: &state.session, shape: shape(&state.rails, lanes(&state.rails, state.len(), most)) };
    let len = draft.after.context().len();
    let new = Side { session: &draft.after, shape: shape(&preview.rails, lanes(&preview.rails, len, most)) };
    for (n, row) in preview.rows.iter().skip(preview.scroll).take(usize::from(left.height)).enumerate() {
        let (Some(l), r) = (row_of(left, n), row_of(right, n)) else { break };
        let (before, after) = *row;
        // In one list a record that stays is shown where it stood.
        match before.filter(|_| preview.view != View::After) {
            Some(Old::Cut(cut)) => {
                put_line(buf, l.x, l.y, l.width, &ruler(state, preview, &old.shape, cut, l.width, true));
            }
            Some(before) => old_row(state, &old, before, l, buf),
            None => {}
        }
        let alone = before.is_none() || preview.view == View::After;
        let place = if both { r } else { Some(l).filter(|_| alone && preview.view != View::Before) };
        match after.zip(place) {
            Some((New::Cut(cut), place)) => {
                let line = ruler(state, preview, &new.shape, cut, place.width, false);
                put_line(buf, place.x, place.y, place.width, &line);
            }
            Some((after, place)) => new_row(state, preview, draft, (&new, after), place, buf),
            None => {}
        }
    }
}

fn lanes(rails: &Rails, len: usize, most: usize) -> usize {
    rails.width(0, len, most).max(1)
}

struct Side<'a> {
    session: &'a Session,
    shape: transcript::Shape<'a>,
}

fn old_row(state: &State, side: &Side<'_>, old: Old, area: Rect, buf: &mut Buffer) {
    let theme = state.options.theme;
    match old {
        Old::Record(at, cut) => {
            let head = state.heads.get(&at).cloned().unwrap_or_default();
            let staged = state.hand.is_staged(at);
            record(state, side, (at, head, staged), if cut { Fate::Leaves } else { Fate::Stays }, area, buf);
        }
        Old::Cut(_) => {}
        Old::Fold(from, to) => {
            let calls = (from..to).filter(|at| state.session.ledger().call_state(*at).is_some()).count();
            let open = state.obligations.iter().filter(|owed| owed.blocking && (from..to).contains(&owed.at)).count();
            let owed = if open > 0 { format!("{open} OPEN") } else { "all closed".to_string() };
            let text = format!("- {:>2$} {} more records, {calls} calls, {owed}", "…", to - from, side.shape.number);
            put(buf, area.x, area.y, area.width, &text, if open > 0 { theme.open() } else { theme.quiet() });
        }
    }
}

fn new_row(state: &State, preview: &Preview, draft: &Draft, row: (&Side<'_>, New), area: Rect, buf: &mut Buffer) {
    let (side, new) = row;
    let theme = state.options.theme;
    match new {
        New::Cut(_) => {}
        New::Text(n) => {
            let text = preview.text.get(n).map_or("", String::as_str);
            put(buf, area.x, area.y, 2, "+ ", theme.good());
            put(buf, area.x + 7, area.y, area.width.saturating_sub(7), text, theme.text());
        }
        New::Record(at, true) if draft.origin(at) == Some(crate::format::Origin::Summary) => {
            record(state, side, (at, title(draft), false), Fate::Comes, area, buf);
        }
        New::Record(at, new) => {
            let head = preview.heads.get(&at).cloned().unwrap_or_default();
            record(state, side, (at, head, false), if new { Fate::Comes } else { Fate::Stays }, area, buf);
        }
    }
}

/// `summary of #0–#5, built-in extract`.
fn title(draft: &Draft) -> String {
    let by = draft.summary.as_ref().map_or(String::new(), |summary| match &summary.prose.by {
        Author::Extract => "built-in extract".to_string(),
        Author::Operator => "written by hand".to_string(),
        Author::Command(name) => format!("by {name}"),
    });
    let (from, to) = draft.wish.span.unwrap_or_default();
    format!("summary of #{from}–#{}, {by}", to.saturating_sub(1))
}

fn record(state: &State, side: &Side<'_>, what: (usize, String, bool), fate: Fate, area: Rect, buf: &mut Buffer) {
    let (at, head, staged) = what;
    let theme = state.options.theme;
    let Some(mut row) = export::row(side.session, side.shape.rails, at, head, state.now) else { return };
    if staged {
        row.state = transcript::STAGED.to_string();
    }
    let lead = match fate {
        Fate::Leaves => Span::styled("- ", theme.bad()),
        Fate::Comes => Span::styled("+ ", theme.good()),
        Fate::Stays if row.open && !staged => Span::styled(format!("{} ", state.options.symbols.open()), theme.open()),
        Fate::Stays => Span::raw("  "),
    };
    put_line(buf, area.x, area.y, area.width, &transcript::line(state, &side.shape, &row, lead, area.width));
    // The number and the rails of what leaves stay as they are: they say why it may or may not leave.
    if fate == Fate::Leaves && !row.open {
        buf.set_style(area, theme.quiet());
    }
}

/// Links that cross the cut are drawn through it: that is why it is illegal.
fn ruler(
    state: &State,
    preview: &Preview,
    shape: &transcript::Shape<'_>,
    cut: usize,
    width: u16,
    before: bool,
) -> Line<'static> {
    let (theme, symbols) = (state.options.theme, state.options.symbols);
    let crossing = state.rails.crossing(cut);
    let crossed = crossing.iter().filter(|rail| **rail != Rail::Empty).count();
    let illegal = preview.forbidden().is_some();
    let style = if illegal { theme.bad() } else { theme.good() };
    let mark = if illegal { "x" } else { symbols.cut() };
    // The number is one of the transcript before.
    let number = if before { cut.to_string() } else { symbols.rule().repeat(shape.number) };
    let mut spans = vec![Span::styled(format!("{mark} {number:>0$} ", shape.number), style)];
    for rail in crossing.iter().take(shape.lanes) {
        match rail {
            Rail::Empty => spans.push(Span::styled(symbols.rule(), style)),
            _ if !before => spans.push(Span::styled(symbols.rule(), style)),
            rail => {
                let open = *rail == (Rail::Through { open: true });
                spans.push(Span::styled(symbols.rail(*rail), if open { theme.open() } else { theme.quiet() }));
            }
        }
    }
    let text = match (illegal, crossed) {
        _ if !before => "kept from here on".to_string(),
        (true, 0) => "cut · ILLEGAL".to_string(),
        (true, 1) => "cut · ILLEGAL · crosses 1 link".to_string(),
        (true, n) => format!("cut · ILLEGAL · crosses {n} links"),
        (false, _) => "legal cut · nothing open".to_string(),
    };
    let used: usize = spans.iter().map(Span::width).sum();
    let room = usize::from(width).saturating_sub(used);
    let text = Shown::cut(&text, room.saturating_sub(4)).into_string();
    let rest = room.saturating_sub(text.chars().count() + 2);
    let lead = rest.min(3);
    spans.push(Span::styled(format!("{} {text} ", symbols.rule().repeat(lead)), style));
    spans.push(Span::styled(symbols.rule().repeat(rest - lead), style));
    Line::from(spans)
}
