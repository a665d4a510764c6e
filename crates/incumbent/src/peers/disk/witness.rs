//! Notices when the system may have lost what was written to the file.
//!
//! After a failed sync the system may show pages that are not on the disk: they look whole until the
//! machine loses power. Promises: [`Witness`] remembers that it happened, in this process and, by a
//! note beside the file, for later processes until the machine starts again. Then the page cache is
//! gone, and the file holds what was synced.

use std::fs;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redb::{BackendError, StorageBackend};

/// Names the running system; another one after each start of the machine.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";

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

/// Where it is noted that the file may not be believed.
pub(super) fn note_of(file: &Path) -> PathBuf {
    file.with_extension("unsynced")
}

/// Notes that the file may not be believed until the machine starts again.
pub(super) fn note(file: &Path) {
    let note = note_of(file);
    if let Err(error) = fs::write(&note, boot()) {
        tracing::error!(note = %note.display(), %error, "cannot note that a sync failed");
    }
}

/// Whether the file may not be believed. A note of before the last start of the machine is removed.
pub(super) fn is_noted(file: &Path) -> bool {
    let note = note_of(file);
    let Ok(then) = fs::read_to_string(&note) else { return note.exists() };
    let now = boot();
    if then.is_empty() || now.is_empty() || then == now {
        return true;
    }
    fs::remove_file(&note).is_err()
}

fn boot() -> String {
    fs::read_to_string(BOOT).unwrap_or_default().trim().to_owned()
}
