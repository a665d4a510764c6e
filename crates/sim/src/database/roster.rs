//! The registers of the `rounds` protocol in the simulated database: what a round sees, and how what
//! it decided is written.
//!
//! Assumes: as for the rest of the database: the world calls at the instant of a read or a commit.
//! Promises: the row of an election and its registers change together, in one step that a rollback
//! takes back as one; nothing is decided here.

use std::rc::Rc;

use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::lease::request::Claim;
use incumbent_protocol::lease::row::State;
use incumbent_protocol::rounds::pace::Pace;
use incumbent_protocol::rounds::register::{MemberId, Scene, Vars};
use incumbent_protocol::rounds::registers::Registers;
use incumbent_protocol::rounds::round::{Round, Write};

use super::Database;
use crate::clock::At;

/// How an operator's hand leaves VARS behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// There is none.
    Deleted,
    /// A new life of it, beside the roster of the old one.
    Fresh,
    /// A new life of it, and an empty roster.
    Emptied,
}

impl Database {
    /// VARS and DESCRIPTORS as they are.
    pub(crate) fn registers(&self, election: usize) -> &Registers {
        &self.registers[election]
    }

    /// What a round reads.
    pub(crate) fn scene(&self, at: At, election: usize, round: &Round) -> Scene {
        let died = |candidate: &CandidateId| self.proofs.contains(&candidate.incarnation);
        self.registers[election].scene(round, self.snapshot(at, election), died)
    }

    /// Writes what a round decided. Returns the claim among it, if there is one.
    pub(crate) fn write_round(
        &mut self,
        at: At,
        election: usize,
        candidate: &CandidateId,
        writes: &[Write],
    ) -> Option<Claim> {
        if writes.is_empty() {
            return None;
        }
        self.remember(at, election);
        let now = self.time(at);
        let registers = Rc::make_mut(&mut self.registers[election]);
        let row = &mut self.rows[election];
        let mut claimed = None;
        for write in writes {
            registers.write(candidate, write, now);
            match (write, &mut *row) {
                (Write::Claim(claim), _) => {
                    let mut record = claim.record();
                    record.beaten_at = now;
                    *row = Some(record);
                    claimed = Some(claim.clone());
                }
                (Write::Beat, Some(record)) => {
                    record.beat += 1;
                    record.beaten_at = now;
                }
                (Write::Patience(rules), Some(record)) => record.rules = *rules,
                (Write::Release { successor, .. }, Some(record)) => {
                    record.beat += 1;
                    record.state = State::Released;
                    record.successor.clone_from(successor);
                }
                _ => {}
            }
        }
        claimed
    }

    /// Somebody deletes VARS, or puts a new one in its place. False if there was none.
    pub(crate) fn reset_vars(&mut self, at: At, election: usize, how: Reset) -> bool {
        let Some(old) = self.registers[election].vars.clone() else {
            return false;
        };
        self.remember(at, election);
        let epoch = self.time(at);
        let registers = Rc::make_mut(&mut self.registers[election]);
        let (max_id, pace) = (MemberId::NONE, Pace::first(&old.pacing));
        let fresh = Vars { epoch, max_id, pacing: old.pacing, pace, evicted: false };
        registers.vars = (how != Reset::Deleted).then_some(fresh);
        if how == Reset::Emptied {
            registers.roster.clear();
        }
        true
    }

    /// Somebody deletes a row of the roster, counted from the lowest. False if there is none.
    pub(crate) fn remove_row(&mut self, at: At, election: usize, pick: usize) -> bool {
        let roster = &self.registers[election].roster;
        let Some(&id) = roster.keys().nth(pick % roster.len().max(1)) else {
            return false;
        };
        self.remember(at, election);
        Rc::make_mut(&mut self.registers[election]).roster.remove(&id);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::time::Duration;
    use incumbent_protocol::identity::{CandidateName, Incarnation};
    use incumbent_protocol::lease::request::{Bid, Done};
    use incumbent_protocol::outcome::Outcome;
    use incumbent_protocol::rounds::pace::Pacing;
    use incumbent_protocol::rounds::register::{Place, Profile, Window};
    use incumbent_protocol::rounds::round::{Act, Contend, End, Join};

    fn pacing() -> Pacing {
        Pacing::of_round(Duration::from_secs(1), 2).expect("pacing")
    }

    fn bid(bits: u128) -> Bid {
        let name = CandidateName::new("a").expect("name");
        let rules = pacing().rules_at(pacing().round_time());
        Bid {
            candidate: CandidateId::new(name, Incarnation::from_random(bits)),
            rules,
            suspicion: None,
            newest: None,
            longest: rules.lease(),
        }
    }

    fn rounded(database: &mut Database, at: At, bits: u128, act: Act) -> End {
        let candidate = bid(bits).candidate;
        let window = Window { after: MemberId::NONE, most: 4 };
        let round = Round { candidate, window, act };
        let (writes, answer) = round.decide(database.scene(at, 0, &round));
        database.write_round(at, 0, &round.candidate, &writes);
        match answer {
            Outcome::Committed(Done::Rounded(report)) => report.end,
            other => panic!("{other:?}"),
        }
    }

    fn joined(database: &mut Database, at: At, bits: u128) -> Place {
        let (profile, evicted) = (Profile::default(), None);
        let join = Join { profile, pacing: pacing(), evicted, bid: bid(bits) };
        match rounded(database, at, bits, Act::Join(join)) {
            End::Joined(place) => place,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_row_and_its_registers_go_back_together() {
        let mut database = Database::new(1, 0, 1_000);
        let place = joined(&mut database, 10, 1);
        let contend = Contend { place, bid: bid(1), pace: 0, ahead: Vec::new() };
        let end = rounded(&mut database, 20, 1, Act::Contend(contend));
        assert!(matches!(end, End::Claimed(..)));
        joined(&mut database, 30, 2);
        assert!(database.roll_back(35, 20, false));
        assert_eq!(database.row(0), None);
        assert_eq!(database.registers(0).roster.len(), 1);
        assert!(database.roll_back(35, 30, false));
        assert_eq!(*database.registers(0), Registers::default());
    }

    #[test]
    fn a_deleted_database_has_no_registers() {
        let mut database = Database::new(1, 0, 0);
        joined(&mut database, 10, 1);
        database.delete(11);
        assert_eq!(*database.registers(0), Registers::default());
    }

    #[test]
    fn a_dead_member_is_shown_as_dead_once_it_is_proved() {
        let mut database = Database::new(1, 0, 0);
        let place = joined(&mut database, 10, 1);
        database.prove(Incarnation::from_random(1));
        let window = Window { after: MemberId::NONE, most: 4 };
        let round = Round { candidate: bid(2).candidate, window, act: Act::Beat { place } };
        let scene = database.scene(12, 0, &round);
        assert!(scene.shown.len() == 1 && scene.shown[0].died);
    }

    #[test]
    fn whoever_resets_vars_ends_every_place_in_it() {
        for how in [Reset::Deleted, Reset::Fresh, Reset::Emptied] {
            let mut database = Database::new(1, 0, 0);
            assert!(!database.reset_vars(5, 0, how), "there is none yet");
            let place = joined(&mut database, 10, 1);
            assert!(database.reset_vars(2_000_000, 0, how));
            let end = rounded(&mut database, 2_000_001, 1, Act::Beat { place });
            assert_eq!(end, End::Evicted, "{how:?}");
        }
    }

    #[test]
    fn a_row_that_somebody_deletes_is_gone_and_no_other() {
        let mut database = Database::new(1, 0, 0);
        assert!(!database.remove_row(5, 0, 3));
        let (one, two) = (joined(&mut database, 10, 1), joined(&mut database, 11, 2));
        assert!(database.remove_row(12, 0, 2));
        assert_eq!(rounded(&mut database, 13, 1, Act::Beat { place: one }), End::Evicted);
        assert_eq!(rounded(&mut database, 13, 2, Act::Beat { place: two }), End::Beaten);
    }
}
