//! The scenario notation: one symbol is one record. For tests, documentation and thought experiments.
//!
//! `U` human text, `A` assistant text, `H` thinking, `Cn` call with id n, `Rn` result, `En` error, `Xn` abandoned,
//! `!Cn` a call in a response that the runtime itself discarded, `C1+C2` one response with two calls, `r7:C1` an
//! explicit response id, `(R1,U)` one physical message, `S` summary, `N` notice, `Pn`/`Qn` approval asked/answered,
//! `B+n`/`B-n` transaction begun/ended, `Y+n`/`Y-n` retry counter above zero/settled, `G+n`/`G-n` background task
//! started/ended. `[` starts the span (default 0), `|` ends it: that is the cut.

use crate::model::{Context, Event, Flags, Kind, Log, Record, Slot, TaskKind};

/// A log in the notation with its span.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The records, all in the main lane.
    pub log: Log,
    /// All of them, in order.
    pub context: Context,
    /// Start of the span.
    pub start: usize,
    /// End of the span: the wanted cut.
    pub cut: usize,
}

/// Reads `text`. `None` if a symbol is unknown.
///
/// ```
/// let s = cutline::format::notation::parse("U C1 R1 A | U").unwrap();
/// assert_eq!((s.context.len(), s.cut), (5, 4));
/// ```
pub fn parse(text: &str) -> Option<Scenario> {
    let mut reader = Reader { log: Log::default(), responses: 0, messages: 0 };
    reader.log.lane("main");
    let (mut start, mut cut) = (0, None);
    for token in text.split_whitespace() {
        match token {
            "[" => start = reader.log.records.len(),
            "|" => cut = Some(reader.log.records.len()),
            _ => reader.token(token)?,
        }
    }
    let log = reader.log;
    let mut context = Context::default();
    (0..log.next_id()).for_each(|id| context.push(Slot::record(id)));
    let cut = cut.unwrap_or(log.records.len());
    Some(Scenario { log, context, start, cut })
}

struct Reader {
    log: Log,
    responses: u32,
    messages: u32,
}

impl Reader {
    fn token(&mut self, token: &str) -> Option<()> {
        let Some(group) = token.strip_prefix('(') else {
            return self.symbol(token, None);
        };
        self.messages += 1;
        let message = format!("m{}", self.messages);
        group.trim_end_matches(')').split(',').try_for_each(|part| self.symbol(part, Some(&message)))
    }

    fn symbol(&mut self, symbol: &str, message: Option<&str>) -> Option<()> {
        let (explicit, body) = match symbol.split_once(':') {
            Some((id, rest)) if id.starts_with('r') => (Some(id), rest),
            _ => (None, symbol),
        };
        if !body.starts_with(['H', 'A', 'C', '!']) {
            return self.other(body, message);
        }
        let response = explicit.map_or_else(
            || {
                self.responses += 1;
                format!("#{}", self.responses)
            },
            str::to_string,
        );
        body.split(['+', '.']).try_for_each(|part| {
            let void = part.starts_with('!');
            let part = part.trim_start_matches('!');
            let kind = match part.chars().next()? {
                'C' => Kind::Call,
                'H' => Kind::Thinking,
                'A' => Kind::Assistant,
                _ => return None,
            };
            let mut record = self.record(kind, part.get(1..).filter(|_| kind == Kind::Call), message);
            record.response = Some(self.log.syms.intern(&response));
            record.flags = record.flags.with_if(Flags::VOID, void);
            record.tool = (kind == Kind::Call).then(|| self.log.syms.intern("tool"));
            self.log.push(record);
            Some(())
        })
    }

    fn other(&mut self, body: &str, message: Option<&str>) -> Option<()> {
        let (head, id) =
            if body.starts_with(['B', 'Y', 'G']) { body.split_at_checked(2)? } else { body.split_at_checked(1)? };
        let kind = match head {
            "U" => Kind::User,
            "S" => Kind::Summary,
            "N" => Kind::Notice,
            "R" => Kind::Result,
            "E" => Kind::Error,
            "X" => Kind::Abandoned,
            "P" => Kind::ApprovalRequest,
            "Q" => Kind::Approval,
            "B+" => Kind::TransactionBegin,
            "B-" => Kind::TransactionEnd,
            "Y+" => Kind::Retry,
            "Y-" => Kind::RetrySettled,
            "G+" => Kind::TaskStarted,
            "G-" => Kind::TaskEnded,
            _ => return None,
        };
        let with_id = !matches!(kind, Kind::User | Kind::Summary | Kind::Notice);
        let mut record = self.record(kind, with_id.then_some(id), message);
        record.flags = record.flags.with_if(Flags::HUMAN, kind == Kind::User);
        let record_id = record.id;
        self.log.push(record);
        match (kind, record_id) {
            (Kind::TaskStarted, Some(id)) => {
                self.log.event(Event::TaskStarted { id, kind: TaskKind::Task, call: None });
            }
            (Kind::TaskEnded, Some(id)) => self.log.event(Event::TaskEnded { id, delivered: true }),
            _ => {}
        }
        Some(())
    }

    fn record(&mut self, kind: Kind, id: Option<&str>, message: Option<&str>) -> Record {
        let line = self.log.next_id() + 1;
        Record {
            id: id.map(|id| self.log.syms.intern(id)),
            message: message.map(|m| self.log.syms.intern(m)),
            line,
            ..Record::new(kind)
        }
    }
}
