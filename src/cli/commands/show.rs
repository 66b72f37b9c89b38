//! `show`: the effective context as text with rails.

use std::{io, process::ExitCode};

use jiff::tz::TimeZone;

use super::open;
use crate::{
    cli::{args::Show, clock, exit::Failure, out},
    export::{self, ShowOptions, Symbols},
};

/// Columns where neither the user nor a terminal names any.
const WIDTH: usize = 100;

pub(super) fn show(args: &Show) -> Result<ExitCode, Failure> {
    let loaded = open(&args.file, &args.reading, args.mark.critical)?;
    let columns = ratatui::crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
    let tty = io::IsTerminal::is_terminal(&io::stdout());
    let options = ShowOptions {
        width: args.width.or(columns.filter(|_| tty)).unwrap_or(WIDTH),
        symbols: if args.ascii { Symbols::Ascii } else { Symbols::Unicode },
        upto: args.as_of.unwrap_or(usize::MAX),
        now: clock::now(),
        zone: TimeZone::system(),
    };
    let mut stdout = io::BufWriter::new(io::stdout().lock());
    let mut wanted = true;
    export::show(&loaded.session, &loaded.payload, &options, |line| {
        wanted = wanted && out::line(&mut stdout, line);
    });
    Ok(ExitCode::SUCCESS)
}
