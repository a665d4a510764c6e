//! Whether a leader goes on, whom it evicts, and how the pace changes.
//!
//! Assumes: the exclusive lock on VARS. A server runs these guards as statements; see its own tests.
//! Promises: nothing is written for one whose term, place or pace is not what it believes.

use core::time::Duration;

use super::{Decided, End, Lead, Write};
use crate::lease::request::Refusal;
use crate::rounds::register::{Pulse, Scene};

impl Lead {
    pub(super) fn decide(&self, scene: &Scene) -> Decided {
        let Some(vars) = scene.vars.as_ref().filter(|_| scene.keeps(self.place)) else {
            return Err(Refusal::Over);
        };
        if vars.pace.number < self.pace || !self.holding.may_renew(&scene.election) {
            return Err(Refusal::Over);
        }
        let mut writes = Vec::new();
        let mut vars = vars.clone();
        if let Some(shift) = self.shift.filter(|shift| shift.from == vars.pace.number) {
            writes.push(Write::Patience(shift.rules));
            vars.pace = shift.to;
            vars.evicted &= !shift.answers;
        }
        writes.push(Write::Beat);
        writes.push(Write::Pulse(self.place.id));
        let evicted: Vec<Pulse> = self.evicted(scene).cloned().collect();
        writes.extend(evicted.iter().cloned().map(Write::Remove));
        // Always written, so that an engine that only compares what was written sees a conflict too.
        writes.push(Write::Vars(vars));
        Ok((writes, End::Led(evicted)))
    }

    /// Those who stand still as they did, or are proved to be gone.
    fn evicted<'a>(&'a self, scene: &'a Scene) -> impl Iterator<Item = &'a Pulse> {
        let still = |pulse: &&Pulse| self.evict.iter().any(|e| e.covers(pulse, Duration::ZERO));
        let died = scene.shown.iter().filter(|shown| shown.died).map(|shown| &shown.pulse);
        let alone = |pulse: &&Pulse| !scene.suspects.contains(pulse);
        let all = scene.suspects.iter().filter(still).chain(died.filter(alone));
        all.filter(|pulse| pulse.id != self.place.id)
    }
}
