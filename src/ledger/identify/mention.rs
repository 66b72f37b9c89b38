//! Which identifiers are named again in the part that is kept. Here any text counts, prose too: to carry one too many
//! costs a line, to lose one costs the work.

use rustc_hash::FxHashSet;

use super::{IdentifierKind, call::head};

/// Bytes of one record, and words of all of them, that are looked at.
const RECORD: usize = 256 * 1024;
const WORDS: usize = 400_000;
/// A path is recognised by at most so many of its last parts.
const PARTS: usize = 8;
/// Digits by which git itself shortens a hash.
const SHORT_HASH: usize = 7;

/// The words of a text, of paths their endings, of hashes their beginnings.
#[derive(Default)]
pub(super) struct Words {
    words: FxHashSet<Box<str>>,
    endings: FxHashSet<Box<str>>,
}

impl Words {
    /// Adds the words of `text`.
    pub(super) fn take(&mut self, text: &str) {
        let apart =
            |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',' | ';' | '|');
        for rough in head(text, RECORD).split(apart) {
            // JSON writes a line break as `\n`, which would hang on the word behind it.
            for word in rough.split("\\n").flat_map(|part| part.split('=')) {
                self.word(
                    word.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?' | '[' | ']' | '{' | '}' | '\\')),
                );
            }
            if self.is_full() {
                return;
            }
        }
    }

    fn word(&mut self, word: &str) {
        if word.is_empty() || word.len() > 4_096 || !self.words.insert(word.into()) {
            return;
        }
        for ending in endings(word) {
            self.endings.insert(ending.into());
        }
        if word.len() <= 40
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && let Some(short) = word.get(..SHORT_HASH)
        {
            self.endings.insert(short.into());
        }
    }

    /// True once no more is taken.
    pub(super) fn is_full(&self) -> bool {
        self.words.len() + self.endings.len() >= WORDS
    }

    /// True if `value` is named, a path also by its end (`src/a.rs` for `/repo/src/a.rs` and the other way round).
    pub(super) fn names(&self, kind: IdentifierKind, value: &str) -> bool {
        // Full: what was not looked at may name it.
        if self.is_full() || self.words.contains(value) {
            return true;
        }
        match kind {
            IdentifierKind::Path | IdentifierKind::Worktree | IdentifierKind::Cwd => {
                self.endings.contains(value) || endings(value).any(|ending| self.words.contains(ending))
            }
            IdentifierKind::Commit => value.get(..SHORT_HASH).is_some_and(|short| self.endings.contains(short)),
            IdentifierKind::PullRequest => {
                value.rsplit_once("/pull/").is_some_and(|(_, number)| self.words.contains(&*format!("#{number}")))
            }
            IdentifierKind::Handle | IdentifierKind::Task => {
                value.split_once('=').is_some_and(|(_, id)| id.len() > 2 && self.words.contains(id))
            }
            IdentifierKind::Branch => self.words.contains(&*format!("origin/{value}")),
            _ => false,
        }
    }
}

/// The endings of a path with at least two parts, the longest bounded.
fn endings(path: &str) -> impl Iterator<Item = &str> {
    let cuts: Vec<usize> = path.rmatch_indices('/').map(|(at, _)| at + 1).take(PARTS).collect();
    cuts.into_iter().skip(1).filter_map(|at| path.get(at..)).filter(|ending| !ending.is_empty())
}
