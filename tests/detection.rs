//! Every sample of the repository against every format: one format wins, and it is the right one; read as any other
//! format nothing breaks and no line goes missing.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::{collections::HashMap, fs, ops::Range, path::PathBuf};

use cutline::format::{Format, Transcript, json::Raw};

/// Folders whose files are all of one format.
const FOLDERS: [(&str, &str); 3] = [("tests/claude", "claude-code"), ("tests/codex", "codex"), ("tests/pi", "pi")];
/// Folders with a table that says what each file is. A fork is of the format of its source.
const TABLES: [(&str, &str); 3] = [
    ("sample-sessions", "sample-sessions/README.md"),
    ("tests/drafts/golden", "sample-sessions/README.md"),
    ("tests/maps/samples", "tests/maps/facts.txt"),
];

#[test]
fn one_format_wins_and_it_is_the_right_one() {
    for Sample { name, format, bytes } in samples() {
        let transcript = read(&bytes, None);
        let found = transcript.detection().map(|found| found.formats().map(Format::name).collect::<Vec<_>>());
        assert_eq!(found, Some(vec![format.as_str()]), "{name}");
    }
}

#[test]
fn every_format_has_a_sample() {
    let samples = samples();
    for format in Format::known() {
        assert!(samples.iter().any(|sample| sample.format == format.name()), "{}", format.name());
    }
}

#[test]
fn read_as_another_format_no_line_goes_missing() {
    let mut lost = Vec::new();
    for Sample { name, format, bytes } in samples() {
        let (units, full) = (units(&bytes), bytes.split(|byte| *byte == b'\n').filter(|line| !is_blank(line)).count());
        for other in Format::known().filter(|other| other.name() != format) {
            let transcript = read(&bytes, Some(other));
            let log = transcript.log();
            let starts: Vec<usize> =
                log.records.iter().map(|record| usize::try_from(record.offset).unwrap() + record.at as usize).collect();
            let missing = units.iter().filter(|(line, range)| {
                let noted = log.notes.iter().any(|note| note.line == *line);
                // A message that says nothing leaves nothing.
                let silent = memchr::memmem::find(&bytes[range.clone()], b"\"content\":[]").is_some();
                !noted && !silent && !starts.iter().any(|start| range.contains(start))
            });
            // A line may hold nothing but measured tokens.
            let missing = missing.count().saturating_sub(log.usage.len());
            if (log.lines as usize, missing) != (full, 0) {
                lost.push(format!("{name} as {}: {missing} of {full}", other.name()));
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

struct Sample {
    name: String,
    format: String,
    bytes: Vec<u8>,
}

fn samples() -> Vec<Sample> {
    let mut all = Vec::new();
    for (folder, format) in FOLDERS {
        all.extend(transcripts(folder).map(|(name, bytes)| Sample { name, format: format.to_string(), bytes }));
    }
    for (folder, table) in TABLES {
        let formats = formats(&fs::read_to_string(table).unwrap());
        all.extend(transcripts(folder).map(|(name, bytes)| {
            let file = name.rsplit('/').next().unwrap();
            let format = formats.get(file).cloned().unwrap_or_default();
            Sample { name, format, bytes }
        }));
    }
    assert!(all.len() > 100, "{}", all.len());
    all
}

fn transcripts(folder: &str) -> impl Iterator<Item = (String, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl" || end == "json"));
    paths.sort_unstable();
    paths.into_iter().map(|path| (path.display().to_string(), fs::read(path).unwrap()))
}

/// Formats by file, of a table whose rows begin with both.
fn formats(table: &str) -> HashMap<String, String> {
    let mut formats = HashMap::new();
    for line in table.lines() {
        let mut cells = line.trim_start_matches("| ").split(" | ");
        if let (Some(file), Some(format)) = (cells.next(), cells.next()) {
            formats.insert(file.trim_matches('`').to_string(), format.to_string());
        }
    }
    formats
}

/// What must not go missing, as 1-based line and bytes: the items of an array, a document, else every line.
fn units(bytes: &[u8]) -> Vec<(u32, Range<usize>)> {
    let line = |at: usize| u32::try_from(bytes.iter().take(at).filter(|byte| **byte == b'\n').count()).unwrap() + 1;
    if let Ok(whole) = Raw::parse(bytes) {
        let items: Vec<Raw<'_>> = if whole.is_array() { whole.items().collect() } else { vec![whole] };
        let place = |(at, len): (u32, u32)| (line(at as usize), at as usize..(at + len) as usize);
        return items.into_iter().map(|item| place(item.range())).collect();
    }
    let mut at = 0;
    let mut units = Vec::new();
    for (n, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if !is_blank(text) {
            units.push((n, at..at + text.len()));
        }
        at += text.len() + 1;
    }
    units
}

fn is_blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}

fn read(bytes: &[u8], format: Option<Format>) -> Transcript {
    let mut transcript = Transcript::new(format, "x");
    transcript.feed(bytes);
    transcript.finish();
    transcript.context();
    transcript
}
