//! A map that is wrong is told of with its line, its key, and what was expected.

use cutline::format::map::Map;

const GOOD: &str = r#"format = "mine"
title = "Mine"
reads = "*.jsonl"
[tells]
open = true
results = true
ids = "unique"
usage = false
window = false
[[evidence]]
when = { "/t" = 1 }
why = "t"
[[rule]]
when = { "/t" = "x" }
emit = "call"
id = "/id"
"#;

/// The line and the sentence that `map` gets.
fn wrong(map: &str) -> (usize, String) {
    let error = Map::parse(map).unwrap_err();
    (error.line, error.message)
}

fn swapped(old: &str, new: &str) -> (usize, String) {
    assert!(GOOD.contains(old), "{old}");
    wrong(&GOOD.replace(old, new))
}

#[test]
fn every_mistake_has_a_place_and_an_expectation() {
    assert!(Map::parse(GOOD).is_ok());
    for (old, new, line, words) in [
        ("title =", "titel =", 2, ["titel", "expected"]),
        ("format = \"mine\"", "format = \"My Own\"", 1, ["My Own", "expected"]),
        ("ids = \"unique\"", "ids = \"some\"", 7, ["some", "expected"]),
        ("emit = \"call\"", "emit = \"cal\"", 15, ["`emit` is `cal`", "expected one of user"]),
        ("id = \"/id\"", "id = \"id\"", 16, ["`id`", "expected one like"]),
        ("id = \"/id\"", "id = 7", 16, ["`id`", "expected a pointer"]),
        ("id = \"/id\"", "form = \"/id\"", 16, ["form", "expected one of"]),
        ("\"/t\" = \"x\"", "\"t\" = \"x\"", 14, ["`t`", "expected one like"]),
        ("\"/t\" = \"x\"", "\"/t\" = { starts = \"x\" }", 14, ["starts", "expected exists"]),
        ("\"/t\" = \"x\"", "\"/t\" = { matches = \"(\" }", 14, ["/t", "no expression"]),
        ("\"/t\" = \"x\"", "\"/t\" = { matches = \"\\\\w{900}{900}\" }", 14, ["/t", "size limit"]),
        ("id = \"/id\"", "status = \"ok\"", 16, ["status", "leave it out"]),
        ("id = \"/id\"", "every-lane = true", 13, ["every-lane", "leave it out"]),
        ("emit = \"call\"", "emit = \"close\"", 13, ["`id`", "leave it out"]),
        ("emit = \"call\"", "emit = \"usage\"", 13, ["input-tokens", "missing"]),
        ("emit = \"call\"", "emit = \"boundary\"\nkeeps = \"from-id\"", 13, ["`from`", "from-id"]),
        ("emit = \"call\"", "emit = \"boundary\"\nkeeps = \"from-id\"\nfrom = \"/a\"", 13, ["`key`", "missing"]),
        ("emit = \"call\"", "emit = \"result\"\nstatus = { is = { x = \"ok\" } }", 16, ["status.at", "missing"]),
        (
            "emit = \"call\"",
            "emit = \"result\"\nstatus = { at = \"/s\", is = { x = \"okay\" } }",
            16,
            ["okay", "expected one of"],
        ),
        ("title = \"Mine\"", "title = \"Mine\"\nupsert = true", 1, ["`key`", "missing"]),
    ] {
        let (at, message) = swapped(old, new);
        assert_eq!(at, line, "{new}: {message}");
        for word in words {
            assert!(message.contains(word), "{new}: {message}");
        }
    }
}

#[test]
fn maps_are_bounded() {
    assert!(wrong(&format!("# {}\n{GOOD}", "x".repeat(70_000))).1.contains("at most"));
    let rule = "[[rule]]\nemit = \"notice\"\n";
    assert!(wrong(&format!("{GOOD}{}", rule.repeat(64))).1.contains("expected 1 to 64"));
    assert!(swapped("id = \"/id\"", &format!("id = \"{}\"", "/a".repeat(17))).1.contains("at most 16"));
    let long = format!("\"/t\" = {{ matches = \"{}\" }}", "a".repeat(3_000));
    assert!(swapped("\"/t\" = \"x\"", &long).1.contains("at most 2000"));
    assert!(swapped("[[evidence]]\nwhen = { \"/t\" = 1 }\nwhy = \"t\"\n", "").1.contains("evidence"));
}
