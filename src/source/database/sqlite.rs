//! OpenCode's database. Every look opens it for reading, reads in one short transaction, and closes it again: a
//! connection that stays open would keep its runtime from folding the write-ahead log in when it ends.

use std::{fs::File, io::Read as _, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, config::DbConfig};

use super::{Lines, Row, Signature, beside, lines, stat};
use crate::model::Millis;

/// How long a look waits for a writer that holds the database.
const PATIENCE: Duration = Duration::from_millis(100);
/// Looks at a database whose files change while it is read as a resting one.
const TRIES: usize = 3;
/// Where the header says that there is a write-ahead log, and how.
const VERSIONS: std::ops::Range<usize> = 18..20;

/// The sessions of the database, in any order.
pub(super) fn sessions(path: &Path) -> Result<Vec<Row>, String> {
    look(path, |rows| {
        let sql = "SELECT id, title, directory, time_updated, parent_id IS NOT NULL FROM session";
        let mut statement = rows.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            Ok(Row {
                id: row.get(0)?,
                title: row.get(1)?,
                directory: row.get(2)?,
                updated: Millis(row.get(3)?),
                sub_agent: row.get(4)?,
            })
        })?;
        rows.collect()
    })
}

/// The lines of the session `id`, unless its signature is `known`.
pub(super) fn read(path: &Path, id: &str, known: Option<&Signature>) -> Result<Lines, String> {
    look(path, |rows| {
        let Some(header) = header(rows, id)? else { return Ok(Lines::Absent) };
        let signature = signature(rows, id)?;
        if known == Some(&signature) {
            return Ok(Lines::Same);
        }
        let mut out = String::new();
        lines::push(&mut out, &header, None);
        messages(rows, id, &mut out)?;
        Ok(Lines::Read(signature, out.into_bytes()))
    })
}

/// How a database is opened, so that nothing beside it is made or changed.
enum Manner {
    /// Like any reader: a writer may live, and locks are respected.
    Shared,
    /// It has a write-ahead mode and no log, so nobody has it open, and an ordinary reader would make a log.
    Resting,
}

fn manner(path: &Path) -> Result<Manner, String> {
    let mut head = [0; VERSIONS.end];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.map_err(|error| error.to_string())?;
    let logged = head.get(VERSIONS).is_some_and(|versions| versions.contains(&2));
    let log = stat(&beside(path, "-wal"));
    let index = stat(&beside(path, "-shm"));
    match (logged, log, index) {
        (true, Some((1.., _)), None) => Err("its write-ahead log has no -shm file beside it, so it cannot be read \
             without changing it: start its runtime once, or copy the database with its log elsewhere and open it there \
             with sqlite3"
            .to_string()),
        (true, None, _) | (true, Some((0, _)), None) => Ok(Manner::Resting),
        _ => Ok(Manner::Shared),
    }
}

/// Opens, reads, closes.
fn look<T>(path: &Path, read: impl Fn(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, String> {
    for _ in 0..TRIES {
        let before = (stat(path), stat(&beside(path, "-wal")));
        let manner = manner(path)?;
        let resting = matches!(manner, Manner::Resting);
        let done = open(path, &manner).and_then(|mut connection| read(&connection.transaction()?));
        // A resting database takes no locks: if somebody woke it meanwhile, what was read is worth nothing.
        if !resting || before == (stat(path), stat(&beside(path, "-wal"))) {
            return done.map_err(|error| sentence(&error));
        }
    }
    Err("it was written at every try to read it: try again when its runtime pauses".to_string())
}

fn open(path: &Path, manner: &Manner) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, manner), flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // What a hostile schema could make a reader run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(connection)
}

/// `file:` with everything escaped that a URI or a path could take for something else.
fn uri(path: &Path, manner: &Manner) -> String {
    use std::fmt::Write as _;
    let mut uri = String::from("file:");
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            // Writing to a String cannot fail.
            other => drop(write!(uri, "%{other:02X}")),
        }
    }
    uri.push_str("?mode=ro");
    if matches!(manner, Manner::Resting) {
        uri.push_str("&immutable=1");
    }
    uri
}

fn sentence(error: &rusqlite::Error) -> String {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "its runtime holds it locked: try again in a moment".to_string()
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            format!("it is damaged ({text}): let its runtime repair it, or take a backup")
        }
        _ if text.contains("no such table") || text.contains("no such column") => format!(
            "its tables are not those of an OpenCode that cutline knows ({text}): export the session with its runtime \
             (opencode export ID) and open that file"
        ),
        _ => format!("{text}: check its permissions, and whether its runtime is migrating it"),
    }
}

/// The description of the session, without what changes at every message: it is the first line, and a line that
/// changes makes all behind it change.
fn header(rows: &Transaction<'_>, id: &str) -> rusqlite::Result<Option<String>> {
    let columns = ["slug", "project_id", "parent_id", "directory", "title", "version"];
    let keys = ["slug", "projectID", "parentID", "directory", "title", "version"];
    let sql = format!("SELECT time_created, {} FROM session WHERE id = ?1", columns.join(", "));
    let described = |row: &rusqlite::Row<'_>| {
        let mut info = vec![format!("\"id\":{}", lines::quoted(id))];
        for (at, key) in keys.iter().enumerate() {
            if let Some(text) = row.get::<_, Option<String>>(at + 1)? {
                info.push(format!("{}:{}", lines::quoted(key), lines::quoted(&text)));
            }
        }
        info.push(format!("\"time\":{{\"created\":{}}}", row.get::<_, i64>(0)?));
        Ok(lines::object(info.iter().map(String::as_str)))
    };
    rows.query_row(&sql, [id], described).optional()
}

fn signature(rows: &Transaction<'_>, id: &str) -> rusqlite::Result<Signature> {
    let mut out: Vec<i128> = Vec::new();
    for table in ["message", "part"] {
        let sql = format!("SELECT count(*), coalesce(max(time_updated), 0) FROM {table} WHERE session_id = ?1");
        let (count, newest): (i64, i64) = rows.query_row(&sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        out.extend([i128::from(count), i128::from(newest)]);
    }
    let sql = "SELECT time_updated FROM session WHERE id = ?1";
    out.push(i128::from(rows.query_row(sql, [id], |row| row.get::<_, i64>(0))?));
    Ok(Signature(out))
}

/// Messages by time, then id; parts of each by id, as its runtime reads them.
fn messages(rows: &Transaction<'_>, id: &str, out: &mut String) -> rusqlite::Result<()> {
    let mut messages = rows.prepare("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let mut parts = rows.prepare("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let session = format!("\"sessionID\":{}", lines::quoted(id));
    let mut found = messages.query([id])?;
    while let Some(row) = found.next()? {
        let (message, data): (String, String) = (row.get(0)?, row.get(1)?);
        let own = format!("\"id\":{}", lines::quoted(&message));
        let info = lines::object([own.as_str(), &session, &lines::members(&data)]);
        let of = format!("\"messageID\":{}", lines::quoted(&message));
        let part = |row: &rusqlite::Row<'_>| {
            let (part, data): (String, String) = (row.get(0)?, row.get(1)?);
            let own = format!("\"id\":{}", lines::quoted(&part));
            Ok(lines::object([lines::members(&data).as_str(), &own, &session, &of]))
        };
        let parts = parts.query_map([&message], part)?.collect::<rusqlite::Result<Vec<_>>>()?;
        lines::push(out, &info, Some(&parts));
    }
    Ok(())
}
