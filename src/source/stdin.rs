//! The same feeds from standard input (`-`), which has no past to compare and can be read only once.

use std::{
    io::{self, Read},
    thread,
};

use super::{Feed, ReadAt, Status};

/// Bytes of one chunk at most.
const CHUNK: usize = 64 << 10;

/// Reads standard input in a thread of its own until it ends or `send` returns false. The returned access reads what
/// has come so far. The thread is not waited for: a read from a terminal or a silent pipe cannot be interrupted.
///
/// # Errors
/// The system has no thread left.
pub fn spawn(send: impl Fn(Feed) -> bool + Send + 'static) -> io::Result<ReadAt> {
    let kept = ReadAt::memory();
    let keep = kept.clone();
    let _detached = thread::Builder::new().name("stdin".to_string()).spawn(move || follow(io::stdin(), &keep, send))?;
    Ok(kept)
}

/// Reads `input` until it ends, fails, or `send` returns false; keeps the bytes in `kept` before they are sent.
pub fn follow(mut input: impl Read, kept: &ReadAt, send: impl Fn(Feed) -> bool) {
    let mut offset = 0;
    let mut buffer = vec![0; CHUNK];
    if !send(Feed::Status(Status::Reading)) {
        return;
    }
    loop {
        let last = match input.read(&mut buffer) {
            Ok(0) => Status::Ended,
            Ok(got) => {
                let bytes = buffer.get(..got).unwrap_or_default().to_vec();
                kept.push(&bytes);
                if !send(Feed::Chunk { offset, bytes }) {
                    return;
                }
                offset += got as u64;
                continue;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Status::Unreadable(error.to_string()),
        };
        send(Feed::Status(last));
        return;
    }
}
