//! A build without SQLite says so.
#![cfg(not(feature = "sqlite"))]
#![expect(clippy::disallowed_methods, reason = "tests write their inputs")]

use std::process::Command;

#[test]
fn a_database_is_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    std::fs::write(&path, [b"SQLite format 3\0".as_slice(), &[0; 84]].concat()).unwrap();
    for name in ["opencode.db", "opencode.db#ses_1"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cutline"));
        let output = command.arg("inspect").arg(folder.path().join(name)).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("built without the feature `sqlite`"), "{said}");
    }
}
