use jiff::tz::TimeZone;

use super::{Rails, Row, Symbols, head_of, row};
use crate::{
    cut::legal_cuts,
    model::{Millis, Shown, clock},
    plan::{Payload, Session},
};

/// How `cutline show` prints.
pub struct ShowOptions {
    /// Columns.
    pub width: usize,
    /// Unicode or ASCII.
    pub symbols: Symbols,
    /// Only the first so many places of the context.
    pub upto: usize,
    /// For ages of what is open.
    pub now: Millis,
    /// For times of day.
    pub zone: TimeZone,
}

/// The effective context as lines of text with rails, cut rulers and the budget line. No control characters.
/// One line a record; `each` gets them one after another, so that nothing is held.
pub fn show(session: &Session, payload: &dyn Payload, options: &ShowOptions, mut each: impl FnMut(&str)) {
    let rails = Rails::of(session.ledger());
    let cuts = legal_cuts(session.ledger());
    let line_at = session.budget().and_then(crate::budget::Budget::line_at);
    let len = session.context().len().min(options.upto);
    let lanes = rails.width(0, len, if options.width < 100 { 2 } else { 4 });
    for at in 0..len {
        // A ruler stands before the record that would be the first kept one; between two prompts there is one cut
        // after every record, so only those at the start of a turn or behind a resolution are worth a line.
        if line_at == Some(at) {
            each(&rule(options, "budget line"));
        }
        if cuts.binary_search(&at).is_ok() && worth_a_ruler(session, at) {
            let frees = session.budget().map_or(0, |budget| budget.frees(0, at));
            each(&rule(options, &format!("{} legal cut {at} frees {}", options.symbols.cut(), tokens(frees))));
        }
        let head = head_of(session, payload, at).unwrap_or_default();
        if let Some(row) = row(session, &rails, at, head, options.now) {
            each(&line(&row, lanes, rails.folded(at, lanes), options));
        }
    }
}

/// A legal cut worth a line of its own: at the start of a human turn.
pub fn worth_a_ruler(session: &Session, at: usize) -> bool {
    session.record(at).is_some_and(crate::model::Record::is_prompt)
}

fn rule(options: &ShowOptions, text: &str) -> String {
    let rest = options.width.saturating_sub(text.chars().count() + 10);
    format!("        {} {text} {}", options.symbols.rule(), options.symbols.rule().repeat(rest.saturating_sub(2)))
}

fn line(row: &Row, lanes: usize, folded: usize, options: &ShowOptions) -> String {
    let mark = if row.open { options.symbols.open() } else { " " };
    let time = clock(row.time, &options.zone).unwrap_or_else(|| "        ".to_string());
    let rails: String = row.rails.iter().take(lanes).map(|rail| options.symbols.rail(*rail)).collect();
    let more = if folded > 0 { format!("+{folded}") } else { String::new() };
    let unsent = if row.sent { "" } else { "(not sent) " };
    let left = format!("{mark}{:>7} {time} {rails}{more}{} {unsent}", row.at, options.symbols.sign(row.sign));
    let right = format!(" {:>14} {:>7}", row.state, tokens(row.tokens));
    let room = options.width.saturating_sub(left.chars().count() + right.chars().count()).max(8);
    let head = Shown::cut(&row.head, room);
    let pad = room.saturating_sub(head.width());
    format!("{left}{head}{}{right}", " ".repeat(pad))
}

/// `120`, `58.2k`, `1.2M`.
pub fn tokens(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..1_000_000 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        _ => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}
