//! A transcript in a folder of its own, a state folder beside it, and a draft to commit.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use cutline::{
    budget::Settings,
    commit::{CommitError, Disk, Fs, Job, Receipt, Store, UndoError, Undone, commit, undo},
    cut::{Verdict, legal_cuts},
    export::hex,
    format::Minted,
    model::Millis,
    plan::{Abandonment, Draft, Session, Wish, draft},
};
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

pub(crate) const NOW: Millis = Millis(1_795_000_000_000);
pub(crate) const LATER: Millis = Millis(1_795_000_060_000);

/// Closed work, then an open call at the end.
pub(crate) fn transcript() -> Vec<u8> {
    let long = "All of the ledger is read again and nothing in it is new. ".repeat(60);
    let step = |n: usize| {
        [
            format!(r#"{{"kind":"user","text":"step {n}"}}"#),
            format!(r#"{{"kind":"call","id":"c{n}","tool":"read","input":{{"n":{n}}}}}"#),
            format!(r#"{{"kind":"result","id":"c{n}","content":"{long}"}}"#),
            format!(r#"{{"kind":"assistant","text":"done {n}"}}"#),
        ]
    };
    let mut lines = vec![r#"{"cutline":1,"session":"billing","window":64000}"#.to_string()];
    lines.extend((0..6).flat_map(step));
    lines.push(r#"{"kind":"user","text":"now wait"}"#.to_string());
    lines.push(r#"{"kind":"call","id":"open","tool":"deploy","input":{}}"#.to_string());
    (lines.join("\n") + "\n").into_bytes()
}

pub(crate) fn drafted(bytes: &[u8], seed: u8, settle: Vec<Abandonment>) -> Draft {
    let bytes = bytes.to_vec();
    let session = Session::of_bytes(&bytes, None, "session", Settings::default());
    let cut = legal_cuts(session.ledger()).into_iter().max().unwrap();
    let prose = cutline::plan::summary::Prose {
        text: "The ledger was read six times.".to_string(),
        by: cutline::plan::summary::Author::Operator,
    };
    let wish = Wish { span: Some((0, cut)), settle, prose: Some(prose), ..Wish::default() };
    draft(&session, &bytes, &wish, &Minted::new([seed; 16], NOW, TimeZone::UTC)).unwrap()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Every name below a folder with its mode and content.
pub(crate) fn listing(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut out = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let meta = path.symlink_metadata().unwrap();
        let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if meta.is_dir() {
            out.extend(listing(&path));
        }
        out.insert(path, (meta.mode() & 0o7777, content));
    }
    out
}

pub(crate) struct Rig {
    pub(crate) dir: TempDir,
    pub(crate) sessions: PathBuf,
    pub(crate) source: PathBuf,
    pub(crate) bytes: Vec<u8>,
    pub(crate) draft: Draft,
    pub(crate) store: Store,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::in_folder("sessions")
    }

    pub(crate) fn in_folder(folder: &str) -> Self {
        let dir = TempDir::new().unwrap();
        let bytes = transcript();
        let draft = drafted(&bytes, 7, Vec::new());
        let base = dir.path().canonicalize().unwrap();
        let sessions = base.join(folder);
        let source = sessions.join("session.jsonl");
        let store = Store::at(base.join("state/cutline"));
        let rig = Self { dir, sessions, source, bytes, draft, store };
        rig.lay();
        rig
    }

    /// The source, fresh.
    pub(crate) fn lay(&self) {
        fs::create_dir_all(&self.sessions).unwrap();
        fs::write(&self.source, &self.bytes).unwrap();
        fs::set_permissions(&self.source, fs::Permissions::from_mode(0o640)).unwrap();
    }

    /// As it was before anything was committed.
    pub(crate) fn reset(&self) {
        for entry in fs::read_dir(self.dir.path()).unwrap() {
            fs::remove_dir_all(entry.unwrap().path()).unwrap();
        }
        self.lay();
    }

    pub(crate) fn commit(&self) -> Result<Receipt, CommitError> {
        self.commit_by(&Disk, &self.draft, None)
    }

    pub(crate) fn commit_to(&self, out: &Path) -> Result<Receipt, CommitError> {
        self.commit_by(&Disk, &self.draft, Some(out))
    }

    pub(crate) fn commit_by(&self, fs: &dyn Fs, draft: &Draft, out: Option<&Path>) -> Result<Receipt, CommitError> {
        let confirmed: Vec<String> = draft.asks().map(|check| check.name.to_string()).collect();
        let sha256 = sha256(&self.bytes);
        let job = Job {
            draft,
            source: &self.source,
            source_sha256: &sha256,
            out,
            verdict: Verdict::Compact,
            relief: false,
            confirmed: &confirmed,
            operator: "ada",
            now: NOW,
        };
        commit(fs, &self.store, &job)
    }

    pub(crate) fn undo(&self, receipt: &Receipt) -> Result<Undone, UndoError> {
        undo(&Disk, &self.store, receipt, LATER)
    }

    /// Where the fork goes.
    pub(crate) fn fork(&self) -> PathBuf {
        let short: String = self.draft.forked.session.chars().take(8).collect();
        self.sessions.join(format!("session.{short}.jsonl"))
    }

    /// Names in the receipts folder that are no locks.
    pub(crate) fn receipts(&self) -> Vec<String> {
        let names = fs::read_dir(self.store.root().join("receipts")).into_iter().flatten();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> =
            names.filter(|name| Path::new(name).extension().is_none_or(|ending| ending != "lock")).collect();
        names.sort();
        names
    }

    /// The fork stands, whole, with its receipt, and nothing else is there.
    pub(crate) fn assert_committed(&self, case: &str) -> Receipt {
        let (receipts, unread) = self.store.receipts();
        assert_eq!((receipts.len(), unread), (1, 0), "{case}: {:?}", self.receipts());
        let there: Vec<PathBuf> = listing(&self.sessions).into_keys().collect();
        assert_eq!(there, [self.fork(), self.source.clone()], "{case}");
        assert!(fs::read(self.fork()).unwrap() == self.draft.bytes, "{case}: the fork differs");
        assert_eq!(self.fork().metadata().unwrap().mode() & 0o777, 0o640, "{case}");
        self.assert_source(case);
        assert!(self.receipts().iter().all(|name| is_receipt(name)), "{case}: {:?}", self.receipts());
        receipts[0].clone()
    }

    /// The folder is as if nobody had ever committed.
    pub(crate) fn assert_nothing(&self, case: &str) {
        let there: Vec<PathBuf> = listing(&self.sessions).into_keys().collect();
        assert_eq!(there, [self.source.as_path()], "{case}");
        assert_eq!(self.receipts(), Vec::<String>::new(), "{case}");
        self.assert_source(case);
    }

    pub(crate) fn assert_source(&self, case: &str) {
        assert!(fs::read(&self.source).unwrap() == self.bytes, "{case}: the source changed");
        assert_eq!(self.source.metadata().unwrap().mode() & 0o777, 0o640, "{case}");
    }
}

/// The name of a receipt that holds.
pub(crate) fn is_receipt(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "json")
}

/// One or more whole sentences.
pub(crate) fn assert_sentence(text: &str) {
    assert!(
        text.ends_with('.') && !text.contains('\n') && !text.contains("  ") && !text.contains("os error"),
        "{text}"
    );
}
