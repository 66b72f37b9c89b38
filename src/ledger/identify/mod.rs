//! Live identifiers: what later work refers to, taken by code from arguments and results of calls, never from prose.

mod target;

pub use target::target;
