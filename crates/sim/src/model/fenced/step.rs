//! What can happen next in a small world of fenced transactions.
//!
//! Assumes: a process that has taken an answer sends its next statement at once. (To send it later
//! changes nothing: the message may take any time anyway, and the process may stop before it takes
//! the answer.)
//! Promises: every step that the budget allows is offered, except a statement that would only wait.

use super::session::{Ask, Phase, Place, Session};
use super::setup::{Flaw, Level, Setup};
use super::state::{Seat, State};

/// One thing that happens. Numbers are seats, or places among the orphans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A candidate that believes to lead begins a fenced transaction.
    Begin(u8),
    /// A candidate that does not bids.
    Bid(u8),
    /// A leader renews.
    Renew(u8),
    /// A leader lets go.
    Resign(u8),
    /// An operator ends the term.
    Demote,
    /// A statement reaches the server, finds its locks free, and is carried out.
    Reach(Place),
    /// A takeover that has waited gets its lock.
    Grant(Place),
    /// A transaction commits.
    Commit(Place),
    /// An answer is taken.
    Answer(Place),
    /// The client gives up.
    GiveUp(Place),
    /// What a client that is gone had sent is lost.
    Lose(u8),
    /// The server notices that a client is gone.
    Close(u8),
    /// The server ends a transaction whose client has said nothing for too long.
    TimeOut(Place),
    /// A process stops.
    Stop(u8),
    /// It goes on.
    GoOn(u8),
    /// A process is killed.
    Kill(u8),
    /// The server crashes and comes back with what it had committed.
    Crash,
    /// All connections are lost at once.
    Drop,
}

impl Step {
    /// Whether it happens of itself and is no trouble. A stopped process need not go on.
    pub(super) const fn is_counted_on(self, goes_on: bool) -> bool {
        match self {
            Step::Reach(_)
            | Step::Grant(_)
            | Step::Commit(_)
            | Step::Answer(_)
            | Step::Close(_)
            | Step::TimeOut(_) => true,
            Step::GoOn(_) => goes_on,
            _ => false,
        }
    }
}

impl State {
    /// All steps that can be taken.
    pub fn steps(&self, setup: &Setup) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, seat) in (0..).zip(&self.seats).filter(|(_, seat)| !seat.dead) {
            self.offer_of_seat(number, seat, &mut steps);
        }
        for (place, session) in self.sessions() {
            self.offer_of_session(place, session, setup, &mut steps);
        }
        let budget = &self.budget;
        let busy = self.sessions().next().is_some();
        let offers = [
            (Step::Demote, budget.demotions > 0 && self.can_demote(setup)),
            (Step::Crash, budget.crashes > 0 && busy),
            (Step::Drop, budget.drops > 0 && busy),
        ];
        steps.extend(offers.iter().filter(|(_, may)| *may).map(|(step, _)| *step));
        steps
    }

    fn offer_of_seat(&self, number: u8, seat: &Seat, steps: &mut Vec<Step>) {
        let budget = &self.budget;
        let runs = !seat.stopped;
        let asks = runs && seat.ask.is_none();
        let leads = seat.holds.is_some();
        let offers = [
            (Step::Begin(number), runs && leads && seat.work.is_none() && seat.works > 0),
            (Step::Bid(number), asks && !leads && budget.bids > 0),
            (Step::Renew(number), asks && leads && budget.renewals > 0),
            (Step::Resign(number), asks && leads && budget.resignations > 0),
            (Step::Stop(number), runs && budget.stops > 0),
            (Step::GoOn(number), seat.stopped),
            (Step::Kill(number), budget.kills > 0),
        ];
        steps.extend(offers.iter().filter(|(_, may)| *may).map(|(step, _)| *step));
    }

    fn offer_of_session(
        &self,
        place: Place,
        session: &Session,
        setup: &Setup,
        steps: &mut Vec<Step>,
    ) {
        let seat = &self.seats[usize::from(session.seat)];
        let orphan = match place {
            Place::Orphan(number) => Some(number),
            _ => None,
        };
        let runs = orphan.is_none() && !seat.stopped;
        match session.phase {
            Phase::Sent if self.can_reach(place, session, setup) => steps.push(Step::Reach(place)),
            Phase::Waiting if self.can_begin(place, session, setup) => {
                steps.push(Step::Grant(place));
            }
            Phase::Ready => steps.push(Step::Commit(place)),
            Phase::Answered(_) if runs => steps.push(Step::Answer(place)),
            _ => {}
        }
        let Some(number) = orphan else {
            let is_answered = matches!(session.phase, Phase::Answered(_));
            let times_out = setup.idle_timeout && setup.level != Level::OneWriter;
            if runs && self.budget.unknown > 0 {
                steps.push(Step::GiveUp(place));
            } else if times_out && seat.stopped && session.locked && is_answered {
                steps.push(Step::TimeOut(place));
            }
            return;
        };
        match session.phase {
            Phase::Sent => steps.push(Step::Lose(number)),
            Phase::Answered(_) => steps.push(Step::Close(number)),
            Phase::Waiting | Phase::Ready => {}
        }
    }

    /// The world after a step.
    #[must_use]
    pub fn after(&self, step: Step, setup: &Setup) -> State {
        let mut next = self.clone();
        match step {
            Step::Begin(seat) => next.begin_work(seat),
            Step::Bid(seat) => next.begin_bid(seat),
            Step::Renew(seat) => {
                next.budget.renewals -= 1;
                next.ask(seat, Ask::Renew);
            }
            Step::Resign(seat) => {
                next.budget.resignations -= 1;
                next.ask(seat, Ask::Resign);
                next.seats[usize::from(seat)].holds = None;
            }
            Step::Demote => next.demote(),
            Step::Reach(place) => next.reach(place, setup),
            Step::Grant(place) => next.grant(place),
            Step::Commit(place) => next.commit(place),
            Step::Answer(place) => next.answer(place, setup),
            Step::GiveUp(place) => {
                next.budget.unknown -= 1;
                next.give_up(place, setup);
            }
            Step::Lose(number) | Step::Close(number) => {
                next.orphans.remove(usize::from(number));
            }
            Step::TimeOut(place) => next.time_out(place),
            Step::Stop(seat) => {
                next.budget.stops -= 1;
                next.seats[usize::from(seat)].stopped = true;
            }
            Step::GoOn(seat) => next.seats[usize::from(seat)].stopped = false,
            Step::Kill(seat) => next.kill(seat, setup),
            Step::Crash => next.crash(),
            Step::Drop => next.lose_connections(setup),
        }
        next
    }
}

impl Setup {
    /// Whether a takeover reads before it has its lock.
    pub(super) fn reads_early(&self) -> bool {
        self.has(Flaw::StaleTakeover) || self.has(Flaw::StaleTakeoverCompared)
    }
}
