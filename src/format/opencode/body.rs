use crate::{
    format::json::Raw,
    model::{Body, Kind, Record},
};

/// One part, or one half of a tool part.
pub(super) fn decode(line: &[u8], record: &Record) -> Body {
    let Ok(part) = Raw::prefix(line, record.at as usize) else { return Body::text(String::from_utf8_lossy(line)) };
    let text = |path: &[&str]| part.path(path).and_then(Raw::str).map(std::borrow::Cow::into_owned);
    let raw = |value: Raw<'_>| String::from_utf8_lossy(value.bytes()).into_owned();
    let mut body = match record.kind {
        Kind::Call => Body { tool: text(&["tool"]), input: part.path(&["state", "input"]).map(raw), ..Body::default() },
        Kind::Result | Kind::Error | Kind::Abandoned => {
            Body::text(text(&["state", "output"]).or_else(|| text(&["state", "error"])).unwrap_or_default())
        }
        Kind::Notice | Kind::Opaque => Body::text(raw(part)),
        _ => Body::text(text(&["text"]).or_else(|| text(&["filename"])).or_else(|| text(&["url"])).unwrap_or_default()),
    };
    let facts = [("status", ["state", "status"].as_slice()), ("title", &["state", "title"]), ("part", &["id"])];
    body.facts = facts.into_iter().filter_map(|(name, path)| Some((name.to_string(), text(path)?))).collect();
    body
}
