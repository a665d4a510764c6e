//! Elections on real SQLite files: several backends on one file act as several candidates, and
//! where a death must be real, other processes do.
//!
//! Assumes: a machine that may be slow. Promises: no test asks that something be fast; each waits
//! for what it wants, and only what must *not* happen too early is compared with a clock.

mod blocking;
mod campaign;
mod database_expiry;
mod death;
mod disaster;
mod explain;
mod fenced;
mod handover;
mod history;
mod input;
mod many;
mod observe;
mod orders;
mod pool;
mod run;
mod runtime;
mod seed;
mod support;
mod terms;
mod tokens;
mod trouble;
