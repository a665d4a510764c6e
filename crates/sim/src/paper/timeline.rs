//! Processes that take rounds, one after the other, and what is told of them.
//!
//! Assumes: a schedule that says how late each round begins and how long its transaction takes.
//! Promises: the history of leases is judged by the same judges as everything else; the play is for
//! people.

use std::fmt::Write;

use incumbent_protocol::history::{Event, Line, VERSION};
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::Time;

use super::round::{Process, Registers, Rule, Told};
use crate::random::Random;
use incumbent_audit::History;

/// When rounds are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// A round time after the last one ended, as printed.
    AfterEach,
    /// At a fixed rate; rounds that were missed are made up for in a burst, as many timers do by
    /// default.
    Bursting,
}

/// How late rounds are.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// By chance: most rounds take some milliseconds, some are late by up to a few round times.
    Seed(Random),
    /// By chance, with no round that is late.
    Ordinary(Random),
    /// By script: for each process, what each of its rounds takes in milliseconds; then `10` for
    /// ever.
    Script(Vec<Vec<u64>>),
}

impl Schedule {
    pub(super) fn delay(&mut self, process: usize, round: usize) -> u64 {
        match self {
            Schedule::Seed(random) => {
                let late = random.percent(4);
                if late { random.between(100, 9_000) } else { random.between(5, ORDINARY) }
            }
            Schedule::Ordinary(random) => random.between(5, ORDINARY),
            Schedule::Script(delays) => {
                let delay = delays.get(process).and_then(|delays| delays.get(round));
                delay.copied().unwrap_or(10)
            }
        }
    }
}

/// A span in which a process was late: from when its round was due until that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Which process.
    pub seat: usize,
    /// From when on, in milliseconds.
    pub from: u64,
    /// Until when.
    pub until: u64,
}

/// What an ordinary round takes at most, in milliseconds.
pub(super) const ORDINARY: u64 = 120;

/// A run of some processes.
#[derive(Debug)]
pub struct Timeline {
    timer: Timer,
    schedule: Schedule,
    registers: Registers,
    seats: Vec<Seat>,
    terms: u64,
    outages: Vec<Outage>,
    lines: Vec<Line>,
    play: String,
}

#[derive(Debug)]
struct Seat {
    process: Process,
    rounds: usize,
    /// When the next round is due, and when it will take effect.
    due: u64,
    at: u64,
    term: Option<Term>,
}

impl Timeline {
    /// Processes that start half a second apart.
    pub fn new(processes: usize, rule: Rule, timer: Timer, mut schedule: Schedule) -> Self {
        let seats = (0..processes).map(|seat| {
            let due = seat as u64 * 500;
            let at = due + schedule.delay(seat, 0);
            Seat { process: Process::new(rule), rounds: 1, due, at, term: None }
        });
        let seats = seats.collect();
        let (outages, lines, play) = (Vec::new(), Vec::new(), String::new());
        let registers = Registers::default();
        let mut timeline =
            Timeline { timer, schedule, registers, seats, terms: 0, outages, lines, play };
        for seat in 0..processes {
            timeline.remember(seat, timeline.seats[seat].due);
            let clock = "common".to_owned();
            timeline.tell(0, seat, Event::Opened { version: VERSION, clock, wall: 0 });
        }
        timeline
    }

    /// Takes rounds until so many milliseconds have passed.
    #[must_use]
    pub fn until(mut self, end: u64) -> Self {
        while let Some((seat, at)) = self.next().filter(|(_, at)| *at <= end) {
            let told = self.seats[seat].process.round(at, &mut self.registers);
            self.note(at, seat, &told);
            self.lease(at, seat, &told);
            self.schedule_next(at, seat);
        }
        self
    }

    /// When processes were late.
    pub fn outages(&self) -> &[Outage] {
        &self.outages
    }

    /// Who held which lease.
    pub fn history(&self) -> History {
        History::from_lines(self.lines.clone())
    }

    /// What happened, for people: one line a round.
    pub fn play(&self) -> &str {
        &self.play
    }

    fn next(&self) -> Option<(usize, u64)> {
        let seats = self.seats.iter().enumerate();
        seats.map(|(index, seat)| (index, seat.at)).min_by_key(|(index, at)| (*at, *index))
    }

    fn schedule_next(&mut self, now: u64, index: usize) {
        let seat = &mut self.seats[index];
        let sleep = seat.process.sleep();
        seat.due = match self.timer {
            Timer::AfterEach => now + sleep,
            Timer::Bursting => seat.due + sleep,
        };
        let from = seat.due.max(now);
        seat.at = from + self.schedule.delay(index, seat.rounds);
        seat.rounds += 1;
        self.remember(index, from);
    }

    /// Takes note of a round that is late.
    fn remember(&mut self, seat: usize, from: u64) {
        let until = self.seats[seat].at;
        if until > from + ORDINARY {
            self.outages.push(Outage { seat, from, until });
        }
    }

    fn lease(&mut self, now: u64, seat: usize, told: &Told) {
        let election = election();
        let event = match (told.leads_until, self.seats[seat].term) {
            (Some(until), Some(term)) => {
                Event::Renewed { election, term, valid_until: millis(until) }
            }
            (Some(until), None) => {
                self.terms += 1;
                let Some(term) = Term::recorded(self.terms) else { return };
                self.seats[seat].term = Some(term);
                let (valid_until, opening) = (millis(until), Opening::Expired);
                Event::Gained { election, term, valid_until, opening }
            }
            (None, Some(term)) => {
                self.seats[seat].term = None;
                Event::Lost { election, term, reason: Reason::Deposed }
            }
            (None, None) => return,
        };
        self.tell(now, seat, event);
    }

    fn tell(&mut self, now: u64, seat: usize, event: Event) {
        let line = Line { at: millis(now), candidate: candidate(seat), event };
        self.lines.push(line);
    }

    fn note(&mut self, now: u64, seat: usize, told: &Told) {
        let lock = if told.exclusive { "exclusive" } else { "shared" };
        let _ = write!(self.play, "{} {} {lock:<9}", millis(now), name(seat));
        if told.was_evicted {
            self.play.push_str(" finds itself evicted;");
        }
        if let Some(id) = told.joined_as {
            let _ = write!(self.play, " joins as {id};");
        }
        for id in &told.removed {
            let _ = write!(self.play, " evicts {id};");
        }
        match told.leads_until {
            Some(until) => {
                let _ = write!(self.play, " leads until {}", millis(until));
            }
            None if told.retry => self.play.push_str(" must repeat at once"),
            None => self.play.push_str(" follows"),
        }
        self.play.push('\n');
    }
}

pub(super) fn name(seat: usize) -> char {
    char::from(b'A' + u8::try_from(seat).unwrap_or(25).min(25))
}

/// Who sits there. The judges tell processes apart by this; the paper's ids change.
pub(super) fn candidate(seat: usize) -> CandidateId {
    let name = CandidateName::new(name(seat).to_string()).expect("a letter is a good name");
    CandidateId::new(name, Incarnation::from_random((seat as u128 + 1) << 96))
}

pub(super) fn election() -> ElectionName {
    ElectionName::new("registers").expect("a good name")
}

pub(super) fn millis(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}
