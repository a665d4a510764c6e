//! What can happen next in a small world of ratification.

use incumbent_protocol::node::NodeId;
use incumbent_protocol::ratify::Voter;
use incumbent_protocol::ratify::amend::{Amendment, Answer, Move, Question};
use incumbent_protocol::ratify::voter::Entry;

use super::chain::{Key, Value};
use super::setup::{Setup, node};
use super::state::{Asked, Seat, State, Who, incarnation};

/// One thing that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A writer begins a change, without asking if it need not.
    Write(u8),
    /// A writer is told by others who votes by now.
    Learn(u8),
    /// A writer relays what a voter accepted.
    Relay(u8, u8),
    /// Somebody begins to change the voters.
    Amend(u8),
    /// A question arrives: which one of those that were sent, and where. It is answered.
    Reach(u8, u8),
    /// The same, but the answer is lost.
    Lose(u8, u8),
    /// Somebody who changes the voters goes on without further answers.
    GoOn(u8),
    /// A voter crashes and goes on with what it kept.
    Crash(u8),
}

impl State {
    /// All steps that can be taken.
    pub fn steps(&self, setup: &Setup) -> Vec<Step> {
        let mut steps = Vec::new();
        for (at, writer) in self.writers.iter().enumerate() {
            let free = setup.at_once || writer.attempts.is_empty();
            if writer.began < setup.writes[at] && free {
                steps.push(Step::Write(small(at)));
                if setup.learns {
                    steps.push(Step::Learn(small(at)));
                }
            }
            if self.relays > 0 {
                steps.extend((0..setup.nodes).map(|place| Step::Relay(small(at), place)));
            }
        }
        for (at, amender) in self.amenders.iter().enumerate() {
            let turn = !setup.in_turn || at == 0 || self.amenders[at - 1].done;
            if !amender.began && turn {
                steps.push(Step::Amend(small(at)));
            }
            if amender.amendment.is_some() {
                steps.push(Step::GoOn(small(at)));
            }
        }
        for (at, asked) in self.asked.iter().enumerate() {
            let places = (0..setup.nodes).filter(|place| asked.to.contains(&node(*place)));
            for place in places {
                steps.push(Step::Reach(small(at), place));
                if self.losses > 0 && self.awaits(asked.who, asked.serial) {
                    steps.push(Step::Lose(small(at), place));
                }
            }
        }
        if self.crashes > 0 {
            steps.extend((0..setup.nodes).map(Step::Crash));
        }
        steps
    }

    /// The world after a step, unless that changes nothing.
    pub fn after(&self, step: Step, setup: &Setup) -> Option<State> {
        let mut next = self.clone();
        match step {
            Step::Write(at) => next.write(at, setup),
            Step::Learn(at) => next.learn(at),
            Step::Relay(at, place) => next.relay(at, place)?,
            Step::Amend(at) => next.amend(at, setup),
            Step::Reach(which, place) => {
                let Asked { who, serial, .. } = next.asked[usize::from(which)];
                if let Some(answer) = next.reach(which, place) {
                    next.hear(who, serial, node(place), answer, setup);
                }
            }
            Step::Lose(which, place) => {
                next.reach(which, place)?;
                // An answer that is lost to no harm need not be counted.
                next.losses -= u8::from(next.seats != self.seats);
            }
            Step::GoOn(at) => next.go_on(at),
            Step::Crash(place) => {
                let Seat { voter, kept } = &mut next.seats[usize::from(place)];
                *voter = kept.clone();
                // A crash that changes nothing need not be counted.
                next.crashes -= u8::from(next.seats != self.seats);
            }
        }
        (next != *self).then_some(next)
    }

    fn amend(&mut self, at: u8, setup: &Setup) {
        let change = setup.changes[usize::from(at)];
        let me = incarnation(usize::from(at) + 10);
        let amendment = Amendment::new(me, 0, setup.first_electorate(), change);
        let amender = &mut self.amenders[usize::from(at)];
        amender.began = true;
        amender.amendment = Some(amendment);
        self.ask_for(at);
    }

    fn ask_for(&mut self, at: u8) {
        let Some(amendment) = &self.amenders[usize::from(at)].amendment else { return };
        let Some((serial, question)) = amendment.question() else { return };
        let (to, under) = (amendment.whom(), amendment.electorate().clone());
        self.ask(Asked { who: Who::Amender(at), serial, to, under, question });
    }

    fn go_on(&mut self, at: u8) {
        let amendment = self.amenders[usize::from(at)].amendment.as_mut();
        if amendment.is_some_and(|it| it.go_on() == Move::Ask) {
            self.ask_for(at);
        }
    }

    /// A voter is asked, keeps what it must, and answers.
    fn reach(&mut self, which: u8, place: u8) -> Option<Answer<Key, Value>> {
        let Asked { under, question, .. } = self.asked[usize::from(which)].clone();
        let from = node(place);
        let Seat { voter, kept } = &mut self.seats[usize::from(place)];
        let mut entries = Vec::new();
        let keep = |it: &[Entry<Key, Value>]| -> Result<(), ()> {
            entries.extend_from_slice(it);
            Ok(())
        };
        let answer = match question {
            Question::List => voter.list(&under).keep(keep).ok().map(Answer::Inventory),
            Question::Asks(asks) => voter.handle(&under, asks).keep(keep).ok().map(Answer::Replies),
        };
        if !entries.is_empty() {
            *kept = with_entries(from, kept, &entries);
        }
        // Judged by what it says, whether that is kept or not.
        for (key, slot) in voter.slots() {
            if let Some((ballot, _)) = &slot.accepted {
                self.chain.accept(from, *key, *ballot);
            }
        }
        answer
    }

    fn hear(
        &mut self,
        who: Who,
        serial: u64,
        from: NodeId,
        answer: Answer<Key, Value>,
        setup: &Setup,
    ) {
        match (who, answer) {
            (Who::Writer(at), Answer::Replies(replies)) => {
                for reply in replies {
                    self.hear_reply(at, serial, from, reply, setup);
                }
            }
            (Who::Writer(_), Answer::Inventory(_)) => {}
            (Who::Amender(at), answer) => self.hear_answer(at, serial, from, answer),
        }
    }

    fn hear_answer(&mut self, at: u8, serial: u64, from: NodeId, answer: Answer<Key, Value>) {
        let amender = &mut self.amenders[usize::from(at)];
        let Some(amendment) = &mut amender.amendment else { return };
        match amendment.hear(from, serial, answer) {
            Move::Wait => {}
            Move::Ask => self.ask_for(at),
            Move::Contended if self.retries > 0 => {
                self.retries -= 1;
                self.ask_for(at);
            }
            Move::Done(_) => {
                amender.done = true;
                amender.amendment = None;
            }
            Move::Contended | Move::Refused(_) => amender.amendment = None,
        }
    }
}

fn with_entries(
    me: NodeId,
    kept: &Voter<Key, Value>,
    entries: &[Entry<Key, Value>],
) -> Voter<Key, Value> {
    let before = kept.slots().map(|(key, slot)| Entry::Slot(*key, slot.clone()));
    let all = before.chain(entries.iter().cloned());
    Voter::from_entries(me, kept.electorate().clone(), all)
}

fn small(at: usize) -> u8 {
    u8::try_from(at).unwrap_or(u8::MAX)
}
