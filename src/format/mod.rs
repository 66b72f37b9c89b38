//! Lines become records. One folder or file per transcript format, all behind [`Adapter`].
//!
//! Comes in: whole JSON objects with their place, in file order: the lines of a file, or, of a file that is one document,
//! the items of its array or the object that it is. To an adapter an item is a line: `Line::bytes` is the item alone,
//! `Line::offset` its place in the file, and a record reads no more than that again when somebody looks.
//! Goes out: records, events, usage and notes in a [`Log`]; the effective [`Context`] of the main lane; the decoded
//! [`Body`] of one record when somebody looks at it.
//! Must never: fail (an unknown line becomes `Kind::Opaque`, counted and kept byte for byte), keep payload in
//! memory, know of a screen, a clock, a file or a thread.

use crate::model::{Body, Context, Log, Record};

pub mod anthropic;
mod capability;
pub mod claude;
pub mod codex;
mod detect;
mod document;
mod envelope;
mod estimate;
mod fork;
mod frame;
pub mod json;
pub mod map;
pub mod neutral;
pub mod notation;
mod openai;
pub mod opencode;
pub mod pi;
mod transcript;

pub use capability::{Capability, Commit, Ids, LateResults};
pub use detect::{Detection, Rival, detect};
pub use estimate::{estimate_tokens, text_weight};
pub use fork::{Act, ForkError, ForkOrder, Forked, Minted, Origin, Part, Rope, Settle};
pub use frame::{Piece, pieces};
use json::Raw;
pub use transcript::{LINE_CAP, Transcript};

/// A transcript format that cutline reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Session files of Claude Code 1.0 to 2.1, main and sub-agent.
    ClaudeCode,
    /// Rollout files of Codex, generations G0 to G4.
    Codex,
    /// Session files of pi, versions 1 to 3, and of its relatives.
    Pi,
    /// Sessions of OpenCode: exports, and its database row by row.
    OpenCode,
    /// Messages of the Anthropic API: a list of them, or a log of requests.
    Anthropic,
    /// Logs of OpenAI Chat Completions, and of the many that speak it.
    OpenAiChat,
    /// Lists of OpenAI Responses items.
    OpenAiResponses,
    /// The neutral `cutline` JSONL.
    Cutline,
    /// A format that a map describes.
    Mapped(map::Mapping),
}

impl Format {
    /// Every format that code reads, in the order of detection.
    pub const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::OpenCode,
        Self::Cutline,
        Self::Anthropic,
        Self::OpenAiChat,
        Self::OpenAiResponses,
    ];

    /// Every format that is known: those that code reads, then the mapped ones.
    pub fn known() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().chain(map::Mapping::all().into_iter().map(Self::Mapped))
    }

    /// Name for `--format` and `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::OpenCode => "opencode",
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Cutline => "cutline",
            Self::Mapped(mapping) => mapping.map().name(),
        }
    }

    /// Name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Pi => "pi",
            Self::OpenCode => "OpenCode",
            Self::Anthropic => "Anthropic Messages",
            Self::OpenAiChat => "OpenAI Chat Completions",
            Self::OpenAiResponses => "OpenAI Responses",
            Self::Cutline => "cutline, the neutral format",
            Self::Mapped(mapping) => mapping.map().title(),
        }
    }

    /// Which files it reads, for people.
    pub fn reads(self) -> &'static str {
        match self {
            Self::ClaudeCode => "~/.claude/projects/<folder>/<session>.jsonl",
            Self::Codex => "~/.codex/sessions/<day>/rollout-*.jsonl",
            Self::Pi => "~/.pi/agent/sessions/--<folder>--/<time>_<id>.jsonl",
            Self::OpenCode => "what `opencode export` prints",
            Self::Anthropic | Self::OpenAiChat => "an array, a message a line, or bodies of requests and responses",
            Self::OpenAiResponses => "a list of items, an item a line, or bodies of requests and responses",
            Self::Cutline => "any *.jsonl of a runtime of one's own, and exports",
            Self::Mapped(mapping) => mapping.map().reads(),
        }
    }

    /// The format called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::known().find(|format| format.name() == name)
    }

    /// A fresh adapter. `file_stem` is the file's name without folder and ending, for formats that keep facts there.
    pub fn adapter(self, file_stem: &str) -> Box<dyn Adapter> {
        match self {
            Self::ClaudeCode => Box::new(claude::Claude::new(file_stem)),
            Self::Codex => Box::new(codex::Codex::new(file_stem)),
            Self::Pi => Box::new(pi::Pi::new(file_stem)),
            Self::OpenCode => Box::new(opencode::OpenCode::new(file_stem)),
            Self::Anthropic => Box::new(anthropic::Anthropic::new(file_stem)),
            Self::OpenAiChat => Box::new(openai::OpenAi::new(openai::Dialect::Chat)),
            Self::OpenAiResponses => Box::new(openai::OpenAi::new(openai::Dialect::Responses)),
            Self::Cutline => Box::new(neutral::Neutral::new()),
            Self::Mapped(mapping) => Box::new(map::Mapped::new(mapping)),
        }
    }
}

/// One whole JSON value of the transcript with its place.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// 1-based physical line, of an item of a document the one on which it begins.
    pub number: u32,
    /// Byte offset of the physical line, or of the item, in its segment.
    pub offset: u64,
    /// The physical line without its newline, or the item; [`Raw::range`] of `value` counts from its start.
    pub bytes: &'a [u8],
    /// The value.
    pub value: Raw<'a>,
    /// 0: the file itself; n: the n-th file of a bundle that it continues.
    pub segment: u16,
    /// Recovered from a damaged line: the runtime itself does not see it.
    pub salvaged: bool,
    /// No line of its own: an item of a document's array, or the document itself.
    pub in_document: bool,
}

impl Line<'_> {
    /// A record of this line whose block is `block`. Fills place, length and an estimate of its tokens.
    pub fn record(&self, kind: crate::model::Kind, block: Raw<'_>) -> Record {
        use crate::model::Flags;
        let (at, len) = block.range();
        let weight = text_weight(block);
        Record {
            offset: self.offset,
            line: self.number,
            line_len: u32::try_from(self.bytes.len()).unwrap_or(u32::MAX),
            at,
            len,
            text: weight.bytes,
            tokens: weight.tokens,
            segment: self.segment,
            flags: Flags::NONE.with_if(Flags::SALVAGED, self.salvaged),
            ..Record::new(kind)
        }
    }
}

/// Facts about the session as a whole, as far as the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// Session or thread id.
    pub id: Option<String>,
    /// Version of the runtime that wrote the newest line that names one.
    pub version: Option<String>,
    /// Generation of the format, where it has such.
    pub generation: Option<&'static str>,
    /// Working folder.
    pub cwd: Option<String>,
    /// Git branch.
    pub branch: Option<String>,
    /// Model of the newest response.
    pub model: Option<String>,
    /// Context window in tokens, if the file names it.
    pub window: Option<u64>,
    /// A title that the runtime gave.
    pub title: Option<String>,
}

/// Another file that this one continues: its bytes come before our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continues {
    /// Thread or rollout id by which to find it.
    pub id: String,
    /// How many of its bytes count.
    pub end: u64,
}

/// How a call and its resolution are counted over a whole file (the counting rules of `inspect`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Ids are unique: a call is its id, however often its line is written again.
    ById,
    /// Ids may repeat: a call is its position.
    ByInstance,
}

/// What one transcript format knows. An adapter is fed every line once, in order; when the file was rewritten a
/// fresh one is made, so it never has to forget.
pub trait Adapter: Send {
    /// Which format it is.
    fn format(&self) -> Format;

    /// What this file can and cannot tell, given what was read so far.
    fn capability(&self) -> Capability;

    /// How `inspect` counts calls in this format.
    fn counting(&self) -> Counting;

    /// Takes one line: pushes its records, events, usage and notes into `log`. Whatever it does not know becomes an
    /// [`crate::model::Kind::Opaque`] record and is counted in `log.not_understood`.
    fn line(&mut self, line: &Line<'_>, log: &mut Log);

    /// The main lane's effective context after the lines so far. Cheap if nothing but a plain append happened.
    /// Events may be added to `log` at records that only the context's order explains.
    fn context(&mut self, log: &mut Log) -> &mut Context;

    /// The effective context as of the last [`Adapter::context`].
    fn current(&self) -> &Context;

    /// Decodes one record of `line` (the physical line without newline) for people.
    fn body(&self, line: &[u8], record: &Record) -> Body;

    /// Facts about the session as a whole.
    fn session(&self) -> SessionFacts;

    /// The file whose bytes come before this one's. Asked once, after the first line.
    fn continues(&self) -> Option<Continues> {
        None
    }

    /// A new session file in this format, as `order` says; whether it should be written is not asked here.
    ///
    /// # Errors
    /// [`ForkError`]: the format has no writer or no words for it, or bytes of the source are gone.
    fn fork(&self, _order: &ForkOrder<'_>) -> Result<Forked, ForkError> {
        Err(ForkError::ReadOnly)
    }
}
