//! Two maps that fit the same lines equally well, and lines that one of them fits better.
#![allow(dead_code, reason = "every test needs another part")]

/// Fits both maps.
pub(crate) const SHARED: &str = "{\"berth\":1,\"say\":\"moor her\"}\n{\"berth\":2,\"say\":\"moored\"}\n";
/// Fits the second map alone.
pub(crate) const OF_QUAY: &str = "{\"crane\":3,\"say\":\"unload\"}\n";
/// Fits both, and weighs less for the first.
pub(crate) const WEAK_IN_YARD: &str = "{\"tide\":4,\"say\":\"rising\"}\n";
/// Fits neither.
pub(crate) const OF_NOBODY: &str = "{\"gull\":5}\n";

const RULES: &str = "reads = \"*.jsonl\"
[tells]
open = true
results = true
ids = \"unique\"
usage = false
window = false
[[rule]]
emit = \"user\"
text = \"/say\"
[[evidence]]
when = { \"/berth\" = { exists = true } }
why = \"a berth\"
[[evidence]]
when = { \"/tide\" = { exists = true } }
why = \"a tide\"
";

/// The first: `yard`.
pub(crate) fn yard() -> String {
    format!("format = \"yard\"\ntitle = \"Yard log\"\n{RULES}weak = true\n")
}

/// The second: `quay`. It knows one more kind of line.
pub(crate) fn quay() -> String {
    let crane = "[[evidence]]\nwhen = { \"/crane\" = { exists = true } }\nwhy = \"a crane\"\n";
    format!("format = \"quay\"\ntitle = \"Quay log\"\n{RULES}{crane}")
}

/// Puts both where the program finds them; the value of `XDG_CONFIG_HOME`.
pub(crate) fn configured() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("cutline/formats");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.toml"), yard()).unwrap();
    std::fs::write(folder.join("b.toml"), quay()).unwrap();
    home
}

/// Makes both known to this process.
pub(crate) fn install() {
    use cutline::format::map::{Map, Mapping};
    Mapping::install([yard(), quay()].iter().map(|text| Map::parse(text).unwrap()).collect());
}
