//! A list of messages with a span replaced, in the container of the source: an array, a message a line, or the body of
//! one request. The log itself is evidence and stays as it is.
//!
//! What is given up is answered directly behind the results of its response: Chat wants a message of the role `tool`
//! there, for Responses any place behind the call will do.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::{Dialect, Place, chain::Told, words::PAIRS};
use crate::format::{
    Act, ForkError, ForkOrder, Forked, Origin, Settle,
    fork::{line_of, quoted},
    json::Raw,
};

/// What the reader knows of the source.
pub(super) struct Source<'a> {
    pub(super) dialect: Dialect,
    pub(super) told: &'a [Told],
    pub(super) body: Option<Place>,
    /// Requests that failed, and that nothing came after.
    pub(super) errors: &'a [(u16, u64, (u32, u32))],
    pub(super) in_document: bool,
    pub(super) remote: bool,
}

/// How the messages stand in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Lines,
    Array,
    Body,
}

pub(super) fn fork(order: &ForkOrder<'_>, source: &Source<'_>) -> Result<Forked, ForkError> {
    if source.remote {
        let text = "The provider keeps a part of this conversation (previous_response_id or conversation): a file with \
                    another history would change nothing there. Start a new list instead.";
        return Err(ForkError::Unfit(text.to_string()));
    }
    let container = match source.body {
        Some(_) => Container::Body,
        None if source.in_document => Container::Array,
        None => Container::Lines,
    };
    let mut writer = Writer { order, source, container, written: 0, origins: Vec::new(), out: Forked::default() };
    writer.out.session = order.minted.uuid4("session");
    writer.out.document = container != Container::Lines;
    let body = writer.begin()?;
    writer.messages()?;
    writer.end(body);
    writer.errors();
    let mut out = writer.out;
    out.told.push("This is the list that a client sends; no runtime is known that loads it by itself.".to_string());
    out.left_out = (order.log.lines as usize).saturating_sub(source.told.len());
    Ok(out)
}

struct Writer<'a> {
    order: &'a ForkOrder<'a>,
    source: &'a Source<'a>,
    container: Container,
    written: usize,
    /// Of a document, whose records are found in the order of the file.
    origins: Vec<Origin>,
    out: Forked,
}

impl Writer<'_> {
    /// What stands before the list. Goes out: how many bytes of the body stand behind it, and where.
    fn begin(&mut self) -> Result<Option<(u16, u64, u32)>, ForkError> {
        match (self.container, self.source.body) {
            (Container::Body, Some(place)) => {
                let ((body, len), (list, list_len)) = (place.body, place.list);
                let gone = || ForkError::Gone(place.line);
                self.order.payload.read(place.segment, place.offset, place.line_len).ok_or_else(gone)?;
                self.out.rope.copy(place.segment, place.offset + u64::from(body), list - body);
                self.out.rope.write("[");
                let behind = list + list_len;
                Ok(Some((place.segment, place.offset + u64::from(behind), body + len - behind)))
            }
            (Container::Array, _) => {
                self.out.rope.write("[");
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn end(&mut self, body: Option<(u16, u64, u32)>) {
        match self.container {
            Container::Lines => return,
            Container::Array => self.out.rope.write("\n]"),
            Container::Body => self.out.rope.write("]"),
        }
        if let Some((segment, offset, len)) = body {
            self.out.rope.copy(segment, offset, len);
        }
        let origins = std::mem::take(&mut self.origins);
        self.out.end_line(origins);
    }

    /// What failed stays failed, unless its counter is set back; one document has no room for it.
    fn errors(&mut self) {
        let reset = self.order.settle.iter().any(|wish| wish.act == Act::Reset);
        if reset || self.source.in_document {
            return;
        }
        for (segment, offset, (at, len)) in self.source.errors {
            self.out.rope.write("{\"error\":");
            self.out.rope.copy(*segment, offset + u64::from(*at), *len);
            self.out.rope.write("}");
            self.out.end_line(Vec::new());
        }
    }

    /// What stands between two messages.
    fn next(&mut self) {
        let text = match (self.container, self.written) {
            (Container::Lines, _) | (Container::Body, 0) => "",
            (Container::Array, 0) => "\n",
            (Container::Array, _) => ",\n",
            (Container::Body, _) => ",",
        };
        self.out.rope.write(text);
        self.written += 1;
    }

    fn done(&mut self, origins: Vec<Origin>) {
        if self.container == Container::Lines {
            self.out.end_line(origins);
        } else {
            self.origins.extend(origins);
        }
    }

    fn messages(&mut self) -> Result<(), ForkError> {
        let (order, source) = (self.order, self.source);
        let slots = order.context.slots().iter().enumerate();
        let positions: FxHashMap<u32, usize> = slots.filter_map(|(at, slot)| Some((slot.id()?, at))).collect();
        let mut settle = order.settle.iter().enumerate().peekable();
        let mut summary = order.summary.is_some();
        for told in source.told {
            let (first, end) = told.records;
            let places: Vec<usize> = (first..end).filter_map(|id| positions.get(&id).copied()).collect();
            if told.outside {
                self.keep(told, Vec::new());
                continue;
            }
            let Some(start) = places.iter().min().copied() else { continue };
            while let Some((n, wish)) = settle.next_if(|(_, wish)| wish.place <= start) {
                self.settled(n, wish)?;
            }
            if start >= order.from && std::mem::take(&mut summary) {
                self.summary();
            }
            let inside = places.iter().filter(|at| (order.from..order.to).contains(at)).count();
            if inside == places.len() {
                continue;
            }
            if inside > 0 {
                let text = format!("The message on line {} would be parted: move the cut behind it.", told.line);
                return Err(ForkError::Unfit(text));
            }
            self.keep(told, places);
        }
        if summary {
            self.summary();
        }
        for (n, wish) in settle {
            self.settled(n, wish)?;
        }
        Ok(())
    }

    fn keep(&mut self, told: &Told, places: Vec<usize>) {
        self.next();
        self.out.rope.copy(told.segment, told.offset + u64::from(told.at), told.len);
        self.done(places.into_iter().map(Origin::Kept).collect());
    }

    fn summary(&mut self) {
        let text = quoted(self.order.summary.unwrap_or_default());
        self.next();
        self.out.rope.write(match self.source.dialect {
            Dialect::Chat => format!("{{\"role\":\"user\",\"content\":{text}}}"),
            Dialect::Responses => format!(
                "{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":{text}}}]}}"
            ),
        });
        self.done(vec![Origin::Summary]);
    }

    /// A message of its own for what is given up outside of the span; inside, the summary tells it.
    fn settled(&mut self, n: usize, wish: &Settle) -> Result<(), ForkError> {
        if wish.act == Act::Reset || (self.order.from..self.order.to).contains(&wish.at) {
            return Ok(());
        }
        let message = self.words(wish)?;
        self.next();
        self.out.rope.write(message);
        self.done(vec![Origin::Settled(n)]);
        Ok(())
    }

    fn words(&self, wish: &Settle) -> Result<String, ForkError> {
        let cannot = || ForkError::CannotSay { act: wish.act.name(), id: wish.id.clone() };
        let (id, text) = (quoted(&wish.id), quoted(&wish.text()));
        let opened = self.order.context.get(self.order.log, wish.at).ok_or_else(cannot)?;
        let line = line_of(self.order, opened)?;
        let value = Raw::prefix(&line, opened.at as usize).ok().ok_or(ForkError::Gone(opened.line))?;
        let kind = value.get_str("type").unwrap_or(Cow::Borrowed(""));
        match (self.source.dialect, wish.act) {
            // The old form has no id: its call is an object of a name and arguments.
            (Dialect::Chat, Act::Abandon) if value.get("id").is_none() => {
                Ok(format!("{{\"role\":\"function\",\"name\":{id},\"content\":{text}}}"))
            }
            (Dialect::Chat, Act::Abandon) => {
                Ok(format!("{{\"role\":\"tool\",\"tool_call_id\":{id},\"content\":{text}}}"))
            }
            (Dialect::Responses, Act::Abandon) => {
                let answer = PAIRS.iter().find(|(call, _)| *call == kind).map(|(_, answer)| *answer);
                let answer = answer.filter(|answer| *answer != "computer_call_output").ok_or_else(cannot)?;
                Ok(format!("{{\"type\":{},\"call_id\":{id},\"output\":{text}}}", quoted(answer)))
            }
            (Dialect::Responses, Act::Deny) => Ok(format!(
                "{{\"type\":\"mcp_approval_response\",\"approval_request_id\":{id},\"approve\":false,\"reason\":{text}}}"
            )),
            _ => Err(cannot()),
        }
    }
}
