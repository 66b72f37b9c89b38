use serde::Serialize;

use crate::{
    commit::Receipt,
    cut::Verdict,
    plan::{Check, Draft, Outcome},
};

/// `cutline compact --json` and `cutline abandon --json`: what was written, or would be.
#[derive(Debug, Serialize)]
pub struct CommitReport {
    schema: &'static str,
    verdict: &'static str,
    mode: &'static str,
    dry_run: bool,
    output: Option<String>,
    resume: Option<String>,
    span: Option<[usize; 2]>,
    relief: bool,
    before: u64,
    after: u64,
    basis: &'static str,
    settled: Vec<SettledItem>,
    checks: Vec<CheckItem>,
    receipt: Option<String>,
    sha256: Hashes,
}

#[derive(Debug, Serialize)]
struct Hashes {
    source: String,
    output: String,
}

#[derive(Debug, Serialize)]
struct SettledItem {
    at: usize,
    id: String,
    act: &'static str,
    reason: String,
}

#[derive(Debug, Serialize)]
struct CheckItem {
    name: &'static str,
    ok: bool,
    outcome: &'static str,
    text: String,
}

impl CheckItem {
    fn of(check: &Check) -> Self {
        let ok = matches!(check.outcome, Outcome::Passed | Outcome::Told);
        Self { name: check.name, ok, outcome: check.outcome.name(), text: check.text.clone() }
    }
}

impl CommitReport {
    /// Of `draft`; `receipt` is `None` where nothing was written. `source` is the hash of the source.
    pub fn of(draft: &Draft, verdict: Verdict, relief: bool, source: &str, receipt: Option<&Receipt>) -> Self {
        let settled = draft.plan.settled.iter().map(|settle| SettledItem {
            at: settle.at,
            id: settle.id.clone(),
            act: settle.act.name(),
            reason: settle.reason.clone(),
        });
        Self {
            schema: "cutline.commit/1",
            verdict: verdict.name(),
            mode: "fork",
            dry_run: receipt.is_none(),
            output: receipt.map(|receipt| receipt.output.path.display().to_string()),
            resume: receipt.map(Receipt::resume_line).filter(|line| !line.is_empty()),
            span: draft.wish.span.map(|(from, to)| [from, to]),
            relief,
            before: draft.before_tokens,
            after: draft.after_tokens,
            basis: draft.basis.name(),
            settled: settled.collect(),
            checks: draft.checks.iter().map(CheckItem::of).collect(),
            receipt: receipt.map(|receipt| receipt.path.display().to_string()),
            sha256: Hashes { source: source.to_string(), output: draft.sha256() },
        }
    }

    /// The same in words. Raw: show it safely.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let relief = if self.relief { " (the relief that the refusal offered)" } else { "" };
        match self.span {
            Some([from, to]) => lines.push(format!(
                "{}  {from}..{to} {} a summary: {} → about {} tokens{relief}.",
                self.verdict,
                if self.dry_run { "would become" } else { "became" },
                self.before,
                self.after
            )),
            None => lines.push("Nothing was cut.".to_string()),
        }
        for settled in &self.settled {
            lines.push(format!("{} #{} {}: {}", settled.act, settled.at, settled.id, settled.reason));
        }
        let passed = self.checks.iter().filter(|check| check.outcome == Outcome::Passed.name()).count();
        lines.push(format!("{passed} of {} checks passed.", self.checks.len()));
        for check in self.checks.iter().filter(|check| check.outcome != Outcome::Passed.name()) {
            lines.push(format!("  {} {}: {}", check.outcome, check.name, check.text));
        }
        match &self.output {
            Some(output) => lines.push(format!("Written: {output}")),
            None => lines.push("Nothing was written: this was a dry run.".to_string()),
        }
        if let Some(resume) = &self.resume {
            lines.push(format!("Resume with: {resume}"));
        }
        if let Some(receipt) = &self.receipt {
            lines.push(format!("Receipt: {receipt}"));
        }
        lines
    }
}
