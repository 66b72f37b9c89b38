//! The format's own rules for lines: ordinals, session headers, the first line.

use super::line::Ordinal;
use crate::model::{Log, NoteKind};

/// Notes of one kind that are written out; a broken file can have one on every line.
const SHOWN: u32 = 5;

/// What was seen of the ordinals and headers of this file.
#[derive(Default)]
pub(super) struct Lint {
    last: Option<u64>,
    duplicate: u32,
    backward: u32,
    gap: u32,
    missing: u32,
    headers: u32,
}

/// Counts one more and notes it, unless there were many.
fn tell(count: &mut u32, kind: NoteKind, line: u32, text: impl FnOnce() -> String, log: &mut Log) {
    *count += 1;
    if *count <= SHOWN {
        let mut text = text();
        if *count == SHOWN {
            text.push_str(" Further ones are not listed.");
        }
        log.note(kind, line, text);
    }
}

impl Lint {
    /// Looks at the ordinal of a line of a paginated file.
    pub(super) fn ordinal(&mut self, ordinal: Ordinal, line: u32, log: &mut Log) {
        let Ordinal::Number(number) = ordinal else {
            let what = if ordinal == Ordinal::Odd { "is no whole number" } else { "is missing" };
            let text = || format!("The ordinal {what}; while this is the last line, a resume is refused.");
            tell(&mut self.missing, NoteKind::Resume, line, text, log);
            return;
        };
        let last = self.last.replace(number);
        match last {
            Some(last) if number == last => {
                tell(
                    &mut self.duplicate,
                    NoteKind::Format,
                    line,
                    || format!("The ordinal {number} stands twice."),
                    log,
                );
            }
            Some(last) if number < last => {
                let text = || format!("The ordinal goes back from {last} to {number}.");
                tell(&mut self.backward, NoteKind::Format, line, text, log);
            }
            Some(last) if number - last > 1 => {
                let text = || format!("The ordinals jump from {last} to {number}.");
                tell(&mut self.gap, NoteKind::Format, line, text, log);
            }
            _ => {}
        }
    }

    /// Another session header was read. A legacy fork copies its parent's lines, header included.
    pub(super) fn header(&mut self, line: u32, log: &mut Log) {
        let text = || "Another session header; the first one is the file's own.".to_string();
        tell(&mut self.headers, NoteKind::Format, line, text, log);
    }

    /// The first line that could be read stands at `line`.
    pub(super) fn first(is_header: bool, is_bare: bool, line: u32, log: &mut Log) {
        if !is_header {
            log.note(NoteKind::Resume, line, "The first record is no session header; a resume is refused.");
        } else if is_bare {
            log.note(NoteKind::Resume, line, "Lines without envelope (to 0.31): no client of today resumes this file.");
        } else if line > 1 && log.damaged > 0 {
            log.note(NoteKind::Resume, line, "Something stands before the session header; a resume is refused.");
        }
    }
}
