//! Damaged and hostile input: what a reader must still get out of it, and that nothing of it can stop the program.
#![expect(clippy::indexing_slicing, reason = "tests")]

#[path = "damage/json.rs"]
mod json;
#[path = "damage/mutation.rs"]
mod mutation;
#[path = "damage/recovery.rs"]
mod recovery;
