//! The two theorems of the paper, for the code that ships.

use core::time::Duration;

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::lease::request::Opening;

use crate::group::{DELTA, Group, LEASE, ROUND, SPAN, pacing};
use crate::support::ms;
use crate::support::process::Process;

/// *Theorem 1, case I*: two processes cannot declare themselves leader at once, because their rounds are serialized. All of
/// these reach the registers at one instant, again and again.
#[test]
fn theorem_1_case_1_of_those_who_contend_at_one_instant_one_leads() {
    for (count, delay) in [(2, 0), (3, 1), (10, 40)] {
        let mut group = Group::of(count);
        for who in 0..count {
            group.world.processes[who].post.set_usual(ms(delay));
            group.contend(who);
        }
        group.run(ROUND * 2);
        assert_eq!(group.leaders().len(), 1, "{count}");
        let leader = group.world.processes.iter().position(Process::leads);
        let leader = leader.expect("a leader");
        let id = group.world.processes[leader].life.as_ref().expect("alive").id.clone();
        group.world.crash(leader);
        group.world.store.prove_dead(id);
        group.run(ROUND * 2);
        assert_eq!(group.leaders().len(), 1, "{count}");
        assert_eq!(group.terms().len(), 2, "{count}");
        group.judge();
    }
}

/// *Theorem 1, case II* and *figure 1*: the successor has no latency at all and reads just after the slow leader's last round. It
/// still leads only after the lease is over. Swept over every phase of the leader's round.
#[test]
fn theorem_1_case_2_nobody_leads_while_a_slow_leader_holds_its_lease() {
    let mut start = Group::of(2);
    for process in &mut start.world.processes {
        process.post.set_usual(Duration::ZERO);
    }
    start.all_contend();
    start.run(ROUND * 3);
    for stopped_after in (0..2_000).step_by(50) {
        let mut group = start.clone();
        group.run(ms(stopped_after));
        let last = last_round(&group, 0);
        group.world.stop(0, LEASE * 5);
        group.run(LEASE * 2);
        let gained = group.told(1).find(|(_, notice)| matches!(notice, Notice::Gained { .. }));
        let (at, _) = gained.expect("a successor");
        assert!(at >= last + LEASE, "stopped after {stopped_after}: {:?}", at.checked_sub(last));
        assert!(at > last + SPAN, "the old lease is over");
        assert!(at <= last + LEASE + ROUND, "within a round more: {:?}", at.checked_sub(last));
        group.run(LEASE * 5);
        assert_eq!(group.leaders(), ["p1"]);
        assert_eq!(group.terms(), [("p0", Opening::First), ("p1", Opening::Expired)]);
        group.judge();
    }
}

/// *Theorem 2*: one correct process among faulty ones, which all have lower ids at first, leads in the end and goes on leading.
/// The faulty ones miss the limit again and again; rounds may not grow here, else they would not be faulty for ever.
#[test]
fn theorem_2_the_one_correct_process_leads_in_the_end_and_stays() {
    let mut group = Group::paced(4, pacing(2, DELTA, ROUND));
    group.all_contend();
    for cycle in 0..40 {
        for faulty in 0..3 {
            group.world.stop(faulty, LEASE + ROUND);
            group.run(ROUND);
        }
        group.run(ROUND);
        if cycle >= 5 {
            assert_eq!(group.leaders(), ["p3"], "in cycle {cycle}");
        }
    }
    assert_eq!(group.id(3), Some(4), "it was never evicted");
    assert_eq!(group.terms().last().map(|(name, _)| *name), Some("p3"));
    group.judge();
}

/// When the leader's last answered round was sent: nothing takes any time here.
fn last_round(group: &Group, who: usize) -> Duration {
    let renewed = group.told(who).filter(|(_, notice)| matches!(notice, Notice::Renewed { .. }));
    renewed.last().expect("a renewal").0
}
