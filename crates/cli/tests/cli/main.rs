//! The program as a user meets it: every test starts the real binary.
//!
//! Assumes: a Unix system with `sh` and `bash`.
//! Promises: nothing of the user's own environment matters; every process that was started is gone
//! at the end.

mod audit;
mod bench;
mod completions;
mod controls;
mod demo;
mod doctor;
mod explain;
mod forget;
mod help;
mod look;
#[path = "../mask/mod.rs"]
mod mask;
mod members;
mod metrics;
mod orders;
#[cfg(feature = "otel")]
mod otel;
mod peers;
mod refused;
mod rounds;
mod settings;
mod support;
mod trouble;
mod watch;
