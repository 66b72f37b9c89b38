//! The terminal is taken once and always given back: at quit, panic (also in a thread), signals, suspension.
//!
//! [`restore`] is idempotent and may run from the guard's drop, the panic hook and the signal thread alike.

use std::{
    io::{self, Stdout, Write as _, stdout},
    panic,
    sync::atomic::{AtomicBool, Ordering},
    thread,
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
            BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
            disable_raw_mode, enable_raw_mode,
        },
    },
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP},
    iterator::Signals,
    low_level::emulate_default_handler,
};

use crate::model::show_line;

/// Exit code after a panic in a thread that is not the main one.
const PANIC_IN_THREAD: i32 = 70;
/// True while the screen is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);

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
        queue!(stdout(), BeginSynchronizedUpdate)?;
        let drawn = self.terminal.draw(view).map(|_| ());
        execute!(stdout(), EndSynchronizedUpdate)?;
        drawn
    }

    /// Columns and rows.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }

    /// Gives the terminal back, stops the process as Ctrl-Z does elsewhere, and takes the terminal again when the
    /// process is continued.
    pub(super) fn suspend(&mut self) -> io::Result<()> {
        restore();
        emulate_default_handler(SIGTSTP)?;
        take()?;
        self.terminal.clear()
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

/// Gives the terminal back if it is ours.
pub(super) fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // Nothing can be done about a terminal that is gone.
    drop(execute!(stdout(), EndSynchronizedUpdate, DisableBracketedPaste, LeaveAlternateScreen, Show));
    drop(disable_raw_mode());
}

/// The message comes after the restore and passes the filter for hostile text. A panic of a thread ends the program:
/// it must not live on and draw into a screen that is not ours any more.
fn install_panic_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let main = thread::current().id();
        panic::set_hook(Box::new(move |info| {
            restore();
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

/// Listens for signals in a thread: those that end the program restore the terminal and then end it by that very
/// signal; a stop from outside is handed to `stop`, so that the screen is given back first.
pub(super) fn listen(stop: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP])?;
    let _detached = thread::Builder::new().name("signals".to_string()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGTSTP {
                stop();
            } else {
                restore();
                drop(emulate_default_handler(signal));
            }
        }
    })?;
    Ok(())
}
