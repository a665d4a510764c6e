//! The last step before the command: bind its life to the guard's, then become it.
//!
//! Assumes: the guard started this process from its main thread.
//! Promises: once the command runs, the kernel kills it if the guard dies, however that happens.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;

use crate::exit::Exit;
use crate::flags::EnterArgs;

/// Becomes the command. Returns only if that is not possible.
pub(crate) fn enter(args: &EnterArgs) -> anyhow::Result<Exit> {
    if !bind(args.guard)? {
        return Ok(Exit::Failure);
    }
    let Some((program, arguments)) = args.command.split_first() else {
        return Ok(Exit::Usage);
    };
    let error = Command::new(program).args(arguments).exec();
    tracing::error!("cannot run {}: {error}", program.display());
    Ok(match error.kind() {
        std::io::ErrorKind::NotFound => Exit::NotFound,
        _ => Exit::CannotRun,
    })
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
