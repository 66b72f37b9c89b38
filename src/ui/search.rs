//! The search: a regular expression with smart case, and where it matched.

use regex::{Regex, RegexBuilder};

/// What was searched and found.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    pub(super) pattern: String,
    pub(super) hits: Vec<usize>,
    /// Positions of the context when the search ran.
    pub(super) upto: usize,
    /// The search runs again only to take a step: forward or back.
    pub(super) resumed: Option<bool>,
}

impl Search {
    /// The hit after `cursor` (or before it), going round. Also its number from 1.
    pub(super) fn step(&self, cursor: usize, forward: bool) -> Option<(usize, usize)> {
        let n = self.hits.len();
        let after = self.hits.partition_point(|hit| *hit <= cursor);
        let before = self.hits.partition_point(|hit| *hit < cursor);
        let place = if forward { after % n.max(1) } else { (before + n).checked_sub(1)? % n.max(1) };
        self.hits.get(place).map(|hit| (*hit, place + 1))
    }
}

/// The expression that `pattern` means: without a capital letter it ignores case.
///
/// # Errors
/// A sentence about what is wrong with it.
pub(super) fn smart(pattern: &str) -> Result<Regex, String> {
    let insensitive = !pattern.chars().any(char::is_uppercase);
    RegexBuilder::new(pattern).case_insensitive(insensitive).size_limit(1 << 20).build().map_err(|error| {
        let last = error.to_string();
        let why = last.lines().last().unwrap_or_default().trim_start_matches("error: ").to_string();
        format!("`{pattern}` is no regular expression: {why}.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smart_case() {
        assert!(smart("bash").unwrap().is_match("Bash"));
        assert!(!smart("Bash").unwrap().is_match("bash"));
        assert!(smart("(").unwrap_err().contains("is no regular expression"));
    }

    #[test]
    fn hits_go_round() {
        let search = Search { pattern: String::new(), hits: vec![2, 5, 9], upto: 10, resumed: None };
        assert_eq!(search.step(5, true), Some((9, 3)));
        assert_eq!(search.step(9, true), Some((2, 1)));
        assert_eq!(search.step(2, false), Some((9, 3)));
        assert_eq!(search.step(5, false), Some((2, 1)));
        assert_eq!(Search::default().step(0, true), None);
        assert_eq!(Search::default().step(0, false), None);
    }
}
