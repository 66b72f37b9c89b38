//! The last todo list: of tools that write it whole, and of tools that change one item.

use std::borrow::Cow;

use super::{
    Identifier, IdentifierKind, IdentifierState,
    call::{Call, Outcome, head, scalar},
};
use crate::format::json::Raw;

/// Items of a list that are kept at most, and bytes of one.
const MOST: usize = 200;
const LONGEST: usize = 1_000;

/// Follows the todo list over the calls that write it.
#[derive(Default)]
pub(super) struct Todo {
    items: Vec<Item>,
}

struct Item {
    id: String,
    text: String,
    state: IdentifierState,
    at: usize,
}

impl Todo {
    /// Takes `call` if it writes a todo list. True if nothing else is to be looked for in it.
    pub(super) fn take(&mut self, call: &Call<'_>) -> bool {
        let Some(arguments) = call.arguments() else { return false };
        match call.tool {
            "taskcreate" => self.create(call),
            "taskupdate" => self.update(call),
            _ => {
                let list = ["todos", "plan", "todoList", "todo_list"].iter().find_map(|name| arguments.get(name));
                let named = call.tool_has(&["todo", "plan"]);
                let Some(list) = list.filter(|list| list.is_array() && named) else { return false };
                self.whole(call, list);
            }
        }
        true
    }

    fn whole(&mut self, call: &Call<'_>, list: Raw<'_>) {
        // A list that failed or was never answered did not become the list.
        if call.outcome != Outcome::Done && !self.items.is_empty() {
            return;
        }
        self.items = list
            .items()
            .take(MOST)
            .enumerate()
            .filter_map(|(n, item)| {
                let text = item.str().or_else(|| text_of(item)).filter(|text| !text.trim().is_empty())?;
                let id = item.get("id").and_then(scalar).map_or_else(|| (n + 1).to_string(), Cow::into_owned);
                let state = item.get_str("status").map_or(IdentifierState::Open, |status| state_of(&status));
                Some(Item { id, text: head(&text, LONGEST).to_string(), state, at: call.at })
            })
            .collect();
    }

    /// `Task #3 created successfully: …`
    fn create(&mut self, call: &Call<'_>) {
        let Some(text) = call.first_of(&["subject", "title", "content"]).filter(|text| !text.trim().is_empty()) else {
            return;
        };
        if call.outcome == Outcome::Failed || self.items.len() >= MOST {
            return;
        }
        let answer = call.answer_text().split_once('#').map_or("", |(_, rest)| rest);
        let digits: String = answer.chars().take_while(char::is_ascii_digit).take(9).collect();
        let id = if digits.is_empty() { (self.items.len() + 1).to_string() } else { digits };
        let text = head(&text, LONGEST).to_string();
        self.items.push(Item { id, text, state: IdentifierState::Open, at: call.at });
    }

    fn update(&mut self, call: &Call<'_>) {
        let Some(id) = call.first_of(&["taskId", "task_id", "id"]) else { return };
        let Some(status) = call.argument("status").filter(|_| call.outcome == Outcome::Done) else { return };
        if status == "deleted" {
            self.items.retain(|item| item.id != *id);
        }
        for item in self.items.iter_mut().filter(|item| item.id == *id) {
            item.state = state_of(&status);
            item.at = call.at;
        }
    }

    /// The list as identifiers; `None` if there never was one.
    pub(super) fn list(self) -> Option<Vec<Identifier>> {
        let kind = IdentifierKind::Todo;
        let identifier = |item: Item| Identifier { kind, value: item.text, from: item.at, state: item.state };
        (!self.items.is_empty()).then(|| self.items.into_iter().map(identifier).collect())
    }
}

fn text_of(item: Raw<'_>) -> Option<Cow<'_, str>> {
    ["content", "step", "text", "title", "subject", "description", "task"].iter().find_map(|name| item.get_str(name))
}

fn state_of(status: &str) -> IdentifierState {
    match status {
        "in_progress" | "in-progress" | "active" | "doing" => IdentifierState::Current,
        "completed" | "done" | "cancelled" | "canceled" | "skipped" => IdentifierState::Closed,
        _ => IdentifierState::Open,
    }
}
