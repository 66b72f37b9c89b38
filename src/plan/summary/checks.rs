//! Checks of a summary: a. shape, c. identifiers, d. contradictions, e. regressions. Check b, the echo of states,
//! belongs to the exchange with a summariser.

use std::sync::LazyLock;

use regex::Regex;
use rustc_hash::FxHashSet;

use super::{
    Author, Material, Prose, Table,
    claims::Claims,
    compose,
    extract::SMALL,
    ledger::forges,
    quote,
    words::{PROSE, sentences},
};
use crate::{
    format::estimate_tokens,
    ledger::identify::{Identifier, IdentifierKind, former},
    plan::{Check, Outcome},
};

/// What a model or its server says instead of a summary.
const ERRORS: [&str; 16] = [
    "prompt is too long",
    "api error",
    "i'm sorry, i can't",
    "i’m sorry, i can’t",
    "i'm sorry, but i can",
    "i cannot assist",
    "i can't assist",
    "i can't help with",
    "rate limit",
    "rate_limit_error",
    "overloaded_error",
    "internal server error",
    "context_length_exceeded",
    "maximum context length",
    "invalid api key",
    "credit balance is too low",
];
/// A text that long only tells of an error; it is none.
const ERROR_LENGTH: usize = 600;
/// Characters of a sentence that a check quotes, and how many it quotes.
const QUOTED: usize = 160;
const TOLD: usize = 3;

static CALLS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?i)"type"\s*:\s*"(?:tool_use|function_call|tool_call|custom_tool_call|local_shell_call)""#,
        r#"|"tool_calls"\s*:\s*\[|"name"\s*:\s*"[^"]{1,80}"\s*,\s*"(?:arguments|input|parameters)"\s*:"#,
        r"|<\s*/?\s*(?:tool_use|tool_calls?|function_calls?|invoke|antml:\w+)\b|<\|tool_calls?",
        r"|^\s*\*\*\* Begin Patch",
    ))
    .ok()
});

/// Checks a, c, d and e of `prose`. Text in them is safe for one line but may be the transcript's own words.
pub fn checks(material: &Material<'_>, prose: &Prose, table: &Table) -> Vec<Check> {
    let failed = shape(material, prose);
    let tokens = estimate_tokens(prose.text.as_bytes());
    let told = format!("The prose has about {tokens} tokens in the place of {}.", material.tokens());
    vec![
        Check::of("summary-shape", failed, told),
        identifiers(prose, table),
        contradicts(prose, table),
        regresses(prose, table),
    ]
}

/// What is wrong with `text` as prose of somebody who is not code: a sentence.
pub(super) fn misshapen(text: &str) -> Option<String> {
    unfit(text).or_else(|| pretended(text))
}

/// What no text may hold, an extract neither.
fn unfit(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("The prose is empty; write what was done, or take the built-in extract.".to_string());
    }
    if let Some(tag) = quote::boundary(text) {
        let tag = quote::label(tag, 60);
        return Some(format!("The prose holds a tag by which speakers are told apart ({tag}); take it out."));
    }
    // A line may end in CR LF.
    let hidden = text.lines().flat_map(str::chars).find(|c| quote::is_hidden(*c))?;
    let code = u32::from(hidden);
    Some(format!("The prose holds the invisible character U+{code:04X}; take it out."))
}

/// What an extract may quote, but nobody may write.
fn pretended(text: &str) -> Option<String> {
    if let Some(call) = CALLS.as_ref().and_then(|regex| regex.find(text)) {
        let call = quote::label(call.as_str(), 60);
        return Some(format!("The prose holds a tool call ({call}); a summary may only tell of calls."));
    }
    if text.lines().any(forges) {
        return Some("The prose imitates a heading of the ledger, which only code may write; take it out.".to_string());
    }
    let lower = text.trim().to_lowercase().replace("\r\n", "\n");
    if ["\n\nhuman:", "\n\nassistant:", "\n\nsystem:"].iter().any(|mark| lower.contains(mark)) {
        return Some("The prose holds the mark of a speaker's turn (`Human:`); take it out.".to_string());
    }
    let is = |error: &&&str| lower.starts_with(**error) || (lower.len() < ERROR_LENGTH && lower.contains(**error));
    let error = ERRORS.iter().find(is);
    error.map(|error| format!("The prose is an error text (`{error}`), not a summary."))
}

fn shape(material: &Material<'_>, prose: &Prose) -> Option<String> {
    let (mine, span) = (u64::from(estimate_tokens(prose.text.as_bytes())), material.tokens());
    let large = || {
        let text =
            format!("The prose has about {mine} tokens, the records that it stands for only {span}; shorten it.");
        (mine >= span.max(SMALL)).then_some(text)
    };
    let words = if prose.by == Author::Extract { unfit(&prose.text) } else { misshapen(&prose.text) };
    words.or_else(large)
}

/// Every live identifier stands in the text, as a reader of it finds them.
fn identifiers(prose: &Prose, table: &Table) -> Check {
    let wanted = &table.identifiers.items;
    let text = compose(prose, table);
    let found: FxHashSet<(IdentifierKind, String)> =
        former(&text).into_iter().map(|item| (item.kind, item.value)).collect();
    let missing: Vec<&Identifier> =
        wanted.iter().filter(|item| !found.contains(&(item.kind, item.value.clone()))).collect();
    let named = Named::of(&prose.text);
    let in_prose = wanted.iter().filter(|item| named.has(&item.value)).count();
    let all = wanted.len();
    let passed = format!("{all}/{all} identifiers stand in the ledger, {in_prose} are named in the prose.");
    let failed = missing.first().map(|first| {
        let first = quote::label(&first.value, QUOTED);
        format!("{} of {all} identifiers are missing from the summary, first `{first}`.", missing.len())
    });
    let left_out = table.identifiers.left_out;
    if failed.is_none() && left_out > 0 {
        let text = format!("{passed} {left_out} were too many or too long and are left out.");
        return Check::new("summary-identifiers", Outcome::Told, text);
    }
    Check::of("summary-identifiers", failed, passed)
}

/// Words of a prose, of paths also their ends.
struct Named<'a> {
    text: &'a str,
    words: FxHashSet<&'a str>,
}

impl<'a> Named<'a> {
    fn of(text: &'a str) -> Self {
        let text = quote::head(text, 256 * 1024);
        let apart = |c: char| c.is_whitespace() || "\"'`“”()<>,;|".contains(c);
        let words = text.split(apart).map(|word| word.trim_matches(|c: char| ".:!?[]{}".contains(c)));
        let mut all: FxHashSet<&str> = FxHashSet::default();
        for word in words.filter(|word| !word.is_empty()) {
            all.insert(word);
            all.extend(word.rsplit('/').next());
        }
        Self { text, words: all }
    }

    /// `value` as a word, a path also by its last part; a value of several words as it stands.
    fn has(&self, value: &str) -> bool {
        if value.contains(char::is_whitespace) {
            return value.len() < 2_000 && self.text.len() < 32 * 1024 && self.text.contains(value);
        }
        let name = value.rsplit('/').next().unwrap_or(value);
        self.words.contains(value) || (name.len() > 3 && self.words.contains(name))
    }
}

/// The sentences that stand for the author's own word. An extract quotes, and repeats rows of the table.
fn own(prose: &Prose) -> impl Iterator<Item = &str> {
    let repeats = |sentence: &str| sentence.starts_with("> ") || sentence.starts_with("- ");
    let extract = prose.by == Author::Extract;
    let lines = quote::head(&prose.text, PROSE).lines().filter(move |line| !(extract && repeats(line)));
    lines.flat_map(sentences)
}

fn contradicts(prose: &Prose, table: &Table) -> Check {
    let claims = Claims::of(table);
    let found = own(prose).filter_map(|sentence| {
        let (label, state) = claims.contradicted(sentence)?;
        Some(format!("“{}” – but {} is {state}.", quote::line(sentence, QUOTED), quote::line(label, QUOTED)))
    });
    let (bad, _) = claims.counts();
    asks(
        "summary-contradicts",
        prose,
        found,
        format!("None of {bad} things that are open, given up or failed is told as done."),
    )
}

fn regresses(prose: &Prose, table: &Table) -> Check {
    let claims = Claims::of(table);
    let found = own(prose).filter_map(|sentence| {
        let label = claims.regressed(sentence)?;
        Some(format!("“{}” – but {} is done.", quote::line(sentence, QUOTED), quote::line(label, QUOTED)))
    });
    let (_, good) = claims.counts();
    asks("summary-regresses", prose, found, format!("None of {good} successful side effects is told as still to do."))
}

fn asks(name: &'static str, prose: &Prose, found: impl Iterator<Item = String>, passed: String) -> Check {
    let mut found: Vec<String> = found.collect();
    if prose.text.len() > PROSE {
        found.push(format!("Only the first {PROSE} bytes of the prose were read."));
    }
    if found.is_empty() {
        return Check::new(name, Outcome::Passed, passed);
    }
    let told: Vec<&str> = found.iter().take(TOLD).map(String::as_str).collect();
    let more = found.len().saturating_sub(TOLD);
    let more = if more > 0 { format!(" … and {more} more.") } else { String::new() };
    Check::new(name, Outcome::Asks, format!("{}{more} Correct the prose, or confirm it.", told.join(" ")))
}
