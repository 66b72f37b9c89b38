//! What was written, from what, by whom and why: one small file for each commit, readable by people.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Job, whole};
use crate::{
    model::rfc3339,
    plan::{
        Check, Draft,
        summary::{Author, ledger_json},
    },
};

/// The only mode that writes today.
pub(super) const FORK: &str = "fork";
/// Name of the document, with its version.
const SCHEMA: &str = "cutline.receipt/1";
/// Hexadecimal digits of a plan's id.
pub(super) const PLAN_DIGITS: usize = 16;

/// A file at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMark {
    /// Where, without links.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// Its size. Of a source: as far as it was previewed.
    pub bytes: u64,
    /// SHA-256 of these bytes, in hexadecimal.
    pub sha256: String,
}

/// A check as it came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckMark {
    /// Its name.
    pub name: String,
    /// `passed`, `told` or `asks`.
    pub outcome: String,
    /// What was found. May hold the transcript's own text: show it safely.
    pub text: String,
}

/// Something settled by force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledMark {
    /// Position in the source's context.
    pub at: usize,
    /// The agent's id.
    pub id: String,
    /// What was done.
    pub act: String,
    /// Why, in the operator's words.
    pub reason: String,
    /// What shows it, in the operator's words.
    pub evidence: String,
    /// Who.
    pub by: String,
}

/// The summary that stands in the place of the span.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryMark {
    /// `extract`, `operator` or `command NAME`.
    pub author: String,
    /// Provenance, words and ledger, as written.
    pub text: String,
    /// The facts of the ledger.
    pub ledger: serde_json::Value,
}

/// The receipt of a commit. Every text in it may come from a transcript or a file name: show it safely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// `cutline.receipt/1`.
    pub schema: String,
    /// Its own id: the plan's, with a number behind it if the plan was committed again after an undo.
    pub id: String,
    /// Its file.
    #[serde(skip)]
    pub path: PathBuf,
    /// Id of the plan.
    pub plan: String,
    /// Name of the verdict that it carries out.
    pub verdict: String,
    /// `fork`.
    pub mode: String,
    /// The transcript.
    pub source: FileMark,
    /// Bytes that the source had grown by since the preview; the new file does not hold them.
    #[serde(default)]
    pub behind: u64,
    /// What was written.
    pub output: FileMark,
    /// Number of the output's inode.
    #[serde(default)]
    pub inode: u64,
    /// Folders that were made for the output, outermost first.
    #[serde(default, with = "path_texts")]
    pub folders: Vec<PathBuf>,
    /// Session of the source.
    pub session_from: Option<String>,
    /// The new session.
    pub session: String,
    /// The command that resumes it, word by word.
    pub resume: Vec<String>,
    /// Tokens in use before.
    pub before: u64,
    /// Tokens in use after.
    pub after: u64,
    /// Where `before` comes from.
    pub basis: String,
    /// What was cut.
    pub span: Option<[usize; 2]>,
    /// Every check.
    pub checks: Vec<CheckMark>,
    /// What was settled by force.
    pub settled: Vec<SettledMark>,
    /// The summary.
    pub summary: Option<SummaryMark>,
    /// The span is the one that a refusal offered.
    pub relief: bool,
    /// Checks that a person said yes to.
    pub confirmed: Vec<String>,
    /// Who.
    pub operator: String,
    /// When, as RFC 3339.
    pub time: String,
    /// Version of cutline.
    pub version: String,
    /// When it was undone, as RFC 3339.
    #[serde(skip)]
    pub undone: Option<String>,
}

impl Receipt {
    /// The command that resumes the new session, quoted for a shell; empty if there is none.
    pub fn resume_line(&self) -> String {
        shell_words::join(&self.resume)
    }

    /// The receipt of `job`, before anything is known of the file but its content and place.
    pub(super) fn of(job: &Job<'_>, id: String, plan: &str, source: FileMark, behind: u64, output: FileMark) -> Self {
        let draft = job.draft;
        let check = |check: &Check| CheckMark {
            name: check.name.to_string(),
            outcome: check.outcome.name().to_string(),
            text: check.text.clone(),
        };
        Self {
            schema: SCHEMA.to_string(),
            id,
            path: PathBuf::new(),
            plan: plan.to_string(),
            verdict: job.verdict.name().to_string(),
            mode: FORK.to_string(),
            source,
            behind,
            output,
            inode: 0,
            folders: Vec::new(),
            session_from: draft.session_from.clone(),
            session: draft.forked.session.clone(),
            resume: draft.forked.resume.clone(),
            before: draft.before_tokens,
            after: draft.after_tokens,
            basis: draft.basis.name().to_string(),
            span: draft.wish.span.map(|(from, to)| [from, to]),
            checks: draft.checks.iter().map(check).collect(),
            settled: settled(draft),
            summary: summary(draft),
            relief: job.relief,
            confirmed: job.confirmed.to_vec(),
            operator: job.operator.to_string(),
            time: rfc3339(job.now).unwrap_or_else(|| "unknown".to_string()),
            version: env!("CARGO_PKG_VERSION").to_string(),
            undone: None,
        }
    }
}

fn settled(draft: &Draft) -> Vec<SettledMark> {
    let evidence = |at: usize, id: &str| {
        let mut wishes = draft.wish.settle.iter().filter(|wish| wish.id == id);
        let wish = wishes.find(|wish| wish.instance.is_none_or(|instance| instance == at));
        wish.map(|wish| wish.evidence.clone()).unwrap_or_default()
    };
    let settled = draft.plan.settled.iter();
    settled
        .map(|settle| SettledMark {
            at: settle.at,
            id: settle.id.clone(),
            act: settle.act.name().to_string(),
            reason: settle.reason.clone(),
            evidence: evidence(settle.at, &settle.id),
            by: settle.by.clone(),
        })
        .collect()
}

fn summary(draft: &Draft) -> Option<SummaryMark> {
    let summary = draft.summary.as_ref()?;
    let author = match &summary.prose.by {
        Author::Extract => "extract".to_string(),
        Author::Operator => "operator".to_string(),
        Author::Command(name) => format!("command {name}"),
    };
    Some(SummaryMark { author, text: summary.text.clone(), ledger: ledger_json(&summary.table) })
}

/// The same source, span, settlements, summary and target session are the same plan; a plan is committed once.
pub(super) fn plan_id(job: &Job<'_>) -> String {
    let draft = job.draft;
    let mut hash = Sha256::new();
    // Each part with its length before it, so that no two lists of parts run together.
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    part(job.source_sha256.as_bytes());
    part(format!("{:?}", draft.wish.span).as_bytes());
    for settle in &draft.plan.settled {
        part(format!("{} {}", settle.at, settle.place).as_bytes());
        for text in [settle.act.name(), &settle.id, &settle.reason, &settle.by] {
            part(text.as_bytes());
        }
    }
    part(draft.summary.as_ref().map_or("", |summary| &summary.text).as_bytes());
    part(draft.forked.session.as_bytes());
    whole::hex(&hash.finalize()).chars().take(PLAN_DIGITS).collect()
}

/// A path as text. One that is not UTF-8 is an object with its bytes in hexadecimal: it must not cost the receipt.
pub(super) mod path_text {
    use std::{
        ffi::OsString,
        os::unix::ffi::{OsStrExt as _, OsStringExt as _},
        path::{Path, PathBuf},
    };

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    pub(super) enum Text {
        Plain(String),
        Bytes { hex: String },
    }

    impl Text {
        pub(super) fn of(path: &Path) -> Self {
            match path.to_str() {
                Some(text) => Self::Plain(text.to_string()),
                None => Self::Bytes { hex: crate::commit::whole::hex(path.as_os_str().as_bytes()) },
            }
        }

        pub(super) fn path(self) -> Option<PathBuf> {
            let hex = match self {
                Self::Plain(text) => return Some(text.into()),
                Self::Bytes { hex } => hex,
            };
            let bytes = hex.as_bytes().chunks(2).map(|pair| {
                let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
                u8::from_str_radix(pair, 16).ok()
            });
            Some(OsString::from_vec(bytes.collect::<Option<_>>()?).into())
        }
    }

    pub(in crate::commit) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        Text::of(path).serialize(to)
    }

    pub(in crate::commit) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Text::deserialize(from)?.path().ok_or_else(|| D::Error::custom("not a path"))
    }
}

/// Several of them.
mod path_texts {
    use std::path::PathBuf;

    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    use super::path_text::Text;

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| Text::of(path)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        let texts = Vec::<Text>::deserialize(from)?;
        texts.into_iter().map(|text| text.path().ok_or_else(|| D::Error::custom("not a path"))).collect()
    }
}
