//! Global stabilisation: the round time grows until all keep up, and, unlike the paper's, shrinks again.

use core::time::Duration;

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::rounds::pace::{Pace, Pacing};
use incumbent_protocol::standing::Reason;

use crate::group::{DELTA, Group, LEASE, MARGIN, ROUND, pacing};
use crate::support::ms;
use crate::support::post::{Fate, Loss};

/// How much a round grows at a time in these tests.
const STEP: Duration = ms(200);

/// A slow process: it runs for a tenth of a second, then stands still for so long, again and again.
fn limp(group: &mut Group, who: usize, stands: Duration, times: u32) -> Vec<(Duration, Pace)> {
    let mut paces: Vec<(Duration, Pace)> = Vec::new();
    for _ in 0..times {
        let seen = group.watch(ms(100));
        group.world.stop(who, stands);
        let seen = seen.into_iter().chain(group.watch(stands));
        for (at, pace, _) in seen {
            if paces.last().is_none_or(|(_, last)| *last != pace) {
                paces.push((at, pace));
            }
        }
    }
    paces
}

/// *Global stabilization time*: the leader lengthens the round by a constant whenever somebody was evicted in error, until all
/// keep up; then it stays.
#[test]
fn the_round_time_grows_by_delta_until_all_keep_up_and_then_stays() {
    let mut group = Group::paced(3, pacing(2, STEP, ROUND * 10));
    group.all_contend();
    let paces = limp(&mut group, 2, ms(4_600), 20);
    let grown: Vec<Duration> = paces.iter().map(|(_, pace)| pace.round).collect();
    let steps: Vec<Duration> =
        core::iter::successors(Some(ROUND), |step| Some(*step + STEP)).take(grown.len()).collect();
    assert_eq!(grown, steps, "by one delta at a time");
    let stable = *grown.last().expect("a pace");
    assert!(stable > ROUND && stable <= ms(2_600), "{stable:?}");
    let (since, _) = *paces.last().expect("a pace");
    assert!(group.since(since) > stable * 10, "it came to rest early");
    let evictions = group.evicted(2).len();
    assert_eq!(evictions, grown.len() - 1, "one growth for each eviction");
    assert_eq!(group.leaders(), ["p0"], "all the while the leader led");
    assert_eq!(group.terms().len(), 1);
    group.judge();
}

/// *Global stabilization time*: where the store itself is too slow for such rounds, it is leaders that lose their terms, and
/// nobody need be evicted. Rounds grow all the same, until nobody loses a term any more; then they stay. To try shorter ones
/// where the store has no room for them would cost a leader its term again and again.
#[test]
fn rounds_too_short_for_the_store_grow_until_no_term_is_lost_and_then_stay() {
    for (count, takes) in [(5, 200), (7, 200), (12, 100), (12, 150), (20, 80), (20, 100)] {
        let mut group = Group::paced(count, pacing(2, STEP, ROUND * 10));
        group.world.takes = ms(takes);
        group.all_contend();
        group.run(ROUND * 400);
        let (terms, stable) = (group.terms().len(), group.vars().pace);
        assert!(terms > 1 && stable.round > ROUND, "{count}: {terms} terms, {stable:?}");
        group.run(ROUND * 1_000);
        assert_eq!(group.terms().len(), terms, "{count}: nobody loses a term any more");
        assert_eq!(group.vars().pace, stable, "{count}: and the round stays");
        assert_eq!(group.leaders().len(), 1);
        group.judge();
    }
}

/// A store so slow that a leader does not hear of a single round of its own: the flag that it saw when it was elected is
/// answered all the same.
#[test]
fn a_leader_that_never_hears_of_its_own_rounds_lengthens_them() {
    let mut group = Group::paced(12, pacing(2, STEP, ROUND * 10));
    group.world.takes = ms(150);
    group.all_contend();
    group.run(LEASE * 2);
    assert_eq!(group.vars().pace.round, ROUND);
    assert!(group.run_while(ROUND * 100, |group| group.vars().pace.round < ms(3_000)));
    group.judge();
}

/// A leader that lost its term by its own late rounds raises the flag when it joins anew, though nobody took its place from it.
#[test]
fn a_leader_whose_own_rounds_came_too_late_raises_the_flag_when_it_joins_anew() {
    let mut group = Group::of(2);
    group.all_contend();
    group.run(ROUND);
    let until = group.world.now + LEASE;
    let lost = |group: &Group| group.told(0).any(|(_, n)| matches!(n, Notice::Lost { .. }));
    while !lost(&group) {
        // Whatever it asks takes effect, and it does not hear of that.
        let late = Fate { there: ms(1), back: ms(1), lost: Loss::Reply };
        group.world.processes[0].post.heal();
        group.world.processes[0].post.plan(None, late);
        group.run(ms(1));
        assert!(group.world.now < until, "its lease has run out");
    }
    group.world.processes[0].post.heal();
    let by_itself = |n: &Notice| matches!(n, Notice::Lost { reason: Reason::Ending, .. });
    assert!(group.told(0).any(|(_, notice)| by_itself(notice)));
    let seen = group.watch(LEASE * 3);
    assert_eq!(group.terms(), [("p0", Opening::First), ("p1", Opening::Released)]);
    assert_eq!(group.evicted(0), [], "it gave its place back itself");
    assert_eq!(group.joined(0), [1, 3]);
    assert!(seen.iter().any(|(_, _, flag)| *flag), "{seen:?}");
    assert_eq!(group.vars().pace.round, ROUND + DELTA, "and the next leader answers it");
    group.judge();
}

/// The paper's round time grows for ever; ours up to a cap.
#[test]
fn the_round_time_never_exceeds_its_cap() {
    let cap = ms(2_500);
    let mut group = Group::paced(2, pacing(2, STEP, cap));
    group.all_contend();
    let paces = limp(&mut group, 1, ms(12_000), 8);
    assert!(paces.iter().all(|(_, pace)| pace.round <= cap), "{paces:?}");
    assert_eq!(paces.last().map(|(_, pace)| pace.round), Some(cap));
    assert!(group.evicted(1).len() > 4, "though it is evicted again and again");
    group.judge();
}

/// A group whose round has grown to 2.4 s, and whose slow process is gone.
fn grown() -> (Group, Pacing) {
    let pacing = pacing(2, STEP, ms(2_400));
    let mut group = Group::paced(3, pacing);
    group.all_contend();
    limp(&mut group, 2, ms(12_000), 4);
    group.world.crash(2);
    group.run(LEASE * 2);
    assert_eq!(group.vars().pace.round, ms(2_400));
    (group, pacing)
}

/// When calm, a shorter round is announced first; a full old lease later, and no sooner, it is in force; and so on down to the
/// first round time. Leases are made of the shorter round from the announcement on.
#[test]
fn the_round_time_shrinks_when_calm_and_is_announced_a_full_old_lease_before() {
    let (mut group, pacing) = grown();
    let seen = group.watch(ROUND * 200);
    let paces: Vec<(Duration, Option<Duration>)> =
        seen.iter().map(|(_, pace, _)| (pace.round, pace.next)).collect();
    let (long, middle, first) = (ms(2_400), ms(2_200), ROUND);
    let expected =
        [(long, None), (long, Some(middle)), (middle, None), (middle, Some(first)), (first, None)];
    assert_eq!(paces, expected);
    for pair in seen.windows(2) {
        let [(announced, before, _), (settled, after, _)] = pair else { unreachable!("pairs") };
        if before.next == Some(after.round) {
            let lease = pacing.rules_at(before.round).lease();
            let notice = settled.saturating_sub(*announced);
            assert!(notice >= lease && notice <= lease * 2, "{notice:?}");
        }
    }
    assert_eq!(group.leaders(), ["p0"]);
    assert_eq!(group.terms().len(), 1, "nobody lost anything by it");
    group.judge();
}

/// The leader is stopped at every moment between the announcement and a lease after the settlement, with a successor that has
/// no latency: it never leads while the old lease may still be valid.
#[test]
fn nobody_leads_too_early_when_a_leader_stops_while_the_round_shrinks() {
    let (mut group, pacing) = grown();
    for process in &mut group.world.processes {
        process.post.set_usual(Duration::ZERO);
    }
    assert!(group.run_while(ROUND * 100, |group| group.vars().pace.next.is_none()));
    let lease = pacing.rules_at(ms(2_400)).lease();
    let until = group.world.now + lease * 2;
    let (mut stopped, mut shorter) = (0, 0);
    while group.world.now < until {
        let mut branch = group.clone();
        branch.world.stop(0, lease * 4);
        branch.run(lease * 2);
        assert_eq!(branch.leaders(), ["p1"], "stopped at {:?}", group.world.now);
        branch.run(lease * 4);
        branch.judge();
        stopped += 1;
        shorter += u32::from(group.vars().pace.round == ms(2_200));
        group.run(ms(37));
    }
    assert!(stopped > 200 && shorter > 50, "{stopped} stops, {shorter} after the settlement");
}

/// The margin keeps its share of the lease at every pace.
#[test]
fn a_longer_round_has_a_longer_margin() {
    let (group, pacing) = grown();
    let rules = group.world.store.record().expect("a row").rules;
    assert_eq!(rules, pacing.rules_at(ms(2_400)));
    assert_eq!(rules.lease(), ms(4_800));
    assert_eq!(rules.margin(), MARGIN * 12 / 10);
}
