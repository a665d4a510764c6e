//! The number of a leadership, and the same number as a resource sees it.
//!
//! Assumes: nothing.
//! Promises: a term comes into being in one place only, `Term::succeeding`, which always goes up:
//! past the term before it, past the newest that the candidate ever saw, and past the store's clock
//! in microseconds, so that terms keep growing even when a store was deleted or restored to an
//! older state.

use core::fmt;
use core::num::NonZeroU64;

use serde::Serialize;

use crate::planted::{self, Bug};
use crate::time::StoreTime;

/// The number of a leadership. Strictly grows per election and is never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Term(NonZeroU64);

impl Term {
    /// The next term: above `previous`, above `newest`, and not below the store's clock.
    pub(crate) fn succeeding(
        previous: Option<Term>,
        newest: Option<Term>,
        clock: StoreTime,
    ) -> Term {
        if planted::is(Bug::LocalTerms) {
            let own = newest.map_or(0, Term::get).saturating_add(1);
            return Term(NonZeroU64::new(own).unwrap_or(NonZeroU64::MIN));
        }
        let known = previous.max(newest).map_or(0, Term::get);
        let next = known.saturating_add(1).max(clock.as_micros());
        Term(NonZeroU64::new(next).unwrap_or(NonZeroU64::MIN))
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The term as shown to a resource.
    pub const fn token(self) -> Token {
        Token(self)
    }
}

/// The term as shown to a resource. A resource that remembers the highest token it has accepted,
/// and refuses every lower one, never accepts a deposed leader after its successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Token(Term);

impl Token {
    /// The number to send along with each request to the resource.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

/// For backends only: reads back a number that `Term::succeeding` issued and a store kept.
///
/// A trait rather than a method, and not part of the `incumbent` library, so that no user of a
/// [`Term`] can make one up by accident.
pub trait Recorded: Sized {
    /// The value that was stored as `raw`; `None` if no protocol could have written it.
    fn recorded(raw: u64) -> Option<Self>;
}

impl Recorded for Term {
    fn recorded(raw: u64) -> Option<Self> {
        NonZeroU64::new(raw).map(Term)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(raw: u64) -> Option<Term> {
        Term::recorded(raw)
    }

    #[test]
    fn a_term_exceeds_its_predecessor_even_when_the_clock_fell_back() {
        let next = Term::succeeding(term(9_000), None, StoreTime::from_micros(5));
        assert_eq!(next.get(), 9_001);
    }

    #[test]
    fn a_term_exceeds_whatever_was_seen_before_a_store_was_rolled_back() {
        let next = Term::succeeding(term(3), term(7), StoreTime::from_micros(5));
        assert_eq!(next.get(), 8);
    }

    #[test]
    fn a_fresh_store_starts_at_its_clock_and_not_at_one() {
        let next = Term::succeeding(None, None, StoreTime::from_micros(1_000_000));
        assert_eq!(next.get(), 1_000_000);
    }

    #[test]
    fn zero_was_never_issued() {
        assert_eq!(Term::recorded(0), None);
    }
}
