//! Work below a leadership: it writes to the resource of its election, and stops when the
//! leadership ends.
//!
//! Assumes: whoever supervises it hears the notices of its candidacy.
//! Promises: it checks before it acts, as work should; and it is slow between the two, as work is.
//! So it tries to write after its lease ended, which only the token prevents.

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::history;
use incumbent_protocol::term::{Recorded, Term};

use super::{World, small};
use crate::fault::Fault;
use crate::plant::Plant;
use crate::process::Held;
use crate::queue::Event;
use crate::resource::Write;

impl World<'_> {
    pub(super) fn begin_work(&mut self, number: u8, index: usize, term: Term) {
        let process = &mut self.processes[usize::from(number)];
        let work = &mut process.seats[index].work;
        work.term = Some(term);
        work.stopping = false;
        work.drains = false;
        work.serial += 1;
        let serial = work.serial;
        let life = process.life;
        let election = self.elections[index].clone();
        let line = history::Event::WorkBegan { election, term };
        self.scribe.line(self.now, &process.id, line);
        let at = self.now + self.random.between(0, self.story.setting.lease / 8);
        let seat = small(index);
        self.queue.push(at, Event::Work { process: number, seat, life, serial });
    }

    /// One step: check, and write if the check allows it.
    pub(super) fn work(&mut self, number: u8, index: usize, serial: u32) {
        let lease = self.story.setting.lease;
        let process = &mut self.processes[usize::from(number)];
        let local = process.read(self.now);
        let life = process.life;
        let seat = &process.seats[index];
        if seat.work.serial != serial || seat.work.stopping {
            return;
        }
        let (process, seat_number) = (number, small(index));
        if let Some(held) = seat.held.filter(|held| held.sure && local < held.until) {
            let slow = self.random.percent(20);
            let pause = if slow { self.random.spread(lease / 4, lease * 6) } else { 0 };
            let at = self.now + self.network.latency() + pause;
            let write = Event::Write { process, seat: seat_number, life, term: held.term.get() };
            self.queue.push(at, write);
            self.begin_transaction(number, index, held.term);
        }
        let next = self.now + self.random.between(lease / 2, lease * 2);
        let work = Event::Work { process, seat: seat_number, life, serial };
        self.queue.push(next, work);
    }

    /// The leadership ended: the work must stop, at once or within what is left of the lease.
    pub(super) fn end_work(&mut self, number: u8, index: usize, held: Option<Held>) {
        let process = &mut self.processes[usize::from(number)];
        let local = process.read(self.now);
        let left = held.map_or(0, |held| process.when(held.until).saturating_sub(self.now));
        let running = held.is_some_and(|held| local < held.until);
        let time = if running { left.min(self.story.setting.grace) / 2 } else { 0 };
        let stop = self.random.between(0, time);
        match self.plant {
            Plant::NoticeDropped if self.random.percent(25) => {}
            Plant::CancelLate if running => self.stop_work(number, index, left + stop),
            _ => self.stop_work(number, index, stop),
        }
    }

    pub(super) fn stop_work(&mut self, number: u8, index: usize, after: u64) {
        let process = &mut self.processes[usize::from(number)];
        let life = process.life;
        let work = &mut process.seats[index].work;
        if work.term.is_none() || work.stopping {
            return;
        }
        work.stopping = after > 0;
        let stopped =
            Event::Stopped { process: number, seat: small(index), life, serial: work.serial };
        self.queue.push(self.now + after, stopped);
    }

    /// The work has ended, so the term can be given back.
    pub(super) fn stopped(&mut self, number: u8, index: usize, serial: u32) {
        let process = &mut self.processes[usize::from(number)];
        let local = process.read(self.now);
        let work = &mut process.seats[index].work;
        if work.serial != serial {
            return;
        }
        let Some(term) = work.term.take() else {
            return;
        };
        work.stopping = true;
        let election = self.elections[index].clone();
        let line = history::Event::WorkEnded { election, term };
        self.scribe.line(self.now, &process.id, line);
        self.handle(number, index, local, Input::Resign(term));
    }

    /// Who leads and can be told to stop, as far as its supervisor knows.
    pub(super) fn leader(&self, election: usize) -> Option<usize> {
        let leads =
            |seat: Option<&crate::process::Seat>| seat.is_some_and(|seat| seat.held.is_some());
        let mut processes = self.processes.iter();
        processes.position(|p| p.up && p.frozen.is_none() && leads(p.seats.get(election)))
    }

    /// A leader's user lets go: the work stops first.
    pub(super) fn let_go(&mut self, fault: Fault) {
        if let Some(number) = self.leader(fault.target) {
            self.tally.fire(fault.kind);
            let stop = self.random.between(0, self.story.setting.grace / 2);
            self.stop_work(small(number), fault.target, stop);
        }
    }

    /// A write reaches the resource.
    pub(super) fn write(&mut self, number: u8, seat: u8, life: u32, term: u64) {
        let Some(term) = Term::recorded(term) else {
            return;
        };
        let process = &self.processes[usize::from(number)];
        let mut from = process.id.clone();
        from.incarnation = process.incarnation(life);
        let resource = &mut self.resources[usize::from(seat)];
        let election = self.elections[usize::from(seat)].clone();
        let name = election.as_str().to_owned();
        let written = resource.write(term, &from.name, self.story.setting.fenced, self.plant);
        let line = match written {
            Write::Accepted { stale } => {
                self.tally.accepted += 1;
                self.tally.stale += u64::from(stale);
                history::Event::Accepted { resource: name, election, term, from }
            }
            Write::Refused { newest } => {
                self.tally.refused += 1;
                history::Event::Rejected { resource: name, election, term, from, newest }
            }
        };
        self.scribe.world(self.now, line);
    }
}
