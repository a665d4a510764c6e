//! What a clerk decides on a page, as a database would inside its transaction.
//!
//! Assumes: a majority showed the page, and heeds the ballot where something is to be written.
//! Promises: the decisions are the shipping ones: of bids, holdings, orders and pages.

use std::rc::Rc;

use incumbent_protocol::lease::page::Page;
use incumbent_protocol::lease::request::{Denied, Done, Request};
use incumbent_protocol::lease::row::State;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::ratify::Proposal;
use incumbent_protocol::time::StoreTime;

use super::{Aim, Clerk, Clocks, Finished, Task};
use crate::peers::words::{Key, Value};

impl Clerk {
    /// A plain read has shown this: the answer to a look, and to a bid that is hopeless.
    pub(super) fn seen(&mut self, now: Clocks, value: Option<&Value>, theirs: StoreTime) {
        let snapshot = Value::page(value).snapshot(theirs);
        let Some(errand) = &self.errand else { return };
        match &errand.task {
            Task::Look => self.finish(Finished::Looked(Some(snapshot.controls))),
            Task::Request(_, Request::Bid(bid)) => match bid.decide(&snapshot) {
                Ok(_) => self.heed(now, Aim::Decide),
                Err(refusal) => {
                    let snapshot = Some(snapshot);
                    self.answer(Outcome::Refused(Denied { refusal, snapshot }));
                }
            },
            _ => self.answer(Outcome::Committed(Done::Looked(snapshot))),
        }
    }

    /// A majority heeds: decides, and proposes what was decided.
    pub(super) fn decide(
        &mut self,
        now: Clocks,
        theirs: StoreTime,
        proposal: Proposal<Value>,
        value: Option<&Value>,
    ) {
        let page = Value::page(value);
        match self.decided(&page, theirs) {
            Decided::Nothing(answer) => match value {
                None => self.finish(answer),
                Some(value) => self.propose(now, proposal, value.clone(), Aim::Complete { answer }),
            },
            Decided::Renewed(page) => {
                let value = Value::Page(Rc::new(page));
                self.propose(now, proposal, value, Aim::Decide);
            }
            Decided::Over => self.over(),
            Decided::Write(next, answer) => {
                self.in_force.clone_from(&next.controls);
                let ended = ended(&page, &next);
                let value = Value::Page(Rc::new(next));
                let aim = Aim::Insist { value: value.clone(), answer, ended };
                self.propose(now, proposal, value, aim);
            }
            Decided::Misfit => self.give_up(),
        }
    }

    fn decided(&self, page: &Page, theirs: StoreTime) -> Decided {
        let snapshot = page.snapshot(theirs);
        let Some(errand) = &self.errand else { return Decided::Misfit };
        match &errand.task {
            Task::Request(ticket, Request::Bid(bid)) => match bid.decide(&snapshot) {
                Err(refusal) => {
                    let denied = Denied { refusal, snapshot: Some(snapshot) };
                    Decided::Nothing(Finished::Request(*ticket, Outcome::Refused(denied)))
                }
                Ok(claim) => page.claimed(&claim).map_or(Decided::Misfit, |page| {
                    let done = Outcome::Committed(Done::Claimed(claim));
                    Decided::Write(page, Finished::Request(*ticket, done))
                }),
            },
            Task::Request(ticket, Request::Resign(end)) if end.holding.may_resign(&snapshot) => {
                let record = snapshot.record.as_ref();
                let successor = record.and_then(|record| end.successor(record));
                let done = Outcome::Committed(Done::Resigned);
                Decided::Write(page.released(successor), Finished::Request(*ticket, done))
            }
            Task::Request(_, Request::Renew(holding)) => {
                page.renewed(holding, theirs).map_or(Decided::Over, Decided::Renewed)
            }
            Task::Request(..) => Decided::Over,
            Task::Order(order, papers) => {
                let decree = order.decide(&snapshot, papers).ok();
                let page = decree.and_then(|decree| page.obeying(&decree));
                page.map_or(Decided::Nothing(Finished::Order(false)), |page| {
                    Decided::Write(page, Finished::Order(true))
                })
            }
            Task::Look | Task::Amend(_) => Decided::Misfit,
        }
    }

    /// A leader's renewal needs no asking first, if it was the last to write.
    pub(super) fn renew_shortly(&mut self, now: Clocks) -> bool {
        let Some((proposal, value)) = self.proposer.shortcut(&Key::Election, &self.electorate)
        else {
            return false;
        };
        let theirs = self.now(now);
        let Decided::Renewed(page) = self.decided(&Value::page(Some(&value)), theirs) else {
            return false;
        };
        self.propose(now, proposal, Value::Page(Rc::new(page)), Aim::Decide);
        true
    }

    /// Neither does another decision of a leader's own process: where somebody was faster, the proposal
    /// tells.
    pub(super) fn decide_shortly(&mut self, now: Clocks) -> bool {
        let known = self.proposer.shortcut(&Key::Election, &self.electorate);
        let held_here = |value: &Value| {
            let page = Value::page(Some(value));
            let record = page.record.as_ref();
            record.is_some_and(|it| it.holder.incarnation == self.me && it.state == State::Held)
        };
        let Some((proposal, value)) = known.filter(|(_, value)| held_here(value)) else {
            return false;
        };
        let theirs = self.now(now);
        self.decide(now, theirs, proposal, Some(&value));
        true
    }

    pub(super) fn renewed(&mut self) {
        self.answer(Outcome::Committed(Done::Renewed));
    }
}

/// The number of the term that is over when one page follows another.
fn ended(before: &Page, after: &Page) -> Option<u64> {
    let held = |page: &Page| page.record.as_ref().is_some_and(|it| it.state == State::Held);
    let term = before.record.as_ref()?.term.get();
    (held(before) && !held(after)).then_some(term)
}

enum Decided {
    Nothing(Finished),
    Over,
    Renewed(Page),
    Write(Page, Finished),
    /// The page is not what it was decided on, which cannot be.
    Misfit,
}
