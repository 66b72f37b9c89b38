//! What the operator has in hand: what is staged, the preview that is open, the dialog over it, what was written.

use super::{State, dialog::Dialog, hands::Writer, hands::Written, preview::Preview};
use crate::{
    ledger::Obligation,
    plan::{Abandonment, Session},
};

/// Staged work and everything that shows it. Nothing of it is in a file but the stage.
#[derive(Default)]
pub(super) struct Hand {
    /// What one dialog staged is one step.
    pub(super) steps: Vec<Vec<Abandonment>>,
    /// Steps that were taken back, newest last.
    pub(super) redo: Vec<Vec<Abandonment>>,
    /// Positions of what is staged, ascending; derived.
    pub(super) marks: Vec<usize>,
    pub(super) preview: Option<Preview>,
    pub(super) dialog: Option<Dialog>,
    /// Who writes the transcript, as far as it was looked at.
    pub(super) writer: Option<Writer>,
    /// What was written in this run and is not undone, newest last.
    pub(super) done: Vec<Done>,
}

/// A commit of this run.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) written: Written,
    /// What it settled: staged again if it is undone.
    pub(super) steps: Vec<Vec<Abandonment>>,
}

impl Hand {
    /// Everything staged, in the order it was staged.
    pub(super) fn staged(&self) -> Vec<Abandonment> {
        self.steps.iter().flatten().cloned().collect()
    }

    pub(super) fn is_staged(&self, at: usize) -> bool {
        self.marks.binary_search(&at).is_ok()
    }
}

impl State {
    /// The obligation that `staged` speaks of is still owed.
    pub(super) fn is_open(&self, staged: &Abandonment) -> bool {
        self.obligations.iter().any(|owed| is_meant(&self.session, owed, staged))
    }

    /// Takes what is not owed any more from the stage: its result came, or the transcript was rewound.
    pub(super) fn drop_outlived(&mut self) {
        let mut gone = Vec::new();
        let mut steps = std::mem::take(&mut self.hand.steps);
        for step in &mut steps {
            step.retain(|staged| {
                let open = self.is_open(staged);
                if !open {
                    gone.push(staged.id.clone());
                }
                open
            });
        }
        steps.retain(|step| !step.is_empty());
        self.hand.steps = steps;
        if let Some(first) = gone.first() {
            let more = if gone.len() > 1 { format!(" and {} more", gone.len() - 1) } else { String::new() };
            self.message = Some(format!("not staged any more: {first}{more} is not owed now"));
        }
    }
}

/// True if `staged` means `owed`.
pub(super) fn is_meant(session: &Session, owed: &Obligation, staged: &Abandonment) -> bool {
    let at = staged.instance.is_none_or(|at| at == owed.at);
    at && owed.id.is_some() && session.name(owed.id) == staged.id
}
