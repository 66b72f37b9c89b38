//! What writes: `compact`, `abandon`, `undo`; and `receipts`, which lists what was written.

use std::{
    env, fs,
    io::{self, Read as _},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use super::{
    compaction::{compaction, sound},
    open,
};
use crate::{
    cli::{
        args::{Abandon, Compact, Receipts, Undo, Writing},
        clock,
        exit::{Failure, IO, USAGE},
        load::Loaded,
        mint, out,
    },
    commit::{self, Disk, Job, Receipt, Store, Summariser},
    cut::Verdict,
    export::{CommitReport, ReceiptsReport, UndoReport},
    model::show_line,
    plan::{
        Abandonment, Draft, Wish, draft, named,
        summary::{Author, Material, Prose, Table, summarised},
    },
};

/// Largest file of words that is taken for a summary.
const MOST_WORDS: u64 = 4 << 20;

/// `cutline compact`.
pub(super) fn compact(args: &Compact) -> Result<ExitCode, Failure> {
    let loaded = source(&args.input.file, &args.input.reading, args.wanted.mark())?;
    let by = &args.writing.operator;
    let planned = compaction(&loaded, &args.wanted, by, args.accept_relief, |span| words(args, &loaded, span))?;
    let code = ExitCode::from(planned.verdict.exit_code());
    let Some(draft) = planned.draft else {
        super::plan::tell(&loaded, &planned.plan, args.input.json)?;
        return Ok(code);
    };
    if args.summary_only {
        let text = draft.summary.as_ref().map_or("", |summary| summary.text.as_str());
        let mut stdout = io::stdout().lock();
        text.lines().all(|line| out::line(&mut stdout, &show_line(line)));
        return Ok(code);
    }
    if !args.dry_run {
        sound(&draft, &args.confirm)?;
    }
    let receipt = if args.dry_run {
        None
    } else {
        Some(write(&draft, &loaded, &args.writing, planned.verdict, planned.relief, &args.confirm)?)
    };
    let report = CommitReport::of(&draft, planned.verdict, planned.relief, &loaded.sha256, receipt.as_ref());
    tell(&report, &report.lines(), args.input.json);
    Ok(code)
}

/// `cutline abandon`.
pub(super) fn abandon(args: &Abandon) -> Result<ExitCode, Failure> {
    let loaded = source(&args.file, &args.reading, None)?;
    let (id, instance) = named(&args.id)
        .ok_or_else(|| Failure::new(USAGE, "usage", format!("`{}` is not of the form ID[@INSTANCE].", args.id), ""))?;
    let (reason, evidence) = (args.reason.clone(), args.evidence.clone());
    let wish = Abandonment { id, instance, reason, evidence, by: args.writing.operator.clone() };
    let wish = Wish { settle: vec![wish], ..Wish::default() };
    let draft = draft(&loaded.session, &loaded.payload, &wish, &mint::mint()?)?;
    sound(&draft, &[])?;
    let receipt = write(&draft, &loaded, &args.writing, Verdict::NoOp, false, &[])?;
    let report = CommitReport::of(&draft, Verdict::NoOp, false, &loaded.sha256, Some(&receipt));
    tell(&report, &report.lines(), args.json);
    Ok(ExitCode::SUCCESS)
}

/// `cutline undo`.
pub(super) fn undo(args: &Undo) -> Result<ExitCode, Failure> {
    let store = store()?;
    let missing = |what: &str| Failure::new(USAGE, "no-receipt", what, "`cutline receipts` lists what was committed.");
    let receipt = if let Some(id) = &args.receipt {
        store.find(id).ok_or_else(|| missing(&format!("There is no receipt `{id}`.")))?
    } else {
        let (receipts, _) = store.receipts();
        let newest = receipts.into_iter().find(|receipt| receipt.undone.is_none());
        newest.ok_or_else(|| missing("There is nothing to undo."))?
    };
    let undone = commit::undo(&Disk, &store, &receipt, clock::now())?;
    let report = UndoReport::of(&receipt, &undone);
    tell(&report, &report.lines(), args.json);
    Ok(ExitCode::SUCCESS)
}

/// `cutline receipts`.
pub(super) fn receipts(args: &Receipts) -> Result<ExitCode, Failure> {
    let (receipts, unreadable) = store()?.receipts();
    let report = ReceiptsReport::of(&receipts, unreadable);
    tell(&report, &report.lines(), args.json);
    Ok(ExitCode::SUCCESS)
}

fn tell(report: &impl serde::Serialize, lines: &[String], json: bool) {
    if json {
        out::document(report);
    } else {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        lines.iter().all(|line| out::line(&mut stdout, &show_line(line)));
    }
}

/// The folder of receipts and staged work.
pub(super) fn store() -> Result<Store, Failure> {
    Store::from_env(|name| env::var_os(name)).ok_or_else(|| {
        let hint = "Set XDG_STATE_HOME or HOME to a folder in which receipts can be kept.";
        Failure::new(IO, "no-state", "There is no place for receipts, so nothing is written.", hint)
    })
}

/// What is compacted must be a file: the new one lies beside it.
fn source(
    file: &Path,
    reading: &crate::cli::args::Reading,
    critical: Option<crate::budget::Limit>,
) -> Result<Loaded, Failure> {
    if file == Path::new("-") {
        let hint = "Save it to a file first; `plan` and `show --as-committed` read standard input.";
        return Err(Failure::new(USAGE, "no-file", "A new session is written beside a file, and `-` is none.", hint));
    }
    open(file, reading, critical)
}

/// The words of the summary, if they are not to be the built-in extract.
fn words(args: &Compact, loaded: &Loaded, span: (usize, usize)) -> Result<Option<Prose>, Failure> {
    if let Some(file) = &args.summary_file {
        return Ok(Some(Prose { text: read_words(file)?, by: Author::Operator }));
    }
    let Some(command) = &args.summariser else { return Ok(None) };
    let wrong = |text: String| {
        let hint = "Nothing was written. Without --summariser the built-in extract is used.";
        Failure::new(IO, "summariser", text, hint)
    };
    let mut summariser = Summariser::parse(command).map_err(wrong)?;
    summariser.timeout = Duration::from_secs(args.summariser_timeout.max(1));
    let settle = crate::plan::plan(&loaded.session, &args.wanted.request(&args.writing.operator))?.settled;
    let (session, payload) = (&loaded.session, &loaded.payload);
    let material = Material { session, payload, from: span.0, to: span.1, settle: &settle };
    let table = Table::of(&material);
    let nonce = mint::mint()?.uuid4("nonce");
    let asked = |request: &[u8]| {
        let never = std::sync::atomic::AtomicBool::new(false);
        summariser.run(request, &never, &|_| {}).map_err(|error| error.to_string())
    };
    let name = summariser.argv.first().cloned().unwrap_or_default();
    let (prose, remark) = summarised(&material, &table, &nonce, &name, asked).map_err(wrong)?;
    if let Some(remark) = remark {
        out::say(&format!("cutline: {}", show_line(&remark)));
    }
    Ok(Some(prose))
}

fn read_words(file: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    if file == Path::new("-") {
        io::stdin().lock().take(MOST_WORDS).read_to_string(&mut text)?;
    } else {
        let named = |error: io::Error| Failure::new(IO, "io", format!("{}: {error}.", file.display()), "");
        fs::File::open(file).map_err(named)?.take(MOST_WORDS).read_to_string(&mut text).map_err(named)?;
    }
    Ok(text)
}

fn write(
    draft: &Draft,
    loaded: &Loaded,
    writing: &Writing,
    verdict: Verdict,
    relief: bool,
    confirmed: &[String],
) -> Result<Receipt, Failure> {
    let job = Job {
        draft,
        source: Path::new(&loaded.path),
        source_sha256: &loaded.sha256,
        out: writing.out.as_deref(),
        verdict,
        relief,
        confirmed,
        operator: &writing.operator,
        now: clock::now(),
    };
    Ok(commit::commit(&Disk, &store()?, &job)?)
}
