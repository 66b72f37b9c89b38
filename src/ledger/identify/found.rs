use rustc_hash::FxHashMap;

use super::{Identifier, IdentifierKind, IdentifierState, redact};

/// Identifiers that are kept at most; a hostile transcript names millions.
const MOST: usize = 20_000;
/// Bytes of one value; no path of a file system is longer.
const LONGEST: usize = 4_096;

/// Identifiers with what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identified {
    /// By first position, then in the order of the arguments.
    pub items: Vec<Identifier>,
    /// Secrets that were removed from values.
    pub redacted: usize,
    /// Values that were left out because there were too many, or they were too long.
    pub left_out: usize,
}

/// Collects what the families find: one entry for each kind and value, the newest state, the first position.
#[derive(Default)]
pub(super) struct Found {
    items: Vec<Entry>,
    by_value: FxHashMap<(IdentifierKind, String), usize>,
    /// The entry in use, of kinds that have one.
    current: FxHashMap<IdentifierKind, usize>,
    todo: Vec<Identifier>,
    /// Working folder of the session, absolute; relative paths are the same things seen from there.
    root: Option<String>,
    redacted: usize,
    left_out: usize,
}

/// One identifier and when it was seen last.
pub(super) struct Entry {
    pub(super) item: Identifier,
    pub(super) last: usize,
}

impl Found {
    pub(super) fn new(root: Option<&str>) -> Self {
        let root = root.filter(|root| root.starts_with('/')).map(|root| clean(root.trim_end_matches('/')));
        Self { root, ..Self::default() }
    }

    /// Notes that the call at `at` named `value`.
    pub(super) fn add(&mut self, kind: IdentifierKind, value: &str, at: usize, state: IdentifierState) {
        let value = value.trim();
        if value.is_empty() {
            return;
        }
        if value.len() > LONGEST {
            self.left_out += 1;
            return;
        }
        let safe = redact::redact(value);
        self.redacted += safe.count;
        if safe.nothing_left {
            return;
        }
        let value = if is_place(kind) { clean(&safe.text) } else { safe.text.into_owned() };
        let key = (kind, self.place(kind, &value));
        let index = match self.by_value.get(&key) {
            Some(index) => *index,
            None if self.items.len() >= MOST => {
                self.left_out += 1;
                return;
            }
            None => {
                let item = Identifier { kind, value, from: at, state };
                self.items.push(Entry { item, last: at });
                self.by_value.insert(key, self.items.len() - 1);
                self.items.len() - 1
            }
        };
        if let Some(entry) = self.items.get_mut(index) {
            entry.last = entry.last.max(at);
            if state.replaces(entry.item.state) {
                entry.item.state = state;
            }
        }
        if state == IdentifierState::Current {
            self.supersede(kind, index);
        }
    }

    /// Only one branch and one folder is in use.
    fn supersede(&mut self, kind: IdentifierKind, index: usize) {
        let Some(older) = self.current.insert(kind, index).filter(|older| *older != index) else { return };
        if let Some(entry) = self.items.get_mut(older)
            && entry.item.state == IdentifierState::Current
        {
            entry.item.state = IdentifierState::Named;
        }
    }

    /// Replaces the todo list.
    pub(super) fn todo(&mut self, items: Vec<Identifier>) {
        self.todo = items;
        for item in &mut self.todo {
            let safe = redact::redact(&item.value);
            self.redacted += safe.count;
            item.value = safe.text.into_owned();
        }
    }

    /// State of the identifier, if it was named.
    pub(super) fn state(&self, kind: IdentifierKind, value: &str) -> Option<IdentifierState> {
        let index = self.by_value.get(&(kind, self.place(kind, value)))?;
        self.items.get(*index).map(|entry| entry.item.state)
    }

    /// Everything that was named, and how much was not kept.
    pub(super) fn finish(self) -> (Vec<Entry>, Identified) {
        let mut items = self.items;
        items.extend(self.todo.into_iter().map(|item| Entry { last: item.from, item }));
        items.sort_by_key(|entry| entry.item.from);
        (items, Identified { items: Vec::new(), redacted: self.redacted, left_out: self.left_out })
    }

    /// By what two spellings of one place are the same.
    fn place(&self, kind: IdentifierKind, value: &str) -> String {
        match &self.root {
            Some(root) if is_place(kind) && !value.starts_with(['/', '~']) => clean(&format!("{root}/{value}")),
            _ => value.to_string(),
        }
    }
}

fn is_place(kind: IdentifierKind) -> bool {
    matches!(kind, IdentifierKind::Path | IdentifierKind::Worktree | IdentifierKind::Cwd)
}

/// `path` seen from `base`, without looking at the disk.
pub(super) fn join(base: Option<&str>, path: &str) -> String {
    match base {
        Some(base) if !path.starts_with(['/', '~']) => clean(&format!("{base}/{path}")),
        _ => clean(path),
    }
}

/// Without `.`, doubled slashes and, where it is certain, `..`. A path that leads to nothing stays as it is.
fn clean(path: &str) -> String {
    if !path.contains("./") && !path.contains("//") && !path.ends_with("/.") && !path.ends_with("/..") {
        return path.to_string();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && *last != "~") => {
                parts.pop();
            }
            ".." if path.starts_with('/') && parts.is_empty() => {}
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    let joined = format!("{root}{}", parts.join("/"));
    if joined.is_empty() { ".".to_string() } else { joined }
}
