//! What is wanted of a plan, and how it is carried out.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{Input, tokens};
use crate::{
    budget::{Limit, Pressure},
    plan::{Abandonment, Request},
};

/// Which span is wanted, and what is given up first.
#[derive(Clone, Debug, ClapArgs)]
pub(in crate::cli) struct Wanted {
    /// Start of the span.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) from: usize,
    /// Wanted end of the span; without it the budget chooses.
    #[arg(long, value_name = "N")]
    pub(in crate::cli) to: Option<usize>,
    /// Allow a stale pair to stay whole around the summary.
    #[arg(long)]
    pub(in crate::cli) bracketed: bool,
    /// Background tasks, live sessions and sub-agents forbid a cut too.
    #[arg(long)]
    pub(in crate::cli) block_carried: bool,
    /// Fewest tokens that a compaction must free.
    #[arg(long, value_name = "TOKENS", value_parser = tokens)]
    pub(in crate::cli) min_progress: Option<u64>,
    /// Decide as if the context were critical; with `=LIMIT`: where that begins.
    #[arg(long, value_name = "LIMIT", num_args = 0..=1, require_equals = true, conflicts_with = "pressed")]
    #[expect(clippy::option_option, reason = "absent, the bare flag, and a limit are three things")]
    pub(in crate::cli) critical: Option<Option<Limit>>,
    /// Decide as if the context were over the trigger.
    #[arg(long)]
    pub(in crate::cli) pressed: bool,
    /// Give up something open first: a call, an approval request, a transaction, a retry counter, a task that lives on.
    /// May be given several times.
    #[arg(long, value_name = "ID[@INSTANCE]=REASON")]
    pub(in crate::cli) abandon: Vec<Abandonment>,
}

impl Wanted {
    /// The critical mark, if one was given.
    pub(in crate::cli) fn mark(&self) -> Option<Limit> {
        self.critical.flatten()
    }

    /// The same as a request. `by`: who gives up.
    pub(in crate::cli) fn request(&self, by: &str) -> Request {
        let critical_now = matches!(self.critical, Some(None));
        let abandon = self.abandon.iter().cloned();
        Request {
            from: self.from,
            to: self.to,
            bracketed: self.bracketed,
            block_carried: self.block_carried,
            min_progress: self.min_progress,
            pressure: match (critical_now, self.pressed) {
                (true, _) => Some(Pressure::Critical),
                (_, true) => Some(Pressure::Pressed),
                _ => None,
            },
            abandon: abandon.map(|wish| Abandonment { by: by.to_string(), ..wish }).collect(),
        }
    }
}

/// Where and by whom something is written.
#[derive(Clone, Debug, ClapArgs)]
pub(in crate::cli) struct Writing {
    /// Write to this path instead of beside the source; it must not exist.
    #[arg(long, value_name = "PATH")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Who does it, for the receipt and for the text that the model reads; by default as configured, else the user.
    #[arg(long, value_name = "NAME", env = "CUTLINE_OPERATOR")]
    pub(in crate::cli) operator: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Compact {
    #[command(flatten)]
    pub(in crate::cli) input: Input,
    #[command(flatten)]
    pub(in crate::cli) wanted: Wanted,
    #[command(flatten)]
    pub(in crate::cli) writing: Writing,
    /// Words of the summary from a file (`-`: standard input). The ledger is put in by cutline.
    #[arg(long, value_name = "FILE", conflicts_with = "summariser")]
    pub(in crate::cli) summary_file: Option<PathBuf>,
    /// A command that writes the words of the summary: JSON on its standard input, JSON on its standard output. Run
    /// without a shell.
    #[arg(long, value_name = "CMD ARG...", env = "CUTLINE_SUMMARISER")]
    pub(in crate::cli) summariser: Option<String>,
    /// Seconds that the summariser may take; 120 by default.
    #[arg(long, value_name = "SECONDS")]
    pub(in crate::cli) summariser_timeout: Option<u64>,
    /// Take the older closed span that a refusal offers; noted in the receipt.
    #[arg(long)]
    pub(in crate::cli) accept_relief: bool,
    /// Say yes to a check that asks, by its name. May be given several times.
    #[arg(long, value_name = "CHECK")]
    pub(in crate::cli) confirm: Vec<String>,
    /// Plan, draft and check; write nothing.
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Print the summary with its ledger; write nothing.
    #[arg(long, conflicts_with = "dry_run")]
    pub(in crate::cli) summary_only: bool,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Abandon {
    /// Transcript.
    pub(in crate::cli) file: PathBuf,
    /// What is given up: its id, with its position if the id is not enough.
    #[arg(value_name = "ID[@INSTANCE]")]
    pub(in crate::cli) id: String,
    /// Why; the model reads it.
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) reason: String,
    /// What shows it; goes to the receipt.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(in crate::cli) evidence: String,
    /// Print the JSON document of the machine contract.
    #[arg(long)]
    pub(in crate::cli) json: bool,
    #[command(flatten)]
    pub(in crate::cli) reading: super::Reading,
    #[command(flatten)]
    pub(in crate::cli) writing: Writing,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Undo {
    /// Receipt: its id, or the path of its file.
    #[arg(required_unless_present = "last")]
    pub(in crate::cli) receipt: Option<String>,
    /// The newest one that was not undone yet.
    #[arg(long, conflicts_with = "receipt")]
    pub(in crate::cli) last: bool,
    /// Print the JSON document of the machine contract.
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(in crate::cli) struct Receipts {
    /// Print the JSON document of the machine contract.
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
