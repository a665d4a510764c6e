//! A simulated node: one host, its clocks, its disk, and the process on it.
//!
//! Assumes: the world gives it turns.
//! Promises: a life ends with a crash, and everything that was not on the disk ends with it; the next
//! life has the same name and number and another incarnation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use incumbent_protocol::candidacy::Candidacy;
use incumbent_protocol::detector::Detector;
use incumbent_protocol::group::{Group, Lookout};
use incumbent_protocol::identity::{CandidateId, Incarnation};
use incumbent_protocol::node::NodeId;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::ratify::Electorate;
use incumbent_protocol::time::{StoreTime, Time};

use super::booth::{Booth, Disk};
use super::store::{Ask, Clocks, Store};
use super::words::Message;
use super::world::Event;
use crate::clock::{At, HostClock, Source, Span};
use crate::process::{Held, Work};

/// When the world begins, for wall clocks, in microseconds.
const EPOCH: u64 = 1_800_000_000_000_000;

/// Somebody who can be talked to.
#[derive(Clone, Debug)]
pub(super) struct Neighbour {
    pub(super) incarnation: Incarnation,
    pub(super) session: u64,
    pub(super) contends: BTreeSet<u8>,
    pub(super) serial: u64,
}

/// How a process takes part in one election.
#[derive(Debug)]
pub(super) struct Participant {
    pub(super) candidacy: Candidacy,
    pub(super) group: Option<Group>,
    pub(super) held: Option<Held>,
    pub(super) work: Work,
    /// Whether a user waits to lead.
    pub(super) wants: bool,
    /// Whether an operator keeps it from winning, as far as it saw.
    pub(super) barred: bool,
    /// When it looks again at what operators have in force, while it leads.
    pub(super) looks_at: Time,
}

impl Participant {
    /// Whether this process leads or wants to.
    pub(super) const fn takes_part(&self) -> bool {
        self.held.is_some() || self.wants
    }
}

/// What a process has in memory.
#[derive(Debug)]
pub(super) struct Parts {
    /// In the order of the setting.
    pub(super) elections: Vec<Participant>,
    pub(super) detector: Detector,
    pub(super) lookout: Lookout,
    pub(super) booth: Booth,
    pub(super) store: Store,
    /// What is to be asked of it.
    pub(super) queue: Vec<Ask>,
    /// When what is under way was asked.
    pub(super) asked_at: Time,
    /// The registers as an operator uses them over this node's links.
    pub(super) office: Option<Store>,
    pub(super) neighbours: BTreeMap<NodeId, Neighbour>,
    /// Which node a candidate runs on.
    pub(super) homes: BTreeMap<Incarnation, NodeId>,
    pub(super) watched: BTreeSet<NodeId>,
    /// What the node says to itself.
    pub(super) inbox: VecDeque<Message>,
    pub(super) serial: u64,
    pub(super) unfit: bool,
}

impl Parts {
    /// Whether it leads in an election.
    pub(super) fn leads(&self, election: u8) -> bool {
        self.elections.get(usize::from(election)).is_some_and(|it| it.held.is_some())
    }

    /// The groups of its elections, each with its place.
    pub(super) fn groups(&mut self) -> impl Iterator<Item = (u8, &mut Group)> {
        let groups = (0..).zip(&mut self.elections);
        groups.filter_map(|(election, it)| Some((election, it.group.as_mut()?)))
    }

    /// The elections in which it contends.
    pub(super) fn contends(&self) -> BTreeSet<u8> {
        let all = (0..).zip(&self.elections);
        all.filter(|(_, it)| it.group.is_some()).map(|(election, _)| election).collect()
    }

    /// When it wants its next turn, on its own clock.
    pub(super) fn wake_at(&self) -> Option<Time> {
        let elections = self.elections.iter().flat_map(|it| {
            let group = it.group.as_ref().and_then(Group::wake_at);
            [it.candidacy.wake_at(), group]
        });
        let office = self.office.as_ref().and_then(Store::wake_at);
        let all = [self.detector.wake_at(), self.store.wake_at(), self.lookout.wake_at(), office];
        all.into_iter().chain(elections).flatten().min()
    }
}

/// One host and the process on it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) number: NodeId,
    pub(super) id: CandidateId,
    pub(super) life: u32,
    pub(super) lives: Vec<Incarnation>,
    pub(super) up: bool,
    /// Until when it is stopped, if it is.
    pub(super) frozen: Option<At>,
    pub(super) clock: HostClock,
    pub(super) disk: Disk,
    pub(super) parts: Option<Box<Parts>>,
    /// What reached it while it was stopped.
    pub(super) deferred: Vec<Event>,
    pub(super) wakes_at: At,
    pub(super) turn: u32,
    /// It is killed once it has kept its next promise, for so long.
    pub(super) crash_kept: Option<Span>,
    pub(super) disk_full: bool,
    /// How much slower the disk is than usual.
    pub(super) disk_slow: Span,
    /// By how much the wall clock was set, in nanoseconds. It is kept even otherwise.
    stepped: i64,
    last: Time,
    wall_ahead: i64,
}

impl Node {
    /// A host on which nothing runs yet.
    pub(super) fn new(number: NodeId, id: CandidateId, clock: HostClock, disk: Disk) -> Self {
        Node {
            number,
            id,
            life: 0,
            lives: Vec::new(),
            up: false,
            frozen: None,
            clock,
            disk,
            parts: None,
            deferred: Vec::new(),
            wakes_at: At::MAX,
            turn: 0,
            crash_kept: None,
            disk_full: false,
            disk_slow: 0,
            stepped: 0,
            last: Time::ZERO,
            wall_ahead: 0,
        }
    }

    /// Begins a life.
    pub(super) fn begin(&mut self, now: At, bits: u128) -> Time {
        self.id.incarnation = Incarnation::from_random(bits);
        self.lives.push(self.id.incarnation);
        self.up = true;
        self.last = self.clock.read(now, Source::Boot);
        self.wall_ahead = self.clock.wall_ahead();
        self.last
    }

    /// Ends a life.
    pub(super) fn end(&mut self) {
        self.up = false;
        self.life += 1;
        self.turn += 1;
        self.frozen = None;
        self.parts = None;
        self.deferred.clear();
        self.wakes_at = At::MAX;
        self.crash_kept = None;
    }

    pub(super) const fn is_running(&self) -> bool {
        self.up && self.frozen.is_none()
    }

    /// Who it was in one of its lives.
    pub(super) fn incarnation(&self, life: u32) -> Incarnation {
        self.lives.get(life as usize).copied().unwrap_or(self.id.incarnation)
    }

    /// Reads both clocks. The lease clock never goes back.
    pub(super) fn clocks(&mut self, now: At) -> Clocks {
        self.last = self.last.max(self.clock.read(now, Source::Boot));
        Clocks { local: self.last, wall: self.wall(now) }
    }

    fn wall(&self, now: At) -> StoreTime {
        let even = (EPOCH + now / 1_000).cast_signed();
        StoreTime::from_micros((even + self.stepped / 1_000).max(1).unsigned_abs())
    }

    /// How long the last bar in an election on its disk still holds, by a wall clock that is right. One that was set
    /// by a clock that ran ahead holds for longer than was ordered once the clock is set back.
    pub(super) fn barred_for(&self, election: u8, now: At) -> Span {
        let page = self.disk.page(election).map(|(_, page)| page);
        let bars = page.iter().flat_map(|page| &page.controls.bars).filter_map(|bar| bar.until);
        let last = bars.max().unwrap_or_default().as_micros();
        last.saturating_sub(EPOCH + now / 1_000).saturating_mul(1_000)
    }

    /// Someone sets the wall clock.
    pub(super) const fn step_wall(&mut self, by: i64) {
        self.stepped = self.stepped.saturating_add(by);
        self.clock.step_wall(by);
    }

    /// Someone sets the wall clock right.
    pub(super) const fn right_wall(&mut self) {
        self.step_wall(-self.stepped);
    }

    /// Whether the lease clock and the wall clock have parted since the last look.
    pub(super) const fn clock_jumped(&mut self) -> bool {
        let ahead = self.clock.wall_ahead();
        core::mem::replace(&mut self.wall_ahead, ahead) != ahead
    }

    /// When the lease clock shows a reading, in the world's time.
    pub(super) fn when(&self, reading: Time) -> At {
        self.clock.when(reading, Source::Boot)
    }

    /// Opens the voter on what is on the disk.
    pub(super) fn booth(&self, first: &Rc<Electorate>) -> Booth {
        Booth::open(self.number, first, &self.disk)
    }
}
