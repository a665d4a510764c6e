//! What is done to whom, drawn from a seed.
//!
//! Assumes: what `run` promises (decision 0004): supervisor and guard are never both out of order,
//! except that a stopped guard's supervisor may be killed.
//! Promises: the same seed draws the same strikes.

use std::time::Duration;

use fastrand::Rng;
use rustix::process::Signal;

/// Which process of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Supervisor,
    Guard,
    Command,
}

/// What it gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Blow {
    Stop,
    Kill,
    Term,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Strike {
    pub(crate) target: Target,
    pub(crate) blow: Blow,
}

impl Strike {
    pub(crate) fn signal(self) -> Signal {
        match self.blow {
            Blow::Stop => Signal::STOP,
            Blow::Kill => Signal::KILL,
            Blow::Term => Signal::TERM,
        }
    }

    fn draw(random: &mut Rng) -> Strike {
        let target = match random.u64(..3) {
            0 => Target::Supervisor,
            1 => Target::Guard,
            _ => Target::Command,
        };
        let blow = match random.u64(..3) {
            0 => Blow::Stop,
            1 => Blow::Kill,
            _ => Blow::Term,
        };
        Strike { target, blow }
    }

    fn disables(self, target: Target) -> bool {
        self.target == target && self.blow != Blow::Term
    }
}

/// Whether `run` promises anything after both.
fn is_covered(first: Strike, second: Strike) -> bool {
    let both = |one: Strike, other: Strike| {
        one.disables(Target::Supervisor) && other.disables(Target::Guard)
    };
    let killed_after_stop = first == Strike { target: Target::Guard, blow: Blow::Stop }
        && second == Strike { target: Target::Supervisor, blow: Blow::Kill };
    killed_after_stop || !(both(first, second) || both(second, first))
}

/// One or two strikes, the pause between them, and how long it takes until the stopped continue.
pub(crate) fn plan(random: &mut Rng, bystander: bool) -> (Vec<Strike>, Duration, Duration) {
    let mut strikes = vec![Strike::draw(random)];
    let second = Strike::draw(random);
    if bystander {
        // It has nothing but a supervisor.
        strikes[0].target = Target::Supervisor;
    } else if random.bool() && is_covered(strikes[0], second) {
        strikes.push(second);
    }
    let pause = Duration::from_millis(random.u64(..100));
    // Around a lease: some continue in time, others too late.
    (strikes, pause, Duration::from_millis(random.u64(50..=2_000)))
}
