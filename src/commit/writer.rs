//! Who may be writing a transcript at this moment. A look only: nothing is created, no lock is kept.

use std::{
    ffi::OsString,
    fs::{File, Metadata, TryLockError},
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{Disk, Fs as _};
use crate::{format::Format, model::Millis, source::Address};

/// Whether a writer lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Liveness {
    /// One does, for certain.
    Live,
    /// Nothing proves it either way. Most agents open, append and close: between two lines nothing is to be seen.
    Unknown,
    /// None does, for certain.
    Dead,
}

impl Liveness {
    /// Name in `--json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Unknown => "unknown",
            Self::Dead => "dead",
        }
    }
}

/// What is known of the writer of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// Whether it lives.
    pub liveness: Liveness,
    /// Why that is said, without a full stop: `alive: pid 4711 holds it open`.
    pub sentence: String,
}

/// Where runtimes and the system say who lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Folder of Claude Code's configuration.
    pub claude: Option<PathBuf>,
    /// Folder of Codex.
    pub codex: Option<PathBuf>,
    /// Processes by number.
    pub proc: PathBuf,
}

impl Default for Roots {
    /// This system, and no runtime.
    fn default() -> Self {
        Self { claude: None, codex: None, proc: "/proc".into() }
    }
}

/// What Claude Code says of one of its processes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    session_id: String,
    /// Text or number.
    #[serde(default)]
    proc_start: serde_json::Value,
    #[serde(default)]
    status: Option<String>,
}

/// Bytes of a file about a process that are read at most.
const SMALL: u64 = 1 << 16;

/// Who may be writing `source`, by the environment of this process. `session` is its session or thread id.
pub fn writer(source: &Path, format: Format, session: Option<&str>, now: Millis) -> Writer {
    Roots::from_env(|name| std::env::var_os(name)).writer(source, format, session, now)
}

impl Roots {
    /// `$CLAUDE_CONFIG_DIR` or `~/.claude`, `$CODEX_HOME` or `~/.codex`, `/proc`.
    pub fn from_env(var: impl Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = |folder: &str| Some(set("HOME")?.join(folder));
        Self {
            claude: set("CLAUDE_CONFIG_DIR").or_else(|| home(".claude")),
            codex: set("CODEX_HOME").or_else(|| home(".codex")),
            ..Self::default()
        }
    }

    /// Who may be writing `source`.
    pub fn writer(&self, source: &Path, format: Format, session: Option<&str>, now: Millis) -> Writer {
        // A session in a store is written by whoever has the store open.
        let store = Address::of(source).map(|address| address.store().to_path_buf());
        let meta = store.as_deref().unwrap_or(source).metadata().ok();
        if let Some(pid) = meta.as_ref().and_then(|meta| self.holder(meta)) {
            return live(&format!("pid {pid} holds it open"));
        }
        let named = session.filter(|id| is_name(id)).and_then(|id| match format {
            Format::ClaudeCode => self.claude(id),
            Format::Codex => self.codex(id),
            // These open, append and close; they keep no lock and name no process.
            Format::Pi
            | Format::OpenCode
            | Format::Cutline
            | Format::Anthropic
            | Format::OpenAiChat
            | Format::OpenAiResponses
            | Format::Mapped(_) => None,
        });
        named.unwrap_or_else(|| silent(meta.as_ref(), now))
    }

    /// A process that has this file open for writing, as far as this user may look.
    pub(super) fn holder(&self, meta: &Metadata) -> Option<u32> {
        let processes = self.proc.read_dir().ok()?.filter_map(Result::ok);
        let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        numbers.find(|pid| self.holds(*pid, meta))
    }

    fn holds(&self, pid: u32, meta: &Metadata) -> bool {
        let process = self.proc.join(pid.to_string());
        let Ok(open) = process.join("fd").read_dir() else { return false };
        open.filter_map(Result::ok).any(|entry| {
            // Sockets, pipes and what is nameless have no path; to look at them costs time for nothing.
            let named = entry.path().read_link().is_ok_and(|target| target.is_absolute());
            let same = |there: Metadata| (there.dev(), there.ino()) == (meta.dev(), meta.ino());
            named
                && entry.path().metadata().is_ok_and(same)
                && small(&process.join("fdinfo").join(entry.file_name())).is_some_and(|text| writable(&text))
        })
    }

    /// Claude Code keeps a file for each process. It is removed on a clean exit only, so the start time has to fit.
    /// A process that is gone proves nothing: a daemon may bring the session back.
    fn claude(&self, session: &str) -> Option<Writer> {
        let registry = self.claude.as_ref()?.join("sessions");
        let mut gone = None;
        for entry in registry.read_dir().ok()?.filter_map(Result::ok) {
            let path = entry.path();
            let Some(pid) = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u32>().ok()) else { continue };
            // Keys of sessions lie beside these files; they are none of our business.
            if path.extension().is_none_or(|ending| ending != "json") {
                continue;
            }
            let Some(entry) = small(&path) else { continue };
            let Ok(Entry { session_id, proc_start, status }) = serde_json::from_str(&entry) else { continue };
            if session_id != session {
                continue;
            }
            let start = proc_start.as_str().map_or_else(|| proc_start.to_string(), str::to_string);
            match self.started(pid) {
                Some(now) if now == start => {
                    let doing = status.filter(|status| is_name(status));
                    let doing = doing.map_or(String::new(), |status| format!(", {status}"));
                    return Some(live(&format!("pid {pid} runs this session{doing}")));
                }
                _ => gone = Some(pid),
            }
        }
        let sentence = |pid| format!("pid {pid} ran this session and is gone, but a daemon may bring it back");
        gone.map(|pid| Writer { liveness: Liveness::Unknown, sentence: sentence(pid) })
    }

    /// When a process started, in the system's own count.
    fn started(&self, pid: u32) -> Option<String> {
        let stat = small(&self.proc.join(pid.to_string()).join("stat"))?;
        // The name in parentheses may hold anything, parentheses too; field 3 follows the last one.
        let (_, fields) = stat.rsplit_once(')')?;
        fields.split_whitespace().nth(22 - 3).map(str::to_string)
    }

    /// Codex locks a file for each thread that it has loaded, and removes it on a clean exit. One that stayed behind
    /// unlocked is proof that its process is dead; none is proof of nothing, for older versions have no locks.
    fn codex(&self, thread: &str) -> Option<Writer> {
        let path = self.codex.as_ref()?.join("thread-writer-locks").join(format!("{thread}.lock"));
        let file = File::open(path).ok()?;
        // Shared, so that two lookers do not see each other.
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(live("Codex holds the writer lock of this thread")),
            Err(TryLockError::Error(_)) => None,
            Ok(()) => {
                drop(file.unlock());
                Some(Writer {
                    liveness: Liveness::Dead,
                    sentence: "dead: its writer lock was left behind unlocked".to_string(),
                })
            }
        }
    }
}

fn live(sentence: &str) -> Writer {
    Writer { liveness: Liveness::Live, sentence: format!("alive: {sentence}") }
}

fn silent(meta: Option<&Metadata>, now: Millis) -> Writer {
    let changed = meta.map(|meta| Millis(meta.mtime() * 1000 + meta.mtime_nsec() / 1_000_000));
    let age = changed.and_then(|changed| changed.age_s(now));
    let age = age.map_or(String::new(), |age| format!("; last append {} ago", span(age)));
    Writer { liveness: Liveness::Unknown, sentence: format!("no sign of a writer{age}") }
}

fn span(seconds: i64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Ids and words that may become a part of a path or of a sentence.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 128
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// The access mode in the flags of an open file; the lowest two bits of an octal number, 0 for reading.
fn writable(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| line.strip_prefix("flags:"));
    flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & 3 != 0)
}

fn small(path: &Path) -> Option<String> {
    let mut text = String::new();
    Disk.open(path).ok()?.take(SMALL).read_to_string(&mut text).ok()?;
    Some(text)
}
