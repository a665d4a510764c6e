//! Tries the roll, and what operators order, on a file and on real servers.
//!
//! Assumes: PostgreSQL and MariaDB, which `cargo xtask services` installs.
//! Promises: each scenario is written once, for every kind of database.

mod order;
mod place;
mod roll;

/// A test for each scenario on one kind of database.
macro_rules! scenarios {
    ($kind:ident: $($room:ident::$scenario:ident,)*) => {
        $(
            #[tokio::test]
            async fn $scenario() {
                let place = super::place::Place::$kind().await;
                super::$room::$scenario(&place).await;
            }
        )*
    };
}

/// What every kind does.
macro_rules! everywhere {
    ($kind:ident) => {
        scenarios! { $kind:
            roll::odd_words_come_back_as_they_were,
            roll::a_line_keeps_its_start_and_gets_new_stamps_and_words,
            roll::a_line_older_than_a_day_is_taken_off,
            roll::whoever_only_looks_at_the_roll_changes_nothing,
            roll::what_a_crash_loop_left_is_not_read_and_goes,
            roll::names_that_never_come_back_do_not_add_up,
            roll::two_live_processes_of_one_name_are_both_read,
            roll::a_transfer_beside_a_crash_loop_finds_its_candidate,
            roll::many_write_the_roll_at_once,
            order::what_is_in_force_outlives_a_claim,
            order::an_heir_has_the_next_term_to_itself,
            order::whoever_is_deposed_leaves_the_next_term_to_whom_it_is_reserved_for,
            order::an_order_that_ends_no_term_leaves_it_to_its_leader,
            order::orders_are_listed_newest_first,
            order::the_newest_thousand_orders_are_kept,
        }
    };
}

mod sqlite {
    everywhere! { sqlite }
}

mod postgres {
    everywhere! { postgres }
    scenarios! { postgres: roll::the_roll_is_one_message, }
}

mod mariadb {
    everywhere! { mariadb }
    scenarios! { mariadb: roll::the_roll_is_one_message, }
}
