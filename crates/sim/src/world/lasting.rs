//! Faults that last: how they begin, turn over, add up and end.
//!
//! Assumes: the story names processes and elections that exist.
//! Promises: each of them can be taken away alone.

use incumbent_protocol::candidacy::Wish;

use super::{World, small};
use crate::fault::{Fault, Kind};
use crate::network::TroubleId;
use crate::queue::Event;
impl World<'_> {
    /// Takes note of a fault that lasts, and of when it ends or turns over.
    pub(super) fn last(&mut self, index: u32, fault: Fault, troubles: Vec<TroubleId>) {
        self.lasting.push((index, troubles));
        let turns = turns_over(fault.kind);
        let pause = if turns { fault.level.unsigned_abs().max(100_000) } else { fault.span };
        self.queue.push(self.now + pause, Event::Over { index });
    }

    /// A fault that lasts ends, or turns over.
    pub(super) fn over(&mut self, index: u32) {
        let Some(place) = self.lasting.iter().position(|&(it, _)| it == index) else {
            return;
        };
        let Some(&fault) = self.story.faults.get(index as usize) else {
            return;
        };
        let (_, troubles) = self.lasting.swap_remove(place);
        let was_cut = !troubles.is_empty();
        for id in troubles {
            self.network.relieve(id);
        }
        if turns_over(fault.kind) && self.now < fault.at + fault.span {
            match fault.kind {
                Kind::Flap if was_cut => self.last(index, fault, Vec::new()),
                Kind::Flap => self.cut(index, fault),
                Kind::Bells => {
                    self.tally.fire(Kind::Bells);
                    let life = self.processes[fault.target].life;
                    let process = small(fault.target);
                    self.take_turn(Event::Bell { process, life });
                    self.last(index, fault, Vec::new());
                }
                Kind::CrashLoop => {
                    self.count_if_up(fault);
                    self.crash(small(fault.target), Some(fault.level.unsigned_abs() / 4));
                    self.last(index, fault, Vec::new());
                }
                _ => {}
            }
            return;
        }
        if !self.persists(index, fault) {
            self.end_lasting(fault);
        }
    }

    pub(super) fn begin_lasting(&mut self, index: u32, fault: Fault) {
        self.last(index, fault, Vec::new());
        self.sum_up();
        let number = small(fault.target);
        match fault.kind {
            Kind::SlowCpu => self.tally.fire(Kind::SlowCpu),
            Kind::SkewBeyond => self.tamper(fault),
            Kind::Withdraw => {
                self.count_if_up(fault);
                let wish = if fault.level == 0 { Wish::Nothing } else { Wish::Watch };
                self.wish_all(number, wish);
            }
            Kind::Unfit => {
                self.count_if_up(fault);
                self.fit(number, Some("it is ill"));
            }
            Kind::OddRules => {
                self.count_if_up(fault);
                self.processes[fault.target].odd = true;
                self.crash(number, Some(self.story.setting.beat));
            }
            _ => {}
        }
    }

    pub(super) fn end_lasting(&mut self, fault: Fault) {
        self.sum_up();
        let number = small(fault.target);
        match fault.kind {
            Kind::SkewBeyond => {
                let skew = self.story.setting.skews[fault.target];
                self.processes[fault.target].set_skew(self.now, skew);
                self.restate(number);
                self.arm(number);
            }
            Kind::RulesThenDelete => {
                let level = i64::try_from(self.story.setting.lease / 4).unwrap_or(i64::MAX);
                self.break_store(Fault { kind: Kind::Delete, at: self.now, level, ..fault });
            }
            Kind::Withdraw => self.wish_all(number, Wish::Lead),
            Kind::Defer => self.defer(number, 0),
            Kind::Unfit => self.fit(number, None),
            Kind::OddRules => {
                self.processes[fault.target].odd = false;
                self.crash(number, Some(self.story.setting.beat));
            }
            _ => {}
        }
    }

    /// What all lasting faults together do to the database and to the pace of processes.
    pub(super) fn sum_up(&mut self) {
        let (mut abort, mut stall, mut read_only, mut disk_full) = (0, 0, false, false);
        self.processes.iter_mut().for_each(|process| process.slowness = 0);
        for &(index, _) in &self.lasting {
            let fault = self.story.faults[index as usize];
            let level = fault.level.unsigned_abs();
            match fault.kind {
                Kind::Abort => abort = abort.max(u32::try_from(level).unwrap_or(0)),
                Kind::Stall => stall = stall.max(level),
                Kind::ReadOnly => read_only = true,
                Kind::DiskFull => disk_full = true,
                Kind::SlowCpu => {
                    let process = &mut self.processes[fault.target];
                    process.slowness = process.slowness.max(level);
                }
                _ => {}
            }
        }
        (self.store.abort, self.store.stall) = (abort, stall);
        (self.store.read_only, self.store.disk_full) = (read_only, disk_full);
    }

    /// The user of a process wants more or less of all its elections.
    pub(super) fn wish_all(&mut self, number: u8, wish: Wish) {
        for index in 0..self.elections.len() {
            if !self.is_running(number) {
                return;
            }
            let local = self.processes[usize::from(number)].read(self.now);
            self.want(number, index, local, wish);
            if wish != Wish::Lead && self.is_running(number) {
                // Who does not want to lead stops its work, and with it its term.
                self.stop_work(number, index, 0);
            }
        }
        self.arm(number);
    }
}

/// Whether a fault comes again and again while it lasts.
const fn turns_over(kind: Kind) -> bool {
    matches!(kind, Kind::Flap | Kind::Bells | Kind::CrashLoop)
}
