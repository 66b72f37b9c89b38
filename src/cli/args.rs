use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::{
    budget::{Limit, Settings, parse_tokens},
    format::Format,
    plan::Abandonment,
};

const EXAMPLES: &str = "\
Examples:
  cutline                                   choose among the sessions found on this machine
  cutline demo                              watch a bundled incident, live
  cutline sample-sessions/refuse.jsonl      open a transcript and follow it
  cutline inspect sample-sessions/refuse.jsonl --json
  cutline plan sample-sessions/defer.jsonl --json";

/// Watch an AI agent's transcript: what it owes, how full its context is, where it may be cut.
#[derive(Debug, Parser)]
#[command(name = "cutline", version, about, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// Transcript to open and follow; `-` reads standard input. Without it, sessions are searched.
    pub(super) file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) mark: CriticalMark,
    #[command(flatten)]
    pub(super) screen: Screen,
}

/// How a transcript is read and measured.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(super) struct Reading {
    /// Format of the transcript, instead of finding it out.
    #[arg(long, value_name = "NAME", value_parser = format)]
    pub(super) format: Option<Format>,
    /// Context window in tokens (`200000`, `200k`, `1M`), where the file does not name it.
    #[arg(long, value_name = "TOKENS", value_parser = window, env = "CUTLINE_WINDOW")]
    pub(super) window: Option<u64>,
    /// Where a compaction is due, as a share (`70%`, `0.7`) or tokens.
    #[arg(long, value_name = "LIMIT", env = "CUTLINE_TRIGGER")]
    pub(super) trigger: Option<Limit>,
    /// Tokens of the newest part that a compaction keeps.
    #[arg(long, value_name = "TOKENS", value_parser = tokens, env = "CUTLINE_KEEP")]
    pub(super) keep: Option<u64>,
}

impl Reading {
    pub(super) fn settings(&self, critical: Option<Limit>) -> Settings {
        Settings { window: self.window, trigger: self.trigger, critical, keep: self.keep }
    }
}

/// The critical mark. Apart from [`Reading`], because for `plan` the bare flag is a state.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(super) struct CriticalMark {
    /// Where the next step may not fit, as a share or tokens.
    #[arg(long, value_name = "LIMIT", env = "CUTLINE_CRITICAL")]
    pub(super) critical: Option<Limit>,
}

/// When colour is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
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
pub(super) enum Background {
    /// Dark.
    #[default]
    Dark,
    /// Light.
    Light,
}

/// How the screen looks.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(super) struct Screen {
    /// Colour: auto, always, never.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(super) color: ColorChoice,
    /// Colours for a dark or a light background.
    #[arg(long, value_enum, default_value_t, value_name = "KIND", env = "CUTLINE_THEME")]
    pub(super) theme: Background,
    /// Draw with ASCII only.
    #[arg(long)]
    pub(super) ascii: bool,
    /// Never ask the system for file events; look twice a second instead.
    #[arg(long)]
    pub(super) poll: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
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
    /// The transcript as text with rails.
    Show(Show),
    /// Replay a bundled incident into a temporary file and watch it live.
    Demo(Demo),
}

/// A transcript and how to print.
#[derive(Debug, ClapArgs)]
pub(super) struct Input {
    /// Transcript; `-` reads standard input.
    pub(super) file: PathBuf,
    /// Print the JSON document of the machine contract.
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) reading: Reading,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Inspect {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) mark: CriticalMark,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Context {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) mark: CriticalMark,
    /// As it was when it held N records.
    #[arg(long, value_name = "N")]
    pub(super) as_of: Option<usize>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Obligations {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) mark: CriticalMark,
    /// Also the calls that are closed, with their states.
    #[arg(long)]
    pub(super) all: bool,
    /// As it was when the context held N records.
    #[arg(long, value_name = "N")]
    pub(super) as_of: Option<usize>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Cuts {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    pub(super) mark: CriticalMark,
    /// Only the legal ones.
    #[arg(long)]
    pub(super) legal_only: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Plan {
    #[command(flatten)]
    pub(super) input: Input,
    /// Start of the span.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) from: usize,
    /// Wanted end of the span; without it the budget chooses.
    #[arg(long, value_name = "N")]
    pub(super) to: Option<usize>,
    /// Allow a stale pair to stay whole around the summary.
    #[arg(long)]
    pub(super) bracketed: bool,
    /// Background tasks, live sessions and sub-agents forbid a cut too.
    #[arg(long)]
    pub(super) block_carried: bool,
    /// Fewest tokens that a compaction must free.
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub(super) min_progress: Option<u64>,
    /// Decide as if the context were critical; with `=LIMIT`: where that begins.
    #[arg(long, value_name = "LIMIT", num_args = 0..=1, require_equals = true, conflicts_with = "pressed")]
    #[expect(clippy::option_option, reason = "absent, the bare flag, and a limit are three things")]
    pub(super) critical: Option<Option<Limit>>,
    /// Decide as if the context were over the trigger.
    #[arg(long)]
    pub(super) pressed: bool,
    /// Give up an open call first. May be given several times.
    #[arg(long, value_name = "ID[@INSTANCE]=REASON")]
    pub(super) abandon: Vec<Abandonment>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Show {
    /// Transcript; `-` reads standard input.
    pub(super) file: PathBuf,
    /// Columns; by default those of the terminal, else 100.
    #[arg(long, value_name = "COLUMNS")]
    pub(super) width: Option<usize>,
    /// As it was when the context held N records.
    #[arg(long, value_name = "N")]
    pub(super) as_of: Option<usize>,
    /// Draw with ASCII only.
    #[arg(long)]
    pub(super) ascii: bool,
    #[command(flatten)]
    pub(super) reading: Reading,
    #[command(flatten)]
    pub(super) mark: CriticalMark,
}

#[derive(Debug, ClapArgs)]
pub(super) struct Demo {
    /// How much faster than it happened.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(super) speed: f64,
    #[command(flatten)]
    pub(super) screen: Screen,
}

fn format(name: &str) -> Result<Format, String> {
    Format::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
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
