//! A file lock that a process holds for as long as it lives: its release proves that the process is
//! dead.
//!
//! Assumes: a local file system, whose kernel drops a process's locks when it dies and not before.
//! A stopped process keeps its lock. The lock belongs to the open file, so a child that inherits it
//! keeps it too.
//! Promises: [`Lock::died`] is proof, never a guess: a missing file proves nothing.

mod folder;

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use incumbent_protocol::identity::{CandidateId, Incarnation};
use rustix::fs::{FlockOperation, flock};

pub(crate) use self::folder::Folder;
use self::folder::Opened;
use crate::error::Error;

/// How long the file of a dead process is kept at least once it was found dead, for others to see. After
/// that its election is taken over by watching it for a lease, which is as safe and takes longer.
const KEEP_DEAD: Duration = Duration::from_mins(10);

/// What stands in the file of a process that was found dead.
const MARK: &str = "dead\n";

/// What the name of a file ends with that is not locked yet.
const DRAFT: &str = ".draft";

/// The file that is written to when something changed.
pub(crate) const BELL: &str = "bell";

/// The lock of this process, once it has bid for anything.
pub(crate) type SharedLock = Arc<OnceLock<Arc<Lock>>>;

/// The lock of this process.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    folder: Folder,
    name: String,
}

impl Lock {
    /// Creates and locks the file of this incarnation.
    pub(crate) fn take(folder: &Folder, me: &CandidateId) -> Result<Lock, Error> {
        folder.make()?;
        let name = me.incarnation.to_string();
        let draft = format!("{name}{DRAFT}");
        let take = || {
            let open = folder.open()?;
            let locked = || {
                let mut file = open.create(&draft)?;
                flock(&file, FlockOperation::NonBlockingLockExclusive)?;
                writeln!(file, "{} pid {}", me.name, std::process::id())?;
                // Under its own name nobody ever finds it without its lock.
                open.rename(&draft, &name)?;
                Ok::<_, std::io::Error>(file)
            };
            let file = locked().inspect_err(|_| open.remove(&draft))?;
            sweep(&open);
            Ok::<_, std::io::Error>(file)
        };
        let file = take().map_err(|error| Error::Open {
            place: folder.path().join(&name).display().to_string(),
            problem: format!("cannot lock it ({error})"),
        })?;
        Ok(Lock { file, folder: folder.clone(), name })
    }

    /// Another handle on the same lock, for a child process: the lock then outlives this process until
    /// the child is gone too. No other child inherits it.
    pub(crate) fn share(&self) -> std::io::Result<OwnedFd> {
        Ok(rustix::io::fcntl_dupfd_cloexec(&self.file, 0)?)
    }

    /// Removes the file, for a candidate that has let go of everything. It happens while the lock
    /// is still held, so that nobody sees a free file where somebody left in good order. Whoever
    /// ends otherwise leaves the file behind, and with it the proof.
    pub(crate) fn leave(&self) {
        if let Ok(open) = self.folder.open() {
            open.remove(&self.name);
        }
    }

    /// Whether that incarnation is proved dead. Where strangers could put files, nothing is proved.
    pub(crate) fn died(folder: &Folder, incarnation: Incarnation) -> bool {
        folder.open().is_ok_and(|open| is_free(&open, &incarnation.to_string()))
    }

    /// Whether any other incarnation is alive here.
    pub(crate) fn others_live(folder: &Folder, me: Incarnation) -> bool {
        let Ok(open) = folder.open() else { return false };
        let names = candidates(&open).filter(|(incarnation, _)| *incarnation != me);
        names.map(|(_, name)| name).any(|name| open.read(&name).is_ok() && !is_free(&open, &name))
    }
}

/// Whether the file exists and nobody holds its lock. Testers share the lock among themselves.
fn is_free(open: &Opened, name: &str) -> bool {
    open.read(name).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared).is_ok())
}

fn candidates(open: &Opened) -> impl Iterator<Item = (Incarnation, String)> {
    open.names().into_iter().filter_map(|name| Some((name.parse().ok()?, name)))
}

/// Whether candidates make files of this name.
fn is_ours(name: &str) -> bool {
    let name = name.strip_suffix(DRAFT).unwrap_or(name);
    [BELL, ".", ".."].contains(&name) || name.parse::<Incarnation>().is_ok()
}

/// Removes files of processes that died long ago. A file is as old as its process, not as its
/// death: an old one that is found free is marked, which makes it young, and removed only when it
/// has grown old again.
fn sweep(open: &Opened) {
    for draft in open.names().iter().filter(|name| name.ends_with(DRAFT)) {
        if is_old(open, draft) {
            open.remove(draft);
        }
    }
    for (_, name) in candidates(open) {
        if !is_old(open, &name) || !is_free(open, &name) {
            continue;
        }
        let mut text = String::new();
        let read = open.read(&name).and_then(|mut file| file.read_to_string(&mut text));
        if read.is_ok() && text == MARK {
            open.remove(&name);
        } else if let Ok(mut file) = open.write(&name) {
            let _ = file.set_len(0).and_then(|()| file.write_all(MARK.as_bytes()));
        }
    }
}

fn is_old(open: &Opened, name: &str) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let age = open.modified(name).and_then(|modified| now.as_secs().checked_sub(modified));
    age.is_some_and(|age| age > KEEP_DEAD.as_secs())
}

/// Wakes everyone who listens at this folder: a file that is closed after writing is what they hear.
/// Nobody reads what is written.
pub(crate) fn ring(folder: &Folder) {
    let rung = folder.open().and_then(|open| open.write(BELL)?.write_all(BELL.as_bytes()));
    if let Err(error) = rung {
        tracing::debug!(%error, folder = %folder.path().display(), "the bell was not rung");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incumbent_protocol::identity::CandidateName;
    use std::fs;
    use std::path::PathBuf;

    fn candidate(bits: u128) -> CandidateId {
        let name = CandidateName::new("x").expect("name");
        CandidateId::new(name, Incarnation::from_random(bits))
    }

    /// A folder beside a database.
    struct Place(tempfile::TempDir, Folder);

    impl Place {
        fn new() -> Place {
            let place = tempfile::tempdir().expect("folder");
            let database = place.path().join("e.db");
            fs::write(&database, "").expect("a database");
            let folder = Folder::beside(&database);
            folder.make().expect("made");
            Place(place, folder)
        }

        fn path(&self) -> &Folder {
            &self.1
        }

        fn file(&self, bits: u128) -> PathBuf {
            self.1.path().join(Incarnation::from_random(bits).to_string())
        }
    }

    /// A file that is precious, and names by which it is found in the folder.
    fn linked(place: &Place, names: &[&str]) -> PathBuf {
        let victim = place.0.path().join("victim");
        fs::write(&victim, "precious").expect("written");
        for name in names {
            std::os::unix::fs::symlink(&victim, place.1.path().join(name)).expect("linked");
        }
        age(&victim);
        victim
    }

    fn age(path: &std::path::Path) {
        let file = fs::OpenOptions::new().write(true).open(path).expect("file");
        file.set_modified(SystemTime::now() - KEEP_DEAD * 3).expect("aged");
    }

    #[test]
    fn a_bell_that_is_a_link_is_not_written_through() {
        let place = Place::new();
        let victim = linked(&place, &[BELL]);
        ring(place.path());
        assert_eq!(fs::read_to_string(victim).expect("there"), "precious");
    }

    #[test]
    fn a_candidate_file_that_is_a_link_is_neither_swept_through_nor_a_proof() {
        let place = Place::new();
        let dead = Incarnation::from_random(9);
        let victim = linked(&place, &[&dead.to_string()]);
        assert!(!Lock::died(place.path(), dead), "a link proves nothing");
        drop(Lock::take(place.path(), &candidate(1)).expect("lock"));
        assert_eq!(fs::read_to_string(victim).expect("there"), "precious");
    }

    #[test]
    fn a_link_in_place_of_the_draft_is_not_followed() {
        let place = Place::new();
        let me = candidate(1);
        let victim = linked(&place, &[&format!("{}{DRAFT}", me.incarnation)]);
        Lock::take(place.path(), &me).expect_err("it is there already");
        assert_eq!(fs::read_to_string(victim).expect("there"), "precious");
    }

    #[test]
    fn where_strangers_may_write_nothing_is_proved() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::new();
        fs::write(place.file(1), "x").expect("file");
        assert!(Lock::died(place.path(), Incarnation::from_random(1)));
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(place.path().path(), open).expect("opened");
        assert!(!Lock::died(place.path(), Incarnation::from_random(1)));
    }

    #[test]
    fn a_held_lock_is_no_proof_and_a_missing_file_neither() {
        let folder = Place::new();
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
        let folder = Place::new();
        fs::write(folder.file(1), "x").expect("file");
        assert!(Lock::died(folder.path(), Incarnation::from_random(1)));
    }

    #[test]
    fn whoever_ends_without_leaving_is_proved_dead() {
        let folder = Place::new();
        drop(Lock::take(folder.path(), &candidate(1)).expect("lock"));
        assert!(Lock::died(folder.path(), Incarnation::from_random(1)));
    }

    #[test]
    fn the_proof_outlives_its_process_by_minutes_however_long_that_lived() {
        let folder = Place::new();
        let lock = Lock::take(folder.path(), &candidate(1)).expect("lock");
        let path = folder.file(1);
        age(&path);
        let newcomer = |bits| Lock::take(folder.path(), &candidate(bits)).expect("lock");
        let _second = newcomer(2);
        assert!(path.exists(), "it lives");
        drop(lock);
        let _third = newcomer(3);
        assert!(Lock::died(folder.path(), Incarnation::from_random(1)));
        age(&path);
        let _fourth = newcomer(4);
        assert!(!path.exists(), "minutes after it was found dead");
    }

    #[test]
    fn a_crash_loop_leaves_the_files_of_minutes_and_not_of_days() {
        let folder = Place::new();
        let files = || fs::read_dir(folder.path().path()).expect("a folder").count();
        // Each round stands for all the crashes of ten minutes and more.
        for round in 0..20 {
            for path in fs::read_dir(folder.path().path()).expect("a folder").flatten() {
                age(&path.path());
            }
            for crash in 0..10 {
                drop(Lock::take(folder.path(), &candidate(round * 10 + crash)).expect("lock"));
            }
            assert!(files() <= 20, "{} files in round {round}", files());
        }
    }

    #[test]
    fn a_shared_handle_keeps_the_lock() {
        let folder = Place::new();
        let lock = Lock::take(folder.path(), &candidate(1)).expect("lock");
        let child = lock.share().expect("share");
        let tester = File::open(folder.file(1)).expect("file");
        drop(lock);
        assert!(flock(&tester, FlockOperation::NonBlockingLockShared).is_err());
        drop(child);
        assert!(flock(&tester, FlockOperation::NonBlockingLockShared).is_ok());
    }
}
