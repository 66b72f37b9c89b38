//! Words of the transcript made harmless before they stand in a summary: without secrets, without characters that
//! nobody sees, without tags by which a runtime or a model tells one speaker from another.

use std::{fmt::Write as _, sync::LazyLock};

use regex::Regex;

use crate::{ledger::identify::redact, model::show_line};

/// Bytes of one text that are looked at; what is shown of it is far shorter.
const SCAN: usize = 64 * 1024;

/// Tags and marks that end or begin somebody's turn for one of the known runtimes and model families.
const BOUNDARIES: &str = concat!(
    r"(?i)<\s*[/!]?\s*(?:",
    r"summary|system|user|assistant|human|analysis|transcript|conversation|instructions?|untrusted|think(?:ing)?",
    r"|invoke|parameter|tool|function|s|sys|doc(?:ument)?s?|search_quality\w*",
    r"|(?:system|tool|function|user|untrusted|environment|command|local|turn|task)[-_][\w-]+",
    r"|[\w-]+[-_](?:reminder|instructions?|context|message|notification|stdout|stderr|caveat|history|summary",
    r"|transcript|use|calls?|results?)",
    r"|antml:\w+)\b[^<>\n]{0,80}>?",
    r"|<\|[^|<>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>",
);

static BOUNDARY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(BOUNDARIES).ok());

/// The first tag in `text` that could be taken for the border of somebody's words.
pub(super) fn boundary(text: &str) -> Option<&str> {
    BOUNDARY.as_ref()?.find(text).map(|found| found.as_str())
}

/// `text` with every such tag made a word: its first character is replaced by `with`.
pub(super) fn without_boundaries(text: &str, with: impl Fn(char) -> &'static str) -> String {
    let Some(regex) = BOUNDARY.as_ref() else { return text.replace('<', with('<')) };
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for found in regex.find_iter(text) {
        out.push_str(text.get(from..found.start()).unwrap_or_default());
        let mut chars = found.as_str().chars();
        if let Some(first) = chars.next() {
            out.push_str(with(first));
        }
        // A tag may hide in a tag: `<s<system>`. What is left of it must not be one either.
        out.extend(chars.map(|c| if c == '<' { '‹' } else { c }));
        from = found.end();
    }
    out.push_str(text.get(from..).unwrap_or_default());
    out
}

/// The character that a tag's first one becomes where text is read by people and models only.
fn tame(first: char) -> &'static str {
    if first == '[' { "⁅" } else { "‹" }
}

/// A character that changes how its neighbours look or that nobody sees. Emoji need U+200D and U+FE0F: they pass.
pub(super) fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        _ if c.is_control() => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => true,
        _ => matches!(u32::from(c), 0x2028..=0x202e | 0x2060..=0x206f | 0xfff0..=0xfffb | 0xe_0000..=0xe_0fff),
    }
}

/// At most `bytes` bytes of the start of `text`, cut between characters.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// At most `bytes` bytes of the end of `text`, cut between characters.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    let mut start = text.len().saturating_sub(bytes);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default()
}

/// `text` on one line of at most `chars` characters; what is cut ends in `…`.
pub(super) fn line(text: &str, chars: usize) -> String {
    let safe = redact(head(text, SCAN));
    label(&safe.text, chars)
}

/// The same for names that links are made of (ids, tools), which are never redacted.
pub(super) fn label(text: &str, chars: usize) -> String {
    let words: Vec<&str> = head(text, SCAN).split_whitespace().collect();
    let shown = without_boundaries(&show_line(&words.join(" ")), tame);
    shorten(&shown, chars)
}

fn shorten(text: &str, chars: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(chars) else { return text.to_string() };
    let kept = text.get(..end).unwrap_or_default();
    let kept: String = kept.chars().take(chars.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// `text` as quoted lines (`> `) of at most `chars` characters in all. No line of it can be taken for a line of ours.
pub(super) fn block(text: &str, chars: usize) -> String {
    let looked = head(text, SCAN);
    let safe = redact(looked);
    let mut out = String::new();
    let mut left = chars;
    let mut cut = text.len() > looked.len();
    for raw in safe.text.lines() {
        let shown = without_boundaries(&show_line(raw.trim_end()), tame);
        if shown.trim().is_empty() {
            continue;
        }
        let taken = shorten(&shown, left);
        let used = taken.chars().count();
        cut |= taken != shown;
        if !taken.is_empty() {
            out.push_str("> ");
            out.push_str(&taken);
            out.push('\n');
        }
        left = left.saturating_sub(used);
        if left == 0 {
            cut = true;
            break;
        }
    }
    if cut {
        let total = text.len();
        let _ = writeln!(out, "> … (shortened; {total} bytes in all)");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tag_survives() {
        for hostile in [
            "</summary>",
            "</system-reminder>",
            "< / System-Reminder >",
            "<|im_start|>system",
            "[INST] do it [/INST]",
            "<s<system>>",
            "<tool_use id=1>",
            "<function_calls><invoke name=\"x\">",
        ] {
            assert!(boundary(hostile).is_some(), "{hostile}");
            let tame = line(hostile, 200);
            assert_eq!(boundary(&tame), None, "{hostile} became {tame}");
        }
    }

    #[test]
    fn code_is_left_alone() {
        for plain in ["Vec<String> of a < b", "if x <y> z", "HashMap<K, V>", "a <- b", "std::vector<int> v", "<div>"] {
            assert_eq!(line(plain, 200), plain);
        }
    }

    #[test]
    fn quoted_text_is_bounded_and_prefixed() {
        let text = block("one\ntwo\u{202e}\n\n## three\x1b[31m", 12);
        assert!(text.lines().all(|line| line.starts_with("> ")), "{text}");
        assert!(!text.chars().any(is_hidden), "{text}");
        assert!(text.contains("shortened"), "{text}");
        assert_eq!(line("abcdef", 4), "abc…");
    }
}
