//! Patience, and the programs that come with the servers.
//!
//! Assumes: nothing. Promises: whoever waits here for something that never comes fails with its
//! name.

use std::time::Duration;

use tokio::process::Command;

/// Longer than anything here takes on the slowest day.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A lease whose end a story can wait for, on a machine that has other things to do.
pub(crate) const LEASE: Duration = Duration::from_secs(1);

/// Waits for what must come.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .unwrap_or_else(|_| panic!("waited in vain: {what}"))
}

/// Waits until a question is answered with yes.
pub(crate) async fn until(what: &str, mut yes: impl AsyncFnMut() -> bool) {
    soon(what, async {
        while !yes().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

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
