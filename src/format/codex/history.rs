//! The history that the client would send, folded forward over the steps, and its repair into a [`Context`].
//!
//! Upstream rebuilds it backward from the newest surviving compaction; a forward fold gives the same list, because
//! a compaction with a replacement history forgets everything before it.

use rustc_hash::FxHashMap;

use super::step::{Compaction, Item, Key, Role, Sign};
use crate::model::{Context, Flags, Log, Note, NoteKind, RecordId, Slot};

/// Approximate tokens of user messages that a compaction without replacement history keeps (0.32 to 0.171).
const USER_BUDGET: u32 = 20_000;

/// How often a key stands in the history.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    calls: u32,
    outputs: u32,
    /// Index of the first item with this key.
    first: usize,
}

/// A call of the file that no output has answered.
#[derive(Clone, Copy, Debug)]
struct Open {
    record: RecordId,
    row: u32,
    swallowed: bool,
}

/// The history so far.
#[derive(Default)]
pub(super) struct History {
    items: Vec<Item>,
    tallies: FxHashMap<Key, Tally>,
    /// Calls without output over the whole file, by key, oldest first.
    open: FxHashMap<Key, Vec<Open>>,
    /// Row of the newest call of a key.
    newest: FxHashMap<Key, u32>,
    row: u32,
    /// A call of an earlier row was followed by a request to the model: there it was answered in memory.
    asked: u32,
    last_output: u32,
    /// Items that came from the newest compaction, and its line.
    base: (usize, u32),
    context: Context,
    /// Position of each item's slot, as far as the context is built.
    places: Vec<usize>,
    /// Items from here on have no valid slot.
    dirty: usize,
    /// Items with a placeholder that says only what the next request would say.
    owed: Vec<usize>,
}

impl History {
    /// The newest record that is in the context, if there is any.
    pub(super) fn newest(&self) -> Option<RecordId> {
        self.items.last().map(|item| item.record)
    }

    /// Something was learned about the newest record: readers must look at it again.
    pub(super) fn touch(&mut self) {
        self.dirty = self.dirty.min(self.items.len().saturating_sub(1));
    }

    /// Takes a response item.
    pub(super) fn item(&mut self, item: Item, sent: bool, sign: Sign) {
        self.row += 1;
        match sign {
            Sign::Output => self.last_output = self.row,
            Sign::Model => self.request(self.last_output),
            Sign::None => {}
        }
        if item.role.is_turn() {
            self.request(self.row);
        }
        if !sent {
            return;
        }
        self.bind(item);
        self.push(Item { row: self.row, ..item });
    }

    /// A later request is proven by a line that is no item.
    pub(super) fn asked(&mut self) {
        self.row += 1;
        self.request(self.row);
    }

    /// Every call before `row` was followed by a request.
    fn request(&mut self, row: u32) {
        if row <= self.asked {
            return;
        }
        self.asked = row;
        let first = self.owed.iter().find(|i| self.items.get(**i).is_some_and(|item| item.row < row));
        if let Some(first) = first {
            self.dirty = self.dirty.min(*first);
        }
    }

    /// Binds calls and outputs over the file: an output goes to the nearest earlier open call of its key.
    fn bind(&mut self, item: Item) {
        match item.role {
            Role::Call(key) => {
                self.newest.insert(key, self.row);
                let open = Open { record: item.record, row: self.row, swallowed: false };
                self.open.entry(key).or_default().push(open);
            }
            Role::Output(key) => {
                if let Some(stack) = self.open.get_mut(&key) {
                    stack.pop();
                    if stack.is_empty() {
                        self.open.remove(&key);
                    }
                }
            }
            _ => {}
        }
    }

    /// Appends to the history; what an earlier slot says may change by it.
    fn push(&mut self, item: Item) {
        let at = self.items.len();
        self.items.push(item);
        match item.role {
            Role::Call(key) => {
                let tally = self.tallies.entry(key).or_insert(Tally { first: at, ..Tally::default() });
                if tally.calls == 0 {
                    // An output that came before its call was an orphan until now: the client compares sets.
                    self.dirty = self.dirty.min(tally.first);
                }
                tally.calls += 1;
            }
            Role::Output(key) => {
                let tally = self.tallies.entry(key).or_insert(Tally { first: at, ..Tally::default() });
                if tally.outputs == 0 {
                    // The placeholders of its calls fall away.
                    self.dirty = self.dirty.min(tally.first);
                }
                tally.outputs += 1;
            }
            _ => {}
        }
    }

    /// Takes a compaction that the client accepts.
    pub(super) fn compacted(&mut self, cut: &Compaction, log: &mut Log) {
        self.row += 1;
        let next = match &cut.items {
            Some(items) => items.iter().map(|item| self.rerowed(*item)).collect(),
            None => self.rebuilt(self.rerowed(cut.summary), log),
        };
        self.swallow(&next, cut.line, log);
        let same = self.items.iter().zip(&next).take_while(|(old, new)| old.record == new.record).count();
        self.dirty = self.dirty.min(same);
        self.tallies.clear();
        self.items.clear();
        for item in next {
            self.push(item);
        }
        self.base = (self.items.len(), cut.line);
    }

    /// A call inside a replacement history is as old as the call that it repeats.
    fn rerowed(&self, item: Item) -> Item {
        let row = match item.role {
            Role::Call(key) => self.newest.get(&key).copied(),
            _ => None,
        };
        Item { row: row.unwrap_or(self.row), ..item }
    }

    /// Without replacement history: the newest prompts up to the budget, the last one cut, then the message.
    fn rebuilt(&self, summary: Item, log: &mut Log) -> Vec<Item> {
        let mut left = USER_BUDGET;
        let mut kept = Vec::new();
        for item in self.items.iter().rev().filter(|item| item.role == Role::Prompt) {
            if left == 0 {
                break;
            }
            let tokens = item.text.div_ceil(4);
            if tokens > left
                && let Some(record) = log.records.get_mut(item.record as usize)
            {
                record.flags = record.flags.with(Flags::TRUNCATED);
                record.tokens = record.tokens.min(left);
            }
            kept.push(*item);
            left = left.saturating_sub(tokens);
        }
        kept.reverse();
        kept.push(summary);
        kept
    }

    /// Notes the calls that were open, that no request had answered yet, and that `next` does not hold.
    fn swallow(&mut self, next: &[Item], line: u32, log: &mut Log) {
        let mut lost: Vec<RecordId> = Vec::new();
        for (key, stack) in &mut self.open {
            // A call that a request has answered in memory is old news.
            let is_fresh = |open: &Open| !open.swallowed && open.row >= self.asked;
            if !stack.iter().any(is_fresh) || next.iter().any(|item| item.role == Role::Call(*key)) {
                continue;
            }
            for open in stack.iter_mut().filter(|open| is_fresh(open)) {
                open.swallowed = true;
                lost.push(open.record);
            }
        }
        lost.sort_unstable();
        for id in lost {
            let Some(record) = log.records.get(id as usize) else { continue };
            let name = |sym: Option<crate::model::Sym>| sym.map_or("", |sym| log.syms.name(sym));
            let text = format!(
                "The compaction at line {line} dropped the call {} ({}) while it was open.",
                name(record.id),
                name(record.tool)
            );
            log.notes.push(Note { kind: NoteKind::Swallowed, line: record.line, record: Some(id), text });
        }
    }

    /// Drops everything from the n-th last turn on, with the context that stood directly before it. What stands
    /// before the first turn of all stays.
    pub(super) fn rolled_back(&mut self, turns: u64, line: u32, log: &mut Log) {
        self.row += 1;
        let starts: Vec<usize> = (0..self.items.len()).filter(|i| self.role(*i).is_turn()).collect();
        let Some(first) = starts.first().copied() else { return };
        if turns == 0 {
            return;
        }
        let back = usize::try_from(turns).unwrap_or(usize::MAX);
        let mut cut = starts.len().checked_sub(back).and_then(|n| starts.get(n)).copied().unwrap_or(first);
        while cut > first && self.role(cut - 1) == Role::Surround {
            cut -= 1;
        }
        if cut < self.base.0 {
            log.note(
                NoteKind::Resume,
                line,
                format!(
                    "The rollback reaches behind the compaction at line {}; a resume may rebuild less than is shown.",
                    self.base.1
                ),
            );
            self.base.0 = cut;
        }
        for item in self.items.split_off(cut) {
            self.forget(item);
        }
        self.dirty = self.dirty.min(cut);
    }

    fn role(&self, index: usize) -> Role {
        self.items.get(index).map_or(Role::Other, |item| item.role)
    }

    /// Takes a dropped item out of the tallies; what it answered or was answered by changes.
    fn forget(&mut self, item: Item) {
        let (key, call) = match item.role {
            Role::Call(key) => (key, true),
            Role::Output(key) => (key, false),
            _ => return,
        };
        let Some(tally) = self.tallies.get_mut(&key) else { return };
        let count = if call { &mut tally.calls } else { &mut tally.outputs };
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.dirty = self.dirty.min(tally.first);
        }
        if tally.calls == 0 && tally.outputs == 0 {
            self.tallies.remove(&key);
        }
    }

    /// The context as of the last [`History::context`].
    pub(super) fn current(&self) -> &Context {
        &self.context
    }

    /// The context, with everything since the last time.
    pub(super) fn context(&mut self, log: &Log) -> &mut Context {
        let place = self.places.get(self.dirty).copied().unwrap_or(self.context.len());
        if place < self.context.len() {
            self.context.truncate(place);
        }
        let dirty = self.dirty;
        self.places.truncate(dirty);
        self.owed.retain(|i| *i < dirty);
        for at in dirty..self.items.len() {
            self.place(at, log);
        }
        self.dirty = self.items.len();
        &mut self.context
    }

    /// Appends the slot of item `at`, repaired as the client does it right before each request: an answer directly
    /// after a call without output; outputs without a call are not sent. Sets per class: neither order nor number
    /// counts.
    fn place(&mut self, at: usize, log: &Log) {
        let Some(item) = self.items.get(at).copied() else { return };
        self.places.push(self.context.len());
        let slot = Slot::record(item.record);
        let tally = |key| self.tallies.get(&key).copied().unwrap_or_default();
        match item.role {
            Role::Output(key) if tally(key).calls == 0 => self.context.push(slot.unsent()),
            Role::Call(key) if tally(key).outputs == 0 => {
                self.context.push(slot);
                let owed = item.row >= self.asked;
                if owed {
                    self.owed.push(at);
                }
                if let Some(record) = log.records.get(item.record as usize) {
                    self.context.push_placeholder(record, owed);
                }
            }
            _ => self.context.push(slot),
        }
    }
}
