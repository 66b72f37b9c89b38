//! Reads the terminal in a thread of its own, which can be kept from reading while an editor has the terminal.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::SyncSender,
    },
    thread,
    time::Duration,
};

use ratatui::crossterm::event;

use super::run::Incoming;

/// How long one look at the terminal takes at most: an editor is started no sooner.
const LOOK: Duration = Duration::from_millis(100);

/// Who may read the terminal.
#[derive(Default)]
pub(super) struct Gate {
    closed: AtomicBool,
    reading: Mutex<()>,
}

/// While it lives, nobody here reads the terminal.
pub(super) struct Closed<'a> {
    gate: &'a Gate,
    _reading: MutexGuard<'a, ()>,
}

impl Gate {
    /// Waits until nobody reads.
    pub(super) fn close(&self) -> Closed<'_> {
        self.closed.store(true, Ordering::SeqCst);
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        Closed { gate: self, _reading: reading }
    }

    /// The next event; `None` if there was none for a while.
    fn look(&self) -> io::Result<Option<event::Event>> {
        while self.closed.load(Ordering::SeqCst) {
            // Whoever closed it holds the lock until it is opened again.
            drop(self.reading.lock().unwrap_or_else(PoisonError::into_inner));
            thread::yield_now();
        }
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if event::poll(LOOK)? { event::read().map(Some) } else { Ok(None) }
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.gate.closed.store(false, Ordering::SeqCst);
    }
}

/// Sends what is typed; when the terminal is gone, so is the reason to live.
pub(super) fn read(send: SyncSender<Incoming>) -> io::Result<Arc<Gate>> {
    let gate = Arc::new(Gate::default());
    let own = Arc::clone(&gate);
    let _detached = thread::Builder::new().name("keys".to_string()).spawn(move || {
        while let Ok(event) = own.look() {
            if event.is_some_and(|event| send.send(Incoming::Terminal(event)).is_err()) {
                return;
            }
        }
        drop(send.send(Incoming::HangUp));
    })?;
    Ok(gate)
}
