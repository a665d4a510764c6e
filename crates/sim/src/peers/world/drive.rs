//! The driver of a process's candidates: what they ask of registers, and how they stand in caucuses.
//!
//! Assumes: one round at a time.
//! Promises: what `incumbent`'s `driver.rs`, `driver/queue.rs` and `driver/nominated.rs` do.

use incumbent_protocol::candidacy::{Effect, Input, Wish};
use incumbent_protocol::group::{Group, Told};
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::lease::request::{Denied, Done, Request};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{AskedAt, HeardAt, Time};

use super::World;
use super::serve::recount;
use crate::peers::node::{Participant, Parts};
use crate::peers::store::{Ask, Clocks, Finished, Store, Task};
use crate::peers::words::Message;

impl World<'_> {
    /// The driver of the process's candidates.
    pub(super) fn drive(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let mut moved = false;
        for store in [Some(&mut parts.store), parts.office.as_mut()].into_iter().flatten() {
            if store.wake_at().is_some_and(|at| at <= now.local) {
                store.wake(now);
                moved = true;
            }
        }
        moved |= self.finished(number, parts, now);
        for it in &mut parts.elections {
            if it.candidacy.wake_at().is_some_and(|at| at <= now.local) {
                it.candidacy.handle(now.local, Input::Wake);
                moved = true;
            }
        }
        moved |= self.note(number, parts, now);
        for at in 0..parts.elections.len() {
            let wish = wish(&parts.elections[at], parts.unfit, self.story.setting.watches);
            if wish != parts.elections[at].candidacy.wish() {
                parts.elections[at].candidacy.handle(now.local, Input::Wish(wish));
                self.note(number, parts, now);
                moved = true;
            }
            moved |= self.take_part(number, parts, now, at);
        }
        moved |= self.look_after(parts, now);
        for (election, it) in (0..).zip(&mut parts.elections) {
            while let Some(Effect::Ask { ticket, request }) = it.candidacy.poll_effect() {
                parts.queue.push(Ask { election, ticket, request });
            }
        }
        if !parts.store.is_busy()
            && let Some(asks) = next(&mut parts.queue)
        {
            parts.asked_at = now.local;
            let deadline = now.local + self.timing.timeout();
            parts.store.begin(now, deadline, Task::Round(asks));
            moved = true;
        }
        moved
    }

    /// What tasks came to.
    fn finished(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let mut moved = false;
        while let Some(finished) = parts.store.poll_finished() {
            moved = true;
            let Finished::Request(election, ticket, outcome) = finished else { continue };
            let it = &mut parts.elections[usize::from(election)];
            self.tally.unknown += u64::from(matches!(outcome, Outcome::Unknown));
            if let Outcome::Committed(Done::Looked(snapshot))
            | Outcome::Refused(Denied { snapshot: Some(snapshot), .. }) = &outcome
            {
                it.barred = self.is_barred(number, snapshot);
            }
            if let Outcome::Committed(Done::Claimed(claim)) = &outcome {
                let at = Time::from_nanos(self.now);
                let in_force = parts.store.in_force.get(&election).cloned().unwrap_or_default();
                self.no_term_against_orders.begun(at, claim, &in_force);
            }
            let asked_at = AskedAt::before_sending(parts.asked_at);
            let heard_at = HeardAt::after_answer(now.local);
            let answer = Input::Answer { ticket, asked_at, heard_at, outcome };
            it.candidacy.handle(now.local, answer);
        }
        let office = parts.office.as_mut().and_then(Store::poll_finished);
        if let Some(finished) = office {
            // What it rings was not said yet.
            let rung = parts.office.take().and_then(|mut office| office.take_ring());
            self.ring(number, parts, rung);
            moved = true;
            self.tally.ordered += u64::from(matches!(finished, Finished::Order(true)));
            self.tally.amended += u64::from(matches!(finished, Finished::Amend(true)));
            if let Finished::Looked(election, Some(controls)) = finished {
                self.looked(number, parts, now, election, &controls);
            }
        }
        moved
    }

    fn is_barred(&self, number: u8, snapshot: &Snapshot) -> bool {
        let name = &self.nodes[usize::from(number)].id.name;
        snapshot.controls.bar_on(name, snapshot.now).is_some()
    }

    /// Tells the caucus of an election how the candidate stands, if that is news; not before it has
    /// looked.
    fn take_part(&mut self, number: u8, parts: &mut Parts, now: Clocks, at: usize) -> bool {
        let node = &self.nodes[usize::from(number)];
        let it = &parts.elections[at];
        let holder = it.candidacy.holder(now.local).filter(|_| it.takes_part());
        let Some(holder) = holder else {
            if parts.elections[at].group.take().is_some() {
                self.announce(number, parts);
                return true;
            }
            return false;
        };
        // Whoever could not take a term must not be picked for it again and again.
        let eligible = it.candidacy.wish() == Wish::Lead
            && !it.candidacy.is_held_off(now.local)
            && it.candidacy.is_heard();
        let leader = holder.map(|holder| home(parts, &node.id, node.number, holder));
        let up = |it: &NodeId| *it == node.number || parts.neighbours.contains_key(it);
        let term = it.candidacy.term_in_sight().map(Term::get);
        let told = Told { eligible, leader, reachable: leader.as_ref().is_some_and(up), term };
        let known = it.group.is_some();
        let (me, manner) = (node.number, self.manner);
        let group = &mut parts.elections[at].group;
        let news = group.get_or_insert_with(|| Group::new(me, &manner, now.local));
        let news = news.tell(now.local, told);
        if !known {
            self.announce(number, parts);
            recount(parts, me, now);
        }
        news || !known
    }

    fn announce(&mut self, number: u8, parts: &mut Parts) {
        parts.serial += 1;
        let (elections, serial) = (parts.contends(), parts.serial);
        let all: Vec<NodeId> = parts.neighbours.keys().copied().collect();
        for to in all {
            let elections = elections.clone();
            self.send(number, parts, to, Message::Contends { elections, serial });
        }
    }
}

/// What travels together: requests of one kind. What a lease depends on goes first.
fn next(queue: &mut Vec<Ask>) -> Option<Vec<Ask>> {
    let kind = |ask: &Ask| match ask.request {
        Request::Renew(_) => 0,
        Request::Resign(_) => 1,
        _ => 2,
    };
    let first = queue.iter().map(kind).min()?;
    let (next, rest) = core::mem::take(queue).into_iter().partition(|ask| kind(ask) == first);
    *queue = rest;
    Some(next)
}

/// Which node a candidate runs on. One that was never heard of has a number that no node has.
fn home(parts: &Parts, me: &CandidateId, node: NodeId, who: &CandidateId) -> NodeId {
    if who == me {
        return node;
    }
    let known = parts.homes.get(&who.incarnation).copied();
    known.unwrap_or(NodeId::given(who.incarnation.bits()))
}

/// How much of an election the process wants.
const fn wish(it: &Participant, unfit: bool, watches: bool) -> Wish {
    let abstains = it.held.is_none() && (unfit || it.barred);
    match (it.takes_part(), watches) {
        (true, _) if abstains => Wish::Watch,
        (true, _) => Wish::Lead,
        (false, true) => Wish::Watch,
        (false, false) => Wish::Nothing,
    }
}
