//! A file lock that a process holds for as long as it lives: its release proves that the process is
//! dead.
//!
//! Assumes: a local file system, whose kernel drops a process's locks when it dies and not before.
//! A stopped process keeps its lock. The lock belongs to the open file, so a child that inherits it
//! keeps it too.
//! Promises: [`Lock::died`] is proof, never a guess: a missing file proves nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, Incarnation};
use rustix::fs::{FlockOperation, flock};

use crate::error::Error;

/// How long the file of a dead process is kept for others to see.
const KEEP_DEAD: Duration = Duration::from_hours(24);

/// What stands in the file of a process that was found dead.
const MARK: &str = "dead\n";

/// The lock of this process, once it has bid for anything.
pub(crate) type SharedLock = Arc<OnceLock<Arc<Lock>>>;

/// The lock of this process.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Creates and locks the file of this incarnation.
    pub(crate) fn take(folder: &Path, me: &CandidateId) -> Result<Lock, Error> {
        let path = folder.join(me.incarnation.to_string());
        let draft = path.with_extension("draft");
        let take = || {
            let mut file =
                OpenOptions::new().write(true).create(true).truncate(true).open(&draft)?;
            flock(&file, FlockOperation::NonBlockingLockExclusive)?;
            writeln!(file, "{} pid {}", me.name, std::process::id())?;
            // Under its own name nobody ever finds it without its lock.
            fs::rename(&draft, &path)?;
            Ok::<_, std::io::Error>(file)
        };
        make_folder(folder)?;
        let file = take().map_err(|error| {
            let _ = fs::remove_file(&draft);
            Error::Open {
                place: path.display().to_string(),
                problem: format!("cannot lock it ({error})"),
            }
        })?;
        sweep(folder);
        Ok(Lock { file, path })
    }

    /// Another handle on the same lock, which a child process inherits: the lock then outlives this
    /// process until the child is gone too.
    pub(crate) fn share(&self) -> std::io::Result<OwnedFd> {
        // Plain `dup` leaves the close-on-exec flag off; that is the point of it here.
        Ok(rustix::io::dup(&self.file)?)
    }

    /// Removes the file, for a candidate that has let go of everything. It happens while the lock
    /// is still held, so that nobody sees a free file where somebody left in good order. Whoever
    /// ends otherwise leaves the file behind, and with it the proof.
    pub(crate) fn leave(&self) {
        let _ = fs::remove_file(&self.path);
    }

    /// Whether that incarnation is proved dead.
    pub(crate) fn died(folder: &Path, incarnation: Incarnation) -> bool {
        is_free(&folder.join(incarnation.to_string()))
    }

    /// Whether any other incarnation is alive here.
    pub(crate) fn others_live(folder: &Path, me: Incarnation) -> bool {
        candidates(folder)
            .any(|(incarnation, path)| incarnation != me && path.exists() && !is_free(&path))
    }
}

/// Whether the file exists and nobody holds its lock. Testers share the lock among themselves.
fn is_free(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_ok())
}

fn candidates(folder: &Path) -> impl Iterator<Item = (Incarnation, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let incarnation = entry.file_name().to_str()?.parse().ok()?;
        Some((incarnation, entry.path()))
    })
}

/// Removes files of processes that died long ago. A file is as old as its process, not as its
/// death: an old one that is found free is marked, which makes it young, and removed only when it
/// has grown old again.
fn sweep(folder: &Path) {
    let drafts = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for draft in drafts.filter(|path| path.extension().is_some_and(|it| it == "draft")) {
        if is_old(&draft) {
            let _ = fs::remove_file(&draft);
        }
    }
    for (_, path) in candidates(folder) {
        if !is_old(&path) || !is_free(&path) {
            continue;
        }
        let _ = if fs::read_to_string(&path).is_ok_and(|text| text == MARK) {
            fs::remove_file(&path)
        } else {
            fs::write(&path, MARK)
        };
    }
}

fn is_old(path: &Path) -> bool {
    let modified = fs::metadata(path).and_then(|found| found.modified());
    let age = modified.ok().and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age > KEEP_DEAD)
}

/// The folder in which candidates of one database keep their locks.
pub(crate) fn folder_beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-candidates");
    PathBuf::from(name)
}

/// Makes it, if it is not there.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Error> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(Error::Open { place: folder.display().to_string(), problem: error.to_string() })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incumbent_protocol::identity::CandidateName;

    fn candidate(bits: u128) -> CandidateId {
        let name = CandidateName::new("x").expect("name");
        CandidateId::new(name, Incarnation::from_random(bits))
    }

    #[test]
    fn a_held_lock_is_no_proof_and_a_missing_file_neither() {
        let folder = tempfile::tempdir().expect("folder");
        let lock = Lock::take(folder.path(), &candidate(1)).expect("lock");
        assert!(!Lock::died(folder.path(), Incarnation::from_random(1)));
        assert!(!Lock::died(folder.path(), Incarnation::from_random(2)));
        assert!(Lock::others_live(folder.path(), Incarnation::from_random(2)));
        lock.leave();
        drop(lock);
        assert!(!Lock::died(folder.path(), Incarnation::from_random(1)));
        assert!(!Lock::others_live(folder.path(), Incarnation::from_random(2)));
    }

    #[test]
    fn a_file_without_its_lock_proves_a_death() {
        let folder = tempfile::tempdir().expect("folder");
        fs::write(folder.path().join(Incarnation::from_random(1).to_string()), "x").expect("file");
        assert!(Lock::died(folder.path(), Incarnation::from_random(1)));
    }

    #[test]
    fn whoever_ends_without_leaving_is_proved_dead() {
        let folder = tempfile::tempdir().expect("folder");
        drop(Lock::take(folder.path(), &candidate(1)).expect("lock"));
        assert!(Lock::died(folder.path(), Incarnation::from_random(1)));
    }

    #[test]
    fn the_proof_outlives_its_process_by_a_day_however_long_that_lived() {
        let folder = tempfile::tempdir().expect("folder");
        let lock = Lock::take(folder.path(), &candidate(1)).expect("lock");
        let age = |path: &Path| {
            let file = OpenOptions::new().write(true).open(path).expect("file");
            let then = std::time::SystemTime::now() - KEEP_DEAD * 3;
            file.set_modified(then).expect("aged");
        };
        let path = lock.path.clone();
        age(&path);
        let newcomer = |bits| Lock::take(folder.path(), &candidate(bits)).expect("lock");
        let _second = newcomer(2);
        assert!(path.exists(), "it lives");
        drop(lock);
        let _third = newcomer(3);
        assert!(Lock::died(folder.path(), Incarnation::from_random(1)));
        age(&path);
        let _fourth = newcomer(4);
        assert!(!path.exists(), "a day after its death");
    }

    #[test]
    fn a_shared_handle_keeps_the_lock() {
        let folder = tempfile::tempdir().expect("folder");
        let lock = Lock::take(folder.path(), &candidate(1)).expect("lock");
        let child = lock.share().expect("share");
        let tester = File::open(&lock.path).expect("file");
        drop(lock);
        assert!(flock(&tester, FlockOperation::NonBlockingLockShared).is_err());
        drop(child);
        assert!(flock(&tester, FlockOperation::NonBlockingLockShared).is_ok());
    }
}
