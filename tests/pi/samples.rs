//! Sessions that the real client wrote against a scripted model server, and small changes of them that it resumed.

use cutline::{budget::Settings, ledger::ObligationKind, model::NoteKind, plan::Session as Whole};

macro_rules! samples {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every sample.
        pub(crate) const SAMPLES: &[(&str, &str)] = &[$(($name, include_str!(concat!($name, ".jsonl")))),*];
    };
}

samples!["interrupted", "kept-tail", "killed", "retries", "torn", "two-writers", "v1"];

/// What is known of a sample: calls, discarded ones, open ones in the file; places of the context that are sent, without
/// what pi invents; compactions on the path; unread results; the newest figure.
type Facts = (usize, usize, usize, usize, usize, usize, u64);

fn facts(name: &str) -> (Whole, Facts) {
    let (_, text) = SAMPLES.iter().find(|(known, _)| *known == name).unwrap();
    let whole = Whole::of_bytes(text.as_bytes(), None, name, Settings::default());
    let sent = whole.context().slots().iter().filter(|slot| slot.sent && slot.id().is_some()).count();
    let (tally, log) = (whole.tally(), whole.log());
    let newest = log.usage.last().map_or(0, |usage| usage.input + usage.output);
    let unread = whole.ledger().unread().len();
    let facts = (tally.calls, tally.void, tally.open().len(), sent, log.boundaries.len(), unread, newest);
    (whole, facts)
}

#[test]
fn facts_of_the_samples() {
    assert_eq!(facts("killed").1, (4, 0, 2, 9, 0, 0, 13080));
    assert_eq!(facts("interrupted").1, (5, 0, 0, 17, 1, 0, 16080));
    assert_eq!(facts("kept-tail").1, (8, 0, 0, 11, 1, 0, 15580));
    assert_eq!(facts("retries").1, (1, 0, 0, 4, 0, 1, 12080));
    assert_eq!(facts("two-writers").1.2, 0);
    assert_eq!(facts("v1").1, (8, 0, 0, 22, 0, 0, 15580));
}

#[test]
fn a_killed_batch_owes_every_call_of_it() {
    let (whole, _) = facts("killed");
    let open = whole.obligations();
    assert_eq!(open.iter().map(|owed| owed.kind).collect::<Vec<_>>(), [ObligationKind::Call; 2]);
    assert_eq!(whole.name(open[0].id), "toolu_19a42f7dedfa439f9f27345a");
}

#[test]
fn a_glued_line_loses_the_history() {
    let (whole, facts) = facts("torn");
    assert_eq!(facts.3, 1);
    let notes = |kind| whole.notes().iter().filter(|note| note.kind == kind).map(|note| note.line).collect::<Vec<_>>();
    assert_eq!((notes(NoteKind::Salvaged), notes(NoteKind::MissingParent)), (vec![19], vec![20]));
}

#[test]
fn four_refusals_are_one_open_retry() {
    let (whole, _) = facts("retries");
    assert_eq!(whole.obligations().iter().map(|owed| owed.kind).collect::<Vec<_>>(), [ObligationKind::Retry]);
}
