//! Draws settings and faults.
//!
//! Assumes: chance from the seed alone.
//! Promises: clocks keep to the bound of the lease's margin; no story loses more disks than a minority
//! of the voters that it begins with.

use super::{Algorithm, Numbers, Setting};
use crate::clock::{SECOND, Skew, Span};
use crate::peers::fault::{Fault, Kind};
use crate::random::{MILLION, Random};

const MILLISECOND: Span = 1_000_000;

/// How far a clock may be off: with a margin of a tenth of the lease, two clocks that are off in
/// opposite directions by this much still keep to it.
const SKEW_MOST: Skew = (1 << 20) * 45 / 1_000;

/// Most faults of one kind in one story.
const MOST_OF_A_KIND: u64 = 60;

pub(super) fn setting(random: &mut Random, algorithm: Algorithm, length: Span) -> Setting {
    let nodes = match random.below(100) {
        0..4 => 1,
        4..10 => 2,
        10..50 => 3,
        50..58 => 4,
        58..86 => 5,
        86..92 => 6,
        92..98 => 7,
        _ => 20 + random.index(5),
    };
    let crowd = nodes >= 20;
    let voters = match random.below(10) {
        _ if crowd => 3 + 2 * random.index(2),
        0..7 => nodes,
        _ => 1 + random.index(nodes),
    };
    let lease = random.spread(2 * SECOND, 12 * SECOND).min((length / 50).max(SECOND));
    let latency_most = random.spread(MILLISECOND / 4, 16 * MILLISECOND).min(lease / 120);
    let heartbeat = [350, 700, 700, 700, 1_500][random.index(5)] * MILLISECOND;
    let message = (50 * MILLISECOND).max(latency_most * 3);
    let even = random.percent(40);
    let skew = |random: &mut Random| {
        if even { 0 } else { random.around_zero(SKEW_MOST.unsigned_abs()) }
    };
    let at_once = random.percent(30);
    Setting {
        algorithm,
        elections: 1,
        nodes,
        voters,
        numbers: match random.below(4) {
            0 => Numbers::Addresses,
            1 => Numbers::Down(if crowd { 40 } else { 11 }),
            _ => Numbers::From(random.between(1, 9)),
        },
        preempts: random.percent(20),
        phi: random.percent(25),
        heartbeat: heartbeat.max(latency_most * 8),
        message,
        lease,
        skews: (0..nodes).map(|_| skew(random)).collect(),
        starts: (0..nodes).map(|n| start(random, at_once, n >= voters, lease)).collect(),
        latency_least: latency_most / 8,
        latency_most,
        disk_most: random.spread(MILLISECOND / 20, 16 * MILLISECOND).min(lease / 120),
        lateness: random.spread(MILLISECOND / 100, 4 * MILLISECOND),
        watches: random.percent(50),
        length,
    }
}

/// How many elections they hold, from chance of its own.
pub(super) fn elections(seed: u64, nodes: usize) -> usize {
    let mut random = Random::from_seed(seed ^ 0x00e1_ec75);
    if nodes >= 20 || random.percent(60) { 1 } else { 2 + random.index(3) }
}

/// Nodes start at once or one by one; one without a vote may join much later.
fn start(random: &mut Random, at_once: bool, guest: bool, lease: Span) -> Span {
    if guest && random.percent(50) {
        random.between(0, lease * 20)
    } else if at_once {
        0
    } else {
        random.between(0, lease * 2)
    }
}

pub(super) fn faults(random: &mut Random, setting: &Setting) -> Vec<Fault> {
    let count = random.between(2, 9);
    drawn(random, setting, count, |kind| !kind.is_of_conduct())
}

/// What operators have in force, from chance of its own: nothing in every other story.
pub(super) fn conduct(random: &mut Random, setting: &Setting) -> Vec<Fault> {
    let count = random.between(0, 4).saturating_sub(2);
    drawn(random, setting, count, Kind::is_of_conduct)
}

fn drawn(random: &mut Random, setting: &Setting, count: u64, of: fn(Kind) -> bool) -> Vec<Fault> {
    let menu: Vec<Kind> = Kind::ALL.iter().copied().filter(|&kind| of(kind)).collect();
    let kinds: Vec<Kind> = (0..count).map(|_| menu[random.index(menu.len())]).collect();
    faults_of(random, setting, &kinds)
}

pub(super) fn faults_of(random: &mut Random, setting: &Setting, kinds: &[Kind]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let calm = setting.lease * 3;
    let most = setting.heals_at().saturating_sub(setting.lease);
    for &kind in kinds {
        let every = random.spread(setting.lease * 2, setting.length / 3);
        let mut at = calm + random.between(0, every);
        let mut left =
            if kind == Kind::DiskLost { ((setting.voters - 1) / 2) as u64 } else { MOST_OF_A_KIND };
        while at < most && left > 0 && !faults.iter().any(|fault: &Fault| fault.at == at) {
            faults.push(fault(random, setting, kind, at));
            at += random.between(every / 4, every * 2);
            left -= 1;
        }
    }
    faults.sort_by_key(|fault| fault.at);
    lose_a_minority(&mut faults, setting);
    faults
}

/// Drawn twice, a kind may lose too many disks.
fn lose_a_minority(faults: &mut Vec<Fault>, setting: &Setting) {
    let mut left = (setting.voters - 1) / 2;
    faults.retain(|fault| {
        let stays = fault.kind != Kind::DiskLost || left > 0;
        left -= usize::from(stays && fault.kind == Kind::DiskLost);
        stays
    });
}

fn fault(random: &mut Random, setting: &Setting, kind: Kind, at: Span) -> Fault {
    let lease = setting.lease;
    let target = match kind {
        Kind::DiskLost => random.index(setting.voters),
        _ => random.index(setting.nodes),
    };
    let span = match kind {
        Kind::Crash | Kind::CrashLeader | Kind::CrashNominee | Kind::CrashAll => {
            random.spread(10 * MILLISECOND, lease * 6)
        }
        Kind::ClockLeap => random.spread(lease / 16, lease * 3),
        _ => random.spread(lease / 16, lease * 8),
    };
    let level = match kind {
        Kind::Loss | Kind::Duplicate => i64::from(MILLION / 100) * wide(random.between(1, 80)),
        Kind::Delay | Kind::Reorder => wide(random.spread(setting.message / 4, lease * 2)),
        Kind::Skew => random.around_zero(SKEW_MOST.unsigned_abs()),
        Kind::WallStep => random.around_zero(lease * 20),
        Kind::DiskSlow => wide(random.spread(MILLISECOND, lease / 4)),
        _ => wide(random.below(1 << 24)),
    };
    Fault { at, kind, target, span, level }
}

const fn wide(number: u64) -> i64 {
    number.cast_signed()
}
