//! How each kind of fault comes about, and how it goes away.
//!
//! Assumes: the story names processes and elections that exist.
//! Promises: a fault counts as fired only if it did something; each that lasts can be taken away
//! alone.

use incumbent_protocol::history;
use incumbent_protocol::identity::CandidateName;
use incumbent_protocol::lease::order::Order;
use incumbent_protocol::term::{Recorded, Term};

use super::{World, small};
use crate::fault::{Fault, Kind};
use crate::mail::{Body, Mail};
use crate::network::Trouble;
use crate::process::{Ambush, Boundary};

impl World<'_> {
    pub(super) fn fault(&mut self, index: u32) {
        let Some(&fault) = self.story.faults.get(index as usize) else {
            return;
        };
        if self.healed.is_some() {
            return;
        }
        let what = fault.to_string();
        self.scribe.world(self.now, history::Event::Fault { what });
        if fault.kind.is_beyond() {
            // Whoever counted on such a clock is given the time in which all leases end.
            let until = self.now + fault.span + self.story.setting.long_outage() * 3;
            self.uneven_until = self.uneven_until.max(until);
            self.scribe.uneven(self.now, until);
        }
        match fault.kind {
            Kind::Crash | Kind::Pause => self.hit(fault),
            Kind::CrashAll => self.crash_all(fault.span),
            Kind::NewRules => {
                self.change_rules(fault.span, fault.kind);
            }
            Kind::RulesThenDelete => {
                if self.change_rules(fault.level.unsigned_abs(), fault.kind) {
                    self.last(index, fault, Vec::new());
                }
            }
            Kind::Suspend => {
                self.count_if_up(fault);
                self.freeze(small(fault.target), fault.span, true);
            }
            Kind::WallStep | Kind::ClockLeap | Kind::Skew | Kind::ClockLoss => self.tamper(fault),
            Kind::StoreStep => {
                self.tally.fire(Kind::StoreStep);
                self.store.rows.step(self.now, fault.level);
            }
            Kind::Loss | Kind::Duplicate | Kind::Delay | Kind::Reorder => {
                self.disturb(index, fault);
            }
            Kind::Cut | Kind::CutRequests | Kind::CutAnswers | Kind::CutPartial | Kind::Flap => {
                self.tally.fire(fault.kind);
                self.cut(index, fault);
            }
            Kind::StoreRestart | Kind::Rollback | Kind::Delete | Kind::Promotion => {
                self.break_store(fault);
            }
            Kind::Hog => self.order(fault, Body::Hog(fault.span)),
            Kind::AnswerLost | Kind::AnswerLate => {
                self.processes[fault.target].spoilt = Some(fault);
            }
            Kind::Reset => self.reset(small(fault.target)),
            Kind::ConnectionsLost => self.lose_connections(),
            Kind::CommitLost => self.processes[fault.target].commits_lost = 1,
            Kind::GuardCrash => self.store.guard_crash = Some(fault.span),
            Kind::PauseInTransaction => {
                let boundary = Boundary::InTransaction;
                let ambush = Ambush { boundary, crash: false, span: fault.span };
                self.processes[fault.target].ambush = Some(ambush);
            }
            Kind::Demote | Kind::TakeoverLive | Kind::TakeoverDead => self.give_order(fault),
            Kind::Resign => self.let_go(fault),
            Kind::PauseElection
            | Kind::Cordon
            | Kind::HoldOff
            | Kind::ResignTo
            | Kind::Defer
            | Kind::StepBack
            | Kind::Transfer => self.conduct(index, fault),
            Kind::Deploy => self.deploy(fault),
            Kind::VarsReset | Kind::RowRemoved => self.meddle(fault),
            Kind::Bells | Kind::CrashLoop => self.last(index, fault, Vec::new()),
            Kind::SlowCpu
            | Kind::Abort
            | Kind::Stall
            | Kind::ReadOnly
            | Kind::DiskFull
            | Kind::SkewBeyond
            | Kind::Withdraw
            | Kind::Unfit
            | Kind::OddRules => self.begin_lasting(index, fault),
        }
    }

    pub(super) fn count_if_up(&mut self, fault: Fault) {
        if self.processes[fault.target].up {
            self.tally.fire(fault.kind);
        }
    }

    /// Kills or stops a process, anywhere or at a chosen step of its work.
    fn hit(&mut self, fault: Fault) {
        let crash = fault.kind == Kind::Crash;
        let boundary = match fault.level {
            1 => Boundary::BeforeSending,
            2 => Boundary::BeforeTaking,
            _ => {
                self.count_if_up(fault);
                let number = small(fault.target);
                if crash {
                    self.crash(number, Some(fault.span));
                } else {
                    self.freeze(number, fault.span, false);
                }
                return;
            }
        };
        self.processes[fault.target].ambush = Some(Ambush { boundary, crash, span: fault.span });
    }

    /// Does something to the clocks of a host.
    pub(super) fn tamper(&mut self, fault: Fault) {
        self.tally.fire(fault.kind);
        let clock = &mut self.processes[fault.target].clock;
        match fault.kind {
            Kind::WallStep => clock.step_wall(fault.level),
            Kind::ClockLeap => {
                // Whoever leaps ahead lets go too early. What was said about its lease stands:
                // nobody else may use the rest of it.
                clock.leap(self.now, fault.span);
                self.arm(small(fault.target));
                return;
            }
            Kind::ClockLoss => clock.lose(self.now, fault.span),
            _ => clock.set_skew(self.now, fault.level),
        }
        self.restate(small(fault.target));
        self.arm(small(fault.target));
    }

    /// Makes a link, or all links, unreliable.
    fn disturb(&mut self, index: u32, fault: Fault) {
        let part = u32::try_from(fault.level).unwrap_or(0);
        let most = fault.level.unsigned_abs();
        let trouble = match fault.kind {
            Kind::Loss => Trouble { loss: part, ..Trouble::default() },
            Kind::Duplicate => Trouble { twice: part, ..Trouble::default() },
            Kind::Delay => Trouble { delay: most, ..Trouble::default() },
            _ => Trouble { jitter: most, ..Trouble::default() },
        };
        let store = self.store_node();
        let hit = |process: &usize| fault.target == store || fault.target == *process;
        let links = (0..store).filter(hit).flat_map(|process| [(process, store), (store, process)]);
        let troubles = links.map(|(from, to)| self.network.trouble(from, to, trouble)).collect();
        self.last(index, fault, troubles);
    }

    /// Cuts links, in one direction or in both.
    pub(super) fn cut(&mut self, index: u32, fault: Fault) {
        let store = self.store_node();
        let (requests, answers) = match fault.kind {
            Kind::CutRequests => (true, false),
            Kind::CutAnswers => (false, true),
            _ => (true, true),
        };
        let hit = |process: &usize| match fault.kind {
            Kind::CutPartial => fault.level >> process & 1 == 1,
            _ => *process == fault.target,
        };
        let mut troubles = Vec::new();
        let cut = Trouble { cut: true, ..Trouble::default() };
        for process in (0..store).filter(hit) {
            if requests {
                troubles.push(self.network.trouble(process, store, cut));
            }
            if answers {
                troubles.push(self.network.trouble(store, process, cut));
            }
        }
        self.last(index, fault, troubles);
    }

    fn give_order(&mut self, fault: Fault) {
        let pick = usize::try_from(fault.level).unwrap_or(0);
        let name = match fault.kind {
            Kind::TakeoverLive => {
                let live: Vec<usize> =
                    (0..self.processes.len()).filter(|&n| self.processes[n].up).collect();
                let Some(&number) = live.get(pick % live.len().max(1)) else {
                    return;
                };
                Some(self.processes[number].id.name.clone())
            }
            Kind::TakeoverDead => CandidateName::new("host-that-is-gone").ok(),
            _ => None,
        };
        let order = name.map_or(Order::DEMOTE, |successor| Order::Takeover { successor });
        let row = self.store.rows.row(fault.target);
        // Some orders name the present term, some an older one, which they must not hit.
        let term = row.map(|record| record.term).and_then(|term| match pick % 4 {
            0 => Some(term),
            2 => Term::recorded(term.get() - 1),
            _ => None,
        });
        self.order(fault, Body::Order { order, term });
    }

    /// Sends the database something that no candidate asked for, and counts it.
    pub(super) fn order(&mut self, fault: Fault, body: Body) {
        if self.store.up {
            self.tally.fire(fault.kind);
            self.send(fault, body);
        }
    }

    /// Sends the database something that no candidate asked for.
    pub(super) fn send(&mut self, fault: Fault, body: Body) {
        let mail = self.mails.insert(Mail {
            process: None,
            life: 0,
            election: small(fault.target),
            sent: self.now,
            locked: None,
            claim: None,
            scene: None,
            heard: None,
            body,
        });
        self.arrive(mail);
    }
}
