//! A new file in the neutral format: header, kept head, summary, kept tail, what was settled beside its call.

use rustc_hash::FxHashMap;

use crate::{
    format::{
        Act, ForkError, ForkOrder, Forked, Origin, Settle,
        fork::{Edits, line_of, quoted},
        json::Raw,
    },
    model::{LaneId, Record, rfc3339},
};

/// The new file. `header` is the place of the source's first line, if it is one.
pub(super) fn fork(order: &ForkOrder<'_>, header: Option<&Record>, session: Option<&str>) -> Result<Forked, ForkError> {
    let mut out = Forked { session: order.minted.uuid4("session"), ..Forked::default() };
    head(order, header, session, &mut out)?;
    let positions: FxHashMap<u32, usize> =
        order.context.slots().iter().enumerate().filter_map(|(at, slot)| Some((slot.id()?, at))).collect();
    let mut settle = order.settle.iter().enumerate().peekable();
    for (id, record) in (0u32..).zip(&order.log.records) {
        let Some(at) = positions.get(&id).copied() else {
            // Other lanes are no part of what the model reads; they stay where they are.
            if record.lane != LaneId::MAIN {
                keep(record, Vec::new(), &mut out);
            }
            continue;
        };
        while let Some((n, wish)) = settle.next_if(|(_, wish)| wish.place <= at) {
            settled(order, n, wish, &mut out);
        }
        if at == order.from {
            summary(order, &mut out);
        }
        if at < order.from || at >= order.to {
            keep(record, vec![Origin::Kept(at)], &mut out);
        }
    }
    for (n, wish) in settle {
        settled(order, n, wish, &mut out);
    }
    if order.from >= order.context.len() {
        summary(order, &mut out);
    }
    Ok(out)
}

fn head(
    order: &ForkOrder<'_>,
    header: Option<&Record>,
    session: Option<&str>,
    out: &mut Forked,
) -> Result<(), ForkError> {
    let from = session.map_or("null".to_string(), quoted);
    let fresh = quoted(&out.session);
    let Some(record) = header else {
        out.rope.write(format!("{{\"cutline\":1,\"session\":{fresh},\"forked_from\":{from}}}"));
        out.end_line(Vec::new());
        return Ok(());
    };
    let line = line_of(order, record)?;
    let value = Raw::prefix(&line, record.at as usize).ok().ok_or(ForkError::Gone(record.line))?;
    let mut edits = Edits::default();
    edits.set(value, "session", &fresh);
    edits.set(value, "forked_from", &from);
    edits.apply(value, record.segment, record.offset, &mut out.rope);
    out.end_line(Vec::new());
    Ok(())
}

/// The value alone: what stood on its line beside it is damage.
fn keep(record: &Record, origins: Vec<Origin>, out: &mut Forked) {
    out.rope.copy(record.segment, record.offset + u64::from(record.at), record.len);
    out.end_line(origins);
}

pub(super) fn summary(order: &ForkOrder<'_>, out: &mut Forked) {
    let Some(text) = order.summary else { return };
    let time = rfc3339(order.minted.now).unwrap_or_default();
    let last = order.to.saturating_sub(1);
    out.rope.write(format!(
        "{{\"kind\":\"summary\",\"time\":{},\"covers\":[{},{last}],\"text\":{}}}",
        quoted(&time),
        order.from,
        quoted(text)
    ));
    out.end_line(vec![Origin::Summary]);
}

pub(super) fn settled(order: &ForkOrder<'_>, n: usize, wish: &Settle, out: &mut Forked) {
    // What is settled inside the span is told by the summary.
    if wish.at >= order.from && wish.at < order.to {
        return;
    }
    let kind = match wish.act {
        Act::Abandon => "\"abandoned\"",
        Act::Deny => "\"approval\",\"granted\":false",
        Act::Close => "\"transaction-end\",\"outcome\":\"unknown\"",
        Act::Reset => "\"retry\",\"count\":0",
        Act::DeclareDead => "\"task-ended\",\"outcome\":\"unknown\"",
    };
    let time = quoted(&rfc3339(order.minted.now).unwrap_or_default());
    let (id, reason, by) = (quoted(&wish.id), quoted(&wish.text()), quoted(&wish.by));
    out.rope.write(format!("{{\"kind\":{kind},\"id\":{id},\"time\":{time},\"reason\":{reason},\"by\":{by}}}"));
    out.end_line(vec![Origin::Settled(n)]);
}
