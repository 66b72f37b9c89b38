//! Codex transcripts.

use super::{Adapter, Capability, Counting, Format, Ids, LateResults, Line, SessionFacts};
use crate::model::{Body, Context, Kind, Log, Record};

/// Reader of Codex transcripts.
pub struct Codex {
    context: Context,
}

impl Codex {
    /// A reader that has seen nothing yet.
    pub fn new(_file_stem: &str) -> Self {
        Self { context: Context::default() }
    }
}

impl Adapter for Codex {
    fn format(&self) -> Format {
        Format::Codex
    }

    fn capability(&self) -> Capability {
        Capability {
            shows_open: true,
            shows_results: true,
            ids: Ids::Unique,
            usage: true,
            window: false,
            lock: false,
            reexecutes: false,
            late_results: LateResults::Unknown,
            commits: &[],
            hides: Vec::new(),
        }
    }

    fn counting(&self) -> Counting {
        Counting::ByInstance
    }

    fn line(&mut self, line: &Line<'_>, log: &mut Log) {
        log.push(line.record(Kind::Opaque, line.value));
    }

    fn context(&mut self, _log: &mut Log) -> &mut Context {
        &mut self.context
    }

    fn current(&self) -> &Context {
        &self.context
    }

    fn body(&self, line: &[u8], _record: &Record) -> Body {
        Body::text(String::from_utf8_lossy(line))
    }

    fn session(&self) -> SessionFacts {
        SessionFacts::default()
    }
}
