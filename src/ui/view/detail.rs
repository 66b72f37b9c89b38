//! One record whole: its facts, then its payload, wrapped to the pane.

use ratatui::buffer::Buffer;

use super::{pane, put, row_of};
use crate::{
    budget::Basis,
    model::{Flags, Kind, Record, Shown, age, rfc3339},
    ui::{
        Focus, Regions, State,
        text::{Voice, wrap},
    },
};

pub(super) fn draw(state: &State, regions: &Regions, buf: &mut Buffer) {
    if regions.detail.area() == 0 {
        return;
    }
    let title = format!("Detail #{}", state.cursor);
    let right = if state.zoomed { "Enter smaller" } else { "Enter full screen" };
    let inner = pane(state, regions, Focus::Detail, &title, right, buf);
    let theme = state.options.theme;
    let Some(record) = state.record(state.cursor) else {
        put(buf, inner.x + 1, inner.y, inner.width, "no record", theme.quiet());
        return;
    };
    let mut lines = facts(state, record);
    if let Some(body) = state.body.as_ref().filter(|body| body.position == state.cursor) {
        lines.push((Voice::Plain, String::new()));
        lines.extend(body.lines.iter().cloned());
    }
    let width = usize::from(inner.width.saturating_sub(2));
    let height = usize::from(inner.height);
    let scroll = state.scroll.get(&Focus::Detail).copied().unwrap_or(0);
    // Never scrolled past the last line; the cost is the lines above, each wrapped without copying.
    let rows = lines.iter().flat_map(|(voice, line)| wrap(line, width).into_iter().map(move |piece| (*voice, piece)));
    let total = rows.clone().count();
    let first = scroll.min(total.saturating_sub(height));
    for (n, (voice, piece)) in rows.skip(first).take(height).enumerate() {
        let Some(area) = row_of(inner, n) else { break };
        let style = match voice {
            Voice::Heading => theme.strong(),
            Voice::Plain => theme.text(),
            Voice::Fact => theme.quiet(),
        };
        put(buf, area.x + 1, area.y, area.width.saturating_sub(1), piece, style);
    }
}

fn facts(state: &State, record: &Record) -> Vec<(Voice, String)> {
    let ledger = state.session.ledger();
    let at = state.cursor;
    let name = |sym| Shown::new(state.session.name(sym)).into_string();
    let mut lines = Vec::new();
    let place = if record.flags.has(Flags::SYNTHETIC) {
        "in memory only".to_string()
    } else {
        format!("line {}  byte {}", record.line, record.offset + u64::from(record.at))
    };
    lines.push((Voice::Heading, format!("{}  #{at}  {place}", record.kind.name())));
    let mut fact = |label: &str, value: String| {
        if !value.is_empty() {
            lines.push((Voice::Plain, format!("{label:<7} {value}")));
        }
    };
    fact("id", name(record.id));
    fact("tool", name(record.tool));
    let when = rfc3339(record.time).unwrap_or_default();
    let ago = record.time.age_s(state.now).map_or_else(String::new, |s| format!("  ({} ago)", age(s)));
    fact("time", format!("{when}{ago}").trim().to_string());
    if record.kind == Kind::Call {
        let state_of = ledger.call_state(at);
        fact("state", state_of.map_or_else(String::new, |s| format!("{}: {}", s.name(), s.sentence())));
        fact("result", ledger.partner(at).map_or_else(|| "none yet".to_string(), |to| format!("#{to}  (% jumps)")));
    } else if record.kind.is_resolution() {
        fact("call", ledger.partner(at).map_or_else(|| "none".to_string(), |to| format!("#{to}  (% jumps)")));
    }
    if ledger.is_pending(at) {
        fact("blocks", format!("every cut after #{at}"));
    }
    if let Some(series) = state.session.budget().map(|budget| &budget.series) {
        let measured = series.measured().is_some_and(|(_, last)| at <= last) && series.basis() == Basis::Measured;
        let basis = if measured { "share of a measured step" } else { "estimated" };
        fact("tokens", format!("{} ({basis})", series.at(at)));
    }
    if record.flags.has(Flags::OVERSIZED) {
        fact("whole", "no: the line is too large to be read; only its beginning is shown".to_string());
    }
    if record.flags.has(Flags::TRUNCATED) {
        fact("sent", "shortened: the runtime cuts it before it sends it".to_string());
    }
    if state.session.context().slots().get(at).is_some_and(|slot| !slot.sent) {
        fact("sent", "no: it stands in the conversation, the runtime leaves it out".to_string());
    }
    lines
}
