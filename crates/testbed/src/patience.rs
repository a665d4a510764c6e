//! Waiting for what must come, on a machine that may be slow.
//!
//! Assumes: nothing about how long anything takes.
//! Promises: whoever waits here for something that never comes fails with its name.

use std::time::Duration;

/// Longer than anything in a test takes on the slowest day.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// How often a question is asked again.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits for what must come.
///
/// # Panics
/// If it does not.
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    let came = tokio::time::timeout(PATIENCE, future).await;
    came.unwrap_or_else(|_| panic!("waited in vain: {what}"))
}

/// Waits until a question is answered with yes.
///
/// # Panics
/// If it never is.
pub async fn until(what: &str, mut yes: impl AsyncFnMut() -> bool) {
    soon(what, async {
        while !yes().await {
            tokio::time::sleep(PAUSE).await;
        }
    })
    .await;
}
