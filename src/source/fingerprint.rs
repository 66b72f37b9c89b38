//! What is remembered of the bytes that were given: enough to notice that they changed, and from where on.

use std::{fs::File, io};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::disk::{bytes_at, clamp};

/// Bytes of one hashed block.
pub const BLOCK: usize = 64 << 10;
/// Bytes at the start of the file that are kept and compared at every wake.
pub const HEAD: usize = 4 << 10;
/// Bytes before the offset that are kept and compared at every wake. A record withdrawn from the last 64 KiB and the
/// following ones written back (a tombstone) is thereby found to the byte.
pub const TAIL: usize = 64 << 10;

/// The memory of the first [`Fingerprint::len`] bytes of a file: 8 bytes for each 64 KiB, plus head and tail.
#[derive(Clone, Default)]
pub struct Fingerprint {
    len: u64,
    line_start: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
    blocks: Vec<u64>,
    /// Hash of the block that is not complete yet, and how many bytes it has.
    open: Xxh3,
    open_len: usize,
}

impl Fingerprint {
    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        if let Some(newline) = memchr::memrchr(b'\n', bytes) {
            self.line_start = self.len + newline as u64 + 1;
        }
        self.len += bytes.len() as u64;
        let (head, _) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        let fresh = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
        let stale = (self.tail.len() + fresh.len()).saturating_sub(TAIL);
        self.tail.drain(..stale);
        self.tail.extend_from_slice(fresh);
        let mut rest = bytes;
        while !rest.is_empty() {
            let (part, next) = rest.split_at(rest.len().min(BLOCK - self.open_len));
            self.open.update(part);
            self.open_len += part.len();
            if self.open_len == BLOCK {
                self.blocks.push(self.open.digest());
                self.open.reset();
                self.open_len = 0;
            }
            rest = next;
        }
    }

    /// Bytes taken.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if no byte was taken.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes after the last newline.
    pub fn partial(&self) -> u64 {
        self.len - self.line_start
    }

    /// XXH3 of the first bytes, at most [`HEAD`].
    pub fn head_hash(&self) -> u64 {
        xxh3_64(&self.head)
    }

    /// XXH3 of the last bytes, at most [`TAIL`].
    pub fn tail_hash(&self) -> u64 {
        xxh3_64(&self.tail)
    }

    /// XXH3 of each complete block of [`BLOCK`] bytes.
    pub fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// True if head and tail still stand in `file` where they stood. Errors are those of reading it.
    pub fn holds(&self, file: &File) -> io::Result<bool> {
        Ok(bytes_at(file, self.tail_start(), self.tail.len())? == self.tail
            && (self.len <= TAIL as u64 || bytes_at(file, 0, self.head.len())? == self.head))
    }

    fn tail_start(&self) -> u64 {
        self.len - self.tail.len() as u64
    }

    /// Length of the common prefix of old and new bytes, when everything before block `number` is the same and
    /// `new` are the file's bytes from that block on: to the byte inside the kept tail, else to the block.
    fn common_prefix(&self, number: usize, new: &[u8]) -> u64 {
        let block = number as u64 * BLOCK as u64;
        let tail_start = self.tail_start();
        if let Some(skip) = block.checked_sub(tail_start) {
            let old = self.tail.get(clamp(skip)..).unwrap_or_default();
            return block + common(old, new);
        }
        // The tail begins inside this block: the bytes before it are known by the block's hash only, and are the
        // same exactly if they give that hash together with the tail's own beginning.
        let before = clamp(tail_start - block);
        let (Some(unknown), Some(after), Some(known), Some(hash)) = (
            new.get(..before),
            new.get(before..),
            self.tail.get(..BLOCK.saturating_sub(before)),
            self.blocks.get(number),
        ) else {
            return block;
        };
        let mut hasher = Xxh3::new();
        hasher.update(unknown);
        hasher.update(known);
        if hasher.digest() == *hash { tail_start + common(known, after) } else { block }
    }
}

/// Bytes at the start that are equal in both.
fn common(a: &[u8], b: &[u8]) -> u64 {
    a.iter().zip(b).take_while(|(a, b)| a == b).count() as u64
}

/// A comparison of all remembered bytes with a file, block by block, that can be interrupted at any block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    next: usize,
}

/// How far a [`Scan`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// The blocks so far are the same; more are to be compared.
    More,
    /// All remembered bytes stand in the file.
    Same,
    /// They do not.
    Differs {
        /// Length of the common prefix, not yet stepped back to a line's end.
        prefix: u64,
    },
}

impl Scan {
    /// Compares at most `limit` blocks. Errors are those of reading `file`.
    pub fn step(&mut self, print: &Fingerprint, file: &File, limit: usize) -> io::Result<Scanned> {
        for _ in 0..limit {
            let Some(hash) = print.blocks.get(self.next) else {
                return self.rest(print, file);
            };
            let bytes = bytes_at(file, self.next as u64 * BLOCK as u64, BLOCK)?;
            if bytes.len() < BLOCK || xxh3_64(&bytes) != *hash {
                return Ok(Scanned::Differs { prefix: print.common_prefix(self.next, &bytes) });
            }
            self.next += 1;
        }
        Ok(Scanned::More)
    }

    /// The bytes after the last complete block, which the kept tail always covers.
    fn rest(self, print: &Fingerprint, file: &File) -> io::Result<Scanned> {
        let bytes = bytes_at(file, self.next as u64 * BLOCK as u64, print.open_len)?;
        let prefix = print.common_prefix(self.next, &bytes);
        Ok(if prefix >= print.len { Scanned::Same } else { Scanned::Differs { prefix } })
    }
}

/// The end of the last whole line within the first `prefix` bytes of `file`. Errors are those of reading it.
pub fn line_floor(file: &File, prefix: u64) -> io::Result<u64> {
    let mut end = prefix;
    while end > 0 {
        let start = end.saturating_sub(BLOCK as u64);
        let bytes = bytes_at(file, start, clamp(end - start))?;
        if let Some(newline) = memchr::memrchr(b'\n', &bytes) {
            return Ok(start + newline as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn lines(n: usize, seed: u64) -> Vec<u8> {
        let mut x = seed | 1;
        let mut out = Vec::new();
        while out.len() < n {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            out.extend_from_slice(format!("{x:020}\n").as_bytes());
        }
        out.truncate(n);
        out
    }

    fn scan(old: &[u8], new: &[u8], cut: usize) -> Scanned {
        let mut print = Fingerprint::default();
        for part in old.chunks(cut) {
            print.take(part);
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(new).unwrap();
        Scan::default().step(&print, &file, usize::MAX).unwrap()
    }

    #[test]
    fn any_chunking_gives_the_same_memory() {
        let bytes = lines(3 * BLOCK + 77, 1);
        let mut whole = Fingerprint::default();
        whole.take(&bytes);
        for cut in [1000, 4096, BLOCK - 1, BLOCK, BLOCK + 1] {
            let mut print = Fingerprint::default();
            bytes.chunks(cut).for_each(|part| print.take(part));
            assert_eq!(print.blocks(), whole.blocks(), "{cut}");
            assert_eq!((print.head_hash(), print.tail_hash()), (whole.head_hash(), whole.tail_hash()));
            assert_eq!((print.len(), print.partial()), (whole.len(), whole.partial()));
        }
    }

    #[test]
    fn a_change_inside_the_tail_is_found_to_the_byte() {
        for size in [10, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 5, 2 * BLOCK, 5 * BLOCK + 999] {
            let old = lines(size, 2);
            for back in [1, 5, 700, BLOCK - 3, BLOCK] {
                let Some(at) = size.checked_sub(back) else { continue };
                let mut new = old.clone();
                new[at] ^= 1;
                assert_eq!(scan(&old, &new, 3000), Scanned::Differs { prefix: at as u64 }, "{size} {back}");
                assert_eq!(scan(&old, &old[..at], 3000), Scanned::Differs { prefix: at as u64 }, "{size} {back}");
            }
            assert_eq!(scan(&old, &old, 5000), Scanned::Same);
            assert_eq!(scan(&old, &[&old[..], b"more"].concat(), 5000), Scanned::Same);
        }
    }

    #[test]
    fn a_change_before_the_tail_is_found_to_the_block() {
        let old = lines(5 * BLOCK, 3);
        for at in [0, 1, BLOCK, BLOCK + 9, 4 * BLOCK - 1] {
            let mut new = old.clone();
            new[at] ^= 1;
            let block = (at / BLOCK * BLOCK) as u64;
            assert_eq!(scan(&old, &new, 9000), Scanned::Differs { prefix: block }, "{at}");
        }
    }

    #[test]
    fn a_line_floor_may_be_far_back() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"one\n").unwrap();
        file.write_all(&vec![b'x'; 3 * BLOCK]).unwrap();
        assert_eq!(line_floor(&file, 3 * BLOCK as u64).unwrap(), 4);
        assert_eq!(line_floor(&file, 4).unwrap(), 4);
        assert_eq!(line_floor(&file, 3).unwrap(), 0);
        assert_eq!(line_floor(&file, 0).unwrap(), 0);
    }
}
