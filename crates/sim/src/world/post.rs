//! Mail between processes and the database: how it leaves, passes, and comes back.
//!
//! Assumes: a request was stamped before it comes here.
//! Promises: whatever becomes of a mail, it is counted as the fault that did it; a mail that is
//! lost is forgotten.

use core::time::Duration;

use incumbent_protocol::candidacy::Ticket;
use incumbent_protocol::lease::request::{Denied, Done, Request};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rounds::round::End;
use incumbent_protocol::time::AskedAt;

use super::{World, small};
use crate::fault::{Fault, Kind};
use crate::mail::{Body, Mail, MailId};
use crate::network::Trouble;
use crate::process::{Ambush, Boundary, Flight};
use crate::queue::Event;
impl World<'_> {
    pub(super) fn ask(&mut self, number: u8, index: usize, ticket: Ticket, request: Request) {
        let process = &mut self.processes[usize::from(number)];
        let local = process.read(self.now);
        let timeout = Duration::from_nanos(self.story.setting.timeout);
        process.seats[index].flight = Some(Flight {
            ticket,
            asked_at: AskedAt::before_sending(local),
            deadline: local + timeout,
        });
        let (now, id) = (self.now, &process.id);
        self.scribe.trace(now, || format!("{id} asks: {request:?}"));
        let mail = self.mails.insert(Mail {
            process: Some(number),
            life: process.life,
            election: small(index),
            sent: self.now,
            locked: None,
            claim: None,
            scene: None,
            heard: None,
            body: Body::Request { ticket, request },
        });
        if !self.is_ambushed(number, Boundary::BeforeSending, mail) {
            self.depart(mail);
        }
    }

    /// Whether the process is hit at this very step of its work.
    pub(super) fn is_ambushed(&mut self, number: u8, boundary: Boundary, id: MailId) -> bool {
        let process = &mut self.processes[usize::from(number)];
        let Some(Ambush { crash, span, .. }) = process.ambush.take_if(|a| a.boundary == boundary)
        else {
            return false;
        };
        if crash {
            self.mails.remove(id);
            self.tally.fire(Kind::Crash);
            self.crash(number, Some(span));
            return true;
        }
        self.tally.fire(match boundary {
            Boundary::InTransaction => Kind::PauseInTransaction,
            _ => Kind::Pause,
        });
        let event = match boundary {
            Boundary::BeforeSending | Boundary::InTransaction => Event::Depart { mail: id },
            Boundary::BeforeTaking => {
                let heard = process.read(self.now);
                if let Some(mail) = self.mails.get_mut(id) {
                    mail.heard = Some(heard);
                }
                Event::Answer { mail: id }
            }
        };
        self.processes[usize::from(number)].deferred.push(event);
        self.freeze(number, span, false);
        true
    }

    /// The request leaves its process.
    pub(super) fn depart(&mut self, id: MailId) {
        let Some(mail) = self.mails.get_mut(id) else {
            return;
        };
        mail.sent = self.now;
        if matches!(mail.body, Body::Statement { .. }) {
            return self.pass(id, |mail| Event::Arrive { mail });
        }
        let from = mail.process.map_or(self.processes.len(), usize::from);
        self.carry(id, from, self.processes.len(), |mail| Event::Arrive { mail });
    }

    /// Sends a mail over a link, with everything that can become of it.
    pub(super) fn carry(&mut self, id: MailId, from: usize, to: usize, event: fn(MailId) -> Event) {
        let passage = self.network.send(&mut self.random, self.now, from, to);
        let Some(first) = passage.first else {
            if !passage.cut {
                self.tally.fire(Kind::Loss);
            }
            self.mails.remove(id);
            return;
        };
        self.queue.push(first, event(id));
        if let Some(second) = passage.second
            && let Some(mail) = self.mails.get(id).cloned()
        {
            self.tally.fire(Kind::Duplicate);
            let copy = self.mails.insert(mail);
            self.queue.push(second, event(copy));
        }
        if passage.late {
            self.tally.fire(Kind::Delay);
        }
        if passage.shuffled {
            self.tally.fire(Kind::Reorder);
        }
    }

    /// Turns a request into its answer and sends it back.
    pub(super) fn answer_mail(&mut self, id: MailId, outcome: Outcome<Done, Denied>) {
        let Some(Mail { process: Some(number), life, .. }) = self.mails.get(id).cloned() else {
            self.mails.remove(id);
            return;
        };
        if matches!(self.mails.get(id), Some(Mail { body: Body::Order { .. }, .. })) {
            // Whether it was carried out, the next presence rows show.
            self.mails.remove(id);
            return;
        }
        let changed = matches!(&outcome, Outcome::Committed(done) if is_change(done));
        let process = &mut self.processes[usize::from(number)];
        let spoilt = process.spoilt.take_if(|_| changed && process.life == life);
        if spoilt.is_some_and(|fault| fault.kind == Kind::AnswerLost) {
            self.tally.fire(Kind::AnswerLost);
            self.mails.remove(id);
            return;
        }
        if let Some(mail) = self.mails.get_mut(id)
            && let Body::Request { ticket, .. } = mail.body
        {
            mail.body = Body::Answer { ticket, outcome };
            let (from, to) = (self.store_node(), usize::from(number));
            if let Some(fault) = spoilt {
                self.last_answer(id, to, fault);
                return;
            }
            self.carry(id, from, to, |mail| Event::Answer { mail });
        }
    }

    /// The answer comes late, and nothing after it comes at all for a while.
    pub(super) fn last_answer(&mut self, id: MailId, process: usize, fault: Fault) {
        self.tally.fire(Kind::AnswerLate);
        let late = self.now + self.network.latency() + fault.level.unsigned_abs();
        self.queue.push(late, Event::Answer { mail: id });
        let store = self.store_node();
        let cut = Trouble { cut: true, ..Trouble::default() };
        let troubles = [(process, store), (store, process)]
            .map(|(from, to)| self.network.trouble(from, to, cut));
        let is_it = |it: &&Fault| **it == fault;
        if let Some((index, _)) = (0..).zip(&self.story.faults).find(|(_, it)| is_it(it)) {
            self.last(index, fault, troubles.to_vec());
        }
    }

    /// A change of leadership rings some bells. They are hints: they may be lost.
    pub(super) fn ring(&mut self) {
        for number in 0..self.processes.len() {
            if !self.random.percent(30) {
                continue;
            }
            let (from, to) = (self.store_node(), number);
            let life = self.processes[number].life;
            let process = small(number);
            if let Some(at) = self.network.send(&mut self.random, self.now, from, to).first {
                self.queue.push(at, Event::Bell { process, life });
            }
        }
    }

    /// Whether a mail was sent to a database that is gone, or left before everything healed and
    /// comes later than a healthy link would bring it.
    pub(super) fn is_out_of_date(&self, id: MailId) -> bool {
        let Some(mail) = self.mails.get(id) else {
            return true;
        };
        let late = |healed| mail.sent < healed && self.now > healed + self.network.latency();
        mail.sent < self.deleted || self.healed.is_some_and(late)
    }
}

/// Whether something became of a request that its candidate had better hear of.
fn is_change(done: &Done) -> bool {
    match done {
        Done::Looked(_) => false,
        Done::Rounded(report) => !matches!(report.end, End::Beaten | End::Evicted),
        Done::Claimed(_) | Done::Renewed | Done::Resigned => true,
    }
}
