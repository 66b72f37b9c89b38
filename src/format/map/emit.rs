//! What the rules found becomes records of the log.

use super::{
    mapped::Mapped,
    order::{Kept, Row},
    pointer::{Paths, Pointer},
    rule::{Emission, Reach, State, Verb, emissions},
};
use crate::{
    format::{Line, estimate::Weight, json::Raw, text_weight},
    model::{
        Boundary, Event, Flags, Kind, LaneId, Log, Millis, NoteKind, Record, RecordId, Sym, TaskKind, Usage,
        parse_rfc3339,
    },
};

/// Where the emissions of one row happen.
struct Place<'l, 'a> {
    line: &'l Line<'a>,
    record: Raw<'a>,
    lane: LaneId,
    row: u32,
    /// The row stands for one that was there before.
    again: bool,
    time: Millis,
}

/// Tokens that the runtime writes where it answers a call itself.
const PLACEHOLDER: u32 = 4;

/// What a usage rule says of a record.
struct Figures {
    input: u64,
    output: u64,
    window: Option<u64>,
}

/// The figures that `found` names; `None` where no number stands at all.
fn figures(record: Raw<'_>, found: &Emission<'_>) -> Option<Figures> {
    let figures = &found.rule.figures;
    let sum = |paths: &[Pointer]| {
        let numbers = paths.iter().filter_map(|path| path.first(found.item, record).and_then(number));
        numbers.fold(None, |sum: Option<u64>, number| Some(sum.unwrap_or(0).saturating_add(number)))
    };
    let window = figures.window.first(found.item, record).and_then(number).filter(|window| *window > 0);
    let (input, output) = (sum(&figures.input), sum(&figures.output));
    let any = input.or(output).or(window).is_some();
    any.then(|| Figures { input: input.unwrap_or(0), output: output.unwrap_or(0), window })
}

impl Mapped {
    /// One record of the file. With `instead` it takes the place of that row.
    pub(super) fn row(&mut self, line: &Line<'_>, record: Raw<'_>, instead: Option<u32>, again: bool, log: &mut Log) {
        let map = self.mapping.map();
        let lane = match map.lane.word(record, record) {
            Some(name) => log.lane(&name),
            None => LaneId::MAIN,
        };
        let row = instead.unwrap_or(self.rows.len());
        let (first, mark) = (log.next_id(), self.pairing.mark());
        let time = time(map.time.first(record, record));
        let at = Place { line, record, lane, row, again: again || instead.is_some(), time };
        let found = emissions(&map.rules, record);
        self.told.clear();
        let mut kept = None;
        for emission in &found {
            kept = self.apply(&at, emission, log).or(kept);
        }
        if log.next_id() == first {
            let usage = || found.iter().filter(|emission| emission.rule.emit == Verb::Usage);
            let figures: Vec<Figures> = usage().filter_map(|emission| figures(record, emission)).collect();
            // Rules for tokens alone read nothing where no number stands.
            if usage().count() == found.len() && figures.is_empty() {
                log.not_understood += 1;
                log.note(
                    NoteKind::NotUnderstood,
                    line.number,
                    "No rule of the map reads this line; it is kept as it is.",
                );
                self.push(&at, Self::plain_record(&at, Kind::Opaque, record), log);
            } else if figures.iter().all(|figures| figures.input == 0 && figures.output == 0) {
                self.push(&at, Self::plain_record(&at, Kind::Notice, record), log);
            }
        }
        Self::bind_message(first, log);
        for emission in found.iter().filter(|emission| emission.rule.emit == Verb::Usage) {
            self.measure(&at, emission, log);
        }
        let salvaged = line.salvaged && map.tree.is_some();
        let mut key =
            |paths: &Paths| paths.word(record, record).map(|word| log.syms.intern(&word)).filter(|_| !salvaged);
        let parent = map.tree.as_ref().and_then(|tree| key(&tree.parent));
        let key = key(&map.key);
        let new = Row { first, end: log.next_id(), key, parent, kept, mark };
        if let Some(row) = instead {
            self.rows.replace(row, new);
            return;
        }
        if let Some(parent) = parent.filter(|parent| self.rows.find(*parent).is_none()) {
            let text = format!("The parent `{}` stands nowhere before.", log.syms.name(parent));
            log.note(NoteKind::MissingParent, line.number, text);
        }
        self.rows.push(new);
    }

    /// Records of one row are one message: no cut goes through them.
    fn bind_message(first: RecordId, log: &mut Log) {
        let (from, bound) = (first as usize, |record: &Record| !matches!(record.kind, Kind::Notice | Kind::Opaque));
        let new = log.records.get_mut(from..).unwrap_or_default();
        if new.iter().filter(|record| bound(record)).count() < 2 {
            return;
        }
        let message = log.syms.intern(&format!("\u{0}m{first}"));
        for record in new.iter_mut().filter(|record| bound(record)) {
            record.message = Some(message);
        }
    }

    fn apply(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, log: &mut Log) -> Option<Kept> {
        let rule = found.rule;
        match rule.emit {
            Verb::User => self.speak(at, found, Kind::User, Flags::HUMAN, log),
            Verb::Injected => self.speak(at, found, Kind::User, Flags::META, log),
            Verb::Assistant => self.speak(at, found, Kind::Assistant, Flags::NONE, log),
            Verb::Thinking => self.speak(at, found, Kind::Thinking, Flags::NONE, log),
            Verb::Call => self.call(at, found, log),
            Verb::Result => self.result(at, found, log),
            Verb::State => self.state(at, found, log),
            Verb::Close => {
                let lane = (!rule.every_lane).then_some(at.lane);
                for instance in self.pairing.all_open(lane) {
                    self.give_up(at, found, instance, log);
                }
            }
            Verb::Boundary => return self.boundary(at, found, log),
            Verb::Usage => {}
            Verb::ApprovalRequest => self.bracket(at, found, Kind::ApprovalRequest, log),
            Verb::Approval => self.bracket(at, found, Kind::Approval, log),
            Verb::TaskStarted => self.bracket(at, found, Kind::TaskStarted, log),
            Verb::TaskEnded => self.bracket(at, found, Kind::TaskEnded, log),
            Verb::Retry => self.bracket(at, found, Kind::Retry, log),
            Verb::RetrySettled => self.bracket(at, found, Kind::RetrySettled, log),
            Verb::Notice => self.bracket(at, found, Kind::Notice, log),
        }
        None
    }

    fn speak(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, kind: Kind, flags: Flags, log: &mut Log) {
        let empty = |value: &Raw<'_>| matches!(value.bytes(), b"\"\"" | b"[]");
        let said = found.rule.text.all(found.item, at.record);
        if kind != Kind::User && !found.rule.text.is_empty() && said.iter().all(empty) {
            return;
        }
        let mut record = Self::record(at, found, kind, &found.rule.text);
        record.flags = record.flags.with(flags);
        record.response = self.response(at, found, kind, log);
        self.push(at, record, log);
    }

    fn bracket(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, kind: Kind, log: &mut Log) {
        let mut record = Self::record(at, found, kind, &found.rule.text);
        record.id = found.id.as_deref().map(|id| log.syms.intern(id));
        record.tool = found.name.as_deref().map(|name| log.syms.intern(name));
        self.push(at, record, log);
        match (kind, record.id) {
            (Kind::TaskStarted, Some(id)) => log.event(Event::TaskStarted { id, kind: TaskKind::Task, call: None }),
            (Kind::TaskEnded, Some(id)) => log.event(Event::TaskEnded { id, delivered: true }),
            _ => {}
        }
    }

    fn call(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, log: &mut Log) {
        let name = found.name.as_deref().map(|name| log.syms.intern(name));
        let id = self.id_of(found, log);
        let known = self.pairing.newest(at.lane, id).filter(|call| self.is_of(*call, at));
        let call = known.unwrap_or_else(|| self.pairing.open(at.lane, id, name, at.row));
        let void = found.state == State::Void;
        if void {
            self.pairing.close(call, at.row);
        }
        self.push_call(at, found, (id, name), void, log);
    }

    fn push_call(
        &mut self,
        at: &Place<'_, '_>,
        found: &Emission<'_>,
        of: (Sym, Option<Sym>),
        void: bool,
        log: &mut Log,
    ) {
        let mut record = Self::record(at, found, Kind::Call, &found.rule.input);
        (record.id, record.tool) = (Some(of.0), of.1);
        self.told.insert(of.0);
        record.response = self.response(at, found, Kind::Call, log);
        record.flags = record.flags.with_if(Flags::VOID, void).with_if(Flags::REPEAT, self.is_repeat(at, true, of.0));
        self.push(at, record, log);
    }

    fn result(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, log: &mut Log) {
        let name = found.name.as_deref().map(|name| log.syms.intern(name));
        let id = found.id.as_deref().map(|id| log.syms.intern(id));
        let call = match id {
            Some(id) => self.pairing.newest_open(at.lane, id),
            None => self.pairing.oldest_open(at.lane, name),
        };
        let known = id.is_some_and(|id| self.pairing.newest(at.lane, id).is_some());
        if let Some(call) = call {
            self.pairing.close(call, at.row);
        } else if known && found.rule.repeats {
            let record = Self::record(at, found, Kind::Notice, &found.rule.text);
            self.push(at, record, log);
            return;
        }
        let id = call.and_then(|call| self.pairing.of(call)).map(|(_, id, _)| id).or(id);
        self.push_resolution(at, found, id, name, log);
    }

    fn push_resolution(
        &mut self,
        at: &Place<'_, '_>,
        found: &Emission<'_>,
        id: Option<Sym>,
        name: Option<Sym>,
        log: &mut Log,
    ) {
        let (kind, flags) = match found.state {
            State::Ok | State::Open => (Kind::Result, Flags::NONE),
            State::Error => (Kind::Error, Flags::NONE),
            State::Denied => (Kind::Error, Flags::DENIED),
            State::Abandoned | State::Void => (Kind::Abandoned, Flags::UNKNOWN_OUTCOME),
        };
        let mut record = Self::record(at, found, kind, &found.rule.text);
        (record.id, record.tool) = (id, name);
        let repeat = id.is_some_and(|id| self.is_repeat(at, false, id));
        record.flags = record.flags.with(flags).with_if(Flags::REPEAT, repeat);
        self.push(at, record, log);
    }

    fn state(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, log: &mut Log) {
        let name = found.name.as_deref().map(|name| log.syms.intern(name));
        let id = self.id_of(found, log);
        let ends = found.state != State::Open;
        let newest = self.pairing.newest(at.lane, id);
        let (row, closed) = newest.and_then(|call| self.pairing.rows(call)).unwrap_or((at.row, None));
        let used_again = closed.is_some() && !ends && row != at.row && closed != Some(at.row);
        let Some(call) = newest.filter(|_| !used_again) else {
            let call = self.pairing.open(at.lane, id, name, at.row);
            self.push_call(at, found, (id, name), false, log);
            if ends {
                self.pairing.close(call, at.row);
                self.push_resolution(at, found, Some(id), name, log);
            }
            return;
        };
        let mine = at.again && row == at.row;
        if mine && !self.told.contains(&id) {
            self.push_call(at, found, (id, name), false, log);
        }
        if ends && (closed.is_none() || (mine && closed == Some(at.row))) {
            if closed.is_none() {
                self.pairing.close(call, at.row);
            }
            self.push_resolution(at, found, Some(id), name, log);
        } else if !mine {
            let record = Self::record(at, found, Kind::Notice, &Paths::default());
            self.push(at, record, log);
        }
    }

    fn give_up(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, call: u32, log: &mut Log) {
        let Some((lane, id, name)) = self.pairing.of(call) else { return };
        self.pairing.close(call, at.row);
        let mut record = Self::record(at, found, Kind::Abandoned, &Paths::default());
        (record.id, record.tool, record.lane) = (Some(id), name, lane);
        (record.text, record.tokens) = (0, PLACEHOLDER);
        record.flags = record.flags.with(Flags::UNKNOWN_OUTCOME);
        log.push(record);
    }

    fn boundary(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, log: &mut Log) -> Option<Kept> {
        log.boundaries.push(Boundary { line: at.line.number, before: None, automatic: false });
        let kept = match &found.rule.reach {
            Reach::Mark => None,
            Reach::All => Some(Kept::Nothing),
            Reach::KeepFrom(from) => {
                Some(Kept::From(from.word(found.item, at.record).map(|key| log.syms.intern(&key))))
            }
            Reach::Forget(ids) => {
                let ids = ids.all(found.item, at.record);
                Some(Kept::AllBut(ids.into_iter().map(|id| log.syms.intern(&super::pointer::plain(id))).collect()))
            }
        };
        let kind = if kept.is_some() { Kind::Summary } else { Kind::Notice };
        // In a tree an open call may stand on another branch, which no compaction dropped.
        let linear = self.mapping.map().tree.is_none();
        let open = self.pairing.oldest_open(LaneId::MAIN, None).and_then(|call| self.pairing.of(call));
        if let (Some(Kept::Nothing), true, Some((_, id, _))) = (&kept, linear, open) {
            let text = format!("A compaction of the runtime's own came while `{}` was open.", log.syms.name(id));
            log.note(NoteKind::Swallowed, at.line.number, text);
        }
        let record = Self::record(at, found, kind, &found.rule.text);
        self.push(at, record, log);
        kept
    }

    fn measure(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, log: &mut Log) {
        let Some(Figures { input, output, window }) = figures(at.record, found) else { return };
        self.facts.window = window.or(self.facts.window);
        if input > 0 || output > 0 {
            let record = log.next_id().saturating_sub(1);
            log.usage.push(Usage { record, lane: at.lane, input, output, window, estimated: false });
        }
    }

    /// Id of a call; one without an id is known by its name and number.
    fn id_of(&self, found: &Emission<'_>, log: &mut Log) -> Sym {
        if let Some(id) = &found.id {
            return log.syms.intern(id);
        }
        let name = found.name.as_deref().unwrap_or("call");
        let name: String = name.chars().take(40).collect();
        log.syms.intern(&format!("{name}#{}", self.pairing.len() + 1))
    }

    fn is_of(&self, call: u32, at: &Place<'_, '_>) -> bool {
        at.again && self.pairing.rows(call).is_some_and(|(row, _)| row == at.row)
    }

    /// True if this call or resolution was counted before the file was written again.
    fn is_repeat(&mut self, at: &Place<'_, '_>, call: bool, id: Sym) -> bool {
        self.mapping.map().rewrites() && !self.counted.insert((at.lane, call, id)) && at.again
    }

    /// The response that a part belongs to: by its id, else the run of parts that nothing else interrupted.
    fn response(&mut self, at: &Place<'_, '_>, found: &Emission<'_>, kind: Kind, log: &mut Log) -> Option<Sym> {
        if !kind.is_response_part() {
            return None;
        }
        let map = self.mapping.map();
        let own = found.rule.response.word(found.item, at.record).or_else(|| map.response.word(at.record, at.record));
        let run = self.runs.get(&at.lane).copied();
        let response = match (own, run) {
            (Some(id), _) => log.syms.intern(&id),
            (None, Some(run)) => run,
            (None, None) => log.syms.intern(&format!("\u{0}{}", log.records.len())),
        };
        Some(response)
    }

    fn push(&mut self, at: &Place<'_, '_>, record: Record, log: &mut Log) {
        match record.kind {
            Kind::Notice | Kind::Opaque => {}
            kind if kind.is_response_part() => {
                if let Some(response) = record.response {
                    self.runs.insert(at.lane, response);
                }
            }
            _ => {
                self.runs.remove(&at.lane);
            }
        }
        log.push(record);
    }

    fn record(at: &Place<'_, '_>, found: &Emission<'_>, kind: Kind, payload: &Paths) -> Record {
        let mut record = Self::plain_record(at, kind, found.item);
        if !payload.is_empty() {
            let values = payload.all(found.item, at.record);
            let weights = values.into_iter().map(text_weight);
            let sum = weights.fold(Weight::default(), |sum, one| Weight {
                bytes: sum.bytes.saturating_add(one.bytes),
                tokens: sum.tokens.saturating_add(one.tokens),
            });
            (record.text, record.tokens) = (sum.bytes, sum.tokens.max(1));
        }
        record
    }

    fn plain_record(at: &Place<'_, '_>, kind: Kind, block: Raw<'_>) -> Record {
        Record { time: at.time, lane: at.lane, ..at.line.record(kind, block) }
    }
}

/// A whole number; also one in quotes, as OTLP writes them.
fn number(value: Raw<'_>) -> Option<u64> {
    value.u64().or_else(|| value.str()?.parse().ok())
}

/// RFC 3339, seconds, milliseconds or nanoseconds, told apart by size.
fn time(value: Option<Raw<'_>>) -> Millis {
    let Some(value) = value else { return Millis::NONE };
    if let Some(text) = value.str().filter(|text| text.parse::<u64>().is_err()) {
        return parse_rfc3339(&text);
    }
    let number = super::pointer::plain(value).parse::<f64>().ok().filter(|number| *number > 0.0);
    #[expect(clippy::cast_possible_truncation, reason = "far below 2^53, or saturated")]
    let millis = number.map(|number| match number {
        seconds if seconds < 1e11 => (seconds * 1e3) as i64,
        millis if millis < 1e14 => millis as i64,
        micros if micros < 1e17 => (micros / 1e3) as i64,
        nanos => (nanos / 1e6) as i64,
    });
    millis.map_or(Millis::NONE, Millis)
}
