//! A simulated database: the rows and registers of all elections, and what can become of them.
//!
//! Assumes: the world calls each method at the instant at which a transaction reads or commits.
//! Promises: every decision is the shipping one of `incumbent-protocol`; what was committed stays,
//! except where a rollback or a deletion takes it away on purpose.

use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::Incarnation;
use incumbent_protocol::lease::order::{Decree, Order, OrderError, Papers};
use incumbent_protocol::lease::request::{Claim, Denied, Done, Holding, Refusal, Resignation};
use incumbent_protocol::lease::row::{Record, Snapshot, State};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::roll::{Peer, sift};
use incumbent_protocol::rounds::registers::Registers;
use incumbent_protocol::time::StoreTime;

use crate::clock::{At, HostClock, Skew, Span};

mod locks;
mod roster;
mod table;

pub(crate) use locks::{Key, Locks, Mode, Owner};
pub(crate) use roster::Reset;
use table::Table;

/// The wall clock of every database when its world begins, in microseconds since 1970.
const EPOCH: u64 = 1_700_000_000_000_000;

/// The rows of all elections.
#[derive(Debug)]
pub(crate) struct Database {
    rows: Vec<Option<Record>>,
    /// VARS and DESCRIPTORS, beside each row. Shared with what is kept for a rollback.
    registers: Vec<Rc<Registers>>,
    /// What operators have in force, beside each row.
    controls: Vec<Controls>,
    /// The presence rows of each election.
    presence: Vec<Vec<Peer>>,
    clock: HostClock,
    step: i64,
    /// What the clock showed at most before it was set back.
    ahead: StoreTime,
    /// When the database last took the place of another and noted it.
    replaced: Option<StoreTime>,
    /// Processes that are proved dead.
    proofs: BTreeSet<Incarnation>,
    /// What was there before, newest last, as far back as a rollback may go.
    undo: VecDeque<Old>,
    keep: Span,
    /// What fenced transactions have written.
    pub(crate) table: Table,
}

/// What a write replaced: a row, its registers and what is in force go back together.
#[derive(Debug)]
struct Old {
    at: At,
    election: usize,
    record: Option<Record>,
    registers: Rc<Registers>,
    controls: Controls,
}

impl Database {
    /// An empty database. It can go back by up to `keep`.
    pub(crate) fn new(elections: usize, skew: Skew, keep: Span) -> Self {
        Database {
            rows: vec![None; elections],
            registers: vec![Rc::default(); elections],
            clock: HostClock::new(0, 0, skew),
            step: 0,
            ahead: StoreTime::from_micros(0),
            controls: vec![Controls::default(); elections],
            presence: vec![Vec::new(); elections],
            replaced: None,
            proofs: BTreeSet::new(),
            undo: VecDeque::new(),
            keep,
            table: Table::default(),
        }
    }

    /// The wall clock.
    pub(crate) fn time(&self, at: At) -> StoreTime {
        let even = (EPOCH + self.clock.boot(at) / 1_000).cast_signed();
        StoreTime::from_micros(even.saturating_add(self.step / 1_000).max(1).unsigned_abs())
    }

    /// Someone sets the wall clock.
    pub(crate) fn step(&mut self, at: At, by: i64) {
        if by < 0 {
            self.ahead = self.ahead.max(self.time(at));
        }
        self.step = self.step.saturating_add(by);
    }

    /// Whether the clock shows a time that it has shown before.
    pub(crate) fn is_behind(&self, at: At) -> bool {
        self.time(at) <= self.ahead
    }

    /// A process is proved dead.
    pub(crate) fn prove(&mut self, incarnation: Incarnation) {
        self.proofs.insert(incarnation);
    }

    /// The row as it is.
    pub(crate) fn row(&self, election: usize) -> Option<&Record> {
        self.rows[election].as_ref()
    }

    /// What operators have in force.
    pub(crate) fn controls(&self, election: usize) -> &Controls {
        &self.controls[election]
    }

    /// Nothing is in force any more.
    pub(crate) fn lift_all(&mut self) {
        self.controls.fill(Controls::default());
    }

    /// What a transaction reads.
    pub(crate) fn snapshot(&self, at: At, election: usize) -> Snapshot {
        let record = self.rows[election].clone();
        let holder_died =
            record.as_ref().is_some_and(|record| self.proofs.contains(&record.holder.incarnation));
        let (now, replaced) = (self.time(at), self.replaced);
        let controls = self.controls[election].clone();
        Snapshot { record, now, holder_died, replaced, controls }
    }

    /// Writes a presence row.
    pub(crate) fn announce(&mut self, at: At, election: usize, row: &Peer) {
        let now = self.time(at);
        let rows = &mut self.presence[election];
        let known = rows.iter().position(|it| it.id.incarnation == row.id.incarnation);
        let started = known.map_or(now, |known| rows.swap_remove(known).started);
        rows.push(Peer { started, beaten_at: now, ..row.clone() });
        *rows = sift(core::mem::take(rows), now).kept;
    }

    /// The presence rows of an election.
    pub(crate) fn candidates(&self, election: usize) -> &[Peer] {
        &self.presence[election]
    }

    /// Writes a claim if the row is as it was when the claim was decided, or whatever the row is if
    /// not `guarded`.
    pub(crate) fn claim(&mut self, at: At, election: usize, claim: &Claim, guarded: bool) -> bool {
        let mark = self.rows[election].as_ref().and_then(Record::mark);
        if guarded && mark != claim.expected {
            return false;
        }
        let record = Record { beaten_at: self.time(at), ..claim.record() };
        self.remember(at, election);
        self.rows[election] = Some(record);
        true
    }

    /// Prolongs a term.
    pub(crate) fn renew(
        &mut self,
        at: At,
        election: usize,
        term: &Holding,
    ) -> Outcome<Done, Denied> {
        let snapshot = self.snapshot(at, election);
        if !term.may_renew(&snapshot) {
            return over(snapshot);
        }
        let now = self.time(at);
        self.change(at, election, |record| record.beaten_at = now);
        Outcome::Committed(Done::Renewed)
    }

    /// Ends a term.
    pub(crate) fn resign(
        &mut self,
        at: At,
        election: usize,
        term: &Resignation,
    ) -> Outcome<Done, Denied> {
        let snapshot = self.snapshot(at, election);
        if !term.holding.may_resign(&snapshot) {
            return over(snapshot);
        }
        self.change(at, election, |record| {
            record.successor = term.successor(record);
            record.state = State::Released;
        });
        Outcome::Committed(Done::Resigned)
    }

    /// Carries out an order.
    pub(crate) fn order(
        &mut self,
        at: At,
        election: usize,
        order: &Order,
        papers: &Papers,
    ) -> Result<Decree, OrderError> {
        let decree = order.decide(&self.snapshot(at, election), papers)?;
        self.remember(at, election);
        self.controls[election].clone_from(&decree.controls);
        if decree.ends {
            self.change(at, election, |record| {
                record.state = decree.state;
                record.successor.clone_from(&decree.successor);
            });
        }
        Ok(decree)
    }

    /// Every change of a row is a beat; but only a leader's own says anything of when it was last
    /// there, and whether the row was led since the store took the place of another.
    fn change(&mut self, at: At, election: usize, how: impl FnOnce(&mut Record)) {
        self.remember(at, election);
        if let Some(record) = &mut self.rows[election] {
            record.beat += 1;
            how(record);
        }
    }

    /// Before a row or its registers are written.
    fn remember(&mut self, at: At, election: usize) {
        if self.keep == 0 {
            return;
        }
        let (record, registers) =
            (self.rows[election].clone(), Rc::clone(&self.registers[election]));
        let controls = self.controls[election].clone();
        self.undo.push_back(Old { at, election, record, registers, controls });
        while self.undo.front().is_some_and(|old| old.at + self.keep < at) {
            self.undo.pop_front();
        }
    }

    /// The database turns out to be one that missed the writes of the last while; it may know that
    /// itself.
    pub(crate) fn roll_back(&mut self, at: At, by: Span, knows: bool) -> bool {
        let mut lost = false;
        while let Some(old) = self.undo.pop_back_if(|old| old.at + by > at) {
            self.rows[old.election] = old.record;
            self.registers[old.election] = old.registers;
            self.controls[old.election] = old.controls;
            lost = true;
        }
        self.table.roll_back(at, by);
        for rows in &mut self.presence {
            rows.clear();
        }
        if knows {
            self.note_replaced(at);
        }
        lost
    }

    /// The database is deleted and made anew.
    pub(crate) fn delete(&mut self, at: At) {
        self.rows.fill(None);
        self.registers.fill(Rc::default());
        self.controls.fill(Controls::default());
        self.presence.fill(Vec::new());
        self.undo.clear();
        self.table.clear();
        self.note_replaced(at);
    }

    /// Not before any beat that is there: the clock of the other database may have been ahead. Each
    /// replacement has a time of its own, as in the library, which draws some of its digits.
    fn note_replaced(&mut self, at: At) {
        let beats = self.rows.iter().flatten().map(|record| record.beaten_at);
        let last = beats.chain(self.replaced).max().map(|last| last.as_micros() + 1);
        let now = self.time(at).as_micros();
        self.replaced = Some(StoreTime::from_micros(last.unwrap_or_default().max(now)));
    }
}

fn over(snapshot: Snapshot) -> Outcome<Done, Denied> {
    Outcome::Refused(Denied { refusal: Refusal::Over, snapshot: Some(snapshot) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use incumbent_protocol::identity::{CandidateId, CandidateName};
    use incumbent_protocol::lease::request::Bid;
    use incumbent_protocol::rules::{Expiry, Rules};

    fn bid(bits: u128) -> Bid {
        let name = CandidateName::new("a").expect("name");
        let lease = Duration::from_secs(1);
        Bid {
            candidate: CandidateId::new(name, Incarnation::from_random(bits)),
            rules: Rules::new(lease, lease / 10, Expiry::Observed).expect("rules"),
            suspicion: None,
            newest: None,
            longest: lease,
        }
    }

    fn led(database: &mut Database, at: At) -> Holding {
        let claim = bid(1).decide(&database.snapshot(at, 0)).expect("vacant");
        assert!(database.claim(at, 0, &claim, true));
        Holding { candidate: claim.candidate, term: claim.term }
    }

    /// Writes a term whatever the row says.
    fn led_again(database: &mut Database, at: At) {
        let empty = Snapshot { record: None, replaced: None, ..database.snapshot(at, 0) };
        let claim = bid(3).decide(&empty).expect("vacant");
        assert!(database.claim(at, 0, &claim, true));
    }

    #[test]
    fn a_claim_that_was_decided_on_an_older_row_is_not_written() {
        let mut database = Database::new(1, 0, 0);
        let claim = bid(2).decide(&database.snapshot(5, 0)).expect("vacant");
        led(&mut database, 6);
        assert!(!database.claim(7, 0, &claim, true));
    }

    #[test]
    fn a_dead_holder_is_shown_as_dead_once_it_is_proved() {
        let mut database = Database::new(1, 0, 0);
        led(&mut database, 1);
        assert!(!database.snapshot(2, 0).holder_died);
        database.prove(Incarnation::from_random(1));
        assert!(database.snapshot(3, 0).holder_died);
    }

    #[test]
    fn a_rollback_takes_back_the_last_writes_and_nothing_else() {
        let mut database = Database::new(1, 0, 1_000);
        let term = led(&mut database, 10);
        for at in [20, 30, 40] {
            assert_eq!(database.renew(at, 0, &term), Outcome::Committed(Done::Renewed));
        }
        assert!(database.roll_back(45, 20, false));
        assert_eq!(database.row(0).map(|record| record.beat), Some(1));
        assert!(!database.roll_back(45, 1, false));
    }

    #[test]
    fn what_is_in_force_goes_back_with_the_row_and_is_deleted_with_it() {
        let mut database = Database::new(1, 0, 1_000);
        led(&mut database, 10);
        assert!(database.order(20, 0, &Order::Pause, &Papers::default()).is_ok());
        assert!(database.roll_back(25, 10, false));
        assert!(database.controls(0).is_empty() && database.row(0).is_some());
        assert!(database.order(30, 0, &Order::Pause, &Papers::default()).is_ok());
        database.delete(35);
        assert!(database.controls(0).is_empty());
    }

    #[test]
    fn a_deleted_database_says_that_it_was_replaced_until_it_is_written() {
        let mut database = Database::new(1, 0, 0);
        led(&mut database, 10);
        database.delete(11);
        let (lease, snapshot) = (Duration::from_secs(1), database.snapshot(11, 0));
        assert!(snapshot.went_back(None, lease) && snapshot.record.is_none());
        led_again(&mut database, 2_000);
        let snapshot = database.snapshot(2_000, 0);
        assert!(!snapshot.went_back(None, Duration::ZERO) && snapshot.replaced.is_some());
    }

    #[test]
    fn work_may_commit_while_its_term_is_held_or_ending_and_by_its_own_candidate() {
        let mut database = Database::new(1, 0, 0);
        let term = led(&mut database, 10);
        let other = Holding { candidate: bid(2).candidate, ..term.clone() };
        assert!(term.may_commit(&database.snapshot(11, 0)));
        assert!(!other.may_commit(&database.snapshot(11, 0)));
        assert!(database.order(12, 0, &Order::DEMOTE, &Papers::default()).is_ok());
        assert!(term.may_commit(&database.snapshot(13, 0)), "nobody else can lead yet");
        let empty = Snapshot { record: None, ..database.snapshot(14, 0) };
        let claim = bid(2).decide(&empty).expect("vacant");
        assert!(database.claim(14, 0, &claim, false));
        assert!(!term.may_commit(&database.snapshot(15, 0)));
    }

    #[test]
    fn a_released_term_can_be_neither_renewed_nor_resigned_again_and_no_work_commits_in_it() {
        let mut database = Database::new(1, 0, 0);
        let term = led(&mut database, 10);
        let end = Resignation { holding: term.clone(), heir: None };
        assert!(term.may_commit(&database.snapshot(10, 0)));
        assert_eq!(database.resign(11, 0, &end), Outcome::Committed(Done::Resigned));
        assert!(matches!(database.renew(12, 0, &term), Outcome::Refused(_)));
        assert!(matches!(database.resign(12, 0, &end), Outcome::Refused(_)));
        assert!(!term.may_commit(&database.snapshot(12, 0)));
    }
}
