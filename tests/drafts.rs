//! Drafts of new session files: what is kept, what is summarised, and that a fresh reader finds what was planned.

#![expect(clippy::unwrap_used, reason = "tests stop at the first surprise")]

use std::{fs, path::PathBuf};

use cutline::{
    budget::Settings,
    cut::legal_cuts,
    format::Minted,
    model::Millis,
    plan::{Draft, Session, Wish, draft},
};
use jiff::tz::TimeZone;

fn minted() -> Minted {
    Minted::new([7; 16], Millis(1_795_000_000_000), TimeZone::UTC)
}

fn opened(path: &PathBuf) -> (Session, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    (Session::of_bytes(&bytes, None, &stem, Settings::default()), bytes)
}

fn samples() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir("sample-sessions")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .collect();
    all.sort();
    all
}

fn failures(draft: &Draft) -> Vec<String> {
    draft.failed().map(|check| format!("{}: {}", check.name, check.text)).collect()
}

#[test]
fn every_legal_cut_of_every_sample_has_a_sound_draft() {
    for path in samples() {
        let (session, bytes) = opened(&path);
        for cut in legal_cuts(session.ledger()) {
            let wish = Wish { span: Some((0, cut)), ..Wish::default() };
            let draft = draft(&session, &bytes, &wish, &minted()).unwrap_or_else(|why| {
                unreachable!("{} cut at {cut}: {why}", path.display());
            });
            let failures: Vec<String> =
                failures(&draft).into_iter().filter(|text| !text.starts_with("smaller")).collect();
            assert_eq!(failures, Vec::<String>::new(), "{} cut at {cut}", path.display());
        }
    }
}
