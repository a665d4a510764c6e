//! How the database goes away and comes back, with everything that it had or with less.
//!
//! Assumes: nothing.
//! Promises: what was committed survives a kill; what was not is gone, or was kept unanswered; a
//! restart never shortens an outage that is under way.

use incumbent_protocol::history;
use incumbent_protocol::outcome::Outcome;

use super::World;
use crate::clock::Span;
use crate::database::Owner;
use crate::fault::{Fault, Kind};
use crate::mail::MailId;
use crate::queue::Event;
impl World<'_> {
    /// The database goes away, and may come back with less than it had.
    pub(super) fn break_store(&mut self, fault: Fault) {
        let lease = self.story.setting.lease;
        let down: Span = match fault.kind {
            Kind::StoreRestart => fault.span,
            Kind::Promotion => self.random.spread(lease / 50, lease * 2),
            _ => fault.level.unsigned_abs(),
        };
        let lossy = matches!(fault.kind, Kind::Rollback | Kind::Promotion);
        if lossy && self.now + down > self.story.setting.heals_at() {
            return; // The healing would cut the outage short, on whose length leases may rest.
        }
        if fault.kind == Kind::Delete && self.store.rows.is_behind(self.now) {
            return; // Terms may not be lost while the time is.
        }
        if fault.kind.goes_back() {
            if self.is_soon_after(self.new_rules) {
                return;
            }
            self.went_back = Some(self.now);
        }
        let refuses = self.random.percent(50);
        self.kill_store(refuses);
        match fault.kind {
            Kind::Rollback => {
                // One that does not know what it lost must leave leases the time to end.
                let luck = self.random.percent(50);
                let long = down >= self.story.setting.long_outage();
                self.roll_back(fault, luck || !long, long);
            }
            Kind::Promotion => {
                // Terms that were lost before rest on the clock alone.
                if fault.level > 0 || self.shows_newest_terms() {
                    self.store.rows.step(self.now, fault.level);
                }
                self.roll_back(fault, true, down >= self.story.setting.long_outage());
            }
            Kind::Delete => {
                // What is under way was sent to the database that is gone.
                self.deleted = self.now;
                self.store.rows.delete(self.now);
                self.went_back();
                self.tally.fire(Kind::Delete);
            }
            _ => self.tally.fire(fault.kind),
        }
        self.stay_down(down);
    }

    /// Whether no term is lost that was ever issued.
    fn shows_newest_terms(&self) -> bool {
        let mut elections = 0..self.elections.len();
        elections.all(|election| {
            let found = self.store.rows.row(election).map(|record| record.term);
            found == self.oaths.newest(election)
        })
    }

    /// The last writes are lost; claims are not while the clock is behind, because a candidate that
    /// remembers nothing could then repeat a term.
    fn roll_back(&mut self, fault: Fault, knows: bool, long: bool) {
        let behind = self.store.rows.is_behind(self.now);
        let by = if behind { fault.span.min(self.now - self.claimed) } else { fault.span };
        let lost = self.store.rows.roll_back(self.now, by, knows);
        for election in 0..self.elections.len() {
            let row = self.store.rows.row(election);
            self.oaths.went_back(election, row.filter(|_| knows));
        }
        if lost {
            self.tally.fire(fault.kind);
            self.tally.short_known += u64::from(knows && !long);
            self.tally.long_known += u64::from(knows && long);
            self.tally.long_unknown += u64::from(!knows && long);
            self.tally.lost_behind += u64::from(behind);
        }
        self.went_back();
    }

    /// The database is not there for so long.
    pub(super) fn stay_down(&mut self, down: Span) {
        self.store.down_until = self.store.down_until.max(self.now + down);
        self.queue.push(self.store.down_until, Event::StoreUp);
    }

    /// Forgets all locks, and the requests that held them or waited for them.
    pub(super) fn drop_waiting(&mut self, told: bool) {
        for owner in self.store.locks.clear() {
            if let Owner::Mail(id) = owner {
                self.drop_transaction(id, told);
            }
        }
    }

    /// Nothing that was there before is held against a database that went back.
    fn went_back(&mut self) {
        let recent = self.story.setting.lease * 10;
        let after = self.new_rules.is_some_and(|at| self.now < at + recent);
        self.tally.back_after_rules += u64::from(after);
        self.orders_hold.forget();
        self.note_rewind();
    }

    /// Says what a database that went back still knows, where there is work or a roster to judge by
    /// it.
    fn note_rewind(&mut self) {
        let setting = &self.story.setting;
        if setting.transactions.is_none() && setting.rounds.is_none() {
            return;
        }
        for index in 0..self.elections.len() {
            self.rewound(index);
        }
    }

    pub(super) fn rewound(&mut self, election: usize) {
        let line = history::Event::Rewound {
            election: self.elections[election].clone(),
            newest: self.store.rows.row(election).map(|record| record.term),
            position: self.store.rows.table.position(),
        };
        self.scribe.world(self.now, line);
    }

    /// The database is killed: what was not committed is gone, except that a commit may have been
    /// kept unanswered.
    pub(super) fn kill_store(&mut self, refuses: bool) {
        self.store.up = false;
        self.store.refuses = refuses;
        for id in core::mem::take(&mut self.store.active) {
            if self.mails.get(id).is_some_and(|mail| mail.process.is_some())
                && self.random.percent(50)
            {
                // Kept, but the answer never left.
                let _ = self.write_down(id);
            }
            self.drop_transaction(id, refuses);
        }
        self.kill_sessions(refuses);
        self.drop_waiting(refuses);
    }

    /// Forgets a transaction; its client may notice that the connection is gone.
    pub(super) fn drop_transaction(&mut self, id: MailId, told: bool) {
        if told {
            self.answer_mail(id, Outcome::Unknown);
        } else {
            self.mails.remove(id);
        }
    }

    pub(super) fn store_up(&mut self) {
        if self.now >= self.store.down_until {
            self.store.up = true;
        }
    }
}
