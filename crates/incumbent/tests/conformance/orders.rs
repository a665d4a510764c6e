//! What operators order.

use std::time::Duration;

use incumbent::{Error, OrderError, Reason};

use crate::ground::Ground;
use crate::support::{BILLING, LONG, close_all, contend, for_a_while, lead, seen, soon, won};

pub(crate) async fn a_takeover_names_the_next_leader(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let three = ground.candidate("three", LONG).await;
    let first = lead(&one).await;
    let (passed_over, named) = (contend(&two), contend(&three));
    seen(&one, "two").await;
    seen(&one, "three").await;
    let term = Some(first.term().get());
    ground.heard_of("three").await;
    let order = two.backend().takeover(BILLING, "three", term, "ann", Some("upgrade"));
    let decree = order.await.expect("taken over");
    assert_eq!(decree.term, first.term());
    assert_eq!(decree.deposed.expect("was led").id, *one.backend().candidate());
    assert!(decree.may_act > Duration::ZERO && decree.may_act <= LONG);
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    assert!(!first.is_valid(), "a deposed leader must stop at once");
    let token = first.token();
    drop(first);
    let second = won(named).await;
    assert!(second.token() > token);
    for_a_while().await;
    assert!(!passed_over.is_finished(), "two was passed over");
    passed_over.abort();
    drop(second);
    close_all([one, two, three]).await;
}

pub(crate) async fn a_demoted_leader_lets_another_go_first(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let others = contend(&two);
    for_a_while().await;
    let order = two.backend().demote(BILLING, None, "ann", None);
    order.await.expect("demoted");
    assert_eq!(soon("the loss", first.lost()).await, Reason::Deposed);
    let token = first.token();
    drop(first);
    let second = won(others).await;
    assert!(second.token() > token);
    drop(second);
    close_all([one, two]).await;
}

pub(crate) async fn an_order_that_makes_no_sense_changes_nothing(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    let backend = one.backend();
    let unknown = backend.demote("never-held", None, "ann", None).await;
    assert!(matches!(unknown, Err(Error::Order(OrderError::Unknown))), "{unknown:?}");
    let leadership = lead(&one).await;
    let term = leadership.term().get();
    for wrong in [term - 1, term + 1] {
        let refused = backend.demote(BILLING, Some(wrong), "ann", None).await;
        assert!(matches!(refused, Err(Error::Order(OrderError::OtherTerm { .. }))), "{refused:?}");
        let refused = backend.takeover(BILLING, "two", Some(wrong), "ann", None).await;
        assert!(matches!(refused, Err(Error::Order(OrderError::OtherTerm { .. }))), "{refused:?}");
    }
    let refused = backend.takeover(BILLING, "one", None, "ann", None).await;
    assert!(matches!(refused, Err(Error::Order(OrderError::Leads { .. }))), "{refused:?}");
    soon("a renewal", leadership.extended()).await;
    assert!(leadership.is_valid());
    drop(leadership);
    close_all([one]).await;
}
