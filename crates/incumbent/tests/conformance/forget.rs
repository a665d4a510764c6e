//! Removing elections.

use incumbent::{Backend, Error, OrderError, Removal, Retry};

use crate::ground::Ground;
use crate::support::{BILLING, SHORT, close_all, lead, resign, soon, until, vanish};

/// Forgets the election once its candidates count as gone.
async fn forget(operator: &Backend) -> Removal {
    let mut removal = None;
    until("the removal of an election", async || {
        let forgotten = operator.forget(BILLING, None, "ann", Some("moved")).await;
        if let Err(error) = &forgotten {
            let refused = matches!(
                error,
                Error::Order(
                    OrderError::Led { .. }
                        | OrderError::Contended { .. }
                        | OrderError::Unwatched { .. }
                )
            ) || error.retry() == Retry::Later;
            assert!(refused, "{error:?}");
        }
        removal = forgotten.ok();
        removal.is_some()
    })
    .await;
    removal.expect("removed")
}

async fn assert_is_gone(ground: &Ground, operator: &Backend, removal: &Removal) {
    let statuses = operator.statuses().await.expect("a look");
    assert!(statuses.is_empty(), "{statuses:?}");
    assert_eq!(operator.terms(BILLING, 10).await.expect("terms"), []);
    let orders = operator.orders(BILLING, 10).await.expect("orders");
    let [order] = orders.as_slice() else { panic!("{orders:?}") };
    assert_eq!((order.verb.as_str(), order.subject.as_deref()), ("forget", Some(BILLING)));
    assert_eq!((order.term, order.actor.as_str()), (removal.term, "ann"));
    assert_eq!(order.reason.as_deref(), Some("moved"));
    if !ground.kind.is_peers() {
        assert_eq!(operator.candidates(BILLING).await.expect("a look"), []);
        let members = operator.members(BILLING).await.expect("a look");
        assert!(members.members.is_empty(), "{members:?}");
    }
    let again = operator.forget(BILLING, None, "ann", None).await;
    assert!(matches!(again, Err(Error::Order(OrderError::Unknown))), "{again:?}");
}

pub(crate) async fn a_forgotten_election_leaves_nothing_and_begins_anew_under_a_greater_token(
    ground: &Ground,
) {
    let operator = ground.open(&ground.config("operator", SHORT)).await;
    let unknown = operator.forget(BILLING, None, "ann", None).await;
    assert!(matches!(unknown, Err(Error::Order(OrderError::Unknown))), "{unknown:?}");

    let one = ground.candidate("one", SHORT).await;
    let first = lead(&one).await;
    let (token, term) = (first.token(), first.term());
    let led = operator.forget(BILLING, None, "ann", None).await;
    assert!(matches!(led, Err(Error::Order(OrderError::Led { .. }))), "{led:?}");
    assert!(first.is_valid());
    resign(first).await;
    close_all([one]).await;
    let other = operator.forget(BILLING, Some(term.get() - 1), "ann", None).await;
    assert!(matches!(other, Err(Error::Order(OrderError::OtherTerm { .. }))), "{other:?}");

    let removal = forget(&operator).await;
    assert_eq!((removal.term, removal.holder.as_str()), (term, "one"));
    assert_is_gone(ground, &operator, &removal).await;

    let two = ground.candidate("two", SHORT).await;
    let second = lead(&two).await;
    assert!(second.token() > token, "{} after {token}", second.token());
    soon("a renewal", second.extended()).await;
    let terms = operator.terms(BILLING, 10).await.expect("terms");
    assert_eq!(terms.len(), 1, "{terms:?}");
    assert_eq!(operator.statuses().await.expect("a look").len(), 1);
    drop(second);
    close_all([two]).await;
    soon("closing", operator.close()).await;
}

pub(crate) async fn an_election_whose_leader_vanished_is_not_forgotten_before_its_lease_is_over(
    ground: &Ground,
) {
    let operator = ground.open(&ground.config("operator", SHORT)).await;
    let config = ground.config("vanishing", SHORT);
    let first = vanish(async || lead(&ground.enter(&config).await).await);
    let removal = forget(&operator).await;
    assert!(!first.is_valid(), "it may still act");
    assert_eq!(removal.term, first.term());
    assert_is_gone(ground, &operator, &removal).await;

    let two = ground.candidate("two", SHORT).await;
    let second = lead(&two).await;
    assert!(second.token() > first.token(), "{} after {}", second.token(), first.token());
    drop(second);
    drop(first);
    close_all([two]).await;
    soon("closing", operator.close()).await;
}
