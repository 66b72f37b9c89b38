//! The architecture as a test: who may know whom, how long things may be, what every room says first.
#![expect(clippy::unwrap_used, clippy::string_slice, reason = "a test that fails says where")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A room may name only rooms to its left.
const ROOMS: [&str; 11] =
    ["model", "source", "format", "ledger", "budget", "cut", "plan", "commit", "export", "ui", "cli"];
/// These never touch files, clocks, environment, threads or the screen.
const PURE: [&str; 5] = ["format", "ledger", "budget", "cut", "plan"];
const IMPURE: [&str; 8] =
    ["std::fs", "std::env", "std::thread", "std::net", "std::process", "std::time", "ratatui", "std::io::std"];
const LONGEST_FILE: usize = 500;
const LONGEST_FUNCTION: usize = 80;
/// Crates in Cargo.lock, other platforms and tests included.
const MOST_PACKAGES: usize = 300;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            out.push(path);
        }
    }
    out.sort();
    out
}

fn room_of(path: &Path) -> Option<usize> {
    let name = path.strip_prefix("src").ok()?.components().next()?.as_os_str().to_str()?;
    ROOMS.iter().position(|room| *room == name)
}

/// Rooms that a file names, in `use crate::{a::x, b}` trees and in paths.
fn named(text: &str) -> Vec<&'static str> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut out: Vec<&'static str> =
        ROOMS.into_iter().filter(|room| code.contains(&format!("crate::{room}"))).collect();
    for (at, _) in code.match_indices("use crate::{") {
        let tree = &code[at + "use crate::{".len()..];
        let mut depth = 1;
        let mut word = String::new();
        for c in tree.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 1 && (c.is_alphanumeric() || c == '_') {
                word.push(c);
            } else {
                if depth <= 2 || c == '{' {
                    out.extend(ROOMS.into_iter().filter(|room| *room == word));
                }
                word.clear();
            }
            if depth == 0 {
                break;
            }
        }
    }
    out
}

#[test]
fn a_room_names_only_rooms_to_its_left() {
    let mut wrong = Vec::new();
    for path in files(Path::new("src")) {
        let Some(room) = room_of(&path) else { continue };
        let text = fs::read_to_string(&path).unwrap();
        for other in named(&text) {
            let place = ROOMS.iter().position(|name| *name == other).unwrap();
            if place > room {
                wrong.push(format!("{} names {other}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_rooms_touch_nothing() {
    for path in files(Path::new("src")) {
        let Some(room) = room_of(&path).map(|at| ROOMS[at]).filter(|room| PURE.contains(room)) else { continue };
        if path.ends_with("tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in IMPURE {
            assert!(!text.contains(word), "{} in {room} names {word}", path.display());
        }
    }
}

#[test]
fn files_and_functions_fit_on_a_screen() {
    let mut wrong = Vec::new();
    for path in files(Path::new("src")) {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > LONGEST_FILE {
            wrong.push(format!("{} has {} lines", path.display(), lines.len()));
        }
        let mut start: Option<(usize, String)> = None;
        for (n, line) in lines.iter().enumerate() {
            let trimmed = line.trim_start();
            let indent = line.len() - trimmed.len();
            let begins = ["fn ", "pub fn ", "pub(super) fn ", "pub(crate) fn ", "const fn "]
                .iter()
                .any(|f| trimmed.starts_with(f));
            if begins && !trimmed.ends_with(';') {
                start = Some((n, " ".repeat(indent) + "}"));
            } else if let Some((from, end)) = &start
                && line == end
            {
                if n - from + 1 > LONGEST_FUNCTION {
                    wrong.push(format!("{}:{} is {} lines long", path.display(), from + 1, n - from + 1));
                }
                start = None;
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_says_what_it_is() {
    for room in ROOMS {
        let path = Path::new("src").join(room).join("mod.rs");
        let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} is missing", path.display()));
        let head: String = text.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n");
        for part in ["Comes in", "oes out", "Must never"] {
            assert!(head.contains(part), "{} does not say: {part}", path.display());
        }
    }
    for path in files(Path::new("src")).iter().filter(|path| path.ends_with("mod.rs")) {
        let text = fs::read_to_string(path).unwrap();
        assert!(text.starts_with("//!"), "{} opens without its paragraph", path.display());
    }
    let map = fs::read_to_string("src/README.md").unwrap();
    for room in ROOMS {
        assert!(map.contains(&format!("`{room}`")), "src/README.md does not name {room}");
    }
}

#[test]
fn the_project_speaks_of_itself_alone() {
    let words = [concat!("../", "shared"), concat!("/", "work/"), concat!("farm", "-")];
    let mut all: Vec<PathBuf> = files(Path::new("src"));
    all.extend(files(Path::new("tests")));
    all.extend(["README.md", "src/README.md", "Cargo.toml"].map(PathBuf::from));
    for path in all {
        let text = fs::read_to_string(&path).unwrap_or_default();
        for word in words {
            assert!(!text.contains(word), "{} says {word}", path.display());
        }
    }
}

#[test]
fn the_tree_stays_small() {
    let lock = fs::read_to_string("Cargo.lock").unwrap();
    let packages = lock.matches("[[package]]").count();
    assert!(packages <= MOST_PACKAGES, "{packages} packages");
    for banned in ["tokio", "reqwest", "hyper", "ureq", "async-std", "openssl"] {
        assert!(!lock.contains(&format!("name = \"{banned}\"")), "{banned} has no place here");
    }
    let toml = fs::read_to_string("Cargo.toml").unwrap();
    let dependencies = toml.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let mut said = false;
    for line in dependencies.lines().filter(|line| !line.is_empty()) {
        assert!(line.starts_with('#') || said, "a dependency without its reason: {line}");
        said = line.starts_with('#');
    }
}
