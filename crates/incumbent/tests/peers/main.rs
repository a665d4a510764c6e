//! Elections among peers, through the public face, over real sockets on this machine.
//!
//! Assumes: ports of 127.0.0.1, and a folder for temporary files.
//! Promises: no test asks that something be fast: each waits for what it wants. Only what must *not*
//! happen too early is compared with a clock. The scenarios that peers share with databases are in
//! `tests/conformance`.

mod cost;
mod cut;
mod failover;
mod file;
mod lines;
mod look;
mod majority;
mod noise;
mod numbers;
mod orders;
mod pick;
mod support;
mod trust;
mod url;
mod voters;
