//! One conversation: a batch of two calls, an answer, a call that waits.

use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Anthropic,
    Chat,
    Responses,
}

pub(crate) const ALL: [Dialect; 3] = [Dialect::Anthropic, Dialect::Chat, Dialect::Responses];

impl Dialect {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Chat => "openai-chat",
            Self::Responses => "openai-responses",
        }
    }
}

fn call(dialect: Dialect, id: &str, name: &str) -> Value {
    match dialect {
        Dialect::Anthropic => json!({"type": "tool_use", "id": id, "name": name, "input": {"city": id}}),
        Dialect::Chat => json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{\"city\":1}"}}),
        Dialect::Responses => json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
                                     "arguments": "{\"city\":1}"}),
    }
}

fn calls(dialect: Dialect, text: &str, calls: Vec<Value>) -> Vec<Value> {
    match dialect {
        Dialect::Anthropic => {
            let mut content = vec![json!({"type": "text", "text": text})];
            content.extend(calls);
            vec![json!({"role": "assistant", "content": content})]
        }
        Dialect::Chat => vec![json!({"role": "assistant", "content": text, "tool_calls": calls})],
        Dialect::Responses => calls,
    }
}

pub(crate) fn results(dialect: Dialect, ids: &[&str]) -> Vec<Value> {
    let text = |id: &str| format!("it rains in {id}");
    match dialect {
        Dialect::Anthropic => {
            let blocks = ids.iter().map(|id| json!({"type": "tool_result", "tool_use_id": id, "content": text(id)}));
            vec![json!({"role": "user", "content": blocks.collect::<Vec<_>>()})]
        }
        Dialect::Chat => {
            ids.iter().map(|id| json!({"role": "tool", "tool_call_id": id, "content": text(id)})).collect()
        }
        Dialect::Responses => {
            ids.iter().map(|id| json!({"type": "function_call_output", "call_id": id, "output": text(id)})).collect()
        }
    }
}

pub(crate) fn user(dialect: Dialect, text: &str) -> Value {
    match dialect {
        Dialect::Responses => {
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
        }
        _ => json!({"role": "user", "content": text}),
    }
}

pub(crate) fn assistant(dialect: Dialect, text: &str) -> Value {
    match dialect {
        Dialect::Anthropic => json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
        Dialect::Chat => json!({"role": "assistant", "content": text}),
        Dialect::Responses => {
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        }
    }
}

/// The turns of the conversation: each is what one side adds.
pub(crate) fn turns(dialect: Dialect) -> Vec<Vec<Value>> {
    vec![
        vec![user(dialect, "How is the weather?")],
        calls(dialect, "I look.", vec![call(dialect, "w1", "weather"), call(dialect, "w2", "weather")]),
        results(dialect, &["w2", "w1"]),
        vec![assistant(dialect, "It rains in both.")],
        vec![user(dialect, "Close the windows.")],
        calls(dialect, "I close them.", vec![call(dialect, "c1", "close"), call(dialect, "c2", "close")]),
        results(dialect, &["c1"]),
    ]
}

pub(crate) fn list(dialect: Dialect) -> Vec<Value> {
    turns(dialect).into_iter().flatten().collect()
}

/// A request with this list.
pub(crate) fn body(dialect: Dialect, list: &[Value]) -> Value {
    let name = if dialect == Dialect::Responses { "input" } else { "messages" };
    let tool = match dialect {
        Dialect::Anthropic => json!({"name": "weather", "input_schema": {}}),
        Dialect::Chat => json!({"type": "function", "function": {"name": "weather"}}),
        Dialect::Responses => json!({"type": "function", "name": "weather"}),
    };
    json!({"model": "m-1", "tools": [tool], name: list})
}

/// What the provider answers, with its figures.
pub(crate) fn response(dialect: Dialect, turn: &[Value], input: u64) -> Value {
    match dialect {
        Dialect::Anthropic => json!({"id": format!("msg_{input}"), "type": "message", "role": "assistant",
            "content": turn[0]["content"], "stop_reason": "tool_use",
            "usage": {"input_tokens": 10, "cache_read_input_tokens": input - 10, "output_tokens": 5}}),
        Dialect::Chat => json!({"object": "chat.completion", "choices": [{"index": 0, "message": turn[0]}],
            "usage": {"prompt_tokens": input, "completion_tokens": 5}}),
        Dialect::Responses => json!({"object": "response", "output": turn,
            "usage": {"input_tokens": input, "output_tokens": 5}}),
    }
}

fn lines(values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(|value| format!("{value}\n").into_bytes()).collect()
}

/// The conversation in every container: name and bytes.
pub(crate) fn containers(dialect: Dialect) -> Vec<(&'static str, Vec<u8>)> {
    let list = list(dialect);
    let turns = turns(dialect);
    let upto = |n: usize| turns.iter().take(n).flatten().cloned().collect::<Vec<_>>();
    // A request after every turn of the user's side: 1, 3, 5 and 7 turns.
    let asked = [1, 3, 5, 7];
    let bodies: Vec<Value> = asked.iter().map(|n| body(dialect, &upto(*n))).collect();
    let wrapped: Vec<Value> =
        bodies.iter().map(|body| json!({"t": 1_796_000_000.5, "path": "/v1", "body": body})).collect();
    let exchanges: Vec<Value> = asked
        .iter()
        .zip(&bodies)
        .map(|(n, body)| {
            let answer = turns.get(*n).map(|turn| response(dialect, turn, 1_000 + *n as u64));
            json!({"ts": "2026-11-30T20:00:00Z", "request": body, "response": answer})
        })
        .collect();
    vec![
        ("array", serde_json::to_vec_pretty(&list).unwrap()),
        ("array on one line", serde_json::to_vec(&list).unwrap()),
        ("lines", lines(&list)),
        ("one body", serde_json::to_vec_pretty(&bodies[3]).unwrap()),
        ("bodies", lines(&bodies)),
        ("wrapped bodies", lines(&wrapped)),
        ("exchanges", lines(&exchanges)),
    ]
}
