//! Who is preferred, by either protocol and on every ground.

use std::collections::BTreeMap;
use std::time::Duration;

use incumbent::{Change, Config, Election, Order};

use crate::ground::Ground;
use crate::support::{
    BILLING, Campaign, LONG, SHORT, change, close_all, contend, for_a_while, lead, resign, seen,
    soon, until, won,
};

/// A lease in which a candidate can be started anew.
const STEADY: Duration = Duration::from_secs(20);

async fn with(ground: &Ground, name: &str, how: impl Fn(Config) -> Config) -> Election {
    ground.enter(&how(ground.config(name, LONG))).await
}

async fn leader(election: &Election) -> String {
    let leader = election.leader().await.expect("a look");
    leader.map(|leader| leader.id.name.to_string()).unwrap_or_default()
}

pub(crate) async fn a_leader_that_stops_is_followed_by_whoever_is_preferred(ground: &Ground) {
    let prefer = |config: Config| config.prefer("zone=near".parse().expect("a preference"));
    let one = with(ground, "one", prefer).await;
    let first = lead(&one).await;
    let far = with(ground, "far", |c| prefer(c).label("zone", "far")).await;
    let high = with(ground, "high", |c| prefer(c).label("zone", "far").priority(5)).await;
    let near = with(ground, "near", |c| prefer(c).label("zone", "near")).await;
    let campaigns = [contend(&far), contend(&near), contend(&high)];
    for name in ["far", "near", "high"] {
        seen(&one, name).await;
    }
    rolls_pass().await;
    resign(first).await;
    until("the one with the highest priority", async || leader(&one).await == "high").await;
    let [far_waits, near_waits, high_won] = campaigns;
    let second = won(high_won).await;
    rolls_pass().await;
    resign(second).await;
    until("the one in the zone", async || leader(&one).await == "near").await;
    drop(won(near_waits).await);
    far_waits.abort();
    close_all([one, far, high, near]).await;
}

/// Gives everybody the time to hear of everybody.
async fn rolls_pass() {
    tokio::time::sleep(Duration::from_millis(700)).await;
}

pub(crate) async fn a_transfer_goes_to_whom_it_names_however_little_preferred(ground: &Ground) {
    let one = with(ground, "one", |c| c.priority(9)).await;
    let first = lead(&one).await;
    let high = with(ground, "high", |c| c.priority(9)).await;
    let low = with(ground, "low", |c| c).await;
    let (passed_over, named) = (contend(&high), contend(&low));
    seen(&one, "high").await;
    seen(&one, "low").await;
    rolls_pass().await;
    let drain = Duration::from_mins(1);
    let order = Order::Transfer { to: "low".parse().expect("a name"), drain };
    one.backend().order(BILLING, order, None, "ann", None).await.expect("ordered");
    soon("to be asked", first.draining()).await;
    resign(first).await;
    let second = won(named).await;
    assert!(second.is_valid() && !passed_over.is_finished(), "high was passed over");
    passed_over.abort();
    drop(second);
    close_all([one, high, low]).await;
}

pub(crate) async fn what_cannot_be_read_of_orders_stops_successors_and_of_the_roll_nobody(
    ground: &Ground,
) {
    let one = with(ground, "one", |c| c).await;
    let first = lead(&one).await;
    ground.users.run("UPDATE incumbent_election SET controls = 'oops'").await;
    ground.users.run("UPDATE incumbent_candidate SET presence = 'odd' WHERE holder = 'one'").await;
    ground.users.run(
        "INSERT INTO incumbent_candidate (election, incarnation, holder, labels, priority, presence, prefers, \
            started_us, beaten_us, every_us) VALUES ('billing', 'no number', 'odd name', '', 0, 'odd', '', 1, \
            9000000000000000, 1)",
    ).await;
    soon("a renewal", first.extended()).await;
    assert!(first.is_valid());
    // They may forbid a term, so that none begins before somebody says what holds.
    one.backend().order(BILLING, Order::Pause, None, "ann", None).await.expect_err("unread");
    let cordon = Order::Cordon { name: one.backend().candidate().name.clone() };
    one.backend().order(BILLING, cordon, None, "ann", None).await.expect_err("unread");
    resign(first).await;
    let waits = contend(&one);
    for_a_while().await;
    assert!(!waits.is_finished(), "it leads, whatever was ordered");
    one.backend().order(BILLING, Order::Resume, None, "ann", None).await.expect("forgotten");
    drop(won(waits).await);
    close_all([one]).await;
}

pub(crate) async fn whoever_leads_stays_unless_preemption_is_asked_for(ground: &Ground) {
    let one = with(ground, "one", |c| c).await;
    let first = lead(&one).await;
    let better = with(ground, "better", |c| c.priority(9)).await;
    let waits = contend(&better);
    seen(&one, "better").await;
    rolls_pass().await;
    assert!(first.is_valid() && first.handover().is_none(), "sticky");
    waits.abort();
    let after = Duration::from_millis(300);
    let pushing = with(ground, "pushing", |c| c.priority(9).preempt(after, after)).await;
    let wins = contend(&pushing);
    let handover = soon("to be asked", first.draining()).await;
    assert_eq!(handover.to.expect("a name").as_str(), "pushing");
    assert_eq!(handover.by.actor, "policy");
    resign(first).await;
    drop(won(wins).await);
    close_all([one, better, pushing]).await;
}

/// Candidates are replaced one by one, the leader as the `at`-th of five: one hand-over, and never to
/// one that is still to be replaced.
async fn roll_out(ground: &Ground, at: usize) {
    let onlooker = ground.candidate("onlooker", STEADY).await;
    let mut running = BTreeMap::new();
    for name in ["a", "b", "c", "d", "e"] {
        running.insert(name, start(ground, name, "1").await);
        seen(&onlooker, name).await;
    }
    until("a leader", async || !leader(&onlooker).await.is_empty()).await;
    let leads = leader(&onlooker).await;
    rolls_pass().await;
    let mut order: Vec<&str> = running.keys().copied().filter(|name| *name != leads).collect();
    order.insert(at, running.keys().find(|name| **name == leads).expect("one of them"));
    for name in order {
        if let Some(old) = running.remove(name) {
            stop(old).await;
        }
        running.insert(name, start(ground, name, "2").await);
        seen(&onlooker, name).await;
        until("a leader", async || !leader(&onlooker).await.is_empty()).await;
        rolls_pass().await;
    }
    let terms = onlooker.backend().terms(BILLING, 99).await.expect("terms");
    let leaders: Vec<_> = terms.iter().map(|term| term.leader.as_str()).collect();
    assert_eq!(leaders.len(), 2, "one hand-over, the leader being number {at}: {leaders:?}");
    for (_, old) in running {
        stop(old).await;
    }
    close_all([onlooker]).await;
}

async fn start(ground: &Ground, name: &str, version: &str) -> (Election, Campaign) {
    let config = ground.config(name, STEADY).label("version", version).rolling(true);
    let election = ground.enter(&config).await;
    let campaign = contend(&election);
    (election, campaign)
}

/// Stops a candidate in good order, as a service manager does.
async fn stop((election, campaign): (Election, Campaign)) {
    if campaign.is_finished() {
        resign(won(campaign).await).await;
    } else {
        campaign.abort();
    }
    soon("closing", election.backend().clone().close()).await;
}

pub(crate) async fn a_rolling_restart_of_five_hands_over_once_if_the_leader_goes_first(
    ground: &Ground,
) {
    roll_out(ground, 0).await;
}

pub(crate) async fn a_rolling_restart_of_five_hands_over_once_if_the_leader_goes_third(
    ground: &Ground,
) {
    roll_out(ground, 2).await;
}

pub(crate) async fn a_rolling_restart_of_five_hands_over_once_if_the_leader_goes_last(
    ground: &Ground,
) {
    roll_out(ground, 4).await;
}

pub(crate) async fn whoever_is_not_well_never_contends_and_hands_over(ground: &Ground) {
    let (one, two) = (with(ground, "one", |c| c).await, with(ground, "two", |c| c).await);
    let sick = || Err("disk full".to_owned());
    two.backend().set_fit(sick()).expect("told");
    let mut changes = two.observe().expect("observes");
    let waits = contend(&two);
    let why = change("an obstacle", &mut changes, |change| match change {
        Change::Obstacle { why } => why.clone(),
        _ => None,
    });
    assert!(why.await.contains("disk full"));
    let first = lead(&one).await;
    assert!(!waits.is_finished());
    two.backend().set_fit(Ok(())).expect("told");
    seen(&one, "two").await;
    one.backend().set_fit(sick()).expect("told");
    let handover = soon("to be asked", first.draining()).await;
    assert_eq!(handover.by.reason.as_deref(), Some("disk full"));
    assert!(first.is_valid(), "it still renews");
    resign(first).await;
    let second = won(waits).await;
    assert!(second.is_valid());
    drop(second);
    close_all([one, two]).await;
}

pub(crate) async fn two_live_processes_of_one_name_are_told_of_each_other(ground: &Ground) {
    let (one, other) = (ground.candidate("ann", SHORT).await, ground.candidate("ann", SHORT).await);
    let mut changes = one.observe().expect("observes");
    let leadership = lead(&one).await;
    let waits = contend(&other);
    let twin = change("the other", &mut changes, |change| match change {
        Change::Twin { who } => Some(who.clone()),
        _ => None,
    });
    assert_eq!(twin.await, *other.backend().candidate());
    assert!(leadership.is_valid() && !waits.is_finished(), "never both");
    waits.abort();
    drop(leadership);
    close_all([one, other]).await;
}
