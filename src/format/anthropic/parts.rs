//! What a line of such a file is: a message, a request body, a response, an exchange of both, in whatever wrapper.

use super::time_of;
use crate::{format::json::Raw, model::Millis};

/// What was found in one value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts<'a> {
    /// An object with a list of messages.
    pub(super) request: Option<Raw<'a>>,
    /// A message: one that stands for itself, or the response.
    pub(super) answer: Option<Raw<'a>>,
    /// An error in the place of a response.
    pub(super) error: Option<Raw<'a>>,
    /// The response stands beside its request, or says that it is one.
    response: bool,
    pub(super) time: Millis,
}

/// True for an object with a role of the API and content.
pub(super) fn is_message(value: Raw<'_>) -> bool {
    let role = ["user", "assistant", "system"].into_iter().any(|role| value.field_is("role", role));
    role && value.get("content").is_some_and(|content| content.is_string() || content.is_array())
}

/// True for an object with a list of messages.
pub(super) fn is_request(value: Raw<'_>) -> bool {
    let list = value.get("messages").filter(|list| list.is_array());
    list.is_some_and(|list| list.items().all(is_message))
}

fn is_error(value: Raw<'_>) -> bool {
    value.field_is("type", "error") && value.get("error").is_some_and(Raw::is_object)
}

impl<'a> Parts<'a> {
    /// Looks at `value` and one level below it.
    pub(super) fn of(value: Raw<'a>) -> Self {
        let mut found = Self { request: None, answer: None, error: None, response: false, time: time_of(value) };
        if is_message(value) {
            found.answer = Some(value);
            return found;
        }
        found.request = Some(value).filter(|value| is_request(*value));
        found.error = Some(value).filter(|value| is_error(*value));
        for (_, field) in value.fields().filter(|(_, field)| field.is_object()) {
            if is_request(field) {
                found.request = found.request.or(Some(field));
            } else if is_message(field) {
                found.answer = Some(field);
            } else if is_error(field) {
                found.error = Some(field);
            }
        }
        found.response = found.request.is_some() || found.error.is_some();
        found
    }

    pub(super) fn is_none(&self) -> bool {
        self.request.is_none() && self.answer.is_none() && self.error.is_none()
    }

    /// True if this is a request, a failed one, or what belongs to one.
    pub(super) fn exchange(&self) -> bool {
        self.response
    }
}
