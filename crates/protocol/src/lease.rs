//! The `lease` protocol: one row per election, beaten by whoever leads.
//!
//! Assumes: a store that runs each request below as one atomic step, and clocks that run within the
//! margin of each other (`lease / (lease - margin)`). Nothing is assumed about clock offsets,
//! delays, pauses or lost answers.
//! Promises: at most one candidate's [`Lease`] is valid at any instant; terms strictly grow under
//! anything.
//!
//! Why at most one: a leader's lease ends `lease - margin` after it *asked*; a challenger claims
//! only after it has *heard* the same mark for a full `lease`. It heard of the last renewal after
//! that was asked for, so on a common clock the claim comes at least `margin` after the leader
//! stopped, less what the two clocks' rates differ.
//!
//! | file | what |
//! |---|---|
//! | [`row`] | what a store keeps about an election, and what it answers |
//! | [`request`] | what a candidate asks of a store, each with the pure decision that the store runs |
//! | [`order`] | what an operator asks of a store |
//! | [`forget`] | removing an election that nobody holds any more |

pub mod forget;
pub mod order;
pub mod page;
pub mod request;
pub mod row;

use core::time::Duration;

use crate::rules::Rules;
use crate::time::{AskedAt, Time};

/// The span in which nobody else may lead, as its holder may use it: already cut by the margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    valid_until: Time,
}

impl Lease {
    /// The lease that a committed request earns. It counts from before the request was sent.
    pub fn granted(asked_at: AskedAt, rules: &Rules) -> Self {
        Lease { valid_until: asked_at.time() + rules.span() }
    }

    /// The instant at which it ends.
    pub const fn valid_until(&self) -> Time {
        self.valid_until
    }

    /// Whether it still holds.
    pub fn is_valid(&self, now: Time) -> bool {
        now < self.valid_until
    }

    /// What is left of it.
    pub fn remaining(&self, now: Time) -> Duration {
        self.valid_until.since(now)
    }

    /// The longer of two leases: answers may arrive in any order.
    #[must_use]
    pub fn or_later(self, other: Lease) -> Lease {
        Lease { valid_until: self.valid_until.max(other.valid_until) }
    }
}
