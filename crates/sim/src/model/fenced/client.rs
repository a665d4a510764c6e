//! What processes of a small world do: ask, take answers, give up, stop and end.
//!
//! Assumes: a client whose COMMIT is under way can tell nothing without an answer; one that has not
//! sent it knows that nothing will be kept.
//! Promises: what a client is told, or tells itself, is judged against the store.

use incumbent_protocol::term::Term;

use super::session::{Ask, Phase, Place, Said, Session, Stage, Told};
use super::setup::{Flaw, Level, Setup};
use super::state::{Seat, State};

impl State {
    fn seat(&mut self, number: u8) -> &mut Seat {
        &mut self.seats[usize::from(number)]
    }

    /// A leader, or one that believes to be, begins a fenced transaction.
    pub(super) fn begin_work(&mut self, number: u8) {
        let seat = self.seat(number);
        seat.works -= 1;
        seat.work = seat.holds.map(|term| Session::new(number, Ask::Work { term, seen: None }));
    }

    /// A candidate has watched the row for long enough.
    pub(super) fn begin_bid(&mut self, number: u8) {
        self.budget.bids -= 1;
        let seen = self.store.snapshot().mark();
        self.seat(number).ask = Some(Session::new(number, Ask::Bid { seen, claim: None }));
    }

    /// A leader asks something about its term.
    pub(super) fn ask(&mut self, number: u8, ask: fn(Term) -> Ask) {
        let seat = self.seat(number);
        seat.ask = seat.holds.map(|term| Session::new(number, ask(term)));
    }

    /// An answer is taken; the next statement leaves, if there is one.
    pub(super) fn answer(&mut self, place: Place, setup: &Setup) {
        let Some(session) = self.session_mut(place) else {
            return;
        };
        let Phase::Answered(said) = session.phase else {
            return;
        };
        if said == Said::Done
            && let Some(stage) = next(session, setup)
        {
            session.send(stage);
            return;
        }
        let Some(session) = self.take(place) else {
            return;
        };
        self.conclude(&session, said);
    }

    fn conclude(&mut self, session: &Session, said: Said) {
        let seat = self.seat(session.seat);
        match (&session.ask, said) {
            (Ask::Work { .. }, Said::Committed) if !session.kept => {
                self.broken = Some("work that was told to be committed is not in the store");
            }
            (Ask::Work { .. }, Said::Refused) if session.kept => {
                self.broken = Some("work that was told to be refused is in the store");
            }
            // Refused at its commit, it may have met an operator's order: its next beginning, or a
            // renewal, will tell whether the term is over.
            (Ask::Work { .. }, Said::Refused) if session.stage == Stage::Begin => seat.holds = None,
            (Ask::Renew(_), Said::Refused) => seat.holds = None,
            (Ask::Bid { claim: Some(claim), .. }, Said::Committed) => {
                seat.holds = Some(claim.term);
            }
            _ => {}
        }
    }

    fn take(&mut self, place: Place) -> Option<Session> {
        match place {
            Place::Work(number) => self.seat(number).work.take(),
            Place::Ask(number) => self.seat(number).ask.take(),
            Place::Orphan(_) => None,
        }
    }

    /// The client hears nothing any more. Its session goes on without it.
    pub(super) fn give_up(&mut self, place: Place, setup: &Setup) {
        let Some(mut session) = self.take(place) else {
            return;
        };
        session.told = match setup.flaw {
            _ if !session.is_committing() => Told::Refused,
            Some(Flaw::UnknownTakenForRefused) => Told::Refused,
            _ => Told::Unknown,
        };
        if session.is_committing() {
            let said = match setup.flaw {
                Some(Flaw::UnknownTakenForRefused) => Said::Refused,
                Some(Flaw::UnknownTakenForCommitted) => Said::Committed,
                _ => Said::Done,
            };
            self.conclude(&session, said);
        }
        self.orphans.push(session);
    }

    /// The server has heard nothing from the client for too long: the transaction is over, as the
    /// client will hear when it says something again.
    pub(super) fn time_out(&mut self, place: Place) {
        if let Some(session) = self.session_mut(place) {
            session.refuse();
        }
    }

    /// A process is gone. On one host its locks go with it; a server has yet to notice.
    pub(super) fn kill(&mut self, number: u8, setup: &Setup) {
        self.budget.kills -= 1;
        for place in [Place::Work(number), Place::Ask(number)] {
            if setup.level == Level::OneWriter {
                self.take(place);
            } else {
                self.give_up(place, setup);
            }
        }
        *self.seat(number) = Seat { dead: true, ..Seat::default() };
    }

    /// The server crashes: whatever is not committed is gone, and so is every lock. Answers that
    /// had left arrive.
    pub(super) fn crash(&mut self) {
        self.budget.crashes -= 1;
        self.orphans.clear();
        let left = |session: &Session| {
            let phase = session.phase;
            matches!(phase, Phase::Answered(Said::Refused | Said::Committed))
        };
        for seat in &mut self.seats {
            seat.work = seat.work.take().filter(left);
            seat.ask = seat.ask.take().filter(left);
            for session in seat.work.iter_mut().chain(&mut seat.ask) {
                session.locked = false;
            }
        }
    }

    /// All connections are lost: the server ends what waits for its client, and goes on with what
    /// it is doing.
    pub(super) fn lose_connections(&mut self, setup: &Setup) {
        self.budget.drops -= 1;
        for number in 0..u8::try_from(self.seats.len()).unwrap_or(u8::MAX) {
            for place in [Place::Work(number), Place::Ask(number)] {
                self.give_up(place, setup);
            }
        }
        self.orphans.retain(|session| !session.is_idle());
    }
}

/// The statement after the one that was answered, if there is one.
fn next(session: &Session, setup: &Setup) -> Option<Stage> {
    match (&session.ask, session.stage) {
        (Ask::Work { .. } | Ask::Bid { .. }, Stage::Begin) => Some(Stage::Write),
        (Ask::Work { .. }, Stage::Write) if setup.has(Flaw::GuardApart) => Some(Stage::Guard),
        (Ask::Work { .. }, Stage::Write | Stage::Guard) => Some(Stage::Commit),
        _ => None,
    }
}
