//! A summariser command: a program that reads a request and answers with prose. It is started without a shell, in a
//! process group of its own, and never outlives its run.

use std::{
    io::{self, ErrorKind, Read, Write as _},
    os::{
        fd::AsFd,
        unix::process::{CommandExt as _, ExitStatusExt as _},
    },
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

/// Time for an answer.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Bytes of an answer.
const MOST: usize = 1 << 20;
/// Bytes of its last words that are kept for the error.
const WORDS: usize = 4 << 10;
/// How long the loop sleeps at most before it looks at the clock and at the wish to cancel.
const TICK: Duration = Duration::from_millis(50);
/// Bytes read at once.
const BLOCK: usize = 1 << 16;

/// A command that summarises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summariser {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// It is ended after this time.
    pub timeout: Duration,
    /// Most bytes of an answer; it is ended if it says more.
    pub most: usize,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the request that the program took.
    pub sent: usize,
    /// Bytes of the answer so far.
    pub received: usize,
    /// Since the start.
    pub elapsed: Duration,
}

/// Why there is no answer. Texts hold the program's own words: show them safely.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is no such program.
    #[error("There is no program `{0}`. Check its name and the PATH.")]
    Missing(String),
    /// It may not be run.
    #[error("`{0}` cannot be run: it is no program, or not yours to run. Check its permissions.")]
    NotExecutable(String),
    /// It gave up.
    #[error("`{program}` ended with {status} and gave no summary.{words} Use --summary-file or the built-in extract.")]
    Failed {
        /// Its name.
        program: String,
        /// `exit code 3` or `signal 9`.
        status: String,
        /// The end of what it wrote to stderr, in a sentence of its own.
        words: String,
    },
    /// It took too long.
    #[error("`{program}` gave no summary in {seconds} s and was ended.{words}")]
    TimedOut {
        /// Its name.
        program: String,
        /// Its time.
        seconds: f64,
        /// The end of what it wrote to stderr, in a sentence of its own.
        words: String,
    },
    /// It said too much.
    #[error("`{program}` wrote more than {most} bytes and was ended: that is no summary.")]
    TooMuch {
        /// Its name.
        program: String,
        /// The most that is taken.
        most: usize,
    },
    /// It said nothing.
    #[error("`{program}` ended well but wrote nothing.{words} It has to write the summary to its standard output.")]
    Silent {
        /// Its name.
        program: String,
        /// The end of what it wrote to stderr, in a sentence of its own.
        words: String,
    },
    /// The operator no longer wants it.
    #[error("`{0}` was ended because you cancelled it.")]
    Cancelled(String),
    /// The system said no.
    #[error("`{program}` could not be talked to: {why}.")]
    Io {
        /// Its name.
        program: String,
        /// What the system said.
        why: io::Error,
    },
}

impl Summariser {
    /// From one line, split into words as a shell would, but without one: no variables, no pipes.
    ///
    /// # Errors
    /// What is wrong with the line, as a sentence.
    pub fn parse(command: &str) -> Result<Self, String> {
        let argv = shell_words::split(command)
            .map_err(|why| format!("The summariser command cannot be split into words: {why}."))?;
        if argv.first().is_none_or(String::is_empty) {
            return Err("The summariser command is empty: name a program.".to_string());
        }
        Ok(Self { argv, timeout: TIMEOUT, most: MOST })
    }

    /// Name of the program, without its folder.
    pub fn program(&self) -> &str {
        let first = self.argv.first().map_or("", String::as_str);
        first.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(first)
    }

    /// Runs the program, gives it `request` on its standard input, and returns what it writes to its standard output.
    /// Whatever happens, nothing of its process group lives on.
    ///
    /// # Errors
    /// [`RunError`], as a sentence.
    pub fn run(
        &self,
        request: &[u8],
        cancel: &AtomicBool,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<u8>, RunError> {
        let mut child = self.start()?;
        let group = Pid::from_child(&child);
        let talk = Talk::new(&mut child, request).map_err(|why| self.io(why));
        let ended = talk.and_then(|talk| self.talk(talk, group, cancel, progress));
        // The child is not waited for yet, so its number still names this group and no other.
        end(group);
        let status = child.wait().map_err(|why| self.io(why))?;
        let (answer, words) = ended?;
        self.judge(answer, &words, status)
    }

    fn start(&self) -> Result<Child, RunError> {
        let (first, rest) = self.argv.split_first().ok_or_else(|| RunError::Missing(String::new()))?;
        let mut command = Command::new(first);
        command.args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        command.spawn().map_err(|why| match why.kind() {
            ErrorKind::NotFound => RunError::Missing(first.clone()),
            // Also a text without `#!` line.
            ErrorKind::PermissionDenied => RunError::NotExecutable(first.clone()),
            _ if why.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => {
                RunError::NotExecutable(first.clone())
            }
            _ => self.io(why),
        })
    }

    fn io(&self, why: io::Error) -> RunError {
        RunError::Io { program: self.program().to_string(), why }
    }

    /// Until the program has ended and everything that it wrote is here.
    fn talk(
        &self,
        mut talk: Talk<'_>,
        group: Pid,
        cancel: &AtomicBool,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(Vec<u8>, Vec<u8>), RunError> {
        let start = Instant::now();
        let program = || self.program().to_string();
        let mut told = None;
        loop {
            // Asked before reading: what a program wrote before its end is there once it has ended.
            let ended = has_ended(group).map_err(|why| self.io(why))?;
            if ended {
                // What it started may hold the pipes open for ever; it gets no say.
                end(group);
                talk.rest(self.most).map_err(|why| self.io(why))?;
            } else {
                talk.step().map_err(|why| self.io(why))?;
            }
            let now = Progress { sent: talk.sent, received: talk.answer.len(), elapsed: start.elapsed() };
            if talk.answer.len() > self.most {
                return Err(RunError::TooMuch { program: program(), most: self.most });
            }
            if told != Some((now.sent, now.received, now.elapsed.as_secs())) {
                told = Some((now.sent, now.received, now.elapsed.as_secs()));
                progress(now);
            }
            if ended {
                return Ok((talk.answer, talk.words));
            }
            if cancel.load(Ordering::Relaxed) {
                return Err(RunError::Cancelled(program()));
            }
            let Some(left) = self.timeout.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) else {
                let (seconds, words) = (self.timeout.as_secs_f64(), last_words(&talk.words));
                return Err(RunError::TimedOut { program: program(), seconds, words });
            };
            talk.wait(left.min(TICK)).map_err(|why| self.io(why))?;
        }
    }

    fn judge(&self, answer: Vec<u8>, words: &[u8], status: ExitStatus) -> Result<Vec<u8>, RunError> {
        let (program, words) = (self.program().to_string(), last_words(words));
        if !status.success() {
            let status = match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit code {code}"),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => "an unknown status".to_string(),
            };
            return Err(RunError::Failed { program, status, words });
        }
        if answer.trim_ascii().is_empty() {
            return Err(RunError::Silent { program, words });
        }
        Ok(answer)
    }
}

/// Ends everything in the group. One that is empty already is as good.
fn end(group: Pid) {
    let _ = kill_process_group(group, Signal::KILL);
}

/// True once the child has ended. It is not reaped by this.
fn has_ended(child: Pid) -> io::Result<bool> {
    loop {
        match waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT) {
            Err(rustix::io::Errno::INTR) => {}
            status => return Ok(status?.is_some()),
        }
    }
}

/// The last line that says something.
fn last_words(words: &[u8]) -> String {
    let text = String::from_utf8_lossy(words);
    let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    last.map_or(String::new(), |line| format!(" Its last words: {line}"))
}

/// Both sides of the pipes. Nothing here ever waits but [`Talk::wait`].
struct Talk<'a> {
    request: &'a [u8],
    sent: usize,
    answer: Vec<u8>,
    words: Vec<u8>,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    block: Vec<u8>,
}

impl<'a> Talk<'a> {
    fn new(child: &mut Child, request: &'a [u8]) -> io::Result<Self> {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let pipes =
            [stdin.as_ref().map(AsFd::as_fd), stdout.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)];
        for pipe in pipes.into_iter().flatten() {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        let block = vec![0; BLOCK];
        Ok(Self { request, sent: 0, answer: Vec::new(), words: Vec::new(), stdin, stdout, stderr, block })
    }

    /// Sends and takes what goes without waiting, at most a block each.
    fn step(&mut self) -> io::Result<()> {
        if let Some(pipe) = &mut self.stdin {
            let rest = self.request.get(self.sent..).unwrap_or_default();
            match pipe.write(rest) {
                _ if rest.is_empty() => self.stdin = None,
                Ok(sent) => self.sent += sent,
                Err(why) if waits(&why) => {}
                // It does not want to read more. What it says counts, not what it read.
                Err(why) if why.kind() == ErrorKind::BrokenPipe => self.stdin = None,
                Err(why) => return Err(why),
            }
        }
        if take(&mut self.stdout, &mut self.block, &mut self.answer)? {
            self.stdout = None;
        }
        if take(&mut self.stderr, &mut self.block, &mut self.words)? {
            self.stderr = None;
        }
        let over = self.words.len().saturating_sub(WORDS);
        self.words.drain(..over);
        Ok(())
    }

    /// Takes what is still in the pipes, up to a little more than `most`.
    fn rest(&mut self, most: usize) -> io::Result<()> {
        self.stdin = None;
        loop {
            let before = self.answer.len();
            self.step()?;
            if self.answer.len() == before || before > most {
                return Ok(());
            }
        }
    }

    /// Until there is something to do, at most so long.
    fn wait(&self, most: Duration) -> io::Result<()> {
        let mut pipes = Vec::with_capacity(3);
        pipes.extend(self.stdin.as_ref().map(|to| PollFd::new(to, PollFlags::OUT)));
        pipes.extend(self.stdout.as_ref().map(|from| PollFd::new(from, PollFlags::IN)));
        pipes.extend(self.stderr.as_ref().map(|from| PollFd::new(from, PollFlags::IN)));
        let most = Timespec::try_from(most).map_err(io::Error::other)?;
        match poll(&mut pipes, Some(&most)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(why) => Err(why.into()),
        }
    }
}

fn waits(why: &io::Error) -> bool {
    matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Takes a block from a pipe; true at its end.
fn take(pipe: &mut Option<impl Read>, block: &mut [u8], into: &mut Vec<u8>) -> io::Result<bool> {
    let Some(pipe) = pipe else { return Ok(false) };
    match pipe.read(block) {
        Ok(0) => Ok(true),
        Ok(read) => {
            into.extend_from_slice(block.get(..read).unwrap_or_default());
            Ok(false)
        }
        Err(why) if waits(&why) => Ok(false),
        Err(why) => Err(why),
    }
}
