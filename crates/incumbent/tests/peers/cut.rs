//! A leader and a follower that lose each other, while both reach the third peer.

use std::time::Duration;

use incumbent::{Backend, Config};
use incumbent_testbed::Mesh;

use crate::support::{BILLING, SECRET, close_all, contend, lead, leader, soon, until};

/// Long enough for a renewal on a slow machine, and short enough to wait for several of them.
const LEASE: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_reaches_a_majority_keeps_its_term() {
    for scheme in ["bully", "ring"] {
        let mesh = Mesh::start(3).await.expect("a network");
        let folder = tempfile::tempdir().expect("a folder");
        let mut all = Vec::new();
        for peer in 1..=3 {
            let url = format!("{scheme}://{}?me={}", mesh.list(peer), own(&mesh, peer));
            let config = Config::new().name(format!("node-{peer}")).lease(LEASE);
            let config = config.data(folder.path().join(peer.to_string()));
            let config = config.secret(SECRET).expect("a secret");
            all.push(Backend::open_with(&url, &config).await.expect("it opens"));
        }
        let first = lead(&all[0]).await;
        let others = [contend(&all[1]).await, contend(&all[2]).await];
        for one in &all {
            until("everybody knows the leader", async || leader(one).await == "node-1").await;
        }
        mesh.part(1, 3);
        let begun = tokio::time::Instant::now();
        while begun.elapsed() < LEASE * 3 {
            soon("a renewal", first.extended()).await;
            assert!(first.is_valid(), "{scheme}: the term was lost");
        }
        let status = all[1].status(BILLING).await.expect("a majority answers");
        let term = status.leader().map(|leader| leader.id.name.to_string());
        assert_eq!(term.as_deref(), Some("node-1"), "{scheme}");
        assert!(others.iter().all(|campaign| !campaign.is_finished()), "{scheme}: two lead");
        others.iter().for_each(tokio::task::JoinHandle::abort);
        mesh.heal();
        drop(first);
        close_all(all).await;
    }
}

fn own(mesh: &Mesh, peer: usize) -> String {
    mesh.own(peer).split('@').next_back().unwrap_or_default().to_owned()
}
