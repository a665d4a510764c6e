//! One suite that every backend passes, against real servers.
//!
//! Assumes: the servers' programs, which `cargo xtask services` installs.
//! Promises: each scenario is written once and runs on every ground; a server that cannot start is a
//! failure. No scenario asks that something be fast: each waits for what it wants, and only what
//! must *not* happen too early is compared with a clock. Whatever candidates do is written down and
//! judged by the simulator's judges.

mod agreement;
mod amnesia;
mod bell;
mod elect;
mod evicted;
mod expiry;
mod fenced;
mod forget;
mod ground;
mod handover;
mod host;
mod input;
mod line;
mod look;
mod many;
mod message;
mod orders;
mod policy;
mod restart;
mod roles;
mod roster;
mod schema;
mod support;
mod tls;
mod trouble;
mod users;

/// A test for each scenario on one ground.
macro_rules! scenarios {
    ($kind:ident: $($scenarios:tt)*) => { scenarios! { $kind by Lease: $($scenarios)* } };
    ($kind:ident by $protocol:ident: $($room:ident::$scenario:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $scenario() {
                let ground = crate::ground::Ground::new(crate::ground::Kind::$kind).await;
                let ground = ground.by(incumbent::Protocol::$protocol);
                crate::$room::$scenario(&ground).await;
                ground.judge();
            }
        )*
    };
}

/// What every backend does, whichever protocol elections are held by.
macro_rules! everywhere {
    ($kind:ident by $protocol:ident) => {
        scenarios! { $kind by $protocol:
            elect::one_of_three_leads_at_a_time,
            elect::a_resigned_leader_is_followed_under_a_higher_token,
            elect::a_dropped_leadership_is_followed,
            elect::a_leader_that_vanishes_is_followed_after_its_lease,
            elect::closing_lets_go,
            elect::two_of_the_same_name_are_two,
            orders::a_takeover_names_the_next_leader,
            orders::a_demoted_leader_lets_another_go_first,
            orders::an_order_that_makes_no_sense_changes_nothing,
            forget::a_forgotten_election_leaves_nothing_and_begins_anew_under_a_greater_token,
            forget::an_election_whose_leader_vanished_is_not_forgotten_before_its_lease_is_over,
            handover::a_transfer_lets_the_work_end_first_and_then_the_named_one_leads,
            handover::work_that_does_not_end_is_ended_when_the_time_for_it_is_up,
            handover::a_hand_over_goes_on_when_nobody_waits_for_it,
            handover::nobody_is_elected_while_paused_and_whoever_leads_goes_on,
            handover::a_cordoned_candidate_does_not_win_and_another_does,
            handover::whoever_is_demoted_with_a_hold_off_does_not_win_for_that_long,
            policy::a_leader_that_stops_is_followed_by_whoever_is_preferred,
            policy::a_transfer_goes_to_whom_it_names_however_little_preferred,
            policy::what_cannot_be_read_of_orders_stops_successors_and_of_the_roll_nobody,
            policy::whoever_leads_stays_unless_preemption_is_asked_for,
            policy::a_rolling_restart_of_five_hands_over_once_if_the_leader_goes_first,
            policy::a_rolling_restart_of_five_hands_over_once_if_the_leader_goes_third,
            policy::a_rolling_restart_of_five_hands_over_once_if_the_leader_goes_last,
            policy::whoever_is_not_well_never_contends_and_hands_over,
            policy::two_live_processes_of_one_name_are_told_of_each_other,
            look::odd_words_of_operators_come_back_as_they_were,
            look::every_term_keeps_why_it_began_and_why_it_ended,
            look::statuses_show_every_election,
            look::an_onlooker_sees_one_leader_follow_the_other,
            restart::tokens_grow_over_restarts_and_a_fence_keeps_them_in_order,
            trouble::renewals_go_on_beside_long_transactions,
            trouble::a_table_dropped_under_a_leader_ends_its_leadership,
            schema::the_schema_can_be_applied_twice,
            fenced::work_commits_under_its_leadership,
            fenced::a_part_of_the_work_can_be_undone,
            fenced::work_begun_before_a_takeover_is_not_committed_after_it,
            fenced::nothing_begins_under_a_leadership_that_was_lost,
            fenced::a_successor_waits_for_a_commit_in_flight,
            fenced::a_pool_of_another_database_is_refused,
        }
    };
}

/// What every backend does that only elections by lease know: whose clock ends a lease, and many
/// renewals as one statement.
macro_rules! by_lease {
    ($kind:ident) => {
        everywhere! { $kind by Lease }
        scenarios! { $kind:
            expiry::by_the_databases_clock_an_old_row_is_taken_over_at_once,
            expiry::by_observation_an_old_row_must_be_watched_for_a_lease,
            expiry::a_candidate_with_other_rules_is_refused,
            many::fifty_elections_cost_one_statement_a_beat,
        }
    };
}

/// What every backend does where elections are held by rounds.
macro_rules! by_rounds {
    ($kind:ident) => {
        everywhere! { $kind by Rounds }
        in_line! { $kind }
    };
}

/// What only elections by rounds know.
macro_rules! in_line {
    ($kind:ident) => {
        scenarios! { $kind by Rounds:
            line::the_lowest_in_line_leads_and_whoever_resigned_goes_to_its_end,
            line::whoever_stops_is_followed_without_being_found_dead,
            line::a_follower_that_closes_or_gives_up_leaves_no_row,
            line::when_the_four_lowest_die_at_once_one_of_those_behind_leads,
            line::when_all_were_killed_those_who_come_next_lead_within_the_bound,
            line::ids_of_several_elections_are_independent,
            roster::members_shows_everybody_with_what_they_tell_of_themselves,
            roster::a_rank_is_fresh_while_rounds_come_through_and_then_stale,
            roster::a_newcomer_is_told_to_the_leader,
            roster::a_death_is_told_once_and_never_again,
            evicted::whoever_is_evicted_by_hand_comes_back_at_the_end_and_rounds_grow,
            evicted::a_leader_whose_row_is_gone_lets_go_and_another_leads,
            agreement::a_candidate_by_lease_is_refused_where_rounds_are_held,
            agreement::a_candidate_in_rounds_is_refused_where_leases_are_held,
            agreement::another_pacing_is_refused,
            agreement::another_pacing_is_accepted_once_all_old_candidates_are_gone,
            amnesia::vars_deleted_by_hand_is_made_anew,
            amnesia::vars_replaced_by_hand_is_obeyed,
            amnesia::a_roster_emptied_by_hand_fills_again,
            amnesia::when_the_last_id_was_given_a_newcomer_is_told,
        }
    };
}

/// What every backend does that is reached over a network, whichever protocol elections are held by.
macro_rules! over_a_network {
    ($kind:ident by $protocol:ident) => {
        scenarios! { $kind by $protocol:
            trouble::a_bid_whose_answers_are_lost_never_makes_two_leaders,
            trouble::a_leader_that_is_cut_off_stops_before_it_is_followed,
            fenced::a_commit_whose_answer_is_lost_is_in_doubt,
            fenced::stricter_isolation_fences_as_well,
        }
    };
}

/// The same for rounds.
macro_rules! rounds_on_servers {
    ($kind:ident) => {
        by_rounds! { $kind }
        over_a_network! { $kind by Rounds }
        scenarios! { $kind by Rounds:
            message::the_round_of_a_follower_is_one_message,
            message::the_round_of_a_leader_is_one_message,
            message::a_join_that_was_committed_unheard_is_one_place,
            message::a_claim_that_was_committed_unheard_is_not_led_under,
        }
    };
}

/// What every backend does that is reached over a network and has users.
macro_rules! on_servers {
    ($kind:ident) => {
        by_lease! { $kind }
        over_a_network! { $kind by Lease }
        scenarios! { $kind:
            trouble::a_claim_that_was_committed_unheard_is_not_led_under,
            fenced::whoever_keeps_the_lock_of_an_election_is_named,
            fenced::whoever_writes_elsewhere_is_not_said_to_hold_elections_up,
            trouble::nobody_is_elected_once_a_table_forgets,
            input::a_newer_schema_is_left_alone,
        }
        kinds! { $kind:
            schema::an_older_schema_is_refused_and_brought_up_to_date,
            schema::leaders_and_terms_outlive_the_step_to_rounds,
            schema::leaders_and_rosters_outlive_the_step_to_orders,
            schema::several_may_apply_the_schema_at_once,
            schema::the_printed_statements_make_the_schema,
            input::missing_tables_are_said,
        }
    };
}

/// What takes a user of the server that the pooler does not know.
macro_rules! with_roles {
    ($kind:ident) => {
        scenarios! { $kind:
            roles::a_user_without_rights_is_told_what_to_have_granted,
            roles::a_user_with_all_rights_but_one_is_told_which,
            roles::a_user_with_exactly_the_granted_rights_can_do_all_of_it,
            roles::a_user_with_only_the_guard_writes_under_a_token,
            roles::the_right_to_call_the_guard_outlives_a_new_version,
            input::a_wrong_password_is_said_and_not_shown,
            input::an_unknown_database_is_named,
        }
    };
}

/// A test for each scenario that begins without tables.
macro_rules! kinds {
    ($kind:ident: $($room:ident::$scenario:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $scenario() {
                let kind = crate::ground::Kind::$kind;
                let host = crate::host::Host::shared(kind).await;
                let ground = crate::ground::Ground::bare(kind, host).await;
                crate::$room::$scenario(&ground).await;
                ground.judge();
            }
        )*
    };
}

/// A test for each scenario that needs a server of its own, and gives back the ground that it made.
macro_rules! alone {
    ($($room:ident::$scenario:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $scenario() {
                crate::$room::$scenario().await.judge();
            }
        )*
    };
}

/// What a pool of the candidate's own can change: it says where a connection comes from, and nothing of what
/// is sent over it. The same backend without a pool runs every scenario.
macro_rules! from_a_pool {
    ($kind:ident by $protocol:ident) => {
        scenarios! { $kind by $protocol:
            elect::one_of_three_leads_at_a_time,
            elect::a_leader_that_vanishes_is_followed_after_its_lease,
            elect::closing_lets_go,
            orders::a_takeover_names_the_next_leader,
            handover::a_transfer_lets_the_work_end_first_and_then_the_named_one_leads,
            look::statuses_show_every_election,
            restart::tokens_grow_over_restarts_and_a_fence_keeps_them_in_order,
            trouble::renewals_go_on_beside_long_transactions,
            schema::the_schema_can_be_applied_twice,
            fenced::work_commits_under_its_leadership,
            fenced::work_begun_before_a_takeover_is_not_committed_after_it,
            fenced::nothing_begins_under_a_leadership_that_was_lost,
            fenced::a_pool_of_another_database_is_refused,
        }
    };
}

/// The same over a network.
macro_rules! from_a_pool_on_a_server {
    ($kind:ident) => {
        from_a_pool! { $kind by Lease }
        over_a_network! { $kind by Lease }
        scenarios! { $kind:
            many::fifty_elections_cost_one_statement_a_beat,
            trouble::a_claim_that_was_committed_unheard_is_not_led_under,
            fenced::whoever_keeps_the_lock_of_an_election_is_named,
            roles::a_user_without_rights_is_told_what_to_have_granted,
            roles::a_user_with_exactly_the_granted_rights_can_do_all_of_it,
            input::a_pool_of_one_connection_is_refused,
        }
        kinds! { $kind: input::missing_tables_are_said, }
    };
}

mod sqlite {
    by_lease! { Sqlite }
    scenarios! { Sqlite: input::a_newer_file_is_left_alone, }
    kinds! { Sqlite:
        schema::a_file_of_the_first_version_keeps_its_leaders_and_terms,
        schema::a_file_of_the_second_version_keeps_its_leaders_and_rosters,
    }
}

mod sqlite_rounds {
    by_rounds! { Sqlite }
}

mod sqlite_pool {
    from_a_pool! { SqlitePool by Lease }
    scenarios! { SqlitePool: many::fifty_elections_cost_one_statement_a_beat, }
}

mod sqlite_pool_rounds {
    from_a_pool! { SqlitePool by Rounds }
}

mod postgres {
    on_servers! { Postgres }
    with_roles! { Postgres }
    scenarios! { Postgres:
        bell::candidates_listen_at_the_server,
        fenced::an_order_is_not_passed_by_later_writers,
        fenced::orders_and_takeovers_go_on_beside_busy_writers,
        fenced::whoever_keeps_a_lock_in_another_database_is_not_named,
        roles::a_table_of_the_callers_own_does_not_fool_the_guard,
        roles::whoever_was_not_granted_the_guard_cannot_call_it,
        input::an_unlogged_table_is_refused,
        input::a_server_that_is_not_there_is_named,
    }
    alone! {
        restart::postgres_outlives_a_kill,
        tls::an_election_and_its_work_on_postgres_go_over_tls,
        input::a_standby_is_refused,
    }
}

mod postgres_rounds {
    rounds_on_servers! { Postgres }
    scenarios! { Postgres by Rounds: roles::a_user_with_exactly_the_granted_rights_can_do_all_of_it, }
}

mod postgres_pool {
    from_a_pool_on_a_server! { PostgresPool }
    scenarios! { PostgresPool: bell::candidates_listen_at_the_server, }
}

mod postgres_pool_rounds {
    from_a_pool! { PostgresPool by Rounds }
    over_a_network! { PostgresPool by Rounds }
}

mod pgbouncer {
    on_servers! { PgBouncer }
    scenarios! { PgBouncer:
        bell::nobody_listens_in_the_sessions_of_a_pooler,
        input::a_wrong_password_is_said_and_not_shown,
        input::an_unknown_database_is_named,
    }
    alone! {
        restart::postgres_behind_pgbouncer_outlives_a_kill,
        input::a_pooler_that_parts_transactions_is_refused,
        input::a_pooler_in_session_mode_will_do,
        input::nothing_is_left_in_the_sessions_of_a_pooler_that_forgets_options,
    }
}

mod pgbouncer_rounds {
    rounds_on_servers! { PgBouncer }
}

mod mariadb {
    on_servers! { MariaDb }
    with_roles! { MariaDb }
    scenarios! { MariaDb:
        fenced::a_change_of_a_row_is_not_passed_by_later_guards,
        fenced::orders_and_takeovers_go_on_beside_busy_writers,
        roles::a_user_that_may_not_see_locks_is_told_so,
        input::a_table_of_another_engine_is_refused,
        input::a_server_that_is_not_there_is_named,
    }
    alone! {
        restart::mariadb_outlives_a_kill,
        tls::an_election_and_its_work_on_mariadb_go_over_tls,
        input::a_server_that_is_read_only_is_refused,
    }
}

mod mariadb_rounds {
    rounds_on_servers! { MariaDb }
    scenarios! { MariaDb by Rounds: roles::a_user_with_exactly_the_granted_rights_can_do_all_of_it, }
}

mod mariadb_pool {
    from_a_pool_on_a_server! { MariaDbPool }
}

mod mariadb_pool_rounds {
    from_a_pool! { MariaDbPool by Rounds }
    over_a_network! { MariaDbPool by Rounds }
}

mod galera {
    on_servers! { Galera }
    with_roles! { Galera }
    scenarios! { Galera: input::a_cluster_nobody_vouches_for_is_refused, }
    alone! { restart::the_writing_node_of_galera_is_outlived, }
}

/// The statements are those of MariaDB: what a cluster may refuse is what several write at once.
mod galera_rounds {
    in_line! { Galera }
    scenarios! { Galera by Rounds:
        elect::one_of_three_leads_at_a_time,
        fenced::work_begun_before_a_takeover_is_not_committed_after_it,
        trouble::a_leader_that_is_cut_off_stops_before_it_is_followed,
    }
}

/// What elections among peers do as well as those in a database.
///
/// Left out of `everywhere!`:
/// - `fenced::*`, `schema::*`, `trouble::*`: peers hold no tables, of the user or of ours.
/// - `policy::what_cannot_be_read_of_orders_stops_successors_and_of_the_roll_nobody`: it writes to tables. What a
///   voter keeps is written by members of the cluster only.
///
/// After a crash the highest number is picked, whoever is preferred; the scenarios of `policy` are about
/// leaders that stop in good order and name their heir, which is the same everywhere.
///
/// Of what is by lease only: peers have no clock that could end a lease; other rules and fifty elections
/// are in `tests/peers`.
macro_rules! among_peers {
    ($kind:ident) => {
        scenarios! { $kind:
            elect::one_of_three_leads_at_a_time,
            elect::a_resigned_leader_is_followed_under_a_higher_token,
            elect::a_dropped_leadership_is_followed,
            elect::a_leader_that_vanishes_is_followed_after_its_lease,
            elect::closing_lets_go,
            elect::two_of_the_same_name_are_two,
            orders::a_takeover_names_the_next_leader,
            orders::a_demoted_leader_lets_another_go_first,
            orders::an_order_that_makes_no_sense_changes_nothing,
            forget::a_forgotten_election_leaves_nothing_and_begins_anew_under_a_greater_token,
            forget::an_election_whose_leader_vanished_is_not_forgotten_before_its_lease_is_over,
            handover::a_transfer_lets_the_work_end_first_and_then_the_named_one_leads,
            handover::work_that_does_not_end_is_ended_when_the_time_for_it_is_up,
            handover::a_hand_over_goes_on_when_nobody_waits_for_it,
            handover::nobody_is_elected_while_paused_and_whoever_leads_goes_on,
            handover::a_cordoned_candidate_does_not_win_and_another_does,
            handover::whoever_is_demoted_with_a_hold_off_does_not_win_for_that_long,
            policy::a_leader_that_stops_is_followed_by_whoever_is_preferred,
            policy::a_transfer_goes_to_whom_it_names_however_little_preferred,
            policy::whoever_leads_stays_unless_preemption_is_asked_for,
            policy::a_rolling_restart_of_five_hands_over_once_if_the_leader_goes_first,
            policy::a_rolling_restart_of_five_hands_over_once_if_the_leader_goes_third,
            policy::a_rolling_restart_of_five_hands_over_once_if_the_leader_goes_last,
            policy::whoever_is_not_well_never_contends_and_hands_over,
            policy::two_live_processes_of_one_name_are_told_of_each_other,
            look::odd_words_of_operators_come_back_as_they_were,
            look::every_term_keeps_why_it_began_and_why_it_ended,
            look::statuses_show_every_election,
            look::an_onlooker_sees_one_leader_follow_the_other,
            restart::tokens_grow_over_restarts_and_a_fence_keeps_them_in_order,
        }
    };
}

mod ring {
    among_peers! { Ring }
}

mod bully {
    among_peers! { Bully }
}

mod urls {
    //! Nothing is opened, so there is no ground.

    #[tokio::test]
    async fn a_password_with_a_slash_is_not_shown() {
        crate::input::a_password_with_a_slash_is_not_shown().await;
    }

    #[tokio::test]
    async fn another_product_at_the_port_is_said() {
        crate::input::another_product_at_the_port_is_said().await;
    }

    #[tokio::test]
    async fn a_database_of_postgres_without_room_is_said() {
        crate::input::a_database_of_postgres_without_room_is_said().await;
    }

    #[tokio::test]
    async fn a_mariadb_without_room_is_said() {
        crate::input::a_mariadb_without_room_is_said().await;
    }
}
