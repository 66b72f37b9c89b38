//! A scenario in the notation as a file in the neutral format.

use cutline::{
    format::notation::Scenario,
    model::{Event, Flags, Kind},
};
use serde_json::{Value, json};

/// One line a record, under a header.
pub(crate) fn file(scenario: &Scenario) -> Vec<u8> {
    let log = &scenario.log;
    let mut lines = vec![json!({"cutline": 1, "session": "scenario", "window": 1000})];
    for (n, record) in (0u32..).zip(&log.records) {
        let mut line = json!({"kind": record.kind.name(), "text": format!("record {n} {}", "word ".repeat(40))});
        let mut set = |name: &str, value: Value| drop(line.as_object_mut().unwrap().insert(name.to_string(), value));
        let name = |sym| log.syms.name(sym).to_string();
        if let Some(id) = record.id {
            set("id", json!(name(id)));
        }
        if let Some(response) = record.response {
            set("response", json!(name(response)));
        }
        if let Some(message) = record.message {
            set("message", json!(name(message)));
        }
        if record.kind == Kind::Call {
            set("tool", json!("Bash"));
            set("input", json!({"command": format!("make target-{n}")}));
        }
        if record.flags.has(Flags::VOID) {
            set("void", json!(true));
        }
        match record.kind {
            Kind::Retry => set("count", json!(1)),
            Kind::RetrySettled => {
                set("kind", json!("retry"));
                set("count", json!(0));
            }
            _ => {}
        }
        for event in log.events_at(n) {
            if let Event::TaskStarted { id, .. } | Event::TaskEnded { id, .. } = event {
                set("id", json!(name(id)));
            }
        }
        lines.push(line);
    }
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    format!("{}\n", text.join("\n")).into_bytes()
}
