use serde::Serialize;

use crate::commit::{Receipt, Undone};

/// `cutline receipts --json`.
#[derive(Debug, Serialize)]
pub struct ReceiptsReport<'a> {
    schema: &'static str,
    receipts: &'a [Receipt],
    unreadable: usize,
}

impl<'a> ReceiptsReport<'a> {
    /// Newest first; `unreadable` files are counted.
    pub fn of(receipts: &'a [Receipt], unreadable: usize) -> Self {
        Self { schema: "cutline.receipts/1", receipts, unreadable }
    }

    /// One line a receipt. Raw: show it safely.
    pub fn lines(&self) -> Vec<String> {
        let line = |receipt: &Receipt| {
            let state = if receipt.undone.is_some() { "undone" } else { receipt.verdict.as_str() };
            let by = if receipt.operator.is_empty() { "-" } else { &receipt.operator };
            format!(
                "{}  {}  {state:<8} {by:<10} {} → {}  {}",
                receipt.id,
                receipt.time,
                receipt.before,
                receipt.after,
                receipt.output.path.display()
            )
        };
        let mut lines: Vec<String> = self.receipts.iter().map(line).collect();
        if lines.is_empty() {
            lines.push("Nothing was committed yet.".to_string());
        }
        if self.unreadable > 0 {
            lines.push(format!("{} receipts could not be read.", self.unreadable));
        }
        lines
    }
}

/// `cutline undo --json`.
#[derive(Debug, Serialize)]
pub struct UndoReport {
    schema: &'static str,
    receipt: String,
    removed: String,
    source: String,
}

impl UndoReport {
    /// What was taken back.
    pub fn of(receipt: &Receipt, undone: &Undone) -> Self {
        Self {
            schema: "cutline.undo/1",
            receipt: receipt.path.display().to_string(),
            removed: undone.removed.display().to_string(),
            source: receipt.source.path.display().to_string(),
        }
    }

    /// The same in words. Raw: show it safely.
    pub fn lines(&self) -> Vec<String> {
        vec![format!("Removed {}. The source {} was never touched.", self.removed, self.source)]
    }
}
