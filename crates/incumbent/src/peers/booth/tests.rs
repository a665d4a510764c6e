//! What becomes of a voter whose disk fails.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::ratify::{Ballot, Reply};
use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use super::*;

const ME: NodeId = NodeId::given(1);
const LINEAGE: u128 = 17;

/// Longer than a disk that has failed needs to be opened again, on the slowest day.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn a_disk_that_was_full_once_does_not_silence_its_voter_for_ever() {
    let folder = tempfile::tempdir().expect("folder");
    let stand = Stand::new(&folder.path().join("promises"));
    let [low, middle, high] = ballots();
    stand.put(1, heed(&[(&Key::Electorate, middle)]));
    let first = stand.answers.recv_timeout(PATIENCE).expect("an answer");
    assert!(matches!(first, Message::Answer { id: 1, .. }), "{first:?}");

    let other = Key::Election("billing".parse().expect("a name"));
    stand.trouble.is_full.store(true, Ordering::SeqCst);
    stand.put(2, heed(&[(&Key::Electorate, high)]));
    let begun = std::time::Instant::now();
    let (mut id, mut heard) = (2, None);
    while heard.is_none() && begun.elapsed() < PATIENCE {
        id += 1;
        stand.put(id, heed(&[(&other, low), (&Key::Electorate, low)]));
        heard = stand.answers.recv_timeout(REOPEN / 5).ok();
    }
    assert!(!stand.trouble.is_full.load(Ordering::SeqCst), "the disk did not fail");
    let Some(Message::Answer { id: answered, replies, .. }) = heard else {
        panic!("one failure has silenced the voter: {heard:?}");
    };
    assert_ne!(answered, 2, "an answer whose promise was not kept");
    // A promise of now, which is on the disk, and one of before, which is still there.
    let kept = matches!(replies.as_slice(), [Reply::Shown(None), Reply::Overruled(_)]);
    assert!(kept, "it forgot: {replies:?}");
    stand.put(id + 1, What::Inventory);
    let lineage = std::iter::from_fn(|| stand.answers.recv_timeout(PATIENCE).ok());
    let lineage = lineage.into_iter().find_map(|message| match message {
        Message::Registers { inventory: Inventory::Keys { lineage, .. }, .. } => lineage,
        _ => None,
    });
    assert_eq!(lineage, Some(Lineage::drawn(LINEAGE)), "it is another file");
}

#[test]
fn after_a_failed_sync_the_voter_says_nothing_and_its_file_is_not_believed_again() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("promises");
    // Another one in each run: it is noted for the whole machine which file cannot be believed.
    let lineage = getrandom::u64().expect("randomness").into();
    let stand = Stand::of(&path, lineage);
    let [low, middle, _] = ballots();
    stand.put(1, heed(&[(&Key::Electorate, low)]));
    stand.answers.recv_timeout(PATIENCE).expect("an answer");
    stand.trouble.cannot_sync.store(true, Ordering::SeqCst);
    stand.put(2, heed(&[(&Key::Electorate, middle)]));
    let ended = stand.answers.recv_timeout(PATIENCE).expect_err("a vote that may be lost");
    assert_eq!(ended, RecvTimeoutError::Disconnected, "it waits for the disk and votes again");
    // The disk is well again, and the file shows what may be in the page cache only.
    let error = Disk::open(&path, ME, LINEAGE).expect_err("believed").to_string();
    assert!(error.contains("a sync of this file failed"), "{error}");
    for note in crate::peers::disk::notes_of(&path, lineage) {
        std::fs::remove_file(note).expect("noted there");
    }
}

#[test]
fn a_voter_whose_disk_hangs_collects_a_bounded_number_of_bytes() {
    let folder = tempfile::tempdir().expect("folder");
    let stand = Stand::new(&folder.path().join("promises"));
    let mut ballot = ballots()[0];
    let hangs = stand.trouble.hangs.lock().expect("no panic");
    for id in 0..100 {
        ballot = ballot.next();
        let sheet = Value::Sheet(vec![0; 4 << 20]);
        stand.put(id, What::Asks(vec![(Key::Electorate, Ask::Accept(ballot, sheet))]));
    }
    drop(hangs);
    // What was dropped is asked again, and there is room then.
    let first = stand.answers.recv_timeout(PATIENCE).expect("an answer");
    assert!(matches!(first, Message::Answer { id: 0, .. }), "{first:?}");
    drop(stand.booth);
    let answered = 1 + stand.answers.into_iter().count();
    assert!((8..16).contains(&answered), "{answered} questions were kept");
}

#[test]
fn a_voter_whose_disk_hangs_collects_a_bounded_number_of_questions() {
    let folder = tempfile::tempdir().expect("folder");
    let stand = Stand::new(&folder.path().join("promises"));
    let mut ballot = ballots()[0];
    let hangs = stand.trouble.hangs.lock().expect("no panic");
    for id in 0..20_000 {
        ballot = ballot.next();
        stand.put(id, heed(&[(&Key::Electorate, ballot)]));
    }
    drop(hangs);
    drop(stand.booth);
    let answered = stand.answers.into_iter().count();
    // What waits, and what the voter had taken already.
    assert!((1..=QUEUE + BATCH + 1).contains(&answered), "{answered} questions were kept");
}

/// A voter on a disk that can fail.
struct Stand {
    electorate: Electorate,
    booth: Booth,
    answers: Receiver<Message>,
    trouble: Arc<Trouble>,
}

impl Stand {
    fn new(path: &Path) -> Stand {
        Stand::of(path, LINEAGE)
    }

    fn of(path: &Path, lineage: u128) -> Stand {
        let (disk, trouble) = frail(path, lineage);
        let founded = BTreeMap::from([(ME, Lineage::drawn(lineage))]);
        let electorate = Electorate::founded(founded).confirmed();
        let (say, answers) = channel();
        let answer = move |_, message| drop(say.send(message));
        let booth =
            Booth::open(ME, electorate.clone(), disk, Numbers::default(), answer).expect("a voter");
        Stand { electorate, booth, answers, trouble }
    }

    fn put(&self, id: u64, what: What) {
        self.booth.put(Question { from: ME, id, electorate: self.electorate.clone(), what });
    }
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

/// A disk that can fail.
fn frail(path: &Path, lineage: u128) -> (Disk, Arc<Trouble>) {
    let open = || -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    };
    let file = FileBackend::new(open().expect("a file")).expect("a backend");
    let trouble = Arc::<Trouble>::default();
    let backend = Frail { file, trouble: Arc::clone(&trouble) };
    (Disk::on(backend, path, ME, lineage).expect("a disk"), trouble)
}

/// What is wrong with a disk.
#[derive(Debug, Default)]
struct Trouble {
    /// The next write finds no room.
    is_full: AtomicBool,
    /// The next sync fails.
    cannot_sync: AtomicBool,
    /// While this is locked nothing is written.
    hangs: Mutex<()>,
}

#[derive(Debug)]
struct Frail {
    file: FileBackend,
    trouble: Arc<Trouble>,
}

impl Frail {
    fn room(&self) -> io::Result<()> {
        drop(self.trouble.hangs.lock().expect("no panic"));
        if self.trouble.is_full.swap(false, Ordering::SeqCst) {
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
        if self.trouble.cannot_sync.swap(false, Ordering::SeqCst) {
            return Err(io::Error::other("input/output error"));
        }
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
