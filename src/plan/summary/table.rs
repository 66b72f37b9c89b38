//! Facts of a span, found by code: what is open, what was given up, what the calls did, what lives on.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Effect, EffectState, GivenUp, LivesOn, Material, Open, Rest, ledger, looks,
    quote::{label, line},
    rows::Row,
};
use crate::{
    format::Act,
    ledger::{
        CallState, Obligation,
        identify::{Identified, Identifier, IdentifierState, target},
    },
    model::{Body, Event, Flags, Kind},
};

/// Side effects that are named one by one: those whose outcome is on record, and those whose is not.
const KNOWN: usize = 60;
const UNKNOWN: usize = 100;
/// Rows of an earlier summary that are carried on.
const EARLIER: usize = 60;
/// Things open or given up that are named.
const OWED: usize = 200;
/// Characters of a target, an id, a tool.
const TARGET: usize = 200;
const NAME: usize = 120;

/// Facts of the span, found by code. Texts are the transcript's own, redacted and made harmless.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// First position of the span.
    pub from: usize,
    /// First position behind it.
    pub to: usize,
    /// Live identifiers.
    pub identifiers: Identified,
    /// What is open anywhere in the context and not settled by force, the newest if there are very many.
    pub open: Vec<Open>,
    /// What was settled by force, of earlier summaries first.
    pub given_up: Vec<GivenUp>,
    /// Side effects, of earlier summaries first, then by their newest call.
    pub effects: Vec<Effect>,
    /// Side effects that are counted only, by tool and state.
    pub rest: Vec<Rest>,
    /// What was launched in the span and lives on.
    pub lives_on: Vec<LivesOn>,
}

impl Table {
    /// Reads the span.
    pub fn of(material: &Material<'_>) -> Self {
        let session = material.session;
        let mut table = Self {
            from: material.from,
            to: material.to,
            identifiers: session.identified(material.payload, material.to),
            ..Self::default()
        };
        table.earlier(material);
        table.owed(material);
        table.settled(material);
        table.effects(material);
        table
    }

    /// What the ledgers of former summaries in the span say, as far as nothing newer is known.
    fn earlier(&mut self, material: &Material<'_>) {
        let session = material.session;
        let summaries = (material.from..material.to).filter(|at| session.ledger().kind(*at) == Some(Kind::Summary));
        let mut rest: FxHashMap<(String, EffectState), usize> = FxHashMap::default();
        for at in summaries {
            let Some(body) = material.body(at) else { continue };
            for row in ledger::read_back(&body.text) {
                match row {
                    // Outside of the former span: its records stand behind the summary and speak for themselves.
                    Row::Open(row) if row.inside => self.open.push(row),
                    Row::GivenUp(row) if row.inside => self.given_up.push(row),
                    Row::Effect(row) => self.effects.push(row),
                    Row::LivesOn(row) => self.lives_on.push(row),
                    Row::Rest(row) => *rest.entry((row.tool, row.state)).or_default() += row.count,
                    Row::Open(_) | Row::GivenUp(_) => {}
                }
            }
        }
        if !self.lives_on.is_empty() {
            let ended = ended(material);
            self.lives_on.retain(|row| !ended.contains(&row.id));
        }
        for row in keep_newest(&mut self.given_up, OWED) {
            *rest.entry((row.tool, EffectState::Abandoned)).or_default() += 1;
        }
        for row in keep_newest(&mut self.effects, EARLIER) {
            *rest.entry((row.tool, row.state)).or_default() += row.count;
        }
        self.rest = rest.into_iter().map(|((tool, state), count)| Rest { tool, state, count }).collect();
    }

    /// Everything open: what blocks, and what lives on.
    fn owed(&mut self, material: &Material<'_>) {
        let session = material.session;
        let settled: FxHashSet<(usize, &str)> =
            material.settle.iter().map(|settle| (settle.at, settle.id.as_str())).collect();
        for owed in session.obligations() {
            let inside = material.is_inside(owed.at);
            let id = session.name(owed.id);
            if settled.contains(&(owed.at, id)) || (owed.kind.is_carried() && !inside) {
                continue;
            }
            let (tool, target) = described(material, &owed);
            if owed.kind.is_carried() {
                let call = label(session.name(session.id_at(session.about(&owed))), NAME);
                let (kind, state, id) = (owed.kind, owed.state, label(id, NAME));
                self.lives_on.retain(|row| row.id != id);
                self.lives_on.push(LivesOn { kind, id, call, target, state, earlier: false });
            } else {
                let (kind, at, state, id) = (owed.kind, owed.at, owed.state, label(id, NAME));
                self.open.push(Open { kind, at, id, tool, target, state, inside });
            }
        }
        let open = keep_newest(&mut self.open, OWED).into_iter();
        let open =
            open.map(|row| (if row.tool.is_empty() { row.kind.name().into() } else { row.tool }, EffectState::Open));
        let living = keep_newest(&mut self.lives_on, OWED).into_iter();
        let living = living.map(|row| (row.kind.name().to_string(), EffectState::Running));
        self.rest.extend(open.chain(living).map(|(tool, state)| Rest { tool, state, count: 1 }));
    }

    fn settled(&mut self, material: &Material<'_>) {
        for settle in material.settle {
            // It is not open any more, and nobody knows how it ended.
            let named = |item: &&mut Identifier| item.value == settle.id && item.state.is_open();
            self.identifiers.items.iter_mut().filter(named).for_each(|item| item.state = IdentifierState::Unknown);
            let (tool, target) = match settle.act {
                Act::Close | Act::Reset => (String::new(), String::new()),
                _ => acted_on(material, settle.at),
            };
            let id = label(&settle.id, NAME);
            if settle.act == Act::DeclareDead {
                self.lives_on.retain(|row| row.id != id);
            }
            self.given_up.push(GivenUp {
                act: settle.act,
                at: settle.at,
                id,
                tool,
                target,
                reason: line(&settle.reason, TARGET),
                by: line(&settle.by, NAME),
                inside: material.is_inside(settle.at),
                earlier: false,
            });
        }
    }

    /// Every answered call of the span that is not known to be a look; equal ones are one row. What is open or was given
    /// up by the operator has its own row already.
    fn effects(&mut self, material: &Material<'_>) {
        let session = material.session;
        let given_up: FxHashSet<usize> =
            material.settle.iter().filter(|settle| settle.act == Act::Abandon).map(|settle| settle.at).collect();
        let mut rows: Vec<Effect> = Vec::new();
        let mut known: FxHashMap<(String, String, EffectState), usize> = FxHashMap::default();
        for at in material.from..material.to {
            let Some(state) = state(material, at).filter(|_| !given_up.contains(&at)) else { continue };
            let Some(body) = material.body(at) else { continue };
            let raw_tool = body.tool.as_deref().unwrap_or_default();
            if looks::is_look(raw_tool, &body) {
                continue;
            }
            let (tool, target) = (line(raw_tool, NAME), target_of(&body));
            let id = label(session.name(session.id_at(at)), NAME);
            let key = (tool, target, state);
            if let Some(row) = known.get(&key).and_then(|index| rows.get_mut(*index)) {
                (row.count, row.id, row.at) = (row.count + 1, id, at);
                continue;
            }
            let (tool, target, state) = key.clone();
            known.insert(key, rows.len());
            rows.push(Effect { tool, target, state, count: 1, id, at, earlier: false });
        }
        rows.sort_by_key(|row| row.at);
        let (mut known, mut unknown): (Vec<Effect>, Vec<Effect>) =
            rows.into_iter().partition(|row| row.state.is_known());
        let mut counted = keep_newest(&mut known, KNOWN);
        counted.extend(keep_newest(&mut unknown, UNKNOWN));
        known.append(&mut unknown);
        known.sort_by_key(|row| row.at);
        self.effects.append(&mut known);
        self.count(counted);
    }

    fn count(&mut self, rows: Vec<Effect>) {
        let before = std::mem::take(&mut self.rest).into_iter().map(|row| ((row.tool, row.state), row.count));
        let fresh = rows.into_iter().map(|row| ((row.tool, row.state), row.count));
        let mut counts: FxHashMap<(String, EffectState), usize> = FxHashMap::default();
        for (key, count) in before.chain(fresh) {
            *counts.entry(key).or_default() += count;
        }
        let rest = counts.into_iter().map(|((tool, state), count)| Rest { tool, state, count });
        self.rest = rest.collect();
        self.rest.sort_by(|a, b| (b.count, &a.tool, a.state).cmp(&(a.count, &b.tool, b.state)));
        // Tools of a hostile transcript are as many as its calls: past the first ones they share a row.
        let more = self.rest.split_off(KNOWN.min(self.rest.len()));
        for state in EffectState::ALL {
            let count: usize = more.iter().filter(|row| row.state == state).map(|row| row.count).sum();
            if count > 0 {
                self.rest.push(Rest { tool: "(other tools)".to_string(), state, count });
            }
        }
    }

    /// What a summariser has to repeat: everything that is not a success, by id (or `#position`), with its state.
    pub fn echo(&self) -> Vec<(String, &'static str)> {
        let named = |id: &str, at: usize| if id.is_empty() { format!("#{at}") } else { id.to_string() };
        let open = self.open.iter().map(|row| (named(&row.id, row.at), "open"));
        let given_up = self.given_up.iter().map(|row| (named(&row.id, row.at), "abandoned"));
        let effects = self.effects.iter().rev().filter(|row| row.state != EffectState::Done && !row.earlier);
        let effects = effects.map(|row| (row.key(), row.state.name()));
        let mut seen = FxHashSet::default();
        open.chain(given_up).chain(effects).filter(|(key, _)| seen.insert(key.clone())).collect()
    }
}

/// Leaves the last `most` and returns the others.
fn keep_newest<T>(rows: &mut Vec<T>, most: usize) -> Vec<T> {
    let newest = rows.split_off(rows.len().saturating_sub(most));
    std::mem::replace(rows, newest)
}

/// Handles whose end is on record after a former summary, whose own launch is not on record any more.
fn ended(material: &Material<'_>) -> FxHashSet<String> {
    let log = material.session.log();
    let ends = log.events.iter().filter_map(|(_, event)| match event {
        Event::TaskEnded { id, .. } => Some(label(log.syms.name(*id), NAME)),
        _ => None,
    });
    ends.collect()
}

/// Tool and target of what an obligation is about.
fn described(material: &Material<'_>, owed: &Obligation) -> (String, String) {
    use crate::ledger::ObligationKind::{Approval, Retry, Transaction};
    match owed.kind {
        Transaction | Retry => (String::new(), String::new()),
        Approval => acted_on(material, owed.at),
        _ => acted_on(material, material.session.about(owed)),
    }
}

/// Tool and target of the call at `at`; of an approval request, of the nearest call before it that has its id.
fn acted_on(material: &Material<'_>, at: usize) -> (String, String) {
    let session = material.session;
    let ledger = session.ledger();
    let call = match ledger.kind(at) {
        Some(Kind::Result | Kind::Error | Kind::Abandoned) => ledger.partner(at).unwrap_or(at),
        Some(Kind::ApprovalRequest) => {
            let id = session.id_at(at);
            // The request stands directly behind the response that asked for it.
            let near = at.saturating_sub(64)..at;
            let same = |place: &usize| ledger.kind(*place) == Some(Kind::Call) && session.id_at(*place) == id;
            near.rev().find(same).unwrap_or(at)
        }
        _ => at,
    };
    let Some(body) = material.body(call) else { return (String::new(), String::new()) };
    if ledger.kind(call) == Some(Kind::Call) {
        (line(body.tool.as_deref().unwrap_or_default(), NAME), target_of(&body))
    } else {
        (String::new(), line(&body.text, TARGET))
    }
}

/// What the call acts on, in one short harmless line. A statement says more than the connection it is sent to.
fn target_of(body: &Body) -> String {
    let raw = looks::statement(body).or_else(|| target(body)).unwrap_or_default();
    line(&raw, TARGET)
}

/// What became of the call at `at`; `None` if there is none, the runtime discarded it, or it is open.
fn state(material: &Material<'_>, at: usize) -> Option<EffectState> {
    let session = material.session;
    let ledger = session.ledger();
    let state = ledger.call_state(at)?;
    let answer = ledger.partner(at);
    let resolution = answer.and_then(|answer| session.record(answer));
    let denied = resolution.is_some_and(|record| record.flags.has(Flags::DENIED));
    let failed = resolution.is_some_and(|record| record.kind == Kind::Error);
    let lives_on = |answer: usize| ledger.carried().at(answer).is_some();
    Some(match state {
        CallState::Abandoned | CallState::ImplicitlyAbandoned => EffectState::Abandoned,
        CallState::Interrupted => EffectState::Interrupted,
        CallState::Result | CallState::Error | CallState::LateResult => match (denied, failed) {
            (true, _) => EffectState::Denied,
            (_, true) => EffectState::Failed,
            _ if answer.is_some_and(lives_on) => EffectState::Running,
            _ => EffectState::Done,
        },
        _ => return None,
    })
}
