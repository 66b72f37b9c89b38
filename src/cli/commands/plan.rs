//! `plan`: the verdict, in words or as a document, and as an exit code.

use std::{io, process::ExitCode};

use super::open;
use crate::{
    cli::{args::Plan, clock, exit::Failure, load::Loaded, out},
    export::PlanReport,
    model::show_line,
    plan,
};

pub(super) fn plan(args: &Plan) -> Result<ExitCode, Failure> {
    let loaded = open(&args.input.file, &args.input.reading, args.wanted.mark())?;
    let request = args.wanted.request("");
    let planned = plan::plan(&loaded.session, &request)?;
    tell(&loaded, &planned, args.input.json)?;
    Ok(ExitCode::from(planned.decision.verdict.exit_code()))
}

/// Prints the verdict.
pub(super) fn tell(loaded: &Loaded, planned: &plan::Plan, json: bool) -> Result<(), Failure> {
    let sha256 = loaded.sha256.clone();
    let report = PlanReport::of(&loaded.session, &loaded.payload, clock::now(), planned, sha256)
        .ok_or_else(|| Failure::not_a_transcript(&loaded.path))?;
    if json {
        out::document(&report);
    } else {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        report.lines().iter().all(|line| out::line(&mut stdout, &show_line(line)));
    }
    Ok(())
}
