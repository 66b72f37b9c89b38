use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{Boundary, RecordId};

/// Index of an entry, in file order.
pub(super) type NodeId = u32;

/// What an entry hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Up {
    /// On nothing.
    Root,
    /// On the entry with this id.
    Id(u128),
    /// On the entry before it in the file.
    Previous,
}

/// What a compaction keeps of what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Nothing,
    /// From the entry with this id on.
    Id(u128),
    /// From this entry on (version 1 counted entries).
    Node(NodeId),
}

/// What an entry is for the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// No model reads it.
    Inert,
    /// Prompt of the system and tool declarations: the runtime writes them anew when they are missing.
    System,
    /// A response that is sent.
    Answer,
    /// A response that failed or was aborted: neither it nor its calls are ever sent.
    Discarded,
    /// Text in the user role: it ends the turn of the calls before it.
    Said,
    /// A command that a person ran and kept from the model.
    Hidden,
    /// The result of a call.
    Result,
    Compaction(Kept),
    /// Omits the entry `target` from the context, or puts its own records there.
    Edit {
        target: NodeId,
        omits: bool,
    },
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Its id as a number; none in files of version 1.
    pub(super) key: Option<u128>,
    pub(super) up: Up,
    pub(super) role: Role,
    /// First record and one past the last.
    pub(super) records: (RecordId, RecordId),
    pub(super) line: u32,
    /// Its id was another entry's before.
    pub(super) again: bool,
}

/// How far a walk to the root came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Root,
    /// This entry names a parent that is not in the file.
    Missing(NodeId, u128),
    /// This entry is its own ancestor; the runtime itself would hang.
    Cycle(NodeId),
}

/// Every entry, by id and in order.
#[derive(Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    by_key: FxHashMap<u128, NodeId>,
    /// Entries by their place among all parsed values, the header included: version 1 counts so.
    places: Vec<Option<NodeId>>,
    /// Parents mean nothing: every entry hangs on the one before it.
    pub(super) linear: bool,
    /// What the compactions say of themselves.
    pub(super) compactions: FxHashMap<NodeId, Boundary>,
}

impl Tree {
    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id as usize)
    }

    pub(super) fn len(&self) -> NodeId {
        NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX)
    }

    pub(super) fn find(&self, key: u128) -> Option<NodeId> {
        self.by_key.get(&key).copied()
    }

    /// The entry at a place that version 1 names.
    pub(super) fn at_place(&self, place: u64) -> Option<NodeId> {
        self.places.get(usize::try_from(place).ok()?).copied().flatten()
    }

    /// A value that is no entry takes a place.
    pub(super) fn skip(&mut self) {
        self.places.push(None);
    }

    /// Takes the next entry. An id that stands twice names the newer entry from now on.
    pub(super) fn insert(&mut self, mut node: Node) -> NodeId {
        let id = self.len();
        node.again = node.key.is_some_and(|key| self.by_key.insert(key, id).is_some());
        self.nodes.push(node);
        self.places.push(Some(id));
        id
    }

    /// The entry above `id`; an error is the key of one that is not in the file.
    pub(super) fn above(&self, id: NodeId) -> Result<Option<NodeId>, u128> {
        let up = if self.linear { Up::Previous } else { self.node(id).map_or(Up::Root, |node| node.up) };
        match up {
            Up::Root => Ok(None),
            Up::Previous => Ok(id.checked_sub(1)),
            Up::Id(key) => self.find(key).map(Some).ok_or(key),
        }
    }

    /// From the root to the last entry of the file, whatever it is, and how the walk ended.
    pub(super) fn path(&self) -> (Vec<NodeId>, End) {
        let mut path = Vec::new();
        let mut seen = FxHashSet::default();
        let mut end = End::Root;
        let mut next = self.len().checked_sub(1);
        while let Some(id) = next {
            seen.insert(id);
            path.push(id);
            next = match self.above(id) {
                Ok(Some(above)) if seen.contains(&above) => {
                    end = End::Cycle(id);
                    None
                }
                Ok(above) => above,
                Err(key) => {
                    end = End::Missing(id, key);
                    None
                }
            };
        }
        path.reverse();
        (path, end)
    }
}
