//! What operators have in force, and what candidates prefer: pauses, bars, heirs, deference.
//!
//! Assumes: an operator who wants something lifted asks again until it is.
//! Promises: nothing of this is in force once the world heals, but for deference, which stays: it may
//! cost time and nothing else.

use core::time::Duration;

use incumbent_protocol::candidacy::Input;
use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::order::Order;
use incumbent_protocol::lease::request::Request;
use incumbent_protocol::rounds::round::Act;

use super::{World, small};
use crate::clock::Span;
use crate::fault::{Fault, Kind};
use crate::mail::{Body, Mail};
use crate::queue::Event;

impl World<'_> {
    pub(super) fn conduct(&mut self, index: u32, fault: Fault) {
        let number = small(fault.target);
        match fault.kind {
            Kind::PauseElection => {
                self.give(fault, Order::Pause);
                self.last(index, fault, Vec::new());
            }
            Kind::Cordon => {
                self.give(fault, Order::Cordon { name: self.picked(fault) });
                self.last(index, fault, Vec::new());
            }
            Kind::HoldOff => {
                self.give(fault, Order::Demote { hold_off: Duration::from_nanos(fault.span) });
            }
            Kind::ResignTo => self.bequeath(fault),
            Kind::Transfer => {
                let (to, drain) = (self.picked(fault), Duration::from_nanos(fault.span));
                self.give(fault, Order::Transfer { to, drain });
            }
            Kind::Defer => {
                self.count_if_up(fault);
                self.defer(number, fault.level.unsigned_abs());
                self.last(index, fault, Vec::new());
            }
            Kind::StepBack => {
                self.count_if_up(fault);
                self.prefer(number, &Input::StepBack);
            }
            _ => {}
        }
    }

    fn give(&mut self, fault: Fault, order: Order) {
        self.order(fault, Body::Order { order, term: None });
    }

    /// The name that a fault means.
    fn picked(&self, fault: Fault) -> CandidateName {
        let pick = usize::try_from(fault.level).unwrap_or(0);
        self.processes[pick % self.processes.len()].id.name.clone()
    }

    /// Whether an operator must ask again for something to be lifted; asks, if so.
    pub(super) fn persists(&mut self, index: u32, fault: Fault) -> bool {
        if !matches!(fault.kind, Kind::PauseElection | Kind::Cordon) {
            return false;
        }
        let controls = self.store.rows.controls(fault.target);
        let name = self.picked(fault);
        let order = match fault.kind {
            Kind::PauseElection if controls.paused.is_some() => Order::Resume,
            Kind::Cordon if controls.bars.iter().any(|bar| bar.name == name) => {
                Order::Uncordon { name }
            }
            _ => return false,
        };
        if self.store.up {
            self.send(fault, Body::Order { order, term: None });
        }
        self.lasting.push((index, Vec::new()));
        self.queue.push(self.now + self.story.setting.lease / 2, Event::Over { index });
        true
    }

    /// A leader lets go, for an heir.
    fn bequeath(&mut self, fault: Fault) {
        let Some(number) = self.leader(fault.target) else {
            return;
        };
        let heir = match fault.level % 3 {
            0 => Some(self.picked(Fault { level: fault.level / 3, ..fault })),
            1 => Some(self.processes[number].id.name.clone()),
            _ => CandidateName::new("host-that-is-gone").ok(),
        };
        let process = &mut self.processes[number];
        process.has_heir = true;
        let local = process.read(self.now);
        self.handle(small(number), fault.target, local, Input::Heir(heir));
        if self.is_running(small(number)) {
            self.let_go(fault);
        }
        self.arm(small(number));
    }

    /// Whoever lets go from now on leaves its term to nobody.
    pub(super) fn disinherit(&mut self, number: u8) {
        if core::mem::take(&mut self.processes[usize::from(number)].has_heir) {
            self.prefer(number, &Input::Heir(None));
        }
    }

    /// Whether a resignation is under way that will reserve the next term for somebody.
    pub(super) fn leaves_to_an_heir(&self, election: usize) -> bool {
        let leaves = |mail: &Mail| match &mail.body {
            Body::Request { request: Request::Resign(term), .. } => term.heir.is_some(),
            Body::Request { request: Request::Round(round), .. } => {
                matches!(&round.act, Act::Resign(term) if term.heir.is_some())
            }
            _ => false,
        };
        self.mails.iter().any(|mail| usize::from(mail.election) == election && leaves(mail))
    }

    /// A process lets others go first, for so long.
    pub(super) fn defer(&mut self, number: u8, span: Span) {
        if self.is_running(number) {
            self.processes[usize::from(number)].deference = span;
            self.prefer(number, &Input::Defer(Duration::from_nanos(span)));
        }
    }

    /// Tells a process the same about all its elections.
    fn prefer(&mut self, number: u8, input: &Input) {
        if self.is_running(number) {
            let local = self.processes[usize::from(number)].read(self.now);
            self.handle_all(number, local, input);
            self.arm(number);
        }
    }
}
