//! Staged work.

use std::{ffi::OsString, fs, os::unix::fs::MetadataExt as _, path::PathBuf};

use cutline::{commit::Store, plan::Abandonment};

use crate::{
    faulty::{EIO, ENOSPC, Fault, Faulty},
    rig::{Rig, listing},
};

fn staged(reason: &str) -> Vec<Abandonment> {
    let open = Abandonment {
        id: "open".to_string(),
        instance: Some(25),
        reason: reason.to_string(),
        evidence: "the job's page\nsays so".to_string(),
        by: "ada".to_string(),
    };
    vec![open, Abandonment { id: "c\u{1b}2".to_string(), reason: "old".to_string(), ..Abandonment::default() }]
}

#[test]
fn what_is_staged_comes_back() {
    let rig = Rig::new();
    assert_eq!(rig.store.staged(&rig.source), []);
    rig.store.stage(&rig.source, &staged("gone")).unwrap();
    assert_eq!(Store::at(rig.store.root().into()).staged(&rig.source), staged("gone"));
    rig.store.stage(&rig.source, &staged("really gone")).unwrap();
    assert_eq!(rig.store.staged(&rig.source), staged("really gone"));
    let other = rig.sessions.join("other.jsonl");
    assert_eq!(rig.store.staged(&other), []);
    let link = rig.dir.path().join("link");
    std::os::unix::fs::symlink(&rig.source, &link).unwrap();
    assert_eq!(rig.store.staged(&link), staged("really gone"), "by whatever name the transcript is opened");

    let files = listing(&rig.store.root().join("stage"));
    assert_eq!(files.len(), 1);
    assert!(files.values().all(|(mode, _)| *mode == 0o600));
    assert_eq!(rig.store.root().join("stage").metadata().unwrap().mode() & 0o777, 0o700);
    rig.store.stage(&rig.source, &[]).unwrap();
    assert_eq!(listing(&rig.store.root().join("stage")).len(), 0);
    rig.store.stage(&rig.source, &[]).unwrap();
    assert_eq!(listing(&rig.sessions).len(), 1, "nothing is put beside the transcript");
}

#[test]
fn a_fault_at_any_call_keeps_the_old_or_the_new_stage() {
    let rig = Rig::new();
    for number in [EIO, ENOSPC] {
        let mut n = 0;
        loop {
            rig.store.stage(&rig.source, &staged("old")).unwrap();
            let disk = Faulty::at(&[(n, Fault::Fails(number))]);
            let result = rig.store.stage_by(&disk, &rig.source, &staged("new"));
            let now = rig.store.staged(&rig.source);
            // The last sync fails after the file has its name.
            let renamed = disk.trace()[..n.min(disk.trace().len())].iter().any(|call| call.name == "rename-over");
            assert_eq!(now, staged(if result.is_ok() || renamed { "new" } else { "old" }), "{n}");
            assert_eq!(listing(&rig.store.root().join("stage")).len(), 1, "{n}: no temporary file stays");
            if !disk.reached(n) {
                break;
            }
            n += 1;
        }
        assert!(n > 5);
    }
}

#[test]
fn a_stage_that_is_broken_is_none() {
    let rig = Rig::new();
    rig.store.stage(&rig.source, &staged("gone")).unwrap();
    let file = listing(&rig.store.root().join("stage")).into_keys().next().unwrap();
    fs::write(&file, "{\"source\":").unwrap();
    assert_eq!(rig.store.staged(&rig.source), []);
    rig.store.stage(&rig.source, &staged("again")).unwrap();
    assert_eq!(rig.store.staged(&rig.source), staged("again"));
}

#[test]
fn the_state_folder_comes_from_the_environment() {
    let env = |pairs: &[(&str, &str)]| {
        let pairs: Vec<(String, OsString)> = pairs.iter().map(|(k, v)| ((*k).to_string(), v.into())).collect();
        Store::from_env(|name| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()))
            .map(|store| store.root().to_path_buf())
    };
    assert_eq!(env(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some(PathBuf::from("/s/cutline")));
    assert_eq!(env(&[("XDG_STATE_HOME", "rel"), ("HOME", "/h")]), Some(PathBuf::from("/h/.local/state/cutline")));
    assert_eq!(env(&[("XDG_STATE_HOME", ""), ("HOME", "/h")]), Some(PathBuf::from("/h/.local/state/cutline")));
    assert_eq!(env(&[]), None);
}

#[test]
fn receipts_that_cannot_be_read_are_counted() {
    let rig = Rig::new();
    let receipt = rig.commit().unwrap();
    let folder = rig.store.root().join("receipts");
    fs::write(folder.join("2026-11-18T11-06-41.000Z-0123456789abcdef.json"), "{").unwrap();
    fs::write(folder.join("2026-11-18T11-06-42.000Z-0123456789abcdef.pending"), "{").unwrap();
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    assert_eq!(rig.store.receipts(), (vec![receipt], 1));
}
