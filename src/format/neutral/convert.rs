//! A session of any format as a new file in the neutral one, for formats whose own files cutline cannot write. The
//! words are kept, their bytes are not; the runtime that wrote the source cannot load it.

use super::write;
use crate::{
    format::{ForkOrder, Forked, Origin, fork::quoted, json::Raw},
    model::{Body, Event, Flags, Kind, Record, rfc3339},
};

/// The new file. `body` decodes the record at a position of the context; `agent` names the source's runtime.
pub fn convert(order: &ForkOrder<'_>, agent: &str, body: &dyn Fn(usize) -> Option<Body>) -> Forked {
    let mut out = Forked { session: order.minted.uuid4("session"), converted: true, ..Forked::default() };
    out.told.push(
        "The runtime cannot load this by itself: it is written in the neutral format of cutline, because its own format \
         cannot be written."
            .to_string(),
    );
    let fresh = quoted(&out.session);
    out.rope.write(format!("{{\"cutline\":1,\"session\":{fresh},\"converted_from\":{}}}", quoted(agent)));
    out.end_line(Vec::new());
    let mut settle = order.settle.iter().enumerate().peekable();
    for at in 0..=order.context.len() {
        while let Some((n, wish)) = settle.next_if(|(_, wish)| wish.place <= at) {
            write::settled(order, n, wish, &mut out);
        }
        if at == order.from {
            write::summary(order, &mut out);
        }
        if at >= order.from && at < order.to {
            continue;
        }
        let Some(record) = order.context.get(order.log, at) else { continue };
        // What the next request would only invent is no fact yet.
        if record.flags.has(Flags::PROSPECTIVE) {
            continue;
        }
        let id = order.context.slots().get(at).and_then(|slot| slot.id());
        let events: Vec<Event> = id.map(|id| order.log.events_at(id).collect()).unwrap_or_default();
        line(order, record, &body(at).unwrap_or_default(), &events, &mut out);
        out.end_line(vec![Origin::Kept(at)]);
    }
    out
}

fn line(order: &ForkOrder<'_>, record: &Record, body: &Body, events: &[Event], out: &mut Forked) {
    let name = |sym| order.log.syms.name(sym);
    let mut text = format!("{{\"kind\":{}", quoted(record.kind.name()));
    let mut set = |key: &str, value: &str| {
        for part in [",", &quoted(key), ":", value] {
            text.push_str(part);
        }
    };
    for (key, sym) in
        [("id", record.id), ("tool", record.tool), ("response", record.response), ("message", record.message)]
    {
        if let Some(sym) = sym {
            set(key, &quoted(name(sym)));
        }
    }
    if let Some(time) = rfc3339(record.time) {
        set("time", &quoted(&time));
    }
    for (flag, key) in [(Flags::VOID, "void"), (Flags::SERVER, "server"), (Flags::META, "injected")] {
        if record.flags.has(flag) {
            set(key, "true");
        }
    }
    if record.flags.has(Flags::UNKNOWN_OUTCOME) {
        set("outcome", "\"unknown\"");
    }
    for event in events {
        match event {
            Event::TaskStarted { id, .. } => set("starts_task", &quoted(name(*id))),
            Event::TaskEnded { id, delivered: true } => set("ends_task", &quoted(name(*id))),
            Event::MayLiveOn(_) => set("may_live_on", "true"),
            _ => {}
        }
    }
    match record.kind {
        Kind::Call => {
            if let Some(input) = body.input.as_deref() {
                let object = Raw::parse(input.as_bytes()).is_ok_and(|value| value.is_object() || value.is_array());
                set("input", &if object { one_line(input) } else { quoted(input) });
            }
        }
        Kind::Result | Kind::Error => set("content", &quoted(&body.text)),
        Kind::Abandoned => set("reason", &quoted(&body.text)),
        Kind::TaskStarted => set("command", &quoted(&body.text)),
        Kind::Retry => set("count", "1"),
        Kind::RetrySettled => set("count", "0"),
        _ => set("text", &quoted(&body.text)),
    }
    text.push('}');
    out.rope.write(text);
}

/// JSON whose white space holds no line breaks: inside strings they are escaped anyway.
fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}
