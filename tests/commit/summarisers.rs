//! Summariser commands that behave, and all others.

use std::{
    fs,
    io::Read as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cutline::commit::{Progress, RunError, Summariser};
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_setfl};
use tempfile::TempDir;

use crate::rig::assert_sentence;

/// Long enough for any machine; nothing here waits for it.
const AGES: Duration = Duration::from_secs(300);

struct Fake {
    dir: TempDir,
}

impl Fake {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("fake")
    }

    /// `/bin/sh` reads the script as a file of its own, so that no test runs a file that another thread, between
    /// fork and exec, still holds open for writing.
    fn program(&self, script: &str) -> Summariser {
        fs::write(self.path(), script).unwrap();
        let argv = vec!["/bin/sh".to_string(), self.path().to_str().unwrap().to_string()];
        Summariser { argv, timeout: AGES, most: 1 << 20 }
    }
}

fn run(summariser: &Summariser, request: &[u8]) -> Result<Vec<u8>, RunError> {
    summariser.run(request, &AtomicBool::new(false), &|_| {})
}

/// A pipe with a name. Who writes to it is alive as long as it has no end.
struct Pulse {
    path: PathBuf,
    end: fs::File,
}

impl Pulse {
    fn new(folder: &Path) -> Self {
        let path = folder.join("pulse");
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        // Open before anybody writes, so that nobody waits for a reader.
        let end = rustix::fs::open(&path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
        Self { path, end: end.into() }
    }

    /// Waits until nobody holds it any more, and returns what was said.
    fn ended(mut self) -> String {
        fcntl_setfl(&self.end, OFlags::empty()).unwrap();
        let mut said = String::new();
        self.end.read_to_string(&mut said).unwrap();
        said
    }
}

#[test]
fn a_command_is_split_without_a_shell() {
    let parsed = Summariser::parse("llm -m 'big one' --system \"a b\" $HOME *").unwrap();
    assert_eq!(parsed.argv, ["llm", "-m", "big one", "--system", "a b", "$HOME", "*"]);
    assert_eq!(Summariser::parse("/opt/bin/llm x").unwrap().program(), "llm");
    for wrong in ["", "   ", "llm 'x", "''"] {
        assert_sentence(&Summariser::parse(wrong).unwrap_err());
    }
}

#[test]
fn an_answer_comes_back_byte_for_byte() {
    let fake = Fake::new();
    let request: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
    let said = Mutex::new(Vec::<Progress>::new());
    // Both pipes are much smaller than the request: it only works if both sides move at once.
    let answer = fake.program("exec cat").run(&request, &AtomicBool::new(false), &|now| said.lock().unwrap().push(now));
    assert!(answer.unwrap() == request);
    let said = said.into_inner().unwrap();
    let last = said.last().unwrap();
    assert_eq!((last.sent, last.received), (request.len(), request.len()));
    assert!(said.windows(2).all(|pair| pair[0].sent <= pair[1].sent && pair[0].received <= pair[1].received));
}

#[test]
fn one_that_reads_nothing_may_still_answer() {
    let fake = Fake::new();
    let request = vec![b'x'; 1 << 20];
    assert_eq!(run(&fake.program("exec <&-\necho short"), &request).unwrap(), b"short\n");
    assert_eq!(run(&fake.program("echo short"), &request).unwrap(), b"short\n");
}

#[test]
fn one_that_fails_is_quoted() {
    let fake = Fake::new();
    let why =
        run(&fake.program("echo half; echo warming up >&2; echo no key set >&2; echo >&2; exit 3"), b"").unwrap_err();
    assert!(matches!(&why, RunError::Failed { status, .. } if status == "exit code 3"), "{why}");
    assert!(why.to_string().contains("Its last words: no key set"), "{why}");
    assert_sentence(&why.to_string());
    let why = run(&fake.program("kill -9 $$"), b"").unwrap_err();
    assert!(matches!(&why, RunError::Failed { status, .. } if status == "signal 9"), "{why}");
}

#[test]
fn one_that_says_nothing_and_calls_it_success_lies() {
    let fake = Fake::new();
    let why = run(&fake.program("cat >/dev/null; printf '  \\n'; exit 0"), b"request").unwrap_err();
    assert!(matches!(why, RunError::Silent { .. }), "{why}");
    assert_sentence(&why.to_string());
}

#[test]
fn one_that_hangs_is_ended_with_its_children() {
    let fake = Fake::new();
    let pulse = Pulse::new(fake.dir.path());
    let script = format!("exec 9>{}; echo here >&9; sleep 600 & echo thinking >&2; wait", pulse.path.display());
    let mut summariser = fake.program(&script);
    summariser.timeout = Duration::from_millis(700);
    let why = run(&summariser, b"request").unwrap_err();
    assert!(matches!(why, RunError::TimedOut { .. }), "{why}");
    assert!(why.to_string().contains("in 0.7 s"), "{why}");
    // On a very slow machine it may not even have begun; then there is nobody to wait for.
    let said = pulse.ended();
    assert!(["", "here\n"].contains(&said.as_str()), "{said}");
}

#[test]
fn one_that_floods_is_ended() {
    let fake = Fake::new();
    let mut summariser = fake.program("exec cat /dev/zero");
    summariser.most = 100_000;
    let why = run(&summariser, b"").unwrap_err();
    assert!(matches!(why, RunError::TooMuch { most: 100_000, .. }), "{why}");
    assert_sentence(&why.to_string());
    // Noise on the other pipe is not kept, and hinders nobody.
    let noisy = fake.program("head -c 3000000 /dev/zero >&2; echo well");
    assert_eq!(run(&noisy, b"").unwrap(), b"well\n");
}

#[test]
fn the_answer_may_fill_the_limit_exactly() {
    let fake = Fake::new();
    let mut summariser = fake.program("printf 12345");
    summariser.most = 5;
    assert_eq!(run(&summariser, b"").unwrap(), b"12345");
    summariser.most = 4;
    assert!(matches!(run(&summariser, b"").unwrap_err(), RunError::TooMuch { .. }));
}

#[test]
fn a_child_that_survives_its_program_has_no_say_and_is_ended() {
    let fake = Fake::new();
    let pulse = Pulse::new(fake.dir.path());
    // It holds all three pipes open.
    let script = format!("exec 9>{}; echo here >&9; sleep 600 & echo answer", pulse.path.display());
    assert_eq!(run(&fake.program(&script), b"request").unwrap(), b"answer\n");
    assert_eq!(pulse.ended(), "here\n");
}

#[test]
fn one_that_is_cancelled_is_ended() {
    let fake = Fake::new();
    let cancel = AtomicBool::new(false);
    // Cancelled as soon as it has said something.
    let summariser = fake.program("echo first; exec sleep 600");
    let why = summariser.run(b"", &cancel, &|now| cancel.store(now.received > 0, Ordering::Relaxed)).unwrap_err();
    assert!(matches!(why, RunError::Cancelled(_)), "{why}");
    assert_sentence(&why.to_string());
}

#[test]
fn one_that_is_no_program_is_named() {
    let fake = Fake::new();
    let missing = Summariser::parse("no-such-summariser --now").unwrap();
    let why = run(&missing, b"").unwrap_err();
    assert!(matches!(&why, RunError::Missing(name) if name == "no-such-summariser"), "{why}");
    assert_sentence(&why.to_string());
    fs::write(fake.path(), "plain text").unwrap();
    for mode in [0o644, 0o755] {
        fs::set_permissions(fake.path(), fs::Permissions::from_mode(mode)).unwrap();
        let why = run(&Summariser { argv: vec![fake.path().to_str().unwrap().to_string()], ..missing.clone() }, b"");
        let why = why.unwrap_err();
        assert!(matches!(why, RunError::NotExecutable(_)), "{mode:o}: {why:?}");
        assert_sentence(&why.to_string());
    }
}
