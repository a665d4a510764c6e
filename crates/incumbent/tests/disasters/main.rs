//! Disasters on real database servers: they are killed, frozen, filled up, replaced and cut off
//! while candidates contend and leaders write under a fence.
//!
//! Assumes: PostgreSQL, MariaDB with Galera, and PgBouncer, which `cargo xtask services` installs; a
//! machine that may be slow.
//! Promises: no story asks that something be fast. Each breaks something, makes sure that it was
//! broken, heals it, waits until somebody leads again, and then has everything judged that was
//! written down: by candidates, by writers, by the database.
//!
//! | file | what |
//! |---|---|
//! | `server` | what a story may do to either kind of server |
//! | `troupe`, `contender` | the candidates of a story, and what each of them does all the time |
//! | `log`, `judge` | what writers were told, and what has to be true in the end |
//! | all others | the stories |
//!
//! With `RUST_LOG=disasters=info` and `--nocapture` each story tells for how long nobody led.

mod commit;
mod conflict;
mod contender;
mod crash;
mod full;
mod galera;
mod group;
mod hosts;
mod judge;
mod log;
mod network;
mod orders;
mod restore;
mod rounds;
mod server;
mod standby;
mod support;
mod troupe;
