//! Finding sessions: where the runtimes keep them, and which file a given id belongs to. Only names and stats are
//! looked at, never content; of a store that holds many sessions, its list.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use super::database::{Address, Row};
use crate::model::Millis;

/// An agent runtime whose sessions can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// Claude Code: `projects/<folder>/<session>.jsonl`.
    ClaudeCode,
    /// Codex: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.
    Codex,
    /// pi: `sessions/--<folder>--/<time>_<id>.jsonl`.
    Pi,
    /// OpenCode: rows of `opencode.db`, before that folders in `storage`.
    OpenCode,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where it is; in a store, `STORE#SESSION`.
    pub path: PathBuf,
    /// Whose it is.
    pub runtime: Runtime,
    /// When it was last changed, as the file system says; may be set by hand, so good for a list's order only.
    pub modified: Millis,
    /// Its size; 0 in a store, which does not say.
    pub bytes: u64,
    /// As its store says, else for a reader of its content to fill in.
    pub title: Option<String>,
    /// It belongs to a sub-agent of another session.
    pub sub_agent: bool,
}

/// The runtimes' own folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// Claude Code's: `$CLAUDE_CONFIG_DIR`, else `~/.claude`.
    pub claude: Option<PathBuf>,
    /// Codex's: `$CODEX_HOME`, else `~/.codex`.
    pub codex: Option<PathBuf>,
    /// pi's folder of sessions: `$PI_CODING_AGENT_SESSION_DIR`, else `sessions` in `$PI_CODING_AGENT_DIR` or
    /// `~/.pi/agent`.
    pub pi: Option<PathBuf>,
    /// OpenCode's folder of data: `opencode` in `$XDG_DATA_HOME`, else in `~/.local/share`.
    pub opencode: Option<PathBuf>,
    /// A database of OpenCode that is named by itself: `$OPENCODE_DB`, in that folder unless it is a whole path.
    pub opencode_db: Option<PathBuf>,
}

impl Roots {
    /// The folders that the environment names. `var` gives a variable's value; an empty one counts as unset.
    pub fn from_env(var: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("HOME").or_else(|| set("USERPROFILE"));
        let below = |folder: &str| home.as_ref().map(|home| home.join(folder));
        let data = set("XDG_DATA_HOME").or_else(|| below(".local/share"));
        let opencode = data.map(|data| data.join("opencode"));
        let named = set("OPENCODE_DB");
        Self {
            opencode_db: named.map(|db| opencode.as_ref().map_or(db.clone(), |folder| folder.join(&db))),
            opencode,
            claude: set("CLAUDE_CONFIG_DIR").or_else(|| below(".claude")),
            codex: set("CODEX_HOME").or_else(|| below(".codex")),
            pi: set("PI_CODING_AGENT_SESSION_DIR").or_else(|| {
                let agent = set("PI_CODING_AGENT_DIR").or_else(|| below(".pi/agent"));
                agent.map(|agent| agent.join("sessions"))
            }),
        }
    }

    /// The folders that are searched.
    pub fn folders(&self) -> Vec<PathBuf> {
        let claude = self.claude.iter().map(|root| root.join("projects"));
        let codex = self.codex.iter().map(|root| root.join("sessions"));
        claude.chain(codex).chain(self.pi.clone()).chain(self.opencode.clone()).collect()
    }

    /// All sessions, the last changed first. What is not there or cannot be read is left out.
    pub fn sessions(&self) -> Vec<Found> {
        let mut found = Vec::new();
        if let Some(root) = &self.claude {
            claude(&root.join("projects"), &mut found);
        }
        if let Some(root) = &self.codex {
            for day in days(&root.join("sessions")) {
                found.extend(files(&day, "rollout-").into_iter().filter_map(|path| stat(path, Runtime::Codex, false)));
            }
        }
        if let Some(sessions) = &self.pi {
            // In a folder of the user's own they lie side by side.
            for folder in folders(sessions).into_iter().chain([sessions.clone()]) {
                found.extend(files(&folder, "").into_iter().filter_map(|path| stat(path, Runtime::Pi, false)));
            }
        }
        self.opencode(&mut found);
        found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
        found
    }
}

impl Roots {
    /// A session that was taken over into a database stays in its folder, too; the database's goes on.
    fn opencode(&self, found: &mut Vec<Found>) {
        let folder = self.opencode.iter().flat_map(|folder| entries(folder));
        let mut stores: Vec<PathBuf> = folder
            .filter(|path| path.extension().is_some_and(|end| end == "db"))
            .filter(|path| name(path).is_some_and(|name| name.starts_with("opencode")))
            .chain(self.opencode_db.clone())
            .chain(self.opencode.iter().map(|folder| folder.join("storage")))
            .collect();
        stores.dedup();
        let mut known: Vec<String> = Vec::new();
        for address in stores.iter().filter_map(|store| Address::of(store)) {
            let rows = of_store(&address);
            let fresh: Vec<_> = rows.into_iter().filter(|(id, _)| !known.contains(id)).collect();
            for (id, session) in fresh {
                known.push(id);
                found.push(session);
            }
        }
    }
}

/// The sessions of a store with their ids; none if it cannot be read.
pub fn of_store(address: &Address) -> Vec<(String, Found)> {
    let session = |row: Row| {
        let path = address.with(&row.id).path();
        let (title, sub_agent) = (row.title, row.sub_agent);
        (row.id, Found { path, runtime: Runtime::OpenCode, modified: row.updated, bytes: 0, title, sub_agent })
    };
    address.sessions().unwrap_or_default().into_iter().map(session).collect()
}

/// Sub-agents lie beside their session up to 2.0, in `<session>/subagents/` since 2.1.
fn claude(projects: &Path, found: &mut Vec<Found>) {
    for project in folders(projects) {
        for path in files(&project, "") {
            let sub_agent = name(&path).is_some_and(|name| name.starts_with("agent-"));
            found.extend(stat(path, Runtime::ClaudeCode, sub_agent));
        }
        for session in folders(&project) {
            let agents = files(&session.join("subagents"), "agent-");
            found.extend(agents.into_iter().filter_map(|path| stat(path, Runtime::ClaudeCode, true)));
        }
    }
}

fn stat(path: PathBuf, runtime: Runtime, sub_agent: bool) -> Option<Found> {
    // The log of a compaction run has a sub-agent's name and is none.
    if sub_agent && name(&path)?.starts_with("agent-acompact-") {
        return None;
    }
    let meta = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = since.and_then(|since| i64::try_from(since.as_millis()).ok()).map_or(Millis::NONE, Millis);
    Some(Found { path, runtime, modified, bytes: meta.len(), title: None, sub_agent })
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The entries of `folder`, in the order of their names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort_unstable();
    entries
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut folders = entries(folder);
    folders.retain(|path| path.is_dir());
    folders
}

fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut files = entries(folder);
    files.retain(|path| {
        name(path).is_some_and(|name| name.starts_with(prefix)) && path.extension().is_some_and(|end| end == "jsonl")
    });
    files
}

/// The day folders of Codex's `sessions`, the last day first.
fn days(sessions: &Path) -> Vec<PathBuf> {
    let mut days: Vec<PathBuf> =
        folders(sessions).iter().flat_map(|year| folders(year)).flat_map(|month| folders(&month)).collect();
    days.reverse();
    days
}

/// The rollout of the thread or rollout `id`, searched from the folder `start` of another rollout: first there, then in
/// the whole `sessions` tree around it, then among the archived ones. A name that ends in `_<id>` (the rollout after a
/// revert) goes before one that ends in `-<id>` (the thread's first).
pub fn find_rollout(start: &Path, id: &str) -> Option<PathBuf> {
    if id.is_empty() || id.contains(['/', '\\']) {
        return None;
    }
    if let Some(here) = find_in(std::slice::from_ref(&start.to_path_buf()), id) {
        return Some(here);
    }
    let sessions = start.ancestors().take(4).find(|folder| name(folder) == Some("sessions"));
    let home = match sessions {
        Some(sessions) => sessions.parent(),
        None if name(start) == Some("archived_sessions") => start.parent(),
        None => None,
    }?;
    find_in(&days(&home.join("sessions")), id).or_else(|| find_in(&[home.join("archived_sessions")], id))
}

fn find_in(folders: &[PathBuf], id: &str) -> Option<PathBuf> {
    ["_", "-"].iter().find_map(|mark| {
        let end = format!("{mark}{id}.jsonl");
        let ends = |path: &PathBuf| name(path).is_some_and(|name| name.ends_with(&end));
        folders.iter().find_map(|folder| files(folder, "").into_iter().find(ends))
    })
}
