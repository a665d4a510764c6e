//! A simulated process: one host, its clocks, and one candidacy per election.
//!
//! Assumes: the world gives it turns.
//! Promises: a life ends with a crash and everything that belonged to it ends too; the next life
//! has the same name and another incarnation.

use core::time::Duration;
use std::collections::VecDeque;

use incumbent_protocol::candidacy::{Candidacy, Ticket, Wish};
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::roll::Peer;
use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::succession::presence::{Call, Participant, Schedule};
use incumbent_protocol::succession::{self, Settings, Succession};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{AskedAt, Time};

use crate::clock::{At, HostClock, Skew, Source, Span};
use crate::fault::Fault;
use crate::queue::Event;
use crate::transaction::Transaction;

/// How a candidate is configured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) timing: Timing,
    /// How its rounds are, if it takes part in elections with a roster.
    pub(crate) pacing: Option<Pacing>,
}

impl Manner {
    fn candidacy(&self, id: CandidateId) -> Candidacy {
        match self.pacing {
            None => Candidacy::new(id, self.timing),
            Some(pacing) => Candidacy::in_rounds(id, self.timing, pacing, Profile::default()),
        }
    }
}

/// A request under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) ticket: Ticket,
    pub(crate) asked_at: AskedAt,
    /// When the driver gives up on it.
    pub(crate) deadline: Time,
}

/// What the supervisor of the work believes to hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) term: Term,
    pub(crate) until: Time,
    pub(crate) sure: bool,
}

/// The work under a term.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) term: Option<Term>,
    pub(crate) stopping: bool,
    /// It was asked to end, and goes on until it has.
    pub(crate) drains: bool,
    /// Tells one work from the next.
    pub(crate) serial: u32,
}

/// One election, as one process takes part in it.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) candidacy: Candidacy,
    pub(crate) flight: Option<Flight>,
    pub(crate) held: Option<Held>,
    pub(crate) work: Work,
    pub(crate) transaction: Option<Transaction>,
    /// A term that it won and did not take up: it must give it back.
    pub(crate) owes: Option<Term>,
    /// What it makes of the others, where candidates know of each other.
    pub(crate) part: Option<Part>,
}

/// One election of a process, as far as the others matter to it.
#[derive(Debug)]
pub(crate) struct Part {
    election: ElectionName,
    pub(crate) succession: Succession,
    /// What the user of the process wants of the election.
    pub(crate) wanted: Wish,
    /// Whether the others can know of it.
    pub(crate) listed: bool,
    /// What the candidacy said that the succession has to hear.
    pub(crate) inbox: VecDeque<succession::Input>,
    /// The longest that it was to let others go first in this life.
    pub(crate) deference: Duration,
}

impl Part {
    pub(crate) fn waits(&self) -> bool {
        self.wanted == Wish::Lead
    }
}

impl Participant for Part {
    fn election(&self) -> &ElectionName {
        &self.election
    }

    fn takes_part(&self) -> bool {
        self.succession.presence(self.waits()).is_some()
    }

    fn row(&self) -> Peer {
        self.succession.row(self.waits())
    }

    fn every(&self) -> Duration {
        self.succession.every()
    }
}

/// A call on the database for presence.
#[derive(Clone, Debug)]
pub(crate) struct Calling {
    pub(crate) serial: u64,
    pub(crate) call: Call,
    pub(crate) deadline: Time,
}

/// Where in its work a process is hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// It has stamped a request and not sent it.
    BeforeSending,
    /// It has stamped an answer and not taken it.
    BeforeTaking,
    /// It is about to send a statement of a fenced transaction.
    InTransaction,
}

/// What hits it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ambush {
    pub(crate) boundary: Boundary,
    pub(crate) crash: bool,
    pub(crate) span: Span,
}

/// One host and the process on it.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each so or not")]
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) id: CandidateId,
    /// The number of its present or next life.
    pub(crate) life: u32,
    /// The incarnations of all lives so far.
    pub(crate) lives: Vec<Incarnation>,
    pub(crate) up: bool,
    /// Until when it is stopped, if it is.
    pub(crate) frozen: Option<At>,
    pub(crate) asleep: bool,
    pub(crate) clock: HostClock,
    pub(crate) seats: Vec<Seat>,
    /// When presence is written and read.
    pub(crate) schedule: Schedule,
    pub(crate) calling: Option<Calling>,
    /// The version that it runs.
    pub(crate) version: u32,
    /// What reached it while it was stopped.
    pub(crate) deferred: Vec<Event>,
    /// When its timer fires, and which of all timers it set that is.
    pub(crate) wakes_at: At,
    pub(crate) turn: u32,
    /// How much later than usual it gets its turn.
    pub(crate) slowness: Span,
    pub(crate) ambush: Option<Ambush>,
    pub(crate) odd: bool,
    /// What becomes of the next answer to a change that it makes.
    pub(crate) spoilt: Option<Fault>,
    /// How many answers to fenced commits it will not get.
    pub(crate) commits_lost: u32,
    /// How long it lets others go first.
    pub(crate) deference: Span,
    /// Whether it was told to whom to leave its term.
    pub(crate) has_heir: bool,
    /// How far its idea of the time is behind, if its timer bursts.
    pub(crate) lag: Span,
    source: Source,
    last: Time,
    wall_ahead: i64,
}

impl Process {
    /// A host on which nothing runs yet.
    pub(crate) fn new(name: CandidateName, clock: HostClock, source: Source) -> Self {
        Process {
            id: CandidateId::new(name, Incarnation::from_random(0)),
            life: 0,
            lives: Vec::new(),
            up: false,
            frozen: None,
            asleep: false,
            clock,
            seats: Vec::new(),
            schedule: Schedule::new(),
            calling: None,
            version: 1,
            deferred: Vec::new(),
            wakes_at: At::MAX,
            turn: 0,
            slowness: 0,
            ambush: None,
            odd: false,
            spoilt: None,
            commits_lost: 0,
            deference: 0,
            has_heir: false,
            lag: 0,
            source,
            last: Time::ZERO,
            wall_ahead: 0,
        }
    }

    /// Begins a life.
    pub(crate) fn start(
        &mut self,
        now: At,
        bits: u128,
        manner: Manner,
        settings: Option<&Settings>,
        elections: &[ElectionName],
    ) {
        self.id.incarnation = Incarnation::from_random(bits);
        self.lives.push(self.id.incarnation);
        self.up = true;
        self.last = self.clock.read(now, self.source);
        self.wall_ahead = self.clock.wall_ahead();
        let (id, begun) = (&self.id, self.last);
        let seat = |election: &ElectionName| {
            let mut candidacy = manner.candidacy(id.clone());
            candidacy.begin(begun);
            let part = settings.map(|settings| Part {
                election: election.clone(),
                succession: Succession::new(id.clone(), settings.clone(), *candidacy.timing()),
                wanted: Wish::Nothing,
                listed: false,
                inbox: VecDeque::new(),
                deference: Duration::ZERO,
            });
            let work = Work::default();
            Seat { candidacy, flight: None, held: None, work, transaction: None, owes: None, part }
        };
        self.seats = elections.iter().map(seat).collect();
    }

    /// Its elections, where candidates know of each other.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.seats.iter().filter_map(|seat| seat.part.as_ref())
    }

    /// The call that is due, if one is and none is under way.
    pub(crate) fn call(&mut self, now: Time) -> Option<Call> {
        if self.calling.is_some() {
            return None;
        }
        let parts = self.seats.iter().filter_map(|seat| seat.part.as_ref());
        self.schedule.call(now, parts)
    }

    /// Ends a life.
    pub(crate) fn end(&mut self) {
        self.up = false;
        self.life += 1;
        self.turn += 1;
        self.frozen = None;
        self.asleep = false;
        self.seats.clear();
        self.schedule = Schedule::new();
        self.calling = None;
        self.deferred.clear();
        self.wakes_at = At::MAX;
        self.ambush = None;
        self.spoilt = None;
        self.commits_lost = 0;
        self.deference = 0;
        self.has_heir = false;
        self.lag = 0;
    }

    /// Who it was in one of its lives.
    pub(crate) fn incarnation(&self, life: u32) -> Incarnation {
        let known = self.lives.get(life as usize).copied();
        known.unwrap_or(self.id.incarnation)
    }

    /// Reads the lease clock, which never goes back.
    pub(crate) fn read(&mut self, now: At) -> Time {
        let reading = self.clock.read(now, self.source);
        let reading = reading.back(Duration::from_nanos(self.lag));
        self.last = self.last.max(reading);
        self.last
    }

    /// Whether the lease clock and the wall clock have parted since the last look.
    pub(crate) fn clock_jumped(&mut self) -> bool {
        let ahead = self.clock.wall_ahead();
        core::mem::replace(&mut self.wall_ahead, ahead) != ahead
    }

    /// When the lease clock shows a reading, in the world's time.
    pub(crate) fn when(&self, reading: Time) -> At {
        self.clock.when(reading, self.source)
    }

    /// When the process wants its next turn, on its own clock.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        let seats = self.seats.iter().flat_map(|seat| {
            let deadline = seat.flight.map(|flight| flight.deadline);
            let part = seat.part.as_ref().and_then(|part| part.succession.wake_at());
            [seat.candidacy.wake_at(), deadline, part]
        });
        let call = match &self.calling {
            Some(calling) => Some(calling.deadline),
            None => self.schedule.wake_at(self.parts()),
        };
        seats.chain([call]).flatten().min()
    }

    /// The clock runs at another rate from now on.
    pub(crate) fn set_skew(&mut self, now: At, skew: Skew) {
        self.clock.set_skew(now, skew);
    }
}
