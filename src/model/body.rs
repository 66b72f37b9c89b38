/// The payload of one record, decoded on demand for the detail pane, the search and the identifiers.
/// Strings are as the transcript has them (lone surrogates and invalid UTF-8 became U+FFFD): show them through
/// [`super::Shown`] only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// Tool name of a call.
    pub tool: Option<String>,
    /// Input of a call: raw JSON if it is JSON, else the text that the model wrote.
    pub input: Option<String>,
    /// Text: of a message, of a result, of an error, of reasoning.
    pub text: String,
    /// Bytes at the start of `text` that the runtime put before the tool's own output; one-line forms leave them out.
    pub lead: usize,
    /// Facts beside the text, name and value (`exit code`, `model`, `stop reason`, ...).
    pub facts: Vec<(String, String)>,
}

impl Body {
    /// A body of plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}
