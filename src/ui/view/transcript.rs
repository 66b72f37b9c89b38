//! Records with rails, legal-cut rulers and the budget line. Only visible rows are built.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span},
};

use super::{edges, pane, put_line, row_of};
use crate::{
    export::{self, Rail, Rails, Row, Sign, Symbols, tokens},
    model::{Shown, clock},
    ui::{
        Focus, Regions, State,
        state::{Line as Content, Rule},
    },
};

/// What is given up, as soon as it is staged.
pub(super) const STAGED: &str = "STAGED";

pub(super) fn draw(state: &State, regions: &Regions, buf: &mut Buffer) {
    if regions.transcript.area() == 0 {
        return;
    }
    let right = match (state.following, state.search.pattern.is_empty()) {
        (_, false) => format!("{} matches", state.search.hits.len()),
        (true, true) => "F following".to_string(),
        (false, true) => "F paused".to_string(),
    };
    let inner = pane(state, regions, Focus::Transcript, "Transcript", &right, buf);
    if state.len() == 0 {
        let text = if state.session.adapter().is_some() { "no records yet" } else { "nothing read yet" };
        super::put(buf, inner.x + 1, inner.y, inner.width, text, state.options.theme.quiet());
        return;
    }
    let shape = Shape::of(state, inner);
    for (n, content) in state.lines_from(state.top, usize::from(inner.height)).into_iter().enumerate() {
        let Some(area) = row_of(inner, n) else { break };
        match content {
            Content::Record(at) => record(state, &shape, at, area, buf),
            Content::Rule(at, rule) => {
                put_line(buf, area.x, area.y, area.width, &ruler(state, &shape, at, rule, area.width));
            }
        }
    }
}

/// Widths that are the same for every row of one frame, and whose rails are drawn.
pub(super) struct Shape<'a> {
    pub(super) number: usize,
    /// Columns of the time of day; none: it is not shown.
    pub(super) time: usize,
    pub(super) lanes: usize,
    /// Columns for the count of links that have no lane.
    pub(super) folds: usize,
    pub(super) rails: &'a Rails,
}

impl<'a> Shape<'a> {
    fn of(state: &'a State, inner: Rect) -> Self {
        let most = if state.size.0 < 100 { 2 } else { 4 };
        let bottom = state.top + usize::from(inner.height);
        let lanes = state.rails.width(state.top, bottom, most).max(1);
        let folded = (state.top..bottom.min(state.len())).map(|at| state.rails.folded(at, lanes)).max().unwrap_or(0);
        Self {
            folds: if folded > 0 { 1 + folded.to_string().len() } else { 0 },
            number: state.len().to_string().len().max(3),
            time: if inner.width >= 90 { 8 } else { 5 },
            lanes,
            rails: &state.rails,
        }
    }
}

fn record(state: &State, shape: &Shape<'_>, at: usize, area: Rect, buf: &mut Buffer) {
    let head = state.heads.get(&at).cloned().unwrap_or_default();
    let Some(mut row) = export::row(&state.session, &state.rails, at, head, state.now) else { return };
    if state.hand.is_staged(at) {
        row.state = STAGED.to_string();
    }
    let (theme, symbols) = (state.options.theme, state.options.symbols);
    let lead = match () {
        () if state.hand.is_staged(at) => Span::styled(format!("{} ", symbols.sign(Sign::Unknown)), theme.mark()),
        () if row.open => Span::styled(format!("{} ", symbols.open()), theme.open()),
        () if state.is_legal(at) => Span::styled(format!("{} ", symbols.cut()), theme.good()),
        () => Span::raw("  "),
    };
    let line = line(state, shape, &row, lead, area.width);
    put_line(buf, area.x, area.y, area.width, &line);
    if at == state.cursor {
        let focused = state.focus == Focus::Transcript;
        let theme = state.options.theme;
        buf.set_style(area, if focused { theme.cursor() } else { theme.cursor().patch(theme.quiet()) });
    }
}

/// One record behind `lead`, which takes two columns.
pub(super) fn line(state: &State, shape: &Shape<'_>, row: &Row, lead: Span<'static>, width: u16) -> Line<'static> {
    let (theme, symbols) = (state.options.theme, state.options.symbols);
    let mut left = vec![lead, Span::styled(format!("{:>1$} ", row.at, shape.number), theme.quiet())];
    if shape.time > 0 {
        let time = clock(row.time, &state.options.zone).unwrap_or_default();
        let time: String = time.chars().take(shape.time).collect();
        left.push(Span::styled(format!("{time:<0$} ", shape.time), theme.quiet()));
    }
    for rail in row.rails.iter().take(shape.lanes) {
        let open = matches!(rail, Rail::Start { open: true } | Rail::Through { open: true });
        left.push(Span::styled(symbols.rail(*rail), if open { theme.open() } else { theme.quiet() }));
    }
    let folded = shape.rails.folded(row.at, shape.lanes);
    if shape.folds > 0 {
        let glyph = if symbols == Symbols::Unicode { "┊" } else { ":" };
        let count = if folded > 0 { format!("{glyph}{folded}") } else { String::new() };
        left.push(Span::styled(format!("{count:<0$}", shape.folds), theme.quiet()));
    }
    left.push(sign(state, row.sign));
    let right = right(state, row, width);
    let used: usize = left.iter().chain(&right).map(Span::width).sum();
    let room = usize::from(width).saturating_sub(used + 1);
    left.extend(words(state, row, room));
    edges(left, right, width)
}

fn sign(state: &State, sign: Sign) -> Span<'static> {
    let theme = state.options.theme;
    let style = match sign {
        Sign::User => theme.mark(),
        Sign::Ok => theme.good(),
        Sign::Failed => theme.bad(),
        Sign::Unknown | Sign::Launched | Sign::Opaque => theme.open(),
        Sign::Summary | Sign::Call => theme.strong(),
        Sign::Injected | Sign::Text | Sign::Thinking | Sign::Mark => theme.quiet(),
    };
    Span::styled(state.options.symbols.sign(sign), style)
}

/// Tool name strong, its target plain; what is not sent or only injected in the second voice.
fn words(state: &State, row: &Row, room: usize) -> Vec<Span<'static>> {
    let theme = state.options.theme;
    let spaced = row.sign == Sign::Call;
    let lead = if spaced { "" } else { " " };
    let text = Shown::cut(&row.head, room.saturating_sub(lead.len())).into_string();
    let tool = Shown::new(&row.tool).into_string();
    let mut spans = vec![Span::raw(lead)];
    match text.strip_prefix(&tool).filter(|_| !tool.is_empty()) {
        Some(rest) if row.sent => {
            spans.push(Span::styled(tool, theme.strong()));
            spans.push(Span::raw(rest.to_string()));
        }
        _ => {
            let dim = !row.sent || matches!(row.sign, Sign::Injected | Sign::Thinking);
            spans.push(Span::styled(text, if dim { theme.quiet() } else { theme.text() }));
        }
    }
    spans
}

fn right(state: &State, row: &Row, width: u16) -> Vec<Span<'static>> {
    let theme = state.options.theme;
    let mut spans = Vec::new();
    let loud = row.state.chars().next().is_some_and(|c| c.is_ascii_uppercase());
    if !row.sent {
        spans.push(Span::styled(" NOT SENT", theme.open()));
    }
    if !row.state.is_empty() && (loud || width >= 50) {
        let style = if loud { theme.open() } else { theme.quiet() };
        spans.push(Span::styled(format!(" {}", Shown::cut(&row.state, 16)), style));
    }
    if width >= 50 {
        spans.push(Span::styled(format!(" {:>6}", tokens(row.tokens)), theme.quiet()));
    }
    spans
}

/// A rule between two records. Links that cross it are drawn through it: that is why a cut here is illegal.
fn ruler(state: &State, shape: &Shape<'_>, at: usize, rule: Rule, width: u16) -> Line<'static> {
    let (theme, symbols) = (state.options.theme, state.options.symbols);
    let budget = state.session.budget();
    let frees = budget.map_or(0, |budget| budget.frees(0, at));
    let blockers = state.plan.as_ref().map_or(0, |plan| plan.decision.blockers.len());
    let (text, style) = match rule {
        Rule::Budget => {
            let line = budget.map_or(0, |budget| budget.trigger);
            (format!("budget line · {} tokens in use", tokens(line)), theme.mark())
        }
        Rule::Legal => (format!("legal cut · frees {}", tokens(frees)), theme.good()),
        Rule::Planned => (format!("legal cut · nothing open · frees {}", tokens(frees)), theme.good()),
        Rule::Target => (format!("wanted cut · ILLEGAL · {blockers} in the way"), theme.bad()),
    };
    let text = if symbols == Symbols::Ascii { text.replace('·', "-") } else { text };
    let (mark, number) = match rule {
        Rule::Budget => (" ", String::new()),
        Rule::Target => ("x", at.to_string()),
        Rule::Legal | Rule::Planned => (symbols.cut(), at.to_string()),
    };
    let mut spans = vec![
        Span::styled(format!("{mark} {number:>0$} ", shape.number), style),
        Span::styled(format!("{} ", symbols.rule().repeat(shape.time)), style),
    ];
    for rail in state.rails.crossing(at).iter().take(shape.lanes) {
        match rail {
            Rail::Empty => spans.push(Span::styled(symbols.rule(), style)),
            rail => {
                let open = *rail == (Rail::Through { open: true });
                spans.push(Span::styled(symbols.rail(*rail), if open { theme.open() } else { theme.quiet() }));
            }
        }
    }
    let used: usize = spans.iter().map(Span::width).sum();
    let room = usize::from(width).saturating_sub(used);
    let text = Shown::cut(&text, room.saturating_sub(4)).into_string();
    let rest = room.saturating_sub(text.chars().count() + 2);
    let before = rest.min(3);
    spans.push(Span::styled(format!("{} {text} ", symbols.rule().repeat(before)), style));
    spans.push(Span::styled(symbols.rule().repeat(rest - before), style));
    Line::from(spans)
}
