//! What "Leader Election using `NewSQL` Database Systems" (Niazi, Ismail, Berthou, Dowling; DAIS 2015) claims for its election
//! on registers of a database, claim by claim.
//!
//! Each test names the section of the paper that it honours. Where the paper is wrong, or silent about something that hurts,
//! `errata` says what happens instead, and `bad_input` what is refused.
//!
//! Assumes: a store in memory that runs the same decisions as the real ones. Promises: nothing here looks inside the protocol;
//! all of it is what a candidate, an operator or a bystander can see.

mod support;

#[path = "seed_000_claims/bad_input.rs"]
mod bad_input;
#[path = "seed_000_claims/errata.rs"]
mod errata;
#[path = "seed_000_claims/group.rs"]
mod group;
#[path = "seed_000_claims/pace.rs"]
mod pace;
#[path = "seed_000_claims/theorems.rs"]
mod theorems;

use group::{Group, LEASE, MARGIN, ROUND, SPAN};
use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::lease::request::Opening;
use support::log::What;
use support::ms;
use support::post::{Fate, Loss};

/// *System model*: ids are given by a function that only grows, and whoever recovers has a new one.
#[test]
fn ids_grow_and_whoever_recovers_has_a_new_one() {
    let mut group = Group::of(3);
    group.all_contend();
    group.run(ROUND);
    assert_eq!([0, 1, 2].map(|who| group.id(who)), [Some(1), Some(2), Some(3)]);
    group.world.crash(1);
    group.restart(1);
    group.run(ROUND);
    assert_eq!(group.id(1), Some(4));
    group.world.crash(0);
    group.restart(0);
    group.run(ROUND);
    assert_eq!(group.id(0), Some(5));
    assert_eq!(group.vars().max_id.get(), 5);
    group.judge();
}

/// *Leader election service*: a correct process with the lowest id leads, and is elected again in later rounds.
#[test]
fn the_lowest_id_leads_and_goes_on_leading() {
    let mut group = Group::of(3);
    for who in [2, 0, 1] {
        group.contend(who);
        group.run(ms(5));
    }
    group.run(ROUND * 100);
    assert_eq!(group.id(2), Some(1));
    assert_eq!(group.leaders(), ["p2"]);
    assert_eq!(group.terms(), [("p2", Opening::First)]);
    group.world.crash(2);
    group.run(LEASE * 2);
    assert_eq!(group.leaders(), ["p0"], "the next in line, not the next in name");
    group.judge();
}

/// *Rounds*: an evicted process finds its row gone, has a new id in the next round, and raises the flag.
#[test]
fn an_evicted_process_rejoins_with_a_new_id_and_raises_the_flag() {
    let mut group = Group::of(2);
    group.all_contend();
    group.run(ROUND);
    group.world.stop(1, LEASE * 3);
    group.run(LEASE * 2);
    assert_eq!(group.ids(), [1], "the leader removed the row of the silent one");
    let buried = group.told(0).filter(|(_, n)| matches!(n, Notice::Member(news) if !news.came));
    assert_eq!(buried.count(), 1, "and told of it, once");
    let seen = group.watch(LEASE * 3);
    assert_eq!(group.evicted(1), [2]);
    assert_eq!(group.joined(1), [2, 3]);
    assert!(seen.iter().any(|(_, _, flag)| *flag), "{seen:?}");
    assert_eq!(seen.last().map(|(_, _, flag)| *flag), Some(false), "and the leader answers it");
    group.judge();
}

/// *Leader lease*: a leader may rely on a round for the round time, times the limit, less the margin, and the lease begins no
/// later than the transaction.
#[test]
fn a_lease_is_the_round_time_times_the_limit_less_the_margin() {
    assert_eq!(SPAN + MARGIN, ROUND * 2);
    let mut group = Group::of(1);
    group.all_contend();
    group.run(ROUND * 10);
    let mut asked = None;
    let mut leases = 0;
    for entry in &group.world.log {
        match &entry.what {
            What::Asked(_) => asked = Some(entry.at),
            What::Told { until: Some(until), .. } => {
                assert_eq!(Some(*until), asked.map(|asked| asked + SPAN));
                leases += 1;
            }
            _ => {}
        }
    }
    assert!(leases >= 10, "{leases}");
}

/// *Leader lease*: a leader that cannot reach the registers yields by its own clock.
#[test]
fn a_leader_that_is_cut_off_yields_before_its_lease_ends() {
    let mut group = Group::of(2);
    group.all_contend();
    group.run(ROUND * 3);
    let asked = group.last_asked(0).min(group.world.now);
    group.world.processes[0].post.cut(true);
    group.run(LEASE * 3);
    let lost = group.told(0).find(|(_, notice)| matches!(notice, Notice::Lost { .. }));
    let (at, _) = lost.expect("a loss");
    assert!(at < asked + ROUND + SPAN, "{at:?}");
    assert_eq!(group.leaders(), ["p1"]);
    group.judge();
}

/// *Leader election service*: all invocations of getLeader by correct processes return the leader.
#[test]
fn all_correct_processes_name_the_same_leader() {
    let mut group = Group::of(7);
    group.all_contend();
    group.run(ROUND);
    for crashed in 0..3 {
        group.run(ROUND * 2);
        let live = group.world.processes.iter().filter(|process| process.life.is_some());
        let named: Vec<_> = live.map(|process| process.sees().map(|l| l.id.clone())).collect();
        let leader = group.world.processes[crashed].life.as_ref().map(|life| life.id.clone());
        assert!(named.iter().all(|name| *name == leader), "{named:?}");
        group.world.crash(crashed);
        group.run(LEASE * 2);
    }
    group.judge();
}

/// *Dealing with failures*: local variables are rolled back when a transaction fails. Here they change only by an answer; an
/// unknown outcome changes nothing but when the next try is due.
#[test]
fn a_round_of_unknown_outcome_changes_no_local_state() {
    for lost in [Loss::Request, Loss::Reply] {
        let mut group = Group::of(2);
        group.all_contend();
        group.run(ROUND * 2);
        for who in [0, 1] {
            let fate = Fate { there: ms(1), back: ms(1), lost };
            group.world.processes[who].post.plan(None, fate);
            let before = (group.rank(who).id, group.rank(who).ahead, group.rank(who).round_time);
            let told = group.told(who).count();
            let gave_up = |group: &Group| {
                let mut log = group.world.log.iter();
                log.any(|entry| entry.who == who && matches!(entry.what, What::GaveUp(_)))
            };
            let mut steps = 0;
            while !gave_up(&group) {
                group.run(ms(1));
                steps += 1;
                assert!(steps < 5_000, "nothing was lost");
            }
            let renewals = group.told(who).skip(told).filter(|(_, n)| {
                // A renewal that was heard before the lost one is no news.
                !matches!(n, Notice::Renewed { .. })
            });
            assert_eq!(renewals.count(), 0, "{lost:?}: nothing is told");
            let after = (group.rank(who).id, group.rank(who).ahead, group.rank(who).round_time);
            assert_eq!(after, before, "{lost:?}");
        }
        group.run(ROUND * 10);
        assert_eq!(group.leaders(), ["p0"], "{lost:?}: one lost round ends nothing");
        assert_eq!(group.terms().len(), 1);
        group.judge();
    }
}

/// *Dealing with failures*: a newcomer whose answer was lost finds the place that it was given.
#[test]
fn a_join_of_unknown_outcome_is_not_done_twice() {
    for (lost, ids) in [(Loss::Request, vec![1]), (Loss::Reply, vec![1])] {
        let mut group = Group::of(1);
        let fate = Fate { there: ms(1), back: ms(1), lost };
        group.world.processes[0].post.plan(None, fate);
        group.all_contend();
        // Nobody's lease depends on it, so that it is given up only after a round.
        group.run(ROUND * 2);
        assert_eq!(group.ids(), ids, "{lost:?}");
        assert_eq!(group.joined(0), [1], "{lost:?}");
        assert_eq!(group.leaders(), ["p0"]);
    }
}
