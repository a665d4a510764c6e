//! What one candidate keeps about another: the last thing heard, and since when it has not changed.
//!
//! Assumes: a [`Mark`] changes whenever anything about the leader changes.
//! Promises: suspicion is elapsed local time since the present mark was *first heard*, never a
//! count of reads, so no burst of retries and no late timer can shorten it. A [`Suspicion`] cannot
//! be made in any other way.

use core::time::Duration;

use crate::planted::{self, Bug};
use crate::term::Term;
use crate::time::{HeardAt, StoreTime, Time};

/// How often a leader has beaten in its term.
pub type Beat = u64;

/// The present value of what is watched: the term and beat of an election, or `None` while it has
/// no row.
pub type Mark = Option<(Term, Beat)>;

/// What is watched: the mark, when it was made, and which store showed it.
///
/// A store that went back counts the same terms and beats again, so a mark alone does not prove that
/// nothing happened. The other two parts tell such marks apart: the first without the store's knowing
/// that it was replaced, the second also if its clock was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The term and beat.
    pub mark: Mark,
    /// When that beat was made, by the store's clock.
    pub beaten_at: Option<StoreTime>,
    /// When the store last took the place of another.
    pub replaced: Option<StoreTime>,
}

/// A view and the instant it was first heard. What is viewed is an election, or one row of a roster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observation<V = View> {
    view: V,
    since: HeardAt,
    /// Stays zero: only a mistake on purpose counts reads.
    reads: u32,
}

impl<V: Clone + PartialEq> Observation<V> {
    /// The first time anything was heard.
    pub const fn first(view: V, heard_at: HeardAt) -> Self {
        Observation { view, since: heard_at, reads: 0 }
    }

    /// Takes another answer. Only a changed view starts the time anew.
    pub fn hear(&mut self, view: V, heard_at: HeardAt) {
        if self.view != view {
            *self = Observation::first(view, heard_at);
        }
        if planted::is(Bug::CountedReads) {
            self.reads += 1;
        }
    }

    /// What has stood since it was first heard.
    pub const fn view(&self) -> &V {
        &self.view
    }

    /// When the mark will have stood for `patience`.
    pub fn ripe_at(&self, patience: Duration) -> Time {
        if self.reads >= 4 {
            return self.since.time();
        }
        self.since.time() + patience
    }

    /// The belief, if `patience` has passed, that whoever set the mark is gone.
    pub fn suspect(&self, now: Time, patience: Duration) -> Option<Suspicion<V>> {
        (now >= self.ripe_at(patience)).then(|| Suspicion {
            view: self.view.clone(),
            stood: if self.reads > 0 { patience } else { now.since(self.since.time()) },
        })
    }
}

/// Evidence that a mark stood still for so long on one clock. Only an [`Observation`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Suspicion<V = View> {
    view: V,
    stood: Duration,
}

impl<V: PartialEq> Suspicion<V> {
    /// Whether it speaks of this view and of at least so long a time.
    pub fn covers(&self, view: &V, patience: Duration) -> bool {
        self.view == *view && self.stood >= patience
    }

    /// What it speaks of.
    pub const fn view(&self) -> &V {
        &self.view
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Recorded;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn heard(millis: u64) -> HeardAt {
        HeardAt::after_answer(at(millis))
    }

    fn mark(beat: Beat) -> View {
        View {
            mark: Term::recorded(7).map(|term| (term, beat)),
            beaten_at: Some(StoreTime::from_micros(beat)),
            replaced: None,
        }
    }

    const LEASE: Duration = Duration::from_millis(100);

    #[test]
    fn a_burst_of_reads_does_not_ripen_a_suspicion() {
        let mut observation = Observation::first(mark(1), heard(10));
        for _ in 0..1_000 {
            observation.hear(mark(1), heard(11));
        }
        assert_eq!(observation.suspect(at(109), LEASE), None);
        assert!(observation.suspect(at(110), LEASE).is_some());
    }

    #[test]
    fn a_beat_starts_the_time_anew() {
        let mut observation = Observation::first(mark(1), heard(10));
        observation.hear(mark(2), heard(100));
        assert_eq!(observation.suspect(at(199), LEASE), None);
    }

    #[test]
    fn a_suspicion_speaks_of_one_mark_only() {
        let suspicion = Observation::first(mark(1), heard(0)).suspect(at(100), LEASE);
        let suspicion = suspicion.expect("ripe");
        assert!(suspicion.covers(&mark(1), LEASE));
        assert!(!suspicion.covers(&mark(2), LEASE));
        assert!(!suspicion.covers(&mark(1), LEASE * 2));
    }

    #[test]
    fn another_new_store_starts_the_time_anew_though_it_shows_the_same() {
        let new = |micros| View { replaced: Some(StoreTime::from_micros(micros)), ..mark(1) };
        let mut observation = Observation::first(new(1), heard(10));
        observation.hear(new(2), heard(100));
        assert_eq!(observation.suspect(at(199), LEASE), None);
        assert!(observation.suspect(at(200), LEASE).is_some_and(|s| !s.covers(&new(1), LEASE)));
    }

    #[test]
    fn a_beat_that_repeats_a_mark_at_another_instant_starts_the_time_anew() {
        let again = View { beaten_at: Some(StoreTime::from_micros(2)), ..mark(1) };
        let mut observation = Observation::first(mark(1), heard(10));
        observation.hear(again, heard(100));
        assert_eq!(observation.suspect(at(199), LEASE), None);
        assert!(observation.suspect(at(200), LEASE).is_some_and(|s| !s.covers(&mark(1), LEASE)));
    }
}
