//! Demands 1 to 3: nobody acts, or believes that it leads, who does not.

use incumbent::{Change, Error, Fence, Leadership};
use sqlx::postgres::PgPoolOptions;
use sqlx::sqlite::SqlitePoolOptions;

use crate::support::{
    BILLING, LONG, Place, SHORT, change, config, contend, for_a_while, lead, resign, seen, soon,
    won,
};

fn is_fenced<T>(done: Result<T, Error>, first: &Leadership) {
    match done {
        Err(Error::Fenced { term, .. }) => assert_eq!(term, first.term().get()),
        other => panic!("a deposed leader wrote: {:?}", other.map(drop)),
    }
}

// A leader that was paused or cut off woke up and went on writing beside its successor. Here every
// leadership has a number that grows; a resource refuses the lower one, and so does the database.
#[tokio::test]
async fn p01_a_stale_leader_is_refused_by_the_fence_and_by_the_transaction() {
    let place = Place::file();
    let (one, two) = (place.candidate("one", SHORT).await, place.candidate("two", SHORT).await);
    let pool = SqlitePoolOptions::new().connect(&place.url).await.expect("a pool");
    let fence = Fence::new();
    let first = lead(&one).await;
    fence.admit(first.token().get()).expect("admitted");
    drop(soon("a transaction", first.transaction(&pool)).await.expect("it leads"));
    let waits = contend(&two);
    one.backend().demote(BILLING, None, "ann", None).await.expect("demoted");
    let second = won(waits).await;
    fence.admit(second.token().get()).expect("admitted");
    fence.admit(first.token().get()).expect_err("it is over");
    is_fenced(first.transaction(&pool).await, &first);
}

// The same for a write that was begun in time, and would be committed too late.
#[tokio::test]
async fn p01_work_that_was_begun_before_a_succession_is_not_committed_after_it() {
    let place = Place::postgres().await;
    let (one, two) = (place.candidate("one", SHORT).await, place.candidate("two", SHORT).await);
    let pool = PgPoolOptions::new().connect(&place.url).await.expect("a pool");
    sqlx::raw_sql("CREATE TABLE ledger (entry INT)").execute(&pool).await.expect("a table");
    let first = lead(&one).await;
    let mut work = first.transaction(&pool).await.expect("begins");
    let insert = sqlx::raw_sql("INSERT INTO ledger VALUES (1)");
    insert.execute(&mut *work).await.expect("inserts");
    let waits = contend(&two);
    one.backend().demote(BILLING, None, "ann", None).await.expect("demoted");
    let second = won(waits).await;
    is_fenced(soon("an answer", work.commit()).await, &first);
    let count = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM ledger").fetch_one(&pool).await;
    assert_eq!(count.expect("a number"), 0);
    assert!(second.token() > first.token());
}

// A process took a row with its own name in it for its own leadership, for weeks. Here a term belongs
// to one life of one process: another of the same name neither keeps nor ends it.
#[tokio::test]
async fn p02_a_leadership_is_of_one_life_and_not_of_a_name() {
    let place = Place::file();
    let (one, other) = (place.candidate("ann", SHORT).await, place.candidate("ann", SHORT).await);
    let first = lead(&one).await;
    let waits = contend(&other);
    one.backend().demote(BILLING, None, "ann", None).await.expect("demoted");
    let second = won(waits).await;
    let leader = one.leader().await.expect("a look").expect("a leader");
    assert_eq!(leader.id.name, one.backend().candidate().name);
    assert!(!first.is_valid(), "its name leads, it does not");
    // It lets go of what it thinks it has.
    resign(first).await;
    soon("a renewal", second.extended()).await;
    assert!(second.is_valid());
    assert_eq!(other.leader().await.expect("a look").map(|it| it.term), Some(second.term()));
}

// A client kept its last state when an answer was lost, and believed that it led. Here no answer is no
// leadership, neither a new one nor beyond the lease of an old one.
#[tokio::test]
async fn p02_whoever_hears_nothing_does_not_believe_that_it_leads() {
    let place = Place::postgres().await;
    let (proxy, one) = place.behind_a_proxy(&config("one", SHORT)).await;
    let two = place.candidate("two", SHORT).await;
    proxy.drop_replies(true);
    let deaf = contend(&one);
    for_a_while().await;
    assert!(!deaf.is_finished(), "it leads by hearsay");
    proxy.drop_replies(false);
    let first = won(deaf).await;
    let waits = contend(&two);
    proxy.drop_replies(true);
    let second = won(waits).await;
    assert!(!first.is_valid(), "its renewals may have arrived, but nobody told it so");
    assert!(second.token() > first.token());
}

// Two processes were started with one name and both led, or fought for ever without a word. Here each
// has an identity of its own, only one leads, and both are told of each other.
#[tokio::test]
async fn p03_two_processes_of_one_name_are_told_of_each_other_and_never_both_lead() {
    let place = Place::file();
    let (one, other) = (place.candidate("ann", LONG).await, place.candidate("ann", LONG).await);
    let (me, twin) = (one.backend().candidate(), other.backend().candidate());
    assert!(me.name == twin.name && me != twin);
    let mut heard = (one.observe().expect("observes"), other.observe().expect("observes"));
    let first = lead(&one).await;
    let waits = contend(&other);
    let who = |change: &Change| match change {
        Change::Twin { who } => Some(who.clone()),
        _ => None,
    };
    assert_eq!(change("the other", &mut heard.0, who).await, *twin);
    assert_eq!(change("the one", &mut heard.1, who).await, *me);
    assert!(first.is_valid() && !waits.is_finished(), "both lead");
    seen(&one, "ann").await;
    resign(first).await;
    assert!(won(waits).await.is_valid());
}
