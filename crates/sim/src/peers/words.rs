//! What nodes say to each other, and what their voters keep.
//!
//! Assumes: the words of `incumbent`'s peers, without what only people need: no roll, no addresses.
//! Promises: nothing of its own.

use std::collections::BTreeSet;
use std::rc::Rc;

use incumbent_protocol::lease::page::Page;
use incumbent_protocol::ratify::amend::Charter;
use incumbent_protocol::ratify::voter::Inventory;
use incumbent_protocol::ratify::{Ask, Electorate, Reply};
use incumbent_protocol::time::StoreTime;
use incumbent_protocol::{caucus, detector};

/// A register that voters keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// Who votes.
    Electorate,
    /// An election, by its place in the setting.
    Election(u8),
}

/// What a register holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Electorate(Rc<Electorate>),
    Page(Rc<Page>),
}

impl Value {
    /// The page that it holds; an empty one if it holds none.
    pub(super) fn page(value: Option<&Value>) -> Rc<Page> {
        match value {
            Some(Value::Page(page)) => Rc::clone(page),
            Some(Value::Electorate(_)) | None => Rc::default(),
        }
    }
}

impl Charter for Value {
    fn of(electorate: Electorate) -> Self {
        Value::Electorate(Rc::new(electorate))
    }

    fn electorate(&self) -> Option<&Electorate> {
        match self {
            Value::Electorate(electorate) => Some(electorate),
            Value::Page(_) => None,
        }
    }
}

/// One thing that is said.
#[derive(Clone, Debug)]
pub(super) enum Message {
    /// To a voter: do this to these registers.
    Ask { id: u64, electorate: Rc<Electorate>, asks: Rc<Vec<(Key, Ask<Value>)>> },
    /// What came of it, and what the voter's wall clock shows.
    Answer { id: u64, now: StoreTime, replies: Vec<Reply<Value>> },
    /// To a voter: which registers do you know of?
    Inventory { id: u64, electorate: Rc<Electorate> },
    /// These.
    Registers { id: u64, inventory: Inventory<Key> },
    /// Something changed; among other things the terms of these numbers ended.
    Rung { ended: Vec<(u8, u64)> },
    /// A heartbeat.
    Beat(detector::Message),
    /// About the nomination in an election.
    Caucus { election: u8, message: caucus::Message },
    /// The elections that the sender contends in. The last of these counts.
    Contends { elections: BTreeSet<u8>, serial: u64 },
}
