//! One file a group of subcommands.

mod compaction;
mod facts;
mod formats;
mod hand;
mod plan;
mod show;
mod watch;

use std::process::ExitCode;

use super::{
    args::{Args, Command, Reading},
    exit::Failure,
    load::{Loaded, load},
    maps,
};
use crate::{
    budget::Limit,
    format::{Format, map::Mapping},
};

/// Runs what was asked for.
pub(super) fn run(args: &Args) -> ExitCode {
    let (json, done) = match &args.command {
        Some(Command::Inspect(args)) => (args.input.json, facts::inspect(args)),
        Some(Command::Context(args)) => (args.input.json, facts::context(args)),
        Some(Command::Obligations(args)) => (args.input.json, facts::obligations(args)),
        Some(Command::Cuts(args)) => (args.input.json, facts::cuts(args)),
        Some(Command::Plan(args)) => (args.input.json, plan::plan(args)),
        Some(Command::Compact(args)) => (args.input.json, hand::compact(args)),
        Some(Command::Abandon(args)) => (args.json, hand::abandon(args)),
        Some(Command::Undo(args)) => (args.json, hand::undo(args)),
        Some(Command::Receipts(args)) => (args.json, hand::receipts(args)),
        Some(Command::Show(args)) => (false, show::show(args)),
        Some(Command::Formats(args)) => (args.json, formats::formats(args)),
        Some(Command::Demo(args)) => (false, watch::demo(args)),
        None => (false, watch::watch(args)),
    };
    done.unwrap_or_else(|failure| failure.tell(json))
}

fn open(file: &std::path::Path, reading: &Reading, critical: Option<Limit>) -> Result<Loaded, Failure> {
    load(&reading.place(file), chosen(reading)?, reading.settings(critical))
}

/// The format that was forced, by name or by a map.
fn chosen(reading: &Reading) -> Result<Option<Format>, Failure> {
    match &reading.map {
        Some(path) => maps::read(path).map(|map| Some(Format::Mapped(Mapping::keep(map)))),
        None => Ok(reading.format),
    }
}
