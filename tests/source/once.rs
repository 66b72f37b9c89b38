//! Commands that read once say in one sentence what is wrong and what to do.

use std::{fs, os::unix::net::UnixListener, process::Command};

use cutline::source::{ReadAt, SourceError, read_all, read_chunks};

use crate::rig::lines;

#[test]
fn a_whole_file_in_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jsonl");
    let bytes = lines(100_000);
    fs::write(&path, &bytes).unwrap();
    assert_eq!(read_all(&path).unwrap(), bytes);
    let mut pieces = 0;
    assert_eq!(read_chunks(&path, |_| pieces += 1).unwrap(), bytes.len() as u64);
    assert!(pieces > 1);
    let at = ReadAt::file(path);
    assert_eq!(at.read_range(1_000_000, 77).unwrap(), &bytes[1_000_000..1_000_077]);
    assert!(at.read_range(u64::MAX, usize::MAX).is_err());
}

#[test]
fn each_refusal_is_one_sentence_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("empty"), "").unwrap();
    assert!(Command::new("mkfifo").arg(path("fifo")).status().unwrap().success());
    let _listener = UnixListener::bind(path("socket")).unwrap();
    fs::create_dir(path("folder")).unwrap();
    for (name, said) in [
        ("missing\x1b[31m", "There is no file"),
        ("empty/x", "There is no file"),
        ("empty", "is empty"),
        ("folder", "is a directory"),
        ("fifo", "is a named pipe"),
        ("socket", "is a socket"),
    ] {
        let error = read_all(&path(name)).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains(": ") && error.ends_with('.'), "{error}");
        assert_eq!(error.lines().count(), 1);
        assert!(!error.contains('\x1b'), "a path is hostile text too");
    }
    let device = read_all("/dev/null".as_ref()).unwrap_err().to_string();
    assert!(device.contains("is a device"), "{device}");
    let denied = SourceError::Denied(path("x")).to_string();
    assert!(denied.contains("may not be read"), "{denied}");
}
