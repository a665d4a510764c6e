//! What operators order, and what stays in force.

use std::time::Duration;

use incumbent_protocol::lease::order::{Decree, Order, OrderError, Papers};
use incumbent_protocol::lease::request::Refusal;
use incumbent_protocol::lease::row::State;
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::time::StoreTime;

use super::place::{Candidate, Place, billing, candidate};
use crate::error::Error;
use crate::store::office::Warrant;

const ODD: &str = "it's \\ \"so\"\n🦀";

async fn order(by: &mut Candidate, order: Order) -> Result<Decree, Error> {
    let (actor, reason) = (ODD.to_owned(), Some(format!("{ODD}!")));
    let papers = Papers { actor, reason, ..Papers::default() };
    by.store.carry_out(&Warrant { election: billing(), order, papers }).await
}

/// Makes a candidate known.
async fn enroll(it: &mut Candidate) {
    let zero = StoreTime::from_micros(0);
    let line = Peer {
        id: it.me.clone(),
        profile: Profile::default(),
        priority: 0,
        presence: Presence::Ready,
        why: None,
        prefers: String::new(),
        started: zero,
        beaten_at: zero,
        every: Duration::from_mins(1),
    };
    it.store.roll(&[(&billing(), &line)], &[]).await.expect("written");
}

pub(super) async fn what_is_in_force_outlives_a_claim(place: &Place) {
    let (mut one, mut two) = (place.candidate("one").await, place.candidate("two").await);
    enroll(&mut two).await;
    let holding = one.win().await;
    let cordon = order(&mut one, Order::Cordon { name: candidate("two") }).await;
    let controls = cordon.expect("cordoned").controls;
    assert_eq!((controls.bars.len(), controls.bars[0].by.actor.as_str()), (1, ODD));
    assert_eq!(two.look().await.controls, controls);
    one.resign(holding, None).await;
    assert_eq!(two.look().await.controls, controls);
    assert!(matches!(two.lose().await.refusal, Refusal::Barred(_)));
    let holding = one.win().await;
    assert_eq!(two.look().await.controls, controls);

    order(&mut two, Order::Pause).await.expect("paused");
    assert!(one.renews(&holding).await);
    one.resign(holding, None).await;
    assert!(matches!(one.lose().await.refusal, Refusal::Paused { .. }));
    order(&mut two, Order::Resume).await.expect("resumed");
    order(&mut two, Order::Uncordon { name: candidate("two") }).await.expect("let in");
    two.win().await;
    assert!(one.look().await.controls.is_empty());
    let kept = "SELECT count(*) FROM incumbent_election WHERE controls IS NOT NULL";
    assert_eq!(place.number(kept).await, 0, "nothing in force takes no room");
}

pub(super) async fn an_heir_has_the_next_term_to_itself(place: &Place) {
    let (mut one, mut two) = (place.candidate("one").await, place.candidate("two").await);
    let holding = one.win().await;
    one.resign(holding, Some("two")).await;
    let record = one.look().await.record.expect("a row");
    assert_eq!((record.state, record.successor), (State::Released, Some(candidate("two"))));
    assert!(matches!(one.lose().await.refusal, Refusal::Reserved { .. }));
    let holding = two.win().await;
    assert_eq!(one.look().await.record.expect("a row").successor, None);
    two.resign(holding, None).await;
    assert_eq!(one.look().await.record.expect("a row").successor, None);
    one.win().await;
}

pub(super) async fn whoever_is_deposed_leaves_the_next_term_to_whom_it_is_reserved_for(
    place: &Place,
) {
    for heir in [None, Some("one")] {
        let (mut one, mut two) = (place.candidate("one").await, place.candidate("two").await);
        enroll(&mut two).await;
        let holding = one.win().await;
        let takeover = Order::Takeover { successor: candidate("two") };
        assert!(order(&mut one, takeover).await.expect("taken over").ends);
        one.resign(holding, heir).await;
        assert!(matches!(one.lose().await.refusal, Refusal::Reserved { .. }));
        let holding = two.win().await;
        two.resign(holding, None).await;
    }
}

pub(super) async fn an_order_that_ends_no_term_leaves_it_to_its_leader(place: &Place) {
    let (mut one, mut two) = (place.candidate("one").await, place.candidate("two").await);
    enroll(&mut two).await;
    let holding = one.win().await;
    let before = one.look().await.record.expect("a row");
    let (to, drain) = (candidate("two"), Duration::from_secs(9));
    let transfer = order(&mut two, Order::Transfer { to: to.clone(), drain }).await;
    assert!(!transfer.expect("asked for").ends);
    let found = two.look().await;
    assert_eq!(found.record.as_ref(), Some(&before));
    let asked = found.controls.transfer_of(before.term).expect("a transfer");
    assert_eq!((&asked.to, asked.drain()), (&to, drain));
    assert!(one.renews(&holding).await);

    // One that is refused leaves nothing behind.
    let refused = order(&mut two, Order::Resume).await;
    assert!(matches!(refused, Err(Error::Order(OrderError::NotPaused))), "{refused:?}");
    assert_eq!(two.look().await.controls, found.controls);
    assert_eq!(two.store.orders(&billing(), 9).await.expect("orders").len(), 1);

    // One that ends it takes the transfer with it.
    assert!(order(&mut two, Order::DEMOTE).await.expect("demoted").ends);
    assert!(two.look().await.controls.is_empty());
    assert!(!one.renews(&holding).await);
    let terms = two.store.terms(&billing(), 9).await.expect("terms");
    assert_eq!(
        (terms[0].ending.as_deref(), terms[0].actor.as_deref()),
        (Some("demoted"), Some(ODD))
    );
}

pub(super) async fn orders_are_listed_newest_first(place: &Place) {
    let mut one = place.candidate("one").await;
    let holding = one.win().await;
    let name = candidate("one");
    for step in [Order::Pause, Order::Resume, Order::Cordon { name }, Order::DEMOTE] {
        order(&mut one, step).await.expect("carried out");
    }
    let orders = one.store.orders(&billing(), 9).await.expect("orders");
    let words: Vec<_> = orders.iter().map(|it| (it.verb.as_str(), it.subject.as_deref())).collect();
    let wanted = [("demote", None), ("cordon", Some("one")), ("resume", None), ("pause", None)];
    assert_eq!(words, wanted);
    assert!(orders.is_sorted_by(|newer, older| newer.at >= older.at));
    for it in &orders {
        assert_eq!((it.term, it.actor.as_str()), (holding.term, ODD));
        assert_eq!(it.reason.as_deref(), Some(&*format!("{ODD}!")));
    }
    assert_eq!(one.store.orders(&billing(), 2).await.expect("orders"), orders[..2]);
}

pub(super) async fn the_newest_thousand_orders_are_kept(place: &Place) {
    let mut one = place.candidate("one").await;
    one.win().await;
    let row = |at: u32| format!("('billing', {at}, 'pause', '', 1, 'ann', NULL)");
    let rows = (1..=1_000).map(row).collect::<Vec<_>>().join(", ");
    let other = "('mail', 1, 'pause', '', 1, 'ann', NULL)";
    let columns = "election, at_us, verb, subject, term, actor, reason";
    place.run(&format!("INSERT INTO incumbent_order ({columns}) VALUES {rows}, {other}")).await;
    order(&mut one, Order::Pause).await.expect("paused");
    let kept = "SELECT count(*) FROM incumbent_order WHERE election = 'billing'";
    assert_eq!(place.number(kept).await, 1_000);
    assert_eq!(place.number("SELECT count(*) FROM incumbent_order WHERE at_us = 1").await, 1);
    assert_eq!(one.store.orders(&billing(), 9).await.expect("orders")[0].actor, ODD);
}
