//! The file that a database is, and the folder beside it.
//!
//! Assumes: a local file system, where a device and an inode name a file for as long as it is open.
//! Promises: a file that was deleted or replaced under its name is noticed; a place where no database
//! can be is refused with a reason.

#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use incumbent_protocol::identity::{CandidateId, Incarnation};
#[cfg(target_os = "linux")]
use rustix::fs::{Mode, OFlags};
use sqlx::sqlite::SqliteConnection;

use super::place::{self, Trust};
use super::schema::{self, Meta};
use crate::error::Error;
use crate::lock::{Folder, Lock};

/// The smallest page of any SQLite database.
const PAGE_MIN: u64 = 512;

/// The file that was opened, so that another one under the same name is noticed.
#[derive(Debug)]
pub(super) struct DatabaseFile {
    pub(super) path: PathBuf,
    device: u64,
    inode: u64,
    /// Keeps the inode from being given to another file. Not a way to read or write: closing such a
    /// descriptor would drop SQLite's own locks.
    #[cfg(target_os = "linux")]
    _pin: OwnedFd,
    pub(super) folder: Folder,
    /// Whether a free lock proves its process dead.
    proves: bool,
}

impl DatabaseFile {
    /// Finds it. A candidate also gets the folder beside it made.
    pub(super) fn find(path: &Path, contends: bool) -> Result<Self, Error> {
        let refuse = |problem: String| Error::Open { place: path.display().to_string(), problem };
        // SQLite follows links, so the folder must lie beside the file that it finds.
        let path = path.canonicalize().map_err(|error| refuse(error.to_string()))?;
        let found = path.metadata().map_err(|error| refuse(error.to_string()))?;
        if found.nlink() > 1 {
            let problem =
                "it has several names (hard links), and SQLite keeps a log for each: use one";
            return Err(refuse(problem.to_owned()));
        }
        let folder = Folder::beside(&path);
        let trust = place::trust(&path);
        if contends {
            folder.make()?;
            if let Trust::Unclear(kind) = trust {
                tracing::warn!(
                    database = %path.display(),
                    "the database lies on a file system ({kind}) of which it cannot be seen whether other hosts share it; \
                     locks prove no process dead there, so a crash is followed after a full lease: use a local disk, and \
                     never share it with another host"
                );
            }
        }
        Ok(DatabaseFile {
            device: found.dev(),
            inode: found.ino(),
            #[cfg(target_os = "linux")]
            _pin: rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
                .map_err(|error| refuse(error.to_string()))?,
            folder,
            proves: trust == Trust::Local,
            path,
        })
    }

    /// What errors call it.
    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }

    pub(super) fn is_in_place(&self) -> Result<(), Error> {
        match std::fs::metadata(&self.path) {
            Ok(found) if (found.dev(), found.ino()) == (self.device, self.inode) => Ok(()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                // It may be there all the same, and will be seen again when that is over.
                Err(Error::Store(format!("cannot look at {}: {error}", self.place())))
            }
            _ => Err(Error::StoreGone { place: self.place() }),
        }
    }

    /// Whether that incarnation is proved dead.
    pub(super) fn proves_dead(&self, incarnation: Incarnation) -> bool {
        self.proves && Lock::died(&self.folder, incarnation)
    }

    pub(super) async fn meta(
        &self,
        connection: &mut SqliteConnection,
        me: &CandidateId,
        create: bool,
    ) -> Result<Meta, Error> {
        if create {
            // Where locks prove nothing, others may be alive unseen.
            let others = || !self.proves || Lock::others_live(&self.folder, me.incarnation);
            let file = named(self.device, self.inode);
            return schema::apply(connection, Some(file), others).await;
        }
        let meta = schema::read(connection).await?;
        let meta = meta.ok_or_else(|| Error::Missing { place: self.place() })?;
        if meta.version < schema::VERSION {
            let (place, found, known) = (self.place(), meta.version, schema::VERSION);
            return Err(Error::SchemaOlder { place, found, known });
        }
        Ok(meta)
    }
}

/// Which file it is, in the words by which a database remembers its own.
pub(super) fn identity(path: &Path) -> Option<String> {
    std::fs::metadata(path).ok().map(|found| named(found.dev(), found.ino()))
}

fn named(device: u64, inode: u64) -> String {
    format!("{device}:{inode}")
}

/// Says in words what SQLite's own "unable to open database file" leaves out.
pub(super) fn check_place(path: &Path, create: bool) -> Result<(), Error> {
    let refuse = |problem: String| Err(Error::Open { place: path.display().to_string(), problem });
    if path.is_dir() {
        return refuse("it is a folder".to_owned());
    }
    if !path.exists() && !create {
        return Err(Error::Missing { place: path.display().to_string() });
    }
    // SQLite takes a few stray bytes for an empty database, and writes over them.
    let length = std::fs::metadata(path).map_or(0, |found| found.len());
    if (1..PAGE_MIN).contains(&length) {
        let problem = format!("it has {length} bytes");
        return Err(Error::Corrupt { place: path.display().to_string(), problem });
    }
    if let Some(problem) = path.parent().filter(|_| create).and_then(place::refusal) {
        return refuse(problem);
    }
    match path.parent() {
        Some(folder) if !folder.is_dir() => {
            refuse(format!("the folder {} does not exist: make it first", folder.display()))
        }
        Some(folder)
            if create && rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err() =>
        {
            refuse(format!(
                "the folder {} is not writable: SQLite keeps its log beside the database",
                folder.display()
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use incumbent_protocol::identity::CandidateName;

    use super::*;

    #[test]
    fn a_free_lock_proves_nothing_where_other_hosts_may_share_the_file() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("e.db");
        std::fs::write(&path, "").expect("a file");
        let mut file = DatabaseFile::find(&path, true).expect("found");
        let name = CandidateName::new("ann").expect("a name");
        let ann = CandidateId::new(name, Incarnation::from_random(1));
        drop(Lock::take(&file.folder, &ann).expect("a lock"));
        assert!(file.proves_dead(ann.incarnation), "this folder is local");
        file.proves = false;
        assert!(!file.proves_dead(ann.incarnation));
    }
}
