//! Random programs of everything that can happen to a file, against a cold read.

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    os::unix::fs::FileExt as _,
};

use proptest::prelude::*;

use crate::rig::Rig;

#[derive(Clone, Debug)]
enum Act {
    Append(u8),
    AppendHalf,
    /// One line of that many KiB, so that whole blocks lie before the tail.
    AppendLong(u8),
    /// To this share of 255 of the size.
    Truncate(u8),
    /// One byte at this share of the size.
    Edit(u8),
    /// Emptied and written with one line changed.
    Rewrite(u8),
    Replace(u8),
    ReplaceSame,
    ReplaceLonger,
    ReplaceShorter(u8),
    Delete,
    Recreate,
    Tombstone(u8),
    Wake(u16),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (1..9u8).prop_map(Act::Append),
        3 => Just(Act::AppendHalf),
        2 => (1..150u8).prop_map(Act::AppendLong),
        1 => any::<u8>().prop_map(Act::Truncate),
        2 => any::<u8>().prop_map(Act::Edit),
        1 => any::<u8>().prop_map(Act::Rewrite),
        1 => (0..9u8).prop_map(Act::Replace),
        1 => Just(Act::ReplaceSame),
        1 => Just(Act::ReplaceLonger),
        1 => any::<u8>().prop_map(Act::ReplaceShorter),
        1 => Just(Act::Delete),
        1 => Just(Act::Recreate),
        3 => any::<u8>().prop_map(Act::Tombstone),
        10 => prop_oneof![1..20u16, 90..600u16, Just(6_000u16)].prop_map(Act::Wake),
    ]
}

struct Program {
    rig: Rig,
    serial: u32,
}

impl Program {
    fn lines(&mut self, n: u8) -> Vec<u8> {
        (0..n).flat_map(|_| self.line(0)).collect()
    }

    fn line(&mut self, kib: usize) -> Vec<u8> {
        self.serial += 1;
        format!("line {} {}\n", self.serial, "x".repeat(kib << 10)).into_bytes()
    }

    /// What the file has, `None` if it is not there.
    fn bytes(&self) -> Option<Vec<u8>> {
        fs::read(&self.rig.path).ok()
    }

    fn run(&mut self, act: &Act) {
        let share = |part: u8, len: usize| len * usize::from(part) / 256;
        if let Act::Wake(ms) = act {
            self.rig.later(u64::from(*ms));
            return;
        }
        let old = match (self.bytes(), act) {
            (Some(old), _) => old,
            (None, Act::Recreate | Act::Append(_)) => Vec::new(),
            (None, _) => return,
        };
        match *act {
            Act::Append(n) => {
                let lines = self.lines(n);
                self.rig.append(lines);
            }
            Act::AppendHalf => {
                let mut line = self.line(0);
                line.pop();
                self.rig.append(line);
            }
            Act::AppendLong(kib) => {
                let line = self.line(kib.into());
                self.rig.append(line);
            }
            Act::Truncate(part) => self.rig.truncate(share(part, old.len()) as u64),
            Act::Edit(part) => {
                let at = share(part, old.len());
                if let Some(byte) = old.get(at) {
                    let file = OpenOptions::new().write(true).open(&self.rig.path).unwrap();
                    file.write_all_at(&[byte ^ 1], at as u64).unwrap();
                }
            }
            Act::Rewrite(part) => {
                let mut new = old.clone();
                if let Some(byte) = new.get_mut(share(part, old.len())) {
                    *byte = b'?';
                }
                fs::write(&self.rig.path, new).unwrap();
            }
            Act::Replace(n) => {
                let lines = self.lines(n);
                self.rig.replace(lines);
            }
            Act::ReplaceSame => self.rig.replace(old),
            Act::ReplaceLonger => {
                let new = [old, self.lines(3)].concat();
                self.rig.replace(new);
            }
            Act::ReplaceShorter(part) => self.rig.replace(&old[..share(part, old.len())]),
            Act::Delete => fs::remove_file(&self.rig.path).unwrap(),
            Act::Recreate => {
                let lines = self.lines(4);
                drop(fs::remove_file(&self.rig.path));
                fs::write(&self.rig.path, lines).unwrap();
            }
            Act::Tombstone(part) => {
                let start = old.len().saturating_sub(1 + share(part, old.len().min(60_000)));
                let start = old[..start].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
                let end = old[start..].iter().position(|b| *b == b'\n').map_or(old.len(), |at| start + at + 1);
                self.rig.truncate(start as u64);
                let mut file = OpenOptions::new().append(true).open(&self.rig.path).unwrap();
                file.write_all(&old[end..]).unwrap();
            }
            Act::Wake(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_folded_feeds_are_a_cold_read(acts in prop::collection::vec(act(), 1..40)) {
        let mut program = Program { rig: Rig::new(), serial: 0 };
        for act in &acts {
            program.run(act);
        }
        if program.bytes().is_some() {
            program.rig.settle();
        } else {
            program.rig.run(3_000);
            program.run(&Act::Recreate);
            program.rig.settle();
        }
    }
}
