//! Fenced transactions, as the work below a leadership runs them: statement by statement, slowly,
//! over a network that may fail at any of them.
//!
//! Assumes: the work checks that it leads when it begins, and never again: the guard must see to
//! the rest.
//! Promises: an answer is taken for what it says. Without one, work that had sent its COMMIT knows
//! nothing, and work that had not knows that nothing was kept.

use incumbent_protocol::history::{self, Conclusion};
use incumbent_protocol::term::Term;

use super::{World, small};
use crate::fault::Kind;
use crate::mail::{Body, Mail, MailId};
use crate::plant::Plant;
use crate::process::{Boundary, Seat};
use crate::queue::Event;
use crate::story::Engine;
use crate::transaction::{Said, SessionId, Transaction};

impl World<'_> {
    /// Begins a transaction, unless one is open.
    pub(super) fn begin_transaction(&mut self, number: u8, index: usize, term: Term) {
        if self.story.setting.transactions.is_none() {
            return;
        }
        let session = self.dealt + 1;
        let writes = if self.dealing.percent(30) { 2 } else { 1 };
        let Some(seat) = self.seat(number, index).filter(|seat| seat.transaction.is_none()) else {
            return;
        };
        let (step, waits) = (0, false);
        seat.transaction = Some(Transaction { session, term, writes, step, waits });
        self.dealt = session;
        self.say(number, index);
    }

    fn seat(&mut self, number: u8, index: usize) -> Option<&mut Seat> {
        self.processes[usize::from(number)].seats.get_mut(index)
    }

    /// The next statement leaves.
    fn say(&mut self, number: u8, index: usize) {
        let life = self.processes[usize::from(number)].life;
        let Some(transaction) = self.seat(number, index).and_then(|seat| seat.transaction.as_mut())
        else {
            return;
        };
        transaction.waits = true;
        let Transaction { session, term, step, .. } = *transaction;
        let ask = transaction.ask();
        let seat = small(index);
        let patience = self.now + self.story.setting.timeout * 2;
        let unanswered = Event::Unanswered { process: number, seat, life, session, step };
        self.queue.push(patience, unanswered);
        let mail = self.mails.insert(Mail {
            process: Some(number),
            life,
            election: seat,
            sent: self.now,
            locked: None,
            claim: None,
            scene: None,
            heard: None,
            body: Body::Statement { session, ask, term },
        });
        if !self.is_ambushed(number, Boundary::InTransaction, mail) {
            self.depart(mail);
        }
    }

    /// A statement or its answer passes: over the network, or inside the process where the database
    /// is a file. A connection throws away copies.
    pub(super) fn pass(&mut self, id: MailId, event: fn(MailId) -> Event) {
        let Some(&Mail { process: Some(number), ref body, .. }) = self.mails.get(id) else {
            return;
        };
        let (process, store) = (usize::from(number), self.store_node());
        let (from, to) = match body {
            Body::Reply { .. } => (store, process),
            _ => (process, store),
        };
        if self.story.setting.engine == Engine::OneWriter {
            let at = self.now + self.dealing.between(1, self.story.setting.commit_most / 8 + 1);
            self.queue.push(at, event(id));
            return;
        }
        let passage = self.network.send(&mut self.dealing, self.now, from, to);
        let Some(at) = passage.first else {
            if !passage.cut {
                self.tally.fire(Kind::Loss);
            }
            self.mails.remove(id);
            return;
        };
        self.queue.push(at, event(id));
    }

    /// An answer is taken.
    pub(super) fn hear(&mut self, number: u8, index: usize, session: SessionId, said: Said) {
        let life = self.processes[usize::from(number)].life;
        let Some(transaction) = self.open(number, index, session).filter(|t| t.waits) else {
            // Given up already: whatever is open on the other side is of no use.
            if said == Said::Done {
                self.hang_up(number, session);
            }
            return;
        };
        let conclusion = match said {
            Said::Done => {
                transaction.waits = false;
                transaction.step += 1;
                let thinks = self.thinks();
                if thinks == 0 {
                    self.say(number, index);
                } else {
                    let next = Event::Next { process: number, seat: small(index), life, session };
                    self.queue.push(self.now + thinks, next);
                }
                return;
            }
            Said::Committed => Conclusion::Committed,
            Said::Gone if transaction.is_committing() => Conclusion::Unknown,
            Said::Gone | Said::Refused => Conclusion::Refused,
        };
        self.conclude(number, index, conclusion);
    }

    /// How long the work takes before its next statement: often no time, sometimes so long that its
    /// term ends meanwhile. With one writer at a time that would keep everybody else out.
    fn thinks(&mut self) -> u64 {
        let lease = self.story.setting.lease;
        let (chance, most) = match self.story.setting.engine {
            Engine::OneWriter => (5, lease / 8),
            Engine::RowLocks => (15, lease * 6),
        };
        if self.healed.is_some() || !self.dealing.percent(chance) {
            return 0;
        }
        self.dealing.spread(lease / 64, most)
    }

    /// The work comes to its next statement.
    pub(super) fn go_on(&mut self, number: u8, index: usize, session: SessionId) {
        if self.open(number, index, session).is_some_and(|transaction| !transaction.waits) {
            self.say(number, index);
        }
    }

    /// A statement was not answered in time: the client closes the connection.
    pub(super) fn unanswered(&mut self, number: u8, index: usize, session: SessionId, step: u8) {
        let waits = |transaction: &mut Transaction| transaction.waits && transaction.step == step;
        if self.open(number, index, session).is_some_and(waits) {
            self.break_off(number, index);
        }
    }

    /// The connection is lost, or given up.
    pub(super) fn break_off(&mut self, number: u8, index: usize) -> bool {
        let Some(transaction) = self.seat(number, index).and_then(|seat| seat.transaction) else {
            return false;
        };
        let unknown = transaction.is_committing();
        let conclusion = if unknown { Conclusion::Unknown } else { Conclusion::Refused };
        self.hang_up(number, transaction.session);
        self.conclude(number, index, conclusion);
        true
    }

    fn open(&mut self, number: u8, index: usize, session: SessionId) -> Option<&mut Transaction> {
        let transaction = self.seat(number, index)?.transaction.as_mut()?;
        (transaction.session == session).then_some(transaction)
    }

    /// The client knows what became of its transaction, or that it cannot know. Then it may well do
    /// the same work again.
    fn conclude(&mut self, number: u8, index: usize, conclusion: Conclusion) {
        let Some(seat) = self.seat(number, index) else {
            return;
        };
        let held = seat.held.filter(|held| held.sure);
        let Some(Transaction { session, term, .. }) = seat.transaction.take() else {
            return;
        };
        let outcome = match conclusion {
            Conclusion::Unknown if self.plant == Plant::LostCommitAsDone => Conclusion::Committed,
            conclusion => conclusion,
        };
        let (election, work) = (self.elections[index].clone(), u64::from(session));
        let line = history::Event::Concluded { election, term, work, outcome };
        self.scribe.line(self.now, &self.processes[usize::from(number)].id, line);
        if conclusion == Conclusion::Unknown {
            self.tally.doubted += 1;
            if let Some(held) = held.filter(|held| held.term == term)
                && self.dealing.percent(50)
            {
                self.begin_transaction(number, index, held.term);
            }
        }
    }

    /// All connections are lost at once: clients hear of it if they run, and the database ends what
    /// waits for them.
    pub(super) fn lose_connections(&mut self) {
        let asks = |seat: &Seat| seat.flight.is_some() || seat.transaction.is_some();
        let open = self.processes.iter().flat_map(|process| &process.seats).any(asks);
        if open || !self.store.sessions.is_empty() {
            self.tally.fire(Kind::ConnectionsLost);
        }
        for number in 0..small(self.processes.len()) {
            self.reset(number);
        }
        let sessions: Vec<SessionId> = self.store.sessions.keys().copied().collect();
        for session in sessions {
            self.hung_up(session);
        }
    }
}
