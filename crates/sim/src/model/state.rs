//! A small world at one moment, and what must be true of it.

use core::time::Duration;

use incumbent_protocol::candidacy::{Input, Wish};
use incumbent_protocol::lease::request::{Opening, Request};
use incumbent_protocol::rounds::pace::Pace;
use incumbent_protocol::rounds::register::MemberId;
use incumbent_protocol::standing::Reason;

use super::explore::{Model, SightOf};
use super::seat::Seat;
use super::setup::{Budget, Protocol, Setup};
use super::step::Step;
use super::store::Store;

/// Something of interest in a world of candidacies.
pub type Sight = SightOf<State>;

/// A world at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// How many ticks have passed.
    pub tick: u64,
    /// The row.
    pub store: Store,
    /// The processes.
    pub seats: Vec<Seat>,
    /// Requests whose senders gave up on them, and which may still reach the store.
    pub strays: Vec<Request>,
    /// What may still go wrong.
    pub budget: Budget,
}

impl State {
    /// The beginning: everyone wants to lead, nobody ever did.
    pub fn first(setup: &Setup) -> State {
        let seats = (0..setup.rates.len()).map(|seat| {
            Seat::new(setup.candidacy(seat), setup.local(seat, 0), Input::Wish(Wish::Lead))
        });
        State {
            tick: 0,
            store: Store::new(setup.vars()),
            seats: seats.collect(),
            strays: Vec::new(),
            budget: setup.budget,
        }
    }

    /// What is wrong with it, if anything. Must always be `None`.
    pub fn problem(&self, setup: &Setup) -> Option<&'static str> {
        let leads = |(index, seat): &(usize, &Seat)| seat.leads(setup.local(*index, self.tick));
        if self.seats.iter().enumerate().filter(leads).count() > 1 {
            return Some("two valid leases at one instant");
        }
        if self.store.repeated {
            return Some("a term that does not exceed all before it");
        }
        if self.store.given_twice {
            return Some("an id that does not exceed all before it");
        }
        self.seats.iter().find_map(|seat| seat.broken)
    }

    /// Things that must happen in some state, or the world was too small to be of interest.
    pub const SIGHTS: [Sight; 8] = [
        ("a first leader", |s| s.opened_by(Opening::First)),
        ("a takeover after expiry", |s| s.opened_by(Opening::Expired)),
        ("a takeover after release", |s| s.opened_by(Opening::Released)),
        ("a takeover on proof of death", |s| s.opened_by(Opening::Died)),
        ("a claim over a term of its own that it never heard of", |s| s.opened_by(Opening::Own)),
        ("a demotion that is heard", |s| s.lost_by(Reason::Deposed)),
        ("a lease that is ending", |s| s.lost_by(Reason::Ending)),
        ("somebody leading twice", |s| s.seats.iter().any(|seat| seat.gains > 1)),
    ];

    /// Such things in a world of rounds.
    pub const SIGHTS_OF_ROUNDS: [Sight; 14] = [
        Self::SIGHTS[0],
        Self::SIGHTS[1],
        Self::SIGHTS[2],
        Self::SIGHTS[3],
        Self::SIGHTS[4],
        Self::SIGHTS[5],
        Self::SIGHTS[6],
        Self::SIGHTS[7],
        ("a takeover after expiry by the second in line", |s| {
            let mut taken = s.seats.iter().filter(|seat| seat.id == Some(MemberId::new(2)));
            taken.any(|seat| seat.opened_by(Opening::Expired))
        }),
        ("an eviction", |s| s.seats.iter().any(|seat| seat.evictions > 0)),
        ("a return with a new id", |s| {
            s.seats.iter().any(|seat| seat.evictions > 0 && seat.id.is_some())
        }),
        ("a round that has grown", |s| s.pace().is_some_and(|pace| pace.round > first_round())),
        ("a shorter round that is announced", |s| s.pace().is_some_and(|p| p.next.is_some())),
        ("a round that has shrunk", |s| {
            s.pace().is_some_and(|pace| pace.number > 1 && pace.round == first_round())
        }),
    ];

    fn pace(&self) -> Option<&Pace> {
        self.store.registers.vars.as_ref().map(|vars| &vars.pace)
    }

    fn opened_by(&self, opening: Opening) -> bool {
        self.seats.iter().any(|seat| seat.opened_by(opening))
    }

    fn lost_by(&self, reason: Reason) -> bool {
        let mut holds = self.seats.iter().filter_map(|seat| seat.hold.as_ref());
        holds.any(|hold| hold.lost == Some(reason))
    }
}

impl Model for Setup {
    type State = State;
    type Step = Step;

    fn first(&self) -> State {
        State::first(self)
    }

    fn steps(&self, state: &State) -> Vec<Step> {
        state.steps(self)
    }

    fn after(&self, state: &State, step: Step) -> Option<State> {
        state.after(step, self)
    }

    fn problem(&self, state: &State) -> Option<&'static str> {
        state.problem(self)
    }

    fn sights(&self) -> &'static [Sight] {
        match self.protocol {
            Protocol::Lease => &State::SIGHTS,
            Protocol::Rounds | Protocol::GrownRounds => &State::SIGHTS_OF_ROUNDS,
        }
    }
}

fn first_round() -> Duration {
    Setup::pacing().round_time()
}
