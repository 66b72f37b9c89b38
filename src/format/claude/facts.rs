use std::borrow::Cow;

use super::{Claude, envelope::Envelope, rules::Version};
use crate::format::json::Raw;

/// Window of the models that are asked for with this mark, in tokens.
const LONG_WINDOW: u64 = 1_000_000;

impl Claude {
    /// Facts about the session that `env` names.
    pub(super) fn learn(&mut self, kind: &str, env: &Envelope<'_>) {
        let owned = |name: &str| env.text(name).map(Cow::into_owned);
        if let Some(id) = owned("sessionId").or_else(|| owned("session_id")) {
            self.facts.id = Some(id);
        }
        if let Some(version) = owned("version") {
            self.newest = self.newest.max(Version::parse(&version));
            self.facts.version = Some(version);
        }
        self.facts.cwd = owned("cwd").or(self.facts.cwd.take());
        self.facts.branch = owned("gitBranch").or(self.facts.branch.take());
        if env.text("requestedModel").is_some_and(|model| model.contains("[1m]")) {
            self.facts.window = Some(LONG_WINDOW);
        }
        if let Some(usage) = env.get("modelUsage") {
            self.window_of(usage);
        }
        let (rank, title) = match kind {
            "summary" => (1, env.text("summary")),
            "ai-title" => (2, env.text("aiTitle").or_else(|| env.text("title"))),
            "custom-title" => (3, env.text("customTitle").or_else(|| env.text("title"))),
            _ => return,
        };
        if let Some(title) = title.filter(|_| rank >= self.title) {
            self.title = rank;
            self.facts.title = Some(title.into_owned());
        }
    }

    /// The window that a cost report names for the session's own model.
    fn window_of(&mut self, usage: Raw<'_>) {
        let own = usage.fields().find(|(key, _)| self.facts.model.as_deref().is_some_and(|model| key.is(model)));
        if let Some(window) = own.and_then(|(_, report)| report.get_u64("contextWindow")) {
            self.facts.window = Some(window);
        }
    }
}
