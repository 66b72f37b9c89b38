//! What a provider is reported to refuse, though every call has its result: told, and no reason against a cut.

use rustc_hash::FxHashSet;

use crate::{
    format::{Line, json::Raw},
    model::{Log, NoteKind},
};

/// Most notes of one kind; a log of ten thousand requests would repeat them.
const MOST: usize = 20;

/// The state of the checks over the list so far.
#[derive(Default)]
pub(super) struct Lint {
    /// The newest message was an assistant's with calls, or a result of it.
    batch: bool,
    /// Ids of items.
    items: FxHashSet<u64>,
    /// A request goes on from a response that the provider keeps.
    pub(super) remote: bool,
    told: usize,
}

impl Lint {
    fn say(&mut self, line: &Line<'_>, text: impl Into<String>, log: &mut Log) {
        if self.told < MOST {
            self.told += 1;
            log.note(NoteKind::Format, line.number, text);
        }
    }

    /// A message with a role.
    pub(super) fn message(&mut self, line: &Line<'_>, message: Raw<'_>, role: &str, log: &mut Log) {
        match role {
            "assistant" => self.batch = true,
            "tool" if self.batch => {}
            "tool" => {
                let id = message.get_str("tool_call_id").unwrap_or_default();
                let text = format!("The result of {id} does not follow its call directly: the API refuses the list.");
                self.say(line, text, log);
            }
            _ => self.batch = false,
        }
    }

    /// An item of Responses.
    pub(super) fn item(&mut self, line: &Line<'_>, item: Raw<'_>, kind: &str, log: &mut Log) {
        let Some(id) = item.get_str("id").filter(|_| kind != "item_reference") else { return };
        if !self.items.insert(xxhash_rust::xxh3::xxh3_64(id.as_bytes())) {
            self.say(line, format!("The item {id} stands twice in the list: the API refuses it."), log);
        }
    }
}
