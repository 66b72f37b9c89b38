//! TOML becomes a [`Map`], or one sentence about what is wrong with it.

mod tables;

use regex::RegexBuilder;
use tables::{At, ContainerWord, EvidenceTable, File, FindTable, RuleTable, SessionTable, Table, tells};
use toml::{Spanned, Value};

use super::{
    Container, Evidence, Map, SessionPaths, Tree,
    matcher::{Literal, Shape, Test, When},
    pointer::{Paths, Pointer},
    rule::{Figures, Find, Reach, Rule, STATES, State, Status, VERBS, Verb},
};

/// Bytes of a map.
const LONGEST: usize = 64 << 10;
/// Rules of a map.
const MOST_RULES: usize = 64;
/// Bytes of an expression, and of what it is compiled to.
const LONGEST_EXPRESSION: usize = 2_000;
const LARGEST_EXPRESSION: usize = 1 << 20;

/// Why a map cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct MapError {
    /// 1-based line of the map.
    pub line: usize,
    /// The key, what stands there, what was expected.
    pub message: String,
}

/// Reads a whole map.
pub(super) fn parse(text: &str) -> Result<Map, MapError> {
    if text.len() > LONGEST {
        let message = format!("the map has {} bytes: expected at most {LONGEST}", text.len());
        return Err(MapError { line: 1, message });
    }
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        MapError { line: line_of(text, at), message: error.message().replace('\n', " ") }
    })?;
    Reader { text }.map(file)
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

struct Reader<'a> {
    text: &'a str,
}

type Read<T> = Result<T, MapError>;

impl Reader<'_> {
    fn wrong<T>(&self, at: usize, message: impl Into<String>) -> Read<T> {
        Err(MapError { line: line_of(self.text, at), message: message.into() })
    }

    fn map(&self, file: File) -> Read<Map> {
        let name = file.format.get_ref();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || name.len() > 40 || !name.chars().all(plain) {
            let message = format!("`format` is `{name}`: expected a name of a-z, 0-9 and `-`");
            return self.wrong(file.format.span().start, message);
        }
        if file.rule.len() > MOST_RULES || file.rule.is_empty() {
            return self.wrong(0, format!("{} rules: expected 1 to {MOST_RULES}", file.rule.len()));
        }
        if file.evidence.is_empty() {
            return self.wrong(0, "`evidence` is empty: expected at least one, or the format is never found");
        }
        let container = match file.container {
            ContainerWord::Lines => Container::Lines,
            ContainerWord::Document => Container::Document,
        };
        let records = file.records.as_ref().map(|text| self.pointer("records", text)).transpose()?;
        let tree = match &file.tree {
            Some(tree) => {
                Some(Tree { id: self.paths("tree.id", &tree.id)?, parent: self.paths("tree.parent", &tree.parent)? })
            }
            None => None,
        };
        let key = match (&file.key, &tree) {
            (Some(key), _) => self.paths("key", key)?,
            (None, Some(tree)) => tree.id.clone(),
            (None, None) => Paths::default(),
        };
        if key.is_empty() && (file.upsert || !file.rewind.is_empty()) {
            return self.wrong(0, "`key` is missing: `upsert` and `rewind` find records by it");
        }
        let rules = file.rule.iter().map(|rule| self.rule(rule, &key)).collect::<Read<Vec<_>>>()?;
        let resets = file.reset.iter().map(|r| Ok((self.when(&r.when)?, self.pointer("records", &r.records)?)));
        let rewinds = file.rewind.iter().map(|r| Ok((self.when(&r.when)?, self.paths("to", &r.to)?)));
        let evidence = file.evidence.iter().map(|e| self.evidence(e)).collect::<Read<_>>()?;
        Ok(Map {
            name: name.clone(),
            title: file.title.clone(),
            reads: file.reads.clone(),
            container,
            records,
            skip: file.skip.iter().map(|when| self.when(when)).collect::<Read<_>>()?,
            tree,
            key,
            upsert: file.upsert,
            reset: resets.collect::<Read<_>>()?,
            rewind: rewinds.collect::<Read<_>>()?,
            lane: self.some("lane", file.lane.as_ref())?,
            response: self.some("response", file.response.as_ref())?,
            time: self.some("time", file.time.as_ref())?,
            session: self.session(&file.session)?,
            evidence,
            tells: tells(file.tells),
            rules,
        })
    }

    fn session(&self, table: &SessionTable) -> Read<SessionPaths> {
        Ok(SessionPaths {
            id: self.some("session.id", table.id.as_ref())?,
            version: self.some("session.version", table.version.as_ref())?,
            cwd: self.some("session.cwd", table.cwd.as_ref())?,
            branch: self.some("session.branch", table.branch.as_ref())?,
            model: self.some("session.model", table.model.as_ref())?,
            title: self.some("session.title", table.title.as_ref())?,
            window: self.some("session.window", table.window.as_ref())?,
        })
    }

    fn evidence(&self, table: &EvidenceTable) -> Read<Evidence> {
        let when = self.when(&table.when)?;
        if when.is_empty() {
            return self.wrong(0, "`evidence.when` is empty: every file would be taken for this format");
        }
        Ok(Evidence { when, why: table.why.clone(), weak: table.weak })
    }

    fn rule(&self, spanned: &Spanned<RuleTable>, key: &Paths) -> Read<Rule> {
        let (at, table) = (spanned.span().start, spanned.get_ref());
        let emit = self.word("emit", &table.emit, &VERBS)?;
        let wants = |there: bool, name: &str, why: &str| {
            if there { Ok(()) } else { self.wrong(at, format!("`{name}` is missing: {why}")) }
        };
        let bans = |there: bool, name: &str| {
            let message = format!("`{name}` has no meaning with emit = \"{}\": leave it out", emit.name());
            if there { self.wrong(at, message) } else { Ok(()) }
        };
        let finds = table.find.is_some();
        if emit == Verb::State {
            wants(table.id.is_some() || finds, "id", "a state is found again by its id")?;
        }
        if emit == Verb::Close {
            bans(table.id.is_some(), "id")?;
        } else {
            bans(table.every_lane, "every-lane")?;
        }
        if emit != Verb::Boundary {
            bans(table.keeps.is_some(), "keeps")?;
            bans(table.from.is_some(), "from")?;
            bans(table.forgets.is_some(), "forgets")?;
        }
        if emit == Verb::Usage {
            wants(table.input_tokens.is_some(), "input-tokens", "it says where the figure stands")?;
        } else {
            bans(table.input_tokens.is_some() || table.output_tokens.is_some(), "input-tokens")?;
            bans(table.window.is_some(), "window")?;
        }
        let by_key = table.from.is_some() || table.forgets.is_some();
        wants(!by_key || !key.is_empty(), "key", "records are kept or forgotten by it (top of the map)")?;
        let repeat_of = |paths: &Option<At>, name| self.some(name, paths.as_ref());
        Ok(Rule {
            line: line_of(self.text, at),
            when: self.when(&table.when)?,
            each: table.each.as_ref().map(|text| self.pointer("each", text)).transpose()?,
            item: self.when(&table.item)?,
            find: table.find.as_ref().map(|find| self.find(find)).transpose()?,
            emit,
            id: repeat_of(&table.id, "id")?,
            name: repeat_of(&table.name, "name")?,
            strip: table.strip.clone().unwrap_or_default(),
            text: repeat_of(&table.text, "text")?,
            input: repeat_of(&table.input, "input")?,
            response: repeat_of(&table.response, "response")?,
            status: self.status(emit, table.status.as_ref())?,
            void_if: table.void_if.as_ref().map(|when| self.when(when)).transpose()?,
            repeats: table.repeats,
            every_lane: table.every_lane,
            reach: self.reach(at, table)?,
            figures: Figures {
                input: self.some("input-tokens", table.input_tokens.as_ref())?.0,
                output: self.some("output-tokens", table.output_tokens.as_ref())?.0,
                window: self.some("window", table.window.as_ref())?,
            },
        })
    }

    fn reach(&self, at: usize, table: &RuleTable) -> Read<Reach> {
        const WORDS: [(&str, u8); 4] = [("unknown", 0), ("nothing", 1), ("from-id", 2), ("all-but-ids", 3)];
        let word = table.keeps.as_ref().map(|word| self.word("keeps", word, &WORDS)).transpose()?;
        match (word.unwrap_or(0), &table.from, &table.forgets) {
            (0, None, None) => Ok(Reach::Mark),
            (1, None, None) => Ok(Reach::All),
            (2, Some(from), None) => Ok(Reach::KeepFrom(self.paths("from", from)?)),
            (3, None, Some(ids)) => Ok(Reach::Forget(self.pointer("forgets", ids)?)),
            _ => self.wrong(
                at,
                "`keeps` and its places do not fit: `from` belongs to \"from-id\", `forgets` to \"all-but-ids\"",
            ),
        }
    }

    fn find(&self, table: &FindTable) -> Read<Find> {
        Ok(Find { text: self.paths("find.text", &table.text)?, regex: self.regex("find.regex", &table.regex)? })
    }

    fn regex(&self, key: &str, text: &Spanned<String>) -> Read<regex::Regex> {
        let (at, text) = (text.span().start, text.get_ref());
        if text.len() > LONGEST_EXPRESSION {
            return self.wrong(at, format!("`{key}` has {} bytes: expected at most {LONGEST_EXPRESSION}", text.len()));
        }
        RegexBuilder::new(text).size_limit(LARGEST_EXPRESSION).build().or_else(|error| {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
            self.wrong(at, format!("`{key}` is no expression that can be used: {why}"))
        })
    }

    fn word<T: Copy>(&self, key: &str, word: &Spanned<String>, known: &[(&str, T)]) -> Read<T> {
        if let Some((_, value)) = known.iter().find(|(name, _)| name == word.get_ref()) {
            return Ok(*value);
        }
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let message = format!("`{key}` is `{}`: expected one of {}", word.get_ref(), names.join(", "));
        self.wrong(word.span().start, message)
    }

    fn pointer(&self, key: &str, text: &Spanned<String>) -> Read<Pointer> {
        Pointer::parse(text.get_ref()).or_else(|why| self.wrong(text.span().start, format!("`{key}`: {why}")))
    }

    fn some(&self, key: &str, value: Option<&At>) -> Read<Paths> {
        value.map_or_else(|| Ok(Paths::default()), |value| self.paths(key, value))
    }

    /// One pointer or several.
    fn paths(&self, key: &str, value: &At) -> Read<Paths> {
        let at = value.span().start;
        let all = match value.get_ref() {
            Value::String(one) => vec![one.as_str()],
            Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let wanted = value.get_ref().as_array().map_or(1, Vec::len);
        if all.len() != wanted || all.is_empty() {
            return self.wrong(at, format!("`{key}` is no place: expected a pointer or a list of pointers"));
        }
        let pointers = all.into_iter().map(Pointer::parse).collect::<Result<_, _>>();
        pointers.map(Paths).or_else(|why| self.wrong(at, format!("`{key}`: {why}")))
    }

    fn status(&self, emit: Verb, value: Option<&At>) -> Read<Status> {
        let usual = if emit == Verb::Result { State::Ok } else { State::Open };
        let Some(value) = value else { return Ok(Status::always(usual)) };
        let at = value.span().start;
        let state = |key: &str, word: &Value| {
            let word = word.as_str().unwrap_or_default().to_string();
            self.word(key, &Spanned::new(at..at, word), &STATES)
        };
        if !matches!(emit, Verb::Result | Verb::State) {
            return self.wrong(at, "`status` has meaning only with emit = \"result\" or \"state\": leave it out");
        }
        let table = match value.get_ref() {
            word @ Value::String(_) => return Ok(Status::always(state("status", word)?)),
            Value::Table(table) => table,
            _ => return self.wrong(at, "`status` is neither a state nor a table of `at`, `is`, `else`, `missing`"),
        };
        let mut status = Status::always(usual);
        for (key, value) in table {
            match (key.as_str(), value) {
                ("at", value) => status.at = self.paths("status.at", &Spanned::new(at..at, value.clone()))?,
                ("else", word) => status.other = state("status.else", word)?,
                ("missing", word) => status.missing = state("status.missing", word)?,
                ("is", Value::Table(words)) => {
                    let words = words.iter().map(|(name, word)| Ok((name.clone(), state("status.is", word)?)));
                    status.is = words.collect::<Read<_>>()?;
                }
                _ => return self.wrong(at, format!("`status.{key}` is not known: expected at, is, else, missing")),
            }
        }
        if status.at.is_empty() {
            return self.wrong(at, "`status.at` is missing: it says where the state stands");
        }
        Ok(status)
    }

    fn when(&self, table: &Table) -> Read<When> {
        let tests = table.iter().map(|(key, value)| {
            let tests = self.tests(key.get_ref(), value)?;
            let pointer = Pointer::parse(key.get_ref()).or_else(|why| self.wrong(key.span().start, why))?;
            Ok((pointer, tests))
        });
        tests.collect::<Read<_>>().map(When)
    }

    fn tests(&self, key: &str, value: &At) -> Read<Vec<Test>> {
        let at = value.span().start;
        let Value::Table(table) = value.get_ref() else {
            return Ok(vec![Test::Is(self.literals(key, at, value.get_ref())?)]);
        };
        let one = |(name, value): (&String, &Value)| {
            match (name.as_str(), value) {
            ("exists", Value::Boolean(wanted)) => Ok(Test::Exists(*wanted)),
            ("prefix", Value::String(prefix)) => Ok(Test::Prefix(prefix.clone())),
            ("no-prefix", Value::String(prefix)) => Ok(Test::NoPrefix(prefix.clone())),
            ("not", value) => Ok(Test::Not(self.literals(key, at, value)?)),
            ("matches", Value::String(text)) => self.regex(key, &Spanned::new(at..at, text.clone())).map(Test::Matches),
            ("is", Value::String(word)) => {
                let shapes = [("text", Shape::Text), ("array", Shape::Array), ("object", Shape::Object)];
                self.word(key, &Spanned::new(at..at, word.clone()), &shapes).map(Test::Shape)
            }
            _ => self.wrong(
                at,
                format!("`{key}` asks for `{name}`: expected exists = true, prefix = \"…\", no-prefix = \"…\", not = […], matches = \"…\" or is = \"text\""),
            ),
        }
        };
        table.iter().map(one).collect()
    }

    fn literals(&self, key: &str, at: usize, value: &Value) -> Read<Vec<Literal>> {
        let one = |value: &Value| match value {
            Value::String(text) => Ok(Literal::Text(text.clone())),
            Value::Boolean(wanted) => Ok(Literal::Bool(*wanted)),
            #[expect(clippy::cast_precision_loss, reason = "compared as JavaScript would")]
            Value::Integer(number) => Ok(Literal::Number(*number as f64)),
            Value::Float(number) => Ok(Literal::Number(*number)),
            _ => self.wrong(
                at,
                format!("`{key}` is compared with {}: expected texts, numbers or booleans", value.type_str()),
            ),
        };
        match value {
            Value::Array(many) => many.iter().map(one).collect(),
            value => Ok(vec![one(value)?]),
        }
    }
}
