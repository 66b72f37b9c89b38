//! Records of the file in the order of the conversation: branches, compactions, what was written again.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{Context, Kind, LaneId, Log, RecordId, Slot, Sym};

/// What a compaction leaves of what stands before it.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    /// Nothing.
    Nothing,
    /// The rows from this key on.
    From(Option<Sym>),
    /// Everything but the rows with these keys.
    AllBut(Vec<Sym>),
}

/// One record of the file, with the records of the log that it gave.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) first: RecordId,
    pub(super) end: RecordId,
    pub(super) key: Option<Sym>,
    pub(super) parent: Option<Sym>,
    pub(super) kept: Option<Kept>,
    /// Where the pairing stood before it.
    pub(super) mark: (u32, u32),
}

/// Every row, and the context that they make.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    tree: bool,
    list: Vec<Row>,
    by_key: FxHashMap<Sym, Vec<u32>>,
    leaf: Option<Sym>,
    /// Rows whose places the context already has.
    taken: usize,
    /// More happened than that rows were added.
    moved: bool,
    context: Context,
}

impl Rows {
    pub(super) fn new(tree: bool) -> Self {
        Self { tree, ..Self::default() }
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.list.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn get(&self, row: u32) -> Option<&Row> {
        self.list.get(row as usize)
    }

    /// The newest row with `key`.
    pub(super) fn find(&self, key: Sym) -> Option<u32> {
        self.by_key.get(&key)?.last().copied()
    }

    /// Adds `row`.
    pub(super) fn push(&mut self, row: Row) {
        let index = self.len();
        if let Some(key) = row.key {
            self.by_key.entry(key).or_default().push(index);
            if self.tree {
                let follows = self.leaf.is_none_or(|leaf| leaf == key || row.parent == Some(leaf));
                self.moved |= !follows;
                self.leaf = Some(key);
            }
        }
        self.moved |= row.kept.is_some();
        self.list.push(row);
    }

    /// Puts `row` where another was.
    pub(super) fn replace(&mut self, index: u32, row: Row) {
        if let Some(place) = self.list.get_mut(index as usize) {
            *place = row;
            self.moved = true;
        }
    }

    /// Forgets the rows from `index` on.
    pub(super) fn truncate(&mut self, index: u32) {
        for row in self.list.drain((index as usize).min(self.list.len())..) {
            let Some(key) = row.key else { continue };
            if let Some(same) = self.by_key.get_mut(&key) {
                same.retain(|at| *at < index);
                if same.is_empty() {
                    self.by_key.remove(&key);
                }
            }
        }
        self.leaf = None;
        self.moved = true;
    }

    /// Indices on the path from the root to the leaf; without a tree all.
    fn path(&self) -> Vec<u32> {
        let mut path = Vec::new();
        let (mut at, mut seen) = (self.leaf, FxHashSet::default());
        if !self.tree {
            return (0..self.len()).collect();
        }
        // A parent that stands nowhere ends the walk, as in the runtimes; one that leads back does too.
        while let Some(rows) = at.filter(|key| seen.insert(*key)).and_then(|key| self.by_key.get(&key)) {
            path.extend(rows);
            at = rows.first().and_then(|row| self.get(*row)).and_then(|row| row.parent);
        }
        path.sort_unstable();
        path
    }

    /// The rows that the runtime would send. Only the newest compaction that names a start counts, and what is forgotten
    /// after it.
    fn visible(&self) -> Vec<u32> {
        let path = self.path();
        let kept = |row: &u32| self.get(*row).and_then(|row| row.kept.as_ref());
        let starts = |row: &u32| matches!(kept(row), Some(Kept::Nothing | Kept::From(_)));
        let boundary = path.iter().rev().copied().find(starts);
        let mut forgotten: FxHashSet<Sym> = FxHashSet::default();
        for row in path.iter().filter(|row| boundary.is_none_or(|at| **row > at)) {
            if let Some(Kept::AllBut(keys)) = kept(row) {
                forgotten.extend(keys);
            }
        }
        let first = boundary.and_then(|at| match kept(&at)? {
            Kept::From(Some(key)) => {
                path.iter().copied().find(|row| *row < at && self.get(*row).is_some_and(|row| row.key == Some(*key)))
            }
            _ => None,
        });
        let stays = |row: &u32| match boundary {
            Some(at) if *row < at => first.is_some_and(|first| *row >= first) && kept(row).is_none(),
            _ => true,
        };
        let known = |row: &u32| self.get(*row).and_then(|row| row.key).is_some_and(|key| forgotten.contains(&key));
        path.into_iter().filter(|row| stays(row) && !known(row)).collect()
    }

    /// The context of the rows so far. Cheap if rows were only added.
    pub(super) fn context(&mut self, log: &Log) -> &mut Context {
        if std::mem::take(&mut self.moved) {
            let mut next = Context::default();
            for row in self.visible() {
                self.get(row).into_iter().for_each(|row| places(row, log, &mut next));
            }
            self.context.replace(next);
        } else {
            for row in self.list.iter().skip(self.taken) {
                if !self.tree || row.key.is_some() {
                    places(row, log, &mut self.context);
                }
            }
        }
        self.taken = self.list.len();
        &mut self.context
    }

    pub(super) fn current(&self) -> &Context {
        &self.context
    }
}

fn places(row: &Row, log: &Log, context: &mut Context) {
    for id in row.first..row.end {
        let Some(record) = log.records.get(id as usize).filter(|record| record.lane == LaneId::MAIN) else { continue };
        let slot = Slot::record(id);
        context.push(if matches!(record.kind, Kind::Notice | Kind::Opaque) { slot.unsent() } else { slot });
    }
}
