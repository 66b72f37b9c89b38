use std::fmt::Write as _;

use serde::Serialize;

use super::inspect::Capabilities;
use crate::format::{Format, map::Container};

/// `cutline formats --json`: what can be read, by code or by a map, and what each format tells and hides. Whether a file
/// can be compacted may depend on the file: `inspect` says it.
#[derive(Debug, Serialize)]
pub struct FormatsReport {
    schema: &'static str,
    formats: Vec<FormatItem>,
}

#[derive(Debug, Serialize)]
struct FormatItem {
    name: &'static str,
    title: &'static str,
    reads: &'static str,
    read_by: &'static str,
    container: &'static str,
    capabilities: Capabilities,
}

impl FormatsReport {
    /// Of every format that is known.
    pub fn new() -> Self {
        let item = |format: Format| FormatItem {
            name: format.name(),
            title: format.title(),
            reads: format.reads(),
            read_by: if matches!(format, Format::Mapped(_)) { "map" } else { "code" },
            container: match format {
                Format::Mapped(mapping) if mapping.map().container() == Container::Document => "document",
                Format::Anthropic | Format::OpenAiChat | Format::OpenAiResponses | Format::OpenCode => {
                    "document or lines"
                }
                _ => "lines",
            },
            capabilities: format.adapter("").capability().into(),
        };
        Self { schema: "cutline.formats/1", formats: Format::known().map(item).collect() }
    }

    /// Lines for people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for item in &self.formats {
            lines.push(format!("{:<16} {} ({})", item.name, item.title, item.read_by));
            lines.push(format!("{:<16} {}", "", item.reads));
            lines.push(format!("{:<16} {}", "", item.capabilities.sentence()));
            lines.extend(item.capabilities.hides().iter().map(|hides| format!("{:<16} - {hides}", "")));
        }
        lines
    }

    /// The table of the README.
    pub fn table(&self) -> String {
        let mut out =
            "| format | name | open calls | results | ids | usage | window | commit | read by |\n".to_string();
        out.push_str("|---|---|---|---|---|---|---|---|---|\n");
        for item in &self.formats {
            let cells = item.capabilities.cells();
            let _ = writeln!(out, "| {} | `{}` | {} | {} |", item.title, item.name, cells.join(" | "), item.read_by);
        }
        out
    }
}

impl Default for FormatsReport {
    fn default() -> Self {
        Self::new()
    }
}
