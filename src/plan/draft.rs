use sha2::{Digest as _, Sha256};

use super::{
    Abandonment, Check, Outcome, Payload, Plan, PlanError, Request, Session, plan,
    settle::Settled,
    summary::{self, Author, Material, Prose, Table},
    verify::{self, Old, Placed},
};
use crate::{
    budget::Basis,
    cut::{Rules, why_illegal},
    format::{ForkError, ForkOrder, Forked, Format, Minted, Origin, neutral},
    model::{Kind, Log},
};

/// Blockers that a check names; `plan` lists them all.
const NAMED: usize = 3;

/// What the operator wants written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Exactly this span, legal or not; `None`: nothing is cut.
    pub span: Option<(usize, usize)>,
    /// Allow a stale pair to stay whole around the summary.
    pub bracketed: bool,
    /// What lives on after its launch was answered forbids a cut too.
    pub block_carried: bool,
    /// What is settled by force first.
    pub settle: Vec<Abandonment>,
    /// Words of the summary; `None`: the built-in extract.
    pub prose: Option<Prose>,
}

/// The summary of a draft.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Its words.
    pub prose: Prose,
    /// Its facts.
    pub table: Table,
    /// Provenance, words and ledger, as it is written.
    pub text: String,
}

/// A new session file, thought through to the last byte and read back by a fresh reader, but not written.
pub struct Draft {
    /// What was wished.
    pub wish: Wish,
    /// The decision about the wished span.
    pub plan: Plan,
    /// Stands in the place of the span; `None` if nothing is cut.
    pub summary: Option<Summary>,
    /// Origins, file name, resume command.
    pub forked: Forked,
    /// The new file.
    pub bytes: Vec<u8>,
    /// What a fresh reader makes of it.
    pub after: Session,
    /// Everything that was looked at.
    pub checks: Vec<Check>,
    /// Tokens in use now.
    pub before_tokens: u64,
    /// Tokens in use in the new session, estimated.
    pub after_tokens: u64,
    /// Where the number of tokens in use now comes from.
    pub basis: Basis,
    /// Session or thread id of the source, as far as it says.
    pub session_from: Option<String>,
    /// Bytes of the source that this speaks of.
    pub source_bytes: u64,
    placed: Placed,
}

/// A draft cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// The request names something that is not there.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The file cannot be made.
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// The source grew, and what came touches what was previewed.
    #[error("The source changed since the preview: {0}")]
    Changed(String),
}

/// Drafts what `wish` asks for. Also an illegal span gets its draft, so that it can be looked at; its checks fail.
///
/// # Errors
/// [`DraftError`] if the wish names something that is not there, or the format cannot say it.
pub fn draft(session: &Session, payload: &dyn Payload, wish: &Wish, minted: &Minted) -> Result<Draft, DraftError> {
    let request = Request {
        from: wish.span.map_or(0, |(from, _)| from),
        to: wish.span.map(|(_, to)| to),
        bracketed: wish.bracketed,
        block_carried: wish.block_carried,
        abandon: wish.settle.clone(),
        ..Request::default()
    };
    let plan = plan(session, &request)?;
    let adapter = session.adapter().ok_or(PlanError::NotATranscript)?;
    let span = wish.span.filter(|(from, to)| from < to);
    let (from, to) = span.unwrap_or((session.context().len(), session.context().len()));
    let material = Material { session, payload, from, to, settle: &plan.settled };
    let summary = span.map(|_| {
        let table = Table::of(&material);
        let prose = wish.prose.clone().unwrap_or_else(|| extracted(&material, &table));
        let text = summary::compose(&prose, &table);
        Summary { prose, table, text }
    });
    let before_tokens = session.budget().map_or(0, crate::budget::Budget::used);
    let order = ForkOrder {
        log: session.log(),
        context: session.context(),
        from,
        to,
        summary: summary.as_ref().map(|summary| summary.text.as_str()),
        tokens: before_tokens,
        settle: &plan.settled,
        minted,
        payload,
    };
    let forked = match adapter.fork(&order) {
        Err(ForkError::ReadOnly) => {
            let body = |at: usize| session.body(at, payload);
            neutral::convert(&order, adapter.format().name(), &body)
        }
        forked => forked?,
    };
    let bytes = forked.rope.render(payload).ok_or(ForkError::Gone(0))?;
    let format = if forked.converted { Format::Cutline } else { adapter.format() };
    let after = Session::of_bytes(&bytes, Some(format), stem(&forked.name), *session.settings());
    let placed = Placed::of(&forked, &after);
    let mut checks: Vec<Check> = legality(session, &plan, wish, span).into_iter().collect();
    checks.extend(verify::checks(&Old { session, payload, plan: &plan, from, to }, &forked, &bytes, &after, &placed));
    checks.extend(sealed(&material));
    if let Some(summary) = &summary {
        checks.extend(summary::checks(&material, &summary.prose, &summary.table));
    }
    let mut draft = Draft {
        wish: wish.clone(),
        plan,
        summary,
        basis: session.budget().map_or(Basis::None, |budget| budget.series.basis()),
        session_from: session.facts().id,
        before_tokens,
        after_tokens: 0,
        source_bytes: session.bytes(),
        forked,
        bytes,
        after,
        checks,
        placed,
    };
    draft.after_tokens = draft.projected(session, span);
    draft.checks.push(size(&draft));
    draft.checks.extend(draft.forked.told.iter().map(|text| Check::new("told", Outcome::Told, text)));
    Ok(draft)
}

fn extracted(material: &Material<'_>, table: &Table) -> Prose {
    Prose { text: summary::extract(material, table), by: Author::Extract }
}

fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Legality of the span on the log with everything settled, in the numbering of the context as it is.
fn legality(session: &Session, plan: &Plan, wish: &Wish, span: Option<(usize, usize)>) -> Option<Check> {
    let (from, to) = span?;
    let Settled { ledger, put, .. } = super::settle::settled(session, &plan.settled);
    let shifted = |position: usize| put.shifted(position);
    let rules = Rules { strict: !wish.bracketed, live: true, carried: wish.block_carried };
    let reasons = why_illegal(&ledger, &ledger.units(), shifted(from), shifted(to), rules);
    let failed = (!reasons.is_empty()).then(|| {
        let blockers = &plan.decision.blockers;
        let named = blockers.iter().take(NAMED).map(|blocker| {
            let owed = &blocker.obligation;
            let id = owed.id.map_or(String::new(), |id| format!(" {}", session.log().syms.name(id)));
            format!(" {} #{}{id} {} ({}).", owed.kind.short(), owed.at, blocker.state_sentence(), owed.remedy.name())
        });
        let named: String = named.collect();
        let more = blockers.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" … and {more} more.") } else { String::new() };
        format!("{from}..{to} may not be cut:{named}{more}")
    });
    Some(Check::of("legal", failed, format!("{from}..{to} is obligation-closed and splits nothing.")))
}

/// A former summary of which no word can be read (a provider may encrypt it) would be lost.
fn sealed(material: &Material<'_>) -> Option<Check> {
    let Material { session, payload, from, to, .. } = *material;
    let unread = |at: &usize| {
        let summary = session.record(*at).is_some_and(|record| record.kind == Kind::Summary);
        summary && session.body(*at, payload).is_none_or(|body| body.text.trim().is_empty())
    };
    let at = (from..to).find(unread)?;
    let text =
        format!("The earlier summary at #{at} cannot be read (it may be encrypted): what it says would be lost.");
    Some(Check::new("former-summary", Outcome::Asks, text))
}

fn size(draft: &Draft) -> Check {
    let (before, after) = (draft.before_tokens, draft.after_tokens);
    if draft.summary.is_none() {
        return Check::new("smaller", Outcome::Told, "Nothing is cut: the context keeps its size.");
    }
    let failed =
        (after >= before).then(|| format!("The new context would hold {after} tokens, not fewer than {before}."));
    Check::of("smaller", failed, format!("{before} tokens become about {after}."))
}

impl Draft {
    /// SHA-256 of the new file, in hexadecimal.
    pub fn sha256(&self) -> String {
        hex(&Sha256::digest(&self.bytes))
    }

    /// Holds what was read back from the disk against the draft, with a fresh reader.
    ///
    /// # Errors
    /// What differs, as a sentence.
    pub fn accepts(&self, bytes: &[u8]) -> Result<(), String> {
        let format = self.after.adapter().map(crate::format::Adapter::format);
        let fresh = Session::of_bytes(bytes, format, stem(&self.forked.name), *self.after.settings());
        let known = |session: &Session| -> Vec<_> {
            let records = (0..session.context().len()).filter_map(|at| session.record(at).copied());
            records.map(|record| (record.kind, session.name(record.id).to_string(), record.tokens)).collect()
        };
        if fresh.obligations() != self.after.obligations() || known(&fresh) != known(&self.after) {
            return Err("A fresh reader finds other records in the written file than were previewed.".to_string());
        }
        if bytes != self.bytes {
            return Err("The written file differs from the preview.".to_string());
        }
        Ok(())
    }

    /// What forbids the commit.
    pub fn failed(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.outcome == Outcome::Failed)
    }

    /// What a person has to say yes to.
    pub fn asks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.outcome == Outcome::Asks)
    }

    /// Where the record at `position` of the new context comes from; `None` for what the runtime invents.
    pub fn origin(&self, position: usize) -> Option<Origin> {
        let place = self.placed.by_position.binary_search_by_key(&position, |(at, _)| *at).ok()?;
        self.placed.by_position.get(place).map(|(_, origin)| *origin)
    }

    /// Tokens of the new session on the scale of the old one: what the span frees goes, the summary comes.
    fn projected(&self, session: &Session, span: Option<(usize, usize)>) -> u64 {
        let Some(budget) = session.budget() else { return 0 };
        let frees = span.map_or(0, |(from, to)| budget.frees(from, to));
        let fresh = self.placed.by_position.iter();
        let fresh = fresh.filter(|(_, origin)| !matches!(origin, Origin::Kept(_)));
        let fresh: u64 =
            fresh.filter_map(|(at, _)| self.after.record(*at)).map(|record| u64::from(record.tokens)).sum();
        (budget.used() + fresh).saturating_sub(frees)
    }

    /// The same draft for a source that grew meanwhile: what came is kept behind it, word for word. The summary stays
    /// as it was previewed.
    ///
    /// # Errors
    /// [`DraftError::Changed`] if the set of open obligations is another one, or what came touches the span.
    pub fn grown(&self, session: &Session, payload: &dyn Payload, minted: &Minted) -> Result<Self, DraftError> {
        let mut wish = self.wish.clone();
        wish.prose = self.summary.as_ref().map(|summary| summary.prose.clone());
        let next = draft(session, payload, &wish, minted)?;
        let before: Vec<_> = open(&self.after);
        let now: Vec<_> = open(&next.after);
        if before != now {
            return Err(DraftError::Changed("other calls are open now. Look at the new preview.".to_string()));
        }
        if let Some(check) = next.failed().next() {
            return Err(DraftError::Changed(check.text.clone()));
        }
        let text = |draft: &Self| draft.summary.as_ref().map(|summary| summary.text.clone());
        if text(self) != text(&next) {
            return Err(DraftError::Changed("the summary would be another one. Look at the new preview.".to_string()));
        }
        Ok(next)
    }
}

/// What is owed, by id, for a comparison of two sessions whose positions differ.
fn open(session: &Session) -> Vec<(String, String)> {
    let log: &Log = session.log();
    let name = |owed: &crate::ledger::Obligation| owed.id.map_or(String::new(), |id| log.syms.name(id).to_string());
    let mut all: Vec<_> = session.obligations().iter().map(|owed| (owed.kind.name().to_string(), name(owed))).collect();
    all.sort();
    all
}

/// Lower-case hexadecimal.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
