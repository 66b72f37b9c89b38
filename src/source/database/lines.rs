//! Rows as lines. Documents are spliced, not parsed: what a runtime stored is what a reader gets.

/// Text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The members of a stored object, without its braces and on one line; anything else becomes the member `raw`.
pub(super) fn members(document: &str) -> String {
    let trimmed = document.trim();
    match trimmed.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        // A line break inside a JSON string is always escaped, so every other one is space between members.
        Some(inside) => inside.trim().replace(['\n', '\r'], " "),
        None => format!("\"raw\":{}", quoted(document)),
    }
}

/// An object of the members, the empty ones left out.
pub(super) fn object<'a>(members: impl IntoIterator<Item = &'a str>) -> String {
    let members: Vec<&str> = members.into_iter().filter(|member| !member.is_empty()).collect();
    format!("{{{}}}", members.join(","))
}

/// One line: the description and, but for a session, the parts.
pub(super) fn push(out: &mut String, info: &str, parts: Option<&[String]>) {
    out.push_str("{\"info\":");
    out.push_str(info);
    if let Some(parts) = parts {
        out.push_str(",\"parts\":[");
        out.push_str(&parts.join(","));
        out.push(']');
    }
    out.push_str("}\n");
}
