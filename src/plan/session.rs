use crate::{
    budget::{Budget, Settings},
    format::{Adapter, Capability, Counting, Detection, Format, SessionFacts, Transcript},
    ledger::{
        Ledger, Obligation, Tally,
        identify::{Evidence, Identified, Identifier},
    },
    model::{Body, Context, Event, Flags, Kind, Log, Note, NoteKind, Payload, Record, RecordId, Sym},
};

/// What a refresh changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    /// Places of the context that are the same as before.
    pub kept: usize,
    /// Places of the context before.
    pub before: usize,
    /// Places of the context now.
    pub now: usize,
}

/// Bytes of a line above which a block that is a small part of it is read alone, without the facts that stand beside
/// it: a line of 10^5 blocks must not be read 10^5 times.
const CROWDED: u32 = 16 << 10;

/// One transcript at one moment: what was read, what it means, what is owed, how full it is.
pub struct Session {
    transcript: Transcript,
    settings: Settings,
    ledger: Ledger,
    tally: Tally,
    budget: Option<Budget>,
    empty: Context,
    /// Records and events that the ledger has seen, to notice events that came later for a record already folded.
    folded_records: RecordId,
    folded_events: usize,
}

impl Session {
    /// A session of which nothing was read yet. `stem` is the file's name without ending.
    pub fn new(forced: Option<Format>, stem: &str, settings: Settings) -> Self {
        Self {
            transcript: Transcript::new(forced, stem),
            settings,
            ledger: Ledger::default(),
            tally: Tally::default(),
            budget: None,
            empty: Context::default(),
            folded_records: 0,
            folded_events: 0,
        }
    }

    /// A session of a whole file in memory.
    pub fn of_bytes(bytes: &[u8], forced: Option<Format>, stem: &str, settings: Settings) -> Self {
        let mut session = Self::new(forced, stem, settings);
        session.feed(bytes);
        session.finish();
        session
    }

    /// Takes the next bytes. Nothing is derived before [`Session::refresh`].
    pub fn feed(&mut self, bytes: &[u8]) {
        self.transcript.feed(bytes);
    }

    /// Takes the bytes of the file that this one continues; see [`Session::continues`].
    pub fn feed_segment(&mut self, segment: u16, bytes: &[u8]) {
        self.transcript.feed_segment(segment, bytes);
    }

    /// The file that must be fed with [`Session::feed_segment`].
    pub fn continues(&self) -> Option<crate::format::Continues> {
        self.transcript.continues()
    }

    /// Nobody writes any more: an unterminated last line counts if it is whole. Refreshes.
    pub fn finish(&mut self) -> Shift {
        self.transcript.finish();
        self.refresh()
    }

    /// Derives context, ledger, counts and budget from what was fed since the last call.
    pub fn refresh(&mut self) -> Shift {
        let before = self.ledger.len();
        let counting = self.transcript.adapter().map_or(Counting::ByInstance, Adapter::counting);
        let facts = self.facts();
        let Some((context, log)) = self.transcript.context() else { return Shift::default() };
        let kept = context.kept();
        let late = log.events.partition_point(|(at, _)| *at < self.folded_records) > self.folded_events;
        if kept < self.ledger.len()
            || (late && !apply_late(&mut self.ledger, log, context, self.folded_records, self.folded_events))
        {
            self.ledger = Ledger::default();
        }
        self.ledger.extend(log, context, context.len());
        context.seen();
        self.folded_records = log.next_id();
        self.folded_events = log.events.len();
        self.tally.extend(log, counting);
        self.budget = Some(Budget::of(log, context, &facts, &self.settings));
        Shift { kept: kept.min(before), before, now: context.len() }
    }
}

/// Events that came for the newest folded record only can be applied as they are. True if that was all.
fn apply_late(ledger: &mut Ledger, log: &Log, context: &Context, records: RecordId, events: usize) -> bool {
    let Some(newest) = records.checked_sub(1) else { return false };
    let upto = log.events.partition_point(|(at, _)| *at < records);
    let here = log.events_at(newest).count();
    let late = upto - events;
    let folded_last = ledger.len().checked_sub(1).and_then(|at| context.slots().get(at)?.id());
    if late > here || folded_last != Some(newest) {
        return false;
    }
    let fresh: Vec<Event> = log.events_at(newest).skip(here - late).collect();
    for event in fresh {
        ledger.apply(event);
    }
    true
}

/// Answers.
impl Session {
    /// What was read.
    pub fn log(&self) -> &Log {
        self.transcript.log()
    }

    /// The effective context as of the last refresh.
    pub fn context(&self) -> &Context {
        self.transcript.current().unwrap_or(&self.empty)
    }

    /// Who owes what in the effective context.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Counts over the whole file.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How full the context is; `None` before the format is known.
    pub fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    /// The reader of the format, once it is known.
    pub fn adapter(&self) -> Option<&dyn Adapter> {
        self.transcript.adapter()
    }

    /// Positions of the context whose records stand on a line of the file.
    pub fn written(&self) -> impl Iterator<Item = usize> + '_ {
        self.context().slots().iter().enumerate().filter(|(_, slot)| slot.id().is_some()).map(|(at, _)| at)
    }

    /// The operator's settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The format with its reasons.
    pub fn detection(&self) -> Option<&Detection> {
        self.transcript.detection()
    }

    /// Formats that fit what was read equally well; see [`Transcript::tie`].
    pub fn tie(&self) -> Option<&Detection> {
        self.transcript.tie()
    }

    /// True once enough was read to say that this is no transcript.
    pub fn hopeless(&self) -> bool {
        self.transcript.hopeless()
    }

    /// Bytes fed so far, the unterminated last line included.
    pub fn bytes(&self) -> u64 {
        self.transcript.offset()
    }

    /// True while a document that spans lines is not whole: what was read of it before is still the best there is.
    pub fn is_torn(&self) -> bool {
        self.transcript.is_torn()
    }

    /// True for one document over many lines.
    pub fn is_document(&self) -> bool {
        self.transcript.is_document()
    }

    /// Bytes after the last newline.
    pub fn partial(&self) -> &[u8] {
        self.transcript.partial()
    }

    /// What the format can and cannot tell.
    pub fn capability(&self) -> Option<Capability> {
        self.transcript.adapter().map(Adapter::capability)
    }

    /// Facts about the session as a whole.
    pub fn facts(&self) -> SessionFacts {
        self.transcript.adapter().map(Adapter::session).unwrap_or_default()
    }

    /// The record at `position` of the effective context.
    pub fn record(&self, position: usize) -> Option<&Record> {
        self.context().get(self.log(), position)
    }

    /// The agent's id at `position`.
    pub fn id_at(&self, position: usize) -> Option<Sym> {
        self.record(position)?.id
    }

    /// Everything owed now.
    pub fn obligations(&self) -> Vec<Obligation> {
        self.ledger.obligations(|at| self.id_at(at))
    }

    /// The record that says what an obligation is about: of what lives on, the call that launched it.
    pub fn about(&self, obligation: &Obligation) -> usize {
        let launch = self.ledger.partner(obligation.at).filter(|_| obligation.kind.is_carried());
        launch.unwrap_or(obligation.at)
    }

    /// Name behind a symbol.
    pub fn name(&self, sym: Option<Sym>) -> &str {
        sym.map_or("", |sym| self.log().syms.name(sym))
    }

    /// Positions of human prompts, ascending.
    pub fn prompts(&self) -> Vec<usize> {
        (0..self.context().len()).filter(|at| self.record(*at).is_some_and(Record::is_prompt)).collect()
    }

    /// The decoded payload of the record at `position`.
    pub fn body(&self, position: usize, payload: &dyn Payload) -> Option<Body> {
        self.record_body(self.record(position)?, payload)
    }

    /// The decoded payload of `record`.
    pub fn record_body(&self, record: &Record, payload: &dyn Payload) -> Option<Body> {
        if record.flags.has(Flags::SYNTHETIC) {
            return Some(Body::text("(the runtime adds this in memory; it stands on no line of the file)"));
        }
        let crowded = record.line_len > CROWDED && record.len < record.line_len / 16;
        if crowded {
            let block = payload.read(record.segment, record.offset + u64::from(record.at), record.len)?;
            let alone = Record { at: 0, line_len: record.len, ..*record };
            return Some(self.decoded(&block, &alone));
        }
        let line = payload.read(record.segment, record.offset, record.line_len)?;
        Some(self.decoded(&line, record))
    }

    fn decoded(&self, line: &[u8], record: &Record) -> Body {
        let known = record.kind != Kind::Opaque;
        let adapter = self.transcript.adapter().filter(|_| known);
        match adapter {
            Some(adapter) => adapter.body(line, record),
            None => Body::text(String::from_utf8_lossy(
                line.get(record.at as usize..record.at.saturating_add(record.len) as usize).unwrap_or(line),
            )),
        }
    }

    /// The live identifiers that a summary of the records before `cut` must carry. Reads the payload of every call.
    pub fn identifiers(&self, payload: &dyn Payload, cut: usize) -> Vec<Identifier> {
        self.identified(payload, cut).items
    }

    /// The same with what was redacted and left out.
    pub fn identified(&self, payload: &dyn Payload, cut: usize) -> Identified {
        let read = |at: usize| Some((self.record(at)?.kind, self.body(at, payload)?));
        let name = |sym| self.log().syms.name(sym).to_string();
        let facts = self.facts();
        Evidence { ledger: &self.ledger, read: &read, name: &name, cwd: facts.cwd.as_deref() }.live(cut)
    }

    /// Every oddity: of lines, of the format, of pairing in the effective context. By line.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = self.log().notes.clone();
        let mut add = |kind, at: u32, text: &str| {
            let slot = self.context().slots().get(at as usize);
            let line = self.record(at as usize).map_or(0, |record| record.line);
            let id = self.name(self.id_at(at as usize));
            let text = format!("{text} {id}").trim_end().to_string();
            notes.push(Note { kind, line, record: slot.and_then(|slot| slot.id()), text });
        };
        for at in self.ledger.orphans() {
            add(NoteKind::Orphan, *at, "A result without a call before it:");
        }
        for (at, _) in self.ledger.duplicates() {
            add(NoteKind::Duplicate, *at, "A second result of a call that was already closed:");
        }
        for at in self.ledger.shadowed() {
            add(NoteKind::Shadowed, *at, "The id was used again while this call was open:");
        }
        notes.sort_by_key(|note| note.line);
        notes
    }
}
