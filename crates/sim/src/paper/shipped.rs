//! The `rounds` protocol that is shipped, in the world of the printed loop: the same settings, the same
//! outages, the same delays.
//!
//! Assumes: what [`paper`](super) assumes: atomic transactions, one clock, nothing lost. A request that
//! is late takes effect late; its sender gives up on it after a while, as drivers do.
//! Promises: a run depends on its outages and its seed alone. Its history is judged like any other.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fmt::Write;

use incumbent_protocol::candidacy::{Candidacy, Effect, Input, Notice, Ticket, Wish};
use incumbent_protocol::history::{Event, Line, VERSION};
use incumbent_protocol::lease::request::{Denied, Done, Request};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::time::{AskedAt, HeardAt, Time};

use super::timeline::{Outage, Schedule, candidate, election, name};
use super::{DELTA, LIMIT, ROUND_TIME};
use crate::model::store::Store;
use incumbent_audit::History;

/// What is late when something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// The way to the registers: whatever a process asks in that span takes effect at its end.
    Requests,
    /// The process itself: it does nothing in that span.
    Process,
}

/// A run of some candidates.
#[derive(Debug)]
pub struct Shipped {
    late: Late,
    outages: Vec<Outage>,
    ordinary: Schedule,
    store: Store,
    seats: Vec<Seat>,
    queue: BTreeMap<(Time, u64), (usize, Due)>,
    queued: u64,
    lines: Vec<Line>,
    play: String,
}

#[derive(Debug)]
struct Seat {
    candidacy: Candidacy,
    flight: Option<(Ticket, Time)>,
    requests: usize,
}

#[derive(Debug)]
enum Due {
    Begin,
    Wake,
    Arrive(Ticket, Request),
    Answer(Ticket, Outcome<Done, Denied>),
    GiveUp(Ticket),
}

impl Shipped {
    /// As many candidates, which start half a second apart. `ordinary` says what each request takes
    /// outside of the outages.
    ///
    /// # Panics
    /// Never: the settings are constants, and a test makes them.
    pub fn new(processes: usize, late: Late, outages: &[Outage], ordinary: Schedule) -> Self {
        let (pacing, timing) = settings().expect("constants that fit each other");
        let seats = (0..processes).map(|seat| {
            let me = candidate(seat);
            let candidacy = Candidacy::in_rounds(me, timing, pacing, Profile::default());
            Seat { candidacy, flight: None, requests: 0 }
        });
        let mut shipped = Shipped {
            late,
            outages: outages.to_vec(),
            ordinary,
            store: Store::default(),
            seats: seats.collect(),
            queue: BTreeMap::new(),
            queued: 0,
            lines: Vec::new(),
            play: String::new(),
        };
        for seat in 0..processes {
            let clock = "common".to_owned();
            shipped.tell(Time::ZERO, seat, Event::Opened { version: VERSION, clock, wall: 0 });
            shipped.push(Time::ZERO + ms(seat as u64 * 500), seat, Due::Begin);
        }
        shipped
    }

    /// Lets so many milliseconds pass.
    #[must_use]
    pub fn until(mut self, end: u64) -> Self {
        let end = Time::ZERO + ms(end);
        while let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 <= end) {
            let ((now, _), (seat, due)) = entry.remove_entry();
            self.happen(now, seat, due);
        }
        self
    }

    /// Who held which lease.
    pub fn history(&self) -> History {
        History::from_lines(self.lines.clone())
    }

    /// What happened, for people: one line for each thing that changed.
    pub fn play(&self) -> &str {
        &self.play
    }

    fn happen(&mut self, now: Time, seat: usize, due: Due) {
        let due = match due {
            Due::Arrive(ticket, request) => {
                let outcome = self.store.take(&request, |_| false);
                Due::Answer(ticket, outcome)
            }
            due => due,
        };
        if let Some(until) = self.outage(now, seat).filter(|_| self.late == Late::Process) {
            self.push(until, seat, due);
            return;
        }
        match due {
            Due::Begin => {
                self.seats[seat].candidacy.begin(now);
                self.handle(now, seat, Input::Wish(Wish::Lead));
            }
            Due::Wake => {
                let wake_at = self.seats[seat].candidacy.wake_at();
                if wake_at.is_some_and(|wake_at| wake_at <= now) {
                    self.handle(now, seat, Input::Wake);
                }
            }
            Due::Answer(ticket, outcome) => self.answer(now, seat, ticket, outcome),
            Due::GiveUp(ticket) => self.answer(now, seat, ticket, Outcome::Unknown),
            Due::Arrive(..) => {}
        }
    }

    fn answer(&mut self, now: Time, seat: usize, ticket: Ticket, outcome: Outcome<Done, Denied>) {
        let flight = &mut self.seats[seat].flight;
        if let Some((_, asked)) = flight.take_if(|(asked, _)| *asked == ticket) {
            let asked_at = AskedAt::before_sending(asked);
            let heard_at = HeardAt::after_answer(now);
            self.handle(now, seat, Input::Answer { ticket, asked_at, heard_at, outcome });
        }
    }

    fn handle(&mut self, now: Time, seat: usize, input: Input) {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            self.seats[seat].candidacy.handle(now, input);
            while let Some(notice) = self.seats[seat].candidacy.poll_notice() {
                // Work under a lost term ends at once.
                if let Notice::Lost { term, .. } = notice {
                    inputs.push(Input::Resign(term));
                }
                self.note(now, seat, &notice);
            }
            while let Some(effect) = self.seats[seat].candidacy.poll_effect() {
                let Effect::Ask { ticket, request } = effect;
                self.send(now, seat, ticket, request);
            }
        }
        if let Some(wake_at) = self.seats[seat].candidacy.wake_at() {
            self.push(wake_at.max(now), seat, Due::Wake);
        }
    }

    fn send(&mut self, now: Time, seat: usize, ticket: Ticket, request: Request) {
        let requests = self.seats[seat].requests;
        self.seats[seat].requests += 1;
        self.seats[seat].flight = Some((ticket, now));
        let takes = ms(self.ordinary.delay(seat, requests));
        let arrives = self.outage(now, seat).unwrap_or(now) + takes;
        self.push(arrives, seat, Due::Arrive(ticket, request));
        self.push(now + TIMEOUT, seat, Due::GiveUp(ticket));
    }

    /// Until when the process is late, if it is.
    fn outage(&self, now: Time, seat: usize) -> Option<Time> {
        let spans = self.outages.iter().filter(|outage| outage.seat == seat);
        let spans = spans.map(|span| (Time::ZERO + ms(span.from), Time::ZERO + ms(span.until)));
        spans.filter(|(from, until)| *from <= now && now < *until).map(|(_, until)| until).max()
    }

    fn push(&mut self, at: Time, seat: usize, due: Due) {
        self.queued += 1;
        self.queue.insert((at, self.queued), (seat, due));
    }

    fn note(&mut self, now: Time, seat: usize, notice: &Notice) {
        let election = election();
        let (event, words) = match notice {
            Notice::Gained { term, lease, opening } => {
                let valid_until = lease.valid_until();
                let words = format!("leads until {valid_until} ({opening})");
                let (term, opening) = (*term, *opening);
                (Event::Gained { election, term, valid_until, opening }, words)
            }
            Notice::Renewed { term, lease } => {
                let valid_until = lease.valid_until();
                let words = format!("leads until {valid_until}");
                (Event::Renewed { election, term: *term, valid_until }, words)
            }
            Notice::Unsure { term } => {
                (Event::Unsure { election, term: *term }, "is unsure".to_owned())
            }
            Notice::Lost { term, reason } => {
                let event = Event::Lost { election, term: *term, reason: *reason };
                (event, format!("leads no more ({reason})"))
            }
            Notice::Joined { id, life } => {
                let life = life.as_micros();
                (Event::Joined { election, id: *id, life }, format!("joins as {id}"))
            }
            Notice::Evicted { id } => {
                let words = format!("finds itself evicted from {id}");
                (Event::Evicted { election, id: *id }, words)
            }
            Notice::Paced { round } => {
                let round_us = u64::try_from(round.as_micros()).unwrap_or(u64::MAX);
                (Event::Paced { election, round_us }, format!("keeps a round of {round:?}"))
            }
            Notice::Member(news) if !news.came => {
                let (id, who) = (news.id, news.candidate.clone());
                (Event::Buried { election, id, who }, format!("evicts {id}"))
            }
            _ => return,
        };
        let _ = writeln!(self.play, "{now} {} {words}", name(seat));
        self.tell(now, seat, event);
    }

    fn tell(&mut self, now: Time, seat: usize, event: Event) {
        self.lines.push(Line { at: now, candidate: candidate(seat), event });
    }
}

/// For how long a driver waits for an answer.
const TIMEOUT: Duration = Duration::from_millis(300);

/// The settings of the paper, but for the margin: less than a fiftieth of a lease is refused.
fn settings() -> Option<(Pacing, Timing)> {
    let limit = u32::try_from(LIMIT).ok()?;
    let (round, delta) = (ms(ROUND_TIME), ms(DELTA));
    let pacing = Pacing::new(round, limit, round * limit / 50, delta, round * 10).ok()?;
    let timing = Timing::new(pacing.rules_at(round), round, TIMEOUT, ms(100)).ok()?;
    Some((pacing, timing))
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
