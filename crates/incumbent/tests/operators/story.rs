//! A short story of one candidate: it campaigns, is deposed, leads again, and resigns.

use std::time::Duration;

use incumbent::{Backend, Config, Election, Reason};
use incumbent_testbed::soon;

/// A lease whose end a test can wait for.
const LEASE: Duration = Duration::from_secs(1);

/// The transitions of the story: from, to, reason.
pub(crate) const TRANSITIONS: [[&str; 3]; 8] = [
    ["out", "following", "campaigns"],
    ["following", "leading", "first"],
    ["leading", "unsure", "deposed"],
    ["unsure", "out", "stopped"],
    ["out", "following", "campaigns"],
    ["following", "leading", "released"],
    ["leading", "following", "resigned"],
    ["following", "out", "left"],
];

/// Tells the story on this thread, to whoever listens there.
pub(crate) fn tell() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}/elections.db", folder.path().display());
        let config = Config::new().name("ann").lease(LEASE);
        let backend = Backend::open_with(&url, &config).await.expect("opens");
        let election = backend.election("billing").await.expect("opens");
        campaign_deposed_again(&election).await;
        backend.close().await;
    });
}

async fn campaign_deposed_again(election: &Election) {
    let first = soon("a leadership", election.campaign()).await.expect("won");
    soon("a renewal", first.extended()).await;
    election.backend().demote("billing", None, "ops", None).await.expect("demoted");
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    first.resign().await.expect("let go");
    let second = soon("a leadership", election.campaign()).await.expect("won");
    soon("a renewal", second.extended()).await;
    second.resign().await.expect("let go");
}
