//! Pull and merge requests, and addresses: from `gh` and `glab`, from tools of code hosts, from tools that fetch.

use super::{
    IdentifierKind, IdentifierState,
    call::{Call, Outcome, head, scalar},
    found::Found,
    shell::Shell,
    words::Word,
};
use crate::format::json::Raw;

/// Identifiers of `gh ARGUMENTS` and `glab ARGUMENTS`.
pub(super) fn command(shell: &mut Shell<'_, '_>, words: &[Word]) {
    let [object, verb, rest @ ..] = words else { return };
    if !matches!(object.text.as_str(), "pr" | "mr") {
        return;
    }
    let state = match verb.text.as_str() {
        "create" => {
            let made = shell.outcome == Outcome::Done;
            addresses(head(shell.call.answer_text(), 16 * 1024)).filter(|_| made).for_each(|url| {
                shell.found.add(IdentifierKind::PullRequest, url, shell.call.at, IdentifierState::Open);
            });
            return;
        }
        "merge" | "close" => shell.outcome.whole(IdentifierState::Closed),
        "reopen" => shell.outcome.whole(IdentifierState::Open),
        _ => IdentifierState::Named,
    };
    let Some(named) = rest.iter().find(|word| !word.text.starts_with('-') && !word.expands) else { return };
    pull_request(&named.text, shell.call.at, state, shell.found);
}

fn pull_request(name: &str, at: usize, state: IdentifierState, found: &mut Found) {
    let digits = name.trim_start_matches('#');
    if digits.parse::<u64>().is_ok() {
        found.add(IdentifierKind::PullRequest, &format!("#{digits}"), at, state);
    } else if is_request(name) {
        found.add(IdentifierKind::PullRequest, name, at, state);
    }
}

/// Addresses of pull and merge requests in `text`.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '(' | ')'))
        .filter(|word| is_request(word))
        .take(16)
}

fn is_request(word: &str) -> bool {
    let number = word.rsplit_once("/pull/").or_else(|| word.rsplit_once("/merge_requests/")).map(|(_, number)| number);
    word.starts_with("http") && number.is_some_and(|number| number.parse::<u64>().is_ok())
}

/// Identifiers of tools that speak to code hosts, and of tools that fetch an address.
pub(super) fn hosting(call: &Call<'_>, found: &mut Found) {
    if let Some(url) = call.first_of(&["url", "uri", "address"]).filter(|url| url.contains("://")) {
        found.add(IdentifierKind::Url, &url, call.at, IdentifierState::Named);
    }
    for key in ["pull_number", "pullNumber", "pr_number", "merge_request_iid"] {
        if let Some(number) = call.argument(key) {
            let state = if call.tool.contains("merge") && !call.tool.contains("merge_request") {
                call.outcome.whole(IdentifierState::Closed)
            } else {
                IdentifierState::Named
            };
            pull_request(&number, call.at, state, found);
        }
    }
    let makes = call.tool.contains("create") && call.tool_has(&["pull", "merge_request"]);
    if !makes || call.outcome != Outcome::Done {
        return;
    }
    let text = call.answer_text();
    let answer = Raw::parse(text.trim().as_bytes()).ok();
    let url = answer.and_then(|raw| ["html_url", "web_url", "url"].iter().find_map(|key| raw.get_str(key)));
    let number = answer.and_then(|raw| ["number", "iid"].iter().find_map(|key| raw.get(key).and_then(scalar)));
    if let Some(name) = url.or(number) {
        pull_request(&name, call.at, IdentifierState::Open, found);
    } else if let Some(url) = addresses(text).next() {
        pull_request(url, call.at, IdentifierState::Open, found);
    }
}
