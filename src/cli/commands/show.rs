//! `show`: the effective context as text with rails.

use std::{io, path::Path, process::ExitCode};

use jiff::tz::TimeZone;

use super::open;
use crate::{
    budget::Limit,
    cli::{
        args::{Reading, Show},
        clock,
        exit::Failure,
        out,
    },
    export::{self, ShowOptions, Symbols},
};

/// Columns where neither the user nor a terminal names any.
const WIDTH: usize = 100;

pub(super) fn show(args: &Show) -> Result<ExitCode, Failure> {
    print(&args.file, &args.reading, args.mark.critical, args.width, args.as_of, args.ascii)
}

/// What the screen would show, where there is no screen: stdout is a pipe, or the terminal is dumb.
pub(super) fn plain(file: &Path, reading: &Reading, critical: Option<Limit>) -> Result<ExitCode, Failure> {
    print(file, reading, critical, None, None, false)
}

fn print(
    file: &Path,
    reading: &Reading,
    critical: Option<Limit>,
    width: Option<usize>,
    as_of: Option<usize>,
    ascii: bool,
) -> Result<ExitCode, Failure> {
    let loaded = open(file, reading, critical)?;
    let columns = ratatui::crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
    let tty = io::IsTerminal::is_terminal(&io::stdout());
    let options = ShowOptions {
        width: width.or(columns.filter(|_| tty)).unwrap_or(WIDTH),
        symbols: if ascii { Symbols::Ascii } else { Symbols::Unicode },
        upto: as_of.unwrap_or(usize::MAX),
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
