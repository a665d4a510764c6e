//! What operators order.

use incumbent::{Order, Reason, Sight};

use crate::support::{
    BILLING, Cluster, LONG, close_all, contend, for_a_while, lead, leader, seen, soon, until, won,
};

#[tokio::test]
async fn a_demoted_leader_lets_another_go_first() {
    for scheme in ["ring", "bully"] {
        // The demoted one has the highest number, and yet another goes first.
        let cluster = Cluster::with_ids(scheme, &[Some(9), Some(1), Some(2)]);
        let all = cluster.start_all(LONG).await;
        let first = lead(&all[0]).await;
        let other = contend(&all[1]).await;
        seen(&all[2], "node-1").await;
        all[2].demote(BILLING, None, "ann", Some("too slow")).await.expect("demoted");
        assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
        let token = first.token();
        drop(first);
        let again = contend(&all[0]).await;
        let second = won(other).await;
        assert!(second.token() > token && !again.is_finished());
        again.abort();
        drop(second);
        close_all(all).await;
    }
}

#[tokio::test]
async fn a_cordoned_node_does_not_win_though_it_has_the_highest_number() {
    for scheme in ["ring", "bully"] {
        let cluster = Cluster::with_ids(scheme, &[Some(1), Some(2), Some(9)]);
        let all = cluster.start_all(LONG).await;
        let first = lead(&all[0]).await;
        let (kept_out, next) = (contend(&all[2]).await, contend(&all[1]).await);
        seen(&all[0], "node-1").await;
        seen(&all[0], "node-2").await;
        let name = || "node-2".parse().expect("a name");
        let cordon = Order::Cordon { name: name() };
        all[0].order(BILLING, cordon, None, "ann", Some("bad disk")).await.expect("cordoned");
        first.resign().await.expect("resigns");
        let second = won(next).await;
        assert!(!kept_out.is_finished(), "cordoned");
        let uncordon = Order::Uncordon { name: name() };
        all[0].order(BILLING, uncordon, None, "ann", None).await.expect("let in again");
        second.resign().await.expect("resigns");
        drop(won(kept_out).await);
        close_all(all).await;
    }
}

#[tokio::test]
async fn nobody_is_elected_while_paused() {
    for scheme in ["ring", "bully"] {
        let cluster = Cluster::new(scheme, 3);
        let all = cluster.start_all(LONG).await;
        let first = lead(&all[0]).await;
        all[1].order(BILLING, Order::Pause, None, "ann", Some("storm")).await.expect("paused");
        soon("a renewal", first.extended()).await;
        assert!(first.is_valid(), "whoever leads goes on");
        let waiting = contend(&all[1]).await;
        first.resign().await.expect("resigns");
        for_a_while().await;
        assert!(!waiting.is_finished(), "paused");
        let status = all[2].status(BILLING).await.expect("a look");
        assert!(status.controls.paused.is_some() && status.sight == Sight::Vacant);
        all[2].order(BILLING, Order::Resume, None, "ann", None).await.expect("resumed");
        drop(won(waiting).await);
        close_all(all).await;
    }
}

#[tokio::test]
async fn a_transfer_goes_to_whom_it_names_whatever_its_number() {
    for scheme in ["ring", "bully"] {
        let cluster = Cluster::with_ids(scheme, &[Some(5), Some(9), Some(1)]);
        let all = cluster.start_all(LONG).await;
        let first = lead(&all[0]).await;
        let (passed_over, named) = (contend(&all[1]).await, contend(&all[2]).await);
        seen(&all[0], "node-1").await;
        seen(&all[0], "node-2").await;
        let drain = std::time::Duration::from_mins(1);
        let order = Order::Transfer { to: "node-2".parse().expect("a name"), drain };
        all[1].order(BILLING, order, None, "ann", None).await.expect("ordered");
        soon("to be asked", first.draining()).await;
        first.resign().await.expect("resigns");
        let second = won(named).await;
        until("all see it", async || leader(&all[0]).await == "node-2").await;
        assert!(!passed_over.is_finished());
        passed_over.abort();
        drop(second);
        close_all(all).await;
    }
}
