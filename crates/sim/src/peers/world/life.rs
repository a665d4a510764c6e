//! How processes start, stop, go on and end, and how voters keep their promises.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use incumbent_protocol::candidacy::{Candidacy, Input};
use incumbent_protocol::detector::Detector;
use incumbent_protocol::group::{Group, Lookout};
use incumbent_protocol::history;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::time::Time;

use super::{Event, World, small};
use crate::clock::Span;
use crate::peers::booth::Disk;
use crate::peers::fault::Kind;
use crate::peers::node::{Participant, Parts};
use crate::peers::store::{Clocks, Store};
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
        let participant = || {
            let mut candidacy = Candidacy::new(node.id.clone(), self.timing);
            candidacy.begin(begun);
            // It bids only if peers say so.
            candidacy.handle(begun, Input::Nominated(false));
            let (group, held, work) = (None, None, Work::default());
            let (wants, barred, looks_at) = (true, false, begun);
            Participant { candidacy, group, held, work, wants, barred, looks_at }
        };
        let elections = core::iter::repeat_with(participant).take(self.elections.len()).collect();
        let mut detector = Detector::new(self.detector);
        detector.begin(begun);
        let store = Store::new(node.id.incarnation, &self.first, first);
        node.parts = Some(Box::new(Parts {
            elections,
            detector,
            lookout: Lookout::NEVER,
            booth: node.booth(&self.first),
            store,
            queue: Vec::new(),
            asked_at: begun,
            office: None,
            neighbours: BTreeMap::new(),
            homes: BTreeMap::new(),
            watched: BTreeSet::new(),
            inbox: VecDeque::new(),
            serial: 0,
            unfit: false,
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
        let elections = node.parts.iter().flat_map(|parts| &parts.elections);
        let runs = elections.filter_map(|it| it.group.as_ref()).map(Group::runs);
        self.tally.began += runs.sum::<u64>();
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
        let elections = node.parts.iter().flat_map(|parts| &parts.elections);
        for (it, election) in elections.zip(&self.elections) {
            let Some(held) = it.held.filter(|held| local < held.until) else { continue };
            let (term, election) = (held.term, election.clone());
            let valid_until = Time::from_nanos(node.when(held.until));
            let line = history::Event::Renewed { election: election.clone(), term, valid_until };
            self.scribe.line(self.now, &node.id, line);
            if !held.sure {
                self.scribe.line(self.now, &node.id, history::Event::Unsure { election, term });
            }
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
