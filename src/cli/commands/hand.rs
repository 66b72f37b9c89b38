//! What writes: `compact`, `abandon`, `undo`; and `receipts`, which lists what was written.

use std::{
    env, fs,
    io::{self, Read as _},
    path::Path,
    process::ExitCode,
    sync::atomic::AtomicBool,
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
        config::Config,
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
    let config = Config::load()?;
    let by = operator(&args.writing, &config);
    let asked = Asked { args, config: &config, by: &by };
    let planned = compaction(&loaded, &args.wanted, &by, args.accept_relief, |span| asked.words(&loaded, span))?;
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
        let order = Order { verdict: planned.verdict, relief: planned.relief, confirmed: &args.confirm, by: &by };
        Some(write(&draft, &loaded, args.writing.out.as_deref(), &order)?)
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
    let by = operator(&args.writing, &Config::load()?);
    let wish = Abandonment { id, instance, reason, evidence, by: by.clone() };
    let wish = Wish { settle: vec![wish], ..Wish::default() };
    let draft = draft(&loaded.session, &loaded.payload, &wish, &mint::mint()?)?;
    sound(&draft, &[])?;
    let order = Order { verdict: Verdict::NoOp, relief: false, confirmed: &[], by: &by };
    let receipt = write(&draft, &loaded, args.writing.out.as_deref(), &order)?;
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

/// Who acts: as given, as configured, or who is logged in.
pub(super) fn operator(writing: &Writing, config: &Config) -> String {
    writing.operator.clone().or_else(|| config.operator.clone()).unwrap_or_else(user)
}

/// Who is logged in, as far as the environment says.
pub(super) fn user() -> String {
    let name = ["USER", "LOGNAME"].iter().find_map(|name| env::var(name).ok().filter(|name| !name.is_empty()));
    name.unwrap_or_else(|| "operator".to_string())
}

/// The summariser of `command`, with its patience.
pub(super) fn summariser(command: &str, seconds: Option<u64>) -> Result<Summariser, Failure> {
    let mut summariser = Summariser::parse(command).map_err(unsummarised)?;
    if let Some(seconds) = seconds {
        summariser.timeout = Duration::from_secs(seconds.max(1));
    }
    Ok(summariser)
}

fn unsummarised(text: String) -> Failure {
    let hint = "Nothing was written. Without a summariser the built-in extract is used.";
    Failure::new(IO, "summariser", text, hint)
}

/// What a compaction was asked for with.
struct Asked<'a> {
    args: &'a Compact,
    config: &'a Config,
    by: &'a str,
}

impl Asked<'_> {
    /// The words of the summary, if they are not to be the built-in extract.
    fn words(&self, loaded: &Loaded, span: (usize, usize)) -> Result<Option<Prose>, Failure> {
        let (args, config) = (self.args, self.config);
        if let Some(file) = &args.summary_file {
            return Ok(Some(Prose { text: read_words(file)?, by: Author::Operator }));
        }
        let Some(command) = args.summariser.as_ref().or(config.summariser.as_ref()) else { return Ok(None) };
        let summariser = summariser(command, args.summariser_timeout.or(config.summariser_timeout))?;
        let settle = crate::plan::plan(&loaded.session, &args.wanted.request(self.by))?.settled;
        let (session, payload) = (&loaded.session, &loaded.payload);
        let material = Material { session, payload, from: span.0, to: span.1, settle: &settle };
        let table = Table::of(&material);
        let nonce = mint::mint()?.uuid4("nonce");
        let asked = |request: &[u8]| {
            let never = AtomicBool::new(false);
            summariser.run(request, &never, &|_| {}).map_err(|error| error.to_string())
        };
        let (prose, remark) =
            summarised(&material, &table, &nonce, summariser.program(), asked).map_err(unsummarised)?;
        if let Some(remark) = remark {
            out::say(&format!("cutline: {}", show_line(&remark)));
        }
        Ok(Some(prose))
    }
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

/// What is carried out, and who says so.
struct Order<'a> {
    verdict: Verdict,
    relief: bool,
    confirmed: &'a [String],
    by: &'a str,
}

fn write(draft: &Draft, loaded: &Loaded, path: Option<&Path>, order: &Order<'_>) -> Result<Receipt, Failure> {
    let Order { verdict, relief, confirmed, by } = *order;
    let (source, source_sha256) = (Path::new(&loaded.path), loaded.sha256.as_str());
    let job =
        Job { draft, source, source_sha256, out: path, verdict, relief, confirmed, operator: by, now: clock::now() };
    let receipt = commit::commit(&Disk, &store()?, &job)?;
    if receipt.behind > 0 {
        out::say(&format!(
            "cutline: The source grew by {} bytes meanwhile; the new session does not hold them. To take them in: cutline \
             undo --last, then the same command.",
            receipt.behind
        ));
    }
    Ok(receipt)
}
