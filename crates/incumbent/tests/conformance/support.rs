//! What scenarios share: patience, and the few steps that most of them take.
//!
//! Assumes: a machine that may be slow.
//! Promises: whoever waits here for something that never comes fails with its name.

use std::time::Duration;

use incumbent::{Change, Changes, Election, Error, Leadership, MemberId, Rank};
use tokio::task::JoinHandle;

pub(crate) use incumbent_testbed::{PATIENCE, soon, until};

/// A lease that does not end within a test: whoever is succeeded was not succeeded because of time.
pub(crate) const LONG: Duration = Duration::from_mins(2);

/// A lease whose end a test can wait for.
pub(crate) const SHORT: Duration = Duration::from_millis(900);

/// The election that most scenarios hold.
pub(crate) const BILLING: &str = "billing";

/// Gives something that must not happen a fair chance to happen.
pub(crate) async fn for_a_while() {
    tokio::time::sleep(Duration::from_millis(300)).await;
}

pub(crate) async fn lead(election: &Election) -> Leadership {
    let won = soon("a leadership", election.campaign()).await;
    won.expect("the campaign is won")
}

/// A campaign in the background.
pub(crate) type Campaign = JoinHandle<Result<Leadership, Error>>;

/// Contends in the background.
pub(crate) fn contend(election: &Election) -> Campaign {
    let election = election.clone();
    tokio::spawn(async move { election.campaign().await })
}

/// Contends in the background, and has a place in line when this returns.
pub(crate) async fn stand(election: &Election) -> (Campaign, MemberId) {
    let campaign = contend(election);
    until("a place in line", async || rank(election).await.id.is_some()).await;
    let id = rank(election).await.id.expect("a place");
    (campaign, id)
}

/// Where a candidate is in line.
pub(crate) async fn rank(election: &Election) -> Rank {
    election.rank().await.expect("open").expect("it is held by rounds")
}

/// Waits until a candidate's line shows that it takes part.
pub(crate) async fn seen(onlooker: &Election, name: &str) {
    until("a line of the roll", async || {
        let peers = onlooker.backend().candidates(BILLING).await.unwrap_or_default();
        let now = onlooker.status().await.map(|status| status.now).unwrap_or_default();
        peers.iter().any(|peer| peer.id.name.as_str() == name && peer.contends(now))
    })
    .await;
}

pub(crate) async fn won(campaign: Campaign) -> Leadership {
    let leadership = soon("a leadership", campaign).await.expect("no panic");
    leadership.expect("the campaign is won")
}

pub(crate) async fn resign(leadership: Leadership) {
    leadership.resign().await.expect("resigns");
}

/// Ends every candidate in good order.
pub(crate) async fn close_all<const N: usize>(elections: [Election; N]) {
    for election in elections {
        soon("closing", election.backend().clone().close()).await;
    }
}

/// The first change that fits; what came before is gone.
pub(crate) async fn change<T>(
    what: &str,
    changes: &mut Changes,
    pick: impl Fn(&Change) -> Option<T>,
) -> T {
    soon(what, async {
        loop {
            let change = changes.next().await.expect("the stream goes on");
            if let Some(picked) = pick(&change) {
                return picked;
            }
        }
    })
    .await
}

/// Does something in a runtime of its own, which is then dropped with everything in it: nothing is
/// told to anybody, as when a process is killed.
pub(crate) fn vanish<T: Send>(act: impl AsyncFnOnce() -> T + Send) -> T {
    tokio::task::block_in_place(|| {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let runtime = tokio::runtime::Runtime::new().expect("a runtime");
                let done = runtime.block_on(act());
                runtime.shutdown_background();
                done
            });
            thread.join().expect("no panic")
        })
    })
}
