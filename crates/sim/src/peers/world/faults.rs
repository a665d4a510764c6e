//! How each kind of fault comes about, and how it goes away.
//!
//! Assumes: the story names nodes that exist.
//! Promises: a fault counts as fired only if it did something; each that lasts can be taken away
//! alone.

use incumbent_protocol::history;
use incumbent_protocol::ratify::Electorate;

use super::{Event, World, small};
use crate::network::{Trouble, TroubleId};
use crate::peers::fault::{Fault, Kind};

impl World<'_> {
    pub(super) fn fault(&mut self, index: usize) {
        let Some(&fault) = self.story.faults.get(index) else { return };
        if self.healed.is_some() {
            return;
        }
        let what = fault.to_string();
        self.scribe.world(self.now, history::Event::Fault { what });
        let target = small(fault.target);
        match fault.kind {
            Kind::Crash | Kind::Pause => self.hit(fault, Some(target)),
            Kind::CrashLeader | Kind::PauseLeader => {
                self.hit(fault, self.leader(self.election_of(&fault)));
            }
            Kind::CrashNominee => self.hit(fault, self.nominee(self.election_of(&fault))),
            Kind::CrashKept => self.nodes[fault.target].crash_kept = Some(fault.span),
            Kind::CrashAll => self.crash_all(fault.span),
            Kind::Skew | Kind::WallStep | Kind::ClockLeap => self.tamper(fault),
            Kind::Loss | Kind::Duplicate | Kind::Delay | Kind::Reorder => {
                self.disturb(index, fault);
            }
            Kind::Cut | Kind::CutOut | Kind::CutIn | Kind::CutPair | Kind::Split | Kind::Flap => {
                self.cut(index, fault);
            }
            Kind::LinksLost => self.lose_links(fault),
            Kind::DiskSlow | Kind::DiskFull | Kind::Unfit => self.begin_lasting(index, fault),
            Kind::DiskLost => {
                if self.led.iter().all(Option::is_some)
                    && self.nodes[fault.target].up
                    && self.is_dispensable(fault.target)
                {
                    self.tally.fire(fault.kind);
                    self.lose_disk(target, fault.span);
                }
            }
            Kind::Resign | Kind::ResignTo => self.let_go(fault),
            Kind::Demote | Kind::HoldOff | Kind::Takeover | Kind::TakeoverDead | Kind::Transfer => {
                self.order(fault);
            }
            Kind::PauseElection | Kind::Cordon => {
                self.order(fault);
                self.last(index, fault, Vec::new());
            }
            Kind::AddVoter | Kind::RemoveVoter => self.amend(fault),
        }
    }

    /// Whether a majority of those who vote by now would still have their disks without this one.
    fn is_dispensable(&self, target: usize) -> bool {
        let Some(newest) = self.newest_electorate() else { return false };
        let rest = self.nodes.iter().enumerate().filter(|(index, node)| {
            *index != target && newest.admits(node.number, Some(node.disk.lineage()))
        });
        let rest: Vec<_> = rest.map(|(_, node)| node.number).collect();
        newest.is_settled() && newest.is_majority(&rest)
    }

    /// Those who vote by now, by what is on any disk.
    pub(super) fn newest_electorate(&self) -> Option<&Electorate> {
        let known = self.nodes.iter().filter_map(|node| node.disk.electorate());
        known.max_by_key(|electorate| electorate.number())
    }

    /// In which election a fault happens, if it happens in one.
    pub(super) fn election_of(&self, fault: &Fault) -> u8 {
        small(usize::try_from(fault.at).unwrap_or(0) % self.elections.len())
    }

    /// Whoever was picked in an election, by anybody, and does not lead.
    fn nominee(&self, election: u8) -> Option<u8> {
        let picked = self.nodes.iter().filter_map(|node| {
            let parts = node.parts.as_ref()?;
            let group = parts.elections.get(usize::from(election))?.group.as_ref()?;
            self.place(group.nominee()?)
        });
        let leads = self.leader(election);
        picked.filter(|&place| Some(place) != leads && self.nodes[usize::from(place)].up).min()
    }

    /// Kills or stops a process.
    fn hit(&mut self, fault: Fault, whom: Option<u8>) {
        let Some(number) = whom.filter(|&number| self.nodes[usize::from(number)].up) else {
            return;
        };
        self.tally.fire(fault.kind);
        match fault.kind {
            Kind::Pause | Kind::PauseLeader => self.freeze(number, fault.span),
            _ => self.crash(number, Some(fault.span)),
        }
    }

    /// Does something to the clocks of a host.
    fn tamper(&mut self, fault: Fault) {
        self.tally.fire(fault.kind);
        let node = &mut self.nodes[fault.target];
        match fault.kind {
            Kind::WallStep => node.step_wall(fault.level),
            // Whoever leaps ahead lets go too early. What was said about its lease stands.
            Kind::ClockLeap => node.clock.leap(self.now, fault.span),
            _ => {
                node.clock.set_skew(self.now, fault.level);
                self.restate(small(fault.target));
            }
        }
        self.nodes[fault.target].wakes_at = crate::clock::At::MAX;
        self.arm(small(fault.target));
    }

    /// Makes the links of a node unreliable, in both directions.
    fn disturb(&mut self, index: usize, fault: Fault) {
        self.tally.fire(fault.kind);
        let part = u32::try_from(fault.level).unwrap_or(0);
        let most = fault.level.unsigned_abs();
        let trouble = match fault.kind {
            Kind::Loss => Trouble { loss: part, ..Trouble::default() },
            Kind::Duplicate => Trouble { twice: part, jitter: 1_000, ..Trouble::default() },
            Kind::Delay => Trouble { delay: most, ..Trouble::default() },
            _ => Trouble { jitter: most, ..Trouble::default() },
        };
        let mut troubles = Vec::new();
        for other in (0..self.nodes.len()).filter(|&other| other != fault.target) {
            troubles.push(self.network.trouble(fault.target, other, trouble));
            troubles.push(self.network.trouble(other, fault.target, trouble));
        }
        self.last(index, fault, troubles);
    }

    /// Cuts links, in one direction or in both.
    fn cut(&mut self, index: usize, fault: Fault) {
        self.tally.fire(fault.kind);
        let count = self.nodes.len();
        let other = usize::try_from(fault.level).unwrap_or(0) % count;
        let is_cut = |from: usize, to: usize| match fault.kind {
            Kind::CutOut => from == fault.target,
            Kind::CutIn => to == fault.target,
            Kind::CutPair => (from.min(to), from.max(to)) == ends(fault.target, other),
            Kind::Split => fault.level >> from & 1 != fault.level >> to & 1,
            _ => from == fault.target || to == fault.target,
        };
        let mut troubles = Vec::new();
        for from in 0..count {
            for to in (0..count).filter(|&to| to != from) {
                if is_cut(from, to) {
                    let cut = Trouble { cut: true, ..Trouble::default() };
                    troubles.push(self.network.trouble(from, to, cut));
                    self.watch_for_stuck(self.pair(small(from), small(to)));
                }
            }
        }
        self.last(index, fault, troubles);
    }

    fn lose_links(&mut self, fault: Fault) {
        self.tally.fire(fault.kind);
        for other in (0..small(self.nodes.len())).filter(|&it| usize::from(it) != fault.target) {
            let after = self.random.between(0, self.network.latency() * 4);
            self.break_link(self.pair(small(fault.target), other), (0, after));
        }
    }

    fn begin_lasting(&mut self, index: usize, fault: Fault) {
        let node = &mut self.nodes[fault.target];
        match fault.kind {
            Kind::DiskSlow => node.disk_slow = fault.level.unsigned_abs(),
            Kind::DiskFull => node.disk_full = true,
            _ => {
                if let Some(parts) = &mut node.parts {
                    parts.unfit = true;
                    self.tally.fire(fault.kind);
                }
            }
        }
        self.wake_now(small(fault.target));
        self.last(index, fault, Vec::new());
    }

    /// Remembers a fault that lasts, and when it is over. One that flaps is over soon, and begins
    /// again.
    fn last(&mut self, index: usize, fault: Fault, troubles: Vec<TroubleId>) {
        self.lasting.push((index, troubles));
        let span = if fault.kind == Kind::Flap { fault.span / 8 } else { fault.span };
        self.queue.push(self.now + span.max(1), Event::Over { index });
    }

    pub(super) fn over(&mut self, index: usize) {
        let Some(&fault) = self.story.faults.get(index) else { return };
        let Some(place) = self.lasting.iter().position(|(it, _)| *it == index) else {
            return;
        };
        let (_, troubles) = self.lasting.swap_remove(place);
        let flaps = fault.kind == Kind::Flap && self.now < fault.at + fault.span;
        let was_cut = !troubles.is_empty();
        for trouble in troubles {
            self.network.relieve(trouble);
        }
        match fault.kind {
            Kind::DiskSlow => self.nodes[fault.target].disk_slow = 0,
            Kind::DiskFull => self.nodes[fault.target].disk_full = false,
            Kind::Unfit => self.cure(small(fault.target)),
            Kind::Flap if flaps && was_cut => self.last(index, fault, Vec::new()),
            Kind::Flap if flaps => self.cut(index, fault),
            Kind::PauseElection | Kind::Cordon => self.lift(index, fault),
            _ => {}
        }
    }

    pub(super) fn cure(&mut self, number: u8) {
        if let Some(parts) = &mut self.nodes[usize::from(number)].parts {
            parts.unfit = false;
            self.wake_now(number);
        }
    }
}

fn ends(one: usize, other: usize) -> (usize, usize) {
    (one.min(other), one.max(other))
}
