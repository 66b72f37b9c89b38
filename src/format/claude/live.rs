use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    rules::{LeafRule, Rules},
    segment::{Place, Segment},
    tree::{Kept, Links, Move, Node, NodeId, Pin, Role, Tree, Up, leaf, pin},
};
use crate::model::{Context, Log, Millis, NoteKind, Sym};

/// Lines of a batch, generously.
const NEAR: usize = 256;
/// Not in the chain.
const OUT: u32 = u32::MAX;

/// The effective context, kept up to date. The chain is the path from the leaf to the last boundary, oldest first.
/// It is cut into segments: a prompt, or a response with its results and what was injected beside them. All but the
/// last segment are final under a plain append, so only the last one is built again.
#[derive(Default)]
pub(super) struct Live {
    context: Context,
    chain: Vec<NodeId>,
    /// Place of a node in the chain.
    places: Vec<u32>,
    leaf: Option<NodeId>,
    /// The newest line that was followed.
    newest: Option<NodeId>,
    /// What pins the leaf, and where it stands in the moves.
    pin: Option<(usize, Pin)>,
    /// Pins whose line is not there yet: the runtime names leaves before it writes them.
    pending: FxHashMap<u128, (usize, bool)>,
    /// A line that joins the chain at this place or later hangs on the pinned record. `None`: the pinned record is
    /// not in the chain, so only a whole look at the tree can tell.
    floor: Option<usize>,
    /// The pinned record and what counts like it.
    tops: Vec<NodeId>,
    /// The response whose calls count like the pinned record.
    batch: Option<Sym>,
    links: Links,
    /// Where the last segment starts: in the chain, in the context.
    tail: (usize, usize),
    /// Calls and responses before the last segment.
    settled: Settled,
    /// How many moves of the tree were followed.
    moves: usize,
    rules: Option<Rules>,
    /// Uuids that were named before they stood in the file.
    awaited: FxHashSet<u128>,
    /// Uuids that a pin named before they stood in the file.
    named: FxHashSet<u128>,
    /// Newest time of a line whose parent is missing: what is not newer could become its bridge.
    bridged: Option<Millis>,
    /// What stands above a line of the chain depends on where the walk came from: it ended in a cycle, or a bridge went
    /// round a line below.
    fragile: bool,
    noted: FxHashSet<(NodeId, NoteKind)>,
    stale: bool,
    touched: bool,
}

/// What the segments before the last one took.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    pub(super) calls: FxHashSet<Sym>,
    pub(super) responses: FxHashSet<Sym>,
}

impl Live {
    pub(super) fn new() -> Self {
        Self { stale: true, ..Self::default() }
    }

    /// The context as of the last update.
    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// A line stands in the file now, with its parent's uuid.
    /// `candidate`: it can be a leaf.
    pub(super) fn arrived(&mut self, tree: &Tree, node: &Node, candidate: bool) {
        let pinned = !(candidate && node.is_main()) && self.named.contains(&node.uuid);
        if pinned
            || self.awaited.remove(&node.uuid)
            || (node.is_main() && self.bridged.is_some_and(|newest| node.time <= newest))
        {
            self.stale = true;
        }
        if node.parent != 0 && tree.find(node.parent).is_none() {
            self.awaited.insert(node.parent);
        }
    }

    /// A `last-prompt` names `target`.
    pub(super) fn pinned(&mut self, tree: &Tree, target: u128) {
        if tree.find(target).is_none() {
            self.named.insert(target);
        }
    }

    /// Something beside the tree changed what the last segment says.
    pub(super) fn touch(&mut self) {
        self.touched = true;
    }

    pub(super) fn update(&mut self, tree: &Tree, rules: Rules, log: &mut Log) -> &mut Context {
        if self.rules != Some(rules) {
            self.rules = Some(rules);
            self.stale = true;
        }
        self.places.resize(tree.len(), OUT);
        if !self.stale && self.moves >= tree.moves.len() && !self.touched {
            return &mut self.context;
        }
        let mut lines = self.touched;
        self.touched = false;
        while let Some(step) = tree.moves.get(self.moves).filter(|_| !self.stale) {
            lines |= !matches!(step, Move::Pin { .. });
            self.stale = !self.follow(tree, rules, log, *step);
            self.moves += 1;
        }
        if self.stale {
            self.moves = tree.moves.len();
            self.rebuild(tree, rules, log);
        } else if lines {
            self.context.truncate(self.tail.1);
            self.arrange(tree, rules, log);
        }
        &mut self.context
    }

    /// Follows one move; false if it is no plain append.
    fn follow(&mut self, tree: &Tree, rules: Rules, log: &Log, step: Move) -> bool {
        let by_time = rules.leaf == LeafRule::NewestTime;
        match step {
            Move::Again(_) => by_time,
            Move::Pin { target, explicit } => {
                // A leaf that is not in the file pins nothing, until it is.
                let known = tree.find(target).filter(|id| tree.node(*id).is_some_and(Node::is_main));
                let there = |id: &NodeId| self.newest.is_some_and(|newest| *id <= newest) || tree.is_unmoved(*id);
                let Some(id) = known.filter(there) else {
                    self.pending.insert(target, (self.moves, explicit));
                    return true;
                };
                by_time || self.repin(tree, self.moves, Pin { target: id, explicit }, log)
            }
            Move::Line(id) => {
                self.newest = Some(id);
                if !self.append(tree, rules, log, id) {
                    return false;
                }
                let waiting = tree.node(id).and_then(|node| self.pending.remove(&node.uuid));
                match waiting.filter(|(at, _)| !by_time && self.pin.is_none_or(|(old, _)| *at > old)) {
                    Some((at, explicit)) => self.repin(tree, at, Pin { target: id, explicit }, log),
                    None => true,
                }
            }
        }
    }

    fn repin(&mut self, tree: &Tree, at: usize, pin: Pin, log: &Log) -> bool {
        let Some(place) = self.place(pin.target) else { return false };
        // A leaf that was moved is not the newest line that hangs on anything.
        let moved = self.leaf.is_some_and(|leaf| self.links.is_tail(leaf));
        let narrower =
            !moved && self.pin.is_none_or(|(_, old)| !old.explicit && self.floor.is_some_and(|floor| place >= floor));
        if !narrower || (pin.explicit && self.leaf != Some(pin.target)) {
            return false;
        }
        let old = self.pin.and(self.floor);
        self.set_pin(tree, Some((at, pin)), log);
        // A batch with a call elsewhere can have a newer line than the leaf.
        old.is_none_or(|old| self.tops.iter().all(|top| self.join(tree, *top).is_some_and(|place| place >= old)))
    }

    /// Where `id` stands in the chain, or the line above it that does; `None` if that is not near.
    fn join(&self, tree: &Tree, id: NodeId) -> Option<usize> {
        let mut at = id;
        for _ in 0..NEAR {
            if let Some(place) = self.place(at) {
                return Some(place);
            }
            at = tree.node(at).and_then(|node| tree.find(node.parent))?;
        }
        None
    }

    fn set_pin(&mut self, tree: &Tree, pin: Option<(usize, Pin)>, log: &Log) {
        self.pin = pin;
        self.tops.clear();
        self.batch = None;
        let Some((_, pin)) = pin else {
            self.floor = Some(0);
            return;
        };
        self.tops.push(pin.target);
        if self.rules.is_some_and(|rules| rules.batch) && !pin.explicit {
            let call = answered(tree, log, pin.target);
            self.batch = tree.batch_of(pin.target, call);
            self.tops.extend(tree.batch(pin.target, call));
        }
        self.floor = self.tops.iter().filter_map(|id| self.place(*id)).min();
    }

    fn place(&self, id: NodeId) -> Option<usize> {
        self.places.get(id as usize).filter(|place| **place != OUT).map(|place| *place as usize)
    }

    fn set_place(&mut self, id: NodeId, place: u32) {
        if let Some(slot) = self.places.get_mut(id as usize) {
            *slot = place;
        }
    }

    /// Appends a line to the chain; false if more than the last segment changes.
    fn append(&mut self, tree: &Tree, rules: Rules, log: &Log, id: NodeId) -> bool {
        let Some(node) = tree.node(id) else { return false };
        let again = node.response.is_some_and(|response| self.settled.responses.contains(&response));
        let wider = node.calls && node.response.is_some() && node.response == self.batch;
        if wider || node.role == Role::Boundary || (rules.siblings && again) || self.answers_settled(tree, log, &[id]) {
            return false;
        }
        if rules.leaf == LeafRule::NewestTime {
            let newest = self.leaf.and_then(|leaf| tree.node(leaf)).map_or(Millis::NONE, |leaf| leaf.time);
            if self.leaf.is_some() && node.time <= newest {
                return true;
            }
        } else if self.pin.is_some_and(|(_, pin)| pin.explicit) {
            return true;
        }
        let mut path = vec![id];
        let mut at = id;
        let join = loop {
            // Only a line that was not read before can be above a new one and outside the chain.
            let Up::Node(parent) = self.links.up(tree, &rules, at, |_| false) else { return false };
            if let Some(place) = self.place(parent) {
                break place;
            }
            if path.len() > tree.len() {
                return false;
            }
            path.push(parent);
            at = parent;
        };
        match self.floor {
            None => return false,
            // A batch can have lines on a dead branch.
            Some(floor) if join < floor => return !path.iter().any(|id| self.tops.contains(id)),
            Some(_) if join < self.tail.0 => return false,
            Some(_) => {}
        }
        let cut = self.chain.get(join + 1..).unwrap_or_default();
        if self.fragile && !cut.is_empty() {
            return false;
        }
        if self.answers_settled(tree, log, cut) || self.answers_settled(tree, log, &path) {
            return false;
        }
        for cut in self.chain.split_off(join + 1) {
            self.set_place(cut, OUT);
        }
        for step in path.into_iter().rev() {
            self.set_place(step, u32::try_from(self.chain.len()).unwrap_or(OUT));
            self.chain.push(step);
        }
        self.leaf = Some(id);
        true
    }

    /// True if one of `lines` answers a call before the last segment: coming or going, it changes what that call says.
    fn answers_settled(&self, tree: &Tree, log: &Log, lines: &[NodeId]) -> bool {
        let mut found = lines.iter().filter_map(|id| tree.node(*id)).flat_map(|node| records(log, node));
        found.any(|record| {
            record.kind.is_resolution() && record.id.is_some_and(|call| self.settled.calls.contains(&call))
        })
    }

    fn rebuild(&mut self, tree: &Tree, rules: Rules, log: &mut Log) {
        self.stale = false;
        self.bridged = None;
        self.fragile = false;
        self.places.fill(OUT);
        self.links = Links::of(tree, &rules);
        self.awaited.extend(self.links.absent.iter().copied());
        self.note_absent(tree, log);
        self.leaf = leaf(tree, &rules, &self.links, |id| answered(tree, log, id));
        self.chain = self.walk(tree, rules, log);
        for (place, id) in (0u32..).zip(self.chain.clone()) {
            self.set_place(id, place);
        }
        self.set_pin(tree, pin(tree, &rules), log);
        self.newest = tree.newest_line();
        self.wait_for_pins(tree);
        self.note_swallowed(tree, log);
        self.tail = (0, 0);
        self.settled = Settled::default();
        let old = std::mem::take(&mut self.context);
        self.arrange(tree, rules, log);
        let new = std::mem::replace(&mut self.context, old);
        self.context.replace(new);
    }

    /// From the leaf to the last boundary or the root, oldest first.
    fn walk(&mut self, tree: &Tree, rules: Rules, log: &mut Log) -> Vec<NodeId> {
        let mut path = Vec::new();
        let mut next = self.leaf;
        while let Some(id) = next {
            if self.place(id).is_some() {
                self.fragile = true;
                self.note(tree, log, id, NoteKind::Cycle, "Its parents lead back to it; the history ends there.");
                break;
            }
            self.set_place(id, 0);
            path.push(id);
            if tree.node(id).is_some_and(|node| node.role == Role::Boundary) {
                break;
            }
            next = match self.links.up(tree, &rules, id, |other| self.place(other).is_some()) {
                Up::Node(parent) => Some(parent),
                Up::Root => None,
                Up::Missing(bridge) => {
                    self.fragile |= self.links.up(tree, &rules, id, |_| false) != Up::Missing(bridge);
                    self.missing(tree, log, id, bridge);
                    bridge
                }
            };
        }
        path.reverse();
        path
    }

    fn missing(&mut self, tree: &Tree, log: &mut Log, id: NodeId, bridge: Option<NodeId>) {
        let Some(node) = tree.node(id) else { return };
        self.bridged = self.bridged.max(Some(node.time));
        if node.parent == node.uuid {
            self.note(tree, log, id, NoteKind::Cycle, "It names itself as its parent.");
            return;
        }
        let text = match bridge.and_then(|to| tree.node(to)) {
            Some(to) => format!("Its parent is not in the file; the agent goes on at line {}.", to.line),
            None => "Its parent is not in the file; the agent sees nothing before it.".to_string(),
        };
        self.note(tree, log, id, NoteKind::MissingParent, &text);
    }

    /// Pins after the current one whose line is not there yet.
    fn wait_for_pins(&mut self, tree: &Tree) {
        self.pending.clear();
        let current = self.pin.map_or(0, |(at, _)| at);
        for (at, step) in tree.moves.iter().enumerate().skip(current) {
            match step {
                Move::Pin { target, explicit } if tree.find(*target).is_none() => {
                    self.pending.insert(*target, (at, *explicit));
                }
                Move::Line(id) if tree.node(*id).is_some_and(|node| node.role == Role::Boundary) => {
                    self.pending.clear();
                }
                _ => {}
            }
        }
    }

    /// Calls that the boundary at the start of the chain dropped while they were open.
    fn note_swallowed(&mut self, tree: &Tree, log: &mut Log) {
        let Some(first) = self.chain.first().copied() else { return };
        let Some(boundary) = tree.node(first).filter(|node| node.role == Role::Boundary) else { return };
        if !self.noted.insert((first, NoteKind::Swallowed)) {
            return;
        }
        let kept: FxHashSet<u32> = self.chain.iter().filter_map(|id| tree.node(*id)).map(|node| node.line).collect();
        for (call, line) in tree.swallowed(log, first) {
            if !kept.contains(&line) {
                let text = format!(
                    "The compaction at line {} dropped the call {} while it was open.",
                    boundary.line,
                    log.syms.name(call)
                );
                log.note(NoteKind::Swallowed, line, text);
            }
        }
    }

    fn note_absent(&mut self, tree: &Tree, log: &mut Log) {
        let boundary = tree.moves.iter().rev().find_map(|step| match step {
            Move::Line(id) => tree.node(*id).filter(|node| node.role == Role::Boundary).map(|_| *id),
            Move::Again(_) | Move::Pin { .. } => None,
        });
        let Some(boundary) = boundary.filter(|_| tree.kept.iter().any(|kept| matches!(kept, Kept::List { .. }))) else {
            return;
        };
        // The anchor itself follows its boundary by a line or more.
        if self.links.absent.len() > 1 {
            let text = format!("{} records that this compaction keeps are not in the file.", self.links.absent.len());
            self.note(tree, log, boundary, NoteKind::MissingParent, &text);
        }
    }

    fn note(&mut self, tree: &Tree, log: &mut Log, id: NodeId, kind: NoteKind, text: &str) {
        if self.noted.insert((id, kind)) {
            log.note(kind, tree.node(id).map_or(0, |node| node.line), text);
        }
    }

    /// Builds the segments from the last known one on.
    fn arrange(&mut self, tree: &Tree, rules: Rules, log: &Log) {
        loop {
            let start = self.tail.0;
            let end = self.segment_end(tree, start);
            let last = end >= self.chain.len();
            let nodes = self.chain.get(start..end).unwrap_or_default();
            let places = &self.places;
            let forgotten = self.links.forgotten;
            let place = |id: NodeId| match places.get(id as usize) {
                Some(place) if *place != OUT => match *place as usize {
                    place if place < start => Place::Before,
                    place if place < end => Place::Here,
                    _ => Place::After,
                },
                _ if id < forgotten => Place::Forgotten,
                _ => Place::Nowhere,
            };
            let segment = Segment { tree, rules, log, nodes, last, settled: &self.settled, place: &place };
            let taken = segment.emit(&mut self.context);
            if last {
                return;
            }
            self.settled.calls.extend(taken.calls);
            self.settled.responses.extend(taken.responses);
            self.tail = (end, self.context.len());
        }
    }

    /// Where the segment that starts at `start` ends.
    fn segment_end(&self, tree: &Tree, start: usize) -> usize {
        let mut own = None;
        let mut nodes = self.chain.iter().enumerate().skip(start).filter_map(|(at, id)| Some((at, tree.node(*id)?)));
        let found = nodes.find(|(at, node)| match node.role {
            Role::Response => {
                let other = own.is_none_or(|own| own != node.response);
                own = Some(node.response);
                other && *at > start
            }
            Role::Prompt => *at > start,
            _ => false,
        });
        found.map_or(self.chain.len(), |(at, _)| at)
    }
}

/// The records of a line.
pub(super) fn records<'a>(log: &'a Log, node: &Node) -> impl Iterator<Item = &'a crate::model::Record> {
    let (first, end) = (node.records.0 as usize, node.records.1 as usize);
    log.records.get(first..end.max(first)).unwrap_or_default().iter()
}

/// The first call that a carrier answers.
fn answered(tree: &Tree, log: &Log, id: NodeId) -> Option<Sym> {
    records(log, tree.node(id)?).find(|record| record.kind.is_resolution()).and_then(|record| record.id)
}
