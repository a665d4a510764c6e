//! A small world of ratification at one moment.
//!
//! Promises: a question that was sent can arrive ever after, and often. An answer is heard at once or
//! lost: whoever hears it late does nothing but send letters, and these may be late themselves.

use std::collections::{BTreeMap, BTreeSet};

use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::observation::Mark;
use incumbent_protocol::ratify::amend::{Amendment, Question};
use incumbent_protocol::ratify::proposal::Proposer;
use incumbent_protocol::ratify::{Electorate, Proposal, Voter};
use incumbent_protocol::term::Term;

use super::chain::{Chain, Key, Value};
use super::setup::{Setup, node};

/// A node that may vote.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Seat {
    /// As it is in memory.
    pub(super) voter: Voter<Key, Value>,
    /// As it would be after a crash.
    pub(super) kept: Voter<Key, Value>,
}

/// One attempt of a writer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Attempt {
    pub(super) proposal: Proposal<Value>,
    pub(super) change: u8,
    /// The mark of the election when it began.
    pub(super) seen: Mark,
    pub(super) value: Option<Value>,
}

/// Somebody who changes the register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Writer {
    pub(super) proposer: Proposer<Key, Value>,
    /// Those who vote, as far as it knows.
    pub electorate: Electorate,
    pub(super) began: u8,
    pub(super) serial: u64,
    pub(super) attempts: BTreeMap<u64, Attempt>,
    /// The term that it believes to hold.
    pub(super) holds: Option<Term>,
    /// Whether it was ever overruled.
    pub overruled: bool,
}

/// Somebody who changes the voters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Amender {
    pub(super) amendment: Option<Amendment<Key, Value>>,
    pub(super) began: bool,
    /// Whether it came to its end.
    pub done: bool,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Who {
    Writer(u8),
    Amender(u8),
}

/// A question that was sent to everybody whom it concerns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub(super) who: Who,
    pub(super) serial: u64,
    pub(super) to: BTreeSet<NodeId>,
    pub(super) under: Electorate,
    pub(super) question: Question<Key, Value>,
}

/// The world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) seats: Vec<Seat>,
    /// Those who change the register.
    pub writers: Vec<Writer>,
    /// Those who change the voters.
    pub amenders: Vec<Amender>,
    /// Sorted, so that the order in which they were sent makes no difference.
    pub(super) asked: Vec<Asked>,
    pub(super) retries: u8,
    pub(super) crashes: u8,
    pub(super) losses: u8,
    pub(super) relays: u8,
    /// What was proposed and chosen.
    pub chain: Chain,
}

impl State {
    pub(super) fn new(setup: &Setup) -> Self {
        let first = setup.first_electorate();
        let seat = |place| {
            let voter = Voter::new(node(place), first.clone());
            Seat { voter: voter.clone(), kept: voter }
        };
        let writer = |place: usize| Writer {
            proposer: Proposer::new(incarnation(place)),
            electorate: first.clone(),
            began: 0,
            serial: 0,
            attempts: BTreeMap::new(),
            holds: None,
            overruled: false,
        };
        let amender = Amender { amendment: None, began: false, done: false };
        State {
            seats: (0..setup.nodes).map(seat).collect(),
            writers: (0..setup.writes.len()).map(writer).collect(),
            amenders: vec![amender; setup.changes.len()],
            asked: Vec::new(),
            retries: setup.retries,
            crashes: setup.crashes,
            losses: setup.losses,
            relays: setup.relays,
            chain: Chain::default(),
        }
    }

    /// Whether somebody still waits for answers to this question.
    pub(super) fn awaits(&self, who: Who, serial: u64) -> bool {
        match who {
            Who::Writer(at) => self.writers[usize::from(at)].attempts.contains_key(&serial),
            Who::Amender(at) => {
                let amendment = self.amenders[usize::from(at)].amendment.as_ref();
                amendment.and_then(Amendment::question).is_some_and(|it| it.0 == serial)
            }
        }
    }

    /// Sends a question. What is sent again is the same letter.
    pub(super) fn ask(&mut self, asked: Asked) {
        use incumbent_protocol::ratify::Ask;
        let asks = if let Question::Asks(asks) = &asked.question { asks.as_slice() } else { &[] };
        for (key, ask) in asks {
            if let Ask::Accept(ballot, value) = ask {
                self.chain.propose(*key, *ballot, value, &asked.under);
            }
        }
        self.chain.uses(&asked.under);
        let key = |it: &Asked| (it.who, it.serial);
        match self.asked.binary_search_by_key(&key(&asked), key) {
            Ok(at) => self.asked[at] = asked,
            Err(at) => self.asked.insert(at, asked),
        }
    }
}

/// Incarnations by place: writers first, and those who change voters from ten on.
pub(super) fn incarnation(place: usize) -> Incarnation {
    Incarnation::from_random((place as u128 + 1) << 96)
}
