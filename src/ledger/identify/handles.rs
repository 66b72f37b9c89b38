//! Ids by which tools are addressed: sessions, pages, tabs, jobs, runs, threads, uploads, cursors, background tasks.

use super::{
    IdentifierKind, IdentifierState,
    call::{Call, Outcome, SCAN, head, scalar},
    found::Found,
};
use crate::format::json::Raw;

/// Things whose id is a handle: `page_id`, `pageId`, `PageID`.
const THINGS: [&str; 34] = [
    "page",
    "tab",
    "job",
    "run",
    "thread",
    "upload",
    "cursor",
    "conversation",
    "browser",
    "window",
    "frame",
    "context",
    "container",
    "deployment",
    "build",
    "execution",
    "operation",
    "batch",
    "workflow",
    "sandbox",
    "terminal",
    "instance",
    "pipeline",
    "snapshot",
    "checkpoint",
    "lock",
    "lease",
    "transaction",
    "stream",
    "channel",
    "draft",
    "ticket",
    "issue",
    "request",
];
/// Keys that are a handle without `id`.
const WHOLE: [&str; 9] = [
    "cursor",
    "next_cursor",
    "page_token",
    "next_page_token",
    "continuation_token",
    "resume_token",
    "handle",
    "cell_id",
    "ref_id",
];
/// Values of one call that are kept at most, and how deep an answer is looked into.
const MOST: usize = 64;
const DEEPEST: u32 = 3;
/// Bytes of a handle; what is longer is content.
const LONGEST: usize = 256;

/// Handles in the arguments and in the answer of a call.
pub(super) fn handles(call: &Call<'_>, found: &mut Found) {
    facts(call, found);
    let mut room = MOST;
    if let Some(arguments) = call.arguments() {
        object(call, arguments, DEEPEST - 1, &mut room, found);
        ended(call, found);
    }
    if call.outcome != Outcome::Done {
        return;
    }
    let text = call.answer_text().trim();
    if text.starts_with(['{', '['])
        && let Ok(answer) = Raw::parse(text.as_bytes())
    {
        value(call, answer, DEEPEST, &mut room, found);
    }
    output_file(call, found);
}

/// What the runtime itself reports beside the answer.
fn facts(call: &Call<'_>, found: &mut Found) {
    let known = [
        ("background task", IdentifierKind::Task),
        ("agent", IdentifierKind::Subagent),
        ("session", IdentifierKind::Session),
    ];
    for (fact, kind) in known {
        // Whether it still runs, the ledger knows: it adds the open ones.
        if let Some(id) = call.fact(fact) {
            found.add(kind, id, call.at, IdentifierState::Closed);
        }
    }
}

fn object(call: &Call<'_>, raw: Raw<'_>, depth: u32, room: &mut usize, found: &mut Found) {
    for (key, inner) in raw.fields().take(128) {
        if *room == 0 {
            return;
        }
        let key = key.str();
        if key.len() > 64 {
            continue;
        }
        match (scalar(inner), handle(&key)) {
            (Some(id), Some((kind, name))) if is_id(&id) => {
                *room -= 1;
                let id = if name.is_empty() { id.into_owned() } else { format!("{name}={id}") };
                found.add(kind, &id, call.at, IdentifierState::Named);
            }
            (None, _) => value(call, inner, depth.saturating_sub(1), room, found),
            _ => {}
        }
    }
}

fn value(call: &Call<'_>, raw: Raw<'_>, depth: u32, room: &mut usize, found: &mut Found) {
    if depth == 0 || *room == 0 {
        return;
    }
    if raw.is_object() {
        object(call, raw, depth, room, found);
    } else {
        raw.items().take(32).for_each(|item| value(call, item, depth - 1, room, found));
    }
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST && !text.contains(char::is_whitespace)
}

/// What a key names: its kind, and the name to write before the value (empty: the value says enough).
fn handle(key: &str) -> Option<(IdentifierKind, String)> {
    let snake = snake(key);
    let bare = |kind| Some((kind, String::new()));
    match snake.as_str() {
        "session_id" | "shell_session_id" => bare(IdentifierKind::Session),
        "task_id" | "bash_id" | "shell_id" | "process_id" | "background_task_id" => bare(IdentifierKind::Task),
        "agent_id" | "subagent_id" => bare(IdentifierKind::Subagent),
        "pid" | "port" => Some((IdentifierKind::Task, snake)),
        whole if WHOLE.contains(&whole) => Some((IdentifierKind::Handle, snake)),
        _ => {
            let thing = snake.strip_suffix("_id")?;
            let thing = thing.rsplit('_').next().unwrap_or(thing);
            THINGS.contains(&thing).then_some((IdentifierKind::Handle, snake))
        }
    }
}

/// `pageId` and `PageID` as `page_id`.
fn snake(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    let mut lower = false;
    for c in key.chars() {
        if c.is_uppercase() && lower {
            out.push('_');
        }
        lower = c.is_lowercase() || c.is_ascii_digit();
        if c == '-' {
            out.push('_');
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}

/// Tools that end what they name.
fn ended(call: &Call<'_>, found: &mut Found) {
    let ends = call.tool_has(&["kill", "stop", "close", "cancel", "terminate"]);
    if !ends || call.outcome != Outcome::Done {
        return;
    }
    let Some(arguments) = call.arguments() else { return };
    for (key, inner) in arguments.fields().take(16) {
        let Some((kind, name)) = handle(&key.str()) else { continue };
        let Some(id) = scalar(inner).filter(|id| is_id(id)) else { continue };
        let id = if name.is_empty() { id.into_owned() } else { format!("{name}={id}") };
        found.add(kind, &id, call.at, IdentifierState::Closed);
    }
}

/// `Output is being written to: /tmp/….output`, as runtimes answer to a background launch.
fn output_file(call: &Call<'_>, found: &mut Found) {
    let launched = call.fact("background task").is_some() || call.is_set("run_in_background");
    if !launched {
        return;
    }
    let text = head(call.answer_text(), SCAN / 16);
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`'));
    let files = words.map(|word| word.trim_end_matches(['.', ',', ';', ':'])).filter(|word| word.starts_with('/'));
    for file in files.filter(|file| is_output(file)).take(4) {
        let state = if call.lives_on { IdentifierState::Open } else { IdentifierState::Closed };
        found.add(IdentifierKind::Task, &format!("output={file}"), call.at, state);
    }
}

fn is_output(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(_, ending)| ["output", "log", "out"].contains(&ending))
}
