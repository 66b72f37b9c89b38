use std::{
    fs::{File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::model::{Millis, parse_rfc3339, rfc3339};

/// The key whose value is moved to the present.
const STAMP: &str = "\"timestamp\":\"";
/// Name of the file that is written, in a folder of its own.
const NAME: &str = "incident.jsonl";

/// A recorded transcript that is written again line by line, at the pace of its own timestamps, into a temporary file.
/// Dropping it ends the writer and removes the file.
#[derive(Debug)]
pub struct Replay {
    path: PathBuf,
    /// Dropped to end the writer.
    stop: Option<Sender<()>>,
    writer: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl Replay {
    /// Begins to write `lines`, `speed` times as fast as they happened. Their timestamps become those of now, so that
    /// ages on a screen are true; `now` is the moment of the first one.
    ///
    /// # Errors
    /// No temporary folder, file or thread could be had.
    pub fn start(lines: &'static str, speed: f64, now: Millis) -> io::Result<Self> {
        let folder = private_folder()?;
        let path = folder.path().join(NAME);
        let file = private_file(&path)?;
        let (stop, stopped) = channel::<()>();
        let pace = Pace::of(lines, speed, now);
        let writer = thread::Builder::new().name("replay".to_string()).spawn(move || {
            let begun = Instant::now();
            for line in lines.lines().filter(|line| !line.is_empty()) {
                let (due, text) = pace.line(line);
                let wait = due.saturating_sub(begun.elapsed());
                if !matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
                    return;
                }
                if append(&file, &text).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { path, stop: Some(stop), writer: Some(writer), _folder: folder })
    }

    /// The file that is being written.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(writer) = self.writer.take() {
            // A panic of the writer was already reported by the panic hook.
            drop(writer.join());
        }
    }
}

/// Whatever the umask says, nobody else may look.
fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.prefix("cutline-demo-").tempdir()
}

fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create_new(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// One whole line in one write, as the agent's own client does it.
fn append(mut file: &File, line: &str) -> io::Result<()> {
    file.write_all(format!("{line}\n").as_bytes())
}

/// How recorded time becomes time from now.
#[derive(Clone, Copy)]
struct Pace {
    first: i64,
    now: i64,
    speed: f64,
}

impl Pace {
    fn of(lines: &str, speed: f64, now: Millis) -> Self {
        let first = lines.lines().find_map(|line| stamp(line).and_then(|(_, _, time)| time.known())).unwrap_or(0);
        let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1.0 };
        Self { first, now: now.known().unwrap_or(0), speed }
    }

    /// When a line is due, counted from the start, and the line with its time moved to then.
    fn line(self, line: &str) -> (Duration, String) {
        let Some((from, to, time)) = stamp(line) else { return (Duration::ZERO, line.to_string()) };
        let recorded = time.known().unwrap_or(self.first).saturating_sub(self.first).max(0);
        #[expect(clippy::cast_precision_loss, reason = "recordings last minutes, not millions of years")]
        let seconds = recorded as f64 / 1000.0 / self.speed;
        let due = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let moved = self.now.saturating_add(i64::try_from(due.as_millis()).unwrap_or(0));
        let (Some(head), Some(tail), Some(time)) = (line.get(..from), line.get(to..), rfc3339(Millis(moved))) else {
            return (due, line.to_string());
        };
        (due, format!("{head}{time}{tail}"))
    }
}

/// Where the time of a line stands, and what it is.
fn stamp(line: &str) -> Option<(usize, usize, Millis)> {
    let from = line.find(STAMP)? + STAMP.len();
    let to = from + line.get(from..)?.find('"')?;
    Some((from, to, parse_rfc3339(line.get(from..to)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = concat!(
        "{\"n\":1,\"timestamp\":\"2026-01-01T00:00:00.000Z\"}\n",
        "{\"n\":2}\n",
        "{\"n\":3,\"timestamp\":\"2026-01-01T00:01:00.000Z\"}\n",
    );

    #[test]
    fn lines_come_at_their_pace_with_the_time_of_now() {
        let now = parse_rfc3339("2030-05-05T10:00:00Z");
        let pace = Pace::of(LINES, 2.0, now);
        let lines: Vec<(Duration, String)> = LINES.lines().map(|line| pace.line(line)).collect();
        assert_eq!(lines[0], (Duration::ZERO, "{\"n\":1,\"timestamp\":\"2030-05-05T10:00:00.000Z\"}".to_string()));
        assert_eq!(lines[1], (Duration::ZERO, "{\"n\":2}".to_string()));
        assert_eq!(
            lines[2],
            (Duration::from_secs(30), "{\"n\":3,\"timestamp\":\"2030-05-05T10:00:30.000Z\"}".to_string())
        );
    }

    #[test]
    fn all_is_written_and_nothing_is_left() {
        let replay = Replay::start(LINES, 1e9, Millis(0)).unwrap();
        let path = replay.path().to_path_buf();
        let deadline = Instant::now() + Duration::from_secs(20);
        while std::fs::read_to_string(&path).unwrap().lines().count() < 3 {
            assert!(Instant::now() < deadline, "the writer never finished");
            thread::yield_now();
        }
        drop(replay);
        assert!(!path.exists() && !path.parent().unwrap().exists());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_look() {
        use std::os::unix::fs::PermissionsExt as _;
        let replay = Replay::start(LINES, 1.0, Millis(0)).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o077;
        assert_eq!(mode(replay.path()) | mode(replay.path().parent().unwrap()), 0);
    }

    #[test]
    fn the_bundled_incident_takes_a_minute_and_a_half() {
        let incident = include_str!("../../assets/demo.jsonl");
        let now = parse_rfc3339("2030-05-05T10:00:00Z");
        let pace = Pace::of(incident, 1.0, now);
        let lines: Vec<(Duration, String)> = incident.lines().map(|line| pace.line(line)).collect();
        assert!(lines.iter().all(|(_, line)| line.contains("\"timestamp\":\"2030-05-05T10:0")));
        assert!(lines.windows(2).all(|pair| pair[0].0 <= pair[1].0), "in the order of the file");
        assert!(lines.last().unwrap().0.as_secs().abs_diff(90) < 5);
    }

    #[test]
    fn dropping_does_not_wait_for_the_recording() {
        let replay = Replay::start(LINES, 1e-6, Millis(0)).unwrap();
        let path = replay.path().to_path_buf();
        drop(replay);
        assert!(!path.exists());
    }
}
