//! What can happen next in a small world.
//!
//! Assumes: a process that is due acts before time goes on, unless it is paused. (To act later
//! within the same tick changes nothing: it only sends a request, which may take any time anyway.)
//! Promises: every step that the budget allows is offered.

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::lease::request::{Done, Request};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::time::{AskedAt, HeardAt};

use super::seat::Seat;
use super::setup::{Budget, Flaw, Setup};
use super::state::State;

/// One thing that happens. Numbers are seats, or places among the strays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Time passes.
    Tick,
    /// The store takes a request.
    Reach(usize),
    /// The answer comes back.
    Answer(usize),
    /// The driver gives up: the outcome is unknown.
    GiveUp(usize),
    /// A request that its sender gave up on reaches the store.
    Stray(usize),
    /// The user lets go of a leadership that it has not lost.
    Resign(usize),
    /// The work under a lost leadership ends.
    EndWork(usize),
    /// The process stops for a while.
    Pause(usize),
    /// It goes on.
    Resume(usize),
    /// The process is gone.
    Crash(usize),
    /// The clock is found to have jumped.
    Jump(usize),
    /// An operator ends the term.
    Demote,
    /// The store loses its row.
    LoseRow,
    /// Somebody removes the row of a seat from the roster.
    Evict(usize),
    /// An operator removes VARS.
    Reset,
    /// Somebody removes the row, which nothing notes.
    RemoveRow,
    /// The store goes back to before the round grew, which nothing notes.
    Rewind,
}

impl State {
    /// All steps that can be taken. While the world is calm there is only one, and time passes only
    /// when nothing is under way.
    pub fn steps(&self, setup: &Setup) -> Vec<Step> {
        if self.tick >= setup.calm {
            return self.all_steps(setup);
        }
        let budget = Budget::default();
        let calm = State { budget, ..self.clone() };
        calm.all_steps(setup).into_iter().take(1).collect()
    }

    fn all_steps(&self, setup: &Setup) -> Vec<Step> {
        let mut steps = Vec::new();
        let budget = &self.budget;
        for (index, seat) in self.seats.iter().enumerate() {
            if seat.candidacy.is_none() {
                continue;
            }
            if let Some(flight) = &seat.flight {
                match (&flight.outcome, seat.paused) {
                    (None, _) => steps.push(Step::Reach(index)),
                    (Some(_), false) => steps.push(Step::Answer(index)),
                    (Some(_), true) => {}
                }
                if budget.unknown > 0 && !seat.paused {
                    steps.push(Step::GiveUp(index));
                }
            }
            let lost = seat.hold.as_ref().map(|hold| hold.lost.is_some());
            let offers = [
                (
                    Step::Resign(index),
                    lost == Some(false) && budget.resignations > 0 && !seat.paused,
                ),
                (Step::EndWork(index), lost == Some(true) && !seat.paused),
                (Step::Pause(index), budget.pauses > 0 && !seat.paused),
                (Step::Resume(index), seat.paused),
                (Step::Crash(index), budget.crashes > 0),
                (Step::Jump(index), budget.jumps > 0 && !seat.paused),
                (Step::Evict(index), budget.evictions > 0),
            ];
            steps.extend(offers.iter().filter(|(_, may)| *may).map(|(step, _)| *step));
        }
        steps.extend((0..self.strays.len()).map(Step::Stray));
        if budget.demotions > 0 && self.store.record.is_some() {
            steps.push(Step::Demote);
        }
        if budget.losses > 0 && self.store.record.is_some() {
            steps.push(Step::LoseRow);
        }
        if budget.resets > 0 && self.store.registers.vars.is_some() {
            steps.push(Step::Reset);
        }
        if budget.removals > 0 && self.store.record.is_some() {
            steps.push(Step::RemoveRow);
        }
        if budget.rewinds > 0 && self.store.record.is_some() {
            steps.push(Step::Rewind);
        }
        if self.tick < setup.horizon && self.lingering() <= usize::from(budget.delays) {
            steps.push(Step::Tick);
        }
        steps
    }

    /// The world after a step; `None` if the step turns out to change nothing.
    #[must_use]
    pub fn after(&self, step: Step, setup: &Setup) -> Option<State> {
        let mut next = self.clone();
        let now = |seat| setup.local(seat, self.tick);
        match step {
            Step::Tick => {
                next.tick += 1;
                next.budget.delays -= u8::try_from(self.lingering()).unwrap_or(u8::MAX);
            }
            Step::Reach(seat) => next.reach(seat, setup),
            Step::Answer(seat) => next.answer(seat, setup),
            Step::GiveUp(seat) => next.give_up(seat, setup),
            Step::Stray(place) => {
                let request = next.strays.remove(place);
                let died = next.death(setup);
                // Nobody waits for the answer.
                let _ = next.store.take(&request, died);
            }
            Step::Resign(seat) => {
                next.budget.resignations -= 1;
                next.seats[seat].let_go(now(seat));
            }
            Step::EndWork(seat) => next.seats[seat].let_go(now(seat)),
            Step::Pause(seat) => {
                next.budget.pauses -= 1;
                next.seats[seat].paused = true;
            }
            Step::Resume(seat) => next.seats[seat].paused = false,
            Step::Crash(seat) => {
                next.budget.crashes -= 1;
                let request = next.seats[seat].crash();
                next.stray(request);
            }
            Step::Jump(seat) => {
                next.budget.jumps -= 1;
                next.seats[seat].handle(now(seat), Input::ClockJumped);
            }
            Step::Demote => {
                next.budget.demotions -= 1;
                let died = next.death(setup);
                if !next.store.demote(died) {
                    return None;
                }
            }
            Step::LoseRow => {
                next.budget.losses -= 1;
                next.store.lose();
            }
            Step::Evict(seat) => {
                next.budget.evictions -= 1;
                if !next.store.evict(&Setup::candidate(seat)) {
                    return None;
                }
            }
            Step::Reset => {
                next.budget.resets -= 1;
                next.store.reset();
            }
            Step::RemoveRow => {
                next.budget.removals -= 1;
                next.store.remove();
            }
            Step::Rewind => {
                next.budget.rewinds -= 1;
                if !next.store.rewind() {
                    return None;
                }
            }
        }
        for (index, seat) in next.seats.iter_mut().enumerate() {
            seat.wake(setup.local(index, next.tick));
        }
        (next != *self).then_some(next)
    }

    /// How many requests and answers would be late if time passed now. What waits for a paused
    /// process is not.
    fn lingering(&self) -> usize {
        let waits = |seat: &&Seat| {
            let flight = seat.flight.as_ref();
            flight.is_some_and(|flight| flight.outcome.is_none() || !seat.paused)
        };
        self.seats.iter().filter(waits).count()
    }

    fn reach(&mut self, seat: usize, setup: &Setup) {
        let died = self.death(setup);
        if let Some(flight) = &mut self.seats[seat].flight {
            flight.outcome = Some(self.store.take(&flight.request, died));
        }
    }

    fn answer(&mut self, seat: usize, setup: &Setup) {
        let heard = setup.local(seat, self.tick);
        let Some(flight) = self.seats[seat].flight.take() else {
            return;
        };
        let (mut asked_at, mut heard_at) = (flight.sent, heard);
        match setup.flaw {
            Some(Flaw::LeaseStampedLate) => asked_at = heard,
            Some(Flaw::ObservationStampedEarly) => heard_at = flight.sent,
            _ => {}
        }
        let input = Input::Answer {
            ticket: flight.ticket,
            asked_at: AskedAt::before_sending(asked_at),
            heard_at: HeardAt::after_answer(heard_at),
            outcome: flight.outcome.unwrap_or(Outcome::Unknown),
        };
        self.seats[seat].handle(heard, input);
    }

    fn give_up(&mut self, seat: usize, setup: &Setup) {
        self.budget.unknown -= 1;
        let died = self.death(setup);
        if let Some(flight) = &mut self.seats[seat].flight {
            let reached = flight.outcome.replace(match (setup.flaw, &flight.request) {
                (Some(Flaw::UnknownTakenForCommitted), Request::Renew(_)) => {
                    Outcome::Committed(Done::Renewed)
                }
                // What it read before its commit was lost.
                (Some(Flaw::UnknownTakenForCommitted), round @ Request::Round(_)) => {
                    self.store.clone().take(round, died)
                }
                _ => Outcome::Unknown,
            });
            let request = reached.is_none().then(|| flight.request.clone());
            self.stray(request);
        }
        self.answer(seat, setup);
    }

    /// A request that nobody waits for stays under way, if it could still change anything.
    fn stray(&mut self, request: Option<Request>) {
        self.strays.extend(request.filter(|r| *r != Request::Look));
    }

    /// Of whom the store can prove that its process is gone.
    fn death(&self, setup: &Setup) -> impl Fn(&CandidateId) -> bool + use<> {
        let believed = |seat: &Seat| {
            let paused = setup.flaw == Some(Flaw::PauseTakenForDeath) && seat.paused;
            setup.proof && (seat.candidacy.is_none() || paused)
        };
        let dead: Vec<bool> = self.seats.iter().map(believed).collect();
        move |id| (0..dead.len()).any(|seat| dead[seat] && Setup::candidate(seat) == *id)
    }
}
