//! What a driver does for a process: stamps, sends, waits, gives up, and hands on what it hears.
//!
//! Assumes: nothing but the clock and the sockets of its own process.
//! Promises: one request at a time per election; stamped before sending and after receiving; what
//! it cannot tell is unknown.

use core::time::Duration;

use incumbent_protocol::candidacy::{Effect, Input, Notice, Wish};
use incumbent_protocol::lease::request::{Done, Request};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::rounds::round::{Act, End};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{AskedAt, HeardAt, Time};

use super::World;
use crate::clock::At;
use crate::fault::Kind;
use crate::mail::{Body, MailId};
use crate::plant::Plant;
use crate::process::{Boundary, Flight};
use crate::queue::Event;

impl World<'_> {
    /// Gives a process its turn, or keeps the event until it goes on.
    pub(super) fn take_turn(&mut self, event: Event) {
        let Some((number, life)) = self.whose(event) else {
            return;
        };
        if !self.is_to_run(number, life, event) {
            return;
        }
        let process = &mut self.processes[usize::from(number)];
        let local = process.read(self.now);
        if process.clock_jumped() {
            self.handle_all(number, local, &Input::ClockJumped);
            if !self.is_to_run(number, life, event) {
                return;
            }
        }
        match event {
            Event::Wake { .. } => self.wake(number, local),
            Event::Depart { mail } => self.depart(mail),
            Event::Answer { mail } => self.answer(number, mail),
            Event::Bell { .. } => {
                self.handle_all(number, local, &Input::Bell);
                self.notify(number, local);
            }
            Event::Work { seat, serial, .. } => self.work(number, usize::from(seat), serial),
            Event::Stopped { seat, serial, .. } => self.stopped(number, usize::from(seat), serial),
            Event::Next { seat, session, .. } => self.go_on(number, usize::from(seat), session),
            Event::Unanswered { seat, session, step, .. } => {
                self.unanswered(number, usize::from(seat), session, step);
            }
            Event::Wish { seat, .. } => {
                self.want(number, usize::from(seat), local, Wish::Lead);
            }
            Event::Replace { stops, .. } => self.replace(number, local, stops),
            _ => {}
        }
        self.succeed_all(number);
        self.arm(number);
    }

    /// Whether the process can take an event now. One that has stopped keeps it; one that has ended
    /// throws it away.
    fn is_to_run(&mut self, number: u8, life: u32, event: Event) -> bool {
        let process = &mut self.processes[usize::from(number)];
        let lives = process.up && process.life == life;
        if lives && process.frozen.is_some() {
            process.deferred.push(event);
        } else if !lives && let Event::Depart { mail } | Event::Answer { mail } = event {
            self.mails.remove(mail);
        }
        lives && self.is_running(number)
    }

    /// Whether a process is up and not stopped.
    pub(super) fn is_running(&self, number: u8) -> bool {
        let process = &self.processes[usize::from(number)];
        process.up && process.frozen.is_none()
    }

    /// Hands the same input to all candidacies of a process, for as long as it runs.
    pub(super) fn handle_all(&mut self, number: u8, local: Time, input: &Input) {
        for seat in 0..self.elections.len() {
            if self.is_running(number) {
                self.handle(number, seat, local, input.clone());
            }
        }
    }

    /// To which life of which process an event belongs. `None` for a timer that was set anew since.
    fn whose(&self, event: Event) -> Option<(u8, u32)> {
        match event {
            Event::Wake { process, turn } => {
                let its = &self.processes[usize::from(process)];
                (its.turn == turn).then_some((process, its.life))
            }
            Event::Depart { mail } | Event::Answer { mail } => {
                let mail = self.mails.get(mail)?;
                Some((mail.process?, mail.life))
            }
            Event::Bell { process, life }
            | Event::Work { process, life, .. }
            | Event::Stopped { process, life, .. }
            | Event::Next { process, life, .. }
            | Event::Unanswered { process, life, .. }
            | Event::Replace { process, life, .. }
            | Event::Wish { process, life, .. } => Some((process, life)),
            _ => None,
        }
    }

    /// Does whatever is due, without waiting for the timer.
    pub(super) fn wake_now(&mut self, number: u8, life: u32) {
        let turn = self.processes[usize::from(number)].turn;
        if self.is_running(number) && self.processes[usize::from(number)].life == life {
            self.take_turn(Event::Wake { process: number, turn });
        }
    }

    fn wake(&mut self, number: u8, local: Time) {
        self.processes[usize::from(number)].wakes_at = At::MAX;
        if self.plant == Plant::BurstingTimer {
            let process = &mut self.processes[usize::from(number)];
            process.lag = process.lag.saturating_sub(self.story.setting.beat);
        }
        for index in 0..self.elections.len() {
            if !self.is_running(number) {
                return;
            }
            let seat = &mut self.processes[usize::from(number)].seats[index];
            if let Some(flight) = seat.flight.take_if(|flight| flight.deadline <= local) {
                self.unknown(number, index, local, flight);
            } else if seat.candidacy.wake_at().is_some_and(|due| due <= local) {
                self.handle(number, index, local, Input::Wake);
            }
        }
    }

    /// A request whose fate nobody can tell.
    pub(super) fn unknown(&mut self, number: u8, seat: usize, local: Time, flight: Flight) {
        self.tally.unknown += 1;
        let answer = Input::Answer {
            ticket: flight.ticket,
            asked_at: flight.asked_at,
            heard_at: HeardAt::after_answer(local),
            outcome: Outcome::Unknown,
        };
        self.deposed = false;
        self.handle(number, seat, local, answer);
        let id = &self.processes[usize::from(number)].id;
        self.oaths.told_unknown(self.now, id, self.deposed);
    }

    pub(super) fn answer(&mut self, number: u8, id: MailId) {
        if self.is_ambushed(number, Boundary::BeforeTaking, id) {
            return;
        }
        let Some(mail) = self.mails.remove(id) else {
            return;
        };
        let index = usize::from(mail.election);
        let (ticket, outcome) = match mail.body {
            Body::Answer { ticket, outcome } => (ticket, outcome),
            Body::Reply { session, said } => return self.hear(number, index, session, said),
            Body::Called { serial, shown } => return self.shown(number, serial, shown),
            _ => return,
        };
        let process = &mut self.processes[usize::from(number)];
        let local = process.read(self.now);
        let seat = &mut process.seats[index];
        let Some(flight) = seat.flight.take_if(|flight| flight.ticket == ticket) else {
            return; // Given up already, or a second copy.
        };
        let heard = mail.heard.unwrap_or(local);
        let (asked_at, heard) = match self.plant {
            Plant::LeaseFromAnswer => (AskedAt::before_sending(heard), heard),
            Plant::HeardBeforeAsking => {
                let beat = Duration::from_nanos(self.story.setting.beat);
                (flight.asked_at, flight.asked_at.time().back(beat))
            }
            _ => (flight.asked_at, heard),
        };
        let answer =
            Input::Answer { ticket, asked_at, heard_at: HeardAt::after_answer(heard), outcome };
        self.handle(number, index, local, answer);
    }

    /// Hands one input to a candidacy, and does what it then wants.
    pub(super) fn handle(&mut self, number: u8, index: usize, local: Time, input: Input) {
        let Some(seat) = self.processes[usize::from(number)].seats.get_mut(index) else {
            return;
        };
        let won = won(&input);
        seat.candidacy.handle(local, input);
        let mut gained = false;
        while let Some(notice) = self.candidacy_notice(number, index) {
            gained |= matches!(notice, Notice::Gained { .. });
            self.notice(number, index, &notice);
        }
        let seat = self.processes[usize::from(number)].seats.get_mut(index);
        if let (Some(seat), Some(term), false) = (seat, won, gained) {
            seat.owes = Some(term);
        }
        while let Some(seat) = self.processes[usize::from(number)].seats.get_mut(index)
            && let Some(Effect::Ask { ticket, request }) = seat.candidacy.poll_effect()
        {
            self.judge_debt(number, index, &request);
            self.ask(number, index, ticket, request);
        }
        self.attend(number, index, local);
    }

    /// Whoever did not take up a term that it won gives it back, before it asks anything else.
    fn judge_debt(&mut self, number: u8, index: usize, request: &Request) {
        let process = &mut self.processes[usize::from(number)];
        let owes = process.seats.get_mut(index).and_then(|seat| seat.owes.take());
        if let Some(term) = owes {
            let given = match request {
                Request::Resign(end) => end.holding.term == term,
                Request::Round(round) => {
                    matches!(&round.act, Act::Resign(end) if end.holding.term == term)
                }
                _ => false,
            };
            self.oaths.owed(self.now, &process.id, term, given);
        }
    }

    fn candidacy_notice(&mut self, number: u8, index: usize) -> Option<Notice> {
        let seats = &mut self.processes[usize::from(number)].seats;
        seats.get_mut(index)?.candidacy.poll_notice()
    }

    /// Sets the timer of a process for when it wants its next turn.
    pub(super) fn arm(&mut self, number: u8) {
        let process = &mut self.processes[usize::from(number)];
        if !process.up {
            return;
        }
        let Some(wake) = process.wake_at() else {
            return;
        };
        let setting = &self.story.setting;
        let due = if process.lag > 0 {
            self.now + setting.latency_least
        } else {
            process.when(wake).max(self.now)
        };
        if due >= process.wakes_at && process.wakes_at >= self.now {
            return; // It wakes before that anyway, and will set its timer anew then.
        }
        let late = self.random.between(0, setting.lateness + process.slowness);
        process.wakes_at = due + late;
        process.turn += 1;
        let turn = process.turn;
        let wake = Event::Wake { process: number, turn };
        self.queue.push(due + late, wake);
    }

    /// A connection is reset: the process hears of it at once, the database goes on.
    pub(super) fn reset(&mut self, number: u8) {
        for index in 0..self.elections.len() {
            if !self.is_running(number) {
                return;
            }
            if self.break_off(number, index) {
                self.tally.fire(Kind::Reset);
            }
            let process = &mut self.processes[usize::from(number)];
            let local = process.read(self.now);
            if let Some(flight) = process.seats[index].flight.take() {
                self.tally.fire(Kind::Reset);
                self.unknown(number, index, local, flight);
            }
        }
        self.arm(number);
    }
}

/// The term that an answer says was won.
fn won(input: &Input) -> Option<Term> {
    let Input::Answer { outcome: Outcome::Committed(done), .. } = input else {
        return None;
    };
    match done {
        Done::Claimed(claim) => Some(claim.term),
        Done::Rounded(report) => match &report.end {
            End::Claimed(claim, _) => Some(claim.term),
            _ => None,
        },
        _ => None,
    }
}
