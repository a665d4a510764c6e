//! The file in which a voter keeps its promises.
//!
//! Assumes: a local disk whose `fsync` means what it says.
//! Promises: when [`Disk::keep`] returns, what it was given is there after a crash of the process or
//! of the machine; if it returns an error, either all of it is there or nothing. One process at a
//! time has the file open.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::voter::Entry;
use incumbent_protocol::ratify::{Electorate, Slot};
use redb::backends::FileBackend;
use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::message::{Key, Value};
use crate::error::Error;

mod witness;

use witness::Witness;

#[cfg(test)]
pub(super) use witness::notes_of;

/// Registers, by key.
const SLOTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("slots");

/// Everything there is only one of.
const ONES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("ones");

const ELECTORATE: &str = "electorate";
const NODE: &str = "node";
const LINEAGE: &str = "lineage";

/// How long a process that ends may take to let go of its file.
const ENDING: Duration = Duration::from_secs(1);

/// The open file.
#[derive(Debug)]
pub(super) struct Disk {
    file: Database,
    path: PathBuf,
    place: String,
    lineage: u128,
    /// Whether something that was written may be lost.
    unsynced: Arc<AtomicBool>,
}

impl Disk {
    /// Opens the file of a node, or makes it. Waits for a moment if a process that has it open is
    /// ending.
    pub(super) fn open(path: &Path, node: NodeId, fresh_lineage: u128) -> Result<Disk, Error> {
        let trouble = |problem: String| Error::Open { place: path.display().to_string(), problem };
        let unsynced = Arc::<AtomicBool>::default();
        let pause = || std::thread::sleep(ENDING / 100);
        let file = create(path, &unsynced, pause).map_err(|error| {
            trouble(match error {
                DatabaseError::DatabaseAlreadyOpen => {
                    "another process votes with this file: give each its own address and folder"
                        .to_owned()
                }
                error => error.to_string(),
            })
        })?;
        Disk::of(file, unsynced, path, node, fresh_lineage)
    }

    /// The file of a node, kept in something else than a plain file.
    #[cfg(test)]
    pub(super) fn on(
        backend: impl StorageBackend,
        path: &Path,
        node: NodeId,
        fresh_lineage: u128,
    ) -> Result<Disk, Error> {
        let unsynced = Arc::default();
        let file = begin(backend, &unsynced);
        let file = file.map_err(|error| Error::Store(format!("{}: {error}", path.display())))?;
        Disk::of(file, unsynced, path, node, fresh_lineage)
    }

    /// The file of a node, once it is open.
    fn of(
        file: Database,
        unsynced: Arc<AtomicBool>,
        path: &Path,
        node: NodeId,
        fresh_lineage: u128,
    ) -> Result<Disk, Error> {
        let place = path.display().to_string();
        let trouble = |problem: String| Error::Open { place: place.clone(), problem };
        let (path, lineage) = (path.to_owned(), known_lineage(&file).unwrap_or(fresh_lineage));
        let mut disk = Disk { file, path, place: place.clone(), lineage, unsynced };
        if let Some(note) = witness::noted(&disk.path, disk.lineage) {
            return Err(trouble(format!(
                "a sync of this file failed, so its last promises may not be on the disk: check the disk and restart the \
                 machine; or remove the voter, delete this file and {}, and add the voter again",
                note.display()
            )));
        }
        let settled = disk.settle(node);
        if settled.is_err() {
            disk.is_unsynced();
        }
        let (owner, lineage) = settled.map_err(|error| trouble(error.to_string()))?;
        if owner != node {
            return Err(trouble(format!(
                "it holds the promises of node {owner}, and this is {node}: a node keeps its own file"
            )));
        }
        disk.lineage = lineage;
        Ok(disk)
    }

    /// Whether something that was written may be lost though the file shows it, so that it must not
    /// be believed. Notes it for processes to come.
    pub(super) fn is_unsynced(&self) -> bool {
        let unsynced = self.unsynced.load(Ordering::SeqCst);
        if unsynced {
            witness::note(&self.path, self.lineage);
        }
        unsynced
    }

    /// Which file it is: another number than before means that the promises of before are lost.
    pub(super) const fn lineage(&self) -> u128 {
        self.lineage
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Everything that was kept.
    pub(super) fn entries(&self) -> Result<Vec<Entry<Key, Value>>, Error> {
        self.read().map_err(|error| self.corrupt(&error.to_string()))?
    }

    /// Keeps these entries, for good, before it returns.
    pub(super) fn keep<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a Entry<Key, Value>>,
    ) -> Result<(), Error> {
        let trouble = |error: redb::Error| Error::Store(format!("{}: {error}", self.place));
        self.write(entries).map_err(trouble)
    }

    /// Makes the tables; tells whose file it is, and its lineage.
    fn settle(&self, node: NodeId) -> Result<(NodeId, u128), redb::Error> {
        let work = self.file.begin_write()?;
        let found = {
            work.open_table(SLOTS)?;
            let mut ones = work.open_table(ONES)?;
            let number = |ones: &redb::Table<'_, &str, &[u8]>, key| {
                let read = |guard: redb::AccessGuard<'_, &[u8]>| {
                    guard.value().try_into().map(u128::from_be_bytes).ok()
                };
                ones.get(key).map(|found| found.and_then(read))
            };
            if let (Some(owner), Some(lineage)) = (number(&ones, NODE)?, number(&ones, LINEAGE)?) {
                (NodeId::given(owner), lineage)
            } else {
                ones.insert(NODE, node.number().to_be_bytes().as_slice())?;
                ones.insert(LINEAGE, self.lineage.to_be_bytes().as_slice())?;
                (node, self.lineage)
            }
        };
        work.commit()?;
        Ok(found)
    }

    fn read(&self) -> Result<Result<Vec<Entry<Key, Value>>, Error>, redb::Error> {
        let look = self.file.begin_read()?;
        let mut entries = Vec::new();
        let ones = look.open_table(ONES)?;
        if let Some(found) = ones.get(ELECTORATE)? {
            match self.decoded::<Electorate>(found.value()) {
                Ok(electorate) => entries.push(Entry::Electorate(electorate)),
                Err(error) => return Ok(Err(error)),
            }
        }
        for row in look.open_table(SLOTS)?.iter()? {
            let (key, slot) = row?;
            match (self.decoded::<Key>(key.value()), self.decoded::<Slot<Value>>(slot.value())) {
                (Ok(key), Ok(slot)) => entries.push(Entry::Slot(key, slot)),
                (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
            }
        }
        Ok(Ok(entries))
    }

    fn write<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a Entry<Key, Value>>,
    ) -> Result<(), redb::Error> {
        let work = self.file.begin_write()?;
        {
            let mut slots = work.open_table(SLOTS)?;
            let mut ones = work.open_table(ONES)?;
            for entry in entries {
                match entry {
                    Entry::Electorate(electorate) => {
                        ones.insert(ELECTORATE, encoded(electorate)?.as_slice())?;
                    }
                    Entry::Slot(key, slot) => {
                        slots.insert(encoded(key)?.as_slice(), encoded(slot)?.as_slice())?;
                    }
                }
            }
        }
        work.commit()?;
        Ok(())
    }

    fn decoded<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, Error> {
        postcard::from_bytes(bytes).map_err(|error| self.corrupt(&error.to_string()))
    }

    fn corrupt(&self, problem: &str) -> Error {
        Error::Corrupt { place: self.place.clone(), problem: problem.to_owned() }
    }
}

/// Opens the file, or makes it, if necessary after whoever has it has let go of it. Between two
/// attempts there is a pause.
fn create(
    path: &Path,
    unsynced: &Arc<AtomicBool>,
    mut pause: impl FnMut(),
) -> Result<Database, DatabaseError> {
    let begun = Instant::now();
    loop {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        match begin(FileBackend::new(file)?, unsynced) {
            Err(DatabaseError::DatabaseAlreadyOpen) if begun.elapsed() < ENDING => {
                pause();
            }
            opened => return opened,
        }
    }
}

fn begin(
    backend: impl StorageBackend,
    unsynced: &Arc<AtomicBool>,
) -> Result<Database, DatabaseError> {
    Database::builder().create_with_backend(Witness::new(backend, Arc::clone(unsynced)))
}

/// Which file it is, if it is none that was just made.
fn known_lineage(file: &Database) -> Option<u128> {
    let ones = file.begin_read().ok()?.open_table(ONES).ok()?;
    let kept = ones.get(LINEAGE).ok()??;
    kept.value().try_into().map(u128::from_be_bytes).ok()
}

fn encoded(value: &impl Serialize) -> Result<Vec<u8>, redb::Error> {
    postcard::to_stdvec(value).map_err(|error| redb::Error::Corrupted(error.to_string()))
}

#[cfg(test)]
mod tests {
    use incumbent_protocol::identity::Incarnation;
    use incumbent_protocol::ratify::Ballot;

    use super::*;

    fn entries() -> Vec<Entry<Key, Value>> {
        let ballot = Ballot::first(Incarnation::from_random(7));
        let slot = Slot {
            heeds: Some(ballot.next()),
            accepted: Some((ballot, Value::Sheet(vec![1, 2, 3]))),
        };
        let election = Key::Election("billing".parse().expect("name"));
        vec![
            Entry::Electorate(Electorate::first([1, 2, 3].map(NodeId::given))),
            Entry::Slot(Key::Electorate, Slot::default()),
            Entry::Slot(election, slot),
        ]
    }

    #[test]
    fn what_was_kept_is_there_when_the_file_is_opened_again() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("promises");
        let disk = Disk::open(&path, NodeId::given(1), 17).expect("new");
        disk.keep(&entries()).expect("kept");
        drop(disk);
        let disk = Disk::open(&path, NodeId::given(1), 99).expect("old");
        assert_eq!(disk.entries().expect("read"), entries());
        assert_eq!(disk.lineage(), 17);
    }

    #[test]
    fn the_file_of_another_node_is_refused_and_so_is_a_second_process() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("promises");
        let first = Disk::open(&path, NodeId::given(1), 17).expect("new");
        let error = Disk::open(&path, NodeId::given(1), 17).expect_err("open already").to_string();
        assert!(error.contains("another process votes with this file"), "{error}");
        drop(first);
        let error = Disk::open(&path, NodeId::given(2), 17).expect_err("not mine").to_string();
        assert!(error.contains("promises of node 1"), "{error}");
    }

    #[test]
    fn a_process_that_is_ending_is_waited_for_until_it_lets_go_of_the_file() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("promises");
        let mut predecessor = Some(Disk::open(&path, NodeId::given(1), 17).expect("new"));
        let opened = create(&path, &Arc::default(), || drop(predecessor.take()));
        assert!(opened.is_ok(), "{:?}", opened.err());
    }

    #[test]
    fn after_a_failed_sync_the_file_is_refused_until_the_machine_starts_again() {
        let lineage = u128::from(getrandom::u64().expect("randomness"));
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("promises");
        drop(Disk::open(&path, NodeId::given(1), lineage).expect("new"));
        witness::note(&path, lineage);
        let [beside, in_memory] = notes_of(&path, lineage);
        std::fs::remove_file(in_memory).expect("noted twice");
        let error = Disk::open(&path, NodeId::given(1), 99).expect_err("unsynced").to_string();
        assert!(error.contains("restart the machine"), "{error}");
        std::fs::write(&beside, "another start").expect("written");
        let disk = Disk::open(&path, NodeId::given(1), 99).expect("the machine was started again");
        assert_eq!(disk.lineage(), lineage);
        assert!(!beside.exists());
    }

    #[test]
    fn a_failed_sync_is_known_though_the_disk_took_no_note() {
        let lineage = u128::from(getrandom::u64().expect("randomness"));
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("promises");
        drop(Disk::open(&path, NodeId::given(1), lineage).expect("new"));
        witness::note(&path, lineage);
        let [beside, in_memory] = notes_of(&path, lineage);
        std::fs::remove_file(&beside).expect("as if there had been no room for it");
        let error = Disk::open(&path, NodeId::given(1), 99).expect_err("unsynced").to_string();
        assert!(error.contains(&in_memory.display().to_string()), "{error}");
        std::fs::remove_file(&path).expect("given up");
        Disk::open(&path, NodeId::given(1), 99).expect("another file, which promised nothing");
        std::fs::remove_file(&in_memory).expect("there");
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("promises");
        std::fs::write(&path, "hello").expect("written");
        assert!(Disk::open(&path, NodeId::given(1), 17).is_err());
    }
}
