//! The voter of a process, and the disk below it.
//!
//! Assumes: the world says when the disk has written, or that it could not.
//! Promises: an answer leaves only after what it promises is on the disk; what is asked meanwhile is
//! answered together, for the price of one write. What is not on the disk is gone after a crash.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::rc::Rc;

use incumbent_protocol::lease::page::Page;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::electorate::Lineage;
use incumbent_protocol::ratify::voter::{Entry, Inventory, Promise};
use incumbent_protocol::ratify::{Ballot, Electorate, Slot, Voter};
use incumbent_protocol::time::StoreTime;

use super::words::{Key, Message, Value};

/// What a voter keeps.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    lineage: Lineage,
    electorate: Option<Electorate>,
    slots: BTreeMap<Key, Slot<Value>>,
}

impl Disk {
    /// An empty one, with a number that was drawn for it.
    pub(super) const fn new(number: u128) -> Self {
        Disk { lineage: Lineage::drawn(number), electorate: None, slots: BTreeMap::new() }
    }

    /// Who votes, as was kept last.
    pub(super) const fn electorate(&self) -> Option<&Electorate> {
        self.electorate.as_ref()
    }

    /// An election as it accepted it last, and under which ballot.
    pub(super) fn page(&self, election: u8) -> Option<(Ballot, Rc<Page>)> {
        let (ballot, value) = self.slots.get(&Key::Election(election))?.accepted.as_ref()?;
        Some((*ballot, Value::page(Some(value))))
    }

    /// Which disk it is.
    pub(super) const fn lineage(&self) -> Lineage {
        self.lineage
    }

    fn keep(&mut self, entries: &[Entry<Key, Value>]) {
        for entry in entries {
            match entry {
                Entry::Electorate(electorate) => self.electorate = Some(electorate.clone()),
                Entry::Slot(key, slot) => drop(self.slots.insert(*key, slot.clone())),
            }
        }
    }

    fn voter(&self, me: NodeId, first: &Electorate) -> Voter<Key, Value> {
        let electorate = self.electorate.iter().cloned().map(Entry::Electorate);
        let slots = self.slots.iter().map(|(key, slot)| Entry::Slot(*key, slot.clone()));
        Voter::from_entries(me, first.clone(), electorate.chain(slots)).of(self.lineage)
    }
}

/// A voter at work.
#[derive(Debug)]
pub(super) struct Booth {
    me: NodeId,
    first: Rc<Electorate>,
    voter: Voter<Key, Value>,
    waiting: VecDeque<(NodeId, Message)>,
    /// What waits for the disk.
    promised: Vec<Answered>,
}

#[derive(Debug)]
enum Answered {
    Ask(NodeId, u64, Promise<Key, Value>),
    Inventory(NodeId, u64, Promise<Key, Value, Inventory<Key>>),
}

impl Booth {
    pub(super) fn open(me: NodeId, first: &Rc<Electorate>, disk: &Disk) -> Self {
        let voter = disk.voter(me, first);
        let (waiting, promised) = (VecDeque::new(), Vec::new());
        Booth { me, first: Rc::clone(first), voter, waiting, promised }
    }

    /// Whose voter it is.
    pub(super) const fn me(&self) -> NodeId {
        self.me
    }

    /// Takes a question.
    pub(super) fn put(&mut self, from: NodeId, message: Message) {
        self.waiting.push_back((from, message));
    }

    /// Promises what can be promised, if the disk is free. Whether the disk has something to do now.
    pub(super) fn promise(&mut self) -> bool {
        if self.waiting.is_empty() || !self.promised.is_empty() {
            return false;
        }
        for (from, message) in core::mem::take(&mut self.waiting) {
            match message {
                Message::Ask { id, electorate, asks } => {
                    let promise = self.voter.handle(&electorate, Rc::unwrap_or_clone(asks));
                    self.promised.push(Answered::Ask(from, id, promise));
                }
                Message::Inventory { id, electorate } => {
                    let promise = self.voter.list(&electorate);
                    self.promised.push(Answered::Inventory(from, id, promise));
                }
                _ => {}
            }
        }
        !self.promised.is_empty()
    }

    /// Whether anything of what was promised is to be written.
    pub(super) fn writes(&self) -> bool {
        self.promised.iter().any(|answered| match answered {
            Answered::Ask(_, _, promise) => !promise.entries().is_empty(),
            Answered::Inventory(_, _, promise) => !promise.entries().is_empty(),
        })
    }

    /// The disk has written: these answers may leave.
    pub(super) fn kept(&mut self, disk: &mut Disk, now: StoreTime) -> Vec<(NodeId, Message)> {
        let promised = core::mem::take(&mut self.promised);
        let mut keep = |entries: &[Entry<Key, Value>]| {
            disk.keep(entries);
            Ok::<(), Infallible>(())
        };
        let answers = promised.into_iter().map(|answered| match answered {
            Answered::Ask(to, id, promise) => {
                let Ok(replies) = promise.keep(&mut keep);
                (to, Message::Answer { id, now, replies })
            }
            Answered::Inventory(to, id, promise) => {
                let Ok(inventory) = promise.keep(&mut keep);
                (to, Message::Registers { id, inventory })
            }
        });
        answers.collect()
    }

    /// The disk could not write: it says nothing, and only what is on the disk counts.
    pub(super) fn start_over(&mut self, disk: &Disk) {
        self.promised.clear();
        self.voter = disk.voter(self.me, &self.first);
    }
}
