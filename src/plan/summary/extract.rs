//! The built-in extract: what a resuming agent needs to know, taken from the span without a model. Whatever it takes
//! from the transcript stands in quotation.

use std::fmt::Write as _;

use super::{
    Material, Table,
    claims::Claims,
    ledger::prose_of,
    quote::{block, head, line},
    rows::{Effect, EffectState},
    words::sentences,
};
use crate::{
    format::estimate_tokens,
    ledger::identify::IdentifierKind,
    model::{Flags, Kind},
};

/// Characters of the whole extract.
const LIMIT: usize = 6_000;
/// An extract of fewer tokens is never too large for its span.
pub(super) const SMALL: u64 = 60;
/// Bytes of one text in which decisions are looked for, and how many are told.
const SCAN: usize = 64 * 1024;
const DECISIONS: usize = 10;
/// Sentences that are held against the table before the search for decisions is given up.
const CANDIDATES: usize = 300;
/// Requests between the first and the newest that are told, one line each.
const BETWEEN: usize = 12;
/// Words by which an agent states what it will do and why.
const DECIDES: [&str; 14] = [
    "i'll ",
    "i’ll ",
    "i will ",
    "we'll ",
    "i'm going to ",
    "decided",
    "because",
    "instead of",
    "rather than",
    "going with",
    "i chose",
    "plan:",
    "decision:",
    "on purpose",
];

/// The built-in extract of the span: deterministic, no model.
pub fn extract(material: &Material<'_>, table: &Table) -> String {
    let found = Found::of(material, table);
    let room = material.tokens().max(SMALL);
    let mut limit = LIMIT;
    while limit >= 200 {
        let text = found.written(table, limit);
        if u64::from(estimate_tokens(text.as_bytes())) < room {
            return text;
        }
        limit /= 2;
    }
    let records = material.to.saturating_sub(material.from);
    format!("{records} records were cut; the ledger tells what they did.")
}

/// What was found in the span, raw.
#[derive(Default)]
struct Found {
    /// What a person said, in order.
    requests: Vec<String>,
    /// Requests that were not kept because there are very many.
    unheard: usize,
    /// Sentences in which the agent states a decision, newest first.
    decisions: Vec<String>,
    /// The last todo list: state and text.
    todo: Vec<(&'static str, String)>,
    /// Tool and text of the error that the span ends with.
    error: Option<(String, String)>,
    /// Words of a former summary.
    earlier: Option<String>,
}

impl Found {
    fn of(material: &Material<'_>, table: &Table) -> Self {
        let mut found = Self::default();
        found.requests(material);
        found.decisions(material, table);
        let list = table.identifiers.items.iter().filter(|item| item.kind == IdentifierKind::Todo);
        found.todo = list.map(|item| (item.state.name(), item.value.clone())).collect();
        found.error(material);
        let summary = (material.from..material.to)
            .rev()
            .find(|at| material.session.ledger().kind(*at) == Some(Kind::Summary))
            .and_then(|at| material.body(at));
        found.earlier = summary.map(|body| unquoted(prose_of(&body.text))).filter(|text| !text.trim().is_empty());
        found
    }

    fn requests(&mut self, material: &Material<'_>) {
        let session = material.session;
        let said: Vec<usize> = (material.from..material.to).filter(|at| is_said(material, *at)).collect();
        let newest = said.len().saturating_sub(BETWEEN + 1).max(1);
        for (n, at) in said.iter().enumerate() {
            if n > 0 && n < newest {
                self.unheard += 1;
                continue;
            }
            let Some(body) = material.body(*at) else { continue };
            let answer = session.ledger().kind(*at) == Some(Kind::Result);
            let lead = if answer { "(answer to a question) " } else { "" };
            self.requests.push(format!("{lead}{}", head(&body.text, SCAN)));
        }
    }

    fn decisions(&mut self, material: &Material<'_>, table: &Table) {
        let claims = Claims::of(table);
        let mut candidates = 0;
        for at in (material.from..material.to).rev() {
            let Some(record) = material.session.record(at) else { continue };
            if record.kind != Kind::Assistant || record.flags.has(Flags::LOCAL) {
                continue;
            }
            let Some(body) = material.body(at) else { continue };
            let text = head(&body.text, SCAN);
            let stated: Vec<&str> = sentences(text).filter(|sentence| decides(sentence)).collect();
            candidates += stated.len();
            for sentence in stated.into_iter().rev().take(CANDIDATES) {
                // What the ledger contradicts must not be handed on, not even as a quotation.
                if claims.contradicted(sentence).is_none() && claims.regressed(sentence).is_none() {
                    self.decisions.push(line(sentence, 240));
                }
            }
            if self.decisions.len() >= DECISIONS || candidates >= CANDIDATES {
                self.decisions.truncate(DECISIONS);
                return;
            }
        }
    }

    /// The error that the newest resolution of the span is.
    fn error(&mut self, material: &Material<'_>) {
        let session = material.session;
        let newest =
            (material.from..material.to).rev().find(|at| session.ledger().kind(*at).is_some_and(Kind::is_resolution));
        let Some(at) = newest.filter(|at| session.ledger().kind(*at) == Some(Kind::Error)) else { return };
        let call = session.ledger().partner(at).and_then(|call| session.record(call));
        let tool = session.name(call.and_then(|call| call.tool)).to_string();
        if let Some(body) = material.body(at) {
            let text = body.text.get(body.lead..).unwrap_or(&body.text);
            self.error = Some((tool, head(text, SCAN).to_string()));
        }
    }

    /// Everything in about `limit` characters, the most important first.
    fn written(&self, table: &Table, limit: usize) -> String {
        let mut out = String::new();
        self.write_requests(&mut out, limit);
        if let Some(earlier) = &self.earlier {
            section(&mut out, "From the earlier summary, quoted:", [block(earlier, limit / 5)], limit / 4);
        }
        write_effects(&mut out, table, limit * 3 / 10);
        section(&mut out, "Open, not done:", owed(table), limit / 6);
        let error =
            self.error.iter().map(|(tool, text)| format!("{}{}", named(&line(tool, 60)), block(text, limit / 12)));
        section(&mut out, "The last result was an error, quoted:", error, limit / 8);
        let todo = self.todo.iter().map(|(state, text)| format!("- {state}: {}\n", quoted(text, 160)));
        section(&mut out, "Last todo list:", todo, limit / 6);
        let decisions = self.decisions.iter().map(|sentence| format!("- {}\n", quoted(sentence, 240)));
        section(&mut out, "Stated by the agent, newest first:", decisions, limit / 6);
        if out.is_empty() {
            return String::from("Nobody asked anything in the records that were cut, and they changed nothing.");
        }
        out.trim_end().to_string()
    }

    fn write_requests(&self, out: &mut String, limit: usize) {
        let Some((first, rest)) = self.requests.split_first() else { return };
        section(out, "First request of the person, quoted:", [block(first, limit / 6)], limit / 5);
        let Some((newest, between)) = rest.split_last() else { return };
        section(out, "Newest request of the person, quoted:", [block(newest, limit / 4)], limit * 3 / 10);
        let lines = between.iter().rev().map(|text| format!("- {}\n", quoted(text, 120)));
        section(out, "Requests between them, newest first:", lines, limit / 8);
        if self.unheard > 0 {
            let _ = write!(out, "({} older requests after the first one are left out.)\n\n", self.unheard);
        }
    }
}

/// A person said it: a prompt, or the answer to a question of the agent.
fn is_said(material: &Material<'_>, at: usize) -> bool {
    let session = material.session;
    let Some(record) = session.record(at) else { return false };
    let asks = |call: usize| session.record(call).is_some_and(|record| record.flags.has(Flags::ASKS_PERSON));
    let answers = record.kind == Kind::Result && session.ledger().partner(at).is_some_and(asks);
    (record.is_prompt() && !record.flags.has(Flags::META)) || answers
}

fn decides(sentence: &str) -> bool {
    if sentence.len() < 12 || sentence.len() > 600 {
        return false;
    }
    let lower = format!("{} ", sentence.to_lowercase());
    DECIDES.iter().any(|word| lower.contains(word))
}

/// Without the quotation marks that a former extract put before its lines.
fn unquoted(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches("> ")).collect();
    lines.join("\n")
}

fn quoted(text: &str, chars: usize) -> String {
    format!("“{}”", line(text, chars).replace(['“', '”'], "\""))
}

fn named(tool: &str) -> String {
    if tool.is_empty() { String::new() } else { format!("> ({tool})\n") }
}

/// Appends `heading` and as many of `items` as fit into `chars`; the others are counted.
fn section(out: &mut String, heading: &str, items: impl IntoIterator<Item = String>, chars: usize) {
    let (mut used, mut left_out, mut text) = (0, 0usize, String::new());
    for item in items {
        let more = item.chars().count();
        if left_out > 0 || (used > 0 && used + more > chars) {
            left_out += 1;
            continue;
        }
        used += more;
        text.push_str(&item);
    }
    if text.is_empty() {
        return;
    }
    out.push_str(heading);
    out.push('\n');
    out.push_str(&text);
    if left_out > 0 {
        let _ = writeln!(out, "- … and {left_out} more");
    }
    out.push('\n');
}

fn owed(table: &Table) -> impl Iterator<Item = String> + '_ {
    let open = table.open.iter().map(|row| {
        let target = if row.target.is_empty() { quoted(&row.id, 80) } else { quoted(&row.target, 120) };
        format!("- open: {} {} {target}\n", super::rows::kind_word(row.kind), row.tool)
    });
    let given_up = table.given_up.iter().map(|row| {
        let target = if row.target.is_empty() { quoted(&row.id, 80) } else { quoted(&row.target, 120) };
        format!("- outcome unknown, given up by the operator: {} {target}\n", row.tool)
    });
    let lives_on = table.lives_on.iter().map(|row| format!("- running: {} {}\n", row.kind.name(), quoted(&row.id, 80)));
    open.chain(given_up).chain(lives_on)
}

/// Side effects by state and tool, the newest first.
fn write_effects(out: &mut String, table: &Table, chars: usize) {
    let mut groups: Vec<(EffectState, &str, Vec<&Effect>)> = Vec::new();
    for row in table.effects.iter().rev() {
        match groups.iter_mut().find(|(state, tool, _)| *state == row.state && *tool == row.tool) {
            Some((.., rows)) => rows.push(row),
            None => groups.push((row.state, &row.tool, vec![row])),
        }
    }
    groups.sort_by_key(|(state, ..)| *state != EffectState::Done);
    let each = chars / groups.len().clamp(1, 6);
    let lines: Vec<String> = groups
        .iter()
        .map(|(state, tool, rows)| {
            let mut line = format!("- {}: {tool}", state.sentence());
            let mut told = 0;
            for row in rows {
                let times = if row.count > 1 { format!(" ×{}", row.count) } else { String::new() };
                let next = format!(" {}{times},", quoted(&row.target, 120));
                if told > 0 && line.chars().count() + next.chars().count() > each.max(80) {
                    break;
                }
                told += 1;
                line.push_str(&next);
            }
            let left_out: usize = rows.iter().skip(told).map(|row| row.count).sum();
            let line = line.trim_end_matches(',');
            if left_out > 0 { format!("{line} and {left_out} more\n") } else { format!("{line}\n") }
        })
        .collect();
    let further: usize = table.rest.iter().map(|row| row.count).sum();
    let further = (further > 0).then(|| format!("- {further} further side effects are only counted in the ledger\n"));
    section(out, "What the calls did, newest first:", lines.into_iter().chain(further), chars);
}
