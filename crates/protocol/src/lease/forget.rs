//! Removing an election that nobody holds any more: the decision that the store runs inside its
//! transaction.
//!
//! Assumes: as for [`request`](super::request): decided and written in one atomic step. The list of
//! candidates was read shortly before.
//! Promises: an election is removed only if no lease of it can still run and nobody contends for it, and
//! only while the store's clock is past its last term. So the next election of that name may begin at
//! once, with a greater term. A refused removal changes nothing.

use core::time::Duration;

use super::order::OrderError;
use super::row::{Record, Snapshot};
use crate::identity::CandidateName;
use crate::observation::{Mark, Suspicion};
use crate::roll::Peer;
use crate::term::Term;

/// A request to remove an election, with the evidence that nobody holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Forget {
    /// The term that is meant, so that a later one is never removed.
    pub term: Option<Term>,
    /// The evidence that the election stood still.
    pub suspicion: Option<Suspicion>,
    /// Who takes part.
    pub roll: Vec<Peer>,
}

/// What the store must remove if the mark is still `expected`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Removal {
    /// The mark that the decision was based on.
    pub expected: Mark,
    /// The last term.
    pub term: Term,
    /// Who led in it.
    pub holder: CandidateName,
}

impl Forget {
    /// Whether the election may be removed.
    pub fn decide(&self, snapshot: &Snapshot) -> Result<Removal, OrderError> {
        let record = snapshot.record.as_ref().ok_or(OrderError::Unknown)?;
        if let Some(meant) = self.term.filter(|&meant| meant != record.term) {
            return Err(OrderError::OtherTerm { meant, found: record.term });
        }
        if let Some(leader) = snapshot.sight().leader() {
            return Err(OrderError::Led { leader: leader.clone() });
        }
        // A pause would be lifted by it, unnoticed.
        if snapshot.controls.paused.is_some() {
            return Err(OrderError::Paused);
        }
        let mut names: Vec<_> =
            self.roll.iter().filter(|peer| peer.is_present(snapshot.now)).collect();
        names.sort_by_key(|peer| &peer.id.name);
        names.dedup_by_key(|peer| &peer.id.name);
        if !names.is_empty() {
            let names = names.into_iter().map(|peer| peer.id.name.clone()).collect();
            return Err(OrderError::Contended { names });
        }
        // The clock is what the next term is greater than, once the row is gone.
        if record.term.get() >= snapshot.now.as_micros() {
            return Err(OrderError::ClockBehind { term: record.term });
        }
        let patience = patience(record);
        let stood = self.suspicion.as_ref().is_some_and(|it| it.covers(&snapshot.view(), patience));
        if !stood {
            return Err(OrderError::Unwatched { patience });
        }
        Ok(Removal {
            expected: record.mark(),
            term: record.term,
            holder: record.holder.name.clone(),
        })
    }
}

/// How long the election must stand still first, whatever its row says: a released row may be older than
/// a lease that still runs, if the store went back. Once more if the next term is reserved.
fn patience(record: &Record) -> Duration {
    let lease = record.rules.lease();
    if record.successor.is_some() { lease * 2 } else { lease }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controls::Controls;
    use crate::identity::{CandidateId, Incarnation};
    use crate::lease::request::Bid;
    use crate::lease::row::State;
    use crate::observation::Observation;
    use crate::roll::Presence;
    use crate::rounds::register::Profile;
    use crate::rules::{Expiry, Rules};
    use crate::term::Recorded;
    use crate::time::{HeardAt, StoreTime, Time};

    const LEASE: Duration = Duration::from_secs(3);

    fn at(seconds: u64) -> StoreTime {
        StoreTime::from_micros(seconds * 1_000_000)
    }

    fn term(number: u64) -> Term {
        Term::recorded(number).expect("a term")
    }

    fn id(name: &str) -> CandidateId {
        let name = CandidateName::new(name).expect("a name");
        CandidateId::new(name, Incarnation::from_random(7))
    }

    fn rules() -> Rules {
        Rules::new(LEASE, LEASE / 10, Expiry::Observed).expect("good rules")
    }

    /// An election whose last beat came at 100 s, seen at 200 s.
    fn snapshot(state: State) -> Snapshot {
        let record = Record {
            state,
            holder: id("ann"),
            term: term(90_000_000),
            beat: 4,
            rules: rules(),
            since: at(90),
            beaten_at: at(100),
            successor: None,
        };
        let (record, controls) = (Some(record), Controls::default());
        Snapshot { record, now: at(200), holder_died: false, replaced: None, controls }
    }

    fn line(name: &str, seconds: u64, presence: Presence) -> Peer {
        Peer {
            id: id(name),
            profile: Profile::default(),
            priority: 0,
            presence,
            why: None,
            prefers: String::new(),
            started: at(seconds),
            beaten_at: at(seconds),
            every: LEASE,
        }
    }

    /// A request after watching `snapshot` for `span`.
    fn watched(snapshot: &Snapshot, span: Duration) -> Forget {
        let seen = Observation::first(snapshot.view(), HeardAt::after_answer(Time::ZERO));
        Forget { suspicion: seen.suspect(Time::ZERO + span, span), ..Forget::default() }
    }

    fn refused(forget: &Forget, snapshot: &Snapshot) -> OrderError {
        forget.decide(snapshot).expect_err("refused")
    }

    #[test]
    fn an_election_that_stood_still_for_its_lease_is_removed_however_it_ended() {
        for state in [State::Released, State::Held, State::Ending] {
            for died in [false, true] {
                let snapshot = Snapshot { holder_died: died, ..snapshot(state) };
                let early = watched(&snapshot, LEASE.mul_f64(0.99));
                let wanted = OrderError::Unwatched { patience: LEASE };
                assert_eq!(refused(&early, &snapshot), wanted, "{state:?}");
                let removal = watched(&snapshot, LEASE).decide(&snapshot).expect("removed");
                assert_eq!(removal.expected, snapshot.mark());
                assert_eq!((removal.term, removal.holder.as_str()), (term(90_000_000), "ann"));
            }
        }
    }

    #[test]
    fn what_changed_since_it_was_watched_is_not_removed() {
        let before = snapshot(State::Released);
        let forget = watched(&before, LEASE * 10);
        let mut beaten = before.clone();
        if let Some(record) = &mut beaten.record {
            record.beat += 1;
        }
        let replaced = Snapshot { replaced: Some(at(150)), ..before };
        for now in [beaten, replaced] {
            assert_eq!(refused(&forget, &now), OrderError::Unwatched { patience: LEASE });
        }
    }

    #[test]
    fn a_led_election_is_not_removed_however_long_it_was_watched() {
        for state in [State::Held, State::Ending] {
            let led = Snapshot { now: at(102), ..snapshot(state) };
            let error = refused(&watched(&led, LEASE * 10), &led);
            assert!(matches!(error, OrderError::Led { .. }), "{error:?}");
        }
    }

    #[test]
    fn a_reservation_is_waited_for() {
        let mut reserved = snapshot(State::Released);
        if let Some(record) = &mut reserved.record {
            record.successor = Some(id("bob").name);
        }
        let error = refused(&watched(&reserved, LEASE), &reserved);
        assert_eq!(error, OrderError::Unwatched { patience: LEASE * 2 });
        assert!(watched(&reserved, LEASE * 2).decide(&reserved).is_ok());
    }

    #[test]
    fn whoever_is_there_is_named_and_whoever_left_or_is_gone_is_not() {
        let snapshot = snapshot(State::Released);
        let forget = |roll| Forget { roll, ..watched(&snapshot, LEASE) };
        let there = forget(vec![
            line("cat", 199, Presence::Unfit),
            line("bob", 199, Presence::Ready),
            line("cat", 198, Presence::Ready),
        ]);
        let names = ["bob", "cat"].map(|name| id(name).name).to_vec();
        assert_eq!(refused(&there, &snapshot), OrderError::Contended { names });
        let gone = vec![line("bob", 100, Presence::Ready), line("cat", 199, Presence::Left)];
        assert!(forget(gone).decide(&snapshot).is_ok());
    }

    #[test]
    fn a_pause_and_an_order_that_cannot_be_read_are_not_lifted_by_it() {
        for controls in [
            Controls { paused: Some(Box::default()), ..Controls::default() },
            Controls::unreadable("unknown field"),
        ] {
            let snapshot = Snapshot { controls, ..snapshot(State::Released) };
            assert_eq!(refused(&watched(&snapshot, LEASE), &snapshot), OrderError::Paused);
        }
    }

    #[test]
    fn the_term_that_is_meant_is_the_only_one_that_is_removed() {
        let snapshot = snapshot(State::Released);
        let forget = Forget { term: Some(term(7)), ..watched(&snapshot, LEASE) };
        assert!(matches!(refused(&forget, &snapshot), OrderError::OtherTerm { .. }));
        let nothing = Snapshot { record: None, ..snapshot };
        assert_eq!(refused(&forget, &nothing), OrderError::Unknown);
    }

    #[test]
    fn the_next_first_term_is_greater_than_the_one_that_was_removed() {
        let mut shown = snapshot(State::Released);
        for number in [90_000_000, 199_999_999, 200_000_000, 300_000_000] {
            if let Some(record) = &mut shown.record {
                record.term = term(number);
            }
            let bid = Bid {
                candidate: id("bob"),
                rules: rules(),
                suspicion: None,
                newest: None,
                longest: LEASE,
            };
            match watched(&shown, LEASE).decide(&shown) {
                Ok(removal) => {
                    let empty = Snapshot { record: None, ..shown.clone() };
                    let claim = bid.decide(&empty).expect("a first election");
                    assert!(claim.term > removal.term, "{} after {number}", claim.term);
                }
                Err(error) => assert_eq!(error, OrderError::ClockBehind { term: term(number) }),
            }
        }
    }
}
