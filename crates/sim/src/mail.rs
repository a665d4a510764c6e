//! Requests and answers on their way.
//!
//! Assumes: nothing.
//! Promises: a mail that was thrown away is never mistaken for a later one in the same place.

use incumbent_protocol::candidacy::Ticket;
use incumbent_protocol::lease::order::Order;
use incumbent_protocol::lease::request::{Claim, Denied, Done, Request};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::roll::Peer;
use incumbent_protocol::rounds::register::Scene;
use incumbent_protocol::succession::presence::Call;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use crate::clock::{At, Span};
use crate::transaction::{Ask, Said, SessionId};

/// Names a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MailId {
    slot: u32,
    stamp: u32,
}

/// What is asked or answered.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// A candidate asks.
    Request { ticket: Ticket, request: Request },
    /// An operator orders, or a candidate whose succession wants it.
    Order { order: Order, term: Option<Term> },
    /// A process writes its presence, and reads that of all candidates.
    Call { serial: u64, call: Box<Call> },
    /// The database answers that; with nothing if it failed.
    Called { serial: u64, shown: Option<Vec<Shown>> },
    /// Somebody else keeps a row locked for so long.
    Hog(Span),
    /// The database answers.
    Answer { ticket: Ticket, outcome: Outcome<Done, Denied> },
    /// A leader's work asks, inside a transaction of its term.
    Statement { session: SessionId, ask: Ask, term: Term },
    /// The database answers that.
    Reply { session: SessionId, said: Said },
}

/// What a database shows of an election and its candidates.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) election: usize,
    pub(crate) candidates: Vec<Peer>,
    pub(crate) snapshot: Snapshot,
}

/// A request from its stamp to its answer.
#[derive(Clone, Debug)]
pub(crate) struct Mail {
    /// Of which process; that of an operator comes from none.
    pub(crate) process: Option<u8>,
    /// In which life of it.
    pub(crate) life: u32,
    /// About which election.
    pub(crate) election: u8,
    /// When it left.
    pub(crate) sent: At,
    /// When its transaction got its locks.
    pub(crate) locked: Option<At>,
    /// What the database decided on, before it wrote it.
    pub(crate) claim: Option<Claim>,
    /// What a round was decided on, before it was written.
    pub(crate) scene: Option<Box<Scene>>,
    /// When an answer was heard, if its process was stopped before it could take it.
    pub(crate) heard: Option<Time>,
    pub(crate) body: Body,
}

/// All mails under way.
#[derive(Debug, Default)]
pub(crate) struct Mails {
    slots: Vec<(u32, Option<Mail>)>,
    free: Vec<u32>,
}

impl Mails {
    pub(crate) fn insert(&mut self, mail: Mail) -> MailId {
        if let Some(slot) = self.free.pop() {
            let (stamp, place) = &mut self.slots[slot as usize];
            *place = Some(mail);
            return MailId { slot, stamp: *stamp };
        }
        let slot = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
        self.slots.push((0, Some(mail)));
        MailId { slot, stamp: 0 }
    }

    pub(crate) fn get(&self, id: MailId) -> Option<&Mail> {
        let (stamp, mail) = self.slots.get(id.slot as usize)?;
        mail.as_ref().filter(|_| *stamp == id.stamp)
    }

    pub(crate) fn get_mut(&mut self, id: MailId) -> Option<&mut Mail> {
        let (stamp, mail) = self.slots.get_mut(id.slot as usize)?;
        mail.as_mut().filter(|_| *stamp == id.stamp)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mail> {
        self.slots.iter().filter_map(|(_, mail)| mail.as_ref())
    }

    pub(crate) fn remove(&mut self, id: MailId) -> Option<Mail> {
        let (stamp, mail) = self.slots.get_mut(id.slot as usize)?;
        if *stamp != id.stamp {
            return None;
        }
        let mail = mail.take()?;
        *stamp = stamp.wrapping_add(1);
        self.free.push(id.slot);
        Some(mail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thrown_away_mail_is_not_mistaken_for_a_later_one() {
        let mail = Mail {
            process: None,
            life: 0,
            election: 0,
            sent: 0,
            locked: None,
            claim: None,
            scene: None,
            heard: None,
            body: Body::Hog(1),
        };
        let mut mails = Mails::default();
        let old = mails.insert(mail.clone());
        assert!(mails.remove(old).is_some());
        let new = mails.insert(mail);
        assert!(mails.get(old).is_none() && mails.remove(old).is_none());
        assert!(mails.get(new).is_some());
    }
}
