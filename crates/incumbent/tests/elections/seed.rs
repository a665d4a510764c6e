//! What the article on leader election with `MySQL` offers, claim by claim, on a real SQLite file.

use std::time::{Duration, Instant};

use incumbent::{Expiry, Reason};

use crate::death::Holder;
use crate::support::{BILLING, LONG, Place, config, contend, for_a_while, lead, soon, until, won};

#[tokio::test]
async fn single_leader_election_out_of_multiple_nodes() {
    let place = Place::new();
    let mut campaigns = Vec::new();
    for number in 0..5 {
        let name = format!("my_service_number_{number}");
        campaigns.push(contend(&place.candidate(&name, LONG).await));
    }
    until("a leader", async || campaigns.iter().any(tokio::task::JoinHandle::is_finished)).await;
    for_a_while().await;
    let leaders = campaigns.iter().filter(|c| c.is_finished()).count();
    assert_eq!(leaders, 1);
    campaigns.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn the_leader_reaffirms_its_leadership_periodically() {
    let place = Place::new();
    let service = place.candidate("my_service_number_7", Duration::from_secs(2)).await;
    let leadership = lead(&service).await;
    let beat = async || {
        let status = service.status().await.expect("a look");
        status.record.expect("a row").beat
    };
    let first = beat().await;
    until("three more beats", async || beat().await >= first + 3).await;
    assert!(leadership.is_valid());
}

#[tokio::test]
async fn timeout_based_re_election_when_the_leader_has_not_reaffirmed() {
    let place = Place::new();
    let timeout = Duration::from_secs(1);
    let mut seven = Holder::start(&place, "my_service_number_7", timeout);
    seven.token();
    let twelve = place.candidate("my_service_number_12", timeout).await;
    let waiting = contend(&twelve);
    seven.pause(&place).await;
    assert!(won(waiting).await.is_valid());
    // On a slow day the successor claims twice: it may not have heard that it had won.
    let terms = twelve.backend().terms(BILLING, 10).await.expect("terms");
    assert_eq!(terms[0].leader, "my_service_number_12");
    let timed_out = terms.iter().find(|term| term.leader == "my_service_number_7");
    assert_eq!(timed_out.and_then(|term| term.ending.as_deref()), Some("expired"));
}

#[tokio::test]
async fn a_way_to_forcibly_assume_leadership_for_a_specific_node() {
    let place = Place::new();
    let seven = place.candidate("my_service_number_7", LONG).await;
    let twelve = place.candidate("my_service_number_12", LONG).await;
    let leadership = lead(&seven).await;
    let forced = contend(&twelve);
    for_a_while().await;
    let order = twelve.backend();
    let order = order.takeover(BILLING, "my_service_number_12", None, "ops", Some("forced"));
    order.await.expect("taken over");
    assert_eq!(soon("the loss", leadership.lost()).await, Reason::Deposed);
    drop(leadership);
    let forced = won(forced).await;
    assert!(forced.is_valid());
    let leader = seven.leader().await.expect("a look").expect("a leader");
    assert_eq!(leader.id.name.as_str(), "my_service_number_12");
}

#[tokio::test]
async fn a_way_to_forcibly_call_for_re_elections_by_demoting_the_leader() {
    let place = Place::new();
    let lease = Duration::from_secs(2);
    let seven = place.candidate("my_service_number_7", lease).await;
    let twelve = place.candidate("my_service_number_12", lease).await;
    let leadership = lead(&seven).await;
    let next = contend(&twelve);
    let order = seven.backend().demote(BILLING, None, "ops", None);
    order.await.expect("demoted");
    soon("the loss", leadership.lost()).await;
    drop(leadership);
    assert!(won(next).await.is_valid(), "the next to attempt succeeds");
}

#[tokio::test]
async fn a_node_can_tell_whether_it_is_the_leader_and_anyone_who_is() {
    let place = Place::new();
    let seven = place.candidate("my_service_number_7", LONG).await;
    let twelve = place.candidate("my_service_number_12", LONG).await;
    assert_eq!(twelve.leader().await.expect("a look"), None);
    let leadership = lead(&seven).await;
    for service in [&seven, &twelve] {
        let leader = service.leader().await.expect("a look").expect("a leader");
        assert_eq!(leader.id.name.as_str(), "my_service_number_7");
        let mine = leader.id == *service.backend().candidate();
        assert_eq!(mine, std::ptr::eq(service, &raw const seven));
    }
    assert!(leadership.is_valid());
}

#[tokio::test]
async fn a_restarted_service_of_the_same_name_is_another_one() {
    let place = Place::new();
    let seven = place.candidate("my_service_number_7", LONG).await;
    let again = place.candidate("my_service_number_7", LONG).await;
    assert_ne!(seven.backend().candidate(), again.backend().candidate());
    let leadership = lead(&seven).await;
    let waiting = contend(&again);
    for_a_while().await;
    assert!(!waiting.is_finished() && leadership.is_valid());
    waiting.abort();
}

#[tokio::test]
async fn the_database_decides_where_the_articles_own_rule_is_chosen() {
    let place = Place::new();
    let timeout = Duration::from_secs(1);
    let rule = |name: &str| config(name, timeout).expiry(Expiry::Database);
    let seven = place.enter(&rule("my_service_number_7")).await;
    let leadership = lead(&seven).await;
    // It renews no more, though its process lives: as if it hung.
    place.sql("UPDATE incumbent_beat SET incarnation = NULL").await;
    soon("the loss", leadership.lost()).await;
    let status = seven.status().await.expect("a look");
    let held = status.record.expect("a row").beaten_at;
    let began = Instant::now();
    let twelve = place.enter(&rule("my_service_number_12")).await;
    let second = lead(&twelve).await;
    let since = twelve.status().await.expect("a look").record.expect("a row").since;
    assert!(since.since(held) >= timeout, "not before 20 seconds have passed");
    assert!(second.is_valid() && began.elapsed() > Duration::ZERO);
}
