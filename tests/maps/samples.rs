//! `samples/` is made up, one small file a format; `facts.txt` says what is in it, counted by hand.

use std::{fs, path::Path};

use cutline::{
    budget::Settings,
    format::{Format, Transcript},
    plan::Session,
};

struct Facts {
    file: String,
    format: String,
    counts: [usize; 5],
    open: String,
    usage: String,
}

fn facts() -> Vec<Facts> {
    let text = fs::read_to_string("tests/maps/facts.txt").unwrap();
    let row = |line: &str| {
        let cells: Vec<String> = line.split(" | ").map(str::to_string).collect();
        let count = |at: usize| cells[at].parse().unwrap();
        Facts {
            file: cells[0].clone(),
            format: cells[1].clone(),
            counts: [count(2), count(3), count(5), count(6), count(7)],
            open: cells[4].clone(),
            usage: cells[8].clone(),
        }
    };
    text.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn bytes(file: &str) -> Vec<u8> {
    fs::read(format!("tests/maps/samples/{file}")).unwrap()
}

#[test]
fn every_map_reads_its_sample() {
    for want in facts() {
        let session = Session::of_bytes(&bytes(&want.file), None, "x", Settings::default());
        let name = &want.file;
        assert_eq!(session.detection().map(|found| found.format.name()), Some(&*want.format), "{name}");
        let (log, tally) = (session.log(), session.tally());
        let got = [tally.calls, tally.results, tally.orphans, tally.duplicates, log.boundaries.len()];
        assert_eq!(got, want.counts, "{name}: calls, results, orphans, duplicates, boundaries");
        let open = tally.open();
        let mut ids: Vec<&str> = open.iter().map(|call| session.name(log.records[call.record as usize].id)).collect();
        ids.sort_unstable();
        assert_eq!(if ids.is_empty() { "-".to_string() } else { ids.join(" ") }, want.open, "{name}: open");
        let usage = log.usage.last().map_or("-".to_string(), |usage| (usage.input + usage.output).to_string());
        assert_eq!(usage, want.usage, "{name}: usage");
        assert_eq!(log.not_understood, 0, "{name}");
        assert_eq!(session.notes().len(), 0, "{name}: {:?}", session.notes());
    }
}

#[test]
fn every_map_has_a_sample() {
    let facts = facts();
    for format in Format::known().filter(|format| matches!(format, Format::Mapped(_))) {
        assert!(facts.iter().any(|facts| facts.format == format.name()), "{}", format.name());
    }
    let files = fs::read_dir("tests/maps/samples").unwrap().count();
    assert_eq!(files, facts.len(), "facts.txt has a row for each sample");
}

/// Every sample of the repository, with the formats that its folder may hold.
fn everything() -> Vec<(String, Vec<u8>, Vec<String>)> {
    let mut all: Vec<(String, Vec<u8>, Vec<String>)> =
        facts().into_iter().map(|row| (row.file.clone(), bytes(&row.file), vec![row.format])).collect();
    for (folder, formats) in [
        ("sample-sessions", Format::ALL.into_iter().map(Format::name).collect()),
        ("tests/claude", vec!["claude-code"]),
        ("tests/codex", vec!["codex"]),
        ("tests/pi", vec!["pi"]),
        ("tests/anthropic", vec!["anthropic"]),
    ] {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|end| end == "jsonl" || end == "json") {
                let name = path.display().to_string();
                all.push((name, fs::read(&path).unwrap(), formats.iter().map(ToString::to_string).collect()));
            }
        }
    }
    all
}

#[test]
fn every_sample_has_exactly_one_format() {
    let all = everything();
    assert!(all.len() > 60, "{}", all.len());
    for (name, bytes, formats) in all {
        let session = Session::of_bytes(&bytes, None, "x", Settings::default());
        let Some(found) = session.detection() else { panic!("{name}: no format") };
        assert!(formats.iter().any(|format| format == found.format.name()), "{name}: {}", found.format.name());
        assert!(found.rivals.is_empty(), "{name}: {:?}", found.reasons);
    }
}

/// What was read, as text that can be compared.
fn read(transcript: &mut Transcript) -> String {
    let slots = transcript.context().map(|(context, _)| context.slots().to_vec());
    let log = transcript.log();
    format!("{:?}\n{slots:?}\n{:?}\n{:?}", log.records, log.usage, log.notes)
}

#[test]
fn any_chunking_reads_the_same_and_looking_in_between_changes_nothing() {
    for facts in facts() {
        let bytes = bytes(&facts.file);
        let mut cold = Transcript::new(None, "x");
        cold.feed(&bytes);
        cold.finish();
        let cold = read(&mut cold);
        for size in [1, 7, 64, 1_000] {
            let mut slow = Transcript::new(None, "x");
            for chunk in bytes.chunks(size) {
                slow.feed(chunk);
                slow.context();
            }
            slow.finish();
            assert_eq!(read(&mut slow), cold, "{} in chunks of {size}", facts.file);
        }
    }
}

#[test]
fn every_record_can_be_shown() {
    for facts in facts() {
        let bytes = bytes(&facts.file);
        let mut transcript = Transcript::new(None, "x");
        transcript.feed(&bytes);
        transcript.finish();
        let adapter = transcript.adapter().unwrap();
        for record in &transcript.log().records {
            let start = usize::try_from(record.offset).unwrap();
            let line = &bytes[start..start + record.line_len as usize];
            let body = adapter.body(line, record);
            let shown = body.input.as_deref().unwrap_or(&body.text);
            let empty = shown.is_empty() && record.text > 0;
            assert!(!empty, "{} line {}: {:?} shows nothing", facts.file, record.line, record.kind);
        }
    }
}

#[test]
fn the_readme_of_the_maps_names_every_file() {
    for entry in fs::read_dir("assets/formats").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "toml") {
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(Format::from_name(&stem).is_some(), "{stem} is not built in, or not called like its file");
        }
    }
    assert!(Path::new("assets/formats/README.md").exists());
}
