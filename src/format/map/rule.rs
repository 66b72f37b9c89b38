//! One rule of a map, and what the rules of a map see in a record.

use std::borrow::Cow;

use regex::Regex;

use super::{
    matcher::{When, head},
    pointer::{MOST_ITEMS, Paths, Pointer, plain},
};
use crate::format::json::Raw;

/// What a rule makes of what it finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// A person's prompt.
    User,
    /// Text of the user or system role that no person typed.
    Injected,
    /// Text of the model.
    Assistant,
    /// Reasoning of the model.
    Thinking,
    /// A new call.
    Call,
    /// The resolution of the newest open call of that id; without an id of the oldest one of that name.
    Result,
    /// A call with its state in one place: opens it, closes it, or tells nothing new.
    State,
    /// Every open call of the lane is closed by the runtime itself.
    Close,
    /// A compaction of the runtime's own.
    Boundary,
    /// A measured number of tokens.
    Usage,
    /// A person is asked to approve something.
    ApprovalRequest,
    /// The answer to that.
    Approval,
    /// A task that lives on begins.
    TaskStarted,
    /// It ends.
    TaskEnded,
    /// A retry counter rose.
    Retry,
    /// It went back to zero.
    RetrySettled,
    /// Known and inert.
    Notice,
}

/// Verbs with their names in a map.
pub(super) const VERBS: [(&str, Verb); 17] = [
    ("user", Verb::User),
    ("injected", Verb::Injected),
    ("assistant", Verb::Assistant),
    ("thinking", Verb::Thinking),
    ("call", Verb::Call),
    ("result", Verb::Result),
    ("state", Verb::State),
    ("close", Verb::Close),
    ("boundary", Verb::Boundary),
    ("usage", Verb::Usage),
    ("approval-request", Verb::ApprovalRequest),
    ("approval", Verb::Approval),
    ("task-started", Verb::TaskStarted),
    ("task-ended", Verb::TaskEnded),
    ("retry", Verb::Retry),
    ("retry-settled", Verb::RetrySettled),
    ("notice", Verb::Notice),
];

impl Verb {
    /// Its name in a map.
    pub fn name(self) -> &'static str {
        VERBS.iter().find(|(_, verb)| *verb == self).map_or("", |(name, _)| name)
    }
}

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Owed.
    Open,
    /// Succeeded.
    Ok,
    /// Failed.
    Error,
    /// Given up, outcome unknown.
    Abandoned,
    /// Not executed, because somebody said no.
    Denied,
    /// Discarded by the runtime with its response: never owed.
    Void,
}

/// States with their names in a map.
pub(super) const STATES: [(&str, State); 6] = [
    ("open", State::Open),
    ("ok", State::Ok),
    ("error", State::Error),
    ("abandoned", State::Abandoned),
    ("denied", State::Denied),
    ("void", State::Void),
];

/// How a rule knows the state.
#[derive(Clone, Debug)]
pub(super) struct Status {
    /// Where it stands.
    pub(super) at: Paths,
    /// What its words mean; JSON that is no text is written as it is (`true`, `2`, `null`).
    pub(super) is: Vec<(String, State)>,
    /// Any other word.
    pub(super) other: State,
    /// Nothing there.
    pub(super) missing: State,
}

impl Status {
    pub(super) fn always(state: State) -> Self {
        Self { at: Paths::default(), is: Vec::new(), other: state, missing: state }
    }

    fn of(&self, item: Raw<'_>, record: Raw<'_>) -> State {
        let Some(value) = self.at.0.iter().find_map(|pointer| pointer.first(item, record)) else {
            return self.missing;
        };
        let word = plain(value);
        self.is.iter().find(|(name, _)| *name == word).map_or(self.other, |(_, state)| *state)
    }
}

/// Calls and results inside a text.
#[derive(Clone, Debug)]
pub(super) struct Find {
    /// The text.
    pub(super) text: Paths,
    /// Every match is one of what the rule emits; the groups `id`, `name`, `input` say what they say.
    pub(super) regex: Regex,
}

/// What stays after a compaction.
#[derive(Clone, Debug)]
pub(super) enum Reach {
    /// Not told, or told in a way that must not be guessed (a count of messages): only marked.
    Mark,
    /// Nothing before it.
    All,
    /// The records from this id on.
    KeepFrom(Paths),
    /// Everything but the records with these ids.
    Forget(Pointer),
}

/// Tokens that were measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    /// Summed: what the context held.
    pub(super) input: Vec<Pointer>,
    /// Summed: what the response added.
    pub(super) output: Vec<Pointer>,
    /// The window.
    pub(super) window: Paths,
}

/// One rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// 1-based line of the map on which it begins.
    pub(super) line: usize,
    pub(super) when: When,
    pub(super) each: Option<Pointer>,
    pub(super) item: When,
    pub(super) find: Option<Find>,
    pub(super) emit: Verb,
    pub(super) id: Paths,
    pub(super) name: Paths,
    pub(super) strip: String,
    pub(super) text: Paths,
    pub(super) input: Paths,
    pub(super) response: Paths,
    pub(super) status: Status,
    pub(super) void_if: Option<When>,
    /// A second resolution is written twice by design and no duplicate.
    pub(super) repeats: bool,
    /// `Close`: of every lane.
    pub(super) every_lane: bool,
    pub(super) reach: Reach,
    pub(super) figures: Figures,
}

/// What one rule found in one record.
pub(super) struct Emission<'a> {
    pub(super) rule: &'a Rule,
    /// The value it stands for.
    pub(super) item: Raw<'a>,
    pub(super) id: Option<Cow<'a, str>>,
    pub(super) name: Option<Cow<'a, str>>,
    /// Input of a call that was found inside a text.
    pub(super) input: Option<String>,
    pub(super) state: State,
}

/// Everything that `rules` see in `record`. Neighbouring rules over the same items take turns at each item, so that
/// what is found keeps the order of the line.
pub(super) fn emissions<'a>(rules: &'a [Rule], record: Raw<'a>) -> Vec<Emission<'a>> {
    let mut out = Vec::new();
    for group in rules.chunk_by(|a, b| a.each.as_ref().map(Pointer::text) == b.each.as_ref().map(Pointer::text)) {
        let holding: Vec<&Rule> = group.iter().filter(|rule| rule.when.holds(record, record)).collect();
        let Some(first) = holding.first() else { continue };
        let items = first.each.as_ref().map_or_else(|| vec![record], |each| each.all(record, record));
        for item in items {
            for rule in holding.iter().filter(|rule| rule.item.holds(item, record)) {
                emit(rule, item, record, &mut out);
            }
        }
    }
    out.truncate(MOST_ITEMS);
    out
}

fn emit<'a>(rule: &'a Rule, item: Raw<'a>, record: Raw<'a>, out: &mut Vec<Emission<'a>>) {
    let void = rule.void_if.as_ref().is_some_and(|when| when.holds(item, record));
    let state = if void { State::Void } else { rule.status.of(item, record) };
    let Some(find) = &rule.find else {
        let name = rule.name.word(item, record).map(|name| strip(name, &rule.strip));
        out.push(Emission { rule, item, id: rule.id.word(item, record), name, input: None, state });
        return;
    };
    for value in find.text.all(item, record) {
        let text = plain(value);
        for found in find.regex.captures_iter(head(&text)).take(MOST_ITEMS) {
            let group = |name: &str| found.name(name).map(|m| m.as_str().to_string()).filter(|text| !text.is_empty());
            let id = group("id").map(Cow::Owned).or_else(|| rule.id.word(item, record));
            let name = group("name").map(Cow::Owned).or_else(|| rule.name.word(item, record));
            out.push(Emission { rule, item: value, id, name, input: group("input"), state });
        }
    }
}

fn strip<'a>(name: Cow<'a, str>, prefix: &str) -> Cow<'a, str> {
    match name.strip_prefix(prefix) {
        Some(rest) if !prefix.is_empty() => Cow::Owned(rest.to_string()),
        _ => name,
    }
}
