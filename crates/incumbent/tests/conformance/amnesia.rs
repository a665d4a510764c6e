//! Registers that somebody deletes or edits under running candidates.
//!
//! Assumes: three candidates that lead one after the other, whatever happens.
//! Promises: each scenario waits until all three are in line again and one of them leads; that no two
//! ever led at once is for the judge of the ground.

use incumbent::{Election, Error, MemberId, Position, Refusal};
use tokio::task::JoinHandle;

use crate::ground::Ground;
use crate::support::{LONG, SHORT, close_all, for_a_while, lead, soon, until};

const NAMES: [&str; 3] = ["one", "two", "three"];

/// Three candidates, each of which contends again whenever it lost.
struct Troupe {
    elections: [Election; 3],
    tasks: Vec<JoinHandle<()>>,
}

impl Troupe {
    async fn start(ground: &Ground) -> Troupe {
        let elections = [
            ground.candidate(NAMES[0], SHORT).await,
            ground.candidate(NAMES[1], SHORT).await,
            ground.candidate(NAMES[2], SHORT).await,
        ];
        let live = |election: &Election| {
            let election = election.clone();
            tokio::spawn(async move {
                // Ends when the candidate is closed.
                let _ = election.run(async |_| std::future::pending::<()>().await).await;
            })
        };
        let troupe = Troupe { tasks: elections.iter().map(live).collect(), elections };
        troupe.settle(ground).await;
        troupe
    }

    /// Waits until all are in line and whoever leads goes on doing so.
    async fn settle(&self, ground: &Ground) {
        let beats = async || ground.users.number("SELECT beat FROM incumbent_beat").await;
        until("all are in line, and one leads", async || {
            let Ok(roster) = self.elections[0].members().await else { return false };
            let leads =
                roster.members.iter().filter(|member| member.position == Position::Leader).count();
            roster.members.len() == NAMES.len() && roster.live().count() == 3 && leads == 1
        })
        .await;
        let before = beats().await;
        until("the leader renews", async || beats().await > before).await;
    }

    async fn end(self) {
        close_all(self.elections).await;
        for task in self.tasks {
            soon("everyone goes home", task).await.expect("no panic");
        }
    }
}

/// The newest term of the election.
async fn term(ground: &Ground) -> i64 {
    ground.users.number("SELECT max(term) FROM incumbent_election").await
}

async fn survives(ground: &Ground, disaster: &str) {
    let troupe = Troupe::start(ground).await;
    let before = term(ground).await;
    ground.users.run(disaster).await;
    // Nobody who leads has its place any more.
    until("another term", async || term(ground).await > before).await;
    troupe.settle(ground).await;
    troupe.end().await;
}

pub(crate) async fn vars_deleted_by_hand_is_made_anew(ground: &Ground) {
    survives(ground, "DELETE FROM incumbent_vars").await;
    assert_eq!(ground.users.number("SELECT count(*) FROM incumbent_vars").await, 1);
}

pub(crate) async fn vars_replaced_by_hand_is_obeyed(ground: &Ground) {
    survives(ground, "UPDATE incumbent_vars SET epoch_us = epoch_us - 1000000, max_id = 0").await;
    // No id was given to two.
    assert!(ground.users.number("SELECT max_id FROM incumbent_vars").await >= 3);
}

pub(crate) async fn a_roster_emptied_by_hand_fills_again(ground: &Ground) {
    survives(ground, "DELETE FROM incumbent_descriptor").await;
}

pub(crate) async fn when_the_last_id_was_given_a_newcomer_is_told(ground: &Ground) {
    let (one, two) = (ground.candidate("one", LONG).await, ground.candidate("two", LONG).await);
    let first = lead(&one).await;
    let last = i64::MAX;
    ground.users.run(&format!("UPDATE incumbent_vars SET max_id = {last}")).await;
    let error = soon("an answer", two.campaign()).await.map(drop).expect_err("no id is left");
    assert!(matches!(error, Error::Refused(Refusal::IdsSpent)), "{error}");
    let text = error.to_string();
    assert!(text.contains("remove its rows from incumbent_vars"), "{text}");
    assert!(text.contains(&last.to_string()), "{text}");
    for_a_while().await;
    assert!(first.is_valid(), "it has an id");
    drop(first);
    close_all([one, two]).await;
    // As it was told.
    ground.users.run("DELETE FROM incumbent_vars").await;
    let three = ground.candidate("three", LONG).await;
    let second = lead(&three).await;
    let roster = three.members().await.expect("members");
    assert_eq!(roster.members[0].id, MemberId::new(1));
    drop(second);
    close_all([three]).await;
}
