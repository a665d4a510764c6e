//! Starting children.
//!
//! Assumes that a child belongs to the process group of this program, so that one Ctrl-C ends both.
//! Promises that a child that cannot be started, fails, or dies of a signal is an error that names
//! the command line.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

/// The cargo that started this program, to be run in `root`.
pub(crate) fn cargo(root: &Path) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(root);
    command
}

/// Runs `command` to its end, with its output on the terminal.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = show(command);
    let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
    ensure!(status.success(), "`{line}` ended with {status}");
    Ok(())
}

/// Whether `command` starts and succeeds; its output is dropped.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The command as one would type it, without the folder of the program.
fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut line =
        program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_line() {
        let error = run(Command::new("/bin/sh").args(["-c", "exit 7"])).expect_err("exits with 7");
        assert_eq!(error.to_string(), "`sh -c exit 7` ended with exit status: 7");
    }

    #[test]
    fn a_program_that_is_not_there_does_not_succeed() {
        assert!(!succeeds(&mut Command::new("/nonexistent/program")));
    }
}
