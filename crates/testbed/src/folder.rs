//! A private folder of one server, and the processes that work in it.
//!
//! Assumes that a server's processes stay below their folder (all servers here change into their
//! data folder). Promises that the folder belongs to the server's user, is closed to all others,
//! has a path short enough for a socket inside, and is removed with its processes in any case.

use std::env;
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rustix::fs::statvfs;
use rustix::process::{Pid, Signal, kill_process};

use crate::guardian::Guardian;
use crate::user::User;

/// The kernel allows a socket's path 107 bytes; the file's own name needs some of them.
const PATH_LIMIT: usize = 80;

/// Where Linux keeps files in memory.
const MEMORY: &str = "/dev/shm";

/// How much of it has to be free; a server takes about 50 MB.
const PLENTY: u64 = 4 << 30;

/// How much of a log an error shows.
const TAIL: u64 = 6_000;

/// A private folder; removed on drop.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    user: User,
    guardian: Guardian,
}

impl Folder {
    /// A folder among the temporary files.
    pub(crate) fn create(user: User) -> anyhow::Result<Self> {
        Self::create_in(&env::temp_dir(), user)
    }

    /// A folder in memory if there is plenty of it, for a server of many small files that need not
    /// outlive the power: making them takes a tenth of the time.
    pub(crate) fn create_quick(user: User) -> anyhow::Result<Self> {
        // Whoever names a place for temporary files means it.
        let free = env::var_os("TMPDIR").is_none().then(|| statvfs(MEMORY).ok()).flatten();
        let free = free.map_or(0, |system| system.f_bavail.saturating_mul(system.f_frsize));
        if free >= PLENTY { Self::create_in(Path::new(MEMORY), user) } else { Self::create(user) }
    }

    /// A folder for a server that works with this one's, in the same place.
    pub(crate) fn create_beside(&self) -> anyhow::Result<Self> {
        let place = self.path.parent().context("a private folder has a parent")?;
        Self::create_in(place, self.user)
    }

    fn create_in(place: &Path, user: User) -> anyhow::Result<Self> {
        let temporary = tempfile::Builder::new().prefix("incumbent-").tempdir_in(place);
        // The guardian takes over the duty to remove it.
        let path = temporary.context("a private folder could not be made")?.keep();
        let path = fs::canonicalize(&path)?;
        let guardian = Guardian::watch(&path)?;
        let folder = Self { path, user, guardian };
        let length = folder.path.as_os_str().len();
        ensure!(
            length <= PATH_LIMIT,
            "{} is too long for a socket inside it; set TMPDIR to a shorter path",
            folder.path.display()
        );
        folder.own(&folder.path)?;
        Ok(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn user(&self) -> User {
        self.user
    }

    /// The server's data.
    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// What the server says.
    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Kills every process of this folder and removes it.
    pub(crate) fn remove(&mut self) {
        self.guardian.dismiss();
    }

    /// Gives a file or folder to the server's user.
    pub(crate) fn own(&self, path: &Path) -> anyhow::Result<()> {
        if let Some((uid, gid)) = self.user.ids() {
            chown(path, Some(uid), Some(gid))
                .with_context(|| format!("giving {} to the server's user", path.display()))?;
        }
        Ok(())
    }

    /// Writes a file that belongs to the server's user.
    pub(crate) fn write(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.path.join(name);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        self.own(&path)?;
        Ok(path)
    }

    /// How long the log is; what follows belongs to a later start.
    pub(crate) fn log_length(&self) -> u64 {
        fs::metadata(self.log()).map_or(0, |log| log.len())
    }

    /// The log from `offset` on, as far as it can be read.
    pub(crate) fn log_since(&self, offset: u64) -> String {
        let mut bytes = Vec::new();
        if let Ok(mut log) = fs::File::open(self.log()) {
            let _ = log.seek(SeekFrom::Start(offset));
            let _ = log.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The end of the log, for error texts.
    pub(crate) fn log_tail(&self) -> String {
        let tail = self.log_since(self.log_length().saturating_sub(TAIL));
        format!("the end of its log:\n{}", tail.trim_end())
    }

    /// The living processes that work in this folder.
    pub(crate) fn processes(&self) -> Vec<Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers
            .filter(|number: &i32| {
                fs::read_link(format!("/proc/{number}/cwd"))
                    .is_ok_and(|cwd| cwd.starts_with(&self.path))
            })
            .filter_map(Pid::from_raw)
            .collect()
    }

    /// Kills every process of this folder and waits until none is left.
    pub(crate) fn kill_processes(&self) {
        // Bounded: a process that cannot die (stuck in the kernel) is left to the guardian.
        for _ in 0..1_000 {
            let processes = self.processes();
            if processes.is_empty() {
                return;
            }
            for process in processes {
                // One that is gone already is what we want.
                let _ = kill_process(process, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
