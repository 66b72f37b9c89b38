//! The only place that reads the clock: everything else gets the time as a value.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::model::Millis;

/// Now, in Unix milliseconds.
pub(super) fn now() -> Millis {
    #[expect(clippy::disallowed_methods, reason = "this is the place where time enters")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
