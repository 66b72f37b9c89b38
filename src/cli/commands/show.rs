//! `show`: the effective context as text with rails.

use std::{io, path::Path, process::ExitCode};

use jiff::tz::TimeZone;

use super::{compaction::compaction, open};
use crate::{
    budget::Limit,
    cli::{
        args::{Reading, Show},
        clock,
        exit::Failure,
        out,
    },
    export::{self, ShowOptions, Symbols},
    plan::{Payload, Session},
};

/// Columns where neither the user nor a terminal names any.
const WIDTH: usize = 100;

pub(super) fn show(args: &Show) -> Result<ExitCode, Failure> {
    let loaded = open(&args.file, &args.reading, args.wanted.mark())?;
    let options = options(args.width, args.as_of, args.ascii);
    if !args.as_committed {
        print(&loaded.session, &loaded.payload, &options);
        return Ok(ExitCode::SUCCESS);
    }
    let planned = compaction(&loaded, &args.wanted, "", true, |_| Ok(None))?;
    let Some(draft) = planned.draft else {
        return Err(Failure::new(
            planned.verdict.exit_code(),
            "nothing-to-write",
            format!("{}: {}", planned.verdict.name(), planned.plan.decision.because),
            "`cutline plan` names what stands in the way.",
        ));
    };
    print(&draft.after, &draft.bytes, &options);
    Ok(ExitCode::from(planned.verdict.exit_code()))
}

/// What the screen would show, where there is no screen: stdout is a pipe, or the terminal is dumb.
pub(super) fn plain(file: &Path, reading: &Reading, critical: Option<Limit>) -> Result<ExitCode, Failure> {
    let loaded = open(file, reading, critical)?;
    print(&loaded.session, &loaded.payload, &options(None, None, false));
    Ok(ExitCode::SUCCESS)
}

fn options(width: Option<usize>, as_of: Option<usize>, ascii: bool) -> ShowOptions {
    let columns = ratatui::crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
    let tty = io::IsTerminal::is_terminal(&io::stdout());
    ShowOptions {
        width: width.or(columns.filter(|_| tty)).unwrap_or(WIDTH),
        symbols: if ascii { Symbols::Ascii } else { Symbols::Unicode },
        upto: as_of.unwrap_or(usize::MAX),
        now: clock::now(),
        zone: TimeZone::system(),
    }
}

fn print(session: &Session, payload: &dyn Payload, options: &ShowOptions) {
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let mut wanted = true;
    export::show(session, payload, options, |line| {
        wanted = wanted && out::line(&mut stdout, line);
    });
}
