//! Every server starts, answers, dies, comes back, and leaves nothing behind; every fault does what
//! it says.
//!
//! Assumes that `cargo xtask services` has passed, and root for the disks that can be full.
//! Promises to need no other server of this machine and to disturb none.

mod cleanup;
mod common;
mod disk;
mod galera;
mod mariadb;
mod options;
mod pgbouncer;
mod postgres;
mod proxy;
mod standby;
