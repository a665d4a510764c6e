//! The network and other people's transactions get in the way.

use std::time::Duration;

use incumbent::{Change, Reason, lease_clock_nanos};
use incumbent_testbed::Way;

use crate::ground::Ground;
use crate::message::lone_commit;
use crate::support::{BILLING, LONG, SHORT, change, close_all, contend, for_a_while, lead, resign};
use crate::support::{soon, until, won};
use crate::users::{send, with_pool};

pub(crate) async fn a_bid_whose_answers_are_lost_never_makes_two_leaders(ground: &Ground) {
    let two = ground.candidate("two", SHORT).await;
    let (proxy, one) = ground.behind_a_proxy("one", SHORT).await;
    let mut changes = one.observe().expect("observes");
    proxy.drop_replies(true);
    let waiting = contend(&one);
    let is_trouble = |change: &Change| matches!(change, Change::Trouble { .. }).then_some(());
    change("the trouble", &mut changes, is_trouble).await;
    assert!(!waiting.is_finished(), "one leads on an answer that it cannot have");
    // Whatever one's bids did to the rows, another can lead after a lease.
    let second = lead(&two).await;
    for_a_while().await;
    assert!(!waiting.is_finished());
    proxy.drop_replies(false);
    change("all is well", &mut changes, |change| (*change == Change::Well).then_some(())).await;
    let token = second.token();
    drop(second);
    let first = won(waiting).await;
    assert!(first.token() > token);
    drop(first);
    close_all([one, two]).await;
}

pub(crate) async fn a_claim_that_was_committed_unheard_is_not_led_under(ground: &Ground) {
    let (proxy, one) = ground.behind_a_proxy("one", SHORT).await;
    proxy.reset_on_reply(lone_commit(ground));
    let first = lead(&one).await;
    assert!(proxy.fired(), "the commit was answered");
    let terms = one.backend().terms(BILLING, 9).await.expect("terms");
    assert_eq!(terms[0].term, first.term());
    assert!(terms.len() >= 2, "the unheard claim is kept: {terms:?}");
    drop(first);
    close_all([one]).await;
}

pub(crate) async fn a_leader_that_is_cut_off_stops_before_it_is_followed(ground: &Ground) {
    let (proxy, one) = ground.behind_a_proxy("one", SHORT).await;
    let two = ground.candidate("two", SHORT).await;
    let first = lead(&one).await;
    let waiting = contend(&two);
    proxy.silence(Way::Both);
    soon("the loss", first.lost()).await;
    let second = won(waiting).await;
    assert!(lease_clock_nanos() > first.valid_until_nanos());
    assert!(!first.is_valid(), "two lead at once");
    assert!(second.token() > first.token());
    proxy.silence(Way::None);
    drop(first);
    let back = contend(&one);
    let token = second.token();
    resign(second).await;
    assert!(won(back).await.token() > token);
    close_all([one, two]).await;
}

/// In SQLite every writer keeps all others waiting, so there the long transaction is one that reads.
pub(crate) async fn renewals_go_on_beside_long_transactions(ground: &Ground) {
    let one = ground.candidate("one", LONG).await;
    ground.users.run("INSERT INTO ledger VALUES (1, 'first')").await;
    let leadership = lead(&one).await;
    with_pool!(&ground.users, pool => {
        let mut long = pool.begin().await.expect("begins");
        if ground.kind.is_file() {
            send!("SELECT * FROM ledger", &mut *long).expect("reads");
        } else {
            send!("UPDATE ledger SET note = 'locked' WHERE entry = 1", &mut *long).expect("locks");
            let mut fenced = leadership.transaction(pool).await.expect("begins");
            send!("INSERT INTO ledger VALUES (2, 'fenced')", &mut *fenced).expect("inserts");
            three_renewals(&leadership).await;
            fenced.commit().await.expect("commits");
        }
        three_renewals(&leadership).await;
        long.rollback().await.expect("ends");
    });
    assert!(leadership.is_valid());
    drop(leadership);
    close_all([one]).await;
}

async fn three_renewals(leadership: &incumbent::Leadership) {
    for _ in 0..3 {
        let before = leadership.valid_until_nanos();
        until("a renewal", async || leadership.valid_until_nanos() > before).await;
    }
}

/// A database that took the place of another is asked again what is asked at the start.
pub(crate) async fn nobody_is_elected_once_a_table_forgets(ground: &Ground) {
    let one = ground.candidate("one", SHORT).await;
    let (worse, better) = if ground.kind.is_postgres() {
        ("SET UNLOGGED", "SET LOGGED")
    } else {
        ("ENGINE = MyISAM", "ENGINE = InnoDB")
    };
    let alter = |how: &str| format!("ALTER TABLE incumbent_election {how}");
    // MariaDB knows to the second when a table was made.
    tokio::time::sleep(Duration::from_secs(1)).await;
    ground.superuser().run(&alter(worse)).await;
    let waiting = contend(&one);
    tokio::time::sleep(SHORT * 3).await;
    assert!(!waiting.is_finished(), "elected on a table that forgets");
    assert_eq!(ground.held().await, 0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    ground.superuser().run(&alter(better)).await;
    assert!(won(waiting).await.is_valid());
    close_all([one]).await;
}

pub(crate) async fn a_table_dropped_under_a_leader_ends_its_leadership(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let mut changes = one.observe().expect("observes");
    let leadership = lead(&one).await;
    let waiting = contend(&two);
    for_a_while().await;
    ground.users.run("DROP TABLE incumbent_beat").await;
    let reason = soon("the loss", leadership.lost()).await;
    assert_eq!(reason, Reason::Deposed, "it is lost at once, not when the lease ends");
    assert!(!leadership.is_valid());
    let problem = change("the trouble", &mut changes, |change| match change {
        Change::Trouble { problem, .. } => Some(problem.clone()),
        _ => None,
    })
    .await;
    assert!(problem.contains("incumbent_beat"), "{problem}");
    let told = soon("an answer", waiting).await.expect("no panic").map(drop);
    let told = told.expect_err("there is no table").to_string();
    assert!(told.contains("incumbent_beat"), "{told}");
    drop(leadership);
    let told = soon("an answer", one.campaign()).await.map(drop).expect_err("there is no table");
    assert!(told.to_string().contains("restore"), "{told}");
    let late = ground.open_at(&ground.url, &incumbent::Config::new()).await.map(drop);
    let late = late.expect_err("there is no table").to_string();
    assert!(late.contains("missing") || late.contains("incumbent_beat"), "{late}");
}
