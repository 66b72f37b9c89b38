use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::{
    format::Capability,
    model::{Flags, Kind, Note, NoteKind, RecordId},
    plan::Session,
};

/// `cutline inspect --json`: what the file holds, what the model would see, how full it is, what was not understood.
#[derive(Debug, Serialize)]
pub struct InspectReport {
    schema: &'static str,
    path: String,
    format: &'static str,
    format_reasons: Vec<String>,
    version: Option<String>,
    generation: Option<&'static str>,
    session: Option<String>,
    model: Option<String>,
    cwd: Option<String>,
    branch: Option<String>,
    file: FileCounts,
    context: ContextCounts,
    tokens: Tokens,
    capabilities: Capabilities,
    notes: Vec<NoteItem>,
}

#[derive(Debug, Serialize)]
struct FileCounts {
    lines: u32,
    records: usize,
    calls: usize,
    results: usize,
    open: usize,
    orphans: usize,
    duplicates: usize,
    shadowed: usize,
    void: usize,
    late: usize,
    boundaries: Vec<BoundaryItem>,
    lanes: usize,
    not_understood: u32,
    damaged: u32,
    torn_tail: bool,
    open_calls: Vec<OpenCall>,
}

#[derive(Debug, Serialize)]
struct BoundaryItem {
    line: u32,
}

#[derive(Debug, Serialize)]
struct OpenCall {
    id: Option<String>,
    tool: Option<String>,
    line: u32,
    lane: String,
}

#[derive(Debug, Serialize)]
struct ContextCounts {
    records: usize,
    calls: usize,
    open: usize,
    carried: usize,
    unread: usize,
    dead_branch_records: usize,
}

#[derive(Debug, Serialize)]
struct Tokens {
    used: u64,
    basis: &'static str,
    /// The newest number that the runtime wrote, and the record that carries it.
    measured: Option<u64>,
    measured_at: Option<usize>,
    /// What was added to it by estimate.
    estimated_later: u64,
    window: u64,
    window_basis: String,
    trigger: u64,
    critical: u64,
    line_at: Option<usize>,
    state: &'static str,
}

#[derive(Debug, Serialize)]
pub(super) struct Capabilities {
    shows_open: bool,
    shows_results: bool,
    ids: &'static str,
    usage: bool,
    window: bool,
    lock: bool,
    reexecutes_on_resume: bool,
    late_results: &'static str,
    commit: Vec<&'static str>,
    hides: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct NoteItem {
    kind: &'static str,
    at: Option<usize>,
    line: Option<u32>,
    text: String,
}

impl InspectReport {
    /// Of a session whose format is known; `None` otherwise.
    pub fn of(session: &Session, path: &str) -> Option<Self> {
        let detection = session.detection()?;
        let facts = session.facts();
        Some(Self {
            schema: "cutline.inspect/1",
            path: path.to_string(),
            format: detection.format.name(),
            format_reasons: detection.reasons.clone(),
            version: facts.version,
            generation: facts.generation,
            session: facts.id,
            model: facts.model,
            cwd: facts.cwd,
            branch: facts.branch,
            file: file_counts(session),
            context: context_counts(session),
            tokens: tokens(session)?,
            capabilities: session.capability()?.into(),
            notes: note_items(session),
        })
    }
}

impl InspectReport {
    /// The same for people, one fact a line. Raw: show it safely.
    pub fn lines(&self) -> Vec<String> {
        let (file, context, tokens) = (&self.file, &self.context, &self.tokens);
        let or_dash = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_string());
        let boundaries: Vec<String> = file.boundaries.iter().map(|b| b.line.to_string()).collect();
        let measured = match tokens.measured {
            Some(n) => format!(
                "{n} measured at #{}, {} estimated since",
                tokens.measured_at.unwrap_or(0),
                tokens.estimated_later
            ),
            None => format!("{} estimated, nothing measured", tokens.used),
        };
        let mut lines = vec![
            format!("file          {}", self.path),
            format!("format        {} {}", self.format, self.generation.unwrap_or_default()),
            format!("recognised    {}", self.format_reasons.join("; ")),
            format!("version       {}", or_dash(&self.version)),
            format!("session       {}", or_dash(&self.session)),
            format!("model         {}", or_dash(&self.model)),
            format!(
                "in the file   {} lines, {} records, {} calls, {} results, {} open, {} orphans, {} duplicates, {} lanes",
                file.lines,
                file.records,
                file.calls,
                file.results,
                file.open,
                file.orphans,
                file.duplicates,
                file.lanes
            ),
            format!("boundaries    {}", if boundaries.is_empty() { "none".to_string() } else { boundaries.join(", ") }),
            format!(
                "in context    {} records, {} calls, {} open, {} carried, {} unread; {} records on dead branches",
                context.records,
                context.calls,
                context.open,
                context.carried,
                context.unread,
                context.dead_branch_records
            ),
            format!("tokens        {} of {} ({}): {measured}", tokens.used, tokens.window, tokens.window_basis),
            format!("marks         trigger {}, critical {}, state {}", tokens.trigger, tokens.critical, tokens.state),
            format!(
                "not read      {} not understood, {} damaged, torn tail: {}",
                file.not_understood,
                file.damaged,
                if file.torn_tail { "yes" } else { "no" }
            ),
        ];
        lines.extend(self.capabilities.hides.iter().map(|hides| format!("hides         {hides}")));
        lines.extend(self.notes.iter().map(|note| {
            let line = note.line.map_or_else(|| "-".to_string(), |line| line.to_string());
            format!("note          line {line}: {}: {}", note.kind, note.text)
        }));
        lines
    }
}

fn file_counts(session: &Session) -> FileCounts {
    let (log, tally) = (session.log(), session.tally());
    let open = tally.open();
    let open_calls: Vec<OpenCall> = open
        .iter()
        .filter_map(|call| log.records.get(call.record as usize))
        .map(|record| OpenCall {
            id: record.id.map(|id| log.syms.name(id).to_string()),
            tool: record.tool.map(|tool| log.syms.name(tool).to_string()),
            line: record.line,
            lane: log.lane_name(record.lane).to_string(),
        })
        .collect();
    FileCounts {
        lines: log.lines,
        records: log.records.iter().filter(|record| record.segment == 0).count(),
        calls: tally.calls,
        results: tally.results,
        open: open.len(),
        orphans: tally.orphans,
        duplicates: tally.duplicates,
        shadowed: tally.shadowed,
        void: tally.void,
        late: tally.late,
        boundaries: log.boundaries.iter().map(|boundary| BoundaryItem { line: boundary.line }).collect(),
        lanes: log.lanes.len().max(1),
        not_understood: log.not_understood,
        damaged: log.damaged,
        torn_tail: log.notes.iter().any(|note| note.kind == NoteKind::TornTail),
        open_calls,
    }
}

fn context_counts(session: &Session) -> ContextCounts {
    let (ledger, log) = (session.ledger(), session.log());
    let calls = (0..session.context().len())
        .filter_map(|at| session.record(at))
        .filter(|record| record.kind == Kind::Call && !record.flags.has(Flags::SERVER))
        .count();
    let open = ledger.pending().filter(|at| ledger.kind(*at) == Some(Kind::Call)).count();
    let in_context: rustc_hash::FxHashSet<u32> =
        session.context().slots().iter().filter_map(|slot| slot.id()).collect();
    let boundary = log.boundaries.last().map_or(0, |boundary| boundary.line);
    let dead = log.records.iter().zip(0u32..).filter(|(record, id)| {
        let spoken = record.kind.is_response_part() || record.kind.is_resolution() || record.kind == Kind::User;
        let counted = !record.flags.has(Flags::REPEAT) && record.lane == crate::model::LaneId::MAIN;
        spoken && counted && record.line > boundary && !in_context.contains(id)
    });
    ContextCounts {
        records: session.context().len(),
        calls,
        open,
        carried: ledger.carried().len(),
        unread: ledger.unread().len(),
        dead_branch_records: dead.count(),
    }
}

fn tokens(session: &Session) -> Option<Tokens> {
    let budget = session.budget()?;
    let measured = budget.series.measured();
    Some(Tokens {
        used: budget.used(),
        basis: budget.series.basis().name(),
        measured: measured.map(|(tokens, _)| tokens),
        measured_at: measured.map(|(_, at)| at),
        estimated_later: budget.series.later(),
        window: budget.window.tokens,
        window_basis: budget.window.basis.sentence(),
        trigger: budget.trigger,
        critical: budget.critical,
        line_at: budget.line_at(),
        state: budget.pressure().name(),
    })
}

impl Capabilities {
    /// One sentence for people.
    pub(super) fn sentence(&self) -> String {
        let yes = |on: bool, what: &'static str| on.then_some(what);
        let shown = [
            yes(self.shows_open, "open calls"),
            yes(self.shows_results, "results"),
            yes(self.usage, "usage"),
            yes(self.window, "window"),
        ];
        let shown: Vec<&str> = shown.into_iter().flatten().collect();
        format!("shows {}; ids: {}", shown.join(", "), self.ids)
    }

    /// Cells of the README's table.
    pub(super) fn cells(&self) -> Vec<&'static str> {
        let yes = |on: bool| if on { "yes" } else { "no" };
        let writes = self.commit.first().copied().unwrap_or("neutral");
        let shown =
            [yes(self.shows_open), yes(self.shows_results), self.ids, yes(self.usage), yes(self.window), writes];
        shown.to_vec()
    }

    /// What is not told.
    pub(super) fn hides(&self) -> &[&'static str] {
        &self.hides
    }
}

impl From<Capability> for Capabilities {
    fn from(capability: Capability) -> Self {
        Self {
            shows_open: capability.shows_open,
            shows_results: capability.shows_results,
            ids: capability.ids.name(),
            usage: capability.usage,
            window: capability.window,
            lock: capability.lock,
            reexecutes_on_resume: capability.reexecutes,
            late_results: capability.late_results.name(),
            commit: capability.commits.iter().map(|commit| commit.name()).collect(),
            hides: capability.hides,
        }
    }
}

fn note_items(session: &Session) -> Vec<NoteItem> {
    let slots = session.context().slots().iter().enumerate().rev();
    let places: FxHashMap<RecordId, usize> = slots.filter_map(|(at, slot)| Some((slot.id()?, at))).collect();
    let item = |note: Note| NoteItem {
        kind: note.kind.name(),
        at: note.record.and_then(|id| places.get(&id).copied()),
        line: (note.line > 0).then_some(note.line),
        text: note.text,
    };
    session.notes().into_iter().map(item).collect()
}
