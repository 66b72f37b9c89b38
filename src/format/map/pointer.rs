//! Places inside a record, written as JSON Pointers with four additions.

use crate::format::json::Raw;

/// Items of one record that a pointer may name; a bound against hostile lines.
pub(super) const MOST_ITEMS: usize = 100_000;
/// Steps of one pointer.
const DEEPEST: usize = 16;

/// One step down.
#[derive(Clone, Debug)]
enum Step {
    /// A member of an object; of an array the item at this index, from its end if it is negative.
    Name(String, Option<i64>),
    /// `*`: every item or member.
    Every,
    /// `@KEY=VALUE`: the first item whose member KEY is the text VALUE.
    Where(String, String),
}

/// A JSON Pointer (RFC 6901) with `*`, negative indices, `@KEY=VALUE`, and a leading `^` that starts at the record
/// instead of the item.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    from_record: bool,
    steps: Vec<Step>,
    text: String,
}

impl Pointer {
    /// Reads `text`; else a sentence about what was expected.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (from_record, path) = text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        if !path.is_empty() && !path.starts_with('/') {
            return Err(format!("`{text}` is no pointer: expected one like `/message/content/*`"));
        }
        let steps: Vec<Step> = path.split('/').skip(1).map(step).collect::<Result<_, _>>()?;
        if steps.len() > DEEPEST {
            return Err(format!("`{text}` is {} steps deep: expected at most {DEEPEST}", steps.len()));
        }
        Ok(Self { from_record, steps, text: text.to_string() })
    }

    /// As it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The first value there.
    pub(super) fn first<'a>(&self, item: Raw<'a>, record: Raw<'a>) -> Option<Raw<'a>> {
        let start = if self.from_record { record } else { item };
        if self.steps.iter().any(|step| matches!(step, Step::Every)) {
            return self.all(item, record).into_iter().next();
        }
        self.steps.iter().try_fold(start, |value, step| step.one(value))
    }

    /// Every value there, in the order of the line.
    pub(super) fn all<'a>(&self, item: Raw<'a>, record: Raw<'a>) -> Vec<Raw<'a>> {
        let mut found = vec![if self.from_record { record } else { item }];
        for step in &self.steps {
            found = match step {
                Step::Every => found.into_iter().flat_map(members).take(MOST_ITEMS).collect(),
                step => found.into_iter().filter_map(|value| step.one(value)).collect(),
            };
        }
        found
    }
}

fn step(text: &str) -> Result<Step, String> {
    if text == "*" {
        return Ok(Step::Every);
    }
    let name = text.replace("~1", "/").replace("~0", "~");
    if let Some(pair) = name.strip_prefix('@') {
        let (key, value) = pair.split_once('=').ok_or(format!("`{text}` lacks its value: expected `@KEY=VALUE`"))?;
        return Ok(Step::Where(key.to_string(), value.to_string()));
    }
    let index = name.parse().ok();
    Ok(Step::Name(name, index))
}

impl Step {
    fn one<'a>(&self, value: Raw<'a>) -> Option<Raw<'a>> {
        match self {
            Self::Name(name, _) if value.is_object() => value.get(name),
            Self::Name(_, Some(index)) if *index >= 0 => value.items().nth(usize::try_from(*index).ok()?),
            Self::Name(_, Some(index)) => {
                let back = usize::try_from(index.unsigned_abs()).ok()?;
                let place = value.items().count().checked_sub(back)?;
                value.items().nth(place)
            }
            Self::Where(key, wanted) => value.items().find(|item| item.get(key).is_some_and(|v| plain(v) == *wanted)),
            Self::Name(..) | Self::Every => None,
        }
    }
}

fn members(value: Raw<'_>) -> Vec<Raw<'_>> {
    let items = value.items().take(MOST_ITEMS);
    let fields = value.fields().take(MOST_ITEMS).map(|(_, value)| value);
    items.chain(fields).collect()
}

/// A string as its text, anything else as its JSON.
pub(super) fn plain(value: Raw<'_>) -> std::borrow::Cow<'_, str> {
    value.str().unwrap_or_else(|| String::from_utf8_lossy(value.bytes()))
}

/// Pointers of which the first that leads somewhere counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths(pub(super) Vec<Pointer>);

impl Paths {
    /// The first value that is there and not null.
    pub(super) fn first<'a>(&self, item: Raw<'a>, record: Raw<'a>) -> Option<Raw<'a>> {
        self.0.iter().find_map(|pointer| pointer.first(item, record).filter(|value| !value.is_null()))
    }

    /// Every value of the first pointer that has one.
    pub(super) fn all<'a>(&self, item: Raw<'a>, record: Raw<'a>) -> Vec<Raw<'a>> {
        let found = self.0.iter().map(|pointer| pointer.all(item, record));
        found
            .map(|all| all.into_iter().filter(|v| !v.is_null()).collect())
            .find(|all: &Vec<_>| !all.is_empty())
            .unwrap_or_default()
    }

    /// The first text that is there and not empty: an id or a name. Numbers are taken as they are written.
    pub(super) fn word<'a>(&self, item: Raw<'a>, record: Raw<'a>) -> Option<std::borrow::Cow<'a, str>> {
        let words = self.0.iter().filter_map(|pointer| pointer.first(item, record).filter(|v| !v.is_null()));
        words.map(plain).find(|word| !word.is_empty())
    }

    /// True if it names no place.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(pointer: &str, json: &str) -> Vec<String> {
        let raw = Raw::parse(json.as_bytes()).unwrap();
        Pointer::parse(pointer).unwrap().all(raw, raw).into_iter().map(|v| plain(v).into_owned()).collect()
    }

    #[test]
    fn steps() {
        assert_eq!(at("/a/1", r#"{"a":[1,"x"]}"#), ["x"]);
        assert_eq!(at("/a/-1", r#"{"a":[1,2,3]}"#), ["3"]);
        assert_eq!(at("/a/-4", r#"{"a":[1,2,3]}"#), [""; 0]);
        assert_eq!(at("/0", r#"{"0":"a member called 0"}"#), ["a member called 0"]);
        assert_eq!(at("/a/*/b", r#"{"a":[{"b":1},{},{"b":null}]}"#), ["1", "null"]);
        assert_eq!(at("/*", r#"{"x":1,"y":2}"#), ["1", "2"]);
        assert_eq!(at("/a~1b/~0", r#"{"a/b":{"~":5}}"#), ["5"]);
        assert_eq!(at("/at/@key=id/value", r#"{"at":[{"key":"no","value":1},{"key":"id","value":2}]}"#), ["2"]);
        assert_eq!(at("", "7"), ["7"]);
    }

    #[test]
    fn the_record_is_reached_from_an_item() {
        let record = Raw::parse(br#"{"stop":"error","items":[{"id":1}]}"#).unwrap();
        let item = Pointer::parse("/items/0").unwrap().first(record, record).unwrap();
        assert_eq!(plain(Pointer::parse("^/stop").unwrap().first(item, record).unwrap()), "error");
        assert!(Pointer::parse("/stop").unwrap().first(item, record).is_none());
    }

    #[test]
    fn what_is_no_pointer() {
        assert!(Pointer::parse("message").is_err());
        assert!(Pointer::parse("/@key").is_err());
        assert!(Pointer::parse(&"/a".repeat(17)).is_err());
    }
}
