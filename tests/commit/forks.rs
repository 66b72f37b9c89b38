//! Commits: what is written where, what is refused, in which order, against rivals.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::Path,
    sync::Barrier,
    thread,
};

use cutline::{
    commit::{CommitError, Disk, Job, commit},
    cut::Verdict,
    plan::{Abandonment, Check, Outcome},
};

use crate::{
    faulty::{EACCES, EROFS, Fault, Faulty},
    rig::{NOW, Rig, assert_sentence, drafted, listing, sha256},
};

#[test]
fn commit_then_undo_leaves_the_folder_as_it_was() {
    let rig = Rig::new();
    let before = listing(&rig.sessions);
    let receipt = rig.commit().unwrap();
    assert_eq!(rig.assert_committed("a plain commit"), receipt);
    let undone = rig.undo(&receipt).unwrap();
    assert_eq!(undone.removed, rig.fork());
    assert_eq!(listing(&rig.sessions), before);
    let (receipts, _) = rig.store.receipts();
    assert_eq!(receipts[0].undone.as_deref(), Some(undone.time.as_str()), "the receipt stays and says so");
}

#[test]
fn a_receipt_says_everything() {
    let mut rig = Rig::new();
    let settle = Abandonment {
        id: "open".to_string(),
        instance: None,
        reason: "the host is gone".to_string(),
        evidence: "ping".to_string(),
        by: "ada".to_string(),
    };
    rig.draft = drafted(&rig.bytes, 7, vec![settle]);
    let receipt = rig.commit().unwrap();
    assert_eq!((receipt.mode.as_str(), receipt.verdict.as_str()), ("fork", "COMPACT"));
    assert_eq!(receipt.source.sha256, sha256(&rig.bytes));
    assert_eq!(receipt.source.bytes, rig.bytes.len() as u64);
    assert_eq!(receipt.output.sha256, sha256(&fs::read(&receipt.output.path).unwrap()));
    assert_eq!(receipt.session_from.as_deref(), Some("billing"));
    assert_eq!(receipt.span.map(|[from, to]| (from, to)), rig.draft.wish.span);
    assert_eq!(receipt.checks.len(), rig.draft.checks.len());
    assert!(receipt.after < receipt.before);
    assert_eq!(receipt.basis, "estimated");
    assert_eq!(receipt.time, "2026-11-18T11:06:40.000Z");
    let settled = &receipt.settled[0];
    assert_eq!((settled.id.as_str(), settled.act.as_str(), settled.evidence.as_str()), ("open", "abandon", "ping"));
    let summary = receipt.summary.as_ref().unwrap();
    assert_eq!(summary.author, "operator");
    assert!(summary.text.contains("The ledger was read six times."));
    assert!(summary.ledger.is_object());
    let text = fs::read_to_string(&receipt.path).unwrap();
    assert!(text.lines().count() > 30, "people read it: {text}");
}

#[test]
fn a_receipt_is_found_by_id_beginning_and_file() {
    let rig = Rig::new();
    let receipt = rig.commit().unwrap();
    for id in [receipt.id.as_str(), receipt.id.get(..4).unwrap(), receipt.path.to_str().unwrap()] {
        assert_eq!(rig.store.find(id).as_ref(), Some(&receipt), "{id}");
    }
    assert_eq!(rig.store.find("zzzz"), None);
    assert_eq!(rig.store.find(""), None);
}

#[test]
fn receipts_are_the_operators_own() {
    let rig = Rig::new();
    rig.commit().unwrap();
    for (path, (mode, _)) in listing(rig.store.root()) {
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
    assert_eq!(rig.store.root().metadata().unwrap().mode() & 0o777, 0o700);
}

#[test]
fn a_resume_command_is_quoted_for_a_shell() {
    let mut rig = Rig::new();
    assert_eq!(rig.commit().unwrap().resume_line(), "");
    rig.reset();
    rig.draft.forked.resume = ["claude", "--resume", "it's"].map(String::from).to_vec();
    assert_eq!(rig.commit().unwrap().resume_line(), r"claude --resume 'it'\''s'");
}

#[test]
fn the_source_is_never_opened_for_writing_and_names_come_after_contents() {
    let rig = Rig::new();
    let disk = Faulty::traced();
    rig.commit_by(&disk, &rig.draft, None).unwrap();
    let trace = disk.trace();
    let place = |name: &str, path: &Path| {
        let found = trace.iter().position(|call| call.name == name && call.path == path);
        found.unwrap_or_else(|| unreachable!("no {name} of {}", path.display()))
    };
    let renamed = trace.iter().position(|call| call.to.as_ref() == Some(&rig.fork())).unwrap();
    let temp = trace[renamed].path.clone();
    assert!(place("write", &temp) < place("mode", &temp));
    assert!(place("mode", &temp) < place("sync", &temp));
    assert!(place("sync", &temp) < place("open", &temp), "read back after it is on the disk");
    assert!(place("open", &temp) < renamed);
    assert!(renamed < place("sync-folder", &rig.sessions));
    let receipts = rig.store.root().join("receipts");
    let confirmed =
        trace.iter().position(|call| call.to.as_ref().is_some_and(|to| to.ends_with(rig.receipts()[0].as_str())));
    let confirmed = confirmed.unwrap();
    assert!(place("sync", &trace[confirmed].path) < renamed, "the receipt is on the disk before the fork has its name");
    assert!(place("sync-folder", &rig.sessions) < confirmed);
    assert!(trace[confirmed..].iter().any(|call| call.name == "sync-folder" && call.path == receipts));
    for call in trace.iter().filter(|call| call.path == rig.source || call.to.as_ref() == Some(&rig.source)) {
        assert!(["resolve", "status", "open", "read"].contains(&call.name), "{call:?}");
    }
    assert_eq!(trace.iter().filter(|call| call.name == "sync" && call.path == temp).count(), 1);
}

#[test]
fn of_simultaneous_commits_of_one_plan_exactly_one_succeeds() {
    for rivals in [2, 4] {
        for _ in 0..20 {
            let rig = Rig::new();
            let barrier = Barrier::new(rivals);
            let (source, store, bytes) = (&rig.source, &rig.store, &rig.bytes);
            let results: Vec<_> = thread::scope(|scope| {
                let rivals: Vec<_> = (0..rivals)
                    .map(|_| {
                        scope.spawn(|| {
                            let draft = drafted(bytes, 7, Vec::new());
                            let confirmed: Vec<String> = draft.asks().map(|check| check.name.to_string()).collect();
                            let sha256 = sha256(bytes);
                            let job = Job {
                                draft: &draft,
                                source,
                                source_sha256: &sha256,
                                out: None,
                                verdict: Verdict::Compact,
                                relief: false,
                                confirmed: &confirmed,
                                operator: "ada",
                                now: NOW,
                            };
                            barrier.wait();
                            commit(&Disk, store, &job)
                        })
                    })
                    .collect();
                rivals.into_iter().map(|rival| rival.join().unwrap()).collect()
            });
            assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
            for why in results.into_iter().filter_map(Result::err) {
                assert!(matches!(why, CommitError::Already { .. } | CommitError::Busy), "{why}");
                assert_eq!(why.code(), 14);
            }
            rig.assert_committed("rivals");
        }
    }
}

#[test]
fn a_plan_is_committed_once_and_again_after_its_undo() {
    let rig = Rig::new();
    let first = rig.commit().unwrap();
    let why = rig.commit().unwrap_err();
    assert!(matches!(&why, CommitError::Already { id, .. } if *id == first.id), "{why}");
    assert!(why.to_string().contains(&first.id) && why.hint().contains(&first.id));
    assert_eq!((why.code(), why.kind()), (14, "already-committed"));
    rig.undo(&first).unwrap();
    let second = rig.commit().unwrap();
    assert_eq!(second.plan, first.plan);
    assert_ne!(second.id, first.id);
    assert_eq!(rig.store.receipts().0.len(), 2);
    assert!(rig.store.find(&first.id).unwrap().undone.is_some());
    assert_eq!(rig.store.find(&second.id), Some(second));
}

#[test]
fn a_source_that_grew_is_committed_as_previewed_and_the_receipt_says_so() {
    let rig = Rig::new();
    let more = b"{\"kind\":\"result\",\"id\":\"open\",\"content\":\"deployed\"}\n";
    fs::write(&rig.source, [rig.bytes.as_slice(), more].concat()).unwrap();
    let receipt = rig.commit().unwrap();
    assert_eq!(receipt.behind, more.len() as u64);
    assert!(fs::read(rig.fork()).unwrap() == rig.draft.bytes);
}

#[test]
fn a_source_that_was_changed_refuses() {
    let rig = Rig::new();
    let mut other = rig.bytes.clone();
    other[40] ^= 1;
    let shorter = rig.bytes[..rig.bytes.len() - 1].to_vec();
    for (case, bytes) in [("rewritten", other), ("truncated", shorter), ("emptied", Vec::new())] {
        fs::write(&rig.source, &bytes).unwrap();
        let why = rig.commit().unwrap_err();
        assert_eq!((why.code(), why.kind(), why.retryable()), (14, "source-changed", true), "{case}");
        assert!(why.hint().contains("re-plan"), "{case}");
        assert_sentence(&why.to_string());
        assert_eq!(listing(&rig.sessions).len(), 1, "{case}");
        assert!(fs::read(&rig.source).unwrap() == bytes, "{case}");
    }
    fs::remove_file(&rig.source).unwrap();
    assert_eq!(rig.commit().unwrap_err().kind(), "source-unreadable");
    fs::create_dir(&rig.source).unwrap();
    let why = rig.commit().unwrap_err();
    assert_eq!(why.kind(), "source-changed", "{why}");
    assert_eq!(rig.receipts(), Vec::<String>::new());
}

#[test]
fn nothing_is_written_over_or_through() {
    let rig = Rig::new();
    fs::write(rig.fork(), "somebody else's").unwrap();
    let why = rig.commit().unwrap_err();
    assert_eq!((why.code(), why.kind()), (1, "name-taken"));
    assert_sentence(&why.to_string());
    assert_eq!(fs::read(rig.fork()).unwrap(), b"somebody else's");

    fs::remove_file(rig.fork()).unwrap();
    symlink(rig.dir.path().join("elsewhere"), rig.fork()).unwrap();
    assert_eq!(rig.commit().unwrap_err().kind(), "link");
    fs::remove_file(rig.fork()).unwrap();

    let (real, link) = (rig.dir.path().join("real"), rig.dir.path().join("link"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    let why = rig.commit_to(&link).unwrap_err();
    assert_eq!(why.kind(), "link");
    assert_sentence(&why.hint());
    let missing = rig.dir.path().join("nowhere");
    let why = rig.commit_to(&missing.join("new.jsonl")).unwrap_err();
    assert_eq!(why.kind(), "no-folder");
    assert!(why.to_string().contains(missing.to_str().unwrap()) && why.hint().contains("--out"));
    assert_eq!(rig.commit_to(&rig.source).unwrap_err().kind(), "name-taken", "least of all the source");
    assert_eq!(rig.commit_to(&rig.source.join("new.jsonl")).unwrap_err().kind(), "unwritable");
    assert_eq!(rig.commit_to(&rig.sessions.join(".cutline-x")).unwrap_err().kind(), "bad-name");
    assert_eq!(listing(&real).len(), 0);
    rig.assert_nothing("refusals");
}

#[test]
fn a_name_that_appears_between_the_look_and_the_rename_is_not_replaced() {
    let rig = Rig::new();
    let fork = rig.fork();
    fs::write(&fork, "quicker").unwrap();
    let temp = rig.sessions.join("temp");
    fs::write(&temp, "slower").unwrap();
    let why = cutline::commit::Fs::rename_new(&Disk, &temp, &fork).unwrap_err();
    assert_eq!(why.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&fork).unwrap(), b"quicker");
    assert_eq!(fs::read(&temp).unwrap(), b"slower");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let rig = Rig::new();
    let traced = Faulty::traced();
    rig.commit_by(&traced, &rig.draft, None).unwrap();
    let create = traced.trace().iter().position(|call| call.name == "create").unwrap();
    for number in [EACCES, EROFS] {
        rig.reset();
        let why = rig.commit_by(&Faulty::at(&[(create, Fault::Fails(number))]), &rig.draft, None).unwrap_err();
        assert_eq!((why.code(), why.kind()), (1, "unwritable"));
        assert!(why.to_string().contains(rig.sessions.to_str().unwrap()), "{why}");
        assert!(why.hint().contains("--out"));
        rig.assert_nothing("read-only");
    }
    // For real, for everybody but root.
    rig.reset();
    fs::set_permissions(&rig.sessions, fs::Permissions::from_mode(0o555)).unwrap();
    let probe = fs::write(rig.sessions.join("probe"), "");
    if probe.is_err() {
        assert_eq!(rig.commit().unwrap_err().kind(), "unwritable");
    }
    fs::set_permissions(&rig.sessions, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn out_chooses_the_folder() {
    let rig = Rig::new();
    let out = rig.dir.path().canonicalize().unwrap().join("out");
    fs::create_dir(&out).unwrap();
    let receipt = rig.commit_to(&out).unwrap();
    assert_eq!(receipt.output.path, out.join(rig.fork().file_name().unwrap()));
    assert_eq!(listing(&rig.sessions).len(), 1);
    rig.undo(&receipt).unwrap();
    assert!(out.is_dir() && listing(&out).is_empty(), "a folder that was there stays");
}

#[test]
fn out_may_name_the_file() {
    let mut rig = Rig::new();
    rig.draft.forked.resume = ["agent", "--resume", "id"].map(String::from).to_vec();
    rig.draft.forked.resume_by_path = ["agent", "--resume"].map(String::from).to_vec();
    // A link on the way is resolved; only the last component must not be one.
    let (out, link) = (rig.dir.path().canonicalize().unwrap().join("out"), rig.dir.path().join("link"));
    fs::create_dir(&out).unwrap();
    symlink(&out, &link).unwrap();
    let receipt = rig.commit_to(&link.join("new.jsonl")).unwrap();
    assert_eq!(receipt.output.path, out.join("new.jsonl"));
    assert_eq!(receipt.resume, ["agent", "--resume", out.join("new.jsonl").to_str().unwrap()]);
    rig.undo(&receipt).unwrap();
    assert!(listing(&out).is_empty());
}

#[test]
fn a_link_as_source_is_resolved_once() {
    let mut rig = Rig::new();
    let link = rig.dir.path().join("link.jsonl");
    symlink(&rig.source, &link).unwrap();
    let real = std::mem::replace(&mut rig.source, link);
    let receipt = rig.commit().unwrap();
    assert_eq!(receipt.source.path, real);
    assert_eq!(receipt.output.path.parent(), real.parent(), "beside the file, not beside the link");
}

#[test]
fn a_runtime_that_sorts_by_day_gets_its_fork_in_the_new_day() {
    let mut rig = Rig::in_folder("sessions/2026/10/01");
    let root = rig.dir.path().canonicalize().unwrap().join("sessions");
    fs::set_permissions(&rig.sessions, fs::Permissions::from_mode(0o750)).unwrap();
    let before = listing(&root);
    rig.draft.forked.day = Some("2026/11/30".to_string());
    rig.draft.forked.name = "rollout-2026-11-30.jsonl".to_string();
    let receipt = rig.commit().unwrap();
    assert_eq!(receipt.output.path, root.join("2026/11/30/rollout-2026-11-30.jsonl"));
    assert_eq!(receipt.folders, [root.join("2026/11"), root.join("2026/11/30")]);
    assert_eq!(root.join("2026/11").metadata().unwrap().mode() & 0o777, 0o750, "as private as the old day");
    let undone = rig.undo(&receipt).unwrap();
    assert_eq!(undone.folders.len(), 2);
    assert_eq!(listing(&root), before);

    // Somebody else used the new day meanwhile: it stays.
    let receipt = rig.commit().unwrap();
    fs::write(root.join("2026/11/30/other.jsonl"), "x").unwrap();
    assert_eq!(rig.undo(&receipt).unwrap().folders.len(), 0);
    assert!(root.join("2026/11/30/other.jsonl").exists());
}

#[test]
fn a_source_outside_such_folders_keeps_its_own() {
    for folder in ["sessions", "2026/10/1", "a/10/01"] {
        let mut rig = Rig::in_folder(folder);
        rig.draft.forked.day = Some("2026/11/30".to_string());
        assert_eq!(rig.commit().unwrap().output.path.parent(), Some(rig.sessions.as_path()), "{folder}");
    }
}

#[test]
fn a_name_that_is_none_refuses() {
    let mut rig = Rig::new();
    for name in ["../x.jsonl", "a/b", "..", "/etc/x", ".cutline-0123456789abcdef.tmp", "a\0b"] {
        rig.draft.forked.name = name.to_string();
        let why = rig.commit().unwrap_err();
        assert_eq!(why.kind(), "bad-name", "{name}: {why}");
    }
    rig.assert_nothing("bad names");
}

#[test]
fn checks_that_fail_or_ask_forbid() {
    let mut rig = Rig::new();
    let sha256 = sha256(&rig.bytes);
    rig.draft.checks.push(Check::new("strange", Outcome::Asks, "Is that so?"));
    let attempt = |rig: &Rig, confirmed: &[String]| {
        let job = Job {
            draft: &rig.draft,
            source: &rig.source,
            source_sha256: &sha256,
            out: None,
            verdict: Verdict::Compact,
            relief: false,
            confirmed,
            operator: "ada",
            now: NOW,
        };
        commit(&Disk, &rig.store, &job)
    };
    let why = attempt(&rig, &[]).unwrap_err();
    assert_eq!((why.code(), why.kind()), (1, "unconfirmed"));
    assert!(why.hint().contains("strange"));
    rig.draft.checks.push(Check::new("wrong", Outcome::Failed, "It is wrong."));
    let confirmed: Vec<String> = rig.draft.checks.iter().map(|check| check.name.to_string()).collect();
    assert_eq!(attempt(&rig, &confirmed).unwrap_err().kind(), "failed-check");
    assert!(!rig.store.root().exists(), "not even the state folder was made");
    rig.draft.checks.pop();
    let receipt = attempt(&rig, &confirmed).unwrap();
    assert!(receipt.confirmed.contains(&"strange".to_string()));
}

#[test]
fn bytes_that_read_back_differently_are_not_committed() {
    let mut rig = Rig::new();
    // As if the disk had bent one byte: the draft now holds other bytes than its reader saw.
    let at = rig.draft.bytes.len() - 20;
    rig.draft.bytes[at] = b'\n';
    let why = rig.commit().unwrap_err();
    assert_eq!(why.kind(), "differs", "{why}");
    rig.assert_nothing("bent");
}

#[test]
fn a_state_folder_that_cannot_be_made_refuses() {
    let rig = Rig::new();
    fs::write(rig.dir.path().join("state"), "a file").unwrap();
    let why = rig.commit().unwrap_err();
    assert_eq!((why.code(), why.kind()), (1, "state"));
    assert!(why.hint().contains("XDG_STATE_HOME"));
    assert_eq!(listing(&rig.sessions).len(), 1);
}

#[test]
fn paths_that_are_no_text_do_not_cost_the_receipt() {
    use std::os::unix::ffi::OsStringExt as _;
    let mut rig = Rig::new();
    let name = std::ffi::OsString::from_vec(b"se\xffssion.jsonl".to_vec());
    let odd = rig.sessions.join(name);
    if fs::rename(&rig.source, &odd).is_err() {
        return; // Not every file system takes such names.
    }
    rig.source = odd;
    let receipt = rig.commit().unwrap();
    assert_eq!(rig.store.receipts().0, std::slice::from_ref(&receipt));
    rig.undo(&receipt).unwrap();
    assert_eq!(listing(&rig.sessions).len(), 1);
}
