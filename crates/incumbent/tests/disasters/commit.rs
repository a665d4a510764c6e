//! The connection is lost in the very middle of a commit: it took effect, and nobody was told.

use incumbent::Protocol;
use incumbent_testbed::{MariaDb, Postgres};

use crate::judge::{Memory, work_of};
use crate::log::Fate;
use crate::server::Server;
use crate::support::{soon, until};
use crate::troupe::{BILLING, ELECTIONS, Troupe};

pub(crate) async fn a_claim<S: Server>(protocol: Protocol) {
    let server = S::begin().await;
    let troupe = Troupe::of_three(&server, protocol).await;
    let mut lost = 0;
    soon("claims lose their answers", async {
        while lost < 3 {
            let past = troupe.leader(BILLING).await;
            // Whoever follows: the leader's own resignation must get through.
            let others = troupe.candidates.iter().enumerate();
            let others = others.filter(|(at, _)| *at != past.candidate).map(|(_, other)| other);
            let others: Vec<_> = others.map(|other| &other.elections).collect();
            for proxy in &others {
                proxy.reset_on_reply(S::COMMIT);
            }
            troupe.candidates[past.candidate].resign();
            troupe.succession(&past).await;
            lost += others.iter().filter(|proxy| proxy.fired()).count();
        }
    })
    .await;
    let unled = troupe.judge("reset in a claim's commit", &server, Memory::Whole).await;
    assert!(unled > 0, "no claim was committed unheard");
}

#[tokio::test]
async fn a_claim_in_postgres_whose_answer_is_lost_makes_no_second_leader() {
    a_claim::<Postgres>(Protocol::Lease).await;
}

#[tokio::test]
async fn a_claim_in_mariadb_whose_answer_is_lost_makes_no_second_leader() {
    a_claim::<MariaDb>(Protocol::Lease).await;
}

async fn a_fenced_transaction<S: Server>() {
    let server = S::begin().await;
    let troupe = Troupe::of_three(&server, Protocol::Lease).await;
    for _ in 0..4 {
        let leader = troupe.leader(BILLING).await.candidate;
        let proxy = &troupe.candidates[leader].work;
        // The guard travels with its COMMIT.
        proxy.reset_on_reply(b"incumbent_guard");
        until("a commit loses its answer", async || proxy.fired()).await;
    }
    until("writers know", async || troupe.log.count(Fate::Doubt) > 0).await;
    let doubts: Vec<_> = troupe.log.attempts().clone();
    let doubts = doubts.into_iter().filter(|attempt| attempt.fate == Fate::Doubt);
    let mut took_effect = 0;
    for election in ELECTIONS {
        let work = work_of(&server, election).await;
        let there = doubts.clone().filter(|doubt| {
            doubt.election == election && work.contains(&(doubt.term, doubt.number))
        });
        took_effect += there.count();
    }
    assert!(took_effect > 0, "no commit took effect unheard");
    troupe.judge("reset in a fenced commit", &server, Memory::Whole).await;
}

#[tokio::test]
async fn a_fenced_commit_in_postgres_whose_answer_is_lost_is_in_doubt_and_not_done_twice() {
    a_fenced_transaction::<Postgres>().await;
}

#[tokio::test]
async fn a_fenced_commit_in_mariadb_whose_answer_is_lost_is_in_doubt_and_not_done_twice() {
    a_fenced_transaction::<MariaDb>().await;
}
