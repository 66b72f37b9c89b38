//! Formats without code: a map says where things stand in a record, one engine reads them all.
//!
//! Comes in: maps as TOML, the program's own (`assets/formats`) and those of the user; then lines like any adapter.
//! Goes out: records, events, usage and the effective context, like any adapter; for a map that is wrong the line, the
//! key and what was expected.
//! Must never: guess what a map does not say; run anything that a map could make expensive (pointers are bounded,
//! expressions are linear); write a transcript.

mod builtin;
mod emit;
mod mapped;
mod matcher;
mod order;
mod pairing;
mod pointer;
mod read;
mod rule;

use std::{
    cmp::Ordering,
    fmt,
    hash::{Hash, Hasher},
    sync::OnceLock,
};

pub use mapped::Mapped;
use matcher::When;
use pointer::{Paths, Pointer};
pub use read::MapError;
pub use rule::Verb;
use rule::{Rule, emissions};

use super::{Capability, Ids, LateResults, json::Raw};

/// How records lie in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// One a line.
    Lines,
    /// All in one JSON document.
    Document,
}

/// Something in a record that speaks for a format.
#[derive(Clone, Debug)]
struct Evidence {
    when: When,
    why: String,
    weak: bool,
}

/// The tree of a format whose records name their parents.
#[derive(Clone, Debug)]
struct Tree {
    id: Paths,
    parent: Paths,
}

/// Where the facts of the session stand.
#[derive(Clone, Debug, Default)]
struct SessionPaths {
    id: Paths,
    version: Paths,
    cwd: Paths,
    branch: Paths,
    model: Paths,
    title: Paths,
    window: Paths,
}

/// What a format tells and hides: a [`Capability`] with its sentences owned.
#[derive(Clone, Debug)]
struct Tells {
    open: bool,
    results: bool,
    ids: Ids,
    usage: bool,
    window: bool,
    lock: bool,
    reexecutes: bool,
    late_results: LateResults,
    hides: Vec<String>,
}

/// A transcript format as data.
#[derive(Clone, Debug)]
pub struct Map {
    name: String,
    title: String,
    reads: String,
    container: Container,
    records: Option<Pointer>,
    skip: Vec<When>,
    tree: Option<Tree>,
    key: Paths,
    upsert: bool,
    reset: Vec<(When, Pointer)>,
    rewind: Vec<(When, Paths)>,
    lane: Paths,
    response: Paths,
    time: Paths,
    session: SessionPaths,
    evidence: Vec<Evidence>,
    tells: Tells,
    rules: Vec<Rule>,
}

/// What a map sees in a record, for people who write one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// 1-based line of the rule in the map.
    pub rule: usize,
    /// What the rule emits.
    pub verb: Verb,
    /// Id that was found.
    pub id: Option<String>,
    /// Name that was found.
    pub name: Option<String>,
}

/// What a record is to a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Understood {
    /// The rules that apply; none: it is kept as it is.
    Rules(Vec<Seen>),
    /// No record of the conversation, says the map.
    Skipped,
    /// It replaces everything before it.
    Reset,
    /// It takes records back.
    Rewind,
}

impl Map {
    /// Reads a map.
    ///
    /// # Errors
    /// [`MapError`] with the line, the key and what was expected.
    pub fn parse(text: &str) -> Result<Self, MapError> {
        read::parse(text)
    }

    /// Name for `--format` and `--json`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Which files it reads, for people.
    pub fn reads(&self) -> &str {
        &self.reads
    }

    /// How records lie in the file.
    pub fn container(&self) -> Container {
        self.container
    }

    /// The records of `line` with what the map sees in each.
    pub fn explain<'a>(&self, line: Raw<'a>) -> Vec<(Raw<'a>, Understood)> {
        let records = self.records.as_ref().map_or_else(|| vec![line], |records| records.all(line, line));
        records.into_iter().map(|record| (record, self.explain_record(record))).collect()
    }

    /// 1-based lines of the map on which its rules begin.
    pub fn rule_lines(&self) -> impl Iterator<Item = usize> + '_ {
        self.rules.iter().map(|rule| rule.line)
    }

    /// True if something in `line` speaks for this format.
    pub fn speaks(&self, line: Raw<'_>) -> bool {
        self.evidence(line).is_some()
    }

    fn explain_record(&self, record: Raw<'_>) -> Understood {
        if self.reset.iter().any(|(when, _)| when.holds(record, record)) {
            return Understood::Reset;
        }
        if self.rewind.iter().any(|(when, _)| when.holds(record, record)) {
            return Understood::Rewind;
        }
        if self.is_skipped(record) {
            return Understood::Skipped;
        }
        let seen = emissions(&self.rules, record).into_iter().map(|found| Seen {
            rule: found.rule.line,
            verb: found.rule.emit,
            id: found.id.map(std::borrow::Cow::into_owned),
            name: found.name.map(std::borrow::Cow::into_owned),
        });
        Understood::Rules(seen.collect())
    }

    fn is_skipped(&self, record: Raw<'_>) -> bool {
        self.skip.iter().any(|when| when.holds(record, record))
    }

    /// What in `line` speaks for this format: the reason, and whether it is only weak evidence.
    pub(super) fn evidence(&self, line: Raw<'_>) -> Option<(&str, bool)> {
        let found = self.evidence.iter().find(|evidence| evidence.when.holds(line, line))?;
        Some((&found.why, found.weak))
    }

    /// True if records can be written again, so that the file holds more than the conversation.
    fn rewrites(&self) -> bool {
        self.upsert || !self.reset.is_empty() || !self.rewind.is_empty()
    }
}

/// A map that stays for the life of the program, as cheap to hand round as a name.
#[derive(Clone, Copy)]
pub struct Mapping(&'static Map);

impl Mapping {
    /// Keeps `map` for good. Maps are few and read once.
    pub fn keep(map: Map) -> Self {
        Self(Box::leak(Box::new(map)))
    }

    /// The map.
    pub fn map(self) -> &'static Map {
        self.0
    }

    /// What the format tells and hides.
    pub fn capability(self) -> Capability {
        let tells = &self.0.tells;
        Capability {
            shows_open: tells.open,
            shows_results: tells.results,
            ids: tells.ids,
            usage: tells.usage,
            window: tells.window,
            lock: tells.lock,
            reexecutes: tells.reexecutes,
            late_results: tells.late_results,
            commits: &[],
            hides: tells.hides.iter().map(String::as_str).collect(),
        }
    }

    /// The user's own maps.
    pub fn own() -> Vec<Self> {
        OWN.get().cloned().unwrap_or_default()
    }

    /// Every map that is known: those of the user first, then those of the program, none of a name that came before.
    pub fn all() -> Vec<Self> {
        let mut all = Self::own();
        for mapping in builtin::all() {
            if !all.contains(mapping) {
                all.push(*mapping);
            }
        }
        all
    }

    /// Makes the user's own maps known. To be called once, before anything is read; later calls change nothing.
    pub fn install(maps: Vec<Map>) {
        let _: &Vec<Self> = OWN.get_or_init(|| maps.into_iter().map(Self::keep).collect());
    }
}

static OWN: OnceLock<Vec<Mapping>> = OnceLock::new();

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

impl PartialEq for Mapping {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Mapping {}

impl PartialOrd for Mapping {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Mapping {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.name.cmp(&other.0.name)
    }
}

impl Hash for Mapping {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}
