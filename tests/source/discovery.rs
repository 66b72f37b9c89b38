//! Sessions are found where the runtimes keep them.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use cutline::source::{Roots, Runtime, find::find_rollout};

const THREAD: &str = "019a0000-aaaa-7000-8000-000000000001";
const ROLLOUT: &str = "019a0000-bbbb-7000-8000-000000000002";

fn make(path: PathBuf, age: u64) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "{}\n").unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000 - age);
    OpenOptions::new().write(true).open(&path).unwrap().set_modified(time).unwrap();
    path
}

fn names(found: &[cutline::source::Found]) -> Vec<&str> {
    found.iter().map(|found| found.path.file_name().unwrap().to_str().unwrap()).collect()
}

#[test]
fn every_runtime_newest_first() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    make(at(".claude/projects/-work-a/s1.jsonl"), 50);
    make(at(".claude/projects/-work-b/s2.jsonl"), 10);
    make(at(".claude/projects/-work-b/agent-old.jsonl"), 40);
    make(at(".claude/projects/-work-b/s2/subagents/agent-new.jsonl"), 20);
    make(at(".claude/projects/-work-b/s2/subagents/agent-new.meta.json"), 1);
    make(at(".claude/projects/-work-b/s2/subagents/agent-acompact-1.jsonl"), 1);
    make(at(".claude/projects/-work-b/s2.jsonl.compact.tmp.0a1b2c3d"), 1);
    make(at(".claude/projects/-work-b/s2/tool-results/x.txt"), 1);
    make(at(".codex/sessions/2026/11/30/rollout-2026-11-30T10-00-00-x.jsonl"), 30);
    make(at(".codex/sessions/2026/11/30/notes.jsonl"), 1);
    make(at(".pi/agent/sessions/--work-a--/2026-11-30T10-00-00-000Z_p.jsonl"), 45);
    make(at(".pi/agent/models.json"), 1);
    fs::create_dir_all(at(".claude/projects/-work-b/folder.jsonl")).unwrap();
    let home = |name: &str| (name == "HOME").then(|| home.path().as_os_str().to_owned());
    let found = Roots::from_env(home).sessions();
    let wanted = [
        "s2.jsonl",
        "agent-new.jsonl",
        "rollout-2026-11-30T10-00-00-x.jsonl",
        "agent-old.jsonl",
        "2026-11-30T10-00-00-000Z_p.jsonl",
        "s1.jsonl",
    ];
    assert_eq!(names(&found), wanted);
    assert_eq!(found.iter().map(|found| found.sub_agent).collect::<Vec<_>>(), [false, true, false, true, false, false]);
    assert_eq!((found[2].runtime, found[4].runtime), (Runtime::Codex, Runtime::Pi));
    assert_eq!((found[0].modified.0, found[0].bytes), (1_999_999_990_000, 3));
}

#[test]
fn the_environment_names_the_folders() {
    let var = |name: &str| match name {
        "HOME" => Some(OsString::from("/home/me")),
        "CLAUDE_CONFIG_DIR" => Some(OsString::from("/etc/claude")),
        "CODEX_HOME" => Some(OsString::new()),
        "PI_CODING_AGENT_DIR" => Some(OsString::from("/etc/pi")),
        _ => None,
    };
    let roots = Roots::from_env(var);
    assert_eq!(roots.pi.as_deref(), Some(Path::new("/etc/pi/sessions")));
    let own = |name: &str| (name == "PI_CODING_AGENT_SESSION_DIR").then(|| OsString::from("/srv/sessions"));
    assert_eq!(Roots::from_env(own).folders(), [Path::new("/srv/sessions")]);
    assert_eq!(roots.claude.as_deref(), Some(Path::new("/etc/claude")));
    assert_eq!(roots.codex.as_deref(), Some(Path::new("/home/me/.codex")));
    assert_eq!(Roots::from_env(|_| None), Roots::default());
    assert!(Roots::default().sessions().is_empty());
    assert!(
        Roots {
            claude: Some("/nowhere".into()),
            codex: Some("/nowhere".into()),
            pi: Some("/nowhere".into()),
            ..Roots::default()
        }
        .sessions()
        .is_empty()
    );
}

#[test]
fn a_rollout_is_found_by_its_id() {
    let home = tempfile::tempdir().unwrap();
    let at = |path: String| home.path().join(path);
    let first = make(at(format!("sessions/2026/11/28/rollout-2026-11-28T10-00-00-{THREAD}.jsonl")), 0);
    let second = make(at(format!("sessions/2026/12/01/rollout-2026-12-01T10-00-00-{THREAD}_{ROLLOUT}.jsonl")), 0);
    let stored = make(at("archived_sessions/rollout-2026-01-01T10-00-00-stored.jsonl".into()), 0);
    for from in [first.parent(), second.parent(), stored.parent(), Some(home.path().join("sessions").as_path())] {
        let from = from.unwrap();
        assert_eq!(find_rollout(from, THREAD).as_ref(), Some(&first), "{from:?}");
        assert_eq!(find_rollout(from, ROLLOUT).as_ref(), Some(&second), "{from:?}");
        assert_eq!(find_rollout(from, "stored").as_ref(), Some(&stored), "{from:?}");
        assert_eq!(find_rollout(from, "absent"), None);
        assert_eq!(find_rollout(from, ""), None);
        assert_eq!(find_rollout(from, "../x"), None);
    }
    // A copy somewhere else has only its own folder.
    let alone = make(at(format!("copy/rollout-2026-11-28T10-00-00-{THREAD}.jsonl")), 0);
    assert_eq!(find_rollout(alone.parent().unwrap(), THREAD), Some(alone.clone()));
    assert_eq!(find_rollout(alone.parent().unwrap(), ROLLOUT), None);
}

#[test]
fn sessions_of_pi_lie_side_by_side_in_a_folder_of_ones_own() {
    let home = tempfile::tempdir().unwrap();
    make(home.path().join("a.jsonl"), 2);
    make(home.path().join("--work--/b.jsonl"), 1);
    let roots = Roots { pi: Some(home.path().to_path_buf()), ..Roots::default() };
    assert_eq!(names(&roots.sessions()), ["b.jsonl", "a.jsonl"]);
}
