//! `plan`: the verdict, in words or as a document, and as an exit code.

use std::{io, process::ExitCode};

use super::open;
use crate::{
    budget::Pressure,
    cli::{args::Plan, clock, exit::Failure, out},
    export::PlanReport,
    model::show_line,
    plan::{self, Request},
};

pub(super) fn plan(args: &Plan) -> Result<ExitCode, Failure> {
    let mark = args.critical.flatten();
    let loaded = open(&args.input.file, &args.input.reading, mark)?;
    let critical_now = matches!(args.critical, Some(None));
    let request = Request {
        from: args.from,
        to: args.to,
        bracketed: args.bracketed,
        block_carried: args.block_carried,
        min_progress: args.min_progress,
        pressure: match (critical_now, args.pressed) {
            (true, _) => Some(Pressure::Critical),
            (_, true) => Some(Pressure::Pressed),
            _ => None,
        },
        abandon: args.abandon.clone(),
    };
    let planned = plan::plan(&loaded.session, &request)?;
    let report = PlanReport::of(&loaded.session, &loaded.payload, clock::now(), &planned, loaded.sha256)
        .ok_or_else(|| Failure::not_a_transcript(&loaded.path))?;
    if args.input.json {
        out::document(&report);
    } else {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        report.lines().iter().all(|line| out::line(&mut stdout, &show_line(line)));
    }
    Ok(ExitCode::from(planned.decision.verdict.exit_code()))
}
