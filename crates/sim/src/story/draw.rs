//! Draws settings and faults.
//!
//! Assumes: chance from the seed alone.
//! Promises: kinds of fault that together break what is promised are not drawn together: a database
//! that loses writes keeps its clock, because terms then rest on it. Only a promotion sets it; the
//! world sees to it that no terms are lost while the clock is behind.

use incumbent_protocol::rules::Expiry;

use super::{Engine, Isolation, Preempt, Rounds, Setting, Succession};
use crate::clock::{At, Skew, Span, WHOLE};
use crate::fault::{Fault, Kind};
use crate::random::{MILLION, Random};

const MICROSECOND: Span = 1_000;
const MILLISECOND: Span = 1_000_000;

/// Most faults of one kind in one story.
const MOST_OF_A_KIND: u64 = 400;

pub(super) fn setting(random: &mut Random, length: Span) -> Setting {
    let lease = lease(random).min((length / 40).max(10 * MILLISECOND));
    let short = lease < 400 * MILLISECOND;
    let candidates = 2 + random.index(6);
    let mut setting = Setting {
        candidates,
        elections: if short { 1 } else { [1, 1, 1, 2, 3][random.index(5)] },
        twins: candidates > 2 && random.percent(15),
        lease,
        margin: lease / 10,
        beat: lease / 4,
        timeout: lease / 6,
        grace: lease / 10,
        expiry: if random.percent(12) { Expiry::Database } else { Expiry::Observed },
        skews: vec![0; candidates],
        store_skew: 0,
        latency_least: 0,
        latency_most: 0,
        commit_most: 0,
        lock_timeout: random.spread(lease / 6, lease * 3),
        lateness: 0,
        proof: random.percent(60).then(|| random.spread(lease / 1_000, lease / 2)),
        engine: if random.percent(50) { Engine::OneWriter } else { Engine::RowLocks },
        interactive: random.percent(40),
        fenced: true,
        even_clocks: !random.percent(12),
        transactions: None,
        rounds: None,
        succession: None,
        shorter_rules: false,
        length,
    };
    if random.percent(40) {
        own_proportions(random, &mut setting);
    }
    latencies(random, &mut setting);
    skews(random, &mut setting);
    setting
}

/// Whether leaders work in fenced transactions, and what those see. Drawn from chance of its own, so
/// that all else is as in a world without.
pub(super) fn transactions(random: &mut Random) -> Option<Isolation> {
    match random.below(10) {
        0..2 => None,
        2..7 => Some(Isolation::ReadCommitted),
        _ => Some(Isolation::Snapshot),
    }
}

/// Gives the elections a roster: rounds, and timings that fit into them. Drawn from chance of its
/// own; who takes part, and on what engine, stays as it was.
pub(super) fn rounds(random: &mut Random, setting: &mut Setting) {
    let limit = random.between(2, 4);
    // How long a round becomes at most, in hundredths of the first. The calm at the end of a run is
    // counted in leases of the longest.
    let growth = random.between(100, 400);
    let most = (setting.length / 40 * 100 / growth).max(20 * MILLISECOND);
    let round = setting.lease.min(most) / limit;
    let lease = round * limit;
    let usual = random.percent(60);
    let mut one = |usually: Span, least: Span, most: Span| {
        let drawn = random.between(least, most);
        if usual { usually } else { drawn }
    };
    setting.lease = lease;
    setting.expiry = Expiry::Rounds;
    setting.margin = one(lease / 10, lease / 50 + MICROSECOND, lease / 4);
    setting.grace = one(lease / 10, lease / 50, lease / 8);
    setting.beat = round;
    let room = (lease - setting.margin - setting.beat - setting.grace) / 2;
    setting.timeout = one(room.min(lease / 6), room / 3, room);
    if setting.timing().is_err() {
        // Rules are kept in whole microseconds, so that there may be a little less room.
        setting.timeout -= 2 * MICROSECOND;
    }
    setting.lock_timeout = random.spread(lease / 6, lease * 3);
    setting.proof = setting.proof.map(|_| random.spread(lease / 1_000, lease / 2));
    setting.rounds = Some(Rounds {
        limit: u32::try_from(limit).unwrap_or(2),
        delta: random.spread((round / 40).max(MILLISECOND), round.max(MILLISECOND)),
        cap: round * growth / 100,
    });
    latencies(random, setting);
    if setting.engine == Engine::OneWriter {
        // Everybody beats in every round, one after the other. Rounds grow until that has room; a
        // database that needs more than half of the longest for it is too slow for such rounds.
        let beats = (setting.candidates * setting.elections) as u64;
        let longest = round * growth / 100;
        setting.commit_most = setting.commit_most.min((longest / (beats * 2)).max(1));
    }
    skews(random, setting);
}

/// Whether other rules are shorter ones: where half of everything is still enough. Drawn from chance of
/// its own.
pub(super) fn shorter_rules(random: &mut Random, setting: &Setting) -> bool {
    let drawn = random.percent(50);
    let least = setting.beat.min(setting.timeout);
    let room = setting.lease >= 300 * MILLISECOND && least >= 4 * MILLISECOND;
    drawn && room && setting.rounds.is_none()
}

/// From 100 ms to 10 s; long ones more often, because they are cheap to simulate.
fn lease(random: &mut Random) -> Span {
    let millis =
        if random.percent(20) { random.spread(100, 1_000) } else { random.between(1_000, 10_000) };
    millis * MILLISECOND
}

/// Other proportions than the usual ones.
fn own_proportions(random: &mut Random, setting: &mut Setting) {
    let lease = setting.lease;
    let margin = random.between(lease / 50 + 1, lease / 4);
    let grace = random.between(lease / 50, lease / 8);
    let beat = random.between(lease / 10, lease / 4);
    let room = (lease - margin).saturating_sub(beat + grace) / 2;
    let timeout = random.between(room / 3, room);
    if timeout >= 2 * MILLISECOND && beat >= 2 * MILLISECOND {
        (setting.margin, setting.grace) = (margin, grace);
        (setting.beat, setting.timeout) = (beat, timeout);
    }
}

/// A third of the timeout must hold a round trip and a commit.
fn latencies(random: &mut Random, setting: &mut Setting) {
    let budget = setting.timeout / 3;
    setting.latency_most = random.spread(budget / 64 + 1, budget / 3);
    setting.latency_least = random.between(setting.latency_most / 10, setting.latency_most);
    setting.commit_most = random.spread(budget / 64 + 1, budget / 4);
    setting.lateness = setting.grace / 20;
}

fn skews(random: &mut Random, setting: &mut Setting) {
    let bound = match random.below(10) {
        0..3 => 0,
        3..6 => random.below(setting.skew_bound().unsigned_abs()),
        _ => setting.skew_bound().unsigned_abs(),
    };
    // Half of all clocks go to the limit: that is where a margin is proved.
    let mut one = || {
        if random.percent(50) {
            let bound = bound.cast_signed();
            [bound, -bound][random.index(2)]
        } else {
            random.around_zero(bound)
        }
    };
    setting.skews.iter_mut().for_each(|skew| *skew = one());
    setting.store_skew = one();
}

pub(super) fn faults(random: &mut Random, setting: &Setting) -> Vec<Fault> {
    let here =
        |kind: Kind| !kind.is_of_conduct() && !kind.is_of_succession() && !kind.is_compound();
    drawn(random, setting, here, Vec::new())
}

/// What candidates prefer, in some worlds. Drawn from chance of its own, so that all else is as in a
/// world without.
pub(super) fn succession(random: &mut Random, setting: &Setting) -> Option<Succession> {
    if !random.percent(30) {
        return None;
    }
    let lease = setting.lease;
    let every = random.spread(lease / 4, lease * 2);
    let preempt = random.percent(60).then(|| Preempt {
        after: random.spread(every, lease * 4),
        hold_down: random.spread(lease, lease * 20),
    });
    let rolling = preempt.is_none() && random.percent(70);
    let priority = |_| if random.percent(30) { 0 } else { random.index(4).try_into().unwrap_or(0) };
    let priorities = (0..setting.candidates).map(priority).collect();
    Some(Succession {
        every,
        priorities,
        preempt,
        rolling,
        drain: random.spread(lease / 10, lease * 4),
    })
}

/// What goes wrong, or is wanted, where candidates know of each other.
pub(super) fn successions(random: &mut Random, setting: &Setting) -> Vec<Fault> {
    if setting.succession.is_none() {
        return Vec::new();
    }
    drawn(random, setting, Kind::is_of_succession, Vec::new())
}

/// What operators have in force and what candidates prefer, from chance of its own.
pub(super) fn conduct(random: &mut Random, setting: &Setting) -> Vec<Fault> {
    drawn(random, setting, Kind::is_of_conduct, Vec::new())
}

/// Faults that are made of others, from chance of its own; beside those that were drawn before.
pub(super) fn compounds(random: &mut Random, setting: &Setting, beside: &[Fault]) -> Vec<Fault> {
    let beside = beside.iter().map(|fault| fault.kind).collect();
    drawn(random, setting, Kind::is_compound, beside)
}

fn drawn(
    random: &mut Random,
    setting: &Setting,
    of: fn(Kind) -> bool,
    beside: Vec<Kind>,
) -> Vec<Fault> {
    let share = [8, 20, 45][random.index(3)];
    let end = setting.heals_at();
    let mut faults = Vec::new();
    let mut drawn = beside;
    for kind in Kind::ALL.iter().copied().filter(|&kind| of(kind)) {
        if kind.is_of_rounds() && setting.rounds.is_none() {
            continue;
        }
        let wanted = random.percent(if kind.is_beyond() { 60 } else { share });
        let mut random = random.fork();
        if !wanted || !fits(kind, setting, &drawn) {
            continue;
        }
        drawn.push(kind);
        let pause = random.spread(setting.lease * 8, setting.lease * 300);
        let pause = pause.max(end / MOST_OF_A_KIND);
        let mut at = random.between(1, pause * 2);
        while at < end {
            let fault = fault(&mut random, setting, kind, at);
            faults.push(fault);
            faults.extend(in_its_wake(&mut random, setting, fault, &drawn));
            at += random.between(1, pause * 2);
        }
    }
    faults.sort_by_key(|fault| fault.at);
    faults
}

/// What comes with a fault. A store that goes back can do harm where a leader does not hear of it, and
/// where rules changed shortly before: so somebody is cut off, and new rules are followed by it.
fn in_its_wake(random: &mut Random, setting: &Setting, fault: Fault, drawn: &[Kind]) -> Vec<Fault> {
    let lease = setting.lease;
    let rollback = match fault.kind {
        Kind::Rollback => fault,
        // Another one soon after, which notes the same time if the clock went back.
        Kind::Promotion => {
            let at = fault.at + random.between(lease, lease * 6);
            Fault { at, span: random.between(lease / 4, lease * 2), level: 0, ..fault }
        }
        Kind::NewRules if drawn.contains(&Kind::Rollback) => {
            let longer = setting.longest_lease() - lease;
            let later = fault.span + longer + random.between(lease * 2, lease * 6);
            let (at, span) = (fault.at + later, later + random.between(lease / 10, lease / 2));
            let down = signed(random.spread(lease / 50, lease / 2));
            Fault { at, kind: Kind::Rollback, target: 0, span, level: down }
        }
        _ => return Vec::new(),
    };
    let target = random.index(setting.candidates);
    let span = random.between(lease, lease * 4);
    let cut = Fault { at: rollback.at, kind: Kind::Cut, target, span, level: 0 };
    let mut wake = vec![rollback, cut];
    wake.retain(|it| *it != fault && it.at < setting.heals_at());
    wake
}

fn fits(kind: Kind, setting: &Setting, drawn: &[Kind]) -> bool {
    match kind {
        _ if kind.is_beyond() => !setting.even_clocks,
        _ if kind.is_of_transactions() => setting.transactions.is_some(),
        // Where the database's clock decides, it must not be set; and terms outlive lost writes
        // only by that clock.
        Kind::StoreStep => setting.expiry != Expiry::Database,
        Kind::Rollback | Kind::Delete => !drawn.contains(&Kind::StoreStep),
        // As for rules and for a deletion.
        Kind::RulesThenDelete => {
            let with = [Kind::StoreStep, Kind::OddRules];
            !with.iter().any(|kind| drawn.contains(kind))
        }
        Kind::Promotion => {
            let with = [Kind::StoreStep, Kind::OddRules];
            setting.expiry != Expiry::Database && !with.iter().any(|kind| drawn.contains(kind))
        }
        // Who keeps a shorter lease than a lost row said cannot know how long to wait.
        Kind::OddRules => !drawn.contains(&Kind::Delete) && !drawn.contains(&Kind::Rollback),
        // Nobody is left who keeps other rules than the rest.
        Kind::NewRules => !drawn.contains(&Kind::OddRules),
        _ => true,
    }
}

fn fault(random: &mut Random, setting: &Setting, kind: Kind, at: At) -> Fault {
    let lease = setting.lease;
    let while_down = random.spread(lease / 10, lease * 10);
    let window = random.spread(lease / 2, lease * 20);
    let of_process = random.index(setting.candidates);
    let of_election = random.index(setting.elections);
    let (target, span, level) = match kind {
        Kind::Crash => (of_process, while_down, boundary(random)),
        Kind::CrashAll | Kind::GuardCrash => (0, while_down, 0),
        Kind::NewRules => (0, random.spread(lease / 10, lease * 2), 0),
        Kind::Pause => (of_process, random.spread(lease / 10, lease * 20), boundary(random)),
        Kind::SlowCpu => (of_process, window, signed(random.between(1, setting.grace / 4))),
        Kind::Suspend | Kind::PauseInTransaction => {
            (of_process, random.spread(lease / 10, lease * 20), 0)
        }
        Kind::WallStep => (of_process, 0, step(random)),
        Kind::ClockLeap => (of_process, random.spread(lease / 10, lease * 5), 0),
        Kind::Skew => (of_process, 0, skew_within(random, setting)),
        Kind::StoreStep => (0, 0, step(random)),
        Kind::Loss | Kind::Duplicate => (link(random, setting), window, chance(random)),
        Kind::Delay | Kind::Reorder => {
            let most = random.spread(setting.latency_most, lease * 10);
            (link(random, setting), window, signed(most))
        }
        Kind::Cut | Kind::CutRequests | Kind::CutAnswers | Kind::OddRules => {
            (of_process, window, 0)
        }
        Kind::CutPartial => (0, window, signed(random.between(1, (1 << setting.candidates) - 1))),
        Kind::Flap => (of_process, window, signed(random.spread(lease / 20, lease))),
        Kind::StoreRestart => (0, while_down, signed(random.below(2))),
        Kind::Abort => (0, window, chance(random)),
        Kind::Hog => (of_election, random.spread(lease / 20, lease * 3), 0),
        Kind::Stall => (0, window, signed(random.spread(lease / 20, lease * 10))),
        Kind::ReadOnly | Kind::DiskFull => (0, window, 0),
        Kind::AnswerLost | Kind::Reset | Kind::CommitLost | Kind::StepBack => (of_process, 0, 0),
        Kind::AnswerLate => (of_process, window, signed(random.between(0, setting.timeout))),
        Kind::Rollback => {
            (0, random.spread(lease / 10, lease * 10), signed(outage(random, setting)))
        }
        Kind::Delete => (0, 0, signed(random.spread(lease / 50, lease))),
        Kind::Demote | Kind::TakeoverLive | Kind::TakeoverDead => {
            (of_election, 0, signed(random.below(64)))
        }
        Kind::Resign => (of_election, 0, 0),
        Kind::Withdraw => (of_process, window, signed(random.below(2))),
        Kind::Bells => (of_process, window, signed(random.spread(lease / 100, lease / 5))),
        Kind::SkewBeyond => (of_process, window, random.around_zero(WHOLE.unsigned_abs() * 3 / 10)),
        Kind::ClockLoss => (of_process, random.spread(lease / 10, lease * 10), 0),
        Kind::ConnectionsLost => (0, 0, 0),
        Kind::VarsReset => (of_election, 0, signed(random.below(3))),
        Kind::RowRemoved | Kind::ResignTo => (of_election, 0, signed(random.below(64))),
        Kind::PauseElection | Kind::HoldOff => {
            (of_election, random.spread(lease / 4, lease * 10), 0)
        }
        Kind::Cordon => (of_election, window, signed(random.below(64))),
        Kind::Defer => (of_process, window, signed(random.between(1, lease))),
        Kind::Transfer => {
            (of_election, random.spread(lease / 10, lease * 4), signed(random.below(64)))
        }
        Kind::Unfit => (of_process, window, 0),
        Kind::Deploy => (0, random.spread(lease, lease * 8), 0),
        Kind::CrashLoop => (of_process, window, signed(setting.beat)),
        Kind::RulesThenDelete => {
            let later = setting.longest_lease() * 5 / 2 + random.between(lease / 2, lease * 4);
            (0, later, signed(random.spread(lease / 10, lease * 2)))
        }
        Kind::Promotion => {
            (0, random.spread(lease / 10, lease * 10), promoted_clock(random, setting))
        }
    };
    Fault { at, kind, target, span, level }
}

/// Where in its work a process is hit: anywhere, before a request leaves, before an answer is
/// taken.
fn boundary(random: &mut Random) -> i64 {
    [0, 0, 1, 2][random.index(4)]
}

/// A process, or all of them: the number after the last.
fn link(random: &mut Random, setting: &Setting) -> usize {
    random.index(setting.candidates + 1)
}

fn chance(random: &mut Random) -> i64 {
    signed(random.spread(u64::from(MILLION) / 100, u64::from(MILLION)))
}

/// Up to a day, ahead or back; often by little.
fn step(random: &mut Random) -> i64 {
    let by = signed(random.spread(MILLISECOND, 86_400_000 * MILLISECOND));
    [by, -by][random.index(2)]
}

/// How far the clock of a replica is ahead: up to a day, or back by up to some leases.
fn promoted_clock(random: &mut Random, setting: &Setting) -> i64 {
    match random.below(3) {
        0 => signed(random.spread(MILLISECOND, 86_400_000 * MILLISECOND)),
        _ => -signed(random.spread(setting.lease / 50, setting.lease * 12)),
    }
}

fn skew_within(random: &mut Random, setting: &Setting) -> Skew {
    let bound = setting.skew_bound();
    [bound, -bound, random.around_zero(bound.unsigned_abs())][random.index(3)]
}

/// How long a promotion takes: longer than any lease lasts, or not.
fn outage(random: &mut Random, setting: &Setting) -> Span {
    let long = setting.long_outage();
    match random.below(4) {
        0 => random.between(long, long * 3),
        _ => random.spread(setting.lease / 50, setting.lease * 2),
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
