//! What `compact` would write: verdict, wish and draft. `show --as-committed` prints the same draft.

use crate::{
    cli::{
        args::Wanted,
        exit::{Failure, REFUSED},
        load::Loaded,
        mint,
    },
    cut::Verdict,
    plan::{self, Draft, Plan, Wish, draft, summary::Prose},
};

/// A compaction thought through.
pub(super) struct Compaction {
    /// The decision.
    pub(super) plan: Plan,
    /// What is carried out: DEFER also for a relief that was accepted.
    pub(super) verdict: Verdict,
    /// The older span of a refusal was taken.
    pub(super) relief: bool,
    /// What would be written; `None` where nothing is.
    pub(super) draft: Option<Draft>,
}

/// Decides and drafts. `prose` is asked for the words of the summary, if there is anything to summarise.
pub(super) fn compaction(
    loaded: &Loaded,
    wanted: &Wanted,
    by: &str,
    relief: bool,
    prose: impl FnOnce((usize, usize)) -> Result<Option<Prose>, Failure>,
) -> Result<Compaction, Failure> {
    let request = wanted.request(by);
    let plan = plan::plan(&loaded.session, &request)?;
    let decision = &plan.decision;
    let offered = decision.relief.filter(|_| relief).map(|relief| relief.cut);
    let verdict = if offered.is_some() { Verdict::Defer } else { decision.verdict };
    let Some(cut) = decision.cut.or(offered) else {
        return Ok(Compaction { plan, verdict, relief: false, draft: None });
    };
    let span = (decision.start, cut);
    let wish = Wish {
        span: Some(span),
        bracketed: request.bracketed,
        block_carried: request.block_carried,
        settle: request.abandon,
        prose: prose(span)?,
    };
    let draft = draft(&loaded.session, &loaded.payload, &wish, &mint::mint()?)?;
    Ok(Compaction { plan, verdict, relief: offered.is_some(), draft: Some(draft) })
}

/// Stops at what forbids the commit, and at what a person has to say yes to first.
pub(super) fn sound(draft: &Draft, confirmed: &[String]) -> Result<(), Failure> {
    if let Some(check) = draft.failed().next() {
        return Err(Failure::new(REFUSED, "check-failed", &check.text, "Nothing was written."));
    }
    let open = |name: &str| !confirmed.iter().any(|yes| yes == name);
    if let Some(check) = draft.asks().find(|check| open(check.name)) {
        let hint = format!("Nothing was written. If that is as it should be: --confirm {}.", check.name);
        return Err(Failure::new(REFUSED, "asks", &check.text, hint));
    }
    Ok(())
}
