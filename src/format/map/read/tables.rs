//! The TOML of a map as it is written, before anything in it is understood.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};

use crate::format::{Ids, LateResults, map::Tells};

pub(super) type Table = BTreeMap<Spanned<String>, Spanned<Value>>;
pub(super) type At = Spanned<Value>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) format: Spanned<String>,
    pub(super) title: String,
    pub(super) reads: String,
    #[serde(default)]
    pub(super) container: ContainerWord,
    pub(super) records: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) skip: Vec<Table>,
    pub(super) tree: Option<TreeTable>,
    pub(super) key: Option<At>,
    #[serde(default)]
    pub(super) upsert: bool,
    #[serde(default)]
    pub(super) reset: Vec<ResetTable>,
    #[serde(default)]
    pub(super) rewind: Vec<RewindTable>,
    pub(super) lane: Option<At>,
    pub(super) response: Option<At>,
    pub(super) time: Option<At>,
    #[serde(default)]
    pub(super) session: SessionTable,
    pub(super) evidence: Vec<EvidenceTable>,
    pub(super) tells: TellsTable,
    pub(super) rule: Vec<Spanned<RuleTable>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ContainerWord {
    #[default]
    Lines,
    Document,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TreeTable {
    pub(super) id: At,
    pub(super) parent: At,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResetTable {
    pub(super) when: Table,
    pub(super) records: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RewindTable {
    pub(super) when: Table,
    pub(super) to: At,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionTable {
    pub(super) id: Option<At>,
    pub(super) version: Option<At>,
    pub(super) cwd: Option<At>,
    pub(super) branch: Option<At>,
    pub(super) model: Option<At>,
    pub(super) title: Option<At>,
    pub(super) window: Option<At>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EvidenceTable {
    pub(super) when: Table,
    pub(super) why: String,
    #[serde(default)]
    pub(super) weak: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TellsTable {
    pub(super) open: bool,
    pub(super) results: bool,
    pub(super) ids: IdsWord,
    pub(super) usage: bool,
    pub(super) window: bool,
    #[serde(default)]
    pub(super) lock: bool,
    #[serde(default)]
    pub(super) reexecutes: bool,
    #[serde(default)]
    pub(super) late_results: LateWord,
    #[serde(default)]
    pub(super) hides: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum IdsWord {
    Unique,
    Repeat,
    None,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LateWord {
    Kept,
    Hidden,
    #[default]
    Unknown,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RuleTable {
    #[serde(default)]
    pub(super) when: Table,
    pub(super) each: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) item: Table,
    pub(super) find: Option<FindTable>,
    pub(super) emit: Spanned<String>,
    pub(super) id: Option<At>,
    pub(super) name: Option<At>,
    pub(super) strip: Option<String>,
    pub(super) text: Option<At>,
    pub(super) input: Option<At>,
    pub(super) response: Option<At>,
    pub(super) status: Option<At>,
    pub(super) void_if: Option<Table>,
    #[serde(default)]
    pub(super) repeats: bool,
    #[serde(default)]
    pub(super) every_lane: bool,
    pub(super) keeps: Option<Spanned<String>>,
    pub(super) from: Option<At>,
    pub(super) forgets: Option<Spanned<String>>,
    pub(super) input_tokens: Option<At>,
    pub(super) output_tokens: Option<At>,
    pub(super) window: Option<At>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FindTable {
    pub(super) text: At,
    pub(super) regex: Spanned<String>,
}

/// What a format tells and hides.
pub(super) fn tells(table: TellsTable) -> Tells {
    Tells {
        open: table.open,
        results: table.results,
        ids: match table.ids {
            IdsWord::Unique => Ids::Unique,
            IdsWord::Repeat => Ids::Repeat,
            IdsWord::None => Ids::None,
        },
        usage: table.usage,
        window: table.window,
        lock: table.lock,
        reexecutes: table.reexecutes,
        late_results: match table.late_results {
            LateWord::Kept => LateResults::Kept,
            LateWord::Hidden => LateResults::Hidden,
            LateWord::Unknown => LateResults::Unknown,
        },
        hides: table.hides,
    }
}
