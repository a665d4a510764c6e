//! What becomes of a voter whose disk fails.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::ratify::{Ballot, Reply};
use redb::backends::FileBackend;
use redb::{BackendError, Database, StorageBackend};

use super::*;

const ME: NodeId = NodeId::given(1);
const LINEAGE: u128 = 17;

/// Longer than a disk that has failed needs to be opened again, on the slowest day.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn a_disk_that_fails_once_does_not_silence_its_voter_for_ever() {
    let folder = tempfile::tempdir().expect("folder");
    let (disk, is_full) = frail(&folder.path().join("promises"));
    let founded = BTreeMap::from([(ME, Lineage::drawn(LINEAGE))]);
    let electorate = Electorate::founded(founded).confirmed();
    let (say, answers) = channel();
    let answer = move |_, message| drop(say.send(message));
    let booth =
        Booth::open(ME, electorate.clone(), disk, Numbers::default(), answer).expect("a voter");
    let put = |id, what| {
        booth.put(Question { from: ME, id, electorate: electorate.clone(), what });
    };
    let [low, middle, high] = ballots();
    put(1, heed(&[(&Key::Electorate, middle)]));
    let first = answers.recv_timeout(PATIENCE).expect("an answer");
    assert!(matches!(first, Message::Answer { id: 1, .. }), "{first:?}");

    let other = Key::Election("billing".parse().expect("a name"));
    is_full.store(true, Ordering::SeqCst);
    put(2, heed(&[(&Key::Electorate, high)]));
    let begun = std::time::Instant::now();
    let (mut id, mut heard) = (2, None);
    while heard.is_none() && begun.elapsed() < PATIENCE {
        id += 1;
        put(id, heed(&[(&other, low), (&Key::Electorate, low)]));
        heard = answers.recv_timeout(REOPEN / 5).ok();
    }
    assert!(!is_full.load(Ordering::SeqCst), "the disk did not fail");
    let Some(Message::Answer { id: answered, replies, .. }) = heard else {
        panic!("one failure has silenced the voter: {heard:?}");
    };
    assert_ne!(answered, 2, "an answer whose promise was not kept");
    // A promise of now, which is on the disk, and one of before, which is still there.
    let kept = matches!(replies.as_slice(), [Reply::Shown(None), Reply::Overruled(_)]);
    assert!(kept, "it forgot: {replies:?}");
    put(id + 1, What::Inventory);
    let lineage = std::iter::from_fn(|| answers.recv_timeout(PATIENCE).ok());
    let lineage = lineage.into_iter().find_map(|message| match message {
        Message::Registers { inventory: Inventory::Keys { lineage, .. }, .. } => lineage,
        _ => None,
    });
    assert_eq!(lineage, Some(Lineage::drawn(LINEAGE)), "it is another file");
}

fn ballots() -> [Ballot; 3] {
    let me = Incarnation::from_random(7);
    let low = Ballot::first(me);
    let middle = Ballot::after(low, me);
    [low, middle, Ballot::after(middle, me)]
}

fn heed(asks: &[(&Key, Ballot)]) -> What {
    What::Asks(asks.iter().map(|(key, ballot)| ((*key).clone(), Ask::Heed(*ballot))).collect())
}

/// A disk that fails the next time that it is written to, once that is set.
fn frail(path: &Path) -> (Disk, Arc<AtomicBool>) {
    let open = || -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    };
    let file = FileBackend::new(open().expect("a file")).expect("a backend");
    let is_full = Arc::new(AtomicBool::new(false));
    let backend = Frail { file, is_full: Arc::clone(&is_full) };
    let file = Database::builder().create_with_backend(backend).expect("a database");
    (Disk::of(file, path, ME, LINEAGE).expect("a disk"), is_full)
}

#[derive(Debug)]
struct Frail {
    file: FileBackend,
    is_full: Arc<AtomicBool>,
}

impl Frail {
    fn room(&self) -> io::Result<()> {
        if self.is_full.swap(false, Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }
}

impl StorageBackend for Frail {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.room()?;
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.room()?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.room()?;
        self.file.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.file.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.file.try_lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.file.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.file.query_lock_range(start, end)
    }
}
