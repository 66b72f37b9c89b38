//! A fault at every call of a commit and of an undo: all or nothing, and a sentence.

use std::{fs, path::PathBuf};

use cutline::commit::{CommitError, Disk, Store, UndoError, undo};

use crate::{
    faulty::{EACCES, EINTR, EIO, ENOSPC, EROFS, Fault, Faulty},
    rig::{LATER, Rig, assert_sentence, is_receipt, listing},
};

const FAULTS: [Fault; 6] = [
    Fault::Fails(ENOSPC),
    Fault::Fails(EIO),
    Fault::Fails(EROFS),
    Fault::Fails(EACCES),
    Fault::Fails(EINTR),
    Fault::Short,
];

/// A source in the folder of an old day, a fork in that of a new one: every call of the way is made.
fn dated() -> Rig {
    let mut rig = Rig::in_folder("sessions/2026/10/01");
    rig.draft.forked.day = Some("2026/11/30".to_string());
    rig
}

fn sessions(rig: &Rig) -> PathBuf {
    rig.dir.path().canonicalize().unwrap().join("sessions")
}

/// Runs `body` with a fault at call 0, 1, … until a call is not reached any more, and returns how many there were.
fn at_every_call(mut body: impl FnMut(usize) -> Faulty) -> usize {
    (0..1000).find(|n| !body(*n).reached(*n)).unwrap()
}

#[test]
fn a_fault_at_any_call_leaves_all_or_nothing() {
    let rig = dated();
    let before = listing(&sessions(&rig));
    for fault in FAULTS {
        let calls = at_every_call(|n| {
            rig.reset();
            let disk = Faulty::at(&[(n, fault)]);
            let result = rig.commit_by(&disk, &rig.draft, None);
            let trace = disk.trace();
            let case = format!("{fault:?} at {n}: {:?}", trace.get(n).map(|call| (call.name, &call.path)));
            rig.assert_source(&case);
            let (receipts, unread) = rig.store.receipts();
            match result {
                Ok(receipt) => {
                    assert_eq!((&receipts, unread), (&vec![receipt.clone()], 0), "{case}");
                    assert!(fs::read(&receipt.output.path).unwrap() == rig.draft.bytes, "{case}");
                    assert_eq!(listing(&sessions(&rig)).len(), before.len() + 3, "{case}: month, day, file");
                }
                Err(why) => {
                    assert_sentence(&why.to_string());
                    assert_sentence(&why.hint());
                    assert!(
                        !matches!(why, CommitError::LeftBehind { .. } | CommitError::Stands { .. }),
                        "{case}: {why}"
                    );
                    assert_eq!(listing(&sessions(&rig)), before, "{case}");
                    assert_eq!(rig.receipts(), Vec::<String>::new(), "{case}");
                    let name = trace[n].name;
                    let soft = fault == Fault::Short || (fault == Fault::Fails(EINTR) && !name.starts_with("sync"));
                    assert!(!soft, "{case} is no reason to give up: {why}");
                }
            }
            disk
        });
        assert!(calls > 30, "only {calls} calls were tried");
    }
}

#[test]
fn a_call_that_lies_about_its_success_is_found_out() {
    let rig = Rig::new();
    at_every_call(|n| {
        rig.reset();
        let disk = Faulty::at(&[(n, Fault::Lies(EIO))]);
        let result = rig.commit_by(&disk, &rig.draft, None);
        let trace = disk.trace();
        let Some(call) = trace.get(n) else { return disk };
        let case = format!("{n} {} {}", call.name, call.path.display());
        match (call.name, &result) {
            ("rename", Err(why)) => unreachable!("{case}: {why}"),
            // What was made by such a call is nobody's: the next commit sweeps it.
            ("create" | "create-folder" | "lock", Err(_)) => {
                let again = rig.commit();
                assert!(again.is_ok(), "{case}: {again:?}");
                rig.assert_committed(&case);
            }
            (_, Ok(_)) => drop(rig.assert_committed(&case)),
            (_, Err(_)) => rig.assert_nothing(&case),
        }
        disk
    });
}

#[test]
fn a_second_fault_while_cleaning_up_is_told() {
    let rig = Rig::new();
    at_every_call(|n| {
        rig.reset();
        let first = Faulty::at(&[(n, Fault::Fails(EIO))]);
        let all = if rig.commit_by(&first, &rig.draft, None).is_err() { first.trace().len() } else { 0 };
        for m in n + 1..all {
            rig.reset();
            let disk = Faulty::at(&[(n, Fault::Fails(EIO)), (m, Fault::Fails(EIO))]);
            let why = rig.commit_by(&disk, &rig.draft, None).unwrap_err();
            let case = format!("{n} and {m}: {why}");
            assert_sentence(&why.to_string());
            rig.assert_source(&case);
            match why {
                CommitError::LeftBehind { left, .. } => {
                    assert!(!left.is_empty() && left.iter().all(|path| path.exists()), "{case}");
                    assert!(!rig.fork().exists(), "{case}");
                }
                CommitError::Stands { path, .. } => {
                    assert!(fs::read(path).unwrap() == rig.draft.bytes, "{case}");
                    assert_eq!(rig.store.receipts().0.len(), 1, "{case}");
                    rig.undo(&rig.store.receipts().0[0]).unwrap();
                    assert_eq!(listing(&rig.sessions).len(), 1, "{case}");
                    continue;
                }
                _ => rig.assert_nothing(&case),
            }
            rig.commit().unwrap();
            rig.assert_committed(&case);
        }
        first
    });
}

#[test]
fn after_a_death_at_any_call_the_next_commit_finishes_or_starts_anew() {
    let rig = Rig::new();
    let mut finished = 0;
    let calls = at_every_call(|n| {
        rig.reset();
        let disk = Faulty::dead_from(n);
        let dead = rig.commit_by(&disk, &rig.draft, None);
        let case = format!("dead from {n}: {:?}", disk.trace().get(n).map(|call| call.name));
        // Whoever looks now finds the source, and perhaps a temporary file that says whose it is, or the whole fork.
        rig.assert_source(&case);
        for (path, (_, content)) in listing(&rig.sessions) {
            let ours = path.file_name().unwrap().to_str().unwrap().starts_with(".cutline-");
            let whole = path == rig.fork() && content == rig.draft.bytes;
            assert!(path == rig.source || ours || whole, "{case}: {}", path.display());
        }
        let stood = rig.fork().exists();
        assert_eq!(rig.store.receipts().0.len(), usize::from(stood), "{case}: a fork is known as soon as it stands");
        match rig.commit() {
            Ok(_) => assert!(!stood, "{case}: committed twice"),
            Err(why @ CommitError::Already { .. }) => {
                assert!(stood && why.code() == 14, "{case}: {why}");
                finished += usize::from(dead.is_err());
            }
            Err(why) => unreachable!("{case}: {why}"),
        }
        let receipt = rig.assert_committed(&case);
        rig.undo(&receipt).unwrap();
        assert_eq!(listing(&rig.sessions).len(), 1, "{case}");
        disk
    });
    assert!(calls > 20 && finished >= 2, "{calls} calls, {finished} finished by the next commit");
}

#[test]
fn what_a_dead_commit_left_is_swept_by_a_commit_of_another_plan() {
    let rig = Rig::new();
    let other = crate::rig::drafted(&rig.bytes, 9, Vec::new());
    at_every_call(|n| {
        rig.reset();
        let disk = Faulty::dead_from(n);
        drop(rig.commit_by(&disk, &rig.draft, None));
        let stood = rig.fork().exists();
        rig.commit_by(&Disk, &other, None).unwrap();
        let left = listing(&rig.sessions);
        assert_eq!(left.len(), 2 + usize::from(stood), "dead from {n}: {:?}", left.keys());
        assert_eq!(rig.store.receipts().0.len(), 1 + usize::from(stood), "dead from {n}");
        assert!(rig.receipts().iter().all(|name| is_receipt(name)), "dead from {n}: {:?}", rig.receipts());
        disk
    });
}

#[test]
fn a_fault_at_any_call_of_an_undo_leaves_all_or_nothing_or_can_be_repeated() {
    let rig = dated();
    let before = listing(&sessions(&rig));
    let undone = |store: &Store| store.receipts().0.iter().filter(|receipt| receipt.undone.is_some()).count();
    for fault in FAULTS.into_iter().chain([Fault::Lies(EIO)]) {
        let calls = at_every_call(|n| {
            rig.reset();
            let receipt = rig.commit().unwrap();
            let with_fork = listing(&sessions(&rig));
            let disk = Faulty::at(&[(n, fault)]);
            let result = undo(&disk, &rig.store, &receipt, LATER);
            let case =
                format!("{fault:?} at {n}: {:?}", disk.trace().get(n).map(|call| (call.name, call.path.clone())));
            match result {
                Ok(_) => {
                    assert_eq!(undone(&rig.store), 1, "{case}");
                    // A folder that could not be removed stays, empty: nothing is lost by it.
                    let there = listing(&sessions(&rig));
                    assert!(there == before || !receipt.output.path.exists(), "{case}");
                }
                Err(why) => {
                    assert_sentence(&why.to_string());
                    assert_sentence(&why.hint());
                    // The mark has its name, but is not known to be on the disk.
                    let unfinished = matches!(why, UndoError::Unfinished { .. });
                    assert!(undone(&rig.store) == 0 || unfinished, "{case}: {why}");
                    if !unfinished && !matches!(fault, Fault::Lies(_)) {
                        assert_eq!(listing(&sessions(&rig)), with_fork, "{case}: {why}");
                    }
                    match rig.undo(&receipt) {
                        Ok(_) | Err(UndoError::Already(_)) => {}
                        Err(why) => unreachable!("{case}: {why}"),
                    }
                    assert_eq!(listing(&sessions(&rig)), before, "{case}");
                    assert_eq!(undone(&rig.store), 1, "{case}");
                }
            }
            disk
        });
        assert!(calls > 20, "only {calls} calls were tried");
    }
}

#[test]
fn after_a_death_at_any_call_of_an_undo_the_next_one_finishes() {
    let rig = Rig::new();
    at_every_call(|n| {
        rig.reset();
        let receipt = rig.commit().unwrap();
        let disk = Faulty::dead_from(n);
        drop(undo(&disk, &rig.store, &receipt, LATER));
        match rig.undo(&receipt) {
            Ok(_) | Err(UndoError::Already(_)) => {}
            Err(why) => unreachable!("dead from {n}: {why}"),
        }
        assert_eq!(listing(&rig.sessions).into_keys().collect::<Vec<_>>(), [rig.source.as_path()], "dead from {n}");
        assert!(rig.store.receipts().0[0].undone.is_some(), "dead from {n}");
        disk
    });
}
