//! What operators do: orders, and changes of the voters, over the links of a node that runs.
//!
//! Assumes: an operator's program is a proposer of its own, with an incarnation of its own.
//! Promises: one thing at a time at each node; what takes too long is given up, done or not.

use core::time::Duration;
use std::rc::Rc;

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::identity::{CandidateName, Incarnation};
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::ratify::amend::Change;

use super::{World, small};
use crate::peers::clerk::{Clerk, Task};
use crate::peers::fault::{Fault, Kind};

impl World<'_> {
    /// An operator orders something.
    pub(super) fn order(&mut self, fault: Fault) {
        let order = match fault.kind {
            Kind::Demote => Some(Order::DEMOTE),
            Kind::HoldOff => Some(Order::Demote { hold_off: Duration::from_nanos(fault.span) }),
            Kind::Takeover => Some(Order::Takeover { successor: self.picked(fault.level) }),
            _ => CandidateName::new("node-that-is-gone")
                .ok()
                .map(|successor| Order::Takeover { successor }),
        };
        if let Some(order) = order {
            let papers = Papers { actor: "operator".to_owned(), ..Papers::default() };
            self.set_out(fault, Task::Order(order, papers));
        }
    }

    /// An operator changes who votes.
    pub(super) fn amend(&mut self, fault: Fault) {
        let pick = usize::try_from(fault.level).unwrap_or(0) % self.nodes.len();
        let node = self.nodes[pick].number;
        let change = match fault.kind {
            Kind::AddVoter => Change::Add(node),
            _ => Change::Remove(node),
        };
        self.set_out(fault, Task::Amend(change));
    }

    fn set_out(&mut self, fault: Fault, task: Task) {
        let bits = self.random.next_wide();
        let first = self.random.next();
        let node = &mut self.nodes[fault.target];
        let now = node.clocks(self.now);
        let running = node.is_running();
        let Some(parts) = node.parts.as_mut().filter(|_| running) else { return };
        if parts.office.is_some() {
            return;
        }
        let known = Rc::clone(parts.clerk.electorate());
        let mut clerk = Clerk::new(Incarnation::from_random(bits), known, first);
        let patience = Duration::from_nanos(self.story.setting.lease);
        clerk.begin(now, now.local + patience, task);
        parts.office = Some(clerk);
        self.tally.fire(fault.kind);
        self.wake_now(small(fault.target));
    }

    /// The name that a fault means.
    pub(super) fn picked(&self, level: i64) -> CandidateName {
        let pick = usize::try_from(level).unwrap_or(0);
        self.nodes[pick % self.nodes.len()].id.name.clone()
    }

    /// A leader lets go, for an heir or for nobody.
    pub(super) fn let_go(&mut self, fault: Fault) {
        let Some(number) = self.leader() else { return };
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
        parts.candidacy.handle(now.local, Input::Heir(heir));
        self.stop_work(number, &mut parts, stop);
        self.nodes[usize::from(number)].parts = Some(parts);
        self.wake_now(number);
    }
}
