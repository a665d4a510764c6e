//! Registers that no candidate wrote, and clocks that jump: refused or recovered from, and never two leaders.

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
use incumbent_protocol::lease::order::Order;
use incumbent_protocol::lease::request::Refusal;
use incumbent_protocol::lease::row::Record;
use incumbent_protocol::rounds::register::MemberId;
use incumbent_protocol::rules::{Expiry, Rules};
use incumbent_protocol::standing::Standing;
use incumbent_protocol::term::{Recorded, Term};

use crate::group::{Group, LEASE, ROUND, pacing};
use crate::support::ms;

/// Somebody removes VARS, with or without the roster, at every moment of a round: the candidates make it anew, the leader
/// steps down in order, and one of them leads within two leases.
#[test]
fn vars_reset_under_running_candidates() {
    let mut start = Group::of(3);
    start.all_contend();
    start.run(ROUND * 3);
    for after in (0..2_000).step_by(40) {
        for with_roster in [false, true] {
            let mut group = start.clone();
            group.run(ms(after));
            let before = group.vars();
            group.world.store.registers.vars = None;
            if with_roster {
                group.world.store.registers.roster.clear();
            }
            group.run(LEASE * 2 + ROUND);
            assert_eq!(group.leaders().len(), 1, "removed after {after} ms");
            assert!(group.vars().epoch > before.epoch, "another life of VARS");
            group.run(LEASE * 5);
            assert_eq!(group.ids().len(), 3, "all have a place again");
            assert_eq!(group.leaders().len(), 1);
            group.judge();
        }
    }
}

/// Somebody edits the pace in VARS and nothing else, and then the leader is cut off from the store: what
/// it leased is never longer than what challengers wait for, whether it is first in line or an
/// operator put it before others.
#[test]
fn a_pace_edited_under_running_candidates() {
    for chosen in [0, 2] {
        let mut start = Group::of(3);
        start.all_contend();
        start.run(ROUND * 3);
        if chosen == 2 {
            let successor = CandidateName::new("p2").expect("a good name");
            let now = start.world.now;
            let order = Order::Takeover { successor };
            start.world.store.order(now, &order, None).expect("there is a leader");
            start.run(LEASE * 2);
        }
        assert_eq!(start.leaders(), [format!("p{chosen}")]);
        let cap = start.vars().pacing.cap();
        for round in [ROUND, ROUND * 3 / 2, ROUND * 3, cap] {
            let mut edited = start.clone();
            edited.world.store.registers.vars.as_mut().expect("VARS").pace.round = round;
            for after in (0..2_000).step_by(250) {
                let mut group = edited.clone();
                group.run(ROUND + ms(after));
                group.world.processes[chosen].post.cut(true);
                group.run(cap * 4);
                assert_eq!(group.leaders().len(), 1, "{round:?}, cut off after {after} ms");
                group.judge();
            }
        }
    }
}

/// The store goes back to before rounds grew, with the same term and the same places, and nothing tells
/// so. A leader that holds a lease of the longer round does not go on under the shorter one.
#[test]
fn a_store_that_went_back_to_an_earlier_pace() {
    for limit in [2, 5] {
        let mut start = Group::paced(3, pacing(limit, ROUND * 2, ROUND * 10));
        start.all_contend();
        start.run(ROUND * 3);
        start.world.store.save();
        start.world.store.registers.vars.as_mut().expect("VARS").evicted = true;
        start.run(ROUND * 6);
        assert_eq!((start.vars().pace.round, start.leaders()), (ROUND * 3, vec!["p0"]));
        for after in (0..6_000).step_by(250) {
            let mut group = start.clone();
            group.run(ms(after));
            group.world.store.restore();
            group.run(ms(after % 1_900));
            group.world.processes[0].post.cut(true);
            group.run(ROUND * 10 * limit + ROUND * 10);
            assert_eq!(group.leaders().len(), 1, "went back after {after} ms");
            group.judge();
        }
    }
}

/// The same for the whole roster, or one row of it.
#[test]
fn rows_removed_under_running_candidates() {
    let mut start = Group::of(3);
    start.all_contend();
    start.run(ROUND * 3);
    for after in (0..2_000).step_by(100) {
        for id in [0, 1, 2, 3] {
            let mut group = start.clone();
            group.run(ms(after));
            let gone = |row: &MemberId| id == 0 || row.get() == id;
            group.world.store.registers.roster.retain(|row, _| !gone(row));
            group.run(LEASE * 3);
            assert_eq!(group.leaders().len(), 1, "row {id} removed after {after} ms");
            assert_eq!(group.ids().len(), 3);
            group.judge();
        }
    }
}

/// Somebody who knows of no line leads, by the rules of `lease`: those in line are told so, instead of
/// waiting for ever.
#[test]
fn a_leader_by_lease_ends_the_waiting_in_line() {
    let mut group = Group::of(2);
    group.all_contend();
    group.run(ROUND * 2);
    let led = group.world.store.record().expect("it is led").clone();
    let rules = Rules::new(LEASE, LEASE / 10, Expiry::Observed).expect("rules");
    let name = CandidateName::new("stranger").expect("a good name");
    let holder = CandidateId::new(name, Incarnation::from_random(77));
    let term = Term::recorded(led.term.get() + 1).expect("a term");
    for beat in 0..8 {
        group.world.store.put(Record { holder: holder.clone(), rules, term, beat, ..led.clone() });
        group.run(ROUND / 2);
    }
    let rejected = group.told(1).any(|(_, notice)| {
        matches!(notice, Notice::Rejected(Refusal::RulesDiffer { theirs, .. }) if *theirs == rules)
    });
    assert!(rejected, "it was never told");
    assert_eq!(group.leaders(), Vec::<&str>::new());
}

/// The last id was given: a newcomer is told so and wants no more; those who have a place go on.
#[test]
fn ids_at_their_maximum() {
    let mut group = Group::of(2);
    group.contend(0);
    group.run(ROUND);
    group.world.store.registers.vars.as_mut().expect("VARS").max_id = MemberId::MAX;
    group.contend(1);
    group.run(ROUND * 3);
    let rejected = group.told(1).find_map(|(_, notice)| match notice {
        Notice::Rejected(refusal) => Some(refusal.clone()),
        _ => None,
    });
    assert_eq!(rejected, Some(Refusal::IdsSpent));
    let text = Refusal::IdsSpent.to_string();
    assert!(text.contains("9223372036854775807") && text.contains("incumbent_vars"), "{text}");
    assert_eq!(group.world.processes[1].standing(), Some(Standing::Out));
    assert_eq!(group.leaders(), ["p0"]);
    group.judge();
}

/// A row with a higher id than VARS knows is no reason to give an id twice.
#[test]
fn vars_that_lag_behind_the_roster_give_no_id_twice() {
    let mut group = Group::of(4);
    for who in 0..3 {
        group.contend(who);
        group.run(ms(5));
    }
    group.run(ROUND);
    group.world.store.registers.vars.as_mut().expect("VARS").max_id = MemberId::new(1);
    group.contend(3);
    group.run(ROUND);
    assert_eq!(group.ids(), [1, 2, 3, 4]);
    assert_eq!(group.id(3), Some(4));
    group.judge();
}

/// A candidate is evicted while it stands still, and its clock has leapt when it goes on; then the leader is late, or stops for
/// good. Whatever the moment, elapsed time that cannot be trusted proves nothing.
#[test]
fn an_evicted_candidate_with_a_clock_that_jumped() {
    let mut start = Group::of(2);
    start.all_contend();
    start.run(ROUND * 2);
    start.world.stop(1, LEASE * 2);
    start.run(ms(7_999));
    assert_eq!(start.ids(), [1], "evicted");
    for leaps_after in (0..4_000).step_by(100) {
        for leader_stops in [false, true] {
            let mut group = start.clone();
            group.run(ms(leaps_after));
            group.world.leap(1, LEASE * 900);
            if leader_stops {
                group.world.stop(0, LEASE * 5);
            }
            group.run(LEASE * 3);
            let leader = if leader_stops { "p1" } else { "p0" };
            assert_eq!(group.leaders(), [leader], "leapt after {leaps_after} ms");
            group.judge();
        }
    }
}

/// The leader's own clock leaps, by less than its lease or by more: it does not lead on as if nothing had happened, and nobody
/// leads beside it.
#[test]
fn a_leader_whose_clock_jumped_proves_its_lease_anew_or_steps_down() {
    for leap in [ms(500), LEASE * 900] {
        let mut group = Group::of(2);
        group.all_contend();
        group.run(ROUND * 2);
        let before = group.world.now;
        group.world.leap(0, leap);
        let told = group.told(0).filter(|(at, _)| *at == before).last();
        let (_, told) = told.expect("it says so at once");
        assert!(
            matches!(told, Notice::Unsure { .. } | Notice::Lost { .. } | Notice::Leader(None)),
            "{told:?}"
        );
        group.run(LEASE * 3);
        assert_eq!(group.leaders().len(), 1);
        group.judge();
    }
}
