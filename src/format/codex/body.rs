//! One record decoded for people.

use std::borrow::Cow;

use super::{line::pick, output, wrappers::text_of};
use crate::{
    format::json::Raw,
    model::{Body, Kind, Record},
};

/// Fields of items that people may want to see beside the text.
const FACTS: [&str; 7] = ["phase", "namespace", "status", "execution", "author", "recipient", "id"];

/// Decodes the block of `record` in `line`.
pub(super) fn decode(line: &[u8], record: &Record) -> Body {
    let Ok(value) = Raw::prefix(line, record.at as usize) else {
        return Body::text(String::from_utf8_lossy(line));
    };
    if !value.is_object() {
        return Body::text(plain(value));
    }
    match record.kind {
        Kind::Call => call(value),
        Kind::Result | Kind::Error | Kind::Abandoned => resolution(value),
        Kind::Thinking => thinking(value),
        Kind::Assistant if value.get("content").is_none() => call(value),
        Kind::User | Kind::Assistant | Kind::Summary | Kind::Notice => message(value),
        _ => Body::text(String::from_utf8_lossy(value.bytes())),
    }
}

/// A string decoded, anything else as it stands.
fn plain(value: Raw<'_>) -> Cow<'_, str> {
    value.str().unwrap_or_else(|| String::from_utf8_lossy(value.bytes()))
}

fn facts(value: Raw<'_>) -> Vec<(String, String)> {
    let found = pick(value, FACTS);
    let named = FACTS.iter().zip(found).filter_map(|(name, raw)| Some((*name, raw.filter(|raw| !raw.is_null())?)));
    named.map(|(name, raw)| (name.to_string(), plain(raw).into_owned())).collect()
}

fn call(value: Raw<'_>) -> Body {
    let [kind, name, arguments, input, action] = pick(value, ["type", "name", "arguments", "input", "action"]);
    let kind = kind.and_then(Raw::str).unwrap_or_default();
    // `arguments` is JSON in a string: decoded once it is the JSON that the model wrote.
    let input = arguments.or(input).or(action).map(|raw| plain(raw).into_owned());
    Body {
        tool: Some(name.map_or_else(|| kind.trim_end_matches("_call").to_string(), |raw| plain(raw).into_owned())),
        input,
        facts: facts(value),
        ..Body::default()
    }
}

fn resolution(value: Raw<'_>) -> Body {
    let [written, tools] = pick(value, ["output", "tools"]);
    let Some(written) = written else {
        return Body { text: tools.map(|raw| plain(raw).into_owned()).unwrap_or_default(), ..Body::text("") };
    };
    let text = output::text(written);
    let mut facts = facts(value);
    if let Some(code) = output::exit_code(&text) {
        facts.push(("exit code".to_string(), code.to_string()));
    }
    if let Some(time) = output::wall_time(&text) {
        facts.push(("wall time".to_string(), time));
    }
    if let Some(session) = output::running(&text) {
        facts.push(("session".to_string(), session.to_string()));
    }
    let images = written.items().filter(|part| part.field_is("type", "input_image")).count();
    if images > 0 {
        facts.push(("images".to_string(), images.to_string()));
    }
    let shown = if written.is_object() && text.is_empty() {
        String::from_utf8_lossy(written.bytes()).into_owned()
    } else {
        output::inner(&text).unwrap_or_else(|| text.into_owned())
    };
    let lead = shown.find(output::OWN).map_or(0, |at| at + output::OWN.len());
    Body { text: shown, lead, facts, ..Body::default() }
}

fn thinking(value: Raw<'_>) -> Body {
    let [summary, content, encrypted] = pick(value, ["summary", "content", "encrypted_content"]);
    let parts = [summary, content].into_iter().flatten().map(text_of).filter(|text| !text.is_empty());
    let mut facts = facts(value);
    if let Some(encrypted) = encrypted.filter(|raw| raw.is_string()) {
        facts.push(("encrypted".to_string(), format!("{} bytes", encrypted.text_len())));
    }
    Body { text: parts.collect::<Vec<_>>().join("\n\n"), facts, ..Body::default() }
}

/// A message, or a display line: its text where it has one, else its JSON.
fn message(value: Raw<'_>) -> Body {
    let [content, text, encrypted] = pick(value, ["content", "message", "encrypted_content"]);
    let mut facts = facts(value);
    if let Some(encrypted) = encrypted.filter(|raw| raw.is_string()) {
        facts.push(("encrypted".to_string(), format!("{} bytes", encrypted.text_len())));
        return Body { facts, ..Body::default() };
    }
    let shown = match (content, text) {
        (Some(content), _) => text_of(content),
        (None, Some(text)) if text.is_string() => plain(text),
        _ => String::from_utf8_lossy(value.bytes()),
    };
    Body { text: shown.into_owned(), facts, ..Body::default() }
}
