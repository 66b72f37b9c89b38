//! `inspect`, `context`, `obligations`, `cuts`: facts, as documents or as lines.

use std::{io, process::ExitCode};

use super::open;
use crate::{
    cli::{
        args::{Context, Cuts, Inspect, Obligations},
        clock,
        exit::Failure,
        out,
    },
    export::{ContextReport, CutsReport, InspectReport, ObligationItem, ObligationsReport},
    model::show_line,
};

pub(super) fn inspect(args: &Inspect) -> Result<ExitCode, Failure> {
    let loaded = open(&args.input.file, &args.input.reading, args.mark.critical)?;
    let report =
        InspectReport::of(&loaded.session, &loaded.path).ok_or_else(|| Failure::not_a_transcript(&loaded.path))?;
    if args.input.json {
        out::document(&report);
    } else {
        print(report.lines());
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn context(args: &Context) -> Result<ExitCode, Failure> {
    let loaded = open(&args.input.file, &args.input.reading, args.mark.critical)?;
    let report = ContextReport::of(&loaded.session, args.as_of.unwrap_or(usize::MAX));
    if args.input.json {
        out::document(&report);
    } else {
        print(report.lines());
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn obligations(args: &Obligations) -> Result<ExitCode, Failure> {
    let loaded = open(&args.input.file, &args.input.reading, args.mark.critical)?;
    let report = ObligationsReport::of(&loaded.session, &loaded.payload, clock::now(), args.all, args.as_of);
    if args.input.json {
        out::document(&report);
        return Ok(ExitCode::SUCCESS);
    }
    if report.items().is_empty() {
        print(["Nothing is owed.".to_string()]);
    } else {
        print(report.items().iter().map(obligation_line));
    }
    Ok(ExitCode::SUCCESS)
}

fn obligation_line(item: &ObligationItem) -> String {
    let [kind, at, state, age, what, id] = item.columns();
    format!("{kind:<11} {at:>7}  {state:<20} {age:>8}  {what}  {id}  → {}", item.remedy())
}

pub(super) fn cuts(args: &Cuts) -> Result<ExitCode, Failure> {
    let loaded = open(&args.input.file, &args.input.reading, args.mark.critical)?;
    let report = CutsReport::of(&loaded.session, args.legal_only);
    if args.input.json {
        out::document(&report);
    } else {
        print([format!("{} records, live from {}", report.records(), report.live_from())]);
        print(report.lines());
    }
    Ok(ExitCode::SUCCESS)
}

/// Lines that may quote the transcript, made safe.
fn print(lines: impl IntoIterator<Item = String>) {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    lines.into_iter().all(|line| out::line(&mut stdout, &show_line(&line)));
}
