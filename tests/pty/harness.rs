//! The real binary in a pseudo terminal: waits for conditions with a deadline, never sleeps to synchronise, and always
//! takes the process back.

use std::{
    io::{Read as _, Write},
    num::NonZeroU16,
    path::Path,
    process::Command,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

/// Nothing here takes long; a loaded machine may.
const DEADLINE: Duration = Duration::from_secs(20);

fn cells(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n.max(1)).unwrap()
}

struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    closed: bool,
}

/// A running program with its screen.
pub(crate) struct Pty {
    master: Box<dyn MasterPty + Send>,
    writer: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    /// Modes of the terminal before the program ran.
    before: String,
}

impl Pty {
    /// Starts cutline with `args`.
    pub(crate) fn start(args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_cutline"));
        command.args(args);
        Self::spawn(command, env)
    }

    /// Starts a shell script; `$CUTLINE` is the binary.
    pub(crate) fn shell(script: &str, env: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script]);
        command.env("CUTLINE", env!("CARGO_BIN_EXE_cutline"));
        Self::spawn(command, env)
    }

    fn spawn(mut command: CommandBuilder, env: &[(&str, &str)]) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        command.cwd(env!("CARGO_MANIFEST_DIR"));
        for (name, value) in [("TERM", "xterm-256color"), ("RUST_BACKTRACE", "0"), ("LANG", "C.UTF-8")] {
            command.env(name, value);
        }
        env.iter().for_each(|(name, value)| command.env(name, value));
        let before = format!("{:?}", pair.master.get_termios());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let seen = Seen { parser: vt100::Parser::new(cells(24), cells(80), 0), bytes: Vec::new(), closed: false };
        let seen = Arc::new((Mutex::new(seen), Condvar::new()));
        let sink = Arc::clone(&seen);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let got = reader.read(&mut buffer).unwrap_or(0);
                let mut seen = sink.0.lock().unwrap();
                seen.parser.process(&buffer[..got]);
                seen.bytes.extend_from_slice(&buffer[..got]);
                seen.closed = got == 0;
                sink.1.notify_all();
                if got == 0 {
                    return;
                }
            }
        });
        Self { master: pair.master, writer, child, seen, before }
    }

    /// Waits until the screen satisfies `wanted`; fails with the screen otherwise.
    pub(crate) fn until(&self, what: &str, wanted: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + DEADLINE;
        let mut seen = self.seen.0.lock().unwrap();
        while !wanted(seen.parser.screen()) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !seen.closed || wanted(seen.parser.screen()),
                "never: {what}\n{}",
                seen.parser.screen().contents()
            );
            seen = self.seen.1.wait_timeout(seen, left.min(Duration::from_millis(200))).unwrap().0;
        }
    }

    /// Waits until the screen holds `text`.
    pub(crate) fn shows(&self, text: &str) {
        self.until(text, |screen| screen.contents().contains(text));
    }

    /// Types.
    pub(crate) fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).unwrap();
        self.writer.flush().unwrap();
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        self.master.resize(PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }).unwrap();
        self.seen.0.lock().unwrap().parser.screen_mut().set_size(cells(rows), cells(cols));
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.process_id().unwrap().to_string();
        assert!(Command::new("kill").args([format!("-{name}"), pid]).status().unwrap().success());
    }

    /// The state letter of the process, as the system tells it.
    pub(crate) fn until_state(&self, letter: char) {
        let path = format!("/proc/{}/stat", self.child.process_id().unwrap());
        let end = Instant::now() + DEADLINE;
        loop {
            let stat = std::fs::read_to_string(Path::new(&path)).unwrap_or_default();
            let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
            if state == Some(letter) {
                return;
            }
            assert!(Instant::now() < end, "never in state {letter}: {state:?}");
            thread::yield_now();
        }
    }

    /// Waits for the end, then for the last output.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let end = Instant::now() + DEADLINE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > end {
                drop(self.child.kill());
                panic!("the program does not end\n{}", self.seen.0.lock().unwrap().parser.screen().contents());
            }
            thread::sleep(Duration::from_millis(5));
        };
        let mut seen = self.seen.0.lock().unwrap();
        while !seen.closed && Instant::now() < end {
            seen = self.seen.1.wait_timeout(seen, Duration::from_millis(50)).unwrap().0;
            if self.seen_quiet(&seen) {
                break;
            }
        }
        status
    }

    fn seen_quiet(&self, seen: &Seen) -> bool {
        // The slave is closed with the process; some systems report that late.
        seen.closed || !seen.parser.screen().alternate_screen()
    }

    /// The terminal is as it was: modes, primary screen, visible cursor.
    pub(crate) fn assert_restored(&self) {
        assert_eq!(format!("{:?}", self.master.get_termios()), self.before, "modes of the terminal");
        let seen = self.seen.0.lock().unwrap();
        let screen = seen.parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen was left");
        assert!(!screen.hide_cursor(), "the cursor is visible");
        assert!(!screen.bracketed_paste(), "bracketed paste is off");
    }

    /// Every byte that the program wrote.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.seen.0.lock().unwrap().bytes.clone()
    }

    /// What stands on the screen.
    pub(crate) fn contents(&self) -> String {
        self.seen.0.lock().unwrap().parser.screen().contents()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
