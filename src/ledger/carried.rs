//! What lives on after its launch was answered, found by handle and by place without a search.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::model::{Sym, TaskKind};

/// Something that lives on after its launch was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Handle by which later records name it.
    pub id: Sym,
    /// What it is.
    pub kind: TaskKind,
    /// Position of the record that launched it.
    pub at: u32,
    /// Id of the call that launched it.
    pub call: Option<Sym>,
    /// Its end is recorded but was not told to the agent.
    pub undelivered: bool,
    /// Nothing says that it runs, nothing says that it ended.
    pub uncertain: bool,
}

/// Everything that lives on, in the order it was launched. A handle names one thing: the newest launched by it.
#[derive(Clone, Debug, Default)]
pub struct CarriedSet {
    /// By position and a number that never repeats.
    tasks: BTreeMap<(u32, u32), Carried>,
    handles: FxHashMap<Sym, (u32, u32)>,
    launched: u32,
}

impl CarriedSet {
    /// By position of the launch.
    pub fn iter(&self) -> impl Iterator<Item = &Carried> {
        self.tasks.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// True if nothing lives on.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The first that was launched at `position`.
    pub fn at(&self, position: usize) -> Option<&Carried> {
        let at = u32::try_from(position).ok()?;
        self.tasks.range((at, 0)..=(at, u32::MAX)).next().map(|(_, task)| task)
    }

    pub(super) fn start(&mut self, task: Carried) {
        self.end(task.id);
        let key = (task.at, self.launched);
        self.launched = self.launched.wrapping_add(1);
        self.handles.insert(task.id, key);
        self.tasks.insert(key, task);
    }

    pub(super) fn end(&mut self, id: Sym) {
        if let Some(key) = self.handles.remove(&id) {
            self.tasks.remove(&key);
        }
    }

    pub(super) fn end_untold(&mut self, id: Sym) {
        if let Some(task) = self.handles.get(&id).and_then(|key| self.tasks.get_mut(key)) {
            task.undelivered = true;
        }
    }
}
