//! Files that are not there, not readable, not files.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::{fs::symlink, net::UnixListener},
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
};

use cutline::source::{Follower, Refused, Status};

use crate::rig::{Rig, lines};

#[test]
fn absent_with_its_folder_then_there() {
    let mut rig = Rig::at("a/b/log.jsonl", None);
    rig.run(1_000);
    assert_eq!(rig.statuses, [Status::Waiting]);
    fs::create_dir_all(rig.path.parent().unwrap()).unwrap();
    rig.run(500);
    fs::write(&rig.path, "").unwrap();
    rig.run(500);
    assert_eq!(rig.statuses, [Status::Waiting, Status::Live]);
    rig.append(lines(3));
    rig.run(500);
    rig.require_cold_read();
}

#[test]
fn its_folder_moved_away_and_made_anew() {
    let mut rig = Rig::at("a/log.jsonl", None);
    let folder = rig.dir.path().join("a");
    fs::create_dir(&folder).unwrap();
    fs::write(&rig.path, lines(5)).unwrap();
    rig.wake();
    fs::rename(&folder, rig.dir.path().join("b")).unwrap();
    rig.run(500);
    assert_eq!(rig.status(), &Status::Gone);
    fs::create_dir(&folder).unwrap();
    fs::write(&rig.path, "other\n").unwrap();
    rig.run(500);
    rig.require_cold_read();
    fs::remove_dir_all(&folder).unwrap();
    rig.run(500);
    assert_eq!((rig.status(), rig.view.as_slice()), (&Status::Gone, b"other\n".as_slice()));
    fs::create_dir(&folder).unwrap();
    fs::write(&rig.path, "other\nstill\n").unwrap();
    rig.run(500);
    rig.require_cold_read();
}

#[test]
fn through_a_symlink() {
    let mut rig = Rig::new();
    let (one, two) = (rig.dir.path().join("one"), rig.dir.path().join("two"));
    fs::write(&one, lines(5)).unwrap();
    fs::write(&two, "second\n").unwrap();
    symlink(&one, &rig.path).unwrap();
    rig.run(300);
    crate::rig::append(&one, "on\n");
    rig.run(300);
    rig.require_cold_read();
    // The link is turned to another file.
    fs::remove_file(&rig.path).unwrap();
    symlink(&two, &rig.path).unwrap();
    rig.run(500);
    rig.require_cold_read();
    // The target is replaced.
    fs::write(&one, "third\n").unwrap();
    fs::rename(&one, &two).unwrap();
    rig.run(500);
    rig.require_cold_read();
    // Nothing is there.
    fs::remove_file(&two).unwrap();
    rig.run(500);
    assert_eq!((rig.status(), rig.view.as_slice()), (&Status::Gone, b"third\n".as_slice()));
    fs::write(&two, "fourth\n").unwrap();
    rig.run(500);
    rig.require_cold_read();
}

#[test]
fn a_symlink_to_itself_is_told_and_survived() {
    let mut rig = Rig::new();
    symlink(&rig.path, &rig.path).unwrap();
    rig.run(2_000);
    assert!(matches!(rig.status(), Status::Unreadable(_)), "{:?}", rig.statuses);
    fs::remove_file(&rig.path).unwrap();
    fs::write(&rig.path, lines(2)).unwrap();
    rig.follower.nudge();
    rig.wake();
    rig.require_cold_read();
}

/// How the next opening fails, if it does. A test that runs as root cannot take the right to read away from itself.
type Fault = Arc<Mutex<Option<fn(&PathBuf) -> io::Result<File>>>>;

fn faulty() -> (Rig, Fault) {
    let fault = Fault::default();
    let inside = Arc::clone(&fault);
    let opener = move |path: &std::path::Path| match *inside.lock().unwrap() {
        Some(fail) => fail(&path.to_path_buf()),
        None => File::open(path),
    };
    (Rig::at("log.jsonl", Some(Box::new(opener))), fault)
}

#[test]
fn without_the_right_to_read_the_view_stays() {
    let (mut rig, fault) = faulty();
    fs::write(&rig.path, lines(5)).unwrap();
    rig.wake();
    *fault.lock().unwrap() = Some(|_| Err(io::ErrorKind::PermissionDenied.into()));
    rig.append("unseen\n");
    rig.run(20_000);
    assert_eq!((rig.status(), rig.view.len()), (&Status::Unreadable("permission denied".into()), lines(5).len()));
    assert_eq!(rig.statuses.len(), 2, "told once");
    *fault.lock().unwrap() = None;
    // Tried again after five seconds at the latest, at once after an event.
    rig.run(5_500);
    rig.require_cold_read();
    assert_eq!(rig.status(), &Status::Live);
}

#[test]
fn a_read_that_fails_is_tried_again() {
    let (mut rig, fault) = faulty();
    fs::write(&rig.path, lines(5)).unwrap();
    rig.wake();
    // Opens, but cannot be read.
    *fault.lock().unwrap() = Some(|path| OpenOptions::new().append(true).open(path));
    rig.append("unseen\n");
    rig.run(1_000);
    assert!(matches!(rig.status(), Status::Unreadable(_)));
    *fault.lock().unwrap() = None;
    rig.follower.nudge();
    rig.wake();
    rig.settle();
    assert!(rig.resets.is_empty());
}

#[test]
fn what_is_no_regular_file_is_refused_without_hanging() {
    let mut rig = Rig::with(&lines(5));
    let path = rig.path.clone();
    let refuse = |rig: &mut Rig, kind: Refused| {
        rig.run(300);
        assert_eq!((rig.status(), rig.view.len()), (&Status::Refused(kind), lines(5).len()));
    };
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refuse(&mut rig, Refused::Directory);
    fs::remove_dir(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    refuse(&mut rig, Refused::Fifo);
    fs::remove_file(&path).unwrap();
    let _listener = UnixListener::bind(&path).unwrap();
    refuse(&mut rig, Refused::Socket);
    fs::remove_file(&path).unwrap();
    symlink("/dev/null", &path).unwrap();
    refuse(&mut rig, Refused::Device);
    fs::remove_file(&path).unwrap();
    fs::write(&path, lines(6)).unwrap();
    rig.run(500);
    rig.require_cold_read();
    assert!(rig.resets.is_empty());
}

#[test]
fn a_folder_given_as_a_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let woken = Follower::new(dir.path().to_path_buf()).wake(0);
    assert!(format!("{:?}", woken.feeds).contains("Directory"));
}
