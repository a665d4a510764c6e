//! What writers of a small world of ratification do: begin, decide, propose and take answers.
//!
//! Assumes: whoever bids has watched the election for long enough, whatever that takes.

use core::time::Duration;

use incumbent_protocol::lease::page::Page;
use incumbent_protocol::lease::request::{Bid, Holding};
use incumbent_protocol::lease::row::Record;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::observation::{Mark, Observation, View};
use incumbent_protocol::ratify::amend::{Charter as _, Question};
use incumbent_protocol::ratify::{Ask, Proposal, Reply, Step};
use incumbent_protocol::time::{HeardAt, StoreTime, Time};

use super::chain::{Key, Value};
use super::setup::Setup;
use super::state::{Asked, Attempt, State, Who};
use crate::model;

/// The register that writers change.
const REGISTER: Key = 1;

impl State {
    pub(super) fn write(&mut self, at: u8, setup: &Setup) {
        let newest = self.chain.chosen(REGISTER).next_back();
        let seen = newest.and_then(|(_, value)| mark_of(value));
        let writer = &mut self.writers[usize::from(at)];
        writer.began += 1;
        writer.serial += 1;
        let (serial, change) = (writer.serial, at * 10 + writer.began);
        let held = writer.proposer.shortcut(&REGISTER, &writer.electorate);
        let (proposal, value) = match held {
            Some((proposal, value)) => (proposal, Some(value)),
            None => (writer.proposer.attempt(&writer.electorate), None),
        };
        let attempt = Attempt { proposal, change, seen, value: None };
        if value.is_some() {
            self.decide(at, serial, attempt, value, setup);
        } else {
            self.send(at, serial, attempt);
        }
    }

    pub(super) fn learn(&mut self, at: u8) {
        let newest = self.chain.chosen(0).next_back().and_then(|(_, value)| value.electorate());
        let writer = &mut self.writers[usize::from(at)];
        if let Some(newest) = newest
            && newest.number() > writer.electorate.number()
        {
            writer.electorate = newest.clone();
        }
    }

    /// Whether a majority showed older values first only says when it is done, and it may be done
    /// always. What is answered is no news to the writer.
    pub(super) fn relay(&mut self, at: u8, place: u8) -> Option<()> {
        let seat = &self.seats[usize::from(place)];
        let slot = seat.voter.slots().find(|(key, _)| **key == REGISTER)?.1;
        let (ballot, value) = slot.accepted.clone()?;
        self.relays -= 1;
        let writer = &mut self.writers[usize::from(at)];
        writer.serial += 1;
        let (serial, under) = (writer.serial, writer.electorate.clone());
        let question = Question::Asks(vec![(REGISTER, Ask::Accept(ballot, value))]);
        let to = under.voters().clone();
        self.ask(Asked { who: Who::Writer(at), serial, to, under, question });
        Some(())
    }

    fn send(&mut self, at: u8, serial: u64, attempt: Attempt) {
        let under = attempt.proposal.electorate().clone();
        let ask = attempt.proposal.ask();
        self.writers[usize::from(at)].attempts.insert(serial, attempt);
        if let Some(ask) = ask {
            let question = Question::Asks(vec![(REGISTER, ask)]);
            let to = under.voters().clone();
            self.ask(Asked { who: Who::Writer(at), serial, to, under, question });
        }
    }

    /// A writer may change this value. It proposes, unless there is nothing that it may do.
    fn decide(
        &mut self,
        at: u8,
        serial: u64,
        mut attempt: Attempt,
        value: Option<Value>,
        setup: &Setup,
    ) {
        let next = if setup.election {
            self.next_page(at, value, attempt.seen).map(Value::Page)
        } else {
            let mut changes = match value {
                Some(Value::Changes(changes)) => changes,
                _ => Vec::new(),
            };
            changes.push(attempt.change);
            Some(Value::Changes(changes))
        };
        if let Some(next) = next {
            attempt.proposal.propose(next.clone());
            attempt.value = Some(next);
            self.send(at, serial, attempt);
        }
    }

    /// The election after a renewal, if the writer leads, or after a bid.
    fn next_page(&mut self, at: u8, value: Option<Value>, seen: Mark) -> Option<Page> {
        let page = match value {
            Some(Value::Page(page)) => page,
            _ => Page::default(),
        };
        let now = StoreTime::from_micros(1);
        let candidate = model::Setup::candidate(usize::from(at));
        let writer = &mut self.writers[usize::from(at)];
        if let Some(term) = writer.holds {
            let renewed = page.renewed(&Holding { candidate, term }, now);
            writer.holds = renewed.is_some().then_some(term);
            return renewed;
        }
        let rules = *model::Setup::timing().rules();
        let patience: Duration = rules.lease() * 2;
        // The clock of this world's store stands still.
        let beaten_at = seen.map(|_| StoreTime::from_micros(1));
        let view = View { mark: seen, beaten_at, replaced: None };
        let observed = Observation::first(view, HeardAt::after_answer(Time::ZERO));
        let suspicion = observed.suspect(Time::ZERO + patience, patience);
        let (newest, longest) = (seen.map(|(term, _)| term), rules.lease());
        let bid = Bid { candidate, rules, suspicion, newest, longest };
        bid.decide(&page.snapshot(now)).ok().and_then(|claim| page.claimed(&claim))
    }

    pub(super) fn hear_reply(
        &mut self,
        at: u8,
        serial: u64,
        from: NodeId,
        reply: Reply<Value>,
        setup: &Setup,
    ) {
        let writer = &mut self.writers[usize::from(at)];
        let Some(mut attempt) = writer.attempts.remove(&serial) else { return };
        match attempt.proposal.hear(from, reply) {
            Step::Wait => drop(writer.attempts.insert(serial, attempt)),
            Step::Decide(value) => {
                writer.serial += 1;
                let serial = writer.serial;
                self.decide(at, serial, attempt, value, setup);
            }
            Step::Chosen => self.chosen(at, &attempt.proposal, attempt.value),
            Step::Overruled(higher) => {
                writer.proposer.heard_of(higher);
                writer.overruled = true;
            }
            Step::Outdated(newer) => {
                if newer.number() > writer.electorate.number() {
                    writer.electorate = newer;
                }
            }
        }
    }

    fn chosen(&mut self, at: u8, proposal: &Proposal<Value>, value: Option<Value>) {
        self.chain.tell_chosen(REGISTER, proposal.ballot());
        let writer = &mut self.writers[usize::from(at)];
        if let Some(Value::Page(page)) = &value {
            writer.holds = page.record.as_ref().map(|record| record.term);
        }
        if let Some(value) = value {
            writer.proposer.chosen(REGISTER, proposal, value);
        }
    }
}

fn mark_of(value: &Value) -> Mark {
    match value {
        Value::Page(page) => page.record.as_ref().and_then(Record::mark),
        _ => None,
    }
}
