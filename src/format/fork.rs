use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};

use super::json::Raw;
use crate::model::{Context, Log, Millis, Payload, Record};

/// A piece of a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Bytes of the source, copied as they are.
    Copy {
        /// 0: the source itself; n: the n-th file that it continues.
        segment: u16,
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u32,
    },
    /// Bytes written anew.
    New(Vec<u8>),
}

/// A new file as a value: what is copied from the source and what is written anew, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rope {
    parts: Vec<Part>,
}

impl Rope {
    /// All pieces in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Appends bytes of the source.
    pub fn copy(&mut self, segment: u16, offset: u64, len: u32) {
        match self.parts.last_mut() {
            Some(Part::Copy { segment: s, offset: o, len: l })
                if *s == segment && *o + u64::from(*l) == offset && l.checked_add(len).is_some() =>
            {
                *l += len;
            }
            _ if len > 0 => self.parts.push(Part::Copy { segment, offset, len }),
            _ => {}
        }
    }

    /// Appends new bytes.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        match self.parts.last_mut() {
            Some(Part::New(last)) => last.extend_from_slice(bytes),
            _ if !bytes.is_empty() => self.parts.push(Part::New(bytes.to_vec())),
            _ => {}
        }
    }

    /// The whole file; `None` if bytes of the source cannot be read any more.
    pub fn render(&self, payload: &dyn Payload) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        for part in &self.parts {
            match part {
                Part::Copy { segment, offset, len } => out.extend(payload.read(*segment, *offset, *len)?),
                Part::New(bytes) => out.extend_from_slice(bytes),
            }
        }
        Some(out)
    }
}

/// What the operator does to something open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Gives up a call: outcome unknown.
    Abandon,
    /// Answers an approval request: not granted.
    Deny,
    /// Ends a transaction: outcome unknown.
    Close,
    /// Sets a retry counter to zero.
    Reset,
    /// Says that something that lived on has ended: outcome unknown.
    DeclareDead,
}

impl Act {
    /// Name in reports and receipts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abandon => "abandon",
            Self::Deny => "deny",
            Self::Close => "close",
            Self::Reset => "reset",
            Self::DeclareDead => "declare-dead",
        }
    }
}

/// One thing that is settled by force, with its place. Positions are those of the context before anything is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settle {
    /// Position of what is open.
    pub at: usize,
    /// It is written directly before this position (`len`: at the end).
    pub place: usize,
    /// What is done.
    pub act: Act,
    /// The agent's own id.
    pub id: String,
    /// Why, in the operator's words.
    pub reason: String,
    /// Who.
    pub by: String,
}

impl Settle {
    /// What the model reads. Starts as the readers of every format know it; never says "retry".
    pub fn text(&self) -> String {
        let by = if self.by.is_empty() { String::new() } else { format!(" {}", self.by) };
        let what = match self.act {
            Act::Abandon | Act::Deny => "Do not assume that it ran or did not run; check before repeating it.",
            Act::Close => "Do not assume that it was committed or rolled back; check before relying on it.",
            Act::Reset => "Check what the last attempt did before going on.",
            Act::DeclareDead => "Do not assume that it finished; check before relying on it.",
        };
        format!("abandoned by operator{by}: outcome UNKNOWN. {what} Reason given: {}", self.reason)
    }
}

/// Ids, time and zone of a new file, as values: the same seed gives the same file.
#[derive(Clone, Debug)]
pub struct Minted {
    seed: [u8; 16],
    /// Time of the commit.
    pub now: Millis,
    /// For local times in file names.
    pub zone: TimeZone,
}

impl Minted {
    /// From 16 random bytes.
    pub fn new(seed: [u8; 16], now: Millis, zone: TimeZone) -> Self {
        Self { seed, now, zone }
    }

    /// Bytes for `what` that nobody can guess who does not know the seed.
    fn bytes(&self, what: &str) -> [u8; 16] {
        let digest = Sha256::new().chain_update(self.seed).chain_update(what.as_bytes()).finalize();
        let mut out = [0; 16];
        out.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        out
    }

    /// A random id (UUID version 4) for `what`.
    pub fn uuid4(&self, what: &str) -> String {
        uuid(self.bytes(what), 4)
    }

    /// An id that starts with the time of the commit (UUID version 7) for `what`.
    pub fn uuid7(&self, what: &str) -> String {
        let millis = u64::try_from(self.now.known().unwrap_or(0)).unwrap_or(0);
        let mut bytes = self.bytes(what);
        bytes.iter_mut().zip(millis.to_be_bytes().into_iter().skip(2)).for_each(|(to, from)| *to = from);
        uuid(bytes, 7)
    }
}

/// RFC 9562: the version in the seventh byte, the variant in the ninth.
fn uuid(mut bytes: [u8; 16], version: u8) -> String {
    use std::fmt::Write as _;
    if let Some(seventh) = bytes.get_mut(6) {
        *seventh = (*seventh & 0x0f) | (version << 4);
    }
    if let Some(ninth) = bytes.get_mut(8) {
        *ninth = (*ninth & 0x3f) | 0x80;
    }
    let mut out = String::with_capacity(36);
    for (n, byte) in bytes.into_iter().enumerate() {
        if matches!(n, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// What is to be written: the context without the span `from..to`, the summary in its place, and what is settled.
pub struct ForkOrder<'a> {
    /// Everything that was read.
    pub log: &'a Log,
    /// What the runtime would send next.
    pub context: &'a Context,
    /// First position that is left out.
    pub from: usize,
    /// First position that is kept again; equal to `from` if nothing is cut.
    pub to: usize,
    /// Stands in the place of the span; `None` if nothing is cut.
    pub summary: Option<&'a str>,
    /// Tokens in use before.
    pub tokens: u64,
    /// Settled by force, ascending by place.
    pub settle: &'a [Settle],
    /// Ids and time.
    pub minted: &'a Minted,
    /// The source's bytes.
    pub payload: &'a dyn Payload,
}

/// Where a record of the new file comes from. Positions are those of the old context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The record at this position, kept.
    Kept(usize),
    /// The record at this position of the span, written again beside the summary.
    Repeated(usize),
    /// The summary.
    Summary,
    /// What was settled, by its place in the order.
    Settled(usize),
}

impl Forked {
    /// Ends the line that is being written.
    pub(super) fn end_line(&mut self, origins: Vec<Origin>) {
        self.rope.write("\n");
        self.lines.push(origins);
    }
}

/// A new session file, not yet written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forked {
    /// Its bytes.
    pub rope: Rope,
    /// Its session or thread id.
    pub session: String,
    /// Its file name, without folder. Empty: the source's name with a suffix.
    pub name: String,
    /// Folders `year/month/day` for a runtime that sorts its sessions by day: a source that lies in such a folder gets
    /// its fork in this one.
    pub day: Option<String>,
    /// The command that resumes it, word by word; none where the format belongs to no runtime.
    pub resume: Vec<String>,
    /// Name of the folder, somewhere above, in which the runtime finds sessions by their id; none where it does not look.
    pub shelf: &'static str,
    /// The same for a file that does not lie where its runtime looks for it, without the path, which comes last; none
    /// where the runtime takes no path.
    pub resume_by_path: Vec<String>,
    /// For every line of the new file the records that a fresh reader must find of it in the context, by their place in
    /// the line. In which order a reader puts lines is the format's own business.
    pub lines: Vec<Vec<Origin>>,
    /// Positions outside the span that are not written: the runtime puts them in by itself when it resumes, or would
    /// act on them although they are settled.
    pub renewed: Vec<usize>,
    /// The new file is one document: `lines` has one entry, whose records are found in the order of the whole file.
    pub document: bool,
    /// The new file is in another format than the source: its words are kept, its bytes are not.
    pub converted: bool,
    /// Fields of a kept line that belong to the file and not to what was said: the writer sets them anew.
    pub envelope: &'static [&'static str],
    /// Lines of the source, beside those of the span, that no resume needs and that are left out.
    pub left_out: usize,
    /// Sentences that the operator should know before it is written.
    pub told: Vec<String>,
}

/// Why a new file cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The format has no writer.
    #[error("cutline cannot write this format yet; the transcript can only be read.")]
    ReadOnly,
    /// Bytes of the source are gone.
    #[error("Line {0} of the source cannot be read any more: the file changed. Open it again.")]
    Gone(u32),
    /// The format has no words for it.
    #[error("This format cannot say `{act}` for {id}; it has to end by itself.")]
    CannotSay {
        /// What was asked.
        act: &'static str,
        /// Of what.
        id: String,
    },
    /// The source lacks something that its own runtime always writes.
    #[error("{0}")]
    Unfit(String),
}

/// Changes of one value of the source: byte ranges of the value with what stands there instead.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits {
    edits: Vec<(u32, u32, Vec<u8>)>,
}

impl Edits {
    /// Puts `with` in the place of `len` bytes at `at` of the line that the value was parsed from.
    pub(super) fn replace(&mut self, (at, len): (u32, u32), with: impl Into<Vec<u8>>) {
        self.edits.push((at, len, with.into()));
    }

    /// Sets the field `name` of `object` to the JSON text `with`; a field that is missing is put first.
    pub(super) fn set(&mut self, object: Raw<'_>, name: &str, with: &str) {
        if let Some(value) = object.get(name) {
            self.replace(value.range(), with);
            return;
        }
        let (at, _) = object.range();
        let comma = if object.fields().next().is_some() { "," } else { "" };
        self.replace((at + 1, 0), format!("{}:{with}{comma}", quoted(name)));
    }

    /// Copies `value`, which stands in the line at `offset` of `segment`, with the changes.
    pub(super) fn apply(mut self, value: Raw<'_>, segment: u16, offset: u64, rope: &mut Rope) {
        let (start, len) = value.range();
        self.edits.sort_by_key(|(at, ..)| *at);
        let mut at = start;
        for (from, len, with) in self.edits {
            rope.copy(segment, offset + u64::from(at), from.saturating_sub(at));
            rope.write(with);
            at = from + len;
        }
        rope.copy(segment, offset + u64::from(at), (start + len).saturating_sub(at));
    }
}

/// `text` as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The line of `record` in the source.
pub(super) fn line_of(order: &ForkOrder<'_>, record: &Record) -> Result<Vec<u8>, ForkError> {
    order.payload.read(record.segment, record.offset, record.line_len).ok_or(ForkError::Gone(record.line))
}

/// Every number of `usage` becomes 0: figures of the old context would speak of the new one.
pub(super) fn zero(usage: Raw<'_>, edits: &mut Edits) {
    for (_, value) in usage.fields() {
        match value.bytes().first() {
            Some(b'0'..=b'9' | b'-') => edits.replace(value.range(), "0"),
            Some(b'{') => zero(value, edits),
            Some(b'[') => value.items().for_each(|item| zero(item, edits)),
            _ => {}
        }
    }
}
