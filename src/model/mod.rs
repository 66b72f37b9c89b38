//! The nouns every other room speaks: records, calls, lanes, obligations, notes.
//!
//! Comes in: nothing; these are values that `format` fills and everybody reads.
//! Goes out: small `Copy` types and the growing [`Log`] that holds what a transcript said, in file order.
//! Must never: know a transcript format, do IO, be `Serialize` (the machine contract has its own structs in
//! `export`), or let a string of a transcript reach a screen except through [`Shown`].

mod body;
mod context;
mod intern;
mod kind;
mod log;
mod note;
mod payload;
mod record;
mod shown;
mod time;

pub use body::Body;
pub use context::{Context, Slot};
pub use intern::{Interner, Sym};
pub use kind::Kind;
pub use log::{Boundary, Event, Log, TaskKind, Usage};
pub use note::{Note, NoteKind};
pub use payload::Payload;
pub use record::{Flags, LaneId, Record, RecordId};
pub use shown::{Shown, show_line};
pub use time::{Millis, age, clock, local_stamp, parse_rfc3339, rfc3339};
