//! What the database does with rounds: locks, reads, decides and writes them.
//!
//! Assumes: a round is one transaction, under READ COMMITTED, whose first statement takes the lock:
//! shared for whoever only beats, exclusive for everyone else.
//! Promises: a round is decided on what stood when its lock was had, and written only if that still
//! stands; else it is decided again.

use incumbent_protocol::history;
use incumbent_protocol::lease::request::{Claim, Denied, Done, Request};
use incumbent_protocol::lease::row::{Record, Snapshot};
use incumbent_protocol::observation::Mark;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rounds::register::Scene;
use incumbent_protocol::rounds::round::{Act, Round, Write};
use incumbent_protocol::rules::Expiry;
use incumbent_protocol::time::Time;

use super::World;
use super::store::End;
use crate::database::{Mode, Reset};
use crate::fault::{Fault, Kind};
use crate::mail::{Body, Mail, MailId};
use crate::plant::Plant;
use crate::story::Engine;

impl World<'_> {
    /// How a transaction holds its lock.
    pub(super) fn mode(&self, id: MailId) -> Mode {
        let shares = self.story.setting.engine == Engine::RowLocks && self.only_beats(id);
        if shares { Mode::Shared } else { Mode::Exclusive }
    }

    fn round(&self, id: MailId) -> Option<(usize, &Round)> {
        match self.mails.get(id)? {
            Mail {
                election, body: Body::Request { request: Request::Round(round), .. }, ..
            } => Some((usize::from(*election), round)),
            _ => None,
        }
    }

    fn only_beats(&self, id: MailId) -> bool {
        self.round(id).is_some_and(|(_, round)| matches!(round.act, Act::Beat { .. }))
    }

    /// Whether a client decides in the midst of this transaction, with more than a beat at stake.
    pub(super) fn decides(&self, id: MailId) -> bool {
        let mail = self.mails.get(id);
        let reads = mail.is_some_and(|mail| mail.scene.is_some()) && !self.only_beats(id);
        reads || mail.is_some_and(|mail| mail.claim.is_some())
    }

    /// A transaction reaches the database, and may have to wait for its lock. What it sees from here
    /// on is what it must not be decided on.
    pub(super) fn expect_lock(&mut self, id: MailId) {
        if self.plant == Plant::StaleRoster && !self.only_beats(id) {
            self.read_scene(id);
        }
    }

    /// Reads what a round is decided on. `None` for what is no round.
    fn read_scene(&mut self, id: MailId) -> Option<()> {
        let (election, round) = self.round(id)?;
        let scene = self.store.rows.scene(self.now, election, round);
        self.mails.get_mut(id)?.scene = Some(Box::new(scene));
        Some(())
    }

    /// A round has its lock: it reads and decides. Returns the answer if nothing is to be written.
    pub(super) fn begin_round(&mut self, id: MailId) -> Option<Outcome<Done, Denied>> {
        if self.plant != Plant::StaleRoster || self.only_beats(id) {
            self.read_scene(id)?;
        }
        let scene = self.mails.get(id)?.scene.clone()?;
        let (writes, answer) = self.round(id)?.1.decide(*scene);
        writes.is_empty().then_some(answer)
    }

    /// Writes what a round decided if what it was decided on still stands; else decides again.
    pub(super) fn end_round(&mut self, id: MailId) -> End {
        let Some((election, round)) = self.round(id) else {
            return End::Silent;
        };
        let stands = self.store.rows.scene(self.now, election, round);
        let seen = self.mails.get(id).and_then(|mail| mail.scene.as_deref().cloned());
        let stale = self.plant == Plant::StaleRoster;
        let scene = match seen {
            Some(seen) if stale || rests_on(round, &seen, &stands) => seen,
            _ => stands,
        };
        let (writes, answer) = round.decide(scene);
        let candidate = round.candidate.clone();
        let mark = self.store.rows.row(election).and_then(Record::mark);
        self.judge_pace(election, &writes);
        let claim = self.store.rows.write_round(self.now, election, &candidate, &writes);
        self.judge_row(election, &writes);
        if let Some(claim) = &claim {
            self.claimed(election, claim, mark);
        }
        if claim.is_some() || writes.iter().any(|write| matches!(write, Write::Release { .. })) {
            self.ring();
        }
        End::Answered(answer)
    }

    /// A term began: says so to everyone who keeps count.
    pub(super) fn claimed(&mut self, election: usize, claim: &Claim, replaced: Mark) {
        self.oaths.taken_over(self.now, &claim.candidate, claim.expected, replaced);
        self.tally.terms += 1;
        self.claimed = self.now;
        self.oaths.issued(election, claim.term);
        let controls = self.store.rows.controls(election);
        let now = Time::from_nanos(self.now);
        self.no_term_against_orders.begun(now, claim, controls);
        // Where the store's clock decides, a reservation counts from the last beat and not from the order.
        let fast = self.fast().filter(|_| self.story.setting.expiry != Expiry::Database);
        self.orders_hold.begun(now, election, claim, fast);
        let line = history::Event::Issued {
            election: self.elections[election].clone(),
            term: claim.term,
            to: claim.candidate.clone(),
        };
        self.scribe.world(self.now, line);
    }

    /// Counts how often rounds became longer or shorter, and judges whether they might.
    fn judge_pace(&mut self, election: usize, writes: &[Write]) {
        let slack = self.fast();
        let before = self.store.rows.registers(election).vars.as_ref();
        let after = writes.iter().find_map(|write| match write {
            Write::Vars(vars) => Some(vars),
            _ => None,
        });
        if let (Some(before), Some(after)) = (before, after) {
            self.tally.longer += u64::from(after.pace.round > before.pace.round);
            self.tally.shorter += u64::from(after.pace.round < before.pace.round);
            self.oaths.paced(self.now, election, before, after, slack);
        }
    }

    /// Tells what a round does to the row of its election.
    fn judge_row(&mut self, election: usize, writes: &[Write]) {
        let (now, row) = (Time::from_nanos(self.now), self.store.rows.row(election));
        for write in writes {
            match write {
                Write::Beat => self.orders_hold.renewed(now, election, row),
                Write::Release { .. } => self.orders_hold.let_go(election, row),
                _ => {}
            }
        }
    }

    /// An operator's hand in the registers: VARS, or a row of the roster.
    pub(super) fn meddle(&mut self, fault: Fault) {
        let (election, pick) = (fault.target, usize::try_from(fault.level).unwrap_or(0));
        if !self.store.up {
            return;
        }
        if fault.kind == Kind::RowRemoved {
            if self.store.rows.remove_row(self.now, election, pick) {
                self.tally.fire(fault.kind);
            }
            return;
        }
        let how = [Reset::Deleted, Reset::Fresh, Reset::Emptied][pick % 3];
        if self.store.rows.reset_vars(self.now, election, how) {
            self.tally.fire(fault.kind);
            // Ids begin anew, though no term was lost.
            self.rewound(election);
        }
    }
}

/// Whether a round that was decided on what it had seen may be written on what stands. A beat rests
/// on its own place and changes nothing else; everything else rests on all that was shown.
fn rests_on(round: &Round, seen: &Scene, stands: &Scene) -> bool {
    if let Act::Beat { place } = round.act {
        return seen.keeps(place) == stands.keeps(place);
    }
    let election = Snapshot { now: seen.election.now, ..stands.election.clone() };
    *seen == Scene { election, ..stands.clone() }
}
