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
use crate::peers::clerk::Clocks;
use crate::peers::node::Parts;
use crate::plant::Plant;
use crate::process::Held;
use crate::resource::Write;

impl World<'_> {
    pub(super) fn begin_work(&mut self, number: u8, parts: &mut Parts, term: Term) {
        let node = &self.nodes[usize::from(number)];
        let work = &mut parts.work;
        work.term = Some(term);
        work.stopping = false;
        work.serial += 1;
        let election = self.election.clone();
        self.scribe.line(self.now, &node.id, history::Event::WorkBegan { election, term });
        let at = self.now + self.random.between(0, self.story.setting.lease / 8);
        self.queue.push(at, Event::Work { node: number, life: node.life, serial: work.serial });
    }

    /// One step: check, and write if the check allows it.
    pub(super) fn work(&mut self, number: u8, parts: &mut Parts, now: Clocks, serial: u32) {
        let lease = self.story.setting.lease;
        let life = self.nodes[usize::from(number)].life;
        if parts.work.serial != serial || parts.work.stopping {
            return;
        }
        if let Some(held) = parts.held.filter(|held| held.sure && now.local < held.until) {
            let slow = self.random.percent(20);
            let pause = if slow { self.random.spread(lease / 4, lease * 6) } else { 0 };
            let at = self.now + self.network.latency() + pause;
            self.queue.push(at, Event::Write { node: number, life, term: held.term.get() });
        }
        let next = self.now + self.random.between(lease / 2, lease * 2);
        self.queue.push(next, Event::Work { node: number, life, serial });
    }

    /// The leadership ended: the work must stop, at once or within what is left of the lease.
    pub(super) fn end_work(
        &mut self,
        number: u8,
        parts: &mut Parts,
        now: Clocks,
        held: Option<Held>,
    ) {
        let node = &self.nodes[usize::from(number)];
        let held = held.filter(|held| now.local < held.until);
        let left = held.map_or(0, |held| node.when(held.until).saturating_sub(self.now));
        let grace = u64::try_from(self.timing.grace().as_nanos()).unwrap_or(u64::MAX);
        let stop = self.random.between(0, left.min(grace) / 2);
        self.stop_work(number, parts, stop);
    }

    /// Stops the work after so long. Where it is stopping already, whatever comes first counts: a lease
    /// that ends does not wait for a hand-over.
    pub(super) fn stop_work(&mut self, number: u8, parts: &mut Parts, after: Span) {
        let life = self.nodes[usize::from(number)].life;
        let work = &mut parts.work;
        if work.term.is_none() {
            return;
        }
        work.stopping |= after > 0;
        let stopped = Event::Stopped { node: number, life, serial: work.serial };
        self.queue.push(self.now + after, stopped);
    }

    /// The work has ended, so the term can be given back; and the user waits to lead again.
    pub(super) fn stopped(&mut self, number: u8, parts: &mut Parts, now: Clocks, serial: u32) {
        let work = &mut parts.work;
        if work.serial != serial {
            return;
        }
        let Some(term) = work.term.take() else { return };
        work.stopping = true;
        let election = self.election.clone();
        let line = history::Event::WorkEnded { election, term };
        self.scribe.line(self.now, &self.nodes[usize::from(number)].id, line);
        parts.candidacy.handle(now.local, Input::Resign(term));
        let life = self.nodes[usize::from(number)].life;
        let later = self.now + self.random.between(0, self.story.setting.lease / 8);
        self.queue.push(later, Event::Campaign { node: number, life });
    }

    /// Who leads and can be told to stop, as far as its supervisor knows.
    pub(super) fn leader(&self) -> Option<u8> {
        let leads = |parts: &Parts| parts.held.is_some();
        let found = self.nodes.iter().position(|node| {
            node.is_running() && node.parts.as_ref().is_some_and(|parts| leads(parts))
        });
        found.map(small)
    }

    /// A write reaches the resource.
    pub(super) fn write(&mut self, number: u8, life: u32, term: u64) {
        let Some(term) = Term::recorded(term) else { return };
        let node = &self.nodes[usize::from(number)];
        let mut from = node.id.clone();
        from.incarnation = node.incarnation(life);
        let (election, resource) = (self.election.clone(), self.election.as_str().to_owned());
        let line = match self.resource.write(term, &from.name, true, Plant::Nothing) {
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
