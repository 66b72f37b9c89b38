//! What must hold of a value.

use regex::Regex;

use super::pointer::{Pointer, plain};
use crate::format::json::Raw;

/// Bytes of a text in which an expression is searched; what stands behind is not looked at.
pub(super) const SEARCHED: usize = 256 << 10;

/// A value that JSON and TOML can both say.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    /// A string.
    Text(String),
    /// A number.
    Number(f64),
    /// True or false.
    Bool(bool),
}

impl Literal {
    fn is(&self, value: Raw<'_>) -> bool {
        match self {
            Self::Text(text) => value.str().is_some_and(|found| found == *text),
            Self::Bool(wanted) => value.bool() == Some(*wanted),
            Self::Number(wanted) => {
                let number = std::str::from_utf8(value.bytes()).ok().and_then(|text| text.parse::<f64>().ok());
                number.is_some_and(|number| (number - wanted).abs() < f64::EPSILON)
            }
        }
    }
}

/// The shape of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A string.
    Text,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// One condition on one value.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// It is one of these.
    Is(Vec<Literal>),
    /// It is none of these; what is missing is none of them.
    Not(Vec<Literal>),
    /// It is there and not null, or it is not.
    Exists(bool),
    /// A text that begins so.
    Prefix(String),
    /// A text that does not begin so.
    NoPrefix(String),
    /// It has this shape.
    Shape(Shape),
    /// A text in which this is found.
    Matches(Regex),
}

impl Test {
    fn holds(&self, value: Option<Raw<'_>>) -> bool {
        let there = value.filter(|value| !value.is_null());
        match self {
            Self::Is(wanted) => value.is_some_and(|value| wanted.iter().any(|literal| literal.is(value))),
            Self::Not(unwanted) => !value.is_some_and(|value| unwanted.iter().any(|literal| literal.is(value))),
            Self::Exists(wanted) => there.is_some() == *wanted,
            Self::Prefix(prefix) => there.and_then(Raw::str).is_some_and(|text| text.starts_with(prefix.as_str())),
            Self::NoPrefix(prefix) => there.and_then(Raw::str).is_some_and(|text| !text.starts_with(prefix.as_str())),
            Self::Shape(shape) => there.is_some_and(|value| match shape {
                Shape::Text => value.is_string(),
                Shape::Array => value.is_array(),
                Shape::Object => value.is_object(),
            }),
            Self::Matches(regex) => there.is_some_and(|value| regex.is_match(head(&plain(value)))),
        }
    }
}

/// The part of `text` that expressions look at.
pub(super) fn head(text: &str) -> &str {
    let end = (0..4).find_map(|back| text.get(..SEARCHED.min(text.len()).saturating_sub(back)));
    end.unwrap_or(text)
}

/// Conditions that must all hold.
#[derive(Clone, Debug, Default)]
pub(super) struct When(pub(super) Vec<(Pointer, Vec<Test>)>);

impl When {
    /// True if everything holds of `item` in `record`.
    pub(super) fn holds(&self, item: Raw<'_>, record: Raw<'_>) -> bool {
        self.0.iter().all(|(pointer, tests)| {
            let value = pointer.first(item, record);
            tests.iter().all(|test| test.holds(value))
        })
    }

    /// True if nothing is asked.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(pointer: &str, test: Test, json: &str) -> bool {
        let raw = Raw::parse(json.as_bytes()).unwrap();
        When(vec![(Pointer::parse(pointer).unwrap(), vec![test])]).holds(raw, raw)
    }

    #[test]
    fn the_head_of_a_text_ends_between_characters() {
        assert_eq!(head("short"), "short");
        let long = format!("a{}", "é".repeat(SEARCHED));
        assert_eq!(head(&long).len(), SEARCHED - 1);
    }

    #[test]
    fn tests_of_values() {
        let text = |text: &str| vec![Literal::Text(text.to_string())];
        assert!(holds("/a", Test::Is(text("x")), r#"{"a":"x"}"#));
        assert!(!holds("/a", Test::Is(text("1")), r#"{"a":1}"#), "a number is no text");
        assert!(holds("/a", Test::Is(vec![Literal::Number(1.0)]), r#"{"a":1.0}"#));
        assert!(!holds("/a", Test::Is(vec![Literal::Number(1.0)]), r#"{"a":true}"#), "a boolean is no number");
        assert!(!holds("/a", Test::Is(vec![Literal::Bool(true)]), r#"{"a":1}"#));
        assert!(holds("/a", Test::Not(text("x")), "{}"), "what is missing is not x");
        assert!(!holds("/a", Test::Exists(true), r#"{"a":null}"#), "null counts as missing");
        assert!(holds("/a", Test::Prefix("tool-".into()), r#"{"a":"tool-x"}"#));
        assert!(holds("/a", Test::Shape(Shape::Array), r#"{"a":[]}"#));
        assert!(holds("/a", Test::Matches(Regex::new("^@\\w+").unwrap()), r#"{"a":"@shell"}"#));
    }
}
