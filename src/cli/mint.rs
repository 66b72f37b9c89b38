//! The only place where chance enters: 16 bytes from the system, from which every id of a new file is derived.

use jiff::tz::TimeZone;

use super::{clock, exit::Failure};
use crate::format::Minted;

/// Ids, time and zone of a new file.
pub(super) fn mint() -> Result<Minted, Failure> {
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(|error| {
        Failure::new(super::exit::IO, "no-random", format!("The system gives no random bytes: {error}."), "")
    })?;
    Ok(Minted::new(seed, clock::now(), TimeZone::system()))
}
