//! How processes start, stop, go on and end, and how voters keep their promises.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use incumbent_protocol::candidacy::{Candidacy, Input};
use incumbent_protocol::detector::Detector;
use incumbent_protocol::group::Lookout;
use incumbent_protocol::history;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;

use super::{Event, World, small};
use crate::clock::Span;
use crate::peers::booth::Disk;
use crate::peers::clerk::{Clerk, Clocks};
use crate::peers::fault::Kind;
use crate::peers::node::Parts;
use crate::process::Work;
use crate::scribe::opened;

impl World<'_> {
    pub(super) fn start(&mut self, number: u8) {
        let bits = self.random.next_wide();
        let first = self.random.next();
        let node = &mut self.nodes[usize::from(number)];
        if node.up {
            return;
        }
        let begun = node.begin(self.now, bits);
        let mut candidacy = Candidacy::new(node.id.clone(), self.timing);
        candidacy.begin(begun);
        // It bids only if peers say so.
        candidacy.handle(begun, Input::Nominated(false));
        let mut detector = Detector::new(self.detector);
        detector.begin(begun);
        let clerk = Clerk::new(node.id.incarnation, Rc::clone(&self.first), first);
        node.parts = Some(Box::new(Parts {
            candidacy,
            detector,
            group: None,
            lookout: Lookout::NEVER,
            booth: node.booth(&self.first),
            clerk,
            office: None,
            neighbours: BTreeMap::new(),
            homes: BTreeMap::new(),
            watched: BTreeSet::new(),
            inbox: VecDeque::new(),
            serial: 0,
            flight: None,
            held: None,
            work: Work::default(),
            wants: true,
            unfit: false,
            barred: false,
            looks_at: begun,
        }));
        self.scribe.line(self.now, &node.id, opened(self.now));
        self.dial_all(number, 1_000_000, 50_000_000);
        self.wake_now(number);
    }

    /// Kills a process. It comes back after `down`, if that is given.
    pub(super) fn crash(&mut self, number: u8, down: Option<Span>) {
        let node = &mut self.nodes[usize::from(number)];
        if !node.up {
            return;
        }
        self.scribe.line(self.now, &node.id, history::Event::Killed);
        if let Some(group) = node.parts.as_ref().and_then(|parts| parts.group.as_ref()) {
            self.tally.began += group.runs();
        }
        node.end();
        self.hang_up(number);
        if let Some(down) = down {
            self.queue.push(self.now + down, Event::Start { node: number });
        }
    }

    /// Kills a process whose disk is lost with it.
    pub(super) fn lose_disk(&mut self, number: u8, down: Span) {
        self.crash(number, Some(down));
        self.nodes[usize::from(number)].disk = Disk::new(self.random.next_wide());
    }

    /// Stops a process for a while.
    pub(super) fn freeze(&mut self, number: u8, span: Span) {
        let until = self.now + span;
        let node = &mut self.nodes[usize::from(number)];
        if !node.up {
            return;
        }
        if node.frozen.is_none() {
            self.scribe.line(self.now, &node.id, history::Event::Paused);
        }
        if node.frozen.is_none_or(|before| before < until) {
            node.frozen = Some(until);
            let life = node.life;
            self.queue.push(until, Event::Resume { node: number, life });
        }
    }

    pub(super) fn resume(&mut self, number: u8, life: u32) {
        let node = &mut self.nodes[usize::from(number)];
        let due = node.frozen.is_some_and(|until| until <= self.now);
        if !node.up || node.life != life || !due {
            return;
        }
        node.frozen = None;
        self.scribe.line(self.now, &node.id, history::Event::Resumed);
        self.restate(number);
        let deferred = core::mem::take(&mut self.nodes[usize::from(number)].deferred);
        // A driver may look at its timers first or at its sockets first.
        if self.random.percent(50) {
            self.wake_now(number);
        }
        for event in deferred {
            self.take_turn(event);
        }
        self.wake_now(number);
    }

    /// Gives a node its turn at once.
    pub(super) fn wake_now(&mut self, number: u8) {
        let node = &self.nodes[usize::from(number)];
        if node.is_running() {
            let turn = node.turn;
            self.run_turn(number, Event::Wake { node: number, turn });
        }
    }

    /// A clock that changed its ways makes a lease end at another instant than it was said to: says
    /// so.
    pub(super) fn restate(&mut self, number: u8) {
        let node = &mut self.nodes[usize::from(number)];
        if !node.is_running() {
            return;
        }
        let local = node.clocks(self.now).local;
        let held = node.parts.as_ref().and_then(|parts| parts.held);
        let Some(held) = held.filter(|held| local < held.until) else { return };
        let (term, election) = (held.term, self.election.clone());
        let valid_until = Time::from_nanos(node.when(held.until));
        let line = history::Event::Renewed { election, term, valid_until };
        self.scribe.line(self.now, &node.id, line);
        if !held.sure {
            let election = self.election.clone();
            self.scribe.line(self.now, &node.id, history::Event::Unsure { election, term });
        }
    }

    /// Kills all processes at once.
    pub(super) fn crash_all(&mut self, down: Span) {
        for number in 0..small(self.nodes.len()) {
            let later = self.random.between(down / 2, down);
            self.crash(number, Some(later));
        }
        self.tally.fire(Kind::CrashAll);
    }

    /// A voter has promised something: answers once it is on the disk.
    pub(super) fn write_disk(&mut self, number: u8, parts: &mut Parts, now: Clocks) {
        if !parts.booth.writes() {
            return self.kept(number, parts, now);
        }
        let node = &self.nodes[usize::from(number)];
        let most = self.story.setting.disk_most;
        let at = self.now + self.random.between(most / 8, most) + node.disk_slow;
        if node.disk_slow > 0 {
            self.tally.fire(Kind::DiskSlow);
        }
        self.queue.push(at, Event::Kept { node: number, life: node.life });
    }

    pub(super) fn kept(&mut self, number: u8, parts: &mut Parts, now: Clocks) {
        let node = &mut self.nodes[usize::from(number)];
        if node.disk_full && parts.booth.writes() {
            self.tally.fire(Kind::DiskFull);
            parts.booth.start_over(&node.disk);
            return;
        }
        let writes = parts.booth.writes();
        let answers = parts.booth.kept(&mut node.disk, now.wall);
        if writes && node.crash_kept.is_some() {
            return; // It is killed before it can say so.
        }
        for (to, message) in answers {
            self.send(number, parts, to, message);
        }
    }
}
