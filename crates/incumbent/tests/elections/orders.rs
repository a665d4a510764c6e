//! What operators order: demote, take over.

use std::time::{Duration, Instant};

use incumbent::{Error, OrderError, Reason};

use crate::support::{BILLING, LONG, Place, SHORT, config, contend, for_a_while, lead, soon, won};

#[tokio::test]
async fn a_takeover_makes_the_named_candidate_the_next_leader() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let two = place.candidate("two", LONG).await;
    let three = place.candidate("three", LONG).await;
    let first = lead(&one).await;
    let (passed_over, named) = (contend(&two), contend(&three));
    for_a_while().await;
    let decree = two
        .backend()
        .takeover(BILLING, "three", Some(first.term().get()), "ann", Some("upgrade"))
        .await
        .expect("taken over");
    assert_eq!(decree.term, first.term());
    assert_eq!(decree.deposed.expect("was led").id, *one.backend().candidate());
    assert!(decree.may_act > Duration::ZERO && decree.may_act <= LONG);

    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    assert!(!first.is_valid(), "a deposed leader must stop at once");
    assert_eq!(first.remaining(), Duration::ZERO);
    let token = first.token();
    // It lets go, so that the successor need not wait for the rest of the lease.
    drop(first);
    let second = won(named).await;
    assert!(second.token() > token);
    assert!(!passed_over.is_finished(), "two was passed over");
    passed_over.abort();
}

#[tokio::test]
async fn a_takeover_for_a_candidate_that_is_gone_delays_the_others_by_two_leases_at_most() {
    let place = Place::new();
    let one = place.candidate("one", SHORT).await;
    let two = place.candidate("two", SHORT).await;
    let first = lead(&one).await;
    let waiting = contend(&two);
    let gone = place.candidate("gone", SHORT).await;
    let contending = contend(&gone);
    for_a_while().await;
    contending.abort();
    gone.backend().clone().close().await;
    let ordered = Instant::now();
    let decree = two.backend().takeover(BILLING, "gone", None, "ann", None);
    decree.await.expect("taken over");
    soon("the loss", first.lost()).await;
    drop(first);
    let second = won(waiting).await;
    assert!(second.is_valid());
    assert!(ordered.elapsed() >= SHORT, "the reservation must stand for a lease");
}

#[tokio::test]
async fn a_takeover_for_a_name_that_was_never_seen_is_refused_and_changes_nothing() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let first = lead(&one).await;
    let before = one.status().await.expect("status").record;
    let order = one.backend().takeover(BILLING, "nobody", None, "ann", None).await;
    let error = order.expect_err("refused");
    assert!(matches!(error, Error::Order(OrderError::NoSuchCandidate { .. })), "{error}");
    let after = one.status().await.expect("status").record;
    assert_eq!(after.map(|r| (r.term, r.state)), before.map(|r| (r.term, r.state)));
    assert!(first.is_valid());
}

#[tokio::test]
async fn an_order_for_another_term_is_refused_and_changes_nothing() {
    let place = Place::new();
    let election = place.candidate("one", LONG).await;
    let (backend, leadership) = (election.backend(), lead(&election).await);
    let term = leadership.term();
    for wrong in [term.get() - 1, term.get() + 1, 1] {
        let refused = backend.demote(BILLING, Some(wrong), "ann", None).await;
        assert!(
            matches!(&refused, Err(Error::Order(OrderError::OtherTerm { meant, found }))
                if meant.get() == wrong && *found == term),
            "{refused:?}"
        );
        let refused = backend.takeover(BILLING, "two", Some(wrong), "ann", None).await;
        assert!(matches!(refused, Err(Error::Order(OrderError::OtherTerm { .. }))), "{refused:?}");
    }
    for_a_while().await;
    assert!(leadership.is_valid());
}

#[tokio::test]
async fn an_order_for_term_zero_hits_nobody() {
    let place = Place::new();
    let election = place.candidate("one", LONG).await;
    let leadership = lead(&election).await;
    let refused = election.backend().demote(BILLING, Some(0), "ann", None);
    let refused = refused.await;
    assert!(refused.is_err(), "{refused:?}");
    for_a_while().await;
    assert!(leadership.is_valid(), "there was never a term 0 to end");
}

#[tokio::test]
async fn an_order_that_makes_no_sense_says_why() {
    let place = Place::new();
    let election = place.candidate("one", LONG).await;
    let backend = election.backend();
    let refused = backend.demote("never-held", None, "ann", None).await;
    assert!(matches!(refused, Err(Error::Order(OrderError::Unknown))), "{refused:?}");
    let leadership = lead(&election).await;
    let refused = backend.takeover(BILLING, "one", None, "ann", None).await;
    assert!(matches!(refused, Err(Error::Order(OrderError::Leads { .. }))), "{refused:?}");
    let refused = backend.takeover(BILLING, "o n e", None, "ann", None).await;
    assert!(matches!(refused, Err(Error::Name(_))), "{refused:?}");
    leadership.resign().await.expect("resigns");
    let refused = backend.demote(BILLING, None, "ann", None).await;
    assert!(matches!(refused, Err(Error::Order(OrderError::Vacant))), "{refused:?}");
}

#[tokio::test]
async fn a_demoted_leader_lets_another_go_first() {
    let place = Place::new();
    let lease = Duration::from_secs(3);
    let one = place.candidate("one", lease).await;
    let two = place.candidate("two", lease).await;
    let first = lead(&one).await;
    let others = contend(&two);
    for_a_while().await;
    let by = place.open(&config("operator", lease)).await;
    let decree = by.demote(BILLING, Some(first.term().get()), "ann", Some("test"));
    decree.await.expect("demoted");
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    assert!(!first.is_valid());
    drop(first);
    let again = contend(&one);
    let second = won(others).await;
    assert!(second.is_valid());
    assert!(!again.is_finished(), "one leads beside two");
    again.abort();
}

#[tokio::test]
async fn an_order_can_be_given_by_somebody_who_takes_no_part() {
    let place = Place::new();
    let one = place.candidate("one", LONG).await;
    let first = lead(&one).await;
    let config = config("operator", LONG);
    let operator = incumbent::Backend::open_existing(&place.url(), &config).await;
    let operator = operator.expect("opens");
    let status = operator.status(BILLING).await.expect("a look");
    assert_eq!(status.leader().expect("leads").term, first.term());
    let decree = operator.demote(BILLING, None, "ann", None).await;
    assert_eq!(decree.expect("demoted").term, first.term());
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
}
