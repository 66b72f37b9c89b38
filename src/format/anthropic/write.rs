//! A new file of the same shape.
use super::Anthropic;
use crate::format::{ForkError, ForkOrder, Forked};
pub(super) fn fork(_source: &Anthropic, _order: &ForkOrder<'_>) -> Result<Forked, ForkError> {
    Err(ForkError::ReadOnly)
}
