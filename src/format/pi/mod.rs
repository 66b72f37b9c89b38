//! Session files of pi, versions 1 to 3, and of its relatives (`OpenClaw` and others that keep its format).
//!
//! Comes in: the lines of a file that grows by append: a header, then entries that form a tree by `id` and `parentId`.
//! Goes out: a record for each content block and result, retries, usage, and the context that pi would send next (leaf,
//! last compaction with what it keeps, context edits, its own answers to open calls); and new session files that pi
//! resumes.
//! Must never: let a dead branch answer a call, owe a call of a response that pi discarded, follow a circle of parents,
//! or treat an unknown type as an error.

use super::{
    Adapter, Capability, Commit, Counting, ForkError, ForkOrder, Forked, Format, Ids, LateResults, Line, SessionFacts,
    envelope::{Envelope, uuid_key},
    json::Raw,
};
use crate::model::{Body, Boundary, Context, Flags, Kind, Log, NoteKind, Record};

mod body;
mod live;
mod message;
mod tree;
mod write;

use live::Live;
use tree::{Kept, Node, Role, Tree, Up};

/// The newest version of the format that is known.
const NEWEST: u64 = 3;
/// Type of the custom message that stands for a cut in the middle of a session.
const SUMMARY: &str = "cutline-summary";

/// Reader of pi sessions.
#[derive(Default)]
pub struct Pi {
    tree: Tree,
    live: Live,
    facts: SessionFacts,
    header: Option<Header>,
    stem: String,
    /// Parents name calls or the session itself: no tree that pi could walk.
    cousin: bool,
}

/// The first line.
#[derive(Clone, Copy, Debug)]
struct Header {
    place: Record,
    version: u64,
    /// Its id as a number: relatives hang their first entries on it.
    key: Option<u128>,
}

impl Pi {
    /// A reader that has seen nothing yet.
    pub fn new(file_stem: &str) -> Self {
        Self { stem: file_stem.to_string(), ..Self::default() }
    }

    fn header(&mut self, env: &Envelope<'_>, line: &Line<'_>, log: &mut Log) {
        self.tree.skip();
        if self.header.is_some() {
            log.push(quiet(line, Kind::Notice, line.value));
            log.note(NoteKind::Format, line.number, "A second session header; pi passes over it.");
            return;
        }
        if self.tree.len() > 0 {
            let text = "Entries stand before the session header: pi refuses the file, and before 0.80.3 emptied it.";
            log.note(NoteKind::Format, line.number, text);
        }
        let version = env.number("version").unwrap_or(1);
        self.tree.linear |= version < 2;
        if version > NEWEST {
            let text = format!("Version {version} of the format is newer than what cutline knows ({NEWEST}).");
            log.note(NoteKind::Format, line.number, text);
        }
        let owned = |name: &str| env.text(name).map(std::borrow::Cow::into_owned);
        self.facts.id = owned("id");
        self.facts.cwd = owned("cwd");
        self.facts.model = owned("modelId");
        self.facts.generation = Some(match version {
            0 | 1 => "v1",
            2 => "v2",
            3 => "v3",
            _ => "newer than v3",
        });
        let key = env.text("id").map(|id| uuid_key(&id));
        self.header = Some(Header { place: quiet(line, Kind::Notice, line.value), version, key });
    }

    /// An entry of the tree.
    fn entry(&mut self, kind: &str, env: &Envelope<'_>, line: &Line<'_>, log: &mut Log) {
        let first = log.next_id();
        let role = self.records(kind, env, line, log);
        if line.salvaged {
            return;
        }
        let key = env.text("id").map(|id| uuid_key(&id));
        let up = self.up(env, key.is_some());
        let records = (first, log.next_id());
        let node = self.tree.insert(Node { key, up, role, records, line: line.number, again: false });
        if self.tree.node(node).is_some_and(|node| node.again) {
            let text = "The id of this entry was another entry's before: pi forgets the older one.";
            log.note(NoteKind::DuplicateUuid, line.number, text);
        }
        if let Role::Compaction(_) = role {
            let boundary = Boundary { line: line.number, before: env.number("tokensBefore"), automatic: false };
            self.tree.compactions.insert(node, boundary);
        }
    }

    /// The parent of an entry. Relatives name the session or a call there, which pi itself could not follow.
    fn up(&mut self, env: &Envelope<'_>, has_id: bool) -> Up {
        let Some(parent) = env.text("parentId") else {
            return if has_id || self.header.is_some() { Up::Root } else { Up::Previous };
        };
        let key = uuid_key(&parent);
        let session = self.header.and_then(|header| header.key) == Some(key);
        let call = env
            .object("message")
            .is_some_and(|message| message.is("role", "toolResult") && message.is("toolCallId", &parent));
        if (session || call) && self.tree.find(key).is_none() {
            self.cousin = true;
            self.tree.linear = true;
        }
        Up::Id(key)
    }

    /// Pushes the records of an entry and says what it is.
    fn records(&mut self, kind: &str, env: &Envelope<'_>, line: &Line<'_>, log: &mut Log) -> Role {
        match kind {
            "message" => match env.object("message") {
                Some(message) => self.message(env, &message, line, log),
                None => opaque(line, "An entry of type `message` has no message; it is kept as it is.", log),
            },
            "custom_message" => message::said(env, env.get("content"), message::Voice::of(env), line, log),
            "branch_summary" if env.text("summary").is_some() => {
                message::said(env, env.get("summary"), message::Voice::Injected, line, log)
            }
            "compaction" => {
                let summary = env.get("summary").filter(|summary| summary.is_string());
                let record = line.record(Kind::Summary, summary.unwrap_or(line.value));
                log.push(Record { time: env.time(), ..record });
                Role::Compaction(self.kept(env))
            }
            "context_edit" => self.edit(env, line, log),
            "branch_summary"
            | "custom"
            | "model_change"
            | "thinking_level_change"
            | "label"
            | "session_info"
            | "usage" => {
                log.push(Record { time: env.time(), ..quiet(line, Kind::Notice, line.value) });
                if !line.salvaged {
                    self.learn(kind, env);
                }
                Role::Inert
            }
            "" => opaque(line, "The line has no type; it is kept as it is.", log),
            _ => opaque(line, &format!("The type `{kind}` is not known; the line is kept as it is."), log),
        }
    }

    fn kept(&self, env: &Envelope<'_>) -> Kept {
        if self.tree.linear && !self.cousin {
            let place = env.number("firstKeptEntryIndex");
            return place.and_then(|place| self.tree.at_place(place)).map_or(Kept::Nothing, Kept::Node);
        }
        env.text("firstKeptEntryId").map_or(Kept::Nothing, |id| Kept::Id(uuid_key(&id)))
    }

    /// Another content for an older entry, or none.
    fn edit(&self, env: &Envelope<'_>, line: &Line<'_>, log: &mut Log) -> Role {
        let target = env.text("targetId").and_then(|id| self.tree.find(uuid_key(&id)));
        let content = env.get("replacement").and_then(|replacement| replacement.get("content"));
        let old = target.and_then(|target| self.tree.node(target));
        if let (Some(target), Some(old), Some(content)) = (target, old, content) {
            message::replaced(old, content, line, log);
            return Role::Edit { target, omits: false };
        }
        log.push(Record { time: env.time(), ..quiet(line, Kind::Notice, line.value) });
        match target.filter(|_| env.get("replacement").is_none_or(Raw::is_null)) {
            Some(target) => Role::Edit { target, omits: true },
            None => Role::Inert,
        }
    }

    fn learn(&mut self, kind: &str, env: &Envelope<'_>) {
        let owned = |name: &str| env.text(name).map(std::borrow::Cow::into_owned);
        match kind {
            "model_change" => self.facts.model = owned("modelId").or(self.facts.model.take()),
            // An empty name takes the title back.
            "session_info" => self.facts.title = owned("name").filter(|name| !name.trim().is_empty()),
            _ => {}
        }
    }
}

/// A line whose type is not known: kept, counted, inert, and still a part of the tree.
fn opaque(line: &Line<'_>, text: &str, log: &mut Log) -> Role {
    log.not_understood += 1;
    log.note(NoteKind::NotUnderstood, line.number, text);
    log.push(quiet(line, Kind::Opaque, line.value));
    Role::Inert
}

/// A record that no model reads: its text is not weighed.
fn quiet(line: &Line<'_>, kind: Kind, block: Raw<'_>) -> Record {
    let (at, len) = block.range();
    Record {
        offset: line.offset,
        line: line.number,
        line_len: u32::try_from(line.bytes.len()).unwrap_or(u32::MAX),
        at,
        len,
        tokens: 0,
        segment: line.segment,
        flags: Flags::NONE.with_if(Flags::SALVAGED, line.salvaged),
        ..Record::new(kind)
    }
}

/// True if nothing but white space stands beside the value: pi passes over every other line.
fn is_alone(line: &Line<'_>) -> bool {
    let (at, len) = line.value.range();
    let (at, end) = (at as usize, (at as usize).saturating_add(len as usize));
    let before = line.bytes.get(..at).unwrap_or_default();
    let before = before.strip_prefix(b"\xef\xbb\xbf").filter(|_| line.number == 1).unwrap_or(before);
    let behind = line.bytes.get(end..).unwrap_or_default();
    before.iter().chain(behind).all(u8::is_ascii_whitespace)
}

impl Adapter for Pi {
    fn format(&self) -> Format {
        Format::Pi
    }

    fn capability(&self) -> Capability {
        let mut hides = vec![
            "Results of a parallel batch are written together when the slowest call has ended: until then a finished \
             call looks open.",
            "A call that was running when pi was killed stays open on disk; pi answers it in memory only.",
            "Approvals and the context window are not written.",
        ];
        // Of a file that was not begun nothing speaks against it; without its header a session cannot be written anew.
        let begun = self.header.is_some() || self.tree.len() > 0;
        let writes = !self.cousin && (!begun || self.header.is_some_and(|header| header.version <= NEWEST));
        if self.cousin {
            hides.push("A relative of pi wrote this file; its entries are read in file order.");
        }
        Capability {
            shows_open: true,
            shows_results: true,
            // Some providers behind pi begin to count again in each turn.
            ids: Ids::Repeat,
            usage: true,
            window: false,
            lock: false,
            reexecutes: false,
            late_results: LateResults::Kept,
            commits: if writes { &[Commit::Fork, Commit::Append] } else { &[] },
            hides,
        }
    }

    fn counting(&self) -> Counting {
        Counting::ByInstance
    }

    fn line(&mut self, line: &Line<'_>, log: &mut Log) {
        if log.lanes.is_empty() {
            log.lane("main");
        }
        let line = &Line { salvaged: line.salvaged || !is_alone(line), ..*line };
        let env = Envelope::of(line.value);
        let kind = env.text("type").unwrap_or_default();
        if kind == "session" && !line.salvaged {
            self.header(&env, line, log);
        } else {
            self.entry(&kind, &env, line, log);
        }
    }

    fn context(&mut self, log: &mut Log) -> &mut Context {
        self.live.update(&self.tree, log)
    }

    fn current(&self) -> &Context {
        self.live.context()
    }

    fn body(&self, line: &[u8], record: &Record) -> Body {
        body::decode(line, record)
    }

    fn session(&self) -> SessionFacts {
        self.facts.clone()
    }

    fn fork(&self, order: &ForkOrder<'_>) -> Result<Forked, ForkError> {
        // pi opens no file without its header, walks no tree whose parents name calls, and what a newer version means is
        // not known: such a file has no writer of its own.
        let header = self.header.filter(|header| header.version <= NEWEST && !self.cousin);
        let header = header.ok_or(ForkError::ReadOnly)?;
        write::fork(order, &write::Source { tree: &self.tree, live: &self.live, header, stem: &self.stem })
    }
}
