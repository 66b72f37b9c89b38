//! The program's own maps: data in `assets/formats`.

use std::sync::LazyLock;

use super::{Map, Mapping};

/// Texts of the maps, in the order of detection.
const TEXTS: [&str; 34] = [
    include_str!("../../../assets/formats/copilot.toml"),
    include_str!("../../../assets/formats/kimi.toml"),
    include_str!("../../../assets/formats/kimi-cli.toml"),
    include_str!("../../../assets/formats/qwen.toml"),
    include_str!("../../../assets/formats/gemini.toml"),
    include_str!("../../../assets/formats/droid.toml"),
    include_str!("../../../assets/formats/grok.toml"),
    include_str!("../../../assets/formats/gptme.toml"),
    include_str!("../../../assets/formats/langchain-lines.toml"),
    include_str!("../../../assets/formats/autogen.toml"),
    include_str!("../../../assets/formats/otel.toml"),
    include_str!("../../../assets/formats/acp.toml"),
    include_str!("../../../assets/formats/agent-stream.toml"),
    include_str!("../../../assets/formats/gemini-stream.toml"),
    include_str!("../../../assets/formats/cursor-stream.toml"),
    include_str!("../../../assets/formats/droid-stream.toml"),
    include_str!("../../../assets/formats/opencode-stream.toml"),
    include_str!("../../../assets/formats/pi-stream.toml"),
    include_str!("../../../assets/formats/cline-stream.toml"),
    include_str!("../../../assets/formats/cline.toml"),
    include_str!("../../../assets/formats/roo.toml"),
    include_str!("../../../assets/formats/mini-swe.toml"),
    include_str!("../../../assets/formats/swe-agent.toml"),
    include_str!("../../../assets/formats/atif.toml"),
    include_str!("../../../assets/formats/continue.toml"),
    include_str!("../../../assets/formats/hermes.toml"),
    include_str!("../../../assets/formats/gemini-document.toml"),
    include_str!("../../../assets/formats/inspect-ai.toml"),
    include_str!("../../../assets/formats/langchain-dict.toml"),
    include_str!("../../../assets/formats/langchain-lc.toml"),
    include_str!("../../../assets/formats/pydantic-ai.toml"),
    include_str!("../../../assets/formats/vercel-ui.toml"),
    include_str!("../../../assets/formats/vercel-model.toml"),
    include_str!("../../../assets/formats/autogen-state.toml"),
];

static ALL: LazyLock<Vec<Mapping>> =
    LazyLock::new(|| TEXTS.into_iter().filter_map(|text| Map::parse(text).ok()).map(Mapping::keep).collect());

/// Every one of them.
pub(super) fn all() -> &'static [Mapping] {
    &ALL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_map_of_the_program_is_right() {
        for text in TEXTS {
            let read = Map::parse(text);
            assert!(read.is_ok(), "{}: {}", text.lines().next().unwrap(), read.unwrap_err());
        }
        assert_eq!(all().len(), TEXTS.len());
    }
}
