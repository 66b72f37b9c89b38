//! What runtimes, editors and log rotators do to a transcript.

use std::{
    fs::{self, OpenOptions},
    io::{Seek as _, SeekFrom, Write as _},
    os::unix::fs::FileExt as _,
    time::{Duration, SystemTime},
};

use cutline::source::{Change, Status};

use crate::rig::{Rig, appender, lines};

#[test]
fn one_line_appended_is_one_chunk() {
    let mut rig = Rig::with(&lines(3));
    rig.append("{\"n\":3}\n");
    rig.wake();
    assert_eq!(rig.fresh(), 8);
    rig.require_cold_read();
    assert!(rig.resets.is_empty());
}

#[test]
fn half_a_line_and_later_the_rest() {
    let mut rig = Rig::with(&lines(3));
    rig.append("{\"n\":");
    rig.wake();
    rig.append("3}\n");
    rig.later(250);
    rig.require_cold_read();
    assert_eq!(rig.status(), &Status::Live);
}

#[test]
fn an_unterminated_line_is_torn_after_five_seconds_of_silence() {
    let mut rig = Rig::with(&lines(3));
    rig.append("{\"n\":");
    rig.run(4_500);
    assert_eq!(rig.status(), &Status::Live);
    rig.run(1_000);
    assert_eq!(rig.status(), &Status::Torn { bytes: 5 });
    // The next record is glued to the stub.
    rig.append("{\"n\":4}\n");
    rig.wake();
    assert_eq!(rig.status(), &Status::Live);
    rig.require_cold_read();
}

#[test]
fn empty_lines_and_carriage_returns_are_bytes_like_others() {
    let mut rig = Rig::with(b"\xef\xbb\xbf{}\r\n\n\n{}\r\n");
    rig.append(b"\n\r\n\0\0\xff\xe2\x80\xa8\n");
    rig.settle();
    assert!(rig.resets.is_empty());
}

#[test]
fn many_lines_in_one_write_and_many_writes() {
    let mut rig = Rig::with(&lines(1));
    rig.append(lines(200));
    rig.wake();
    rig.require_cold_read();
    let mut writer = appender(&rig.path);
    for (n, line) in lines(20_000).split_inclusive(|b| *b == b'\n').enumerate() {
        writer.write_all(line).unwrap();
        if n % 1_000 == 0 {
            rig.later(20);
        }
    }
    rig.settle();
    assert!(rig.resets.is_empty());
}

#[test]
fn truncated_to_nothing_then_appended() {
    let mut rig = Rig::with(&lines(10));
    rig.truncate(0);
    rig.wake();
    assert_eq!((rig.view.len(), rig.status()), (lines(10).len(), &Status::Rewriting));
    rig.later(100);
    assert!(rig.view.is_empty());
    assert_eq!(rig.resets, [(0, Change::Truncated)]);
    rig.append(lines(2));
    rig.later(250);
    rig.require_cold_read();
}

#[test]
fn truncated_in_a_line_then_appended_beyond() {
    let all = lines(10);
    let mut rig = Rig::with(&all);
    let line = all.len() / 10;
    rig.truncate(5 * line as u64 + 3);
    rig.append("x\n".repeat(500));
    rig.run(300);
    rig.require_cold_read();
    assert_eq!(rig.resets, [(5 * line as u64, Change::Rewritten)]);
}

#[test]
fn rewritten_in_place_with_the_same_size_and_time() {
    let mut rig = Rig::with(b"first\nAAAA\nBBBB\n");
    let time = fs::metadata(&rig.path).unwrap().modified().unwrap();
    let file = OpenOptions::new().write(true).open(&rig.path).unwrap();
    file.write_all_at(b"CCCC", 6).unwrap();
    file.set_modified(time).unwrap();
    rig.run(300);
    rig.require_cold_read();
    assert_eq!(rig.resets, [(6, Change::Rewritten)]);
}

#[test]
fn rewritten_in_place_larger() {
    let mut rig = Rig::with(&lines(10));
    fs::write(&rig.path, b"x\n".repeat(1_000)).unwrap();
    rig.run(300);
    rig.require_cold_read();
    assert_eq!(rig.resets, [(0, Change::Rewritten)]);
}

/// Claude Code withdraws a record: it cuts the file there, writes the following bytes back, and goes on appending.
#[test]
fn a_tombstone_is_found_to_the_line() {
    for before in [100, 10_000] {
        let all = lines(before + 50);
        let start: usize = all.split_inclusive(|b| *b == b'\n').take(before).map(<[u8]>::len).sum();
        let end = start + all[start..].iter().position(|b| *b == b'\n').unwrap() + 1;
        for appended in [0, 10, 500] {
            let mut rig = Rig::with(&all);
            let mut file = OpenOptions::new().write(true).open(&rig.path).unwrap();
            file.set_len(start as u64).unwrap();
            file.seek(SeekFrom::Start(start as u64)).unwrap();
            file.write_all(&all[end..]).unwrap();
            rig.append("y\n".repeat(appended));
            rig.run(300);
            rig.require_cold_read();
            assert_eq!(rig.resets, [(start as u64, Change::Rewritten)]);
        }
    }
}

/// Emptied and written again in pieces: no moment of it is shown before it is whole.
#[test]
fn a_rewrite_in_pieces_is_never_seen_empty() {
    for step in [5, 30, 99] {
        let old = lines(500);
        let new = b"z\n".repeat(3_000);
        let mut rig = Rig::with(&old);
        rig.truncate(0);
        for part in new.chunks(new.len() / 10) {
            rig.later(step);
            assert_eq!(rig.view, old, "held while it is being written");
            rig.append(part);
        }
        rig.run(300);
        rig.require_cold_read();
        assert_eq!(rig.resets.len(), 1);
    }
}

#[test]
fn a_rewrite_of_the_same_bytes_changes_nothing() {
    let old = lines(500);
    let mut rig = Rig::with(&old);
    rig.truncate(0);
    for part in old.chunks(1_000) {
        rig.later(30);
        rig.append(part);
    }
    rig.append("more\n");
    rig.settle();
    assert!(rig.resets.is_empty());
    assert_eq!(rig.fresh(), 5);
}

#[test]
fn a_rewrite_without_end_is_shown_after_two_seconds() {
    let mut rig = Rig::with(&lines(500));
    rig.truncate(0);
    for _ in 0..25 {
        rig.append("w\n");
        rig.later(90);
    }
    assert_eq!(rig.resets.len(), 1);
    rig.require_cold_read();
}

#[test]
fn replaced_by_the_same_content_nothing_is_read_again() {
    for n in [10, 20_000] {
        let mut rig = Rig::with(&lines(n));
        rig.replace(lines(n));
        rig.settle();
        rig.append("on\n");
        rig.later(250);
        assert_eq!(rig.fresh(), 3);
        rig.require_cold_read();
        assert!(rig.resets.is_empty());
    }
}

#[test]
fn replaced_by_longer_shorter_and_other_content() {
    let old = lines(100);
    let half = lines(50).len();
    for (new, resets) in [
        (lines(200), vec![]),
        (lines(50), vec![(half as u64, Change::Replaced)]),
        (b"other\n".repeat(7), vec![(0, Change::Replaced)]),
        (b"other\n".repeat(7_000), vec![(0, Change::Replaced)]),
        (Vec::new(), vec![(0, Change::Replaced)]),
        ([&old[..half], b"new\n"].concat(), vec![(half as u64, Change::Replaced)]),
    ] {
        let mut rig = Rig::with(&old);
        rig.replace(&new);
        rig.run(300);
        rig.require_cold_read();
        assert_eq!(rig.resets, resets);
    }
}

/// Head and tail are the same, the difference is in the middle of the new file.
#[test]
fn replaced_by_a_file_that_differs_in_the_middle_only() {
    let mut new = lines(20_000);
    let mut rig = Rig::with(&new);
    let middle = new.len() / 2;
    new[middle] ^= 1;
    rig.replace(&new);
    rig.run(300);
    rig.require_cold_read();
    assert_eq!(rig.resets.len(), 1);
}

#[test]
fn replaced_twice_the_last_one_wins() {
    let mut rig = Rig::with(&lines(100));
    rig.replace("one\n");
    rig.later(50);
    rig.replace("two\n");
    rig.run(300);
    assert_eq!(rig.view, b"two\n");
    assert_eq!(rig.resets.len(), 1);
}

/// Codex keeps its descriptor, so after a rename over the path it writes on where nobody looks.
#[test]
fn a_writer_on_the_old_file_raises_the_alarm() {
    let mut rig = Rig::with(&lines(100));
    let mut writer = appender(&rig.path);
    rig.replace(lines(100));
    writer.write_all(b"lost one\n").unwrap();
    rig.run(1_000);
    assert_eq!(rig.stray, b"lost one\n");
    writer.write_all(b"lost two\n").unwrap();
    rig.run(1_000);
    assert_eq!(rig.stray, b"lost one\nlost two\n");
    assert_eq!(rig.status(), &Status::StrayWriter { bytes: 18 });
    rig.require_cold_read();
}

/// Rows appended during a compacting replace stand in the new file too: nothing is lost, nobody is alarmed.
#[test]
fn rows_copied_into_the_replacement_are_not_stray() {
    let mut rig = Rig::with(&lines(100));
    rig.append("late row\n");
    rig.replace([lines(40), b"late row\n".to_vec()].concat());
    rig.run(7_000);
    rig.require_cold_read();
    assert!(rig.stray.is_empty());
}

/// Most of a large file was not read yet when it was replaced: that is nobody's late writing.
#[test]
fn replaced_during_the_first_reading() {
    let mut rig = Rig::new();
    fs::write(&rig.path, b"0123456789abcde\n".repeat(1 << 20)).unwrap();
    for feed in rig.follower.wake(0).feeds {
        rig.fold(feed);
    }
    rig.replace(lines(10));
    rig.run(7_000);
    rig.require_cold_read();
    assert!(rig.stray.is_empty());
}

#[test]
fn moved_away_and_back_is_the_same_file() {
    let mut rig = Rig::with(&lines(100));
    let away = rig.dir.path().join("away");
    fs::rename(&rig.path, &away).unwrap();
    rig.run(200);
    assert_eq!(rig.status(), &Status::Gone);
    crate::rig::append(&away, "meanwhile\n");
    fs::rename(&away, &rig.path).unwrap();
    rig.run(7_000);
    rig.require_cold_read();
    assert!(rig.stray.is_empty() && rig.resets.is_empty());
}

#[test]
fn deleted_the_view_stays_and_made_anew_it_resumes() {
    let old = lines(100);
    let mut rig = Rig::with(&old);
    fs::remove_file(&rig.path).unwrap();
    rig.run(5_000);
    assert_eq!((&rig.view, rig.status()), (&old, &Status::Gone));
    fs::write(&rig.path, "anew\n").unwrap();
    rig.run(300);
    rig.require_cold_read();
    assert_eq!(rig.status(), &Status::Live);
}

/// Delete and create may give the same device and inode, with more bytes than were read.
#[test]
fn a_file_with_the_old_number_is_another_file() {
    for _ in 0..5 {
        let mut rig = Rig::new();
        fs::write(&rig.path, lines(100)).unwrap();
        rig.wake();
        fs::remove_file(&rig.path).unwrap();
        fs::write(&rig.path, b"q\n".repeat(5_000)).unwrap();
        rig.run(300);
        rig.require_cold_read();
        assert_eq!(rig.resets.len(), 1);
    }
}

/// Codex sets the time of change itself; clocks jump.
#[test]
fn times_set_by_hand_have_no_effect() {
    let mut rig = Rig::with(&lines(10));
    for (n, seconds) in [1_000_000, 4_000_000_000, 5].into_iter().enumerate() {
        rig.append(format!("{n}\n"));
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        OpenOptions::new().write(true).open(&rig.path).unwrap().set_modified(time).unwrap();
        rig.later(250);
        rig.require_cold_read();
    }
    rig.settle();
    assert!(rig.resets.is_empty());
}

/// A log rotator copies the file and empties it.
#[test]
fn copied_and_truncated() {
    let mut rig = Rig::with(&lines(100));
    rig.append("last\n");
    fs::copy(&rig.path, rig.dir.path().join("log.jsonl.1")).unwrap();
    rig.truncate(0);
    rig.append("first\n");
    rig.run(300);
    rig.require_cold_read();
}

#[test]
fn growth_during_the_first_reading() {
    let mut rig = Rig::new();
    fs::write(&rig.path, b"0123456789abcde\n".repeat(1 << 20)).unwrap();
    let mut wakes = 0;
    loop {
        let woken = rig.follower.wake(rig.now);
        let more = woken.more;
        let before = rig.view.len();
        for feed in woken.feeds {
            rig.fold(feed);
        }
        assert!(rig.view.len() - before <= 4 << 20, "the caller gets its turn");
        wakes += 1;
        if !more {
            break;
        }
        if wakes <= 10 {
            rig.append(lines(100));
        }
    }
    assert!(wakes >= 4);
    rig.settle();
    assert_eq!(rig.statuses, [Status::Reading, Status::Live]);
    assert_eq!(rig.verified.len(), 1);
    assert!(rig.resets.is_empty());
}

/// A follower that takes a fixed amount at each wake falls behind a fast writer.
#[test]
fn every_wake_reads_to_the_end() {
    let mut rig = Rig::with(b"");
    for _ in 0..5 {
        rig.append(lines(50_000));
        rig.later(250);
        rig.require_cold_read();
    }
}

#[test]
fn an_edit_far_before_the_end_is_found_by_the_sweep() {
    let all = lines(20_000);
    // Found when asked for, and soon after the file was touched without an append.
    for (asked, within) in [(true, 300), (false, 500)] {
        let mut rig = Rig::with(&all);
        let file = OpenOptions::new().write(true).open(&rig.path).unwrap();
        file.write_all_at(b"#", 100_000).unwrap();
        if asked {
            rig.follower.sweep_now();
        }
        rig.run(within);
        rig.require_cold_read();
        assert_eq!(rig.resets.len(), 1);
        assert!(rig.resets[0].0 > 60_000, "{:?}", rig.resets);
    }
}

/// Seen empty, then whole again with the same end: what lies before is not taken on trust.
#[test]
fn a_rewrite_that_ends_as_before_is_compared_whole() {
    let mut all = lines(20_000);
    let mut rig = Rig::with(&all);
    rig.truncate(0);
    rig.later(50);
    all[100_000] ^= 1;
    fs::write(&rig.path, &all).unwrap();
    rig.append("and on\n");
    rig.run(400);
    rig.require_cold_read();
    assert_eq!(rig.resets.len(), 1);
}

/// The follower asks to be woken as often as its rules need it.
#[test]
fn the_pace() {
    let mut rig = Rig::with(&lines(3));
    assert_eq!(rig.wake(), 250, "it has just moved");
    assert_eq!(rig.later(10_000), 500, "it rests");
    rig.truncate(0);
    assert_eq!(rig.wake(), 100, "it is being rewritten");
}

#[test]
fn an_edit_hidden_behind_an_append_is_found_by_the_idle_sweep() {
    let mut rig = Rig::with(&lines(20_000));
    let file = OpenOptions::new().write(true).open(&rig.path).unwrap();
    file.write_all_at(b"#", 100_000).unwrap();
    rig.append("and on\n");
    rig.wake();
    assert!(rig.resets.is_empty(), "nothing of it can be seen yet");
    rig.run(30_000);
    rig.require_cold_read();
    assert_eq!(rig.resets.len(), 1);
}

#[test]
fn a_sweep_that_finds_nothing_says_so() {
    let mut rig = Rig::with(&lines(20_000));
    rig.follower.sweep_now();
    rig.wake();
    assert_eq!(rig.verified, [lines(20_000).len() as u64]);
}
