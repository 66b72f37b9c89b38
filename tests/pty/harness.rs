//! The real program in a real terminal: keys go in, a VT parser reads what comes out, and everything is waited for with
//! a deadline.

use std::{
    fs,
    io::{Read as _, Write},
    num::NonZeroU16,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

/// Nothing takes longer than this, even on a machine with other work.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
/// Runs the program under a shell that lives on, because the end of a session's leader resets the terminal by itself.
const UNDER_A_SHELL: &str = r#"ulimit -c 0
echo "before=$(stty -g)"
sh -c 'echo "pid=$$."; exec "$@"' sh "$@"
code=$?
echo; echo "after=$(stty -g)"
echo "code=$code."
"#;

/// What came out of the terminal so far.
struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    ended: bool,
}

#[derive(Default)]
struct Reading {
    /// No byte is taken from the terminal while this is set.
    paused: AtomicBool,
    /// Ends the reading, and with it this side of the terminal.
    over: AtomicBool,
}

/// How a program is started.
pub(crate) struct Start {
    pub(crate) size: (u16, u16),
    pub(crate) env: Vec<(&'static str, String)>,
    /// The terminal is that of the program's session: it gets Ctrl-C, SIGWINCH and SIGHUP from it.
    pub(crate) controlling: bool,
}

impl Default for Start {
    fn default() -> Self {
        Self { size: (100, 30), env: Vec::new(), controlling: true }
    }
}

impl Start {
    pub(crate) fn env(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.env.push((name, value.into()));
        self
    }

    /// The program alone, as the leader of the session.
    pub(crate) fn alone(self, args: &[&str]) -> Term {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_cutline"));
        command.args(args);
        self.spawn(command)
    }

    /// The program under a shell that says how the terminal was before and after.
    pub(crate) fn shell(self, args: &[&str]) -> Term {
        self.script(UNDER_A_SHELL, args)
    }

    /// A script that gets the program and its arguments as `"$@"`.
    pub(crate) fn script(self, script: &str, args: &[&str]) -> Term {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_cutline")]);
        command.args(args);
        self.spawn(command)
    }

    fn spawn(self, mut command: CommandBuilder) -> Term {
        let home = tempfile::tempdir().unwrap();
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", home.path());
        command.cwd(env!("CARGO_MANIFEST_DIR"));
        for (name, value) in [("TERM", "xterm-256color"), ("RUST_BACKTRACE", "0"), ("LANG", "C.UTF-8"), ("TZ", "UTC")] {
            command.env(name, value);
        }
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command.set_controlling_tty(self.controlling);
        let pair = native_pty_system().openpty(pty_size(self.size)).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (cols, rows) = (at_least_one(self.size.0), at_least_one(self.size.1));
        let seen = Seen { parser: vt100::Parser::new(rows, cols, 0), bytes: Vec::new(), ended: false };
        let seen = Arc::new((Mutex::new(seen), Condvar::new()));
        let reading = Arc::new(Reading::default());
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (keep, state) = (Arc::clone(&seen), Arc::clone(&reading));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while !state.over.load(Ordering::SeqCst) {
                if state.paused.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(5));
                    continue;
                }
                let got = reader.read(&mut buffer).unwrap_or(0);
                let mut seen = keep.0.lock().unwrap();
                seen.parser.process(&buffer[..got]);
                seen.bytes.extend_from_slice(&buffer[..got]);
                seen.ended |= got == 0;
                keep.1.notify_all();
                if got == 0 {
                    return;
                }
            }
        });
        let writer = pair.master.take_writer().unwrap();
        Term { child, master: Some(pair.master), writer: Some(writer), seen, reading, _home: home }
    }
}

fn at_least_one(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).unwrap_or(NonZeroU16::MIN)
}

fn pty_size((cols, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

/// A running program and its terminal.
pub(crate) struct Term {
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<Box<dyn Write + Send>>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    reading: Arc<Reading>,
    _home: tempfile::TempDir,
}

impl Term {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.0.lock().unwrap()
    }

    /// Waits until `wanted` is true of the screen and of all text so far.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, wanted: impl Fn(&vt100::Screen, &str) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        let mut seen = self.seen();
        loop {
            let text = String::from_utf8_lossy(&seen.bytes);
            if wanted(seen.parser.screen(), &text) {
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !seen.ended, "never seen: {what}\n{}", seen.parser.screen().contents());
            seen = self.seen.1.wait_timeout(seen, left.min(Duration::from_millis(200))).unwrap().0;
        }
    }

    /// Waits until the screen shows `text`.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        self.until(text, |screen, _| screen.contents().contains(text));
    }

    pub(crate) fn contents(&self) -> String {
        self.seen().parser.screen().contents()
    }

    /// Everything that was written to the terminal.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen().bytes).into_owned()
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        let writer = self.writer.as_mut().unwrap();
        writer.write_all(keys.as_bytes()).unwrap();
        writer.flush().unwrap();
    }

    pub(crate) fn resize(&self, cols: u16, rows: u16) {
        self.seen().parser.set_size(at_least_one(rows), at_least_one(cols));
        self.master.as_ref().unwrap().resize(pty_size((cols, rows))).unwrap();
    }

    /// The program's own number, as the shell that became it has told.
    #[track_caller]
    pub(crate) fn pid(&self) -> u32 {
        self.until("the pid", |_, text| told(text, "pid=").is_some());
        told(&self.text(), "pid=").unwrap().parse().unwrap()
    }

    /// The number of the started program, without a shell.
    pub(crate) fn own_pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    pub(crate) fn pause_reading(&self, paused: bool) {
        self.reading.paused.store(paused, Ordering::SeqCst);
    }

    /// Closes this side of the terminal: the reader ends with the next byte that comes.
    pub(crate) fn hang_up(&mut self) {
        self.reading.over.store(true, Ordering::SeqCst);
        drop(self.writer.take());
        drop(self.master.take());
    }

    /// Waits for the end of the program that was started.
    #[track_caller]
    pub(crate) fn ends(&mut self) -> ExitStatus {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "still alive\n{}", self.contents());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the end of the shell; the terminal must be as it was. Returns the program's code as the shell saw it.
    #[track_caller]
    pub(crate) fn restored(&mut self) -> i32 {
        self.until("the shell's last word", |_, text| told(text, "code=").is_some());
        let text = self.text();
        assert_eq!(told(&text, "before="), told(&text, "after="), "the terminal's settings were not restored");
        let place = |mark: &str| text.rfind(mark);
        assert!(place("\x1b[?2026l") >= place("\x1b[?2026h"), "an update was never ended");
        {
            let seen = self.seen();
            let screen = seen.parser.screen();
            assert!(!screen.alternate_screen(), "the alternate screen was not left");
            assert!(!screen.hide_cursor(), "the cursor is hidden");
            assert!(!screen.bracketed_paste(), "pastes are still bracketed");
        }
        self.ends();
        told(&text, "code=").unwrap().parse().unwrap()
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.reading.over.store(true, Ordering::SeqCst);
        drop(self.child.kill());
        let deadline = Instant::now() + DEADLINE;
        while self.child.try_wait().is_ok_and(|status| status.is_none()) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The word after the last `mark` that stands in whole, up to a dot or the end of its line.
fn told(text: &str, mark: &str) -> Option<String> {
    let rest = &text[text.rfind(mark)? + mark.len()..];
    let end = rest.find(['.', '\r', '\n'])?;
    Some(rest[..end].to_string())
}

/// Sends a signal by its name without `SIG`.
pub(crate) fn send(signal: &str, pid: u32) {
    let sent = Command::new("sh").args(["-c", &format!("kill -s {signal} {pid}")]).status().unwrap();
    assert!(sent.success(), "SIG{signal} could not be sent");
}

/// Waits until `wanted` holds.
#[track_caller]
pub(crate) fn eventually(what: &str, wanted: impl Fn() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !wanted() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The first child of a process.
pub(crate) fn child_of(parent: u32) -> u32 {
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let is_child = |pid: &u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
        rest.split_ascii_whitespace().nth(1) == Some(&parent.to_string())
    };
    numbers.into_iter().find(is_child).unwrap()
}

/// State letter and processor time in ticks of a hundredth of a second; `None` when the process is gone.
pub(crate) fn process(pid: u32) -> Option<(char, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let ticks = |n: usize| fields.get(n)?.parse::<u64>().ok();
    Some((fields.first()?.chars().next()?, ticks(11)? + ticks(12)?))
}

/// A transcript in a folder of its own.
pub(crate) struct Log {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Log {
    /// A path at which nothing is yet.
    pub(crate) fn absent() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        Self { folder, path }
    }

    pub(crate) fn of(text: &str) -> Self {
        let log = Self::absent();
        fs::write(&log.path, text).unwrap();
        log
    }

    pub(crate) fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }

    pub(crate) fn append(&self, text: &str) {
        append(&self.path, text);
    }
}

fn append(path: &Path, text: &str) {
    fs::OpenOptions::new().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}
