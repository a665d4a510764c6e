//! Demand 10: what operators order, with the store alone.

use std::time::Duration;

use incumbent::{Backend, Decree, Error, Order, OrderError, Reason};

use crate::support::{
    BILLING, LONG, Place, SHORT, config, contend, for_a_while, lead, leader, resign, seen, soon,
    until, won,
};

/// Somebody who takes no part.
struct Operator(Backend);

impl Operator {
    async fn at(place: &Place) -> Operator {
        let opened = Backend::open_existing(&place.url, &config("operator", LONG)).await;
        Operator(opened.expect("opens"))
    }

    async fn order(&self, order: Order) -> Result<Decree, Error> {
        self.0.order(BILLING, order, None, "ann", Some("moving the rack")).await
    }

    /// What was ordered, newest first, each with its actor and its reason.
    async fn audit(&self) -> Vec<String> {
        let orders = self.0.orders(BILLING, 99).await.expect("orders");
        let signed = |it: &incumbent::OrderRecord| it.reason.as_deref() == Some("moving the rack");
        assert!(orders.iter().all(|it| it.actor == "ann" && signed(it)), "{orders:?}");
        orders.into_iter().map(|it| it.verb).collect()
    }
}

fn transfer(to: &str) -> Order {
    Order::Transfer { to: to.parse().expect("a name"), drain: Duration::from_mins(1) }
}

// To move a leader people deleted rows or killed processes, and hoped for the best. Here it is asked to
// hand over to whom they name, who need not be reached for that, and it is written down who asked.
#[tokio::test]
async fn p10_a_leader_is_transferred_to_a_named_candidate_in_good_order() {
    for place in [Place::file(), Place::postgres().await, Place::mariadb().await] {
        let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
        let three = place.candidate("three", LONG).await;
        let (first, others) = (lead(&one).await, [contend(&three), contend(&two)]);
        seen(&one, "two").await;
        seen(&one, "three").await;
        let operator = Operator::at(&place).await;
        operator.order(transfer("two")).await.expect("ordered");
        let asked = soon("to be asked", first.draining()).await;
        assert_eq!(asked.to.map(|to| to.to_string()).as_deref(), Some("two"));
        assert_eq!(asked.by.actor, "ann");
        soon("a renewal", first.extended()).await;
        resign(first).await;
        let [three_waits, two_waits] = others;
        let second = won(two_waits).await;
        for_a_while().await;
        assert!(second.is_valid() && !three_waits.is_finished());
        three_waits.abort();
        assert_eq!(operator.audit().await, ["transfer"]);
    }
}

// Maintenance began with stopping every standby, one by one. Here nobody wins while an election is
// paused, and whoever leads goes on.
#[tokio::test]
async fn p10_nobody_wins_a_paused_election() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let (first, waits) = (lead(&one).await, contend(&two));
    let operator = Operator::at(&place).await;
    operator.order(Order::Pause).await.expect("paused");
    soon("a renewal", first.extended()).await;
    resign(first).await;
    for_a_while().await;
    assert!(!waits.is_finished() && leader(&one).await.is_empty());
    operator.order(Order::Resume).await.expect("resumed");
    assert!(won(waits).await.is_valid());
    assert_eq!(operator.audit().await, ["resume", "pause"]);
}

// A leader that was sent away came straight back. Here it stays away for as long as was ordered.
#[tokio::test]
async fn p10_a_demoted_leader_is_held_off() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", SHORT).await, place.candidate("two", SHORT).await);
    let first = lead(&one).await;
    let operator = Operator::at(&place).await;
    let hold_off = Duration::from_mins(2);
    let decree = operator.order(Order::Demote { hold_off }).await.expect("demoted");
    assert!(decree.may_act > Duration::ZERO, "it says for how long the old one may still act");
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    resign(first).await;
    let returns = contend(&one);
    resign(lead(&two).await).await;
    // Without a hold-off it would be back after a lease.
    tokio::time::sleep(SHORT + SHORT / 2).await;
    assert!(!returns.is_finished() && leader(&two).await.is_empty());
    operator.order(Order::Uncordon { name: "one".parse().expect("a name") }).await.expect("lifted");
    assert!(won(returns).await.is_valid());
}

// A verb with a slip of the pen left an election without a leader. Here what makes no sense is refused
// and changes nothing.
#[tokio::test]
async fn p10_an_order_that_makes_no_sense_is_refused_and_changes_nothing() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", LONG).await, place.candidate("two", LONG).await);
    let (first, waits) = (lead(&one).await, contend(&two));
    seen(&one, "two").await;
    let operator = Operator::at(&place).await;
    let unheard_of = operator.order(transfer("tow")).await;
    assert!(matches!(unheard_of, Err(Error::Order(OrderError::NoSuchCandidate { .. }))));
    let name = "two".parse().expect("a name");
    operator.order(Order::Cordon { name }).await.expect("cordoned");
    let cordoned = operator.order(transfer("two")).await;
    assert!(matches!(cordoned, Err(Error::Order(OrderError::Cordoned { .. }))), "{cordoned:?}");
    let own = operator.order(transfer("one")).await;
    assert!(matches!(own, Err(Error::Order(OrderError::Leads { .. }))), "{own:?}");
    operator.order(Order::Pause).await.expect("paused");
    let paused = operator.order(Order::DEMOTE).await;
    assert!(matches!(paused, Err(Error::Order(OrderError::Paused))), "{paused:?}");
    until("everybody heard of that", async || {
        operator.0.status(BILLING).await.expect("a look").controls.paused.is_some()
    })
    .await;
    for_a_while().await;
    assert!(first.is_valid() && first.handover().is_none() && !waits.is_finished());
    assert_eq!(operator.audit().await, ["pause", "cordon"]);
    waits.abort();
}
