//! Small rollouts written line by line, and short views of what was read.

use cutline::{
    format::{Format, Transcript},
    model::{Event, Flags, Kind, Log, NoteKind, Record},
};

/// Header of a legacy file of 0.133 (G3).
pub(crate) const LEGACY: &str = r#"{"type":"session_meta","payload":{"id":"t","cwd":"/p","cli_version":"0.133.0"}}"#;

/// The lines of a rollout, joined.
pub(crate) fn file(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// A legacy rollout with `lines` after its header.
pub(crate) fn legacy(lines: &[String]) -> Transcript {
    let mut all = vec![LEGACY];
    all.extend(lines.iter().map(String::as_str));
    whole(&file(&all))
}

/// A paginated rollout (G4): header and `lines`, each given its ordinal.
pub(crate) fn paginated(lines: &[String]) -> Vec<u8> {
    let header = r#"{"type":"session_meta","payload":{"id":"t","cli_version":"0.171.0","history_mode":"paginated"}}"#;
    let mut all = vec![header.to_string()];
    all.extend(lines.iter().cloned());
    let numbered =
        all.iter().enumerate().map(|(n, line)| format!("{}\n", line.replacen('{', &format!("{{\"ordinal\":{n},"), 1)));
    numbered.collect::<String>().into_bytes()
}

/// Everything fed at once.
pub(crate) fn whole(bytes: &[u8]) -> Transcript {
    let mut transcript = Transcript::new(Some(Format::Codex), "rollout");
    transcript.feed(bytes);
    transcript.finish();
    transcript
}

pub(crate) fn item(payload: &str) -> String {
    format!(r#"{{"type":"response_item","payload":{payload}}}"#)
}

pub(crate) fn event(payload: &str) -> String {
    format!(r#"{{"type":"event_msg","payload":{payload}}}"#)
}

pub(crate) fn compacted(payload: &str) -> String {
    format!(r#"{{"type":"compacted","payload":{payload}}}"#)
}

/// A message as a bare item, for replacement histories.
pub(crate) fn said(role: &str, text: &str) -> String {
    format!(r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#)
}

pub(crate) fn user(text: &str) -> String {
    item(&said("user", text))
}

pub(crate) fn assistant(text: &str) -> String {
    item(&said("assistant", text))
}

/// A function call as a bare item.
pub(crate) fn calls(id: &str, tool: &str, arguments: &str) -> String {
    let arguments = arguments.replace('"', "\\\"");
    format!(r#"{{"type":"function_call","name":"{tool}","arguments":"{arguments}","call_id":"{id}"}}"#)
}

pub(crate) fn call(id: &str) -> String {
    item(&calls(id, "exec_command", "{}"))
}

/// An output as a bare item.
pub(crate) fn answers(id: &str, text: &str) -> String {
    format!(r#"{{"type":"function_call_output","call_id":"{id}","output":"{text}"}}"#)
}

pub(crate) fn output(id: &str) -> String {
    item(&answers(id, "ok"))
}

pub(crate) fn started() -> String {
    event(r#"{"type":"task_started","turn_id":"x"}"#)
}

/// One record for the eye: a letter for its kind and its id; `'` repeats, `?` outcome unknown.
pub(crate) fn view(log: &Log, record: &Record) -> String {
    let letter = match record.kind {
        Kind::User if record.flags.has(Flags::HUMAN) => "U",
        Kind::User => "u",
        Kind::Assistant => "A",
        Kind::Thinking => "H",
        Kind::Call => "C",
        Kind::Result => "R",
        Kind::Error => "E",
        Kind::Abandoned => "X",
        Kind::Summary => "S",
        Kind::Notice => "N",
        _ => "O",
    };
    let id = record.id.map_or("", |id| log.syms.name(id));
    let repeat = if record.flags.has(Flags::REPEAT) { "'" } else { "" };
    let unknown = if record.flags.has(Flags::UNKNOWN_OUTCOME) { "?" } else { "" };
    format!("{letter}{id}{repeat}{unknown}")
}

/// The context: records as [`view`] has them, what the client invents in brackets (`[X..]` what the next request
/// would say, `<X..>` what an earlier one said), what it will not send in round ones.
pub(crate) fn context(transcript: &mut Transcript) -> String {
    let (context, log) = transcript.context().unwrap();
    let slots = context.slots().iter().enumerate().map(|(at, slot)| {
        let record = context.get(log, at).unwrap();
        let text = view(log, record);
        match (slot.id().is_some(), slot.sent, record.flags.has(Flags::PROSPECTIVE)) {
            (true, true, _) => text,
            (true, false, _) => format!("({text})"),
            (false, _, true) => format!("[{text}]"),
            (false, _, false) => format!("<{text}>"),
        }
    });
    slots.collect::<Vec<_>>().join(" ")
}

/// Events with the line of their record.
pub(crate) fn events(log: &Log) -> Vec<String> {
    let name = |id| log.syms.name(id);
    let told = log.events.iter().map(|(at, event)| {
        let line = log.records[*at as usize].line;
        match event {
            Event::TaskStarted { id, kind, .. } => format!("{line} {kind:?} {} started", name(*id)),
            Event::TaskEnded { id, delivered } => {
                format!("{line} {} ended{}", name(*id), if *delivered { "" } else { " unseen" })
            }
            Event::MayLiveOn(id) => format!("{line} {} may live on", name(*id)),
            other => format!("{line} {other:?}"),
        }
    });
    told.collect()
}

/// Lines of the notes of `kind`.
pub(crate) fn noted(log: &Log, kind: NoteKind) -> Vec<u32> {
    log.notes.iter().filter(|note| note.kind == kind).map(|note| note.line).collect()
}
