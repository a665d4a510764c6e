//! An election with a roll of candidates, ready to be given an order.
//!
//! Assumes: a lease of ten seconds, of which three have passed since the last beat.
//! Promises: Ann holds or held the term; what is in force is a cordon on Cat, and a pause if one was
//! asked for.

use core::time::Duration;

use incumbent_protocol::controls::{Bar, Controls, Mandate};
use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
use incumbent_protocol::lease::order::{Decree, Order, OrderError, Papers};
pub(crate) use incumbent_protocol::lease::row::State;
use incumbent_protocol::lease::row::{Record, Snapshot};
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::rules::{Expiry, Rules};
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::StoreTime;

use crate::support::store::Store;

/// When orders are given.
const NOW: Duration = Duration::from_hours(1);

/// A store, and the papers of whoever gives orders.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    store: Store,
    papers: Papers,
    now: Duration,
    told: &'static str,
}

impl Field {
    pub(crate) const LEASE: Duration = Duration::from_secs(10);
    /// How long ago Ann beat last.
    pub(crate) const IDLE: Duration = Duration::from_secs(3);

    /// Nobody ever led.
    pub(crate) fn without_row() -> Field {
        let store = Store::default();
        let now = store.snapshot(NOW).now;
        let papers = Papers {
            term: None,
            actor: "root".to_owned(),
            reason: Some("an upgrade".to_owned()),
            roll: Some(roll(now)),
        };
        Field { store, papers, now: NOW, told: "there is no row" }
    }

    /// Ann holds the term, is losing it or has let go of it.
    pub(crate) fn in_state(state: State) -> Field {
        let mut field = Field::without_row();
        field.told = state.as_str();
        field.store.put(Record {
            state,
            holder: id("ann"),
            term: Term::recorded(7).expect("a term"),
            beat: 3,
            rules: Rules::new(Field::LEASE, Field::LEASE / 10, Expiry::Observed).expect("rules"),
            since: field.store.snapshot(NOW / 2).now,
            beaten_at: field.store.snapshot(NOW.saturating_sub(Field::IDLE)).now,
            successor: None,
        });
        let by = Mandate::default();
        field.store.controls.bars.push(Bar { name: name("cat"), until: None, by });
        field
    }

    /// The order is for a term that is over.
    pub(crate) fn meaning_another_term() -> Field {
        let mut field = Field::in_state(State::Held);
        field.papers.term = Term::recorded(6);
        Field { told: "another term is meant", ..field }
    }

    pub(crate) fn paused(mut self) -> Field {
        self.store.controls.paused = Some(Box::default());
        Field { told: "paused", ..self }
    }

    /// Ann is proved dead.
    pub(crate) fn died(mut self) -> Field {
        self.store.prove_dead(id("ann"));
        self
    }

    /// The same, so many seconds later.
    pub(crate) fn later(&self, seconds: u64) -> Field {
        Field { now: self.now + Duration::from_secs(seconds), ..self.clone() }
    }

    pub(crate) fn set(&mut self, controls: Controls) {
        self.store.controls = controls;
    }

    pub(crate) fn order(&mut self, order: &Order) -> Result<Decree, OrderError> {
        self.store.order_with(self.now, order, &self.papers)
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.store.snapshot(self.now)
    }

    /// Whether somebody may not win.
    pub(crate) fn bars(&self, text: &str) -> bool {
        let Snapshot { controls, now, .. } = self.snapshot();
        controls.bar_on(&name(text), now).is_some()
    }

    /// How the election stands, for whoever reads a failure.
    pub(crate) const fn told(&self) -> &'static str {
        self.told
    }
}

pub(crate) fn name(text: &str) -> CandidateName {
    CandidateName::new(text).expect("a good name")
}

pub(crate) fn id(text: &str) -> CandidateId {
    let bits = text.bytes().fold(0, |bits, byte| bits << 8 | u128::from(byte));
    CandidateId::new(name(text), Incarnation::from_random(bits))
}

fn roll(now: StoreTime) -> Vec<Peer> {
    let every = Duration::from_secs(2);
    let peer = |text, presence, seconds: u64| Peer {
        id: id(text),
        profile: Profile::default(),
        priority: 0,
        presence,
        why: None,
        prefers: String::new(),
        started: StoreTime::from_micros(1),
        beaten_at: StoreTime::from_micros(now.as_micros() - seconds * 1_000_000),
        every,
    };
    vec![
        peer("ann", Presence::Leading, 1),
        peer("bob", Presence::Ready, 1),
        peer("cat", Presence::Ready, 1),
        peer("dan", Presence::Ready, 60),
        peer("eve", Presence::Left, 1),
        peer("fay", Presence::Unfit, 1),
    ]
}
