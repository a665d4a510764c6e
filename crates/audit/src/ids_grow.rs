//! An id of a roster is given once.
//!
//! Assumes: whoever runs the store marks when the registers of an election went back or began anew
//! (`Rewound`): ids of a new life may have been used in the one before. An answer from before such a
//! mark may be told after it, so that the first place that a candidate tells of behind a mark is not
//! judged.
//! Promises: within one life of VARS no id belongs to two candidates, nobody has again what
//! was taken from it, and the ids of each candidate grow. A candidate that lost sight of its place
//! and finds it again tells the same id twice, which is no second giving.

use std::collections::BTreeMap;

use incumbent_protocol::history::Event;
use incumbent_protocol::rounds::register::MemberId;

use super::grid::Grid;
use super::{Cast, Checker, Contest, Fact, Finding, Spot, Who};

/// Judges the ids of rosters.
#[derive(Debug, Default)]
pub struct IdsGrow {
    /// Who has or had each id, in the present life of each election's registers.
    owners: BTreeMap<(Contest, u64, MemberId), (Who, Spot)>,
    /// The last place of each candidate.
    places: Grid<Option<Last>>,
    /// How often the registers of each election began anew.
    lives: BTreeMap<Contest, u64>,
    finding: Finding,
}

/// The last place that a candidate told of.
#[derive(Clone, Copy, Debug)]
struct Last {
    /// In which life of the registers it was told: how often they had gone back, and which VARS this
    /// was.
    life: (u64, u64),
    id: MemberId,
    at: Spot,
    /// It was taken away.
    evicted: bool,
    /// It may belong to the life before.
    doubtful: bool,
}

impl IdsGrow {
    fn joined(&mut self, fact: &Fact<'_>, contest: Contest, vars: u64, id: MemberId) {
        self.finding.facts += 1;
        let marks = self.lives.get(&contest).copied().unwrap_or(0);
        let life = (marks, vars);
        let place = self.places.at(contest, fact.who);
        let before = place.filter(|before| before.life == life);
        let doubtful = marks > 0 && before.is_none();
        *place = Some(Last { life, id, at: fact.spot(), evicted: false, doubtful });
        if doubtful {
            return;
        }
        if let Some(before) = before.filter(|before| !before.doubtful) {
            let was = format!("after it had id {} at {}", before.id, before.at);
            if id < before.id {
                self.accuse(fact, contest, id, &format!("{was}, which is higher"), before.at);
            } else if id == before.id && before.evicted {
                let what = format!("{was} and was evicted from it");
                self.accuse(fact, contest, id, &what, before.at);
            }
        }
        let owner = *self.owners.entry((contest, vars, id)).or_insert((fact.who, fact.spot()));
        if owner.0 != fact.who {
            let other = fact.cast.candidate(owner.0);
            let what = format!("which {other} was given at {}", owner.1);
            self.accuse(fact, contest, id, &what, owner.1);
        }
    }

    fn accuse(
        &mut self,
        fact: &Fact<'_>,
        contest: Contest,
        id: MemberId,
        what: &str,
        before: Spot,
    ) {
        let (who, election) = (fact.cast.candidate(fact.who), fact.cast.election(contest));
        let story = format!("{who} has id {id} in {election} at {}, {what}", fact.at);
        self.finding.accuse(fact.at, story, &[before.line, fact.line]);
    }
}

impl Checker for IdsGrow {
    const NAME: &'static str = "ids_grow";

    fn line(&mut self, fact: &Fact<'_>) {
        match (fact.event, fact.contest) {
            (Event::Joined { id, life, .. }, Some(contest)) => {
                self.joined(fact, contest, *life, *id);
            }
            (Event::Evicted { id, .. }, Some(contest)) => {
                let place = self.places.at(contest, fact.who);
                if let Some(place) = place.as_mut().filter(|place| place.id == *id) {
                    place.evicted = true;
                }
            }
            (Event::Rewound { .. }, Some(contest)) => {
                *self.lives.entry(contest).or_default() += 1;
                self.owners.retain(|(its, ..), _| *its != contest);
            }
            _ => {}
        }
    }

    fn finish(self, _: &Cast) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::forge::*;
    use super::*;

    #[test]
    fn ids_that_grow_are_clean() {
        let lines = [
            joined(1, A, 1),
            joined(2, B, 2),
            evicted(5, A, 1),
            joined(6, A, 3),
            evicted(7, B, 2),
            joined(8, B, 5),
        ];
        assert_eq!(clean::<IdsGrow>(&lines), 4);
    }

    #[test]
    fn a_place_that_is_found_again_is_clean() {
        assert_eq!(clean::<IdsGrow>(&[joined(1, A, 1), joined(2, B, 2), joined(9, A, 1)]), 3);
    }

    #[test]
    fn an_id_of_two_candidates_is_told() {
        let lines = [joined(1, A, 7), joined(2, B, 7)];
        accused::<IdsGrow>(&lines, &["b#", "id 7 in ledger", "which a#", "given at 0.001s"]);
    }

    #[test]
    fn an_id_that_somebody_has_again_after_an_eviction_is_told() {
        let lines = [joined(1, A, 7), evicted(2, A, 7), joined(3, A, 7)];
        accused::<IdsGrow>(&lines, &["a#", "id 7 in ledger at 0.003s", "evicted from it"]);
    }

    #[test]
    fn an_id_below_one_that_the_candidate_had_is_told() {
        let lines = [joined(1, A, 7), evicted(2, A, 7), joined(3, A, 4)];
        accused::<IdsGrow>(&lines, &["id 4", "after it had id 7", "which is higher"]);
    }

    #[test]
    fn a_new_life_of_the_registers_may_give_the_same_ids() {
        let lines = [
            joined(1, A, 7),
            joined(2, B, 8),
            rewound(3),
            evicted(4, A, 7),
            joined(5, A, 1),
            joined(6, B, 7),
        ];
        assert_eq!(clean::<IdsGrow>(&lines), 4);
    }

    #[test]
    fn a_place_of_the_old_life_may_be_told_in_the_new_one() {
        let lines = [
            rewound(3),
            joined(4, A, 7),
            evicted(5, A, 7),
            joined(6, A, 2),
            joined(7, B, 1),
            evicted(8, B, 1),
            joined(9, B, 7),
        ];
        assert_eq!(clean::<IdsGrow>(&lines), 4);
    }

    #[test]
    fn a_new_life_does_not_excuse_what_happens_later_in_it() {
        let lines = [
            joined(1, A, 7),
            rewound(3),
            joined(4, A, 1),
            joined(5, B, 2),
            joined(6, A, 3),
            evicted(7, A, 3),
            joined(8, A, 3),
        ];
        accused::<IdsGrow>(&lines, &["id 3 in ledger", "evicted from it"]);
    }

    #[test]
    fn ids_of_another_life_of_vars_are_clean() {
        let anew = |millis, who, id| {
            let id = MemberId::new(id);
            line(millis, who, Event::Joined { election: election(), id, life: 2 })
        };
        let lines = [joined(1, A, 1), joined(2, B, 2), anew(5, B, 1), anew(6, A, 2)];
        assert_eq!(clean::<IdsGrow>(&lines), 4);
    }
}
