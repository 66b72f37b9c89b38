//! The screen and the keyboard.
//!
//! ```text
//!  header        who, how full, how sure          (view/header.rs)
//!  transcript    records with rails and rulers    (view/transcript.rs)
//!  obligations   what is owed, with age           (view/obligations.rs)
//!  detail        one record whole                 (view/detail.rs)
//!  decision      verdict, blockers, walk-back     (view/decision.rs)
//!  footer        message line and keys            (view/footer.rs)
//! ```
//!
//! Comes in: a [`Msg`] at a time (keys, bytes of the file, ticks, answers to effects). Goes out: a changed [`State`],
//! [`Effect`]s for [`run()`] to carry out, and a drawn frame.
//! Must never: change state while drawing; touch a file, a clock or the terminal outside an effect; write anything but
//! what `commit` writes for it and the operator typed a word for; start anything but the operator's editor.

mod action;
mod again;
mod by_hand;
mod dialog;
mod editor;
mod hand;
mod hands;
mod keymap;
mod keys;
mod layout;
mod msg;
mod picker;
mod preview;
mod run;
mod search;
mod state;
mod terminal;
mod text;
mod theme;
mod update;
mod view;

pub use action::{Action, Group, table as action_table};
pub use hands::{Desk, Hands, Liveness, Order, Told, Writer, Written};
pub use layout::{Regions, layout};
pub use msg::{Drafted, Effect, Msg, ReadAgain};
pub use picker::{Choice, Picker};
pub use run::{End, Feeder, run};
pub use state::{Focus, Options, State};
pub use theme::{Background, Depth, Theme};
pub use update::update;
pub use view::view;
