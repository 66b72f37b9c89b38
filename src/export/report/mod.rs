//! The documents of the machine contract. Fields may be added, never renamed.

mod commit;
mod context;
mod cuts;
mod formats;
mod inspect;
mod obligations;
mod plan;
mod receipts;

pub use commit::CommitReport;
pub use context::ContextReport;
pub use cuts::CutsReport;
pub use formats::FormatsReport;
pub use inspect::InspectReport;
pub use obligations::{ObligationItem, ObligationsReport};
pub use plan::{PlanReport, hex};
pub use receipts::{ReceiptsReport, UndoReport};
use serde::Serialize;

/// A failure as a document.
#[derive(Debug, Serialize)]
pub struct ErrorReport {
    schema: &'static str,
    error: ErrorBody,
}

#[derive(Debug, Serialize)]
struct ErrorBody {
    code: u8,
    kind: &'static str,
    message: String,
    hint: String,
    retryable: bool,
}

impl ErrorReport {
    /// `code` is the exit code, `kind` a kebab-case name that scripts compare.
    pub fn new(code: u8, kind: &'static str, message: String, hint: String, retryable: bool) -> Self {
        Self { schema: "cutline.error/1", error: ErrorBody { code, kind, message, hint, retryable } }
    }
}
