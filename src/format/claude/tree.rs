use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::rules::{LeafRule, Rules};
use crate::model::{Flags, Kind, LaneId, Log, Millis, RecordId, Sym};

/// Index of a node, in file order.
pub(super) type NodeId = u32;

/// How far back a missing parent is bridged, in milliseconds (measured: 5 s yes, 6 s no).
const BRIDGE: i64 = 5_000;

/// What a line is for the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Carries no message: progress, a type that is not known.
    Link,
    /// A compaction of the runtime's own: history starts after it.
    Boundary,
    /// A part of a response.
    Response,
    /// An error text that the client keeps to itself.
    ApiError,
    /// Opens a turn: a prompt, a summary, a notification.
    Prompt,
    /// Text in the user's name inside a turn.
    Meta,
    /// Results of calls.
    Carrier,
    /// System lines and attachments.
    Notice,
}

/// One line that has a uuid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) uuid: u128,
    /// The parent's uuid; 0 for a root.
    pub(super) parent: u128,
    pub(super) time: Millis,
    /// Records of the line: first and one past the last.
    pub(super) records: (RecordId, RecordId),
    pub(super) response: Option<Sym>,
    pub(super) line: u32,
    pub(super) lane: LaneId,
    pub(super) role: Role,
    /// Holds a call.
    pub(super) calls: bool,
}

impl Node {
    pub(super) fn is_main(&self) -> bool {
        self.lane == LaneId::MAIN
    }

    pub(super) fn ids(&self) -> std::ops::Range<RecordId> {
        self.records.0..self.records.1
    }
}

/// What can move the leaf, in file order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move {
    /// A new line of the main lane.
    Line(NodeId),
    /// An old line of the main lane, written again.
    Again(NodeId),
    /// A `last-prompt` line.
    Pin { target: u128, explicit: bool },
}

/// Which kept records a boundary names.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    List { anchor: u128, uuids: Vec<u128> },
    Segment { anchor: u128, head: u128, tail: u128 },
}

/// Every line with a uuid, by uuid, message and call; and what moves the leaf.
#[derive(Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    by_uuid: FxHashMap<u128, NodeId>,
    /// Lines of the main lane that carry a message and a time, in the order in which a bridge looks for them.
    timed: BTreeSet<(i64, NodeId)>,
    /// Lines of a response in the main lane.
    responses: FxHashMap<Sym, Vec<NodeId>>,
    /// Result records of a call in the main lane.
    results: FxHashMap<Sym, Vec<(NodeId, RecordId)>>,
    /// Response of a call in the main lane.
    call_of: FxHashMap<Sym, Sym>,
    pub(super) moves: Vec<Move>,
    /// Lines of the main lane that no move names: they can be pinned, and come to be so at once.
    unmoved: FxHashSet<NodeId>,
    /// The last boundary of the main lane; 0 if there is none.
    pub(super) boundary: NodeId,
    /// Where the history goes on behind a boundary, for people: no runtime follows it.
    pub(super) behind: FxHashMap<NodeId, u128>,
    /// Kept records of that boundary.
    pub(super) kept: Vec<Kept>,
    /// Calls that a hook deferred.
    pub(super) deferred: FxHashSet<Sym>,
}

impl Tree {
    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id as usize)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn find(&self, uuid: u128) -> Option<NodeId> {
        self.by_uuid.get(&uuid).copied()
    }

    /// The newest line of the main lane.
    pub(super) fn newest_line(&self) -> Option<NodeId> {
        self.moves.iter().rev().find_map(|step| match step {
            Move::Line(id) => Some(*id),
            Move::Again(_) | Move::Pin { .. } => None,
        })
    }

    /// The newest line of the main lane.
    pub(super) fn newest_main(&self) -> Option<&Node> {
        self.newest_line().and_then(|id| self.node(id))
    }

    /// Takes a new line. `answers`: calls that its records answer; `calls`: calls that it makes.
    pub(super) fn insert(&mut self, node: Node, calls: &[Sym], answers: &[(Sym, RecordId)], candidate: bool) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX);
        self.nodes.push(node);
        self.by_uuid.insert(node.uuid, id);
        if !node.is_main() {
            return id;
        }
        if node.role != Role::Link {
            self.timed.extend(node.time.known().map(|time| (time, id)));
        }
        if let (Some(response), Role::Response) = (node.response, node.role) {
            self.responses.entry(response).or_default().push(id);
            for call in calls {
                self.call_of.entry(*call).or_insert(response);
            }
        }
        for (call, record) in answers {
            self.results.entry(*call).or_default().push((id, *record));
        }
        if node.role == Role::Boundary {
            self.boundary = id;
        }
        if candidate {
            self.moves.push(Move::Line(id));
        } else {
            self.unmoved.insert(id);
        }
        id
    }

    /// True if no move names the line `id`.
    pub(super) fn is_unmoved(&self, id: NodeId) -> bool {
        self.unmoved.contains(&id)
    }

    pub(super) fn response(&self, response: Sym) -> &[NodeId] {
        self.responses.get(&response).map_or(&[], Vec::as_slice)
    }

    pub(super) fn answers(&self, call: Sym) -> &[(NodeId, RecordId)] {
        self.results.get(&call).map_or(&[], Vec::as_slice)
    }

    /// Calls without any result in the history that ends at the boundary `id`, with their lines.
    pub(super) fn swallowed(&self, log: &Log, id: NodeId) -> Vec<(Sym, u32)> {
        let behind = self.behind.get(&id).copied().or_else(|| self.node(id).map(|node| node.parent));
        let mut next = behind.and_then(|uuid| self.find(uuid)).and_then(|id| self.node(id));
        let mut responses = FxHashSet::default();
        let mut steps = 0;
        while let Some(node) = next.filter(|node| node.role != Role::Boundary && steps < self.len()) {
            responses.extend(node.response.filter(|_| node.role == Role::Response));
            next = self.find(node.parent).and_then(|id| self.node(id));
            steps += 1;
        }
        let lines = responses.iter().flat_map(|response| self.response(*response)).filter_map(|id| self.node(*id));
        let calls = lines.flat_map(|node| node.ids().map(move |id| (id, node.line)));
        let mut open: Vec<(Sym, u32)> = calls
            .filter_map(|(id, line)| Some((log.records.get(id as usize)?, line)))
            .filter(|(record, _)| record.kind == Kind::Call && !record.flags.has(Flags::SERVER))
            .filter_map(|(record, line)| Some((record.id?, line)))
            .filter(|(call, _)| self.answers(*call).is_empty())
            .collect();
        open.sort_unstable_by_key(|(_, line)| *line);
        open
    }

    /// The response that the line `id` is a part of or answers. `answered`: the call that it answers.
    pub(super) fn batch_of(&self, id: NodeId, answered: Option<Sym>) -> Option<Sym> {
        let own = self.node(id).and_then(|node| node.response);
        own.or_else(|| self.call_of.get(&answered?).copied())
    }

    /// Lines with calls of that response.
    pub(super) fn batch(&self, id: NodeId, answered: Option<Sym>) -> impl Iterator<Item = NodeId> + '_ {
        let lines = self.batch_of(id, answered).map_or(&[][..], |response| self.response(response));
        lines.iter().copied().filter(|line| self.node(*line).is_some_and(|node| node.calls))
    }

    /// The newest line of the main lane within five seconds before the line `id`, not looking at what `seen` accepts.
    fn bridge(&self, id: NodeId, seen: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let time = self.node(id)?.time.known()?;
        let older = self.timed.range((time.saturating_sub(BRIDGE), 0)..(time, id));
        older.rev().map(|(_, other)| *other).find(|other| !seen(*other))
    }
}

/// Where a walk goes on above a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Up {
    Node(NodeId),
    Root,
    /// The parent stands nowhere; the line it is bridged to, if the rules bridge.
    Missing(Option<NodeId>),
}

/// Parents as the last boundary rearranges them.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    parents: FxHashMap<NodeId, NodeId>,
    /// Children of the first hang on the second, unless `parents` says otherwise.
    redirect: Option<(NodeId, NodeId)>,
    /// Named by the boundary, but not in the file.
    pub(super) absent: Vec<u128>,
    /// Lines before this one are forgotten unless they are in the chain: what a boundary keeps, it names.
    pub(super) forgotten: NodeId,
}

impl Links {
    pub(super) fn of(tree: &Tree, rules: &Rules) -> Self {
        let chosen = tree.kept.iter().find(|kept| match kept {
            Kept::List { .. } => rules.kept_list,
            Kept::Segment { .. } => rules.kept_segment,
        });
        match chosen {
            Some(Kept::List { anchor, uuids }) => Self::chain(tree, *anchor, uuids),
            Some(Kept::Segment { anchor, head, tail }) => Self::segment(tree, *anchor, *head, *tail),
            None => Self::default(),
        }
    }

    /// The kept records are those from `tail` up to `head` by their own parents. If these do not lead there, nothing
    /// is kept.
    fn segment(tree: &Tree, anchor: u128, head: u128, tail: u128) -> Self {
        let mut links = Self::chain(tree, anchor, &[head]);
        let (Some(head), Some(tail_id)) = (tree.find(head), tree.find(tail)) else {
            links.absent.extend(tree.find(tail).is_none().then_some(tail));
            return Self { absent: links.absent, ..Self::default() };
        };
        let mut at = tail_id;
        let mut steps = 0;
        while at != head {
            let parent = tree.node(at).and_then(|node| tree.find(node.parent));
            let Some(parent) = parent.filter(|_| steps < tree.len()) else {
                return Self { absent: links.absent, ..Self::default() };
            };
            steps += 1;
            at = parent;
        }
        links.redirect = links.redirect.map(|(anchor, _)| (anchor, tail_id));
        links
    }

    fn chain(tree: &Tree, anchor: u128, uuids: &[u128]) -> Self {
        let mut links = Self::default();
        let Some(anchor_id) = tree.find(anchor) else {
            links.absent.push(anchor);
            return links;
        };
        let mut above = anchor_id;
        for uuid in uuids {
            match tree.find(*uuid) {
                Some(id) => {
                    links.parents.insert(id, above);
                    above = id;
                }
                None => links.absent.push(*uuid),
            }
        }
        if above != anchor_id {
            links.redirect = Some((anchor_id, above));
            links.forgotten = tree.boundary;
        }
        links
    }

    /// True if `leaf` is the last kept record.
    pub(super) fn is_tail(&self, leaf: NodeId) -> bool {
        self.redirect.is_some_and(|(_, tail)| tail == leaf)
    }

    /// The leaf, moved to the last kept record if it is what they hang on.
    fn leaf(&self, leaf: NodeId) -> NodeId {
        self.redirect.filter(|(anchor, _)| *anchor == leaf).map_or(leaf, |(_, tail)| tail)
    }

    /// What stands above `id`. `seen`: lines that a bridge must not lead to.
    pub(super) fn up(&self, tree: &Tree, rules: &Rules, id: NodeId, seen: impl Fn(NodeId) -> bool) -> Up {
        if let Some(parent) = self.parents.get(&id) {
            return Up::Node(*parent);
        }
        let Some(node) = tree.node(id) else { return Up::Root };
        if node.parent == 0 {
            return Up::Root;
        }
        match tree.find(node.parent) {
            Some(parent) if parent == id => Up::Missing(if rules.bridge_self { tree.bridge(id, seen) } else { None }),
            Some(parent) => match self.redirect {
                Some((anchor, tail)) if anchor == parent && tail != id => Up::Node(tail),
                _ => Up::Node(parent),
            },
            None => Up::Missing(if rules.bridge { tree.bridge(id, seen) } else { None }),
        }
    }
}

/// What decides the leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pin {
    pub(super) target: NodeId,
    pub(super) explicit: bool,
}

/// The last usable `last-prompt` after the last boundary, and where it stands in the moves.
pub(super) fn pin(tree: &Tree, rules: &Rules) -> Option<(usize, Pin)> {
    if rules.leaf == LeafRule::NewestTime {
        return None;
    }
    for (at, step) in tree.moves.iter().enumerate().rev() {
        match step {
            Move::Pin { target, explicit } => {
                if let Some(target) = tree.find(*target).filter(|id| tree.node(*id).is_some_and(Node::is_main)) {
                    return Some((at, Pin { target, explicit: *explicit }));
                }
            }
            Move::Line(id) if tree.node(*id).is_some_and(|node| node.role == Role::Boundary) => return None,
            Move::Line(_) | Move::Again(_) => {}
        }
    }
    None
}

/// The record at which the runtime goes on. `answered`: the call that a carrier's first record answers.
pub(super) fn leaf(
    tree: &Tree,
    rules: &Rules,
    links: &Links,
    answered: impl Fn(NodeId) -> Option<Sym>,
) -> Option<NodeId> {
    let lines = || {
        tree.moves.iter().filter_map(|step| match step {
            Move::Line(id) | Move::Again(id) => Some(*id),
            Move::Pin { .. } => None,
        })
    };
    if rules.leaf == LeafRule::NewestTime {
        let first = tree.moves.iter().filter_map(|step| match step {
            Move::Line(id) => Some(*id),
            Move::Again(_) | Move::Pin { .. } => None,
        });
        // Of equal times the first wins (measured: a file without any time is resumed at its first line).
        let time = |id: NodeId| tree.node(id).map_or(Millis::NONE, |node| node.time);
        return first.reduce(|best, id| if time(id) > time(best) { id } else { best });
    }
    let chosen = match pin(tree, rules).map(|(_, pin)| pin) {
        None => lines().next_back()?,
        Some(Pin { target, explicit: true }) => target,
        Some(Pin { target, .. }) => {
            let mut below = Below::new(tree, target);
            if rules.batch {
                tree.batch(target, answered(target)).for_each(|line| below.add(line));
            }
            let all: Vec<NodeId> = lines().collect();
            all.into_iter().rev().find(|id| below.holds(tree, rules, links, *id)).unwrap_or(target)
        }
    };
    Some(links.leaf(chosen))
}

/// Which lines hang on a line, remembered while it is asked.
struct Below {
    known: Vec<u8>,
}

impl Below {
    const YES: u8 = 1;
    const NO: u8 = 2;
    const ASKED: u8 = 3;

    fn new(tree: &Tree, top: NodeId) -> Self {
        let mut new = Self { known: vec![0; tree.len()] };
        new.add(top);
        new
    }

    fn add(&mut self, top: NodeId) {
        self.set(top, Self::YES);
    }

    fn set(&mut self, id: NodeId, answer: u8) {
        if let Some(known) = self.known.get_mut(id as usize) {
            *known = answer;
        }
    }

    fn holds(&mut self, tree: &Tree, rules: &Rules, links: &Links, id: NodeId) -> bool {
        let mut path = Vec::new();
        let mut at = id;
        let answer = loop {
            match self.known.get(at as usize) {
                Some(0) => {}
                Some(&Self::YES) => break Self::YES,
                // Asked twice on one path: a cycle.
                _ => break Self::NO,
            }
            self.set(at, Self::ASKED);
            path.push(at);
            let known = &self.known;
            let seen = |other: NodeId| known.get(other as usize) == Some(&Self::ASKED);
            match links.up(tree, rules, at, seen) {
                Up::Node(parent) | Up::Missing(Some(parent)) => at = parent,
                Up::Root | Up::Missing(None) => break Self::NO,
            }
        };
        for step in path {
            self.set(step, answer);
        }
        answer == Self::YES
    }
}
