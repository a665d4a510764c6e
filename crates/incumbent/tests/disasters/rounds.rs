//! The same stories where elections are held by rounds, and those that only rounds know.

use incumbent::Protocol;
use incumbent_testbed::{MariaDb, Postgres};

use crate::judge::Memory;
use crate::server::Server;
use crate::support::{soon, until};
use crate::troupe::{BILLING, Troupe};
use crate::{commit, crash, network, orders, restore, standby};

/// The connection is lost between a round and its answer, again and again, for whoever leads and for
/// one who waits.
async fn reset_in_a_round<S: Server>() {
    let server = S::begin().await;
    let troupe = Troupe::of_three(&server, Protocol::Rounds).await;
    for _ in 0..5 {
        let leader = troupe.leader(BILLING).await.candidate;
        for at in [leader, (leader + 1) % 3] {
            let proxy = &troupe.candidates[at].elections;
            // Only a round counts a beat.
            proxy.reset_on_reply(b"SET counter = counter + 1");
            until("a round loses its answer", async || proxy.fired()).await;
        }
    }
    troupe.judge("reset in a round", &server, Memory::Whole).await;
}

/// Somebody empties a register under a server that is killed meanwhile.
async fn registers_lost<S: Server>() {
    let mut server = S::begin().await;
    let troupe = Troupe::of_three(&server, Protocol::Rounds).await;
    for register in ["incumbent_vars", "incumbent_descriptor"] {
        let past = troupe.leader(BILLING).await;
        server.sql(&format!("DELETE FROM {register}")).await;
        server.kill();
        server.restart().await;
        soon("a successor", troupe.succession(&past)).await;
        troupe.work().await;
    }
    troupe.judge("registers lost", &server, Memory::Whole).await;
}

/// A test for each story on a kind of server.
macro_rules! stories {
    ($($test:ident => $story:expr,)*) => {
        $(
            #[tokio::test]
            async fn $test() {
                $story.await;
            }
        )*
    };
}

mod postgres {
    use super::*;

    stories! {
        rounds_survive_a_server_that_is_killed_again_and_again =>
            crash::killed_and_restarted::<Postgres>(Protocol::Rounds),
        rounds_survive_a_server_that_stands_still => crash::frozen::<Postgres>(Protocol::Rounds),
        rounds_whose_answers_are_lost_are_done_again => reset_in_a_round::<Postgres>(),
        a_claim_whose_answer_is_lost_makes_no_second_leader =>
            commit::a_claim::<Postgres>(Protocol::Rounds),
        a_leader_that_hears_no_replies_is_succeeded =>
            network::replies_dropped::<Postgres>(Protocol::Rounds),
        silence_ends_a_leadership_and_no_other => network::silence::<Postgres>(Protocol::Rounds),
        tokens_grow_over_orders_and_restarts => orders::orders::<Postgres>(Protocol::Rounds),
        tokens_grow_on_when_an_older_backup_is_restored =>
            restore::restored::<Postgres>(Protocol::Rounds),
        registers_that_were_emptied_are_made_anew => registers_lost::<Postgres>(),
        a_promoted_synchronous_standby_is_led_and_has_everything =>
            standby::promoted_in_sync(Protocol::Rounds),
        a_promoted_standby_that_missed_an_election_is_not_led_on_early =>
            standby::promoted_behind(Protocol::Rounds),
        candidates_leave_a_primary_that_hangs => standby::primary_hangs(Protocol::Rounds),
    }
}

mod mariadb {
    use super::*;

    stories! {
        rounds_survive_a_server_that_is_killed_again_and_again =>
            crash::killed_and_restarted::<MariaDb>(Protocol::Rounds),
        rounds_survive_a_server_that_stands_still => crash::frozen::<MariaDb>(Protocol::Rounds),
        rounds_whose_answers_are_lost_are_done_again => reset_in_a_round::<MariaDb>(),
        a_claim_whose_answer_is_lost_makes_no_second_leader =>
            commit::a_claim::<MariaDb>(Protocol::Rounds),
        a_leader_that_hears_no_replies_is_succeeded =>
            network::replies_dropped::<MariaDb>(Protocol::Rounds),
        silence_ends_a_leadership_and_no_other => network::silence::<MariaDb>(Protocol::Rounds),
        tokens_grow_over_orders_and_restarts => orders::orders::<MariaDb>(Protocol::Rounds),
        tokens_grow_on_when_an_older_backup_is_restored =>
            restore::restored::<MariaDb>(Protocol::Rounds),
        registers_that_were_emptied_are_made_anew => registers_lost::<MariaDb>(),
    }
}
