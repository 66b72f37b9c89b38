//! `formats`: what can be read, and what a map makes of a transcript.

use std::{io, path::Path, process::ExitCode};

use crate::{
    budget::Settings,
    cli::{
        args::{CheckMap, Formats, FormatsCommand},
        exit::Failure,
        load::load,
        maps, out,
    },
    export::{FormatsReport, MapCheck},
    format::{Format, map::Mapping},
    source,
};

pub(super) fn formats(args: &Formats) -> Result<ExitCode, Failure> {
    if let Some(FormatsCommand::Check(args)) = &args.check {
        return check(args);
    }
    let report = FormatsReport::new();
    if args.json {
        out::document(&report);
    } else {
        print(&report.lines());
    }
    Ok(ExitCode::SUCCESS)
}

fn check(args: &CheckMap) -> Result<ExitCode, Failure> {
    let mapping = mapping(&args.map)?;
    let loaded = load(&args.file, Some(Format::Mapped(mapping)), Settings::default())?;
    let mut bytes = Vec::new();
    source::read_chunks(&args.file, |chunk| bytes.extend_from_slice(chunk))?;
    let check = MapCheck::of(mapping, &loaded.session, &bytes);
    if !args.summary {
        print(&check.lines);
        print(&[String::new()]);
    }
    print(&check.summary);
    if !check.hints.is_empty() {
        print(&[String::new()]);
        print(&check.hints);
    }
    Ok(ExitCode::SUCCESS)
}

/// The map in a file, or the known one of that name.
fn mapping(map: &Path) -> Result<Mapping, Failure> {
    if let Some(Format::Mapped(known)) = map.to_str().and_then(Format::from_name)
        && !map.exists()
    {
        return Ok(known);
    }
    maps::read(map).map(Mapping::keep)
}

fn print(lines: &[String]) {
    let mut out = io::stdout().lock();
    for line in lines {
        if !out::line(&mut out, line) {
            return;
        }
    }
}
