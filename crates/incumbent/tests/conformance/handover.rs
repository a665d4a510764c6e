//! Leaders that are asked to end their work and then to let go.

use std::time::Duration;

use incumbent::{Change, Order, Presence, Reason, Sight};

use crate::ground::Ground;
use crate::support::{
    BILLING, LONG, SHORT, change, close_all, contend, for_a_while, lead, resign, seen, soon, until,
    won,
};

const DRAIN: Duration = Duration::from_mins(1);

fn transfer(to: &str, drain: Duration) -> Order {
    Order::Transfer { to: to.parse().expect("a name"), drain }
}

pub(crate) async fn a_transfer_lets_the_work_end_first_and_then_the_named_one_leads(
    ground: &Ground,
) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let three = ground.candidate("three", LONG).await;
    let first = lead(&one).await;
    let (passed_over, named) = (contend(&two), contend(&three));
    seen(&one, "two").await;
    seen(&one, "three").await;
    let order = two.backend().order(BILLING, transfer("three", DRAIN), None, "ann", Some("patch"));
    let decree = order.await.expect("ordered");
    assert!(!decree.ends, "the leader is only asked");
    let handover = soon("to be asked", first.draining()).await;
    assert_eq!(handover.to.as_ref().map(ToString::to_string).as_deref(), Some("three"));
    assert_eq!((handover.by.actor.as_str(), handover.within), ("ann", DRAIN));
    // Work may take its time: it is still led, by the same one.
    soon("a renewal", first.extended()).await;
    assert!(first.is_valid() && !named.is_finished());
    let token = first.token();
    resign(first).await;
    let second = won(named).await;
    assert!(second.token() > token);
    assert!(!passed_over.is_finished(), "two was passed over");
    passed_over.abort();
    let orders = one.backend().orders(BILLING, 9).await.expect("orders");
    assert_eq!((orders[0].verb.as_str(), orders[0].actor.as_str()), ("transfer", "ann"));
    assert_eq!(orders[0].subject.as_deref(), Some("three"));
    assert_eq!(orders[0].reason.as_deref(), Some("patch"));
    drop(second);
    close_all([one, two, three]).await;
}

pub(crate) async fn work_that_does_not_end_is_ended_when_the_time_for_it_is_up(ground: &Ground) {
    let (one, two) = (ground.candidate("one", SHORT).await, ground.candidate("two", SHORT).await);
    let first = lead(&one).await;
    let named = contend(&two);
    seen(&one, "two").await;
    let order = transfer("two", Duration::from_millis(200));
    one.backend().order(BILLING, order, None, "ann", None).await.expect("ordered");
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    // Nobody lets go: the named one still waits for what is left of the lease.
    let second = won(named).await;
    assert!(second.token() > first.token());
    drop((first, second));
    close_all([one, two]).await;
}

pub(crate) async fn a_hand_over_goes_on_when_nobody_waits_for_it(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let next = contend(&two);
    let asking = one.clone();
    let given_up = tokio::spawn(async move { asking.hand_over(None).await });
    soon("to be asked", first.draining()).await;
    given_up.abort();
    let _ = given_up.await;
    assert!(first.is_valid());
    let line = || async {
        let peers = two.backend().candidates(BILLING).await.expect("a roll");
        peers.iter().any(|peer| peer.presence == Presence::Draining)
    };
    until("the others to see it drain", async || line().await).await;
    resign(first).await;
    drop(won(next).await);
    close_all([one, two]).await;
}

pub(crate) async fn nobody_is_elected_while_paused_and_whoever_leads_goes_on(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let backend = two.backend();
    backend.order(BILLING, Order::Pause, None, "ann", Some("storm")).await.expect("paused");
    soon("a renewal", first.extended()).await;
    assert!(first.is_valid(), "whoever leads goes on");
    let mut changes = two.observe().expect("observes");
    let waiting = contend(&two);
    let why = change("an obstacle", &mut changes, |change| match change {
        Change::Obstacle { why } => why.clone(),
        _ => None,
    });
    assert!(why.await.contains("storm"));
    resign(first).await;
    for_a_while().await;
    assert!(!waiting.is_finished(), "paused");
    let status = two.status().await.expect("status");
    assert!(status.controls.paused.is_some() && status.sight == Sight::Vacant);
    backend.order(BILLING, Order::Resume, None, "ann", None).await.expect("resumed");
    drop(won(waiting).await);
    close_all([one, two]).await;
}

pub(crate) async fn a_cordoned_candidate_does_not_win_and_another_does(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let three = ground.candidate("three", LONG).await;
    let first = lead(&one).await;
    let kept_out = contend(&two);
    seen(&one, "two").await;
    let cordon = Order::Cordon { name: "two".parse().expect("a name") };
    one.backend().order(BILLING, cordon, None, "ann", Some("bad disk")).await.expect("cordoned");
    let to_it = one.backend().order(BILLING, transfer("two", DRAIN), None, "ann", None).await;
    assert!(to_it.is_err_and(|error| error.to_string().contains("cordoned")));
    let next = contend(&three);
    seen(&one, "three").await;
    resign(first).await;
    let second = won(next).await;
    assert!(!kept_out.is_finished(), "cordoned");
    let uncordon = Order::Uncordon { name: "two".parse().expect("a name") };
    one.backend().order(BILLING, uncordon, None, "ann", None).await.expect("let in again");
    resign(second).await;
    drop(won(kept_out).await);
    close_all([one, two, three]).await;
}

pub(crate) async fn whoever_is_demoted_with_a_hold_off_does_not_win_for_that_long(ground: &Ground) {
    let one = ground.candidate("one", SHORT).await;
    let first = lead(&one).await;
    let hold_off = SHORT * 4;
    let order = Order::Demote { hold_off };
    let before = one.status().await.expect("status").now;
    one.backend().order(BILLING, order, None, "ann", None).await.expect("demoted");
    soon("the loss", first.lost()).await;
    drop(first);
    let again = lead(&one).await;
    let since = one.status().await.expect("status").record.expect("a row").since;
    assert!(since.since(before) >= hold_off, "it won too early");
    drop(again);
    close_all([one]).await;
}
