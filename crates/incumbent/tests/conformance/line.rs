//! The line of candidates: who is next, who goes to its end, who leaves it.

use std::time::{Duration, Instant};

use incumbent::{Election, MemberId};

use crate::ground::Ground;
use crate::support::{BILLING, LONG, SHORT, close_all, contend, for_a_while, lead, rank, resign};
use crate::support::{soon, stand, until, vanish, won};

/// Whether this candidate has a row in the roster of the election that most scenarios hold.
async fn is_in_line(election: &Election) -> bool {
    let roster = election.members().await.expect("members");
    roster.members.iter().any(|member| member.candidate == *election.backend().candidate())
}

pub(crate) async fn the_lowest_in_line_leads_and_whoever_resigned_goes_to_its_end(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let three = ground.candidate("three", LONG).await;
    let (first, lowest) = stand(&one).await;
    let (second, middle) = stand(&two).await;
    let (third, highest) = stand(&three).await;
    assert!(lowest < middle && middle < highest, "{lowest} {middle} {highest}");
    let leadership = won(first).await;
    for_a_while().await;
    assert!(!second.is_finished() && !third.is_finished(), "two lead at once");
    resign(leadership).await;
    let leadership = won(second).await;
    let (again, last) = stand(&one).await;
    assert!(last > highest, "{last} is a better place than {highest}");
    resign(leadership).await;
    let leadership = won(third).await;
    for_a_while().await;
    assert!(!again.is_finished(), "two lead at once");
    resign(leadership).await;
    assert_eq!(won(again).await.reason(), None);
    close_all([one, two, three]).await;
}

/// The lease is so long that nobody is found dead in it.
pub(crate) async fn whoever_stops_is_followed_without_being_found_dead(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let (waiting, _) = stand(&two).await;
    drop(first);
    close_all([one]).await;
    let second = won(waiting).await;
    let terms = two.backend().terms(BILLING, 9).await.expect("terms");
    assert_eq!(terms[0].term, second.term());
    assert_eq!((terms[0].opening.as_str(), terms.len()), ("released", 2), "{terms:?}");
    let roster = two.members().await.expect("members");
    assert_eq!(roster.members.len(), 1, "whoever stopped is still in line: {roster:?}");
    drop(second);
    close_all([two]).await;
}

pub(crate) async fn a_follower_that_closes_or_gives_up_leaves_no_row(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let three = ground.candidate("three", LONG).await;
    let first = lead(&one).await;
    let (closing, _) = stand(&two).await;
    let (giving_up, _) = stand(&three).await;
    close_all([two]).await;
    assert!(soon("an answer", closing).await.expect("no panic").is_err(), "it was closed");
    let roster = one.members().await.expect("members");
    assert_eq!(roster.members.len(), 2, "whoever closed is still in line: {roster:?}");
    giving_up.abort();
    until("it leaves", async || !is_in_line(&three).await).await;
    assert_eq!(rank(&three).await.id, None);
    assert!(first.is_valid());
    drop(first);
    close_all([one, three]).await;
    let rows = "SELECT count(*) FROM incumbent_descriptor";
    assert_eq!(ground.users.number(rows).await, 0);
}

/// So many candidates, who stand in line and are then killed at once; the first of them led.
fn stand_and_vanish(ground: &Ground, many: usize, lease: Duration) -> Vec<MemberId> {
    let configs: Vec<_> =
        (0..many).map(|at| ground.config(&format!("vanishing-{at}"), lease)).collect();
    vanish(async || {
        let mut ids = Vec::new();
        for config in &configs {
            let election = ground.enter(config).await;
            ids.push(stand(&election).await.1);
        }
        ids
    })
}

/// A follower watches the four lowest.
pub(crate) async fn when_the_four_lowest_die_at_once_one_of_those_behind_leads(ground: &Ground) {
    let dead = stand_and_vanish(ground, 4, SHORT);
    let mut behind = Vec::new();
    let mut campaigns = tokio::task::JoinSet::new();
    for name in ["five", "six", "seven"] {
        let election = ground.candidate(name, SHORT).await;
        let (campaign, id) = stand(&election).await;
        assert!(id > dead[3], "{id} is ahead of {dead:?}");
        campaigns.spawn(campaign);
        behind.push(election);
    }
    let first = soon("a leadership", campaigns.join_next()).await.expect("three contend");
    let first = first.expect("no panic").expect("no panic").expect("the campaign is won");
    assert!(first.is_valid());
    for_a_while().await;
    let second = campaigns.try_join_next().map(|won| won.expect("no panic").expect("no panic"));
    assert!(second.is_none() || !first.is_valid(), "two lead at once");
    let gone = dead.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let rows = format!("SELECT count(*) FROM incumbent_descriptor WHERE id IN ({gone})");
    until("the dead are taken off", async || ground.users.number(&rows).await == 0).await;
    drop((first, second));
    campaigns.abort_all();
    for election in behind {
        close_all([election]).await;
    }
}

/// The rows of five dead are in the way: they are watched at the same time, not one after the other.
pub(crate) async fn when_all_were_killed_those_who_come_next_lead_within_the_bound(
    ground: &Ground,
) {
    let lease = Duration::from_secs(2);
    stand_and_vanish(ground, 5, lease);
    let (one, two) = (ground.candidate("one", lease).await, ground.candidate("two", lease).await);
    let began = Instant::now();
    let (first, second) = (contend(&one), contend(&two));
    let leadership = tokio::select! {
        first = won(first) => first,
        second = won(second) => second,
    };
    let took = began.elapsed();
    // One after the other would take five leases; a slow machine is given some time.
    let bound = one.timing().failover_bound();
    assert!(took < bound * 3, "{took:?} instead of {bound:?}");
    assert!(leadership.is_valid());
    drop(leadership);
    close_all([one, two]).await;
}

pub(crate) async fn ids_of_several_elections_are_independent(ground: &Ground) {
    let one = ground.open(&ground.config("one", LONG)).await;
    let two = ground.open(&ground.config("two", LONG)).await;
    let enter = async |backend: &incumbent::Backend, name: &str| {
        backend.election(name).await.expect("the election opens")
    };
    let (billing, mail) = (enter(&one, BILLING).await, enter(&one, "mail").await);
    let (other_billing, other_mail) = (enter(&two, BILLING).await, enter(&two, "mail").await);
    // Each of them leads one election and follows in the other.
    let (bills, first) = stand(&billing).await;
    let (mails, other_first) = stand(&other_mail).await;
    assert_eq!((first, other_first), (MemberId::new(1), MemberId::new(1)));
    let (bills, mails) = (won(bills).await, won(mails).await);
    let (other_bills, second) = stand(&other_billing).await;
    let (own_mails, other_second) = stand(&mail).await;
    assert_eq!((second, other_second), (MemberId::new(2), MemberId::new(2)));
    let roster = one.members(BILLING).await.expect("members");
    assert_eq!(roster.leader().map(|leader| &leader.id), Some(one.candidate()));
    let roster = one.members("mail").await.expect("members");
    assert_eq!(roster.leader().map(|leader| &leader.id), Some(two.candidate()));
    resign(bills).await;
    let bills = won(other_bills).await;
    for_a_while().await;
    assert!(mails.is_valid() && !own_mails.is_finished(), "one election changed the other");
    drop((bills, mails));
    let mails = won(own_mails).await;
    drop(mails);
    one.close().await;
    two.close().await;
}
