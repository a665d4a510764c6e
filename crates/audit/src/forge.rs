//! Forged histories for the tests of the judges: a few words a line.

use std::fmt::Debug;

use incumbent_protocol::history::{Event, Line, VERSION};
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::rounds::register::MemberId;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::Time;

use super::report::Told;
use super::{Cast, Checker};

pub(super) const A: u8 = 0xa;
pub(super) const B: u8 = 0xb;
pub(super) const C: u8 = 0xc;
/// Who runs the run.
pub(super) const WORLD: u8 = 0xff;

/// What a judge says of these lines: its stories.
pub(super) fn stories<K: Checker + Default>(lines: &[Line]) -> Vec<String> {
    let (_, broken) = found::<K>(lines);
    broken.into_iter().map(|told| told.story).collect()
}

/// How many facts a judge looked at, after finding nothing wrong with them.
pub(super) fn clean<K: Checker + Default>(lines: &[Line]) -> u64 {
    let (facts, broken) = found::<K>(lines);
    assert_eq!(broken, [], "a clean history was accused");
    facts
}

/// Checks that a judge tells exactly one story, and that it holds all of these words.
pub(super) fn accused<K: Checker + Default>(lines: &[Line], words: &[&str]) {
    let stories = stories::<K>(lines);
    assert_eq!(stories.len(), 1, "{stories:#?}");
    for word in words {
        assert!(stories[0].contains(word), "{word:?} is not in {stories:#?}");
    }
}

fn found<K: Checker + Default>(lines: &[Line]) -> (u64, Vec<Told>) {
    let mut cast = Cast::default();
    let mut checker = K::default();
    for line in lines {
        checker.line(&cast.fact(line));
    }
    let finding = checker.finish(&cast);
    (finding.facts, finding.broken)
}

pub(super) fn id(who: u8) -> CandidateId {
    let name = CandidateName::new(format!("{who:x}"));
    CandidateId::new(must(name), Incarnation::from_random(u128::from(who) << 96))
}

pub(super) fn election() -> ElectionName {
    must(ElectionName::new("ledger"))
}

pub(super) fn term(number: u64) -> Term {
    Term::recorded(number).expect("terms begin at one")
}

pub(super) fn at(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

pub(super) fn line(millis: u64, who: u8, event: Event) -> Line {
    Line { at: at(millis), candidate: id(who), event }
}

pub(super) fn opened(millis: u64, who: u8, clock: &str) -> Line {
    let (version, clock, wall) = (VERSION, clock.to_owned(), 0);
    line(millis, who, Event::Opened { version, clock, wall })
}

pub(super) fn gained_by(millis: u64, who: u8, number: u64, until: u64, opening: Opening) -> Line {
    let (election, term, valid_until) = (election(), term(number), at(until));
    line(millis, who, Event::Gained { election, term, valid_until, opening })
}

pub(super) fn gained(millis: u64, who: u8, number: u64, until: u64) -> Line {
    gained_by(millis, who, number, until, Opening::Expired)
}

pub(super) fn renewed(millis: u64, who: u8, number: u64, until: u64) -> Line {
    let (election, term, valid_until) = (election(), term(number), at(until));
    line(millis, who, Event::Renewed { election, term, valid_until })
}

pub(super) fn unsure(millis: u64, who: u8, number: u64) -> Line {
    let (election, term) = (election(), term(number));
    line(millis, who, Event::Unsure { election, term })
}

pub(super) fn lost(millis: u64, who: u8, number: u64, reason: Reason) -> Line {
    let (election, term) = (election(), term(number));
    line(millis, who, Event::Lost { election, term, reason })
}

pub(super) fn work_began(millis: u64, who: u8, number: u64) -> Line {
    let (election, term) = (election(), term(number));
    line(millis, who, Event::WorkBegan { election, term })
}

pub(super) fn work_ended(millis: u64, who: u8, number: u64) -> Line {
    let (election, term) = (election(), term(number));
    line(millis, who, Event::WorkEnded { election, term })
}

pub(super) fn saw(millis: u64, who: u8, leader: Option<(u8, u64)>) -> Line {
    let term = leader.map(|(_, number)| term(number));
    let leader = leader.map(|(who, _)| id(who));
    line(millis, who, Event::Saw { election: election(), leader, term })
}

pub(super) fn healed(millis: u64, leader_due: u64, agreement_due: u64) -> Line {
    let event = Event::Healed {
        election: election(),
        leader_due: at(leader_due),
        agreement_due: at(agreement_due),
    };
    line(millis, WORLD, event)
}

pub(super) fn fault(millis: u64) -> Line {
    line(millis, WORLD, Event::Fault { what: "a cut".to_owned() })
}

pub(super) fn joined(millis: u64, who: u8, id: u64) -> Line {
    line(millis, who, Event::Joined { election: election(), id: MemberId::new(id), life: 1 })
}

pub(super) fn evicted(millis: u64, who: u8, id: u64) -> Line {
    line(millis, who, Event::Evicted { election: election(), id: MemberId::new(id) })
}

/// The registers of the election begin anew.
pub(super) fn rewound(millis: u64) -> Line {
    line(millis, WORLD, Event::Rewound { election: election(), newest: None, position: 0 })
}

fn must<T, E: Debug>(result: Result<T, E>) -> T {
    result.expect("a forged name is a good name")
}
