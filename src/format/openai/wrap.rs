//! What one line of a log holds: a message, a request, a response, or a pair of them, bare or one level down.

use super::{Dialect, words};
use crate::{
    format::json::Raw,
    model::{Millis, parse_rfc3339},
};

/// Where the body of a request may stand.
const REQUESTS: [&[&str]; 9] = [
    &[],
    &["body"],
    &["request"],
    &["request", "body"],
    &["req"],
    &["req", "body"],
    &["payload"],
    &["input"],
    &["params"],
];
/// Where the body of a response may stand.
const RESPONSES: [&[&str]; 7] =
    [&[], &["response"], &["response", "body"], &["res"], &["res", "body"], &["output"], &["body"]];

/// The parts of one line.
pub(in crate::format) struct Found<'a> {
    dialect: Dialect,
    /// The body of a request, and its list.
    pub(in crate::format) request: Option<(Raw<'a>, Raw<'a>)>,
    /// The body of a response.
    pub(in crate::format) response: Option<Raw<'a>>,
    /// What went wrong, in the provider's words.
    pub(in crate::format) error: Option<Raw<'a>>,
    /// A message that stands alone.
    pub(in crate::format) item: Option<Raw<'a>>,
    pub(in crate::format) time: Millis,
}

impl<'a> Found<'a> {
    pub(in crate::format) fn of(value: Raw<'a>, dialect: Dialect) -> Self {
        let time = time(value);
        let request = REQUESTS.iter().filter_map(|path| at(value, path)).find_map(|body| request(body, dialect));
        let answers = || RESPONSES.iter().filter_map(|path| at(value, path));
        let item = if request.is_none() { alone(value, dialect) } else { None };
        let response = if item.is_none() { answers().find(|body| is_response(*body, dialect)) } else { None };
        let error = answers().find_map(error).filter(|_| response.is_none() && item.is_none());
        Self { dialect, request, response, error, item, time }
    }

    /// Messages that come after the request.
    pub(in crate::format) fn messages(&self) -> Vec<Raw<'a>> {
        let answer: Option<Vec<Raw<'a>>> = self.response.map(|response| match self.dialect {
            Dialect::Chat => {
                response.get("choices").and_then(|all| all.items().next()?.get("message")).into_iter().collect()
            }
            Dialect::Responses => response.get("output").into_iter().flat_map(Raw::items).collect(),
        });
        answer.into_iter().flatten().chain(self.item).collect()
    }

    pub(in crate::format) fn is_nothing(&self) -> bool {
        self.request.is_none() && self.response.is_none() && self.error.is_none() && self.item.is_none()
    }

    /// Tokens of the request and of the response, as measured.
    pub(in crate::format) fn usage(&self, dialect: Dialect) -> Option<(u64, u64)> {
        let usage = self.response.or(self.item)?.get("usage").filter(|usage| usage.is_object())?;
        let number = |name: &str| usage.get_u64(name);
        let (input, output) = match dialect {
            Dialect::Chat => (number("prompt_tokens")?, number("completion_tokens").unwrap_or(0)),
            Dialect::Responses => (number("input_tokens")?, number("output_tokens").unwrap_or(0)),
        };
        (input > 0).then_some((input, output))
    }
}

fn at<'a>(value: Raw<'a>, path: &[&str]) -> Option<Raw<'a>> {
    if path.is_empty() { Some(value) } else { value.path(path) }.filter(|value| value.is_object())
}

fn request(body: Raw<'_>, dialect: Dialect) -> Option<(Raw<'_>, Raw<'_>)> {
    let list = match dialect {
        Dialect::Chat => body.get("messages").filter(|list| list.is_array()),
        Dialect::Responses => body.get("input").filter(|list| list.is_array() || list.is_string()),
    };
    list.map(|list| (body, list))
}

fn is_response(body: Raw<'_>, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Chat => body.get("choices").is_some_and(Raw::is_array),
        Dialect::Responses => body.get("output").is_some_and(Raw::is_array),
    }
}

/// A message or an item that is the line, or that the line wraps.
fn alone(value: Raw<'_>, dialect: Dialect) -> Option<Raw<'_>> {
    let fits = |value: &Raw<'_>| match dialect {
        Dialect::Chat => {
            value.get("role").is_some_and(Raw::is_string)
                && ["content", "tool_calls", "function_call"].iter().any(|name| value.get(name).is_some())
        }
        Dialect::Responses => words::is_item(*value),
    };
    // An envelope with a type is a runtime's own.
    let wrapped: &[&[&str]] = if value.get("type").is_some() { &[] } else { &[&["message"], &["item"]] };
    std::iter::once(&[][..]).chain(wrapped.iter().copied()).filter_map(|path| at(value, path)).find(fits)
}

fn error(body: Raw<'_>) -> Option<Raw<'_>> {
    let error = body.get("error").filter(|error| error.is_object() || error.is_string());
    error.filter(|_| body.field_is("type", "error") || body.get("choices").is_none())
}

/// Milliseconds as the line says them: a date, or seconds or milliseconds since 1970.
fn time(value: Raw<'_>) -> Millis {
    for name in ["timestamp", "ts", "t", "time", "created_at", "created"] {
        let Some(found) = value.get(name) else { continue };
        if let Some(text) = found.str() {
            let time = parse_rfc3339(&text);
            if time != Millis::NONE {
                return time;
            }
        } else if let Ok(number) = String::from_utf8_lossy(found.bytes()).parse::<f64>() {
            // 1e11 seconds are the year 5138; 1e11 milliseconds are 1973.
            let millis = if number < 1e11 { number * 1000.0 } else { number };
            #[expect(clippy::cast_possible_truncation, reason = "saturates; a wrong time costs no record")]
            return Millis(millis as i64);
        }
    }
    Millis::NONE
}
