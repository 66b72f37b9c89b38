//! A recorded transcript that grows again as if its agent were running now.

use std::{
    borrow::Cow,
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    format::json::Raw,
    model::{Millis, parse_rfc3339, rfc3339},
};

/// Keys under which formats write the time of a line.
const TIMES: [&str; 2] = ["timestamp", "time"];

/// Writes the lines of a recording to a file in a private folder, each at its time. Dropping it stops the writer at
/// once and removes the folder.
pub struct Replay {
    path: PathBuf,
    /// Hanging up tells the writer to stop.
    stop: Option<Sender<()>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    /// Declared last, so that the folder goes after the writer.
    _folder: TempDir,
}

impl Replay {
    /// Starts to replay `lines`, `speed` times as fast as they were recorded. The times in them become those at which
    /// they are written, as `now` tells them, so that ages are true.
    ///
    /// # Errors
    /// If the folder or the file cannot be made, or `speed` is not a positive number.
    pub fn start(lines: &'static str, speed: f64, now: impl Fn() -> Millis + Send + 'static) -> io::Result<Self> {
        if !speed.is_finite() || speed <= 0.0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "The speed must be a positive number."));
        }
        let folder = private_folder()?;
        let path = folder.path().join("demo.jsonl");
        let file = create(&path)?;
        let (stop, stopped) = mpsc::channel();
        let writer = thread::Builder::new()
            .name("replay".to_string())
            .spawn(move || write(file, &schedule(lines, speed), &now, &stopped))?;
        Ok(Self { path, stop: Some(stop), writer: Some(writer), _folder: folder })
    }

    /// The file that grows.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True once every line is written, or writing failed.
    pub fn is_finished(&self) -> bool {
        self.writer.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops writing and says whether all went well so far. The file stays until the replay is dropped.
    ///
    /// # Errors
    /// What writing failed with.
    pub fn stop(&mut self) -> io::Result<()> {
        self.stop = None;
        let ended = self.writer.take().map(JoinHandle::join);
        match ended {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("The replay broke off.")),
            None => Ok(()),
        }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        // Nobody is left to be told that the last line could not be written.
        drop(self.stop());
    }
}

fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix("cutline-demo-").tempdir()
}

/// The folder is already private; so is the file, should it be moved out.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Each line with how long after the start it is due. A line that is older than the one before it, or has no time,
/// is due with that one.
fn schedule(lines: &'static str, speed: f64) -> Vec<(Duration, &'static str)> {
    let mut first = None;
    let mut due = Duration::ZERO;
    let place = |line| {
        if let Some(time) = time_of(line).and_then(Millis::known) {
            let since = time.saturating_sub(*first.get_or_insert(time));
            let since = Duration::from_millis(u64::try_from(since).unwrap_or(0));
            // A pace so slow that it cannot be told in seconds never comes to the next line.
            due = due.max(Duration::try_from_secs_f64(since.as_secs_f64() / speed).unwrap_or(Duration::MAX));
        }
        (due, line)
    };
    lines.lines().filter(|line| !line.trim().is_empty()).map(place).collect()
}

/// Writes whole lines, one write each, until all are written or the other side hung up.
fn write(
    mut file: File,
    lines: &[(Duration, &'static str)],
    now: &dyn Fn() -> Millis,
    stopped: &Receiver<()>,
) -> io::Result<()> {
    let start = Instant::now();
    for (due, line) in lines {
        match stopped.recv_timeout(due.saturating_sub(start.elapsed())) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        let mut whole = stamped(line, now()).into_owned();
        whole.push('\n');
        file.write_all(whole.as_bytes())?;
    }
    Ok(())
}

/// Where the time of `line` stands: its key's value with the quotes.
fn time_at(line: &str) -> Option<Raw<'_>> {
    let value = Raw::parse(line.as_bytes()).ok()?;
    TIMES.iter().find_map(|name| value.get(name).filter(|time| time.is_string()))
}

fn time_of(line: &str) -> Option<Millis> {
    Some(parse_rfc3339(&time_at(line)?.str()?))
}

/// `line` with `time` for its own; unchanged if it has none, or if the time is not known.
fn stamped(line: &str, time: Millis) -> Cow<'_, str> {
    let put = || {
        let (at, len) = time_at(line)?.range();
        let (at, len) = (usize::try_from(at).ok()?, usize::try_from(len).ok()?);
        let (before, after) = (line.get(..at)?, line.get(at + len..)?);
        Some(format!("{before}\"{}\"{after}", rfc3339(time)?))
    };
    put().map_or(Cow::Borrowed(line), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        sync::{
            Arc,
            atomic::{AtomicI64, Ordering},
        },
    };

    use super::*;

    const DEMO: &str = include_str!("../../assets/demo.jsonl");
    const NOW: i64 = 1_800_000_000_000;

    fn wait(replay: &Replay) {
        let start = Instant::now();
        while !replay.is_finished() && start.elapsed() < Duration::from_secs(20) {
            thread::yield_now();
        }
        assert!(replay.is_finished(), "the demo came to its end");
    }

    #[test]
    fn the_whole_recording_with_times_of_now() {
        let tick = Arc::new(AtomicI64::new(NOW));
        let clock = Arc::clone(&tick);
        let mut replay = Replay::start(DEMO, 1_000.0, move || Millis(clock.fetch_add(5, Ordering::SeqCst))).unwrap();
        wait(&replay);
        replay.stop().unwrap();
        let written = fs::read_to_string(replay.path()).unwrap();
        assert_eq!(written.lines().count(), DEMO.lines().count());
        for (n, (new, old)) in written.lines().zip(DEMO.lines()).enumerate() {
            assert_eq!(time_of(new), Some(Millis(NOW + 5 * i64::try_from(n).unwrap())));
            // Nothing but the time was changed.
            assert_eq!(stamped(new, time_of(old).unwrap()), old);
        }
        let folder = replay.path().parent().unwrap().to_path_buf();
        drop(replay);
        assert!(!folder.exists());
    }

    #[test]
    fn the_pace_is_that_of_the_recording() {
        let lines = "{\"time\":\"2026-01-01T00:00:10Z\"}\n{\"time\":\"2026-01-01T00:00:12Z\"}\n{\"x\":1}\n\n\
                     {\"time\":\"2026-01-01T00:00:11Z\"}\n{\"time\":\"2026-01-01T00:01:10Z\"}\n";
        let due: Vec<u128> = schedule(lines, 2.0).iter().map(|(due, _)| due.as_millis()).collect();
        assert_eq!(due, [0, 1_000, 1_000, 1_000, 30_000]);
        assert!(schedule(DEMO, 1.0).last().unwrap().0.as_secs().abs_diff(90) < 5);
    }

    #[test]
    fn dropping_stops_it_at_once() {
        let start = Instant::now();
        let replay = Replay::start(DEMO, 0.001, || Millis(NOW)).unwrap();
        let folder = replay.path().parent().unwrap().to_path_buf();
        drop(replay);
        assert!(!folder.exists());
        assert!(start.elapsed() < Duration::from_secs(5), "the next line was due in half an hour");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_look() {
        use std::os::unix::fs::PermissionsExt as _;
        let replay = Replay::start("{}\n", 1.0, || Millis::NONE).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o077;
        assert_eq!(mode(replay.path()) | mode(replay.path().parent().unwrap()), 0);
    }

    #[test]
    fn a_pace_that_is_none_is_refused() {
        for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Replay::start(DEMO, speed, || Millis(NOW)).is_err());
        }
    }

    #[test]
    fn only_the_time_of_the_line_itself() {
        for (line, want) in [
            (
                r#"{"a":{"timestamp":"x"},"timestamp":"2026-01-01T00:00:00Z","b":1}"#,
                r#"{"a":{"timestamp":"x"},"timestamp":"2027-01-15T08:00:00.000Z","b":1}"#,
            ),
            (r#"{"time":"2026-01-01T00:00:00Z"}"#, r#"{"time":"2027-01-15T08:00:00.000Z"}"#),
            (r#"{"text":"\"timestamp\":\"2026\""}"#, r#"{"text":"\"timestamp\":\"2026\""}"#),
            ("no json", "no json"),
        ] {
            assert_eq!(stamped(line, Millis(NOW)), want);
            assert_eq!(stamped(line, Millis::NONE), line);
        }
    }
}
