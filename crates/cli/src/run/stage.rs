//! The last step before the command: bind its life to the guard's, then become it.
//!
//! Assumes: the guard started this process from its main thread.
//! Promises: once the command runs, the kernel kills it if the guard dies, however that happens.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use rustix::fs::{Access, access};
use rustix::io::Errno;
use thiserror::Error;

use super::files;
use crate::exit::Exit;
use crate::flags::EnterArgs;

/// Where programs are looked for without a PATH, as the C library does it.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// A command that cannot be run.
#[derive(Debug, Error)]
#[error("cannot run {}: {problem}", program.display())]
pub(crate) struct Unfit {
    program: OsString,
    problem: io::Error,
}

impl Unfit {
    /// The code that a shell would end with.
    pub(crate) fn exit(&self) -> Exit {
        match self.problem.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::CannotRun,
        }
    }
}

/// Looks whether the command is there and may be run, so that a mistyped one does not win an election
/// first.
pub(crate) fn check(words: &[OsString]) -> Result<(), Unfit> {
    let Some(program) = words.first() else { return Ok(()) };
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    find(program, &path)
        .map_err(|problem| Unfit { program: program.clone(), problem: problem.into() })
}

/// Finds the program as `execvp` does: a name without a slash in the folders of `path`. One that may
/// not be run is passed over, but remembered if there is no other.
fn find(program: &OsStr, path: &OsStr) -> Result<(), Errno> {
    if program.as_encoded_bytes().contains(&b'/') {
        return probe(Path::new(program));
    }
    let mut problem = Errno::NOENT;
    for folder in std::env::split_paths(path).filter(|_| !program.is_empty()) {
        match probe(&folder.join(program)) {
            Ok(()) => return Ok(()),
            Err(Errno::ACCESS) => problem = Errno::ACCESS,
            Err(_) => {}
        }
    }
    Err(problem)
}

/// Whether this file may be run by this user.
fn probe(file: &Path) -> Result<(), Errno> {
    access(file, Access::EXEC_OK)?;
    if file.is_dir() { Err(Errno::ACCESS) } else { Ok(()) }
}

/// Becomes the command. Returns only if that is not possible.
pub(crate) fn enter(args: &EnterArgs) -> anyhow::Result<Exit> {
    if !bind(args.guard)? {
        return Ok(Exit::Failure);
    }
    let Some((program, arguments)) = args.command.split_first() else {
        return Ok(Exit::Usage);
    };
    if args.open_files.is_some() {
        files::set(args.open_files);
    }
    let problem = Command::new(program).args(arguments).exec();
    Err(Unfit { program: program.clone(), problem }.into())
}

/// Asks the kernel to kill this process when the guard, or whoever else started it, dies. False if
/// that one is dead already.
#[cfg(target_os = "linux")]
pub(crate) fn bind(guard: i32) -> anyhow::Result<bool> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    set_parent_process_death_signal(Some(Signal::KILL))
        .context("cannot bind the command to its guard")?;
    Ok(getppid().is_some_and(|parent| parent.as_raw_pid() == guard))
}

/// Other kernels offer no such thing; the guard alone must do.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "on Linux it can fail")]
pub(crate) fn bind(_guard: i32) -> anyhow::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_is_found_as_execvp_finds_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(&path, "#!/bin/sh\n").expect("written");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("set");
            path
        };
        let (plain, work) = (file("one/work", 0o644), file("two/work", 0o755));
        file("one/notes", 0o644);
        std::fs::create_dir(folder.path().join("one/folder")).expect("made");
        let path = std::env::join_paths(["one", "two", "none"].map(|it| folder.path().join(it)));
        let path = path.expect("a path");
        let look = |program: &OsStr| find(program, &path);
        assert_eq!(look("work".as_ref()), Ok(()), "the first one may not be run, the second may");
        assert_eq!(look("notes".as_ref()), Err(Errno::ACCESS));
        assert_eq!(look("folder".as_ref()), Err(Errno::ACCESS));
        assert_eq!(look("missing".as_ref()), Err(Errno::NOENT));
        assert_eq!(look("".as_ref()), Err(Errno::NOENT));
        // With a slash, no other folder is searched.
        assert_eq!(look(work.as_os_str()), Ok(()));
        assert_eq!(look(plain.as_os_str()), Err(Errno::ACCESS));
        assert_eq!(look(folder.path().join("one/missing").as_os_str()), Err(Errno::NOENT));
        assert_eq!(look(folder.path().as_os_str()), Err(Errno::ACCESS));
    }
}
