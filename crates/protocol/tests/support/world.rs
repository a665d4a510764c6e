//! Virtual time: processes, the store between them, and what is still under way.
//!
//! Assumes: nothing outside. Promises: events happen in the order of true time, and of their making
//! where times are equal; a process is driven exactly as `Protocol` demands, and every request is
//! answered exactly once.

use core::time::Duration;

use incumbent_protocol::candidacy::{Effect, Input, Notice, Ticket, Wish};
use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::request::{Denied, Done, Request};
use incumbent_protocol::observation::Observation;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::time::{AskedAt, HeardAt};

use super::clock::Clock;
use super::log::{Entry, What};
use super::post::{Kind, Loss};
use super::process::{Life, Process};
use super::queue::{Due, Event, Queue};
use super::store::Store;

/// Everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) now: Duration,
    pub(crate) store: Store,
    pub(crate) processes: Vec<Process>,
    pub(crate) log: Vec<Entry>,
    /// Since when an operator has watched the election, and how fast the operator's clock runs.
    pub(crate) watched: Option<(u64, Observation)>,
    /// How long the store takes for each request, one after the other.
    pub(crate) takes: Duration,
    busy_until: Duration,
    queue: Queue,
}

impl World {
    /// Adds a process and starts it; it wants nothing yet.
    pub(crate) fn add(&mut self, name: &str, timing: Timing, clock: Clock) -> usize {
        self.place(name, timing, None, clock)
    }

    /// Adds a process of an election with a roster and starts it.
    pub(crate) fn add_in_rounds(
        &mut self,
        name: &str,
        timing: Timing,
        pacing: Pacing,
        clock: Clock,
    ) -> usize {
        self.place(name, timing, Some(pacing), clock)
    }

    fn place(&mut self, name: &str, timing: Timing, pacing: Option<Pacing>, clock: Clock) -> usize {
        let who = self.processes.len();
        let name = CandidateName::new(name).expect("a good name");
        let mut process = Process::new(who, name, timing, clock);
        process.pacing = pacing;
        self.processes.push(process);
        self.start(who);
        who
    }

    /// Starts a process that is not running.
    pub(crate) fn start(&mut self, who: usize) {
        self.processes[who].boot(self.now);
        self.note(who, What::Began);
        let reading = self.processes[who].clock.read(self.now);
        let life = self.processes[who].life.as_mut().expect("just booted");
        assert_eq!(life.candidacy.poll_effect(), None, "an effect before the beginning");
        life.candidacy.begin(reading);
        assert_eq!(life.candidacy.poll_effect(), None, "an effect before any wish");
    }

    /// Gives an input to a process that runs; to a stopped or dead one it does not get.
    pub(crate) fn tell(&mut self, who: usize, input: Input) {
        let process = &mut self.processes[who];
        if process.stopped_until.is_some() {
            return;
        }
        let Some(life) = &mut process.life else {
            return;
        };
        if let Input::Wish(wish) = input {
            life.wish = wish;
        }
        life.candidacy.handle(process.clock.read(self.now), input);
        self.after(who);
    }

    /// The user lets go of the term that the process holds.
    pub(crate) fn resign(&mut self, who: usize) {
        let life = self.processes[who].life.as_ref();
        if let Some(term) = life.and_then(|life| life.term)
            && self.processes[who].stopped_until.is_none()
        {
            self.note(who, What::WorkEnded(term));
            self.tell(who, Input::Resign(term));
        }
    }

    /// Lets time pass.
    pub(crate) fn run_until(&mut self, end: Duration) {
        let mut at_once = 0;
        while let Some((at, due)) = self.queue.pop_until(end) {
            at_once = if at == self.now { at_once + 1 } else { 0 };
            assert!(at_once < 10_000, "time stands still at {at:?}");
            self.now = at;
            self.happen(due.who, due.boot, due.event);
        }
        self.now = end;
    }

    /// When the last request that is still on its way to the store arrives.
    pub(crate) fn last_arrival(&self) -> Duration {
        self.queue.last_arrival().unwrap_or(self.now)
    }

    fn happen(&mut self, who: usize, boot: u64, event: Event) {
        if let Event::Arrive { ticket, request, answers_in } = event {
            self.arrive(who, boot, ticket, &request, answers_in);
            return;
        }
        let now = self.now;
        let process = &mut self.processes[who];
        if process.boots != boot || process.life.is_none() {
            return;
        }
        if process.stopped_until.is_some_and(|until| now < until) {
            process.inbox.push_back(event);
            return;
        }
        if process.stopped_until.take().is_some() {
            if core::mem::take(&mut process.clock_doubted) {
                self.tell(who, Input::ClockJumped);
            }
            while let Some(missed) = self.processes[who].inbox.pop_front() {
                self.deliver(who, missed);
            }
        }
        self.deliver(who, event);
    }

    fn deliver(&mut self, who: usize, event: Event) {
        let process = &self.processes[who];
        let reading = process.clock.read(self.now);
        let Some(life) = &process.life else { return };
        match event {
            Event::Alarm(alarm) if alarm != life.alarm => {}
            Event::Alarm(_) => self.tell(who, Input::Wake),
            Event::Reply { ticket, outcome } => self.answer(who, ticket, outcome),
            Event::Timeout(ticket) => match life.under_way {
                Some((asked, at, kind)) if asked == ticket => {
                    let deadline = at.time() + process.timing.timeout();
                    if reading < deadline {
                        let again = process.clock.reaches(deadline);
                        self.schedule(again, who, Event::Timeout(ticket));
                    } else {
                        self.note(who, What::GaveUp(kind));
                        self.answer(who, ticket, Outcome::Unknown);
                    }
                }
                _ => {}
            },
            Event::WorkStopped(term) => {
                self.note(who, What::WorkEnded(term));
                self.tell(who, Input::Resign(term));
            }
            Event::Arrive { .. } | Event::Resume => {}
        }
    }

    fn answer(&mut self, who: usize, ticket: Ticket, outcome: Outcome<Done, Denied>) {
        let process = &mut self.processes[who];
        let heard_at = HeardAt::after_answer(process.clock.read(self.now));
        let Some(life) = &mut process.life else {
            return;
        };
        if let Some((_, asked_at, _)) = life.under_way.take_if(|(asked, ..)| *asked == ticket) {
            let input = Input::Answer { ticket, asked_at, heard_at, outcome };
            self.tell(who, input);
        }
    }

    fn arrive(
        &mut self,
        who: usize,
        boot: u64,
        ticket: Ticket,
        request: &Request,
        answers_in: Option<Duration>,
    ) {
        let outcome = self.store.execute(self.now, request);
        let waits = |life: &Life| life.under_way.is_some_and(|(t, ..)| t == ticket);
        let process = &self.processes[who];
        let expected = process.boots == boot && process.life.as_ref().is_some_and(waits);
        if !expected {
            self.note(who, What::CameLate(Kind::of(request)));
        } else if let Some(span) = answers_in {
            self.schedule(self.now + span, who, Event::Reply { ticket, outcome });
        }
    }

    /// Does what a candidacy wants done, and takes note of what it wants known.
    fn after(&mut self, who: usize) {
        while let Some(notice) = self.poll(who, |life| life.candidacy.poll_notice()) {
            self.take_note(who, notice);
        }
        while let Some(effect) = self.poll(who, |life| life.candidacy.poll_effect()) {
            let Effect::Ask { ticket, request } = effect;
            self.send(who, ticket, request);
        }
        let process = &mut self.processes[who];
        let Some(life) = &mut process.life else {
            return;
        };
        life.alarm += 1;
        let alarm = life.alarm;
        if let Some(wake_at) = life.candidacy.wake_at() {
            let at = process.clock.reaches(wake_at).max(self.now);
            self.schedule(at, who, Event::Alarm(alarm));
        }
    }

    fn poll<T>(&mut self, who: usize, poll: impl Fn(&mut Life) -> Option<T>) -> Option<T> {
        self.processes[who].life.as_mut().and_then(poll)
    }

    fn take_note(&mut self, who: usize, notice: Notice) {
        let process = &mut self.processes[who];
        let life = process.life.as_mut().expect("only the living tell");
        let until = match &notice {
            Notice::Gained { lease, .. } | Notice::Renewed { lease, .. } => {
                Some(process.clock.reaches(lease.valid_until()))
            }
            _ => None,
        };
        match notice {
            Notice::Gained { term, .. } => life.term = Some(term),
            Notice::Lost { term, reason } => {
                life.term = None;
                if reason != Reason::Resigned {
                    let at = self.now + process.stopping;
                    self.schedule(at, who, Event::WorkStopped(term));
                }
            }
            Notice::Rejected(_) => life.wish = Wish::Nothing,
            _ => {}
        }
        self.note(who, What::Told { notice, until });
    }

    fn send(&mut self, who: usize, ticket: Ticket, request: Request) {
        let process = &mut self.processes[who];
        let asked_at = AskedAt::before_sending(process.clock.read(self.now));
        let kind = Kind::of(&request);
        let fate = process.post.fate(kind);
        let life = process.life.as_mut().expect("only the living ask");
        // As a driver does: only what a lease depends on is given up early.
        let timing = life.candidacy.timing();
        let hurries = process.pacing.is_none() || life.term.is_some();
        let patience = if hurries { timing.timeout() } else { timing.beat() };
        let deadline = process.clock.reaches(asked_at.time() + patience);
        let before = life.under_way.replace((ticket, asked_at, kind));
        assert_eq!(before, None, "a second request while one is under way");
        self.note(who, What::Asked(kind));
        self.schedule(deadline, who, Event::Timeout(ticket));
        if fate.lost != Loss::Request {
            let arrive = Event::Arrive {
                ticket,
                request,
                answers_in: (fate.lost == Loss::Nothing).then_some(fate.back),
            };
            let at = self.in_turn(self.now + fate.there);
            self.schedule(at, who, arrive);
        }
    }

    /// When the store has done what comes to it then.
    fn in_turn(&mut self, comes: Duration) -> Duration {
        if self.takes.is_zero() {
            return comes;
        }
        self.busy_until = comes.max(self.busy_until) + self.takes;
        self.busy_until
    }

    pub(super) fn schedule(&mut self, at: Duration, who: usize, event: Event) {
        let boot = self.processes[who].boots;
        self.queue.push(at, Due { who, boot, event });
    }

    pub(super) fn note(&mut self, who: usize, what: What) {
        self.log.push(Entry { at: self.now, who, what });
    }
}
