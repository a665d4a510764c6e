//! One test, or a few, for each thing that people who run elections elsewhere suffered from, named
//! after the number that it has in `docs/operations/demands.md`.
//!
//! Assumes: the servers of the testbed; a machine that may be slow.
//! Promises: every test is short and can fail. What other tests show at length is shown here once.
//!
//! There is no test for demand 14, several roles spread over the candidates: an election of this
//! library has one role, and whoever needs several holds several elections.

mod cost;
mod failover;
mod footing;
mod orders;
mod policy;
mod safety;
mod support;
mod upkeep;
mod visibility;
mod work;
