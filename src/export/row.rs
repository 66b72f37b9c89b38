use super::rails::{LANES, Rail, Rails};
use crate::{
    ledger::{CallState, identify},
    model::{Body, Flags, Kind, Millis, age},
    plan::{Payload, Session},
};

/// What a row is about, as one sign before its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// A prompt.
    User,
    /// Text in the user's name that no person typed, injected context.
    Injected,
    /// Text of the model.
    Text,
    /// Reasoning.
    Thinking,
    /// A call.
    Call,
    /// Success.
    Ok,
    /// Failure.
    Failed,
    /// Given up, cut off: outcome unknown.
    Unknown,
    /// Launched, its end comes later.
    Launched,
    /// A summary.
    Summary,
    /// Approval, transaction, retry.
    Mark,
    /// Not understood.
    Opaque,
}

/// What stands before a row's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// Narrow, old characters of Unicode.
    Unicode,
    /// ASCII only.
    Ascii,
}

impl Symbols {
    /// The sign of a row.
    pub fn sign(self, sign: Sign) -> &'static str {
        let (unicode, ascii) = match sign {
            Sign::User => ("¶", ">"),
            Sign::Injected => ("¦", ":"),
            Sign::Text => ("·", "."),
            Sign::Thinking => ("…", "'"),
            Sign::Call => ("▸", ">"),
            Sign::Ok => ("✓", "ok"),
            Sign::Failed => ("✗", "!!"),
            Sign::Unknown => ("×", "xx"),
            Sign::Launched => ("~", "~"),
            Sign::Summary => ("∑", "S"),
            Sign::Mark => ("◇", "="),
            Sign::Opaque => ("?", "?"),
        };
        if self == Self::Unicode { unicode } else { ascii }
    }

    /// A rail.
    pub fn rail(self, rail: Rail) -> &'static str {
        let (unicode, ascii) = match rail {
            Rail::Empty => (" ", " "),
            Rail::Start { open: false } => ("┌", "+"),
            Rail::Start { open: true } => ("┏", "#"),
            Rail::Through { open: false } => ("│", "|"),
            Rail::Through { open: true } => ("┃", "#"),
            Rail::End => ("└", "+"),
        };
        if self == Self::Unicode { unicode } else { ascii }
    }

    /// The mark of an open obligation.
    pub fn open(self) -> &'static str {
        if self == Self::Unicode { "◆" } else { "*" }
    }

    /// The mark of a legal cut.
    pub fn cut(self) -> &'static str {
        if self == Self::Unicode { "✂" } else { "X" }
    }

    /// A horizontal rule.
    pub fn rule(self) -> &'static str {
        if self == Self::Unicode { "─" } else { "-" }
    }
}

/// One record as a row: facts, not yet cut to a width. `head` is raw text of the transcript: show it safely.
#[derive(Clone, Debug)]
pub struct Row {
    /// Position.
    pub at: usize,
    /// When.
    pub time: Millis,
    /// Something opened here is still owed.
    pub open: bool,
    /// It is sent to the model; false for what only stands in the conversation.
    pub sent: bool,
    /// Link lanes.
    pub rails: [Rail; LANES],
    /// What it is about.
    pub sign: Sign,
    /// Tool and target, or the first line of text. Raw.
    pub head: String,
    /// Raw name of the tool, if `head` begins with it.
    pub tool: String,
    /// State in words: `RUN 4m12s`, `0.4s`, `DENIED`.
    pub state: String,
    /// Tokens.
    pub tokens: u64,
}

/// The words of a record, from its payload. Raw text of the transcript.
pub fn head_of(session: &Session, payload: &dyn Payload, position: usize) -> Option<String> {
    let record = session.record(position)?;
    if record.flags.has(Flags::SYNTHETIC) {
        return Some("placeholder, in memory only".to_string());
    }
    let body = session.body(position, payload).unwrap_or_default();
    let mut words = head(record.kind, &body);
    if record.kind == Kind::Call
        && let Some(cwd) = session.facts().cwd.filter(|cwd| cwd.len() > 1)
    {
        // Paths inside the working folder are read without it.
        words = words.replace(&format!("{}/", cwd.trim_end_matches('/')), "");
    }
    Some(if words.is_empty() { session.name(record.tool).to_string() } else { words })
}

/// The row of the record at `position` with its words, as [`head_of`] gave them. Reads no payload.
pub fn row(session: &Session, rails: &Rails, position: usize, head: String, now: Millis) -> Option<Row> {
    let record = session.record(position)?;
    let ledger = session.ledger();
    let launched = ledger.carried().at(position).is_some();
    let open = ledger.is_pending(position) || launched || ledger.opens_bracket(position);
    Some(Row {
        at: position,
        time: record.time,
        open,
        sent: session.context().slots().get(position).is_none_or(|slot| slot.sent),
        rails: rails.at(position),
        sign: sign(record.kind, record.flags, launched),
        head,
        tool: if record.kind == Kind::Call { session.name(record.tool).to_string() } else { String::new() },
        state: state(session, position, now),
        tokens: session.budget().map_or(0, |budget| budget.series.at(position)),
    })
}

fn sign(kind: Kind, flags: Flags, launched: bool) -> Sign {
    match kind {
        Kind::User if flags.has(Flags::HUMAN) => Sign::User,
        Kind::User | Kind::Notice => Sign::Injected,
        Kind::Assistant => Sign::Text,
        Kind::Thinking => Sign::Thinking,
        Kind::Call => Sign::Call,
        Kind::Abandoned => Sign::Unknown,
        Kind::Result | Kind::Error if flags.has(Flags::UNKNOWN_OUTCOME) => Sign::Unknown,
        Kind::Result | Kind::TaskStarted if launched => Sign::Launched,
        Kind::Result => Sign::Ok,
        Kind::Error => Sign::Failed,
        Kind::Summary => Sign::Summary,
        Kind::Opaque => Sign::Opaque,
        Kind::ApprovalRequest
        | Kind::Approval
        | Kind::TransactionBegin
        | Kind::TransactionEnd
        | Kind::Retry
        | Kind::RetrySettled
        | Kind::TaskStarted
        | Kind::TaskEnded => Sign::Mark,
    }
}

/// The words of a row. Several lines of output become a count and the line that says most.
fn head(kind: Kind, body: &Body) -> String {
    match kind {
        Kind::Call => {
            let tool = body.tool.as_deref().unwrap_or_default();
            let target = identify::target(body).unwrap_or_default();
            format!("{tool} {target}").trim().to_string()
        }
        Kind::Result | Kind::Error | Kind::Abandoned => answer(body, kind == Kind::Error),
        Kind::TransactionBegin => labelled("begin", body),
        Kind::TransactionEnd => labelled("end", body),
        Kind::Retry => labelled("retry", body),
        Kind::RetrySettled => labelled("retry settled", body),
        Kind::TaskStarted => labelled("started", body),
        Kind::TaskEnded => labelled("ended", body),
        Kind::ApprovalRequest => labelled("approval asked", body),
        Kind::Approval => labelled("approval", body),
        // A line of the runtime's own that has no text: its type says more than its JSON.
        Kind::Notice if body.text.starts_with('{') => {
            let kind = body.facts.iter().find(|(name, _)| name == "type");
            kind.map_or_else(|| first_line(&body.text).to_string(), |(_, kind)| format!("({kind})"))
        }
        _ => first_line(&body.text).to_string(),
    }
}

fn labelled(label: &str, body: &Body) -> String {
    let facts: Vec<String> = body.facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("{label} {} {}", first_line(&body.text), facts.join(" ")).trim().to_string()
}

fn answer(body: &Body, failed: bool) -> String {
    let code = body.facts.iter().find(|(name, value)| name == "exit code" && value != "0");
    let own = body.text.get(body.lead..).unwrap_or(&body.text);
    let lines = own.lines().filter(|line| !line.trim().is_empty()).count();
    let first = first_line(own);
    match (code, lines) {
        (Some((_, code)), _) => format!("exit {code} {first}"),
        (None, 0) => "(no output)".to_string(),
        (None, 1) => first.to_string(),
        (None, n) if failed => format!("{first} ({n} lines)"),
        (None, n) => format!("{n} lines: {first}"),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

/// The state in words, for the right edge.
fn state(session: &Session, position: usize, now: Millis) -> String {
    let (ledger, Some(record)) = (session.ledger(), session.record(position)) else { return String::new() };
    let since = |from: Millis| from.age_s(now).map_or_else(String::new, |s| format!(" {}", age(s)));
    if record.kind == Kind::Call {
        return match ledger.call_state(position) {
            Some(CallState::InFlight) => format!("RUN{}", since(record.time)),
            Some(CallState::Waiting) => format!("ASKS{}", since(record.time)),
            Some(CallState::Lost) => format!("LOST{}", since(record.time)),
            Some(CallState::Deferred) => "DEFERRED".to_string(),
            Some(CallState::Void) => "VOID".to_string(),
            _ => String::new(),
        };
    }
    if ledger.opens_bracket(position) || ledger.is_pending(position) {
        return format!("OPEN{}", since(record.time));
    }
    if let Some(task) = ledger.carried().at(position) {
        let word = if task.undelivered { "ENDED, UNTOLD" } else { "LIVES ON" };
        return format!("{word}{}", since(record.time));
    }
    if !record.kind.is_resolution() {
        return String::new();
    }
    let Some(call) = ledger.partner(position) else {
        let repeated = ledger.duplicate_of(position).is_some();
        let word = match () {
            () if record.flags.has(Flags::PROSPECTIVE) => "WOULD BE SENT",
            () if repeated => "DUPLICATE",
            () => "NO CALL",
        };
        return word.to_string();
    };
    resolution_state(session, call, position)
}

fn resolution_state(session: &Session, call: usize, position: usize) -> String {
    let unread = session.ledger().is_unread(position);
    let flags = session.record(position).map_or(Flags::NONE, |record| record.flags);
    let word = match session.ledger().call_state(call) {
        Some(CallState::Interrupted) => "INTERRUPTED",
        Some(CallState::LateResult) => "LATE",
        Some(CallState::ImplicitlyAbandoned) => "IN MEMORY ONLY",
        Some(CallState::Abandoned) => "ABANDONED",
        _ if flags.has(Flags::DENIED) => "DENIED",
        _ if unread => "UNREAD",
        _ => "",
    };
    if !word.is_empty() {
        return word.to_string();
    }
    let times = session.record(call).zip(session.record(position)).map(|(a, b)| (a.time, b.time));
    times.and_then(|(from, to)| duration(from, to)).unwrap_or_default()
}

/// How long a call took: `0.4s`, `2m54s`.
fn duration(from: Millis, to: Millis) -> Option<String> {
    let ms = to.known()? - from.known()?;
    match ms {
        i64::MIN..0 => None,
        0..60_000 => Some(format!("{}.{}s", ms / 1000, ms % 1000 / 100)),
        _ => Some(age(ms / 1000)),
    }
}
