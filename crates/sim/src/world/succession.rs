//! Candidates that know of each other: presence rows, and what the succession of each of them decides.
//!
//! Assumes: what decides is the shipping `incumbent_protocol::succession`, one value for each election
//! of a process, and one schedule for its presence.
//! Promises: an input reaches a succession only after its candidacy is done with its own. Preferences
//! have their say until the world heals, and none from then on.

use core::time::Duration;

use incumbent_protocol::candidacy::{self, Wish};
use incumbent_protocol::lease::order::{Order, Papers};
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::roll::Presence;
use incumbent_protocol::succession::handover::Handover;
use incumbent_protocol::succession::presence::{Participant, Schedule};
use incumbent_protocol::succession::{Effect, Input, Notice, POLICY, Standing};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::{World, small};
use crate::clock::Span;
use crate::fault::{Fault, Kind};
use crate::mail::{Body, Mail, MailId, Shown};
use crate::process::{Calling, Part};
use crate::queue::Event;
use incumbent_audit::Asked;

impl World<'_> {
    fn part(&mut self, number: u8, index: usize) -> Option<&mut Part> {
        self.processes[usize::from(number)].seats.get_mut(index)?.part.as_mut()
    }

    /// The user of a process wants more or less of an election.
    pub(super) fn want(&mut self, number: u8, index: usize, local: Time, wish: Wish) {
        let wish = self.part(number, index).map_or(wish, |part| {
            part.wanted = wish;
            part.succession.wish(wish)
        });
        self.handle(number, index, local, candidacy::Input::Wish(wish));
    }

    /// Keeps what a succession has to hear until its candidacy is done.
    pub(super) fn pass_on(&mut self, number: u8, index: usize, input: Input) {
        if let Some(part) = self.part(number, index) {
            part.inbox.push_back(input);
        }
    }

    /// Lets a succession hear what it has to, and tells the candidacy what to want then.
    pub(super) fn attend(&mut self, number: u8, index: usize, local: Time) {
        while let Some(input) = self.part(number, index).and_then(|part| part.inbox.pop_front()) {
            self.succeed(number, index, local, input);
        }
        let Some(part) = self.part(number, index) else {
            return;
        };
        let wish = part.succession.wish(part.wanted);
        let seat = &self.processes[usize::from(number)].seats[index];
        if seat.candidacy.wish() != wish && self.is_running(number) {
            self.handle(number, index, local, candidacy::Input::Wish(wish));
        }
    }

    /// Hands an input to a succession, and does what it then wants.
    fn succeed(&mut self, number: u8, index: usize, local: Time, input: Input) {
        if input == Input::Lost {
            self.handover_in_order.ended(usize::from(number), index);
        }
        let Some(part) = self.part(number, index) else {
            return;
        };
        part.succession.handle(local, input);
        while let Some(notice) = self.part(number, index).and_then(|p| p.succession.poll_notice()) {
            match notice {
                Notice::Draining { term, handover } => {
                    self.drain(number, index, local, term, &handover);
                }
                // People are told of it.
                Notice::Twin(_) => {}
            }
        }
        while let Some(effect) = self.part(number, index).and_then(|p| p.succession.poll_effect()) {
            match effect {
                Effect::Tell(input) => self.tell(number, index, local, input),
                Effect::Order(order, papers) => self.give_way(number, index, order, &papers),
            }
        }
    }

    fn tell(&mut self, number: u8, index: usize, local: Time, input: candidacy::Input) {
        let process = &mut self.processes[usize::from(number)];
        match &input {
            candidacy::Input::Heir(Some(_)) => process.has_heir = true,
            candidacy::Input::Defer(span) => {
                if let Some(part) = &mut process.seats[index].part {
                    part.deference = *span;
                }
            }
            _ => {}
        }
        if self.is_running(number) {
            self.handle(number, index, local, input);
        }
    }

    /// The work is asked to end. Some of it never does.
    fn drain(&mut self, number: u8, index: usize, local: Time, term: Term, asked: &Handover) {
        self.tally.drained += 1;
        self.handover_in_order.begun(usize::from(number), index, local + asked.within, term);
        let process = &mut self.processes[usize::from(number)];
        let life = process.life;
        let work = &mut process.seats[index].work;
        work.drains = true;
        let stopped =
            Event::Stopped { process: number, seat: small(index), life, serial: work.serial };
        if self.random.percent(70) {
            let within = nanos(asked.within);
            let after = self.random.between(0, within + within / 4);
            self.queue.push(self.now + after, stopped);
        }
    }

    /// An order of a candidate's own leaves for the database.
    fn give_way(&mut self, number: u8, index: usize, order: Order, papers: &Papers) {
        let who = usize::from(number);
        if papers.actor == POLICY {
            self.tally.preempted += 1;
            self.judge_preemption(who, index, papers);
        } else {
            self.tally.forced += 1;
            self.handover_in_order.forced(who, index);
        }
        let life = self.processes[who].life;
        let body = Body::Order { order, term: papers.term };
        self.post(number, life, index, body);
    }

    /// Judges a candidate that asks for the place of a leader, by what stands in the database.
    fn judge_preemption(&mut self, who: usize, index: usize, papers: &Papers) {
        let succession = self.story.setting.succession.as_ref();
        let Some(preempt) = succession.and_then(|succession| succession.preempt) else {
            return;
        };
        let row = self.store.rows.row(index).filter(|row| Some(row.term) == papers.term);
        // A clock that was set says nothing of how old a term is.
        let clock = self.fast().filter(|_| !self.story.has(Kind::StoreStep));
        let (Some(row), Some(fast)) = (row, clock) else {
            return;
        };
        let priority = |number: usize| succession.and_then(|it| it.priorities.get(number).copied());
        let holds = |process: &crate::process::Process| process.id == row.holder;
        let holder = self.processes.iter().position(holds);
        let asked = Asked {
            who: self.processes[who].id.clone(),
            term: row.term,
            priority: priority(who),
            holder: holder.and_then(priority),
            age: self.store.rows.time(self.now).since(row.since),
            hold_down: Duration::from_nanos(preempt.hold_down),
            fast,
        };
        self.handover_in_order.asked(Time::from_nanos(self.now), &asked);
    }

    fn post(&mut self, number: u8, life: u32, index: usize, body: Body) {
        let mail = self.mails.insert(Mail {
            process: Some(number),
            life,
            election: small(index),
            sent: self.now,
            locked: None,
            claim: None,
            scene: None,
            heard: None,
            body,
        });
        self.depart(mail);
    }

    /// Does what is due in the successions of a process, as a driver does at every turn.
    pub(super) fn succeed_all(&mut self, number: u8) {
        if self.story.setting.succession.is_none() || !self.is_running(number) {
            return;
        }
        let local = self.processes[usize::from(number)].read(self.now);
        for index in 0..self.elections.len() {
            let due = |part: &mut Part| part.succession.wake_at().is_some_and(|at| at <= local);
            if self.part(number, index).is_some_and(due) {
                self.succeed(number, index, local, Input::Wake);
            }
            if !self.is_running(number) {
                return;
            }
            let Some(part) = self.part(number, index) else {
                continue;
            };
            part.listed &= part.takes_part();
            let (news, every) = (part.succession.has_news(part.waits()), part.every());
            if news {
                self.processes[usize::from(number)].schedule.hurry(local, every);
            }
        }
        let at = Time::from_nanos(self.now);
        self.handover_in_order.turn(at, usize::from(number), local);
        let process = &mut self.processes[usize::from(number)];
        if let Some(late) = process.calling.take_if(|calling| calling.deadline <= local) {
            self.came_back(number, local, &late, None);
        }
        self.call(number, local);
    }

    /// Calls on the database for presence, if it is time.
    fn call(&mut self, number: u8, local: Time) {
        let process = &mut self.processes[usize::from(number)];
        let Some(call) = process.call(local) else {
            return;
        };
        self.calls += 1;
        let deadline = local + Duration::from_nanos(self.story.setting.timeout);
        let (serial, life) = (self.calls, process.life);
        process.calling = Some(Calling { serial, call: call.clone(), deadline });
        self.post(number, life, 0, Body::Call { serial, call: Box::new(call) });
    }

    /// A call reaches the database.
    pub(super) fn called(&mut self, id: MailId) {
        let answers = self.store.up || self.store.refuses;
        let Some(Mail { process: Some(number), body: Body::Call { serial, call }, .. }) =
            self.mails.get(id).filter(|_| answers).cloned()
        else {
            self.mails.remove(id);
            return;
        };
        let fails = !self.store.up || self.store.read_only || self.store.disk_full;
        let fails = fails || self.random.chance(self.store.abort);
        let shown = (!fails).then(|| {
            for (name, row) in &call.rows {
                if let Some(election) = self.elections.iter().position(|it| it == name) {
                    self.store.rows.announce(self.now, election, row);
                }
            }
            let elections = self.elections.iter().enumerate();
            let elections = elections.filter(|(_, name)| call.elections.contains(name));
            let shown = |(election, _): (usize, _)| Shown {
                election,
                candidates: self.store.rows.candidates(election).to_vec(),
                snapshot: self.store.rows.snapshot(self.now, election),
            };
            elections.map(shown).collect()
        });
        if let Some(mail) = self.mails.get_mut(id) {
            mail.body = Body::Called { serial, shown };
        }
        let (from, to) = (self.store_node(), usize::from(number));
        self.carry(id, from, to, |mail| Event::Answer { mail });
    }

    /// The answer to a call reaches its process.
    pub(super) fn shown(&mut self, number: u8, serial: u64, shown: Option<Vec<Shown>>) {
        let process = &mut self.processes[usize::from(number)];
        let local = process.read(self.now);
        if let Some(calling) = process.calling.take_if(|calling| calling.serial == serial) {
            self.came_back(number, local, &calling, shown);
        }
    }

    /// A call came back, or will not any more.
    fn came_back(&mut self, number: u8, local: Time, calling: &Calling, shown: Option<Vec<Shown>>) {
        let process = &mut self.processes[usize::from(number)];
        let every = process.parts().map(Participant::every).min().unwrap_or_default();
        let listed = process.parts().all(|part| part.listed || !part.takes_part());
        process.schedule.came_back(local, every, shown.is_some(), listed);
        let Some(shown) = shown else {
            for index in 0..self.elections.len() {
                let read = calling.call.elections.contains(&self.elections[index]);
                if read && self.is_running(number) {
                    self.succeed(number, index, local, Input::NotShown);
                    self.attend(number, index, local);
                }
            }
            return;
        };
        for Shown { election: index, candidates, snapshot } in shown {
            if !self.is_running(number) {
                return;
            }
            let row = calling.call.rows.get(&self.elections[index]);
            let wrote = row.is_some_and(|row| row.presence != Presence::Left);
            let Some(seat) = self.processes[usize::from(number)].seats.get_mut(index) else {
                return;
            };
            let ahead = seat.candidacy.rank(local).and_then(|rank| rank.ahead);
            let owes = !seat.candidacy.has_let_go();
            let Some(part) = &mut seat.part else {
                return;
            };
            let standing = Standing { waits: part.waits(), owes, ahead };
            part.listed |= wrote;
            self.succeed(number, index, local, Input::Shown { candidates, snapshot, standing });
            self.attend(number, index, local);
        }
    }

    /// Something may have changed in the database.
    pub(super) fn notify(&mut self, number: u8, local: Time) {
        let process = &mut self.processes[usize::from(number)];
        let there = process.parts().filter(|part| part.takes_part());
        if let Some(every) = there.map(Participant::every).min() {
            process.schedule.notify(local, every);
        }
    }

    /// A process falls ill, or is well again.
    pub(super) fn fit(&mut self, number: u8, unfit: Option<&str>) {
        for index in 0..self.elections.len() {
            if self.is_running(number) {
                let local = self.processes[usize::from(number)].read(self.now);
                self.succeed(number, index, local, Input::Fit(unfit.map(str::to_owned)));
                self.attend(number, index, local);
            }
        }
        self.succeed_all(number);
        self.arm(number);
    }

    /// Candidates are replaced by a newer version, one by one.
    pub(super) fn deploy(&mut self, fault: Fault) {
        self.tally.fire(Kind::Deploy);
        for (step, process) in (0..).zip(0..small(self.processes.len())) {
            let life = self.processes[usize::from(process)].life;
            let at = self.now + fault.span * step;
            self.queue.push(at, Event::Replace { process, life, stops: false });
            let stops = at + fault.span / 2;
            self.queue.push(stops, Event::Replace { process, life, stops: true });
        }
    }

    /// A process hands over, or stops and comes back as a newer version.
    pub(super) fn replace(&mut self, number: u8, local: Time, stops: bool) {
        if self.healed.is_some() {
            return;
        }
        if stops {
            self.processes[usize::from(number)].version += 1;
            let down: Span = self.story.setting.beat;
            return self.crash(number, Some(down));
        }
        for index in 0..self.elections.len() {
            if self.is_running(number) {
                self.succeed(number, index, local, Input::HandOver { to: None });
                self.attend(number, index, local);
            }
        }
    }

    /// From now on preferences have no say. What they made candidates wait for stays.
    pub(super) fn end_succession(&mut self, number: u8) {
        self.handover_in_order.gone(usize::from(number));
        let process = &mut self.processes[usize::from(number)];
        process.calling = None;
        process.schedule = Schedule::new();
        for seat in &mut process.seats {
            if let Some(part) = seat.part.take() {
                process.deference = process.deference.max(nanos(part.deference));
            }
        }
    }

    /// Work that was asked to end has ended.
    pub(super) fn end_drains(&mut self, number: u8) {
        for index in 0..self.elections.len() {
            let seat = self.processes[usize::from(number)].seats.get(index);
            let work = seat.map(|seat| seat.work).filter(|work| work.drains);
            if let Some(work) = work.filter(|_| self.is_running(number)) {
                self.stopped(number, index, work.serial);
            }
        }
    }
}

fn nanos(span: Duration) -> Span {
    Span::try_from(span.as_nanos()).unwrap_or(Span::MAX)
}
