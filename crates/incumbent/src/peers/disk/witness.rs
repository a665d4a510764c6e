//! Notices when the system may have lost what was written to the file.
//!
//! After a failed sync the system may show pages that are not on the disk: they look whole until the
//! machine loses power. Promises: [`Witness`] remembers that it happened, in this process and, by
//! notes, for later processes until the machine starts again. Then the page cache is gone, and the
//! file holds what was synced. One note is beside the file, where every process finds it that has the
//! file; the other is in memory, because a disk that fails may take no note either.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::ops::Bound;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{BackendError, StorageBackend};

/// Names the running system; another one after each start of the machine.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Where files are kept in memory, for everybody on the machine.
const MEMORY: &str = "/dev/shm";

/// A file whose failures are noticed.
#[derive(Debug)]
pub(super) struct Witness<B> {
    backend: B,
    unsynced: Arc<AtomicBool>,
}

impl<B> Witness<B> {
    /// The flag is set once something may be lost.
    pub(super) const fn new(backend: B, unsynced: Arc<AtomicBool>) -> Self {
        Witness { backend, unsynced }
    }

    /// Nothing is lost where there was no room for it: the caller knows that it was not written.
    fn written(&self, done: io::Result<()>) -> io::Result<()> {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        if done.as_ref().is_err_and(|error| !matches!(error.kind(), QuotaExceeded | StorageFull)) {
            self.unsynced.store(true, Ordering::SeqCst);
        }
        done
    }
}

impl<B: StorageBackend> StorageBackend for Witness<B> {
    fn len(&self) -> io::Result<u64> {
        self.backend.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.backend.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.written(self.backend.set_len(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        let synced = self.backend.sync_data();
        if synced.is_err() {
            self.unsynced.store(true, Ordering::SeqCst);
        }
        synced
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.written(self.backend.write(offset, data))
    }

    fn close(&self) -> io::Result<()> {
        self.backend.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.backend.try_lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.query_lock_range(start, end)
    }
}

/// Where it is noted that a file may not be believed: beside it, and in memory.
pub(in crate::peers) fn notes_of(file: &Path, lineage: u128) -> [PathBuf; 2] {
    let in_memory = format!("{MEMORY}/incumbent-{lineage:032x}.unsynced");
    [file.with_extension("unsynced"), PathBuf::from(in_memory)]
}

/// Notes that the file may not be believed until the machine starts again.
pub(super) fn note(file: &Path, lineage: u128) {
    let [beside, in_memory] = notes_of(file, lineage);
    let boot = boot();
    let is_noted = fs::write(&beside, &boot);
    // Everybody may write there: nothing that is there already is touched, nor followed.
    let mut options = OpenOptions::new();
    let made = options.write(true).create_new(true).mode(0o600).open(&in_memory);
    let made = made.and_then(|mut made| made.write_all(boot.as_bytes()));
    if let (Err(error), Err(other)) = (is_noted, made)
        && other.kind() != io::ErrorKind::AlreadyExists
    {
        tracing::error!(note = %beside.display(), %error, in_memory = %other,
            "cannot note that a sync failed: delete the voter's file before it is started again, or restart the machine");
    }
}

/// The note that says that the file may not be believed. One of before the last start of the machine
/// is removed.
pub(super) fn noted(file: &Path, lineage: u128) -> Option<PathBuf> {
    let [beside, in_memory] = notes_of(file, lineage);
    if is_noted(&beside) {
        return Some(beside);
    }
    // Nobody but the user of the file may say so.
    let owner = |path: &Path| fs::symlink_metadata(path).map(|it| it.uid()).ok();
    let own = owner(&in_memory).is_some_and(|user| user == 0 || Some(user) == owner(file));
    (own && is_noted(&in_memory)).then_some(in_memory)
}

fn is_noted(note: &Path) -> bool {
    let Ok(then) = fs::read_to_string(note) else { return note.exists() };
    let now = boot();
    if then.is_empty() || now.is_empty() || then == now {
        return true;
    }
    fs::remove_file(note).is_err()
}

fn boot() -> String {
    fs::read_to_string(BOOT).unwrap_or_default().trim().to_owned()
}
