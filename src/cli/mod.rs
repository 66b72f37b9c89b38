//! Arguments, subcommands, exit codes.
//!
//! Comes in: the command line. Goes out: data on stdout, sentences on stderr, an exit code.
//! Must never: print anything but data on stdout; print text of a transcript that did not pass
//! [`Shown`](crate::model::Shown), except inside JSON.

mod args;
mod clock;
mod commands;
mod config;
mod exit;
mod load;
mod maps;
mod mint;
mod out;

use std::process::ExitCode;

use clap::Parser as _;

/// Runs the program.
pub fn main() -> ExitCode {
    maps::install();
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return exit::usage(&error),
    };
    commands::run(&args)
}
