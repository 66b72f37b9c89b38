//! What the API is reported to refuse though every call has its result: told, and no reason against a cut.

use super::Anthropic;
use crate::{
    format::{Line, json::Raw},
    model::{Log, NoteKind},
};

/// Most notes; a log of ten thousand requests would repeat them.
const MOST: usize = 20;

impl Anthropic {
    pub(super) fn lint(&mut self, message: Raw<'_>, line: &Line<'_>, log: &mut Log) {
        let blocks = || message.get("content").into_iter().flat_map(Raw::items);
        let is = |block: Raw<'_>, kind: &str| block.field_is("type", kind);
        let empty = |block: Raw<'_>| is(block, "text") && block.get_str("text").is_some_and(|t| t.trim().is_empty());
        let mut say = |text: &str| {
            if self.linted < MOST {
                self.linted += 1;
                log.note(NoteKind::Format, line.number, text);
            }
        };
        if blocks().any(empty) {
            say("A block of text is empty: the API refuses the list with it.");
        }
        let behind = blocks().skip_while(|block| is(*block, "tool_result")).any(|block| is(block, "tool_result"));
        if behind && message.field_is("role", "user") {
            say("A result stands behind text of its turn: the API wants results first.");
        }
    }
}
