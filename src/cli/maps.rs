//! Maps of the user: `$XDG_CONFIG_HOME/cutline/formats/*.toml`, and a file that was named.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use super::{
    config,
    exit::{Failure, USAGE},
    out,
};
use crate::{
    format::map::{Map, Mapping},
    model::show_line,
};

/// Makes the maps of the configuration folder known. One that is wrong is told of and left out: the others, and the
/// command that would find the mistake, must still work.
pub(super) fn install() {
    let mut maps = Vec::new();
    for path in files() {
        match read(&path) {
            Ok(map) => maps.push(map),
            Err(failure) => out::say(&format!("cutline: {} It is left out.", show_line(&failure.message))),
        }
    }
    Mapping::install(maps);
}

/// Every `*.toml` of the folder, by name.
fn files() -> Vec<PathBuf> {
    let Some(folder) = config::folder(|name| env::var_os(name).filter(|value| !value.is_empty())) else {
        return Vec::new();
    };
    let entries = fs::read_dir(folder.join("formats")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort_unstable();
    files
}

/// Reads the map in `path`.
pub(super) fn read(path: &Path) -> Result<Map, Failure> {
    const LARGEST: u64 = 1 << 20;
    let wrong = |why: String| {
        let hint = "Correct the map; `cutline formats check MAP FILE` shows what it makes of a transcript.";
        Failure::new(USAGE, "map", format!("{}: {why}.", path.display()), hint)
    };
    let size = fs::metadata(path).map_err(|error| wrong(error.to_string()))?.len();
    if size > LARGEST {
        return Err(wrong(format!("{size} bytes are no map")));
    }
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Map::parse(&text).map_err(|error| wrong(error.to_string()))
}
