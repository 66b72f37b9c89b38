//! The terminal is taken once and always given back: at quit, panic (also in a thread), signals, suspension.
//!
//! [`restore`] is idempotent and may run from the guard's drop, the panic hook and the signal thread alike. Frames and
//! the restore exclude each other by the lock of stdout: no frame is cut in half, and none is drawn afterwards.

use std::{
    io::{self, IsTerminal as _, Stdout, Write as _, stdin, stdout},
    panic,
    process::Command,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use ratatui::{
    Frame, Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        event::{DisableBracketedPaste, EnableBracketedPaste},
        execute, queue,
        style::force_color_output,
        terminal::{
            BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
            LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
        },
    },
};
use signal_hook::{
    consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGSTOP, SIGTERM, SIGTSTP},
    iterator::Signals,
    low_level::{emulate_default_handler, raise},
};

use crate::model::show_line;

/// Exit code after a panic in a thread that is not the main one.
const PANIC_IN_THREAD: i32 = 70;
/// How long a signal waits for a terminal that takes no bytes.
const PATIENCE: Duration = Duration::from_secs(1);
/// True while the screen is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// True from our own stop until the continuation that ends it.
static STOPPING: AtomicBool = AtomicBool::new(false);

/// The terminal while it is ours. Dropping it gives it back.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It has no raw mode, or writing to it failed.
    pub(super) fn take() -> io::Result<Self> {
        install_panic_hook();
        take()?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout())).inspect_err(|_| restore())?;
        Ok(Self { terminal })
    }

    /// Draws one frame inside the marks of a synchronized update, so that no half frame is seen.
    pub(super) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let mut out = stdout().lock();
        if !TAKEN.load(Ordering::SeqCst) {
            return Ok(());
        }
        queue!(out, BeginSynchronizedUpdate)?;
        let drawn = self.terminal.draw(view).map(|_| ());
        execute!(out, EndSynchronizedUpdate)?;
        drawn
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }

    /// Gives the terminal back, stops the process as Ctrl-Z does elsewhere, and takes the terminal again when the
    /// process is continued. False, and nothing is done, if nobody could continue it.
    pub(super) fn suspend(&mut self) -> io::Result<bool> {
        if !has_a_shell() {
            return Ok(false);
        }
        restore();
        STOPPING.store(true, Ordering::SeqCst);
        stop()?;
        self.begin_again()?;
        Ok(true)
    }

    /// Gives the terminal to somebody else for a while. Also says whether it could be taken again.
    pub(super) fn lend<T>(&mut self, to: impl FnOnce() -> T) -> (T, io::Result<()>) {
        restore();
        let done = to();
        (done, self.begin_again())
    }

    /// Takes the terminal anew: whoever continued us after a stop that we could not see may have changed it.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        restore();
        self.begin_again()
    }

    /// Not by `Terminal::clear`: it asks the terminal where the cursor is, and the thread that reads keys takes the
    /// answer.
    fn begin_again(&mut self) -> io::Result<()> {
        take()?;
        execute!(stdout(), Clear(ClearType::All))?;
        self.terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn take() -> io::Result<()> {
    // Colour is decided by the theme; crossterm's own NO_COLOR would drop bold and reverse too.
    force_color_output(true);
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste).inspect_err(|_| restore())
}

/// Stops this process; in a pipeline also the others, for whose stop the shell waits.
fn stop() -> io::Result<()> {
    if !stdin().is_terminal() && Command::new("sh").args(["-c", "kill -s STOP 0"]).status().is_ok() {
        return Ok(());
    }
    raise(SIGSTOP)
}

/// False in a window that was opened for cutline alone: who stops there is never continued. The system itself ignores
/// Ctrl-Z in a group whose parents are all in the group or in other sessions.
fn has_a_shell() -> bool {
    let mut up = Process::of(std::process::id());
    let own = up;
    while let (Some(process), Some(own)) = (up, own) {
        if process.session != own.session {
            return false;
        }
        if process.group != own.group {
            return true;
        }
        if process.parent == 0 {
            return false;
        }
        up = Process::of(process.parent);
    }
    // Not to be found out on this system.
    true
}

#[derive(Clone, Copy)]
struct Process {
    parent: u32,
    group: u32,
    session: u32,
}

impl Process {
    fn of(pid: u32) -> Option<Self> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in parentheses and may hold anything; the state follows it.
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace().skip(1).map_while(|f| f.parse().ok());
        Some(Self { parent: fields.next()?, group: fields.next()?, session: fields.next()? })
    }
}

/// Gives the terminal back if it is ours.
pub(super) fn restore() {
    let mut out = stdout().lock();
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // Nothing can be done about a terminal that is gone.
    drop(execute!(out, EndSynchronizedUpdate, DisableBracketedPaste, LeaveAlternateScreen, Show));
    drop(disable_raw_mode());
}

/// The same from a thread that must not wait for ever: the terminal may take no bytes, and whoever draws holds the lock.
fn restore_in_time() {
    let (done, waited) = channel::<()>();
    let started = thread::Builder::new().name("restore".to_string()).spawn(move || {
        restore();
        // The end of the channel is what is waited for.
        drop(done);
    });
    if started.is_err() || waited.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
        drop(disable_raw_mode());
    }
}

/// The terminal is gone. Whether its signal or its closed end is noticed first is chance: both end the program as the
/// signal does. Returns only where the system refuses that.
pub(super) fn hang_up() {
    restore_in_time();
    drop(emulate_default_handler(SIGHUP));
}

/// The message comes after the restore and passes the filter for hostile text. A panic of a thread ends the program:
/// it must not live on and draw into a screen that is not ours any more.
fn install_panic_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let main = thread::current().id();
        panic::set_hook(Box::new(move |info| {
            // The main thread may hold the lock itself.
            if thread::current().id() == main {
                restore();
            } else {
                restore_in_time();
            }
            let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
            let payload = info.payload();
            let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
            let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
            drop(writeln!(io::stderr(), "cutline failed{}: {}", show_line(&place), show_line(&text)));
            drop(writeln!(io::stderr(), "The transcript was not touched. Please report this message."));
            if thread::current().id() != main {
                #[expect(clippy::exit, clippy::disallowed_methods, reason = "the terminal was restored above")]
                std::process::exit(PANIC_IN_THREAD);
            }
        }));
    });
}

/// What the signal thread asks of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Stop, but give the screen back first.
    Stop,
    /// The process was stopped and continued by others.
    Again,
}

/// Listens for signals in a thread: those that end the program restore the terminal and then end it by that very
/// signal; a stop from outside and its end are handed to `ask`, which may block.
pub(super) fn listen(ask: impl Fn(Asked) + Clone + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT])?;
    // Not in this thread: it has to go on listening while the loop is busy.
    let aside = move |asked| {
        let ask = ask.clone();
        drop(thread::Builder::new().name("ask".to_string()).spawn(move || ask(asked)));
    };
    let _detached = thread::Builder::new().name("signals".to_string()).spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGTSTP => aside(Asked::Stop),
                SIGCONT if STOPPING.swap(false, Ordering::SeqCst) => {}
                SIGCONT => aside(Asked::Again),
                signal => {
                    restore_in_time();
                    drop(emulate_default_handler(signal));
                }
            }
        }
    })?;
    Ok(())
}
