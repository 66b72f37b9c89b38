//! Secrets that must not stand in a summary, a receipt or a report, only because a command or an address held one.
//! A small set of shapes that are hardly ever anything else; it does not claim to find every secret.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Regex, RegexSet};

/// Shapes, each with its name and the group that is removed (0: all of it).
const RULES: [(&str, &str, usize); 15] = [
    ("private-key", r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)", 0),
    ("aws-access-key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b", 0),
    ("aws-secret-key", r#"(?i)aws_?secret_?(?:access_?)?key["']?\s*[:=]\s*["']?([A-Za-z0-9/+=]{40})"#, 1),
    ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b", 0),
    ("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{20,}", 0),
    ("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", 0),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{35}", 0),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}\b", 0),
    ("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}", 0),
    ("sk-key", r"\bsk-[A-Za-z0-9_-]{20,}", 0),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", 0),
    ("bearer", r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})", 1),
    ("url-password", r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@", 1),
    (
        "url-parameter",
        r"(?i)[?&](?:access_?token|auth_?token|token|api_?key|apikey|key|secret|signature|sig|password|x-amz-signature)=([^&\s#]+)",
        1,
    ),
    (
        "password",
        r#"(?i)\b(?:[a-z_]*passw(?:or)?d|pgpassword|[a-z_]*secret|api_?key)\s*[:=]\s*["']?([^\s"'&;]{4,})"#,
        1,
    ),
];

/// The rules, compiled once. All together tell quickly that there is nothing to do.
struct Compiled {
    any: RegexSet,
    each: Vec<Regex>,
}

static COMPILED: LazyLock<Option<Compiled>> = LazyLock::new(|| {
    let any = RegexSet::new(RULES.iter().map(|(_, pattern, _)| *pattern)).ok()?;
    let each = RULES.iter().map(|(_, pattern, _)| Regex::new(pattern).ok()).collect::<Option<Vec<_>>>()?;
    Some(Compiled { any, each })
});

/// A text without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text with `[REDACTED:rule]` for each secret.
    pub text: Cow<'a, str>,
    /// How many were removed.
    pub count: usize,
    /// True if the text was nothing but a secret.
    pub nothing_left: bool,
}

/// `text` without secrets.
///
/// ```
/// use cutline::ledger::identify::redact;
///
/// let safe = redact("postgres://app:hunter2@db.internal/billing");
/// assert_eq!((&*safe.text, safe.count), ("postgres://app:[REDACTED:url-password]@db.internal/billing", 1));
/// ```
pub fn redact(text: &str) -> Redacted<'_> {
    let mut out = Redacted { text: Cow::Borrowed(text), count: 0, nothing_left: false };
    let Some(compiled) = &*COMPILED else { return out };
    for rule in compiled.any.matches(text) {
        let (Some((name, _, group)), Some(regex)) = (RULES.get(rule), compiled.each.get(rule)) else { continue };
        if let Some((clean, removed)) = removed(regex, *group, name, &out.text) {
            out.text = Cow::Owned(clean);
            out.count += removed;
        }
    }
    out.nothing_left = out.count > 0 && is_marks_only(&out.text);
    out
}

/// `text` with each match of `regex` replaced, and how many there were; `None` if there was none.
fn removed(regex: &Regex, group: usize, name: &str, text: &str) -> Option<(String, usize)> {
    let mut clean = String::new();
    let (mut from, mut count) = (0, 0);
    for found in regex.captures_iter(text).filter_map(|captures| captures.get(group)) {
        // Two rules may take one secret for theirs.
        if found.as_str().contains("[REDACTED:") {
            continue;
        }
        clean.push_str(text.get(from..found.start())?);
        clean.push_str("[REDACTED:");
        clean.push_str(name);
        clean.push(']');
        from = found.end();
        count += 1;
    }
    clean.push_str(text.get(from..)?);
    (count > 0).then_some((clean, count))
}

fn is_marks_only(text: &str) -> bool {
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("[REDACTED:") {
        if before.chars().any(char::is_alphanumeric) {
            return false;
        }
        rest = behind.split_once(']').map_or("", |(_, behind)| behind);
    }
    !rest.chars().any(char::is_alphanumeric)
}
