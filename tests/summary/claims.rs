//! Checks d and e on hand-written prose.

use cutline::{format::Act, plan::Outcome};

use crate::{Case, call, error, result, shell, user};

/// Certificates: issued for three, installation on edge-1 open, a commit that failed, a file written, a file not.
fn certificates() -> Case {
    Case::of(&[
        user("Rotate the certificates."),
        shell("c1", "./certs issue edge-1 edge-2 edge-3 --out issued/"),
        result("c1", "ok"),
        shell("c2", "git commit -m 'rotate'"),
        error("c2", "nothing to commit"),
        call("c4", "write", &serde_json::json!({"path": "docs/rotation.md", "content": "x"})),
        result("c4", "ok"),
        call("c5", "edit", &serde_json::json!({"path": "src/renewal.rs"})),
        error("c5", "no match"),
        shell("c6", "scp issued/edge-2.pem edge-2.example:/etc/ssl"),
        result("c6", "ok"),
        shell("c7", "cargo test"),
        result("c7", "ok"),
        shell("c8", "pg_dump billing_prod --file dump.sql"),
        shell("c3", "./certs install edge-1 issued/edge-1.pem --restart"),
    ])
    .giving_up(13, Act::Abandon, "c8")
}

#[test]
fn what_is_not_done_may_not_be_told_as_done() {
    let case = certificates();
    for lie in [
        "The certificate of edge-1 was installed and the proxy restarted.",
        "Ran `certs install edge-1 issued/edge-1.pem --restart` successfully.",
        "c3 is done.",
        "I committed the change.",
        "The work was committed with the message 'rotate'.",
        "Then `git commit` succeeded.",
        "src/renewal.rs was edited to renew earlier.",
        "Fixed renewal.rs.",
        "All good. The dump billing_prod was completed; nothing else is needed.",
        "pg_dump ran; `pg_dump billing_prod` finished without errors.",
        "Step one is not done, but edge-1 was installed.",
    ] {
        let (outcome, text) = case.check("summary-contradicts", lie);
        assert_eq!(outcome, Outcome::Asks, "{lie}: {text}");
        assert!(text.contains('“'), "names no sentence: {text}");
    }
}

#[test]
fn what_is_told_rightly_passes() {
    let case = certificates();
    for truth in [
        "Certificates for edge-1, edge-2 and edge-3 were issued.",
        "The certificate of edge-1 was not installed yet.",
        "Installing edge-1 is still pending: the call has no result.",
        "c3 is open.",
        "`git commit` failed: nothing to commit.",
        "The change was not committed.",
        "An edit of src/renewal.rs failed.",
        "docs/rotation.md was written.",
        "The outcome of pg_dump billing_prod is unknown; check before doing it again.",
        "edge-2.pem was copied to edge-2.example and the tests passed.",
        "Whether edge-1 was installed is unclear.",
        "Once edge-1 is installed, the rotation is complete.",
        "The next step will be to install edge-1.",
        "The person wants the certificates rotated before Friday.",
        "cargo test passed with no errors.",
    ] {
        let (outcome, text) = case.check("summary-contradicts", truth);
        assert_eq!(outcome, Outcome::Passed, "{truth}: {text}");
        let (outcome, text) = case.check("summary-regresses", truth);
        assert_eq!(outcome, Outcome::Passed, "{truth}: {text}");
    }
}

#[test]
fn what_is_done_may_not_be_told_as_still_to_do() {
    let case = certificates();
    for lie in [
        "docs/rotation.md has not been written yet.",
        "Still to do: `certs issue edge-1 edge-2 edge-3 --out issued/`.",
        "c6 is still to do.",
        "Next step: certs issue for all nodes.",
    ] {
        let (outcome, text) = case.check("summary-regresses", lie);
        assert_eq!(outcome, Outcome::Asks, "{lie}: {text}");
    }
    for fine in [
        "cargo test needs to pass before each commit.",
        "We need to write another section of docs/rotation.md.",
        "Still to do: install edge-1.",
        "src/renewal.rs has not been edited.",
    ] {
        let (outcome, text) = case.check("summary-regresses", fine);
        assert_eq!(outcome, Outcome::Passed, "{fine}: {text}");
    }
}

#[test]
fn what_failed_first_and_went_well_later_is_done() {
    let case = Case::of(&[
        user("Commit."),
        shell("a", "git push origin main"),
        error("a", "rejected"),
        shell("b", "git push origin main"),
        result("b", "ok"),
    ]);
    let (outcome, text) = case.check("summary-contradicts", "The branch was pushed: `git push` succeeded.");
    assert_eq!(outcome, Outcome::Passed, "{text}");
}

#[test]
fn a_launch_that_was_answered_is_no_completion() {
    let case = Case::of(&[
        user("Start it."),
        shell("a", "./migrate.sh --all"),
        serde_json::json!({"kind": "task-started", "id": "job-17", "command": "./migrate.sh --all"}),
        result("a", "started as job-17"),
    ]);
    let text = case.text();
    assert!(text.contains(r#"- lives-on task "job-17""#), "{text}");
}
