use std::borrow::Cow;

use super::IdentifierState;
use crate::{format::json::Raw, model::Body};

/// Bytes of one argument or one result that are looked at.
pub(super) const SCAN: usize = 256 * 1024;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Answered with success.
    Done,
    /// Answered with a failure, or denied and not executed.
    Failed,
    /// Not answered, abandoned, interrupted, or answered before its work was done.
    Unknown,
}

impl Outcome {
    /// State of something that a call was to bring about as a whole: a failure changed nothing.
    pub(super) fn whole(self, done: IdentifierState) -> IdentifierState {
        match self {
            Self::Done => done,
            Self::Failed => IdentifierState::Failed,
            Self::Unknown => IdentifierState::Unknown,
        }
    }

    /// State of something that one part of a longer script was to bring about: the script may have failed before it,
    /// in it, or after it.
    pub(super) fn part(self, done: IdentifierState) -> IdentifierState {
        match self {
            Self::Done => done,
            Self::Failed | Self::Unknown => IdentifierState::Unknown,
        }
    }
}

/// Arguments of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input<'a> {
    /// JSON, as nearly every tool has it.
    Json(Raw<'a>),
    /// Free text, as patch tools have it.
    Text(&'a str),
    /// Nothing.
    None,
}

/// One call as the families of identifiers look at it.
pub(super) struct Call<'a> {
    /// Its position.
    pub(super) at: usize,
    /// Its tool in lower case.
    pub(super) tool: &'a str,
    pub(super) input: Input<'a>,
    pub(super) outcome: Outcome,
    /// What it launched is still going on, as far as the ledger knows.
    pub(super) lives_on: bool,
    /// Its answer, if there is one and the tool's answers can hold identifiers.
    pub(super) answer: Option<&'a Body>,
}

impl<'a> Call<'a> {
    /// The arguments, if they are an object.
    pub(super) fn arguments(&self) -> Option<Raw<'a>> {
        match self.input {
            Input::Json(raw) if raw.is_object() => Some(raw),
            _ => None,
        }
    }

    /// The argument `name` as text: a string, or a number as it stands.
    pub(super) fn argument(&self, name: &str) -> Option<Cow<'a, str>> {
        scalar(self.arguments()?.get(name)?)
    }

    /// The first of `names` that is an argument.
    pub(super) fn first_of(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        names.iter().find_map(|name| self.argument(name))
    }

    /// True if the argument `name` is `true`.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.arguments().and_then(|raw| raw.get(name)).and_then(Raw::bool) == Some(true)
    }

    /// True if the tool's name contains one of `parts`.
    pub(super) fn tool_has(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.tool.contains(part))
    }

    /// The start of the answer's text, bounded.
    pub(super) fn answer_text(&self) -> &'a str {
        self.answer.map_or("", |body| head(&body.text, SCAN))
    }

    /// A fact beside the answer's text.
    pub(super) fn fact(&self, name: &str) -> Option<&'a str> {
        let facts = &self.answer?.facts;
        facts.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A string, or a number as it stands.
pub(super) fn scalar(value: Raw<'_>) -> Option<Cow<'_, str>> {
    let number = || value.bytes().first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'-');
    value.str().or_else(|| number().then(|| String::from_utf8_lossy(value.bytes())))
}

/// At most `bytes` bytes of the start of `text`, cut between characters.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}
