use rustc_hash::FxHashSet;

use super::{
    live::{Settled, records},
    rules::Rules,
    tree::{Node, NodeId, Role, Tree},
};
use crate::model::{Context, Flags, Kind, Log, Record, RecordId, Slot, Sym};

/// Where a line stands as seen from a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Before,
    Here,
    After,
    /// Not in the chain.
    Nowhere,
    /// Before a boundary that does not keep it.
    Forgotten,
}

/// A prompt, or a response with its results and what was injected beside them.
pub(super) struct Segment<'a> {
    pub(super) tree: &'a Tree,
    pub(super) rules: Rules,
    pub(super) log: &'a Log,
    pub(super) nodes: &'a [NodeId],
    /// Nothing follows it: its open calls are still owed.
    pub(super) last: bool,
    pub(super) settled: &'a Settled,
    pub(super) place: &'a dyn Fn(NodeId) -> Place,
}

/// How a call is answered in the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// By this record.
    Record(RecordId),
    /// By a record that stands after another turn.
    Late,
    /// By nothing.
    Open,
}

/// What a segment is made of, before it is put in order.
#[derive(Default)]
struct Draft {
    parts: Vec<(RecordId, bool)>,
    results: Vec<RecordId>,
    /// Calls that get the runtime's own answer; true if the call is still owed.
    placeholders: Vec<(RecordId, bool)>,
    calls: FxHashSet<Sym>,
    responses: FxHashSet<Sym>,
}

impl Segment<'_> {
    /// Appends the segment in the order sent: the response, its results, the rest. Gives what it took.
    pub(super) fn emit(&self, context: &mut Context) -> Settled {
        let mut draft = self.draft();
        draft.results.sort_unstable();
        draft.results.dedup();
        self.drop_lonely_thinking(&mut draft);
        for (id, sent) in &draft.parts {
            push(context, *id, *sent);
        }
        for id in &draft.results {
            push(context, *id, true);
        }
        for (id, owed) in &draft.placeholders {
            if let Some(call) = self.log.records.get(*id as usize) {
                context.push_placeholder(call, *owed);
            }
        }
        for node in self.nodes.iter().filter_map(|id| self.tree.node(*id)) {
            self.emit_rest(node, &draft, context);
        }
        Settled { calls: draft.calls, responses: draft.responses }
    }

    /// Lines of the response: all of them if the runtime gathers siblings, else those in the chain.
    fn lines(&self) -> Vec<NodeId> {
        let own = |id: &NodeId| self.tree.node(*id).filter(|node| node.role == Role::Response);
        let here = self.nodes.iter().copied().filter(|id| own(id).is_some());
        let Some(response) = self.nodes.iter().find_map(own).and_then(|node| node.response) else {
            return here.collect();
        };
        if !self.rules.siblings {
            return here.collect();
        }
        if self.settled.responses.contains(&response) {
            return Vec::new();
        }
        let lines = self.tree.response(response).iter().copied();
        lines.filter(|line| (self.place)(*line) != Place::Forgotten).collect()
    }

    fn draft(&self) -> Draft {
        let mut draft = Draft::default();
        let server_answers = self.server_answers();
        for line in self.lines() {
            let Some(node) = self.tree.node(line) else { continue };
            draft.responses.extend(node.response);
            for id in node.ids() {
                let Some(record) = self.log.records.get(id as usize) else { continue };
                match (record.kind, record.id) {
                    (Kind::Call, Some(call)) if record.flags.has(Flags::SERVER) => {
                        // An open server call is left out of the next request, unless its turn still runs.
                        let open = !server_answers.contains(&call);
                        draft.parts.push((id, self.last || !(open && self.rules.batch)));
                    }
                    (Kind::Call, Some(call)) => self.draft_call(&mut draft, line, id, call),
                    _ => draft.parts.push((id, true)),
                }
            }
        }
        draft
    }

    fn server_answers(&self) -> FxHashSet<Sym> {
        let lines = self.lines();
        let nodes = lines.iter().filter_map(|id| self.tree.node(*id));
        nodes.flat_map(|node| records(self.log, node)).filter(|r| r.kind != Kind::Call).filter_map(|r| r.id).collect()
    }

    fn draft_call(&self, draft: &mut Draft, line: NodeId, id: RecordId, call: Sym) {
        if self.settled.calls.contains(&call) || !draft.calls.insert(call) {
            // The same call written again: once is enough, unless it stands in the way of the history.
            if (self.place)(line) == Place::Here {
                draft.parts.push((id, !self.rules.repairs));
            }
            return;
        }
        match self.answer(call) {
            Answer::Record(result) => {
                draft.parts.push((id, true));
                draft.results.push(result);
            }
            Answer::Late => {
                draft.parts.push((id, true));
                if self.rules.repairs {
                    draft.placeholders.push((id, false));
                }
            }
            Answer::Open => {
                draft.parts.push((id, self.last));
                // A deferred call is run by the resume itself.
                if self.last && self.rules.placeholder && !self.tree.deferred.contains(&call) {
                    draft.placeholders.push((id, true));
                }
            }
        }
    }

    fn answer(&self, call: Sym) -> Answer {
        let all = self.tree.answers(call).iter();
        let mut answers = all.filter(|(line, _)| (self.place)(*line) != Place::Forgotten);
        if self.rules.siblings {
            // The first result in file order wins, also across branches.
            return match answers.next() {
                None => Answer::Open,
                Some((line, id)) => match (self.place)(*line) {
                    Place::Here | Place::Nowhere => Answer::Record(*id),
                    Place::After => Answer::Late,
                    Place::Before | Place::Forgotten => Answer::Open,
                },
            };
        }
        let mut late = Answer::Open;
        for (line, id) in answers {
            match (self.place)(*line) {
                Place::Here => return Answer::Record(*id),
                Place::After => late = Answer::Late,
                Place::Before | Place::Nowhere | Place::Forgotten => {}
            }
        }
        late
    }

    /// A message of nothing but thinking at the end is dropped.
    fn drop_lonely_thinking(&self, draft: &mut Draft) {
        let thinking = |id: RecordId| self.log.records.get(id as usize).is_some_and(|r| r.kind == Kind::Thinking);
        if self.last && self.rules.repairs && draft.parts.iter().all(|(id, sent)| !sent || thinking(*id)) {
            draft.parts.iter_mut().for_each(|(_, sent)| *sent = false);
        }
    }

    /// What is neither a part of the response nor a result that it got.
    fn emit_rest(&self, node: &Node, draft: &Draft, context: &mut Context) {
        match node.role {
            Role::Link | Role::Boundary | Role::Response => return,
            Role::ApiError => {
                node.ids().for_each(|id| push(context, id, false));
                return;
            }
            Role::Prompt | Role::Meta | Role::Carrier | Role::Notice => {}
        }
        for id in node.ids() {
            let Some(record) = self.log.records.get(id as usize) else { continue };
            if record.kind.is_resolution() {
                if draft.results.binary_search(&id).is_err() {
                    push(context, id, !self.rules.repairs);
                }
            } else {
                push(context, id, is_sent(record));
            }
        }
    }
}

/// Notices that no model reads weigh nothing.
fn is_sent(record: &Record) -> bool {
    record.kind != Kind::Notice || record.tokens > 0
}

fn push(context: &mut Context, id: RecordId, sent: bool) {
    let slot = Slot::record(id);
    context.push(if sent { slot } else { slot.unsent() });
}
