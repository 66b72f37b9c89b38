//! The command line as types: what can be asked, with its help.
//!
//! Comes in: words. Goes out: typed wishes, or clap's sentence about what is wrong with them.
//! Must never: act, read the environment but through `env`, or know a format's inside.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::{
    budget::{Limit, Settings, parse_tokens},
    format::Format,
    source::Address,
};

mod hand;

pub(super) use hand::{Abandon, Compact, Receipts, Undo, Wanted, Writing};

const EXAMPLES: &str = "\
Examples:
  cutline                                   choose among the sessions found on this machine
  cutline demo                              watch a bundled incident, live
  cutline sample-sessions/refuse.jsonl      open a transcript and follow it
  cutline inspect sample-sessions/refuse.jsonl --json
  cutline plan sample-sessions/defer.jsonl --json
  cutline compact sample-sessions/defer.jsonl --dry-run
  cutline show sample-sessions/defer.jsonl --as-committed";

/// Watch an AI agent's transcript: what it owes, how full its context is, where it may be cut.
#[derive(Debug, Parser)]
#[command(name = "cutline", version, about, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    pub(in crate::cli) command: Option<Command>,
    /// Transcript to open and follow; `-` reads standard input. Without it, sessions are searched.
    pub(in crate::cli) file: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) reading: Reading,
    #[command(flatten)]
    pub(in crate::cli) mark: CriticalMark,
    #[command(flatten)]
    pub(in crate::cli) screen: Screen,
}

/// How a transcript is read and measured.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(in crate::cli) struct Reading {
    /// Session of a database that holds several; the same as `FILE#ID`.
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) session: Option<String>,
    /// Format of the transcript, instead of finding it out.
    #[arg(long, value_name = "NAME", value_parser = format)]
    pub(in crate::cli) format: Option<Format>,
    /// A map that says where things stand in the transcript, for a format of one's own (see `cutline formats`).
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub(in crate::cli) map: Option<PathBuf>,
    /// Context window in tokens (`200000`, `200k`, `1M`), where the file does not name it.
    #[arg(long, value_name = "TOKENS", value_parser = window, env = "CUTLINE_WINDOW")]
    pub(in crate::cli) window: Option<u64>,
    /// Where a compaction is due, as a share (`70%`, `0.7`) or tokens.
    #[arg(long, value_name = "LIMIT", env = "CUTLINE_TRIGGER")]
    pub(in crate::cli) trigger: Option<Limit>,
    /// Tokens of the newest part that a compaction keeps.
    #[arg(long, value_name = "TOKENS", value_parser = tokens, env = "CUTLINE_KEEP")]
    pub(in crate::cli) keep: Option<u64>,
}

impl Reading {
    /// What is read: `file`, or the session of it that was named.
    pub(in crate::cli) fn place(&self, file: &Path) -> PathBuf {
        match (&self.session, Address::of(file)) {
            (Some(session), Some(store)) => store.with(session).path(),
            _ => file.to_path_buf(),
        }
    }

    pub(in crate::cli) fn settings(&self, critical: Option<Limit>) -> Settings {
        Settings { window: self.window, trigger: self.trigger, critical, keep: self.keep }
    }
}

/// The critical mark. Apart from [`Reading`], because for `plan` the bare flag is a state.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(in crate::cli) struct CriticalMark {
    /// Where the next step may not fit, as a share or tokens.
    #[arg(long, value_name = "LIMIT", env = "CUTLINE_CRITICAL")]
    pub(in crate::cli) critical: Option<Limit>,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ColorChoice {
    /// If the terminal can and `NO_COLOR` is not set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never: bold, dim and reverse carry the meaning.
    Never,
}

/// Background that the colours are chosen for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Background {
    /// Dark.
    #[default]
    Dark,
    /// Light.
    Light,
}

/// How the screen looks.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(in crate::cli) struct Screen {
    /// Colour: auto, always, never.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(in crate::cli) color: ColorChoice,
    /// Colours for a dark or a light background.
    #[arg(long, value_enum, default_value_t, value_name = "KIND", env = "CUTLINE_THEME")]
    pub(in crate::cli) theme: Background,
    /// Draw with ASCII only.
    #[arg(long)]
    pub(in crate::cli) ascii: bool,
    /// A command that writes the words of a summary in the preview. Run without a shell.
    #[arg(long, value_name = "CMD ARG...", env = "CUTLINE_SUMMARISER")]
    pub(in crate::cli) summariser: Option<String>,
    /// Never ask the system for file events; look twice a second instead.
    #[arg(long)]
    pub(in crate::cli) poll: bool,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Command {
    /// What a transcript holds, what the model would see, how full it is, what was not understood.
    Inspect(Inspect),
    /// The effective context: what the runtime would send next, record by record.
    Context(Context),
    /// What the agent owes, with age and remedy.
    Obligations(Obligations),
    /// Every position with its legality and reasons.
    Cuts(Cuts),
    /// The verdict: COMPACT (exit 0), DEFER (10), REFUSE (11) or NO-OP (17).
    Plan(Plan),
    /// Write a compacted session that the agent resumes from. The source is never touched.
    Compact(Compact),
    /// Write a session in which something open is given up, and nothing is cut.
    Abandon(Abandon),
    /// Take a commit back.
    Undo(Undo),
    /// What was committed, newest first.
    Receipts(Receipts),
    /// The transcript as text with rails.
    Show(Show),
    /// The transcript formats that cutline reads, and what each of them tells and hides.
    Formats(Formats),
    /// Replay a bundled incident into a temporary file and watch it live.
    Demo(Demo),
}

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::cli) struct Formats {
    /// Print the JSON document of the machine contract.
    #[arg(long)]
    pub(in crate::cli) json: bool,
    #[command(subcommand)]
    pub(in crate::cli) check: Option<FormatsCommand>,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum FormatsCommand {
    /// What a map makes of a transcript, line by line, with hints.
    Check(CheckMap),
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct CheckMap {
    /// The map, or the name of one that is known.
    #[arg(value_name = "MAP")]
    pub(in crate::cli) map: PathBuf,
    /// A transcript of its format.
    pub(in crate::cli) file: PathBuf,
    /// Only the summary and the hints.
    #[arg(long)]
    pub(in crate::cli) summary: bool,
}

/// A transcript and how to print.
#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Input {
    /// Transcript; `-` reads standard input.
    pub(in crate::cli) file: PathBuf,
    /// Print the JSON document of the machine contract.
    #[arg(long)]
    pub(in crate::cli) json: bool,
    #[command(flatten)]
    pub(in crate::cli) reading: Reading,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Inspect {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) mark: CriticalMark,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Context {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) mark: CriticalMark,
    /// As it was when it held N records.
    #[arg(long, value_name = "N")]
    pub(in crate::cli) as_of: Option<usize>,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Obligations {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) mark: CriticalMark,
    /// Also the calls that are closed, with their states.
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// As it was when the context held N records.
    #[arg(long, value_name = "N")]
    pub(in crate::cli) as_of: Option<usize>,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Cuts {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) mark: CriticalMark,
    /// Only the legal ones.
    #[arg(long)]
    pub(in crate::cli) legal_only: bool,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Plan {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) wanted: Wanted,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Show {
    /// Transcript; `-` reads standard input.
    pub(in crate::cli) file: PathBuf,
    /// Columns; by default those of the terminal, else 100.
    #[arg(long, value_name = "COLUMNS")]
    pub(in crate::cli) width: Option<usize>,
    /// As it was when the context held N records.
    #[arg(long, value_name = "N")]
    pub(in crate::cli) as_of: Option<usize>,
    /// Draw with ASCII only.
    #[arg(long)]
    pub(in crate::cli) ascii: bool,
    /// As it would be after the compaction that `compact` would make, with the same options.
    #[arg(long, conflicts_with = "as_of")]
    pub(in crate::cli) as_committed: bool,
    #[command(flatten)]
    pub(in crate::cli) reading: Reading,
    #[command(flatten)]
    pub(in crate::cli) wanted: Wanted,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Demo {
    /// How much faster than it happened.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(in crate::cli) speed: f64,
    #[command(flatten)]
    pub(in crate::cli) screen: Screen,
}

fn format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Format::known().map(Format::name).collect();
        format!("cutline reads {}", known.join(", "))
    })
}

fn tokens(text: &str) -> Result<u64, String> {
    parse_tokens(text).ok_or_else(|| "give tokens as `200000`, `200k` or `1M`".to_string())
}

/// A window of nothing would make every context critical.
fn window(text: &str) -> Result<u64, String> {
    tokens(text).and_then(|n| if n > 0 { Ok(n) } else { Err("a window holds at least one token".to_string()) })
}
