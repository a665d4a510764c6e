//! The network between a leader and its server breaks, both ways, one way, or is slow.

use incumbent::Protocol;
use incumbent_testbed::{MariaDb, Postgres, Way};

use crate::judge::Memory;
use crate::server::Server;
use crate::support::{LEASE, tenths_of_a_lease};
use crate::troupe::{BILLING, Troupe};

pub(crate) async fn replies_dropped<S: Server>(protocol: Protocol) {
    let server = S::begin().await;
    let troupe = Troupe::of_three(&server, protocol).await;
    for _ in 0..2 {
        let past = troupe.leader(BILLING).await;
        let leader = &troupe.candidates[past.candidate];
        leader.network(|proxy| proxy.drop_replies(true));
        // Its renewals arrive and it does not know: it has to stop all the same.
        let successor = troupe.succession(&past).await;
        assert_ne!(successor.candidate, past.candidate, "led without hearing a word");
        leader.network(|proxy| proxy.drop_replies(false));
    }
    troupe.judge("replies dropped", &server, Memory::Whole).await;
}

#[tokio::test]
async fn a_leader_that_hears_no_replies_of_postgres_is_succeeded() {
    replies_dropped::<Postgres>(Protocol::Lease).await;
}

#[tokio::test]
async fn a_leader_that_hears_no_replies_of_mariadb_is_succeeded() {
    replies_dropped::<MariaDb>(Protocol::Lease).await;
}

pub(crate) async fn silence<S: Server>(protocol: Protocol) {
    let server = S::begin().await;
    let troupe = Troupe::of_three(&server, protocol).await;
    for way in [Way::ToServer, Way::ToClient, Way::Both] {
        let past = troupe.leader(BILLING).await;
        let leader = &troupe.candidates[past.candidate];
        leader.network(|proxy| proxy.silence(way));
        // Shorter than a lease: it may go on leading, or not.
        tenths_of_a_lease(4).await;
        leader.network(|proxy| proxy.silence(Way::None));

        let past = troupe.leader(BILLING).await;
        let leader = &troupe.candidates[past.candidate];
        leader.network(|proxy| proxy.silence(way));
        let successor = troupe.succession(&past).await;
        assert_ne!(successor.candidate, past.candidate, "led in silence");
        leader.network(|proxy| proxy.silence(Way::None));
    }
    troupe.judge("silence", &server, Memory::Whole).await;
}

#[tokio::test]
async fn silence_between_a_leader_and_postgres_ends_its_leadership_and_no_other() {
    silence::<Postgres>(Protocol::Lease).await;
}

#[tokio::test]
async fn silence_between_a_leader_and_mariadb_ends_its_leadership_and_no_other() {
    silence::<MariaDb>(Protocol::Lease).await;
}

/// Around the timeout some answers come in time and some do not, and some are a round late.
async fn delay<S: Server>() {
    let server = S::begin().await;
    let troupe = Troupe::of_three(&server, Protocol::Lease).await;
    let timeout = troupe.candidates[0].backend.timing().timeout();
    for percent in [30, 47, 50, 60] {
        troupe.work().await;
        for candidate in &troupe.candidates {
            candidate.network(|proxy| proxy.delay(timeout * percent / 100));
        }
        tokio::time::sleep(LEASE * 2).await;
        for candidate in &troupe.candidates {
            candidate.network(|proxy| proxy.delay(std::time::Duration::ZERO));
        }
    }
    troupe.judge("delay", &server, Memory::Whole).await;
}

#[tokio::test]
async fn elections_survive_a_postgres_that_answers_just_in_time_or_just_not() {
    delay::<Postgres>().await;
}

#[tokio::test]
async fn elections_survive_a_mariadb_that_answers_just_in_time_or_just_not() {
    delay::<MariaDb>().await;
}
