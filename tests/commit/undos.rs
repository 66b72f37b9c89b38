//! What an undo refuses, each in its own words.

use std::fs;

use cutline::commit::{UndoError, undo};

use crate::{
    faulty::Faulty,
    rig::{LATER, Rig, assert_sentence, listing},
};

fn assert_refused(why: &UndoError, kind: &str, code: u8) {
    assert_eq!((why.kind(), why.code()), (kind, code), "{why}");
    assert_sentence(&why.to_string());
    assert_sentence(&why.hint());
}

#[test]
fn a_fork_that_was_resumed_stays() {
    let rig = Rig::new();
    let receipt = rig.commit().unwrap();
    let grown =
        [rig.draft.bytes.as_slice(), b"{\"kind\":\"user\",\"text\":\"on\"}\n{\"kind\":\"assistant\"}\n{\"ki"].concat();
    fs::write(&receipt.output.path, &grown).unwrap();
    let why = rig.undo(&receipt).unwrap_err();
    assert_refused(&why, "resumed", 14);
    assert!(
        matches!(why, UndoError::Grown { lines: 3, bytes, .. } if bytes == (grown.len() - rig.draft.bytes.len()) as u64)
    );
    assert!(fs::read(&receipt.output.path).unwrap() == grown);
    assert_eq!(rig.store.receipts().0[0].undone, None);
    assert_eq!(listing(&rig.sessions).len(), 2, "nothing was set aside");
}

#[test]
fn a_fork_that_was_changed_replaced_or_removed_is_left_alone() {
    let rig = Rig::new();
    let receipt = rig.commit().unwrap();
    let mut other = rig.draft.bytes.clone();
    other[30] ^= 1;
    fs::write(&receipt.output.path, &other).unwrap();
    assert_refused(&rig.undo(&receipt).unwrap_err(), "output-changed", 14);
    fs::write(&receipt.output.path, &rig.draft.bytes[..50]).unwrap();
    assert_refused(&rig.undo(&receipt).unwrap_err(), "output-changed", 14);

    // The same bytes in another file: somebody put it there.
    let copy = rig.sessions.join("copy");
    fs::write(&copy, &rig.draft.bytes).unwrap();
    fs::rename(&copy, &receipt.output.path).unwrap();
    assert_refused(&rig.undo(&receipt).unwrap_err(), "replaced", 14);
    fs::remove_file(&receipt.output.path).unwrap();
    std::os::unix::fs::symlink(&rig.source, &receipt.output.path).unwrap();
    assert_refused(&rig.undo(&receipt).unwrap_err(), "replaced", 14);
    fs::remove_file(&receipt.output.path).unwrap();
    assert_refused(&rig.undo(&receipt).unwrap_err(), "gone", 1);
    rig.assert_source("refused undos");
}

#[test]
fn undone_once_is_undone() {
    let rig = Rig::new();
    let receipt = rig.commit().unwrap();
    let undone = rig.undo(&receipt).unwrap();
    let why = rig.undo(&receipt).unwrap_err();
    assert_refused(&why, "already-undone", 1);
    assert!(why.to_string().contains(&undone.time));
}

#[test]
fn a_receipt_of_another_mode_is_not_touched() {
    let rig = Rig::new();
    let mut receipt = rig.commit().unwrap();
    receipt.mode = "append".to_string();
    assert_refused(&rig.undo(&receipt).unwrap_err(), "other-mode", 1);
    assert!(rig.fork().exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_fork_that_somebody_holds_open_for_writing_stays() {
    let rig = Rig::new();
    let receipt = rig.commit().unwrap();
    let held = fs::OpenOptions::new().append(true).open(&receipt.output.path).unwrap();
    let why = rig.undo(&receipt).unwrap_err();
    assert_refused(&why, "writer-alive", 14);
    assert!(why.to_string().contains(&std::process::id().to_string()));
    drop(held);
    let reader = fs::File::open(&receipt.output.path).unwrap();
    rig.undo(&receipt).unwrap();
    drop(reader);
}

#[test]
fn an_undo_sets_aside_before_it_removes_and_never_touches_the_source() {
    let rig = Rig::new();
    let receipt = rig.commit().unwrap();
    let disk = Faulty::traced();
    undo(&disk, &rig.store, &receipt, LATER).unwrap();
    let trace = disk.trace();
    let aside = trace.iter().position(|call| call.name == "rename" && call.path == rig.fork()).unwrap();
    let removed = trace.iter().position(|call| call.name == "remove" && trace[aside].to.as_ref() == Some(&call.path));
    let begun = trace.iter().position(|call| call.name == "sync").unwrap();
    let synced = trace.iter().position(|call| call.name == "sync-folder" && call.path == rig.sessions).unwrap();
    assert!(begun < aside && aside < removed.unwrap() && removed.unwrap() < synced);
    assert!(trace.iter().all(|call| call.path != rig.source));
}
