//! What operators do: orders, and changes of the voters, over the links of a node that runs; and how a
//! leader heeds them.
//!
//! Assumes: an operator's program is a proposer of its own, with an incarnation of its own.
//! Promises: one thing at a time at each node; what takes too long is given up, done or not. Whatever
//! was paused or cordoned is let go in the end.

use core::time::Duration;
use incumbent_protocol::candidacy::Input;
use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::{CandidateName, Incarnation};
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::ratify::amend::Change;

use super::{Event, World, small};
use crate::peers::fault::{Fault, Kind};
use crate::peers::node::{Node, Parts};
use crate::peers::store::{Clocks, Task};

impl World<'_> {
    /// An operator orders something.
    pub(super) fn order(&mut self, fault: Fault) {
        let order = match fault.kind {
            Kind::Demote => Some(Order::DEMOTE),
            Kind::HoldOff => Some(Order::Demote { hold_off: Duration::from_nanos(fault.span) }),
            Kind::Takeover => Some(Order::Takeover { successor: self.picked(fault.level) }),
            Kind::Transfer => {
                let drain = Duration::from_nanos(self.story.setting.lease / 2);
                Some(Order::Transfer { to: self.picked(fault.level), drain })
            }
            Kind::PauseElection => Some(Order::Pause),
            Kind::Cordon => Some(Order::Cordon { name: self.picked(fault.level) }),
            _ => CandidateName::new("node-that-is-gone")
                .ok()
                .map(|successor| Order::Takeover { successor }),
        };
        if let Some(order) = order {
            self.set_out(fault, by_operator(self.election_of(&fault), order));
        }
    }

    /// An operator who wants something lifted asks until it is, at any node that runs. It goes on
    /// looking after that: an order of which nothing is known may be carried out later.
    pub(super) fn lift(&mut self, index: usize, fault: Fault) {
        let name = self.picked(fault.level);
        let election = self.election_of(&fault);
        let controls = self.in_force(election);
        let order = match fault.kind {
            Kind::PauseElection if controls.paused.is_some() => Some(Order::Resume),
            Kind::Cordon if is_cordoned(&controls, &name) => Some(Order::Uncordon { name }),
            _ => None,
        };
        if let Some(order) = order {
            let at = self.random.index(self.nodes.len());
            self.send_out(at, by_operator(election, order));
        }
        self.lasting.push((index, Vec::new()));
        self.queue.push(self.now + self.story.setting.lease / 2, Event::Over { index });
    }

    /// What operators have in force, as whoever votes accepted it last.
    fn in_force(&self, election: u8) -> Controls {
        let newest = self.newest_electorate();
        let votes = |node: &&Node| {
            let lineage = Some(node.disk.lineage());
            newest.is_some_and(|newest| newest.admits(node.number, lineage))
        };
        let pages = self.nodes.iter().filter(votes).filter_map(|node| node.disk.page(election));
        let newest = pages.max_by_key(|(ballot, _)| *ballot);
        newest.map(|(_, page)| page.controls.clone()).unwrap_or_default()
    }

    /// A leader looks now and then at what operators have in force, and does what it is asked for.
    pub(super) fn look_after(&mut self, parts: &mut Parts, now: Clocks) -> bool {
        if parts.office.is_some() {
            return false;
        }
        let mut all = (0..).zip(&mut parts.elections);
        let due =
            all.find(|(_, it)| it.looks_at <= now.local && it.held.is_some_and(|held| held.sure));
        let Some((election, it)) = due else { return false };
        it.looks_at = now.local + Duration::from_nanos(self.story.setting.lease);
        self.employ(parts, now, Task::Look(election));
        true
    }

    /// Whoever leads heard what is in force.
    pub(super) fn looked(
        &mut self,
        number: u8,
        parts: &mut Parts,
        now: Clocks,
        election: u8,
        controls: &Controls,
    ) {
        let it = &mut parts.elections[usize::from(election)];
        let term = it.held.filter(|held| now.local < held.until).map(|held| held.term);
        let asked = term.and_then(|term| controls.transfer_of(term));
        let Some(transfer) = asked.filter(|_| !it.work.stopping) else { return };
        self.tally.handed_over += 1;
        it.candidacy.handle(now.local, Input::Heir(Some(transfer.to.clone())));
        let drain = u64::try_from(transfer.drain().as_nanos()).unwrap_or(u64::MAX);
        let stop = self.random.between(1, drain);
        self.stop_work(number, parts, election, stop);
    }

    /// An operator changes who votes.
    pub(super) fn amend(&mut self, fault: Fault) {
        let pick = usize::try_from(fault.level).unwrap_or(0) % self.nodes.len();
        let node = self.nodes[pick].number;
        let change = match fault.kind {
            Kind::AddVoter => Change::Add(node),
            _ => Change::Remove(node),
        };
        let me = Incarnation::from_random(self.random.next_wide());
        self.set_out(fault, Task::Amend(me, change));
    }

    fn set_out(&mut self, fault: Fault, task: Task) {
        if self.send_out(fault.target, task) {
            self.tally.fire(fault.kind);
        }
    }

    /// Sends an operator on an errand at a node. Whether it went.
    fn send_out(&mut self, at: usize, task: Task) -> bool {
        let node = &mut self.nodes[at];
        let now = node.clocks(self.now);
        let free = node.is_running() && node.parts.as_ref().is_some_and(|it| it.office.is_none());
        let Some(mut parts) = node.parts.take_if(|_| free) else { return false };
        self.employ(&mut parts, now, task);
        self.nodes[at].parts = Some(parts);
        self.wake_now(small(at));
        true
    }

    fn employ(&mut self, parts: &mut Parts, now: Clocks, task: Task) {
        let (bits, first) = (self.random.next_wide(), self.random.next());
        let mut office = parts.store.beside(Incarnation::from_random(bits), first);
        let patience = Duration::from_nanos(self.story.setting.lease);
        office.begin(now, now.local + patience, task);
        parts.office = Some(office);
    }

    /// The name that a fault means.
    pub(super) fn picked(&self, level: i64) -> CandidateName {
        let pick = usize::try_from(level).unwrap_or(0);
        self.nodes[pick % self.nodes.len()].id.name.clone()
    }

    /// A leader lets go, for an heir or for nobody.
    pub(super) fn let_go(&mut self, fault: Fault) {
        let election = self.election_of(&fault);
        let Some(number) = self.leader(election) else { return };
        self.tally.fire(fault.kind);
        let heir = match fault.level % 3 {
            _ if fault.kind == Kind::Resign => None,
            0 => Some(self.picked(fault.level / 3)),
            1 => Some(self.nodes[usize::from(number)].id.name.clone()),
            _ => CandidateName::new("node-that-is-gone").ok(),
        };
        let stop = self.random.between(0, self.story.setting.lease / 20);
        let node = &mut self.nodes[usize::from(number)];
        let now = node.clocks(self.now);
        let Some(mut parts) = node.parts.take() else { return };
        parts.elections[usize::from(election)].candidacy.handle(now.local, Input::Heir(heir));
        self.stop_work(number, &mut parts, election, stop);
        self.nodes[usize::from(number)].parts = Some(parts);
        self.wake_now(number);
    }
}

fn by_operator(election: u8, order: Order) -> Task {
    Task::Order(election, order, Papers { actor: "operator".to_owned(), ..Papers::default() })
}

fn is_cordoned(controls: &Controls, name: &CandidateName) -> bool {
    controls.bars.iter().any(|bar| bar.name == *name && bar.until.is_none())
}
