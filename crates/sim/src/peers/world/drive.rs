//! A candidate's driver: what it asks of registers, and how it stands in its caucus.
//!
//! Assumes: one errand at a time.
//! Promises: what `incumbent`'s `driver.rs` and `driver/nominated.rs` do.

use incumbent_protocol::candidacy::{Effect, Input, Wish};
use incumbent_protocol::group::{Group, Told};
use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::lease::request::{Denied, Done};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{AskedAt, HeardAt, Time};

use super::World;
use super::serve::recount;
use crate::peers::clerk::{Clerk, Clocks, Finished, Task};
use crate::peers::node::{Flight, Parts};
use crate::peers::words::Message;

impl World<'_> {
    /// The candidate's driver.
    pub(super) fn drive(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let mut moved = false;
        for clerk in [Some(&mut parts.clerk), parts.office.as_mut()].into_iter().flatten() {
            if clerk.wake_at().is_some_and(|at| at <= now.local) {
                clerk.wake(now);
                moved = true;
            }
        }
        moved |= self.finished(number, parts, now);
        if parts.candidacy.wake_at().is_some_and(|at| at <= now.local) {
            parts.candidacy.handle(now.local, Input::Wake);
            moved = true;
        }
        moved |= self.note(number, parts, now);
        let wish = wish(parts, self.story.setting.watches);
        if wish != parts.candidacy.wish() {
            parts.candidacy.handle(now.local, Input::Wish(wish));
            self.note(number, parts, now);
            moved = true;
        }
        moved |= self.take_part(number, parts, now);
        moved |= self.look_after(parts, now);
        if !parts.clerk.is_busy()
            && let Some(Effect::Ask { ticket, request }) = parts.candidacy.poll_effect()
        {
            parts.flight = Some(Flight { asked_at: now.local });
            let deadline = now.local + self.timing.timeout();
            parts.clerk.begin(now, deadline, Task::Request(ticket, request));
            moved = true;
        }
        moved
    }

    /// What errands came to.
    fn finished(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let mut moved = false;
        while let Some(finished) = parts.clerk.poll_finished() {
            moved = true;
            let Finished::Request(ticket, outcome) = finished else { continue };
            let Some(flight) = parts.flight.take() else { continue };
            self.tally.unknown += u64::from(matches!(outcome, Outcome::Unknown));
            if let Outcome::Committed(Done::Looked(snapshot))
            | Outcome::Refused(Denied { snapshot: Some(snapshot), .. }) = &outcome
            {
                parts.barred = self.is_barred(number, snapshot);
            }
            if let Outcome::Committed(Done::Claimed(claim)) = &outcome {
                let at = Time::from_nanos(self.now);
                self.no_term_against_orders.begun(at, claim, &parts.clerk.in_force);
            }
            let asked_at = AskedAt::before_sending(flight.asked_at);
            let heard_at = HeardAt::after_answer(now.local);
            let answer = Input::Answer { ticket, asked_at, heard_at, outcome };
            parts.candidacy.handle(now.local, answer);
        }
        let office = parts.office.as_mut().and_then(Clerk::poll_finished);
        if let Some(finished) = office {
            parts.office = None;
            moved = true;
            self.tally.ordered += u64::from(matches!(finished, Finished::Order(true)));
            self.tally.amended += u64::from(matches!(finished, Finished::Amend(true)));
            if let Finished::Looked(Some(controls)) = finished {
                self.looked(number, parts, now, &controls);
            }
        }
        moved
    }

    fn is_barred(&self, number: u8, snapshot: &Snapshot) -> bool {
        let name = &self.nodes[usize::from(number)].id.name;
        snapshot.controls.bar_on(name, snapshot.now).is_some()
    }

    /// Tells the caucus how the candidate stands, if that is news; not before it has looked.
    fn take_part(&mut self, number: u8, parts: &mut Parts, now: Clocks) -> bool {
        let node = &self.nodes[usize::from(number)];
        let holder = parts.candidacy.holder(now.local).filter(|_| parts.takes_part());
        let Some(holder) = holder else {
            if parts.group.take().is_some() {
                self.announce(number, parts);
                return true;
            }
            return false;
        };
        // Whoever could not take a term must not be picked for it again and again.
        let eligible = parts.candidacy.wish() == Wish::Lead
            && !parts.candidacy.is_held_off(now.local)
            && parts.candidacy.is_heard();
        let leader = holder.map(|holder| home(parts, &node.id, node.number, holder));
        let up = |it: &NodeId| *it == node.number || parts.neighbours.contains_key(it);
        let term = parts.candidacy.term_in_sight().map(Term::get);
        let told = Told { eligible, leader, reachable: leader.as_ref().is_some_and(up), term };
        let known = parts.group.is_some();
        let (me, manner) = (node.number, self.manner);
        let group = parts.group.get_or_insert_with(|| Group::new(me, &manner, now.local));
        let news = group.tell(now.local, told);
        if !known {
            self.announce(number, parts);
            recount(parts, me, now);
        }
        news || !known
    }

    fn announce(&mut self, number: u8, parts: &mut Parts) {
        parts.serial += 1;
        let (contends, serial) = (parts.group.is_some(), parts.serial);
        let all: Vec<NodeId> = parts.neighbours.keys().copied().collect();
        for to in all {
            self.send(number, parts, to, Message::Contends { contends, serial });
        }
    }
}

/// Which node a candidate runs on. One that was never heard of has a number that no node has.
fn home(parts: &Parts, me: &CandidateId, node: NodeId, who: &CandidateId) -> NodeId {
    if who == me {
        return node;
    }
    let known = parts.homes.get(&who.incarnation).copied();
    known.unwrap_or(NodeId::given(who.incarnation.bits()))
}

/// How much of the election the process wants.
fn wish(parts: &Parts, watches: bool) -> Wish {
    let abstains = parts.held.is_none() && (parts.unfit || parts.barred);
    match (parts.takes_part(), watches) {
        (true, _) if abstains => Wish::Watch,
        (true, _) => Wish::Lead,
        (false, true) => Wish::Watch,
        (false, false) => Wish::Nothing,
    }
}
