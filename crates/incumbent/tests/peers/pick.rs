//! Who of several leads: the highest, unless somebody leads already.

use incumbent::Backend;
use incumbent_testbed::Mesh;

use crate::support::{
    BILLING, Cluster, LONG, Process, SHORT, close_all, contend, for_a_while, lead, seen, soon,
    until, won,
};

#[tokio::test]
async fn of_those_who_wait_the_highest_number_leads() {
    for scheme in ["bully", "ring"] {
        // As numbers, not as words: ten is higher than nine.
        let cluster = Cluster::with_ids(scheme, &[Some(9), Some(10), Some(1)]);
        let all = cluster.start_all(LONG).await;
        // Whoever is demoted names no heir.
        let leading = cluster.guest("leading", LONG).me(format!("5@{}", free()));
        let leading = cluster.open(&leading).await;
        let first = lead(&leading).await;
        let campaigns = [contend(&all[0]).await, contend(&all[1]).await, contend(&all[2]).await];
        for name in ["node-0", "node-1", "node-2"] {
            seen(&leading, name).await;
        }
        let term = Some(first.term().get());
        all[0].demote("billing", term, "ann", None).await.expect("demoted");
        soon("the loss", first.lost()).await;
        drop(first);
        let [nine, ten, one] = campaigns;
        drop(won(ten).await);
        assert!(!nine.is_finished() && !one.is_finished(), "{scheme}");
        close_all(vec![leading]).await;
        close_all(all).await;
    }
}

/// An address that is nobody's in any list.
fn free() -> String {
    Cluster::new("bully", 1).address(0)
}

/// Waits until somebody's line is there, whatever keeps it from leading.
async fn present(onlooker: &Backend, name: &str) {
    until("a line of the roll", async || {
        let peers = onlooker.candidates("billing").await.unwrap_or_default();
        peers.iter().any(|peer| peer.id.name.as_str() == name)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_highest_is_killed_the_next_highest_leads() {
    for scheme in ["bully", "ring"] {
        let cluster = Cluster::with_ids(scheme, &[Some(1), Some(2), Some(3), Some(9)]);
        let (one, two) = (cluster.start(0, SHORT).await, cluster.start(1, SHORT).await);
        let three = cluster.start(2, SHORT).await;
        let nine = Process::start(&cluster, &cluster.node(3, SHORT)).await;
        let first = lead(&nine.backend).await;
        let (waits, next) = (contend(&one).await, contend(&three).await);
        seen(&two, "node-0").await;
        seen(&two, "node-2").await;
        nine.kill();
        let second = won(next).await;
        assert!(!first.is_valid(), "two lead at once");
        assert!(second.token() > first.token() && !waits.is_finished(), "{scheme}");
        waits.abort();
        drop((first, second));
        close_all(vec![one, two, three]).await;
    }
}

#[tokio::test]
async fn a_higher_number_that_comes_back_waits_for_whoever_leads() {
    let cluster = Cluster::with_ids("bully", &[Some(1), Some(2), Some(9)]);
    let all = cluster.start_all(LONG).await;
    let first = lead(&all[0]).await;
    let higher = contend(&all[2]).await;
    seen(&all[1], "node-2").await;
    for_a_while().await;
    assert!(first.is_valid() && first.handover().is_none() && !higher.is_finished(), "sticky");
    first.resign().await.expect("resigns");
    drop(won(higher).await);
    close_all(all).await;
}

#[tokio::test]
async fn a_higher_number_that_preempts_is_handed_over_to() {
    for scheme in ["bully", "ring"] {
        let ids = [Some(1), Some(2), Some(9)];
        let cluster = Cluster::with_ids(scheme, &ids).options("return=preempt");
        let all = cluster.start_all(LONG).await;
        let first = lead(&all[0]).await;
        let higher = contend(&all[2]).await;
        let handover = soon("to be asked", first.draining()).await;
        assert_eq!(handover.to.expect("a name").as_str(), "node-2");
        assert!(first.is_valid(), "its work may end first");
        first.resign().await.expect("resigns");
        let second = won(higher).await;
        // A lower one does not preempt.
        let lower = contend(&all[1]).await;
        seen(&all[0], "node-1").await;
        for_a_while().await;
        assert!(second.is_valid() && second.handover().is_none() && !lower.is_finished());
        lower.abort();
        drop(second);
        close_all(all).await;
    }
}

#[tokio::test]
async fn whoever_is_not_well_is_not_picked_though_it_is_the_highest() {
    let cluster = Cluster::with_ids("bully", &[Some(1), Some(2), Some(9)]);
    let all = cluster.start_all(LONG).await;
    all[2].set_fit(Err("disk full".to_owned())).expect("told");
    let ill = contend(&all[2]).await;
    present(&all[1], "node-2").await;
    let first = lead(&all[1]).await;
    assert!(!ill.is_finished());
    all[2].set_fit(Ok(())).expect("told");
    seen(&all[0], "node-2").await;
    first.resign().await.expect("resigns");
    drop(won(ill).await);
    close_all(all).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_reaches_no_majority_is_passed_over_though_it_is_the_highest() {
    for scheme in ["bully", "ring"] {
        let (cluster, mesh) = (Cluster::new(scheme, 1), Mesh::start(5).await.expect("a network"));
        let mut all = Vec::new();
        for peer in 1..=5 {
            let config = cluster.guest(&format!("node-{peer}"), SHORT * 3);
            let config = config.data(cluster.data(peer)).me(mesh.own(peer));
            let url = format!("{scheme}://{}", mesh.list(peer));
            all.push(Backend::open_with(&url, &config).await.expect("it opens"));
        }
        let first = lead(&all[0]).await;
        let (next, highest) = (contend(&all[3]).await, contend(&all[4]).await);
        for name in ["node-4", "node-5"] {
            seen(&all[1], name).await;
        }
        // It still speaks with the one that is next, which hears of it as a candidate like any other.
        for peer in 1..=3 {
            mesh.part(peer, 5);
        }
        // Whoever is demoted names no heir.
        let demoted = async || all[1].demote(BILLING, None, "ann", None).await.is_ok();
        until("an order", demoted).await;
        drop(first);
        drop(won(next).await);
        assert!(!highest.is_finished(), "{scheme}: a term without a majority");
        mesh.heal();
        drop(won(highest).await);
        close_all(all).await;
    }
}
