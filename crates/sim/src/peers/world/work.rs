//! Work below a leadership: it writes to the resource, and stops when the leadership ends.
//!
//! Assumes: whoever supervises it hears the notices of its candidacy.
//! Promises: it checks before it acts, as work should; and it is slow between the two, as work is.

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::history;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::term::{Recorded, Term};

use super::{Event, World, small};
use crate::clock::Span;
use crate::peers::node::Parts;
use crate::peers::store::Clocks;
use crate::plant::Plant;
use crate::process::Held;
use crate::resource::Write;

impl World<'_> {
    pub(super) fn begin_work(&mut self, number: u8, parts: &mut Parts, election: u8, term: Term) {
        let node = &self.nodes[usize::from(number)];
        let work = &mut parts.elections[usize::from(election)].work;
        work.term = Some(term);
        work.stopping = false;
        work.serial += 1;
        let name = self.elections[usize::from(election)].clone();
        let line = history::Event::WorkBegan { election: name, term };
        self.scribe.line(self.now, &node.id, line);
        let at = self.now + self.random.between(0, self.story.setting.lease / 8);
        let (life, serial) = (node.life, work.serial);
        self.queue.push(at, Event::Work { node: number, life, election, serial });
    }

    /// One step: check, and write if the check allows it.
    pub(super) fn work(
        &mut self,
        number: u8,
        parts: &mut Parts,
        now: Clocks,
        election: u8,
        serial: u32,
    ) {
        let lease = self.story.setting.lease;
        let life = self.nodes[usize::from(number)].life;
        let it = &parts.elections[usize::from(election)];
        if it.work.serial != serial || it.work.stopping {
            return;
        }
        if let Some(held) = it.held.filter(|held| held.sure && now.local < held.until) {
            let slow = self.random.percent(20);
            let pause = if slow { self.random.spread(lease / 4, lease * 6) } else { 0 };
            let at = self.now + self.network.latency() + pause;
            let term = held.term.get();
            self.queue.push(at, Event::Write { node: number, life, election, term });
        }
        let next = self.now + self.random.between(lease / 2, lease * 2);
        self.queue.push(next, Event::Work { node: number, life, election, serial });
    }

    /// The leadership ended: the work must stop, at once or within what is left of the lease.
    pub(super) fn end_work(
        &mut self,
        number: u8,
        parts: &mut Parts,
        now: Clocks,
        election: u8,
        held: Option<Held>,
    ) {
        let node = &self.nodes[usize::from(number)];
        let held = held.filter(|held| now.local < held.until);
        let left = held.map_or(0, |held| node.when(held.until).saturating_sub(self.now));
        let grace = u64::try_from(self.timing.grace().as_nanos()).unwrap_or(u64::MAX);
        let stop = self.random.between(0, left.min(grace) / 2);
        self.stop_work(number, parts, election, stop);
    }

    /// Stops the work after so long. Where it is stopping already, whatever comes first counts: a lease
    /// that ends does not wait for a hand-over.
    pub(super) fn stop_work(&mut self, number: u8, parts: &mut Parts, election: u8, after: Span) {
        let life = self.nodes[usize::from(number)].life;
        let work = &mut parts.elections[usize::from(election)].work;
        if work.term.is_none() {
            return;
        }
        work.stopping |= after > 0;
        let serial = work.serial;
        let stopped = Event::Stopped { node: number, life, election, serial };
        self.queue.push(self.now + after, stopped);
    }

    /// The work has ended, so the term can be given back; and the user waits to lead again.
    pub(super) fn stopped(
        &mut self,
        number: u8,
        parts: &mut Parts,
        now: Clocks,
        election: u8,
        serial: u32,
    ) {
        let it = &mut parts.elections[usize::from(election)];
        let work = &mut it.work;
        if work.serial != serial {
            return;
        }
        let Some(term) = work.term.take() else { return };
        work.stopping = true;
        let name = self.elections[usize::from(election)].clone();
        let line = history::Event::WorkEnded { election: name, term };
        self.scribe.line(self.now, &self.nodes[usize::from(number)].id, line);
        it.candidacy.handle(now.local, Input::Resign(term));
        let life = self.nodes[usize::from(number)].life;
        let later = self.now + self.random.between(0, self.story.setting.lease / 8);
        self.queue.push(later, Event::Campaign { node: number, life, election });
    }

    /// Who leads in an election and can be told to stop, as far as its supervisor knows.
    pub(super) fn leader(&self, election: u8) -> Option<u8> {
        let found = self.nodes.iter().position(|node| {
            node.is_running() && node.parts.as_ref().is_some_and(|parts| parts.leads(election))
        });
        found.map(small)
    }

    /// A write reaches the resource.
    pub(super) fn write(&mut self, number: u8, life: u32, election: u8, term: u64) {
        let Some(term) = Term::recorded(term) else { return };
        let node = &self.nodes[usize::from(number)];
        let mut from = node.id.clone();
        from.incarnation = node.incarnation(life);
        let at = usize::from(election);
        let election = self.elections[at].clone();
        let resource = election.as_str().to_owned();
        let line = match self.resources[at].write(term, &from.name, true, Plant::Nothing) {
            Write::Accepted { .. } => {
                self.tally.accepted += 1;
                history::Event::Accepted { resource, election, term, from }
            }
            Write::Refused { newest } => {
                self.tally.refused += 1;
                history::Event::Rejected { resource, election, term, from, newest }
            }
        };
        self.scribe.world(self.now, line);
    }
}
