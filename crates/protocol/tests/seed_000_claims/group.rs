//! Processes as the paper speaks of them, with its settings: `p0`, `p1`, each with a clock of its own.
//!
//! Assumes: the paper's round of 2 seconds, its limit of 2 and its growth of 50 milliseconds.
//! Promises: VARS can be watched as it changes; the referee judges whatever happened.

use core::time::Duration;

use incumbent_protocol::candidacy::{Input, Notice, Rank, Wish};
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::rounds::pace::{Pace, Pacing};
use incumbent_protocol::rounds::register::{MemberId, Vars};
use incumbent_protocol::rules::Timing;

use crate::support::clock::{Clock, TRUE_RATE};
use crate::support::log::What;
use crate::support::process::Process;
use crate::support::world::World;
use crate::support::{ms, referee};

/// The paper's round time.
pub(crate) const ROUND: Duration = ms(2_000);
/// The paper's margin is a constant above the drift of all clocks.
pub(crate) const MARGIN: Duration = ms(100);
/// By how much the paper lets a round grow.
pub(crate) const DELTA: Duration = ms(50);
/// Two rounds.
pub(crate) const LEASE: Duration = ms(4_000);
/// For how long a leader may rely on a round: the lease less the margin.
pub(crate) const SPAN: Duration = ms(3_900);

/// Some processes and the registers between them.
#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) world: World,
}

impl Group {
    /// So many processes with the paper's settings; none contends yet.
    pub(crate) fn of(count: usize) -> Self {
        Group::paced(count, pacing(2, DELTA, ROUND * 10))
    }

    /// The same with other settings.
    pub(crate) fn paced(count: usize, pacing: Pacing) -> Self {
        let mut group = Group { world: World::default() };
        for _ in 0..count {
            group.add(pacing);
        }
        group
    }

    /// Adds a process.
    pub(crate) fn add(&mut self, pacing: Pacing) -> usize {
        let number = self.world.processes.len();
        let offset = ms(987_654) * u32::try_from(number).expect("few");
        let clock = Clock::new(offset, TRUE_RATE);
        self.world.add_in_rounds(&format!("p{number}"), timing(&pacing), pacing, clock)
    }

    pub(crate) fn contend(&mut self, who: usize) {
        self.world.tell(who, Input::Wish(Wish::Lead));
    }

    /// All begin, one after the other, some milliseconds apart, so that ids are in order.
    pub(crate) fn all_contend(&mut self) {
        for who in 0..self.world.processes.len() {
            self.contend(who);
            self.run(ms(5));
        }
    }

    /// Begins anew after a crash.
    pub(crate) fn restart(&mut self, who: usize) {
        self.world.start(who);
        self.contend(who);
    }

    pub(crate) fn run(&mut self, span: Duration) {
        self.world.run_until(self.world.now + span);
    }

    /// How long ago something was.
    pub(crate) fn since(&self, then: Duration) -> Duration {
        self.world.now.saturating_sub(then)
    }

    /// Runs until something is so, looking every ten milliseconds; `false` if it never was.
    pub(crate) fn run_while(&mut self, most: Duration, goes_on: impl Fn(&Group) -> bool) -> bool {
        let end = self.world.now + most;
        while goes_on(self) && self.world.now < end {
            self.run(ms(10));
        }
        !goes_on(self)
    }

    /// Every pace that VARS showed in this time, with the instant, and whether the flag was up then.
    pub(crate) fn watch(&mut self, span: Duration) -> Vec<(Duration, Pace, bool)> {
        let end = self.world.now + span;
        let mut seen: Vec<(Duration, Pace, bool)> = Vec::new();
        while self.world.now < end {
            let vars = self.vars();
            if seen.last().is_none_or(|last| (last.1, last.2) != (vars.pace, vars.evicted)) {
                seen.push((self.world.now, vars.pace, vars.evicted));
            }
            self.run(ms(1));
        }
        seen
    }

    pub(crate) fn vars(&self) -> Vars {
        self.world.store.registers.vars.clone().expect("VARS")
    }

    /// The ids of the roster.
    pub(crate) fn ids(&self) -> Vec<u64> {
        self.world.store.registers.roster.keys().map(|id| id.get()).collect()
    }

    /// Where a process is in line.
    pub(crate) fn rank(&self, who: usize) -> Rank {
        let process = &self.world.processes[who];
        let life = process.life.as_ref().expect("alive");
        life.candidacy.rank(process.clock.read(self.world.now)).expect("a roster")
    }

    pub(crate) fn id(&self, who: usize) -> Option<u64> {
        self.rank(who).id.map(MemberId::get)
    }

    /// Who believes to lead, by name.
    pub(crate) fn leaders(&self) -> Vec<&str> {
        let leading = self.world.processes.iter().filter(|process| process.leads());
        leading.map(|process: &Process| process.name.as_str()).collect()
    }

    /// Why the terms could begin, and whose they were.
    pub(crate) fn terms(&self) -> Vec<(&str, Opening)> {
        let claims = self.world.store.claims();
        claims.map(|claim| (claim.candidate.name.as_str(), claim.opening)).collect()
    }

    /// What a process told, and when.
    pub(crate) fn told(&self, who: usize) -> impl Iterator<Item = (Duration, &Notice)> {
        self.world.log.iter().filter(move |entry| entry.who == who).filter_map(|entry| match &entry
            .what
        {
            What::Told { notice, .. } => Some((entry.at, notice)),
            _ => None,
        })
    }

    /// The ids that a process was ever given.
    pub(crate) fn joined(&self, who: usize) -> Vec<u64> {
        let joined = self.told(who).filter_map(|(_, notice)| match notice {
            Notice::Joined { id, .. } => Some(id.get()),
            _ => None,
        });
        joined.collect()
    }

    /// The ids that were taken from a process.
    pub(crate) fn evicted(&self, who: usize) -> Vec<u64> {
        let evicted = self.told(who).filter_map(|(_, notice)| match notice {
            Notice::Evicted { id } => Some(id.get()),
            _ => None,
        });
        evicted.collect()
    }

    /// When a process last asked for anything.
    pub(crate) fn last_asked(&self, who: usize) -> Duration {
        let mut log = self.world.log.iter().rev();
        let asked = log.find(|e| e.who == who && matches!(e.what, What::Asked(_)));
        asked.expect("a request").at
    }

    /// Never two leases at once, every gain lost once.
    #[track_caller]
    pub(crate) fn judge(&self) {
        assert_eq!(referee::judge(&self.world.log), Ok(()));
    }
}

/// The paper's settings with another limit, growth and cap.
pub(crate) fn pacing(limit: u32, delta: Duration, cap: Duration) -> Pacing {
    Pacing::new(ROUND, limit, MARGIN * limit / 2, delta, cap).expect("pacing")
}

fn timing(pacing: &Pacing) -> Timing {
    let rules = pacing.rules_at(pacing.round_time());
    Timing::new(rules, pacing.round_time(), ms(300), ms(100)).expect("timing")
}
