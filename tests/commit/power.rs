//! Power cuts. From the trace of one commit, every state that a disk may be in when the power goes after any call:
//! a file that was not synced may be empty, cut short or full of zeros, and of the names in a folder that was not
//! synced any beginning of the changes may have come through. Then the next start finds its way.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use cutline::commit::{CommitError, Disk};

use crate::{
    faulty::{Call, Faulty},
    rig::{Rig, listing},
};

/// A change of the names in one folder.
#[derive(Clone, Debug)]
enum Change {
    Put(PathBuf, usize),
    Folder(PathBuf),
    Take(PathBuf),
}

/// Content of one file.
#[derive(Clone, Debug, Default)]
struct Content {
    now: Vec<u8>,
    durable: bool,
    mode: u32,
}

/// A disk as the trace left it: contents by number, and for each folder its changes with how many are durable.
#[derive(Clone, Debug, Default)]
struct Model {
    files: Vec<Content>,
    names: BTreeMap<PathBuf, usize>,
    folders: BTreeMap<PathBuf, (Vec<Change>, usize)>,
}

/// How the content of a file that was not synced comes back.
#[derive(Clone, Copy, Debug)]
enum Torn {
    Empty,
    Half,
    Zeros,
    Whole,
}

impl Model {
    fn change(&mut self, path: &Path, change: Change) {
        self.folders.entry(path.parent().unwrap().to_path_buf()).or_default().0.push(change);
    }

    fn put(&mut self, path: &Path, file: usize) {
        self.names.insert(path.into(), file);
        self.change(path, Change::Put(path.into(), file));
    }

    fn apply(&mut self, call: &Call) {
        let path = call.path.as_path();
        let file = self.names.get(path).copied();
        match call.name {
            "create" => {
                self.files.push(Content { mode: 0o600, ..Content::default() });
                self.put(path, self.files.len() - 1);
            }
            "lock" if file.is_none() => {
                self.files.push(Content { durable: true, mode: 0o600, ..Content::default() });
                self.put(path, self.files.len() - 1);
            }
            "write" => {
                let file = &mut self.files[file.unwrap()];
                file.now.extend(&call.bytes);
                file.durable = false;
            }
            "mode" => self.files[file.unwrap()].mode = 0o640,
            "sync" => self.files[file.unwrap()].durable = true,
            "create-folder" => self.change(path, Change::Folder(path.into())),
            "rename" => {
                let to = call.to.clone().unwrap();
                self.names.remove(path);
                // One step, as the journal of a file system makes it: both names in the same folder.
                assert_eq!(path.parent(), to.parent());
                self.change(path, Change::Take(path.into()));
                self.put(&to, file.unwrap());
            }
            "remove" => {
                self.names.remove(path);
                self.change(path, Change::Take(path.into()));
            }
            "sync-folder" => {
                let (changes, durable) = self.folders.entry(path.into()).or_default();
                *durable = changes.len();
            }
            _ => {}
        }
    }

    /// Every choice of how many changes of each folder came through.
    fn choices(&self) -> Vec<BTreeMap<PathBuf, usize>> {
        let mut all = vec![BTreeMap::new()];
        for (folder, (changes, durable)) in &self.folders {
            let counts = (*durable..=changes.len()).filter(|count| !inside_a_rename(changes, *count));
            let counts: Vec<usize> = counts.collect();
            let with = |choice: &BTreeMap<PathBuf, usize>, count: usize| {
                let mut choice = choice.clone();
                choice.insert(folder.clone(), count);
                choice
            };
            all = all
                .iter()
                .flat_map(|choice| counts.iter().map(|count| with(choice, *count)).collect::<Vec<_>>())
                .collect();
        }
        all
    }

    /// Lays one state out where the trace was made.
    fn lay(&self, choice: &BTreeMap<PathBuf, usize>, torn: Torn) {
        for (folder, (changes, _)) in &self.folders {
            // Folders come in order of their names, so outer ones first. One whose own name was lost is lost.
            for change in &changes[..choice[folder]] {
                if !folder.exists() {
                    continue;
                }
                match change {
                    Change::Folder(path) => fs::create_dir(path).unwrap(),
                    Change::Take(path) => fs::remove_file(path).unwrap(),
                    Change::Put(path, file) => {
                        let Content { now, durable, mode } = &self.files[*file];
                        let bytes = match torn {
                            _ if *durable => now.clone(),
                            Torn::Empty => Vec::new(),
                            Torn::Half => now[..now.len() / 2].to_vec(),
                            Torn::Zeros => vec![0; now.len()],
                            Torn::Whole => now.clone(),
                        };
                        fs::write(path, bytes).unwrap();
                        fs::set_permissions(path, fs::Permissions::from_mode(*mode)).unwrap();
                    }
                }
            }
        }
    }
}

/// The first half of a rename alone is no state.
fn inside_a_rename(changes: &[Change], count: usize) -> bool {
    let taken = count.checked_sub(1).and_then(|last| changes.get(last));
    matches!((taken, changes.get(count)), (Some(Change::Take(_)), Some(Change::Put(..))))
}

/// All states after each call of a commit.
fn states(trace: &[Call], mut body: impl FnMut(&Model, &BTreeMap<PathBuf, usize>, Torn, usize)) -> usize {
    let mut model = Model::default();
    let mut seen = BTreeSet::new();
    for (n, call) in trace.iter().enumerate() {
        model.apply(call);
        for choice in model.choices() {
            for torn in [Torn::Empty, Torn::Half, Torn::Zeros, Torn::Whole] {
                if seen.insert(format!(
                    "{choice:?}{torn:?}{:?}",
                    model.files.iter().map(|file| (file.durable, file.now.len(), file.mode)).collect::<Vec<_>>()
                )) {
                    body(&model, &choice, torn, n);
                }
            }
        }
    }
    seen.len()
}

#[test]
fn after_a_power_cut_a_fork_is_whole_and_known_or_not_there() {
    let rig = Rig::new();
    let disk = Faulty::traced();
    rig.commit_by(&disk, &rig.draft, None).unwrap();
    let trace = disk.trace();
    let (mut finished, mut anew) = (0, 0);
    let all = states(&trace, |model, choice, torn, n| {
        rig.reset();
        model.lay(choice, torn);
        let case = format!("after call {n} ({}), {torn:?}, {choice:?}", trace[n].name);
        let stands = rig.fork().exists();
        if stands {
            assert!(fs::read(rig.fork()).unwrap() == rig.draft.bytes, "{case}: torn under its name");
        }
        assert_eq!(rig.store.receipts().0.len(), usize::from(stands), "{case}: {:?}", rig.receipts());
        match rig.commit_by(&Disk, &rig.draft, None) {
            Ok(_) => {
                assert!(!stands, "{case}");
                anew += 1;
            }
            Err(CommitError::Already { .. }) => {
                assert!(stands, "{case}");
                finished += 1;
            }
            Err(why) => unreachable!("{case}: {why}"),
        }
        // The inode is another one here, as the state was laid out anew; the content tells.
        rig.assert_committed(&case);
    });
    assert!(all > 60 && finished > 3 && anew > 40, "{all} states, {finished} finished, {anew} anew");
}

#[test]
fn what_was_reported_as_committed_survives_a_power_cut() {
    let rig = Rig::new();
    let disk = Faulty::traced();
    let receipt = rig.commit_by(&disk, &rig.draft, None).unwrap();
    let trace = disk.trace();
    let mut model = Model::default();
    for call in &trace {
        model.apply(call);
    }
    for choice in model.choices() {
        rig.reset();
        model.lay(&choice, Torn::Empty);
        assert!(fs::read(rig.fork()).unwrap() == rig.draft.bytes, "{choice:?}");
        assert_eq!(rig.store.receipts().0.first().map(|receipt| &receipt.id), Some(&receipt.id), "{choice:?}");
        assert_eq!(listing(&rig.sessions).len(), 2, "{choice:?}");
    }
}
