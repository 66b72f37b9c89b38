//! Sessions in OpenCode's database, as one that its writer has open, and in its legacy folders.
#![cfg(feature = "sqlite")]
#![expect(clippy::disallowed_methods, reason = "tests write their inputs")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails says where")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use cutline::{
    budget::Settings,
    commit::{self, CommitError, Disk, Job, Store},
    cut::Verdict,
    format::Minted,
    model::Millis,
    plan::{Session, Wish, draft},
    source::{Address, Change, Feed, Files, Poller, ReadAt, Roots, Runtime, SourceError, Status, read_all},
};
use jiff::tz::TimeZone;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

/// The tables of 1.18.33, as far as a session lies in them.
const SCHEMA: &str = "
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text,
        slug text NOT NULL, directory text NOT NULL, path text, title text NOT NULL, version text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE INDEX part_session_idx ON part (session_id);
    CREATE INDEX message_session_idx ON message (session_id, time_created, id);";
/// Records of the sample that a compaction may take.
const CUT: usize = 5;
const SESSION: &str = "ses_d41f00aa1ffeK2mR9tYqLw7Zc3";

/// A folder with a database in it, held open by its writer.
struct Client {
    folder: tempfile::TempDir,
    db: Connection,
    clock: i64,
}

impl Client {
    fn start(mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Connection::open(folder.path().join("opencode.db")).unwrap();
        db.pragma_update(None, "journal_mode", mode).unwrap();
        db.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        db.execute_batch(SCHEMA).unwrap();
        Self { folder, db, clock: 1_795_212_500_000 }
    }

    /// With the session of the sample.
    fn with_sample(mode: &str) -> Self {
        let mut client = Self::start(mode);
        client.session(SESSION, "Ferry timetable");
        for line in fs::read_to_string("sample-sessions/opencode.jsonl").unwrap().lines().skip(1) {
            client.message(&serde_json::from_str(line).unwrap());
        }
        client
    }

    fn tick(&mut self) -> i64 {
        self.clock += 1;
        self.clock
    }

    fn session(&mut self, id: &str, title: &str) {
        let now = self.tick();
        let sql = "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
                   VALUES (?1, '7d1c', 'slug', '/srv/ferry', ?2, '1.18.33', ?3, ?3)";
        self.db.execute(sql, params![id, title, now]).unwrap();
    }

    /// Takes ids out of the documents, as the client does.
    fn message(&mut self, line: &Value) {
        let now = self.tick();
        let mut info = line["info"].as_object().unwrap().clone();
        let (id, session) = (info.remove("id").unwrap(), info.remove("sessionID").unwrap());
        let (id, session) = (id.as_str().unwrap(), session.as_str().unwrap());
        let made = info["time"]["created"].as_i64().unwrap();
        let sql = "INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5)";
        self.db.execute(sql, params![id, session, made, now, Value::from(info).to_string()]).unwrap();
        for part in line["parts"].as_array().unwrap() {
            let mut part = part.as_object().unwrap().clone();
            let own = part.remove("id").unwrap();
            part.remove("sessionID");
            part.remove("messageID");
            let data = Value::from(part).to_string();
            let sql = "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
            self.db.execute(sql, params![own.as_str().unwrap(), id, session, now, data]).unwrap();
        }
    }

    fn say(&mut self, session: &str, id: &str, text: &str) {
        let made = self.clock;
        self.message(&json!({
            "info": {"id": id, "sessionID": session, "role": "user", "time": {"created": made}},
            "parts": [{"type": "text", "text": text, "id": format!("prt_{id}")}],
        }));
    }

    fn update(&mut self, part: &str, data: &Value) {
        let now = self.tick();
        let sql = "UPDATE part SET data = ?2, time_updated = ?3 WHERE id = ?1";
        assert_eq!(self.db.execute(sql, params![part, data.to_string(), now]).unwrap(), 1);
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("opencode.db")
    }

    fn address(&self) -> PathBuf {
        self.folder.path().join(format!("opencode.db#{SESSION}"))
    }

    fn poller(&self) -> (Poller, ReadAt) {
        let kept = ReadAt::memory();
        (Poller::new(Address::of(&self.address()).unwrap(), kept.clone()), kept)
    }
}

/// Name and bytes of every file in the folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .filter(|entry| entry.path().is_file())
        // The index of the log is the locks of its readers, too.
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .map(|(name, path)| (name.clone(), if name.ends_with("-shm") { Vec::new() } else { fs::read(path).unwrap() }))
        .collect();
    files.sort();
    files
}

fn session(bytes: &[u8]) -> Session {
    Session::of_bytes(bytes, None, "x", Settings::default())
}

/// What a reader of the feeds has, and the last status.
#[derive(Default)]
struct Reader {
    bytes: Vec<u8>,
    status: Option<Status>,
    resets: Vec<(u64, Change)>,
}

impl Reader {
    fn take(&mut self, feeds: Vec<Feed>) {
        for feed in feeds {
            match feed {
                Feed::Chunk { offset, bytes } => {
                    assert_eq!(offset, self.bytes.len() as u64);
                    self.bytes.extend(bytes);
                }
                Feed::Reset { keep, reason } => {
                    self.resets.push((keep, reason));
                    self.bytes.clear();
                }
                Feed::Status(status) => self.status = Some(status),
                other => assert!(matches!(other, Feed::Progress { .. }), "{other:?}"),
            }
        }
    }
}

#[test]
fn rows_read_like_the_lines_of_an_export() {
    let client = Client::with_sample("wal");
    let bytes = read_all(&client.address()).unwrap();
    let sample = fs::read("sample-sessions/opencode.jsonl").unwrap();
    let (ours, theirs) = (session(&bytes), session(&sample));
    assert_eq!(ours.context().len(), theirs.context().len());
    assert!(ours.context().len() > 5);
    for at in 0..ours.context().len() {
        let (a, b) = (ours.record(at).unwrap(), theirs.record(at).unwrap());
        assert_eq!((a.kind, a.time, ours.body(at, &bytes)), (b.kind, b.time, theirs.body(at, &sample)));
    }
    let lines: Vec<Value> =
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let theirs: Vec<Value> =
        String::from_utf8(sample).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[1..], theirs[1..], "ids, order and every stored member");
    assert_eq!(lines[0]["info"]["title"], "Ferry timetable");
}

#[test]
fn nothing_is_made_or_changed_beside_a_database() {
    let client = Client::with_sample("wal");
    let (folder, address) = (client.folder.path().to_path_buf(), client.address());
    let live = files(&folder);
    assert_eq!(live.len(), 3, "database, log and index");
    let first = read_all(&address).unwrap();
    assert_eq!(files(&folder), live);
    // The writer ends: the log is folded in and goes.
    let Client { folder: kept, db, .. } = client;
    db.close().unwrap();
    let rest = files(&folder);
    assert_eq!(rest.len(), 1);
    assert_eq!(read_all(&address).unwrap(), first);
    assert_eq!(files(&folder), rest);
    drop(kept);
}

#[test]
fn a_look_does_not_keep_the_writer_from_folding_its_log_in() {
    let client = Client::with_sample("wal");
    let (mut poller, _) = client.poller();
    let mut reader = Reader::default();
    reader.take(poller.wake(0).feeds);
    assert_eq!(reader.status, Some(Status::Live));
    let Client { folder, db, .. } = client;
    db.close().unwrap();
    assert_eq!(files(folder.path()).len(), 1);
    reader.take(poller.wake(400).feeds);
    assert_eq!((reader.status, reader.resets.len()), (Some(Status::Live), 0));
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn a_log_without_its_index_is_refused_and_left_alone() {
    let client = Client::with_sample("wal");
    let copy = tempfile::tempdir().unwrap();
    for name in ["opencode.db", "opencode.db-wal"] {
        fs::copy(client.folder.path().join(name), copy.path().join(name)).unwrap();
    }
    let before = files(copy.path());
    let error = read_all(&copy.path().join(format!("opencode.db#{SESSION}"))).unwrap_err().to_string();
    assert!(error.contains("has no -shm file beside it") && error.contains("start its runtime once"), "{error}");
    assert_eq!(files(copy.path()), before);
}

#[test]
fn what_is_added_is_appended_and_what_changes_is_withdrawn() {
    let mut client = Client::with_sample("wal");
    client.session("ses_other", "Other");
    let (mut poller, kept) = client.poller();
    let mut reader = Reader::default();
    reader.take(poller.wake(0).feeds);
    let first = reader.bytes.clone();
    assert_eq!(first, read_all(&client.address()).unwrap());

    // Added while the writer keeps the database open.
    client.say(SESSION, "msg_z1", "And the summer one?");
    let woken = poller.wake(400);
    assert!(woken.wait <= 500);
    reader.take(woken.feeds);
    assert_eq!(reader.resets.len(), 0);
    assert!(reader.bytes.starts_with(&first) && reader.bytes.len() > first.len());

    // A part that is already there gets other content: its line and what follows is given again.
    client.update("prt_msg_z1", &json!({"type": "text", "text": "And the summer timetable?"}));
    reader.take(poller.wake(800).feeds);
    assert_eq!(reader.resets, [(first.len() as u64, Change::Updated)]);
    assert_eq!(reader.bytes, read_all(&client.address()).unwrap());
    assert_eq!(kept.read_range(0, reader.bytes.len()).unwrap(), reader.bytes, "payload is that of the lines");

    // Others write into the same database.
    client.say("ses_other", "msg_o1", "unrelated");
    for now in [1_200, 5_000, 9_000] {
        let woken = poller.wake(now);
        assert_eq!(woken.feeds, []);
    }
    // Long after, too, a change is seen at the next look.
    client.db.execute("DELETE FROM message WHERE id = 'msg_z1'", []).unwrap();
    reader.take(poller.wake(60_000).feeds);
    assert_eq!(reader.resets[1], (first.len() as u64, Change::Truncated));
    assert_eq!(reader.bytes, first);
}

#[test]
fn what_cannot_be_read_is_told_and_the_view_stays() {
    let mut client = Client::with_sample("delete");
    let (mut poller, _) = client.poller();
    let mut reader = Reader::default();
    reader.take(poller.wake(0).feeds);
    let first = reader.bytes.clone();
    let said = |reader: &Reader| match &reader.status {
        Some(Status::Unreadable(why)) => why.clone(),
        other => format!("{other:?}"),
    };

    client.db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    client.say(SESSION, "msg_z1", "held back");
    reader.take(poller.wake(400).feeds);
    assert!(said(&reader).contains("holds it locked"), "{}", said(&reader));
    assert_eq!(reader.bytes, first);
    client.db.execute_batch("COMMIT").unwrap();
    reader.take(poller.wake(800).feeds);
    assert_eq!(reader.status, Some(Status::Live));
    assert!(reader.bytes.len() > first.len() && reader.resets.is_empty());
    let second = reader.bytes.clone();

    // Newer than known.
    client.db.execute_batch("ALTER TABLE part RENAME TO piece").unwrap();
    reader.take(poller.wake(1_200).feeds);
    assert!(said(&reader).contains("not those of an OpenCode that cutline knows"), "{}", said(&reader));
    client.db.execute_batch("ALTER TABLE piece RENAME TO part").unwrap();
    reader.take(poller.wake(1_600).feeds);
    assert_eq!(reader.status, Some(Status::Live));

    client.db.execute("DELETE FROM session", []).unwrap();
    reader.take(poller.wake(2_000).feeds);
    assert!(said(&reader).contains("no session"), "{}", said(&reader));
    fs::remove_file(client.path()).unwrap();
    reader.take(poller.wake(2_400).feeds);
    assert_eq!((reader.status, reader.bytes), (Some(Status::Gone), second));
}

#[test]
fn a_store_of_several_asks_which_one() {
    let mut client = Client::with_sample("wal");
    let store = Address::of(&client.path()).unwrap();
    assert_eq!(store.settled().unwrap().session(), Some(SESSION), "the only one");
    client.session("ses_two", "Second\u{1b}[31m one");
    let Err(SourceError::Several { sessions, .. }) = store.settled() else { unreachable!() };
    assert_eq!(sessions.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["ses_two", SESSION]);
    assert_eq!(sessions[0].directory.as_deref(), Some("/srv/ferry"));

    let path = client.path().display().to_string();
    let output = run(client.folder.path(), &["inspect", &path]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(15), "{said}");
    assert!(said.contains("2 sessions") && said.contains(SESSION) && said.contains("--session ID"), "{said}");
    assert!(!said.contains('\u{1b}'));
    for args in [
        vec!["inspect", &path, "--session", SESSION, "--json"],
        vec!["inspect", &format!("{path}#{SESSION}"), "--json"],
    ] {
        let output = run(client.folder.path(), &args);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(report.to_string().contains(&format!("opencode.db#{SESSION}")), "{report}");
    }
    let output = run(client.folder.path(), &["inspect", &format!("{path}#ses_none")]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(15));
    assert!(said.contains("holds no session ses_none"), "{said}");
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cutline"));
    command.env("XDG_STATE_HOME", folder.join("state")).env("USER", "jo").env_remove("CUTLINE_WINDOW");
    command.args(args).stdin(Stdio::null()).output().unwrap()
}

fn minted() -> Minted {
    Minted::new([7; 16], Millis(1_795_212_600_000), TimeZone::UTC)
}

#[test]
fn a_commit_compares_the_lines_and_not_the_database() {
    let mut client = Client::with_sample("wal");
    client.session("ses_other", "Other");
    let state = client.folder.path().join("state");
    let source = client.address();
    let bytes = read_all(&source).unwrap();
    let loaded = session(&bytes);
    let files_of = Files::new(ReadAt::of(&source, &bytes));
    let wish = Wish { span: Some((0, CUT)), ..Wish::default() };
    let draft = draft(&loaded, &files_of, &wish, &minted()).unwrap();
    let sha256 = hash(&bytes);
    let names: Vec<String> = draft.asks().map(|check| check.name.to_string()).collect();
    let job = Job {
        draft: &draft,
        source: &source,
        source_sha256: &sha256,
        out: None,
        verdict: Verdict::Compact,
        relief: false,
        confirmed: &names,
        operator: "jo",
        now: Millis(1_795_212_600_000),
    };
    let store = Store::at(state);
    // Another session of the same database goes on: that is no change of this one.
    client.say("ses_other", "msg_o1", "unrelated");
    let database = fs::read(client.path()).unwrap();
    let receipt = commit::commit(&Disk, &store, &job).unwrap();
    assert_eq!(fs::read(client.path()).unwrap(), database);
    assert_eq!(receipt.source.path.file_name(), source.file_name());
    assert_eq!((receipt.source.bytes, &receipt.source.sha256), (bytes.len() as u64, &sha256));
    assert_eq!(
        receipt.output.path.parent().unwrap().canonicalize().unwrap(),
        client.folder.path().canonicalize().unwrap()
    );
    assert!(receipt.resume_line().starts_with("opencode import "), "{}", receipt.resume_line());
    let after = session(&fs::read(&receipt.output.path).unwrap());
    assert_eq!(after.context().len(), loaded.context().len() - CUT + 1);
    commit::undo(&Disk, &store, &receipt, Millis(1_795_212_700_000)).unwrap();
    assert!(!receipt.output.path.exists());

    // More of this session is behind the preview; something else inside it is another source.
    client.say(SESSION, "msg_z1", "And the summer one?");
    let receipt = commit::commit(&Disk, &store, &job).unwrap();
    assert!(receipt.behind > 0);
    commit::undo(&Disk, &store, &receipt, Millis(1_795_212_700_000)).unwrap();
    client
        .db
        .execute("UPDATE part SET data = '{\"type\":\"text\",\"text\":\"else\"}' WHERE id LIKE 'prt_2b0000000002%'", [])
        .unwrap();
    let error = commit::commit(&Disk, &store, &job).unwrap_err();
    assert!(matches!(error, CommitError::Changed(_)), "{error}");
}

fn hash(bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    cutline::export::hex(&Sha256::digest(bytes))
}

#[test]
fn the_command_line_gives_up_a_call_of_a_database() {
    let mut client = Client::with_sample("wal");
    client.message(&json!({
        "info": {"id": "msg_z1", "sessionID": SESSION, "role": "assistant", "time": {"created": 1_795_212_500_500_i64},
                 "modelID": "acme-large", "providerID": "acme", "parentID": "msg_2b0000000001Ab3dEf6hIj9kLm"},
        "parts": [{"type": "tool", "callID": "call_hung", "tool": "bash", "id": "prt_z1",
                   "state": {"status": "running", "input": {"command": "sleep 9"}, "time": {"start": 1}}}],
    }));
    let path = client.address().display().to_string();
    let output = run(client.folder.path(), &["abandon", &path, "call_hung", "--reason", "its process is gone"]);
    let (told, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{told}{said}");
    assert!(told.contains("opencode import "), "{told}");
    let made: Vec<_> =
        files(client.folder.path()).into_iter().filter(|(name, _)| name.ends_with(".export.json")).collect();
    assert_eq!(made.len(), 1);
    assert!(String::from_utf8_lossy(&made[0].1).contains("its process is gone"));
}

#[test]
fn a_legacy_folder_reads_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, document: Value| {
        let path = folder.path().join("storage").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // As its client wrote them, over several lines.
        fs::write(path, serde_json::to_string_pretty(&document).unwrap()).unwrap();
    };
    put(
        "session/p/ses_1.json",
        json!({"id": "ses_1", "title": "Old", "version": "0.9", "time": {"created": 1, "updated": 9}}),
    );
    put(
        "message/ses_1/msg_2.json",
        json!({"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": 5}}),
    );
    put(
        "message/ses_1/msg_1.json",
        json!({"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 3}}),
    );
    put("part/msg_1/prt_1.json", json!({"id": "prt_1", "messageID": "msg_1", "type": "text", "text": "go\non"}));
    put(
        "part/msg_2/prt_2.json",
        json!({"id": "prt_2", "type": "tool", "callID": "c", "tool": "bash",
        "state": {"status": "running", "input": {}}}),
    );
    let path = folder.path().join("storage");
    let bytes = read_all(&path).unwrap();
    assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 3);
    let loaded = session(&bytes);
    assert_eq!(loaded.context().len(), 2);
    assert_eq!(loaded.body(0, &bytes).unwrap().text, "go\non");

    let (mut poller, mut reader) = (Poller::new(Address::of(&path).unwrap(), ReadAt::memory()), Reader::default());
    reader.take(poller.wake(0).feeds);
    assert_eq!(reader.bytes, bytes);
    put(
        "part/msg_2/prt_2.json",
        json!({"id": "prt_2", "type": "tool", "callID": "c", "tool": "bash",
        "state": {"status": "completed", "input": {}, "output": "done"}}),
    );
    reader.take(poller.wake(400).feeds);
    assert_eq!(reader.resets.len(), 1);
    assert_eq!(session(&reader.bytes).context().len(), 3);
}

#[test]
fn sessions_are_found_where_the_client_keeps_them() {
    let mut client = Client::with_sample("wal");
    client.session("ses_two", "Second");
    client.db.execute("UPDATE session SET parent_id = ?1 WHERE id = 'ses_two'", [SESSION]).unwrap();
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("opencode");
    fs::create_dir(&data).unwrap();
    let mut beta = Connection::open(data.join("opencode-beta.db")).unwrap();
    beta.execute_batch(SCHEMA).unwrap();
    let made = beta.transaction().unwrap();
    made.execute_batch(
        "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
        VALUES ('ses_beta', 'p', 's', '/b', 'Beta', '1', 5, 6)",
    )
    .unwrap();
    made.commit().unwrap();
    fs::write(data.join("opencode-broken.db"), "SQLite format 3\0 and nothing else").unwrap();
    let found = Roots::from_env(|name| match name {
        "XDG_DATA_HOME" => Some(home.path().as_os_str().to_owned()),
        "OPENCODE_DB" => Some(client.path().into_os_string()),
        _ => None,
    })
    .sessions();
    let told: Vec<_> = found.iter().map(|found| (found.title.as_deref().unwrap(), found.sub_agent)).collect();
    assert_eq!(told, [("Second", true), ("Ferry timetable", false), ("Beta", false)]);
    assert!(found.iter().all(|found| found.runtime == Runtime::OpenCode));
    assert_eq!(found[1].path, client.address());
    assert!(!read_all(&found[2].path).unwrap().is_empty());
}

#[test]
fn hostile_names_stay_names() {
    let mut client = Client::with_sample("wal");
    let path = client.folder.path().join("100%?mode=rwc#odd 'name'.db");
    client.session("ses_a\"b", "quote");
    client.db.execute("VACUUM INTO ?1", [path.to_str().unwrap()]).unwrap();
    let store = Address::of(&path).unwrap();
    assert_eq!(store.session(), None, "a file that has the whole name goes first");
    let bytes = store.with("ses_a\"b").read().unwrap();
    let info: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(info["info"]["id"], "ses_a\"b");
    assert_eq!(Address::of(&store.with(SESSION).path()), Some(store.with(SESSION)));
}
