use std::borrow::Cow;

use crate::{
    format::json::{Key, Raw},
    model::{Millis, parse_rfc3339},
};

/// The fields of one object, found in a single pass: a line can be megabytes long and is asked for twenty names.
pub(super) struct Envelope<'a> {
    fields: Vec<(Key<'a>, Raw<'a>)>,
}

impl<'a> Envelope<'a> {
    pub(super) fn of(value: Raw<'a>) -> Self {
        Self { fields: value.fields().collect() }
    }

    /// The field called `name`; the last one, as JavaScript has it, if it stands twice.
    pub(super) fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.fields.iter().rev().find(|(key, _)| key.is(name)).map(|(_, value)| *value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A string that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.str().filter(|text| !text.is_empty())
    }

    pub(super) fn is(&self, name: &str, text: &str) -> bool {
        self.get(name).is_some_and(|value| value.is(text))
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Raw::bool) == Some(true)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.u64()
    }

    pub(super) fn object(&self, name: &str) -> Option<Self> {
        self.get(name).filter(|value| value.is_object()).map(Self::of)
    }

    pub(super) fn time(&self) -> Millis {
        self.text("timestamp").map_or(Millis::NONE, |text| parse_rfc3339(&text))
    }
}

/// Names a uuid by a number: a file of a million progress lines must not hold a million strings.
pub(super) fn uuid_key(text: &str) -> u128 {
    xxhash_rust::xxh3::xxh3_128(text.as_bytes())
}

/// The text of a content value that is a string, or of its first text block; for recognising fixed texts.
pub(super) fn first_text(content: Raw<'_>) -> Cow<'_, str> {
    if let Some(text) = content.str() {
        return text;
    }
    content.items().find_map(|item| item.get_str("text")).unwrap_or_default()
}
