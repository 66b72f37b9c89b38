use rustc_hash::{FxHashMap, FxHashSet};

use super::tree::{End, Kept, Node, NodeId, Role, Tree};
use crate::model::{Context, Kind, Log, NoteKind, Record, RecordId, Slot, Sym};

/// What pi would send next, kept up to date. A plain append is followed; anything else is walked anew.
#[derive(Default)]
pub(super) struct Live {
    context: Context,
    /// From the root to the leaf.
    path: Vec<NodeId>,
    /// How many entries were followed.
    taken: NodeId,
    /// Places of the context before the answers that pi would invent for the open calls of the newest response.
    settled: usize,
    /// Calls of the newest response without a result.
    open: Vec<(Sym, RecordId)>,
    /// The compaction that counts: the last one of the path.
    compaction: Option<NodeId>,
    /// What replaces an entry, by the entry: nothing, or the records of this edit.
    edits: FxHashMap<NodeId, Option<NodeId>>,
    /// The parent that the walk did not find.
    awaited: Option<u128>,
    noted: FxHashSet<(u32, NoteKind)>,
    linear: bool,
}

impl Live {
    /// The context as of the last update.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Entries in the order in which their records stand in the context: behind the last compaction first come the
    /// entries that it keeps, then those that follow it. What no model reads stands at its own place in the path, and
    /// what the compaction replaced is left out.
    pub(super) fn effective(&self, tree: &Tree) -> Vec<NodeId> {
        let Some(compaction) = self.compaction else { return self.path.clone() };
        let at = self.path.iter().position(|id| *id == compaction).unwrap_or(0);
        let first = self.kept_from(tree, at);
        let quiet = |id: &NodeId| tree.node(*id).is_some_and(|node| node.role == Role::Inert);
        let before = self.path.iter().take(first).copied().filter(quiet);
        let kept = self.path.get(first..at).unwrap_or_default().iter().copied();
        let behind = self.path.get(at + 1..).unwrap_or_default().iter().copied();
        before.chain([compaction]).chain(kept).chain(behind).collect()
    }

    /// The edit that stands in the place of the entry `id`.
    pub(super) fn edit_of(&self, id: NodeId) -> Option<NodeId> {
        self.edits.get(&id).copied().flatten()
    }

    pub(super) fn update(&mut self, tree: &Tree, log: &mut Log) -> &mut Context {
        let mut stale = std::mem::replace(&mut self.linear, tree.linear) != tree.linear;
        let mut emitted = false;
        while let Some(node) = tree.node(self.taken).filter(|_| !stale) {
            let id = self.taken;
            stale = !self.follows(tree, id, node);
            if stale {
                break;
            }
            self.taken += 1;
            self.path.push(id);
            if is_read(node.role) {
                if !emitted {
                    self.context.truncate(self.settled);
                    emitted = true;
                }
                self.emit(tree, log, id);
            }
        }
        if stale {
            self.rebuild(tree, log);
        } else if emitted {
            self.foresee(log);
        }
        &mut self.context
    }

    /// True if the entry continues the path and changes nothing before it.
    fn follows(&self, tree: &Tree, id: NodeId, node: &Node) -> bool {
        let awaited = node.key.is_some() && node.key == self.awaited;
        let above = tree.above(id) == Ok(self.path.last().copied());
        above && !awaited && !node.again && !matches!(node.role, Role::Compaction(_) | Role::Edit { .. })
    }

    fn rebuild(&mut self, tree: &Tree, log: &mut Log) {
        let (path, end) = tree.path();
        self.path = path;
        self.taken = tree.len();
        self.awaited = None;
        self.open.clear();
        self.edits.clear();
        self.note_end(tree, log, end);
        let mut compaction = None;
        log.boundaries.clear();
        for id in &self.path {
            match tree.node(*id).map(|node| node.role) {
                Some(Role::Compaction(_)) => {
                    compaction = Some(*id);
                    log.boundaries.extend(tree.compactions.get(id).copied());
                }
                Some(Role::Edit { target, omits }) => {
                    self.edits.insert(target, (!omits).then_some(*id));
                }
                _ => {}
            }
        }
        self.compaction = compaction;
        self.note_swallowed(tree, log);
        let old = std::mem::take(&mut self.context);
        for id in self.effective(tree) {
            self.emit(tree, log, id);
        }
        self.foresee(log);
        let new = std::mem::replace(&mut self.context, old);
        self.context.replace(new);
    }

    /// Where in the path the entries begin that the compaction at `at` keeps; `at` itself if it keeps none.
    fn kept_from(&self, tree: &Tree, at: usize) -> usize {
        let kept = self.path.get(at).and_then(|id| tree.node(*id)).map(|node| node.role);
        let Some(Role::Compaction(kept)) = kept else { return at };
        let mut before = self.path.iter().take(at);
        let first = match kept {
            Kept::Nothing => None,
            Kept::Node(node) => before.position(|id| *id == node),
            Kept::Id(key) => before.position(|id| tree.node(*id).is_some_and(|node| node.key == Some(key))),
        };
        first.unwrap_or(at)
    }

    /// Appends what the entry `id` says.
    fn emit(&mut self, tree: &Tree, log: &mut Log, id: NodeId) {
        let Some(node) = tree.node(id) else { return };
        let records = match self.edits.get(&id) {
            None => node.records,
            Some(None) => return,
            Some(Some(edit)) => tree.node(*edit).map_or(node.records, |edit| edit.records),
        };
        match node.role {
            Role::Inert | Role::System | Role::Edit { .. } => {}
            Role::Compaction(_) if self.compaction != Some(id) => {}
            Role::Answer => {
                self.answer_open(log);
                self.push(records, true);
                let calls = (records.0..records.1).filter_map(|id| Some((id, log.records.get(id as usize)?)));
                self.open = calls.filter_map(|(id, record)| Some((open_call(record)?, id))).collect();
            }
            Role::Discarded => {
                self.answer_open(log);
                self.push(records, false);
            }
            Role::Said | Role::Compaction(_) => {
                self.answer_open(log);
                self.push(records, true);
            }
            Role::Hidden => self.push(records, false),
            Role::Result => {
                self.push(records, true);
                for id in records.0..records.1 {
                    self.resolve(log, id);
                }
            }
        }
    }

    fn push(&mut self, records: (RecordId, RecordId), sent: bool) {
        for id in records.0..records.1 {
            let slot = Slot::record(id);
            self.context.push(if sent { slot } else { slot.unsent() });
        }
    }

    /// A result answers the calls of its id in the newest response. One that answers none is sent all the same.
    fn resolve(&mut self, log: &mut Log, id: RecordId) {
        let Some(record) = log.records.get(id as usize).filter(|record| record.kind.is_resolution()) else { return };
        let (call, line) = (record.id, record.line);
        let before = self.open.len();
        self.open.retain(|(open, _)| Some(*open) != call);
        if self.open.len() == before && self.noted.insert((line, NoteKind::Resume)) {
            let text = "This result does not stand directly behind its open call: pi sends it all the same, and \
                        providers refuse the request.";
            log.note(NoteKind::Resume, line, text);
        }
    }

    /// The next message is about to come: pi answers what is open itself, in memory only.
    fn answer_open(&mut self, log: &Log) {
        for (_, call) in std::mem::take(&mut self.open) {
            if let Some(call) = log.records.get(call as usize) {
                self.context.push_placeholder(call, true);
            }
        }
    }

    /// What pi would answer for the open calls of the newest response if it were resumed now.
    fn foresee(&mut self, log: &Log) {
        self.settled = self.context.len();
        for (_, call) in &self.open {
            if let Some(call) = log.records.get(*call as usize) {
                self.context.push_placeholder(call, true);
            }
        }
    }

    fn note_end(&mut self, tree: &Tree, log: &mut Log, end: End) {
        match end {
            End::Root => {}
            End::Missing(id, key) => {
                self.awaited = Some(key);
                let text = "Its parent is not in the file; pi sees nothing before it.";
                self.note(tree, log, id, NoteKind::MissingParent, text);
            }
            End::Cycle(id) => {
                let text = "Its parents lead back to it: pi hangs on this file. The history is read up to here.";
                self.note(tree, log, id, NoteKind::Cycle, text);
            }
        }
    }

    /// Calls without a result in what the last compaction replaced.
    fn note_swallowed(&mut self, tree: &Tree, log: &mut Log) {
        let Some(compaction) = self.compaction else { return };
        let at = self.path.iter().position(|id| *id == compaction).unwrap_or(0);
        let line = tree.node(compaction).map_or(0, |node| node.line);
        if !self.noted.insert((line, NoteKind::Swallowed)) {
            return;
        }
        let first = self.kept_from(tree, at);
        let mut open: Vec<(Sym, u32)> = Vec::new();
        let mut answered = FxHashSet::default();
        for (place, id) in self.path.iter().enumerate() {
            let Some(node) = tree.node(*id) else { continue };
            let (from, to) = (node.records.0 as usize, node.records.1 as usize);
            for record in log.records.get(from..to).unwrap_or_default() {
                match node.role {
                    Role::Answer if place < first => open.extend(open_call(record).map(|call| (call, record.line))),
                    Role::Result => answered.extend(record.id),
                    _ => {}
                }
            }
        }
        for (call, of) in open.into_iter().filter(|(call, _)| !answered.contains(call)) {
            let name = log.syms.name(call);
            let text = format!("The compaction at line {line} dropped the call {name} while it was open.");
            log.note(NoteKind::Swallowed, of, text);
        }
    }

    fn note(&mut self, tree: &Tree, log: &mut Log, id: NodeId, kind: NoteKind, text: &str) {
        let line = tree.node(id).map_or(0, |node| node.line);
        if self.noted.insert((line, kind)) {
            log.note(kind, line, text);
        }
    }
}

/// True if an entry of this role can stand in the context.
fn is_read(role: Role) -> bool {
    !matches!(role, Role::Inert | Role::System | Role::Edit { .. })
}

fn open_call(record: &Record) -> Option<Sym> {
    record.id.filter(|_| record.kind == Kind::Call && record.is_owed_call())
}
