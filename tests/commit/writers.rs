//! Who may be writing, told from folders that look like those of the system and of the runtimes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cutline::{
    commit::{Liveness, Roots, Writer},
    format::Format,
    model::Millis,
};
use tempfile::TempDir;

struct World {
    dir: TempDir,
    source: PathBuf,
    roots: Roots,
}

impl World {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        let roots = Roots { claude: Some(at("claude")), codex: Some(at("codex")), proc: at("proc") };
        let source = at("session.jsonl");
        fs::write(&source, "{}\n").unwrap();
        fs::create_dir(&roots.proc).unwrap();
        Self { dir, source, roots }
    }

    fn process(&self, pid: u32, started: &str) -> PathBuf {
        let folder = self.roots.proc.join(pid.to_string());
        fs::create_dir_all(folder.join("fd")).unwrap();
        fs::create_dir_all(folder.join("fdinfo")).unwrap();
        let before = "S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0";
        fs::write(folder.join("stat"), format!("{pid} (cla) (ude)) {before} {started} 0 0\n")).unwrap();
        folder
    }

    fn opens(&self, pid: u32, fd: u32, path: &Path, flags: &str) {
        let folder = self.process(pid, "1");
        std::os::unix::fs::symlink(path, folder.join(format!("fd/{fd}"))).unwrap();
        fs::write(folder.join(format!("fdinfo/{fd}")), format!("pos:\t0\nflags:\t{flags}\nmnt_id:\t1\n")).unwrap();
    }

    fn registers(&self, pid: u32, entry: &str) {
        let folder = self.dir.path().join("claude/sessions");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{pid}.json")), entry).unwrap();
    }

    fn ask(&self, format: Format, session: &str) -> Writer {
        self.roots.writer(&self.source, format, Some(session), Millis(i64::MAX))
    }
}

#[test]
fn nothing_to_be_seen_is_unknown_with_its_age() {
    let world = World::new();
    let meta = world.source.metadata().unwrap().modified().unwrap();
    let changed = i64::try_from(meta.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()).unwrap();
    for (after, said) in [(12, "12 s"), (-5, "0 s"), (300, "5 min"), (10_800, "3 h"), (259_200, "3 days")] {
        let now = Millis(changed + after * 1000 + 500);
        let writer = world.roots.writer(&world.source, Format::Cutline, None, now);
        assert_eq!(writer.liveness, Liveness::Unknown);
        assert_eq!(writer.sentence, format!("no sign of a writer; last append {said} ago"));
    }
}

#[test]
fn a_process_that_holds_it_open_for_writing_is_alive() {
    let world = World::new();
    let other = world.dir.path().join("other");
    fs::write(&other, "").unwrap();
    world.opens(10, 3, &world.source, "0100000");
    world.opens(11, 3, &other, "0100001");
    world.opens(12, 3, Path::new("socket:[4711]"), "02");
    assert_eq!(world.ask(Format::Codex, "t").liveness, Liveness::Unknown, "reading is no writing");
    world.opens(4711, 9, &world.source, "02102001");
    let writer = world.ask(Format::Codex, "t");
    assert_eq!((writer.liveness, writer.sentence.as_str()), (Liveness::Live, "alive: pid 4711 holds it open"));
}

#[test]
fn claude_is_alive_if_the_registered_process_is_the_same() {
    let world = World::new();
    world.process(20, "5555");
    world.registers(20, r#"{"pid":20,"sessionId":"other","procStart":"5555"}"#);
    assert!(world.ask(Format::ClaudeCode, "s1").sentence.starts_with("no sign"));
    for start in ["\"5555\"", "5555"] {
        world.registers(20, &format!(r#"{{"pid":20,"sessionId":"s1","procStart":{start},"status":"idle"}}"#));
        let writer = world.ask(Format::ClaudeCode, "s1");
        assert_eq!(
            (writer.liveness, writer.sentence.as_str()),
            (Liveness::Live, "alive: pid 20 runs this session, idle")
        );
    }
}

#[test]
fn a_claude_process_that_is_gone_is_no_proof() {
    let world = World::new();
    world.process(21, "6666");
    for (pid, start) in [(21, "5555"), (22, "5555")] {
        world.registers(pid, &format!(r#"{{"pid":{pid},"sessionId":"s1","procStart":"{start}"}}"#));
        let writer = world.ask(Format::ClaudeCode, "s1");
        assert_eq!(writer.liveness, Liveness::Unknown);
        assert!(writer.sentence.contains("is gone"), "{}", writer.sentence);
        fs::remove_file(world.dir.path().join(format!("claude/sessions/{pid}.json"))).unwrap();
    }
    world.registers(23, "not json");
    world.registers(24, r#"{"pid":24}"#);
    assert!(world.ask(Format::ClaudeCode, "s1").sentence.starts_with("no sign"));
}

#[test]
fn codex_locks_prove_both() {
    let world = World::new();
    assert_eq!(world.ask(Format::Codex, "t1").liveness, Liveness::Unknown, "older versions have no locks");
    let folder = world.dir.path().join("codex/thread-writer-locks");
    fs::create_dir_all(&folder).unwrap();
    let lock = folder.join("t1.lock");
    fs::write(&lock, "").unwrap();
    assert_eq!(world.ask(Format::Codex, "t1").liveness, Liveness::Dead);
    let held = fs::File::open(&lock).unwrap();
    held.try_lock().unwrap();
    let writer = world.ask(Format::Codex, "t1");
    assert_eq!(writer.liveness, Liveness::Live, "{}", writer.sentence);
    held.unlock().unwrap();
    assert_eq!(world.ask(Format::Codex, "t1").liveness, Liveness::Dead);
    held.try_lock().unwrap();
    assert_eq!(world.ask(Format::Codex, "t2").liveness, Liveness::Unknown);
    assert_eq!(world.ask(Format::Codex, "../thread-writer-locks/t1").liveness, Liveness::Unknown, "an id is no path");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing was made");
}

#[test]
fn roots_come_from_the_environment() {
    let roots = |pairs: &'static [(&str, &str)]| {
        Roots::from_env(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
    };
    let home = roots(&[("HOME", "/h")]);
    assert_eq!((home.claude, home.codex), (Some("/h/.claude".into()), Some("/h/.codex".into())));
    let set = roots(&[("HOME", "/h"), ("CLAUDE_CONFIG_DIR", "/c"), ("CODEX_HOME", "/x")]);
    assert_eq!((set.claude, set.codex), (Some("/c".into()), Some("/x".into())));
}
