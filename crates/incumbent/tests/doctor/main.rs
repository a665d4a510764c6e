//! The doctor against real servers: what is sound is called so, what is not is refused by name.
//!
//! Assumes: the servers that `cargo xtask services` installs.
//! Promises: nothing is skipped; a server that cannot start is a failure.

mod mariadb;
mod postgres;
mod running;
mod sqlite;
mod support;
