//! Drafts of new session files: what is kept, what is summarised, and that a fresh reader finds what was planned.
#![expect(clippy::disallowed_methods, reason = "accepted forks are written")]
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

#[path = "drafts/neutral.rs"]
mod neutral;

use std::{fs, path::PathBuf};

use cutline::{
    budget::Settings,
    cut::{is_legal_cut, legal_cuts},
    format::{Minted, notation},
    model::{Kind, Millis},
    plan::{Abandonment, Draft, Outcome, Request, Session, Wish, draft, plan},
};
use jiff::tz::TimeZone;
use proptest::prelude::*;

fn minted() -> Minted {
    Minted::new([7; 16], Millis(1_795_000_000_000), TimeZone::UTC)
}

fn opened(path: &PathBuf) -> (Session, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    (Session::of_bytes(&bytes, None, &stem, Settings::default()), bytes)
}

fn transcripts(folder: &str) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl" || ending == "json"))
        .collect();
    all.sort();
    all
}

/// What fails, but for the size: a short log gets longer by any summary.
fn failures(draft: &Draft) -> Vec<String> {
    let failed = draft.failed().filter(|check| check.name != "smaller");
    failed.map(|check| format!("{}: {}", check.name, check.text)).collect()
}

/// What is owed and can be given up in this format.
fn open(session: &Session) -> Vec<Abandonment> {
    let owed = session.obligations().into_iter().filter(|owed| owed.blocking && owed.id.is_some());
    owed.map(|owed| Abandonment {
        id: session.name(owed.id).to_string(),
        instance: Some(owed.at),
        reason: "the host is lost".to_string(),
        by: "jo".to_string(),
        ..Abandonment::default()
    })
    .collect()
}

fn cut(session: &Session, bytes: &[u8], to: usize, settle: &[Abandonment]) -> Draft {
    let wish = Wish { span: Some((0, to)), settle: settle.to_vec(), ..Wish::default() };
    draft(session, &bytes.to_vec(), &wish, &minted()).unwrap()
}

/// What the format refuses before anything is drafted: the file of a sub-agent, and words that it does not have.
fn is_refused(session: &Session, bytes: &[u8], wish: &Wish) -> bool {
    let refused = draft(session, &bytes.to_vec(), wish, &minted()).err();
    let text = refused.map_or(String::new(), |why| why.to_string());
    ["sub-agent", "cannot say", "cannot be kept", "No client resumes"].iter().any(|why| text.contains(why))
}

#[test]
fn every_legal_cut_of_every_transcript_has_a_sound_draft() {
    let mut drafts = 0;
    for path in ["sample-sessions", "tests/claude", "tests/codex", "tests/pi", "tests/anthropic"]
        .into_iter()
        .flat_map(transcripts)
    {
        let (session, bytes) = opened(&path);
        let name = path.display();
        let settle = open(&session);
        for to in legal_cuts(session.ledger()) {
            let wish = Wish { span: Some((0, to)), ..Wish::default() };
            let summary_behind = (to..session.context().len())
                .any(|at| session.record(at).is_some_and(|record| record.kind == Kind::Summary));
            if is_refused(&session, &bytes, &wish) || summary_behind {
                continue;
            }
            assert_eq!(failures(&cut(&session, &bytes, to, &[])), Vec::<String>::new(), "{name} cut at {to}");
            drafts += 1;
        }
        let wish = Wish { settle, ..Wish::default() };
        if is_refused(&session, &bytes, &wish) {
            continue;
        }
        let after = draft(&session, &bytes, &wish, &minted()).unwrap();
        assert_eq!(failures(&after), Vec::<String>::new(), "{name} with everything given up");
        assert!(after.after.obligations().iter().all(|owed| !owed.blocking), "{name}");
        drafts += 1;
    }
    assert!(drafts > 200, "{drafts}");
}

/// The fork of every sample, byte for byte: everything open is given up, and of the first two
/// thirds as much is cut as may be. Reading the
/// difference is the review; `UPDATE_FORKS=1 cargo test --test drafts` accepts it.
#[test]
fn golden_forks() {
    let folder = PathBuf::from("tests/drafts/golden");
    let mut differ = Vec::new();
    for path in transcripts("sample-sessions") {
        let (session, bytes) = opened(&path);
        let settle = open(&session);
        // Two thirds, so that something is kept.
        let whole = session.context().len() * 2 / 3;
        let asked = Request { to: Some(whole), abandon: settle.clone(), ..Request::default() };
        let to = plan(&session, &asked).unwrap().decision.cut.unwrap();
        let draft = cut(&session, &bytes, to, &settle);
        assert_eq!(failures(&draft), Vec::<String>::new(), "{}", path.display());
        let golden = folder.join(path.file_name().unwrap());
        if std::env::var_os("UPDATE_FORKS").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&golden, &draft.bytes).unwrap();
        } else if fs::read(&golden).ok().as_ref() != Some(&draft.bytes) {
            differ.push(golden);
        }
    }
    assert!(differ.is_empty(), "other forks than in {differ:?}: UPDATE_FORKS=1 writes them, the diff is the review");
}

#[test]
fn a_compacted_session_can_be_compacted_again() {
    for path in transcripts("sample-sessions") {
        let (session, bytes) = opened(&path);
        let cuts = legal_cuts(session.ledger());
        let Some(first) = cuts.get(cuts.len() / 2).copied().filter(|to| *to > 0) else { continue };
        let wish = Wish { span: Some((0, first)), ..Wish::default() };
        if is_refused(&session, &bytes, &wish) {
            continue;
        }
        let once = draft(&session, &bytes, &wish, &minted()).unwrap();
        if !failures(&once).is_empty() {
            // A later summary of the runtime's own stands behind the cut.
            continue;
        }
        let last = legal_cuts(once.after.ledger()).last().copied().unwrap();
        let twice = cut(&once.after, &once.bytes, last, &[]);
        assert_eq!(failures(&twice), Vec::<String>::new(), "{}", path.display());
        let summaries = |session: &Session| {
            (0..session.context().len())
                .filter(|at| session.record(*at).is_some_and(|record| record.kind == Kind::Summary))
                .count()
        };
        assert_eq!((summaries(&once.after), summaries(&twice.after)), (1, 1), "{}", path.display());
    }
}

#[test]
fn giving_up_and_then_cutting_is_the_same_as_both_at_once() {
    for path in transcripts("sample-sessions") {
        let (session, bytes) = opened(&path);
        let settle = open(&session);
        let whole = session.context().len();
        let asked = Request { to: Some(whole), abandon: settle.clone(), ..Request::default() };
        let Some(to) = plan(&session, &asked).unwrap().decision.cut.filter(|_| !settle.is_empty()) else { continue };
        let at_once = cut(&session, &bytes, to, &settle);
        assert_eq!(failures(&at_once), Vec::<String>::new(), "{}", path.display());
        let given_up = draft(&session, &bytes, &Wish { settle, ..Wish::default() }, &minted()).unwrap();
        let behind = (0..given_up.after.context().len())
            .find(|at| given_up.origin(*at).is_some_and(|origin| origin == cutline::format::Origin::Kept(to)))
            .unwrap_or(given_up.after.context().len());
        assert!(is_legal_cut(given_up.after.ledger(), behind), "{} at {behind}", path.display());
        let then = cut(&given_up.after, &given_up.bytes, behind, &[]);
        let kinds = |session: &Session| -> Vec<(Kind, String)> {
            let records = (0..session.context().len()).filter_map(|at| session.record(at));
            records.map(|record| (record.kind, session.name(record.id).to_string())).collect()
        };
        assert_eq!(kinds(&then.after), kinds(&at_once.after), "{}", path.display());
    }
}

#[test]
fn an_illegal_cut_can_be_looked_at_and_fails_by_name() {
    let (session, bytes) = opened(&PathBuf::from("sample-sessions/refuse.jsonl"));
    let to = session.context().len();
    let draft = cut(&session, &bytes, to, &[]);
    let failed: Vec<&str> = draft.failed().map(|check| check.name).collect();
    assert!(failed.contains(&"legal"), "{failed:?}");
    let legal = draft.checks.iter().find(|check| check.name == "legal").unwrap();
    assert!(legal.text.contains("txn #") && legal.text.contains("(close)"), "{}", legal.text);
    assert!(draft.after.context().len() < to);
}

#[test]
fn what_comes_meanwhile_is_kept_behind_the_draft() {
    let (session, early) = opened(&PathBuf::from("sample-sessions/defer.jsonl"));
    let first = cut(&session, &early, *legal_cuts(session.ledger()).last().unwrap(), &[]);
    // The same with something said meanwhile.
    let said = b"{\"kind\":\"notice\",\"text\":\"the disk is nearly full\"}\n".to_vec();
    let more = [early.clone(), said.clone()].concat();
    let grown = Session::of_bytes(&more, None, "defer", Settings::default());
    let next = first.grown(&grown, &more, &minted()).unwrap();
    assert!(next.bytes.starts_with(&first.bytes) && next.bytes.ends_with(&said));
    assert_eq!(next.summary.unwrap().text, first.summary.as_ref().unwrap().text);
    // Another call is open: that is not what was looked at.
    let call = b"{\"kind\":\"call\",\"id\":\"new\",\"tool\":\"deploy\",\"input\":{},\"response\":\"rx\"}\n".to_vec();
    let more = [early, call].concat();
    let grown = Session::of_bytes(&more, None, "defer", Settings::default());
    let why = first.grown(&grown, &more, &minted()).err().unwrap().to_string();
    assert!(why.contains("changed since the preview") && why.contains("other calls are open"), "{why}");
}

fn symbol() -> impl Strategy<Value = String> {
    let id = 1..4u8;
    prop_oneof![
        6 => Just("U".to_string()),
        6 => Just("A".to_string()),
        2 => Just("H".to_string()),
        8 => id.clone().prop_map(|n| format!("C{n}")),
        8 => id.clone().prop_map(|n| format!("R{n}")),
        2 => id.clone().prop_map(|n| format!("E{n}")),
        1 => id.clone().prop_map(|n| format!("X{n}")),
        1 => Just("N".to_string()),
        1 => id.clone().prop_map(|n| format!("P{n}")),
        1 => id.clone().prop_map(|n| format!("Q{n}")),
        1 => (id.clone(), any::<bool>()).prop_map(|(n, on)| format!("B{}{n}", if on { '+' } else { '-' })),
        1 => (id.clone(), any::<bool>()).prop_map(|(n, on)| format!("Y{}{n}", if on { '+' } else { '-' })),
        1 => (id.clone(), any::<bool>()).prop_map(|(n, on)| format!("G{}{n}", if on { '+' } else { '-' })),
        1 => id.clone().prop_map(|n| format!("!C{n}")),
        3 => id.clone().prop_map(|n| format!("C{n}+C{}", n % 3 + 1)),
        2 => id.prop_map(|n| format!("(R{n},U)")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every legal cut keeps the pending set, the pairing and every byte of what is kept, and adds no orphan; every other
    /// cut is refused by name; and the new file can be compacted again.
    #[test]
    fn a_draft_is_sound_where_the_cut_is_legal(text in prop::collection::vec(symbol(), 1..14)) {
        let bytes = neutral::file(&notation::parse(&text.join(" ")).unwrap());
        let session = Session::of_bytes(&bytes, None, "scenario", Settings::default());
        for to in 1..=session.context().len() {
            let draft = cut(&session, &bytes, to, &[]);
            let legal = draft.checks.iter().find(|check| check.name == "legal").unwrap();
            prop_assert_eq!(legal.outcome == Outcome::Passed, is_legal_cut(session.ledger(), to), "cut {}", to);
            if legal.outcome != Outcome::Passed {
                continue;
            }
            prop_assert_eq!(failures(&draft), Vec::<String>::new(), "cut {}", to);
            if let Some(next) = legal_cuts(draft.after.ledger()).last() {
                let again = cut(&draft.after, &draft.bytes, *next, &[]);
                prop_assert_eq!(failures(&again), Vec::<String>::new(), "cut {} then {}", to, next);
            }
        }
    }

    /// Whatever is given up is closed in the new file, and nothing else is.
    #[test]
    fn what_is_given_up_is_closed_and_nothing_else(text in prop::collection::vec(symbol(), 1..14)) {
        let bytes = neutral::file(&notation::parse(&text.join(" ")).unwrap());
        let session = Session::of_bytes(&bytes, None, "scenario", Settings::default());
        let all = open(&session);
        for one in &all {
            let wish = Wish { settle: vec![one.clone()], ..Wish::default() };
            let draft = draft(&session, &bytes, &wish, &minted()).unwrap();
            prop_assert_eq!(failures(&draft), Vec::<String>::new(), "{:?}", one);
            prop_assert_eq!(open(&draft.after).len(), all.len() - 1);
        }
        let wish = Wish { settle: all.clone(), ..Wish::default() };
        let draft = draft(&session, &bytes, &wish, &minted()).unwrap();
        prop_assert_eq!(failures(&draft), Vec::<String>::new());
        prop_assert_eq!(open(&draft.after).len(), 0);
    }
}
