//! A small world of fenced transactions at one moment, and what must be true of it.

use incumbent_protocol::controls::Controls;
use incumbent_protocol::lease::row::{self, Record, Snapshot};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::StoreTime;

use super::session::{Ask, Mode, Phase, Place, Row, Said, Session, Stage, Told};
use super::setup::{Budget, Level, Setup};
use super::step::Step;
use crate::model::explore::{Hope, Model, SightOf};

/// The rows, as committed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    /// The election row and the beat row together.
    pub record: Option<Record>,
    /// How often the election row was written.
    pub version: u8,
    /// The newest term that was ever claimed; for the judge, not for the protocol.
    pub newest: Option<Term>,
}

/// One process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seat {
    /// The term that it believes to hold.
    pub holds: Option<Term>,
    /// Its fenced transaction.
    pub work: Option<Session>,
    /// What it asks about the election.
    pub ask: Option<Session>,
    /// It does nothing for the time being.
    pub stopped: bool,
    /// It is gone.
    pub dead: bool,
    /// How many transactions it may still begin.
    pub works: u8,
}

/// A world at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// What the server has committed.
    pub store: Store,
    /// The processes.
    pub seats: Vec<Seat>,
    /// Sessions whose clients gave up on them or are gone.
    pub orphans: Vec<Session>,
    /// What may still happen.
    pub budget: Budget,
    /// What happened that must never happen.
    pub broken: Option<&'static str>,
}

impl Store {
    /// What a transaction reads.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            record: self.record.clone(),
            now: StoreTime::from_micros(1),
            holder_died: false,
            replaced: None,
            controls: Controls::default(),
        }
    }

    /// Whether the term has neither been succeeded nor released.
    pub(super) fn stands(&self, term: Term) -> bool {
        let stands = |r: &Record| r.term == term && r.state != row::State::Released;
        self.record.as_ref().is_some_and(stands)
    }
}

impl State {
    /// All sessions with their places.
    pub fn sessions(&self) -> impl Iterator<Item = (Place, &Session)> {
        let of_seats = (0..).zip(&self.seats).flat_map(|(number, seat)| {
            let work = seat.work.as_ref().map(|session| (Place::Work(number), session));
            work.into_iter().chain(seat.ask.as_ref().map(|session| (Place::Ask(number), session)))
        });
        let orphans = (0..).zip(&self.orphans);
        of_seats.chain(orphans.map(|(number, session)| (Place::Orphan(number), session)))
    }

    /// The session in a place.
    pub fn session(&self, place: Place) -> Option<&Session> {
        match place {
            Place::Work(seat) => self.seats[usize::from(seat)].work.as_ref(),
            Place::Ask(seat) => self.seats[usize::from(seat)].ask.as_ref(),
            Place::Orphan(number) => self.orphans.get(usize::from(number)),
        }
    }

    pub(super) fn session_mut(&mut self, place: Place) -> Option<&mut Session> {
        match place {
            Place::Work(seat) => self.seats[usize::from(seat)].work.as_mut(),
            Place::Ask(seat) => self.seats[usize::from(seat)].ask.as_mut(),
            Place::Orphan(number) => self.orphans.get_mut(usize::from(number)),
        }
    }

    /// Whether nobody else keeps the row locked in a way that excludes this one.
    pub(super) fn can_lock(&self, who: Option<Place>, row: Row, mode: Mode, setup: &Setup) -> bool {
        self.sessions().filter(|(place, _)| Some(*place) != who).all(|(_, session)| {
            match session.holds(row, setup) {
                Mode::Free => true,
                Mode::Shared => mode < Mode::Exclusive,
                Mode::Exclusive => mode == Mode::Free,
            }
        })
    }

    fn any(&self, is_it: impl Fn(&Session) -> bool) -> bool {
        self.sessions().any(|(_, session)| is_it(session))
    }
}

fn is_work(session: &Session) -> bool {
    matches!(session.ask, Ask::Work { .. })
}

fn is_bid(session: &Session) -> bool {
    matches!(session.ask, Ask::Bid { .. })
}

/// Whether a takeover has come to the server, or is about to, and does not have its lock.
fn waits(session: &Session) -> bool {
    is_bid(session) && !session.locked && matches!(session.phase, Phase::Sent | Phase::Waiting)
}

fn is_refused_at(session: &Session, stage: Stage) -> bool {
    is_work(session) && session.stage == stage && session.phase == Phase::Answered(Said::Refused)
}

fn is_guarded(session: &Session) -> bool {
    is_work(session) && session.phase == Phase::Ready
}

impl Model for Setup {
    type State = State;
    type Step = Step;

    /// The first candidate has just won; the others watch.
    fn first(&self) -> State {
        let empty = Store { record: None, version: 0, newest: None };
        let claim = Setup::bid(0, None).decide(&empty.snapshot()).ok();
        let term = claim.as_ref().map(|claim| claim.term);
        let seat = |number| Seat {
            holds: term.filter(|_| number == 0),
            works: self.budget.works,
            ..Seat::default()
        };
        State {
            store: Store { record: claim.map(|claim| claim.record()), version: 0, newest: term },
            seats: (0..self.candidates).map(seat).collect(),
            orphans: Vec::new(),
            budget: self.budget,
            broken: None,
        }
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        state.steps(self)
    }

    fn after(&self, state: &State, step: Step) -> Option<State> {
        Some(state.after(step, self))
    }

    fn problem(&self, state: &State) -> Option<&'static str> {
        state.broken
    }

    fn sights(&self) -> &'static [SightOf<State>] {
        SIGHTS
    }

    fn hope(&self) -> Option<Hope<Setup>> {
        Some(Hope {
            problem: "a lock that is never released",
            is_met: |_, state| !state.any(|session| session.locked || waits(session)),
            is_counted_on: |setup, step| step.is_counted_on(setup.goes_on),
        })
    }
}

const SIGHTS: &[SightOf<State>] = &[
    ("a fenced commit", |s| s.any(|it| is_work(it) && it.kept)),
    ("work that is refused when it begins", |s| s.any(|it| is_refused_at(it, Stage::Begin))),
    ("work that is refused by its guard", |s| s.any(|it| is_refused_at(it, Stage::Commit))),
    ("work that is refused though its term stands", |s| {
        s.any(|it| match it.ask {
            Ask::Work { term, .. } => is_refused_at(it, Stage::Commit) && s.store.stands(term),
            _ => false,
        })
    }),
    ("a takeover that waits for a fenced commit", |s| {
        s.any(|it| is_work(it) && it.locked) && s.any(waits)
    }),
    ("a guard that waits for a takeover", |s| {
        s.any(|it| is_bid(it) && it.locked)
            && s.any(|it| it.is_committing() && it.phase == Phase::Sent)
    }),
    ("a takeover in the midst of a transaction", |s| {
        s.any(|it| match it.ask {
            Ask::Work { term, .. } => it.stage == Stage::Write && s.store.newest > Some(term),
            _ => false,
        })
    }),
    ("a renewal while work is between guard and commit", |s| {
        s.any(is_guarded)
            && s.any(|it| {
                matches!(it.ask, Ask::Renew(_)) && it.phase == Phase::Answered(Said::Done)
            })
    }),
    ("an unknown outcome that was kept", |s| s.any(|it| it.told == Told::Unknown && it.kept)),
    ("an unknown outcome that was not kept", |s| {
        s.any(|it| it.told == Told::Unknown && is_refused_at(it, Stage::Commit))
    }),
    ("work that is done again after an unknown outcome", |s| {
        let again = |seat: &Seat| seat.work.as_ref().is_some_and(|work| work.kept);
        s.any(|it| it.told == Told::Unknown && it.kept) && s.seats.iter().any(again)
    }),
    ("two works between guard and commit", |s| {
        s.sessions().filter(|(_, it)| is_guarded(it)).count() > 1
    }),
    ("a successor's commit", |s| {
        let later = |it: &Session| match it.ask {
            Ask::Work { term, .. } => it.kept && term.get() > 1,
            _ => false,
        };
        s.any(later)
    }),
    ("a stopped process that keeps a row locked", |s| {
        s.any(|it| it.locked && it.is_idle() && s.seats[usize::from(it.seat)].stopped)
    }),
];

impl Level {
    /// All of them.
    pub const ALL: [Level; 3] = [Level::ReadCommitted, Level::Snapshot, Level::OneWriter];
}
