//! What in one line speaks for the shape of an API.

use crate::format::{
    Format,
    json::Raw,
    openai::{Dialect, words, wrap::Found},
};

/// Messages of a list that are looked at.
const LOOKED: usize = 40;

/// How a message looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Anthropic,
    Chat,
    /// Of every dialect that has roles.
    Plain,
    None,
}

/// What in `value` speaks for the API of `format`, and whether it speaks for no other.
pub(super) fn evidence(format: Format, value: Raw<'_>) -> Option<(&'static str, bool)> {
    match format {
        Format::OpenAiResponses => responses(&Found::of(value, Dialect::Responses)),
        Format::OpenAiChat => roles(&Found::of(value, Dialect::Chat), Look::Chat),
        Format::Anthropic => roles(&Found::of(value, Dialect::Chat), Look::Anthropic).or_else(|| {
            let answers = ["response", "res", "body", "output"].iter().filter_map(|name| value.get(name));
            let is = |answer: &Raw<'_>| answer.field_is("type", "message") && answer.field_is("role", "assistant");
            answers.into_iter().find(is).map(|_| ("a response of type `message`", true))
        }),
        _ => None,
    }
}

fn responses(found: &Found<'_>) -> Option<(&'static str, bool)> {
    if let Some((body, list)) = found.request {
        let beside = ["model", "instructions", "previous_response_id", "store"];
        let fits = list.is_string() || list.items().take(LOOKED).all(words::is_item);
        let typed = list.items().take(LOOKED).any(|item| item.get("type").is_some());
        return (fits && (typed || beside.iter().any(|name| body.get(name).is_some())))
            .then_some(("the body of a request with `input`", true));
    }
    if let Some(response) = found.response {
        let items = response.get("output").is_some_and(|output| output.items().next().is_some_and(words::is_item));
        return (items || response.field_is("object", "response")).then_some(("a response with `output`", true));
    }
    let item = found.item?;
    let Some(kind) = item.get_str("type") else {
        return (message_look(item) == Look::Plain).then_some(("a message with a role", false));
    };
    let parts = |name: &str| item.get("content").is_some_and(|all| all.items().any(|part| part.field_is("type", name)));
    match &*kind {
        "message" if parts("input_text") || parts("output_text") => Some(("an item with text for Responses", true)),
        "message" => item.get("content").is_some_and(Raw::is_string).then_some(("an item `message`", false)),
        "reasoning" => item.get("summary").is_some_and(Raw::is_array).then_some(("an item `reasoning`", true)),
        _ => Some(("an item of Responses", true)),
    }
}

fn roles(found: &Found<'_>, look: Look) -> Option<(&'static str, bool)> {
    let other = if look == Look::Anthropic { Look::Chat } else { Look::Anthropic };
    if let Some((body, list)) = found.request {
        let beside = body_look(body);
        let looks = || list.items().take(LOOKED).map(message_look);
        if list.items().next().is_none() || looks().any(|found| found == Look::None) {
            return None;
        }
        let speaks = |wanted: Look| beside == Some(wanted) || looks().any(|found| found == wanted);
        return match (speaks(look), speaks(other)) {
            (true, false) => Some(("the body of a request with `messages`", true)),
            (false, true) => None,
            _ => Some(("a list of messages", false)),
        };
    }
    if let Some(response) = found.response {
        return (look == Look::Chat && response.get("choices").is_some())
            .then_some(("a response with `choices`", true));
    }
    match message_look(found.item?) {
        Look::None => None,
        Look::Plain => Some(("a message with a role", false)),
        found => (found == look).then_some((
            if look == Look::Anthropic { "a message with content blocks" } else { "a message with calls or of a tool" },
            true,
        )),
    }
}

fn body_look(body: Raw<'_>) -> Option<Look> {
    let tool = || body.get("tools").and_then(|tools| tools.items().next());
    if body.get("system").is_some() || tool().is_some_and(|tool| tool.get("input_schema").is_some()) {
        Some(Look::Anthropic)
    } else if body.get("stream_options").is_some() || tool().is_some_and(|tool| tool.get("function").is_some()) {
        Some(Look::Chat)
    } else {
        None
    }
}

fn message_look(message: Raw<'_>) -> Look {
    let role = message.get_str("role").unwrap_or_default();
    let has = |name: &str| message.get(name).is_some_and(|value| value.is_array() || value.is_object());
    match &*role {
        "tool" => return if message.get("tool_call_id").is_some() { Look::Chat } else { Look::None },
        "function" | "developer" => return Look::Chat,
        "assistant" if has("tool_calls") || has("function_call") => return Look::Chat,
        "system" | "user" | "assistant" => {}
        _ => return Look::None,
    }
    let Some(content) = message.get("content") else { return Look::None };
    for block in content.items() {
        let kind = block.get_str("type").unwrap_or_default();
        match &*kind {
            "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use" | "mcp_tool_use"
            | "compaction" | "image" | "document" | "search_result" => return Look::Anthropic,
            "image_url" | "input_audio" | "refusal" | "file" => return Look::Chat,
            "text" => {}
            name if name.ends_with("_tool_result") => return Look::Anthropic,
            _ => return Look::None,
        }
    }
    if message.get("stop_reason").is_some() || message.path(&["usage", "input_tokens"]).is_some() {
        return Look::Anthropic;
    }
    Look::Plain
}
