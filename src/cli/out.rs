//! The two streams. A closed pipe (`cutline show … | head`) ends the program quietly.

use std::io::{self, Write as _};

use serde::Serialize;

/// One JSON document with a newline on stdout.
pub(super) fn document(document: &impl Serialize) {
    let mut out = io::stdout().lock();
    let written =
        serde_json::to_writer(&mut out, document).map_err(io::Error::from).and_then(|()| out.write_all(b"\n"));
    // A reader that went away has all it wanted.
    drop(written);
}

/// One line of data on stdout; false if nobody reads any more.
pub(super) fn line(out: &mut impl io::Write, text: &str) -> bool {
    out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n")).is_ok()
}

/// One sentence on stderr.
pub(super) fn say(text: &str) {
    drop(writeln!(io::stderr().lock(), "{}", text.trim_end()));
}
