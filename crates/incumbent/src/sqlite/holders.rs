//! Which process has SQLite's write lock.
//!
//! Assumes: Linux, whose kernel lists the locks of every file; elsewhere nobody is seen. SQLite locks one
//! byte of the file of its index for as long as a transaction writes, and commits by writing to its log.
//! Promises: opens no file of the database: to close it would drop SQLite's own locks in this process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::store::holder::LockHolder;

/// The byte that whoever writes has locked.
const WRITE: u64 = 120;

/// Who else writes to this database at this moment.
pub(super) fn holders(database: &Path) -> Vec<LockHolder> {
    let beside = |suffix: &str| {
        let mut path = database.as_os_str().to_owned();
        path.push(suffix);
        fs::metadata(path)
    };
    let Ok(index) = beside("-shm") else { return Vec::new() };
    // Whoever commits writes to the log: a lock that is kept leaves it as it was.
    let log = beside("-wal").map(|log| (log.size(), log.mtime(), log.mtime_nsec())).ok();
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let (major, minor) = (rustix::fs::major(index.dev()), rustix::fs::minor(index.dev()));
    let file = format!("{major:02x}:{minor:02x}:{}", index.ino());
    let found = locks.lines().filter_map(|line| writer(line, &file));
    let others = found.filter(|pid| *pid != std::process::id());
    others.map(|pid| holder(pid, format!("{pid} {log:?}"))).collect()
}

/// The process that this line of the kernel's list names, if it has the write lock of that file.
fn writer(line: &str, file: &str) -> Option<u32> {
    // Whoever only waits has an arrow in the second place.
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, "POSIX", _, "WRITE", pid, of, first, last] = words[..] else { return None };
    let range: (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    (of == file && range.0 <= WRITE && WRITE <= range.1).then(|| pid.parse().ok()).flatten()
}

fn holder(pid: u32, work: String) -> LockHolder {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let is_stopped = stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('T'));
    let (state, end) = if is_stopped { (", stopped", "kill -CONT") } else { ("", "kill") };
    LockHolder {
        election: None,
        who: format!("process {pid} ({}{state})", name.trim().replace(char::is_control, " ")),
        what: "SQLite's write lock".to_owned(),
        held_for: None,
        end: Some(format!("{end} {pid}")),
        work,
    }
}

#[cfg(test)]
mod tests {
    use super::writer;

    #[test]
    fn only_who_has_the_byte_of_writers_in_that_file_is_named() {
        let held = "4: POSIX  ADVISORY  WRITE 4711 fd:01:77 120 120";
        assert_eq!(writer(held, "fd:01:77"), Some(4711));
        assert_eq!(writer(held, "fd:01:7"), None);
        for other in [
            "4: POSIX  ADVISORY  READ 4711 fd:01:77 124 124",
            "4: POSIX  ADVISORY  WRITE 4711 fd:01:77 123 127",
            "4: -> POSIX  ADVISORY  WRITE 4711 fd:01:77 120 120",
            "4: FLOCK  ADVISORY  WRITE 4711 fd:01:77 0 EOF",
            "4: POSIX  ADVISORY  WRITE -1 fd:01:77 120 120",
            "",
        ] {
            assert_eq!(writer(other, "fd:01:77"), None, "{other}");
        }
    }
}
