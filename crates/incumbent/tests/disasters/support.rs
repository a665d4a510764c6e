//! Patience, and the programs that come with the servers.
//!
//! Assumes: nothing. Promises: whoever waits here for something that never comes fails with its
//! name.

use std::time::Duration;

use tokio::process::Command;

pub(crate) use incumbent_testbed::{soon, until};

/// A lease whose end a story can wait for, on a machine that has other things to do.
pub(crate) const LEASE: Duration = Duration::from_secs(1);

/// Lets so many parts of ten of a lease pass.
pub(crate) async fn tenths_of_a_lease(tenths: u32) {
    tokio::time::sleep(LEASE * tenths / 10).await;
}

/// Runs a program that must succeed, and gives what it printed.
pub(crate) async fn run(mut command: Command) -> String {
    let output = command.kill_on_drop(true).output().await.expect("the program starts");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {words}");
    String::from_utf8(output.stdout).expect("text")
}
