//! Database transactions: BEGIN without COMMIT or ROLLBACK.

use super::{
    IdentifierKind, IdentifierState,
    call::{Call, Outcome, SCAN, head},
    found::Found,
    shell::Shell,
};

/// Arguments that hold SQL.
const KEYS: [&str; 5] = ["sql", "query", "statement", "statements", "sql_query"];
/// Arguments that name the connection.
const CONNECTIONS: [&str; 8] =
    ["connection", "connection_id", "session_id", "database", "db", "dsn", "chars_session", "project_id"];

/// What a script does to the transaction of its connection, at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Begun,
    Ended,
}

/// Identifiers of a tool that is sent SQL over a connection that lives on, or of input that is typed into a session.
pub(super) fn sql(call: &Call<'_>, found: &mut Found) {
    let typed = call.tool_has(&["stdin", "send_keys", "terminal_input"]);
    let text = if typed { call.first_of(&["chars", "input", "keys", "text"]) } else { call.first_of(&KEYS) };
    let Some(text) = text else { return };
    let Some(effect) = effect(&text) else { return };
    let connection = call.first_of(&CONNECTIONS);
    // By its connection alone: a runtime that records transactions itself names them so too.
    let name = connection.map_or_else(|| "sql transaction".to_string(), std::borrow::Cow::into_owned);
    let known = found.state(IdentifierKind::Transaction, &name).is_some();
    let state = match (effect, call.outcome) {
        (Effect::Begun, Outcome::Done) => IdentifierState::Open,
        (Effect::Ended, Outcome::Done) if known => IdentifierState::Closed,
        // What failed or is not answered may have begun, or may have left an older one open.
        (Effect::Begun, Outcome::Unknown) => IdentifierState::Unknown,
        (Effect::Ended, Outcome::Unknown | Outcome::Failed) if known => IdentifierState::Unknown,
        _ => return,
    };
    found.add(IdentifierKind::Transaction, &name, call.at, state);
}

/// SQL that a client runs and exits: its connection ends with it, so only an unanswered one can be open.
pub(super) fn one_shot(text: &str, shell: &mut Shell<'_, '_>) {
    if shell.outcome == Outcome::Unknown && effect(text) == Some(Effect::Begun) {
        shell.found.add(IdentifierKind::Transaction, "sql transaction", shell.call.at, IdentifierState::Unknown);
    }
}

/// What `text` leaves of a transaction.
fn effect(text: &str) -> Option<Effect> {
    let mut effect = None;
    statements(head(text, SCAN), |words| {
        let word = |n: usize| words.get(n).map_or("", String::as_str);
        match word(0) {
            "BEGIN" if BEGINNINGS.contains(&word(1)) => effect = Some(Effect::Begun),
            "START" if word(1) == "TRANSACTION" => effect = Some(Effect::Begun),
            // To a savepoint is back inside the transaction.
            "ROLLBACK" | "ABORT" if word(1) != "TO" && word(2) != "TO" => effect = Some(Effect::Ended),
            "COMMIT" => effect = Some(Effect::Ended),
            "END" if matches!(word(1), "" | "TRANSACTION" | "WORK") => effect = Some(Effect::Ended),
            _ => {}
        }
    });
    effect
}

/// What may follow a BEGIN that starts a transaction; anything else starts a block of code.
const BEGINNINGS: [&str; 10] =
    ["", "TRAN", "TRANSACTION", "WORK", "ISOLATION", "READ", "DEFERRED", "IMMEDIATE", "EXCLUSIVE", "CONCURRENT"];

/// Calls `each` with the first three words, in capitals, of each statement: without comments, strings and bodies.
fn statements(text: &str, mut each: impl FnMut(&[String])) {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = skipped(rest) {
            rest = behind;
            end_word(&mut word, &mut words);
            // A string stands where a word may stand: `BEGIN 'x'` is no beginning.
            if words.len() < 3 && !words.is_empty() {
                words.push("'".to_string());
            }
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        if c.is_alphanumeric() || c == '_' {
            if word.len() < 32 && words.len() < 3 {
                word.extend(c.to_uppercase());
            }
            continue;
        }
        end_word(&mut word, &mut words);
        if c == ';' {
            each(&words);
            words.clear();
        }
    }
    end_word(&mut word, &mut words);
    each(&words);
}

fn end_word(word: &mut String, words: &mut Vec<String>) {
    if !word.is_empty() && words.len() < 3 {
        words.push(std::mem::take(word));
    }
    word.clear();
}

/// What follows the comment, string or quoted body at the start of `text`; `None` if none starts there.
fn skipped(text: &str) -> Option<&str> {
    let past =
        |inside: &'_ str, end: &str, add: usize| inside.find(end).map_or(inside.len(), |at| at + end.len()) + add;
    let end = if text.starts_with("--") {
        past(text.get(2..)?, "\n", 2)
    } else if text.starts_with("/*") {
        past(text.get(2..)?, "*/", 2)
    } else if text.starts_with('\'') {
        past(text.get(1..)?, "'", 1)
    } else if text.starts_with('"') {
        past(text.get(1..)?, "\"", 1)
    } else if text.starts_with('$') {
        let tag = text.get(1..)?.find('$').map(|at| at + 2).filter(|at| *at <= 64)?;
        let mark = text.get(..tag)?;
        let is_tag = mark.chars().all(|c| c == '$' || c == '_' || c.is_alphanumeric());
        past(text.get(tag..).filter(|_| is_tag)?, mark, tag)
    } else {
        return None;
    };
    Some(text.get(end..).unwrap_or_default())
}
