//! The program on database servers: real processes, real servers.
//!
//! Assumes: the servers that `cargo xtask services` installs.
//! Promises: nothing is skipped; every history is judged; every process is gone at the end.

#[path = "../mask/mod.rs"]
mod mask;
#[expect(dead_code, reason = "the tests on one host use the rest")]
#[path = "../troupe/mod.rs"]
mod troupe;

mod bench;
mod look;
mod orders;
mod rounds;
mod run;
mod store;
