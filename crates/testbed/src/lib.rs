//! Real servers for tests and benchmarks, each on a private port in a private folder.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use incumbent_testbed::{Postgres, Proxy};
//!
//! let server = Postgres::start().await?;
//! let database = server.fresh_database().await?;
//! let proxy = Proxy::start(server.address()).await?;
//! let url = proxy.url(&database.url);
//! // Connect to `url`, then break something:
//! proxy.drop_replies(true);
//! # Ok(()) }
//! ```
//!
//! Assumes Linux (`/proc`), a POSIX shell, GNU `find` and `tar`, and the servers' programs, which
//! `cargo xtask services` installs. As root, servers run as the users `postgres` and `mysql`;
//! otherwise as oneself.
//!
//! Promises:
//! - A server listens on 127.0.0.1 only, behind a password, on a port that was free.
//! - When its value is dropped, and when the process that started it ends in any way (Ctrl-C, panic,
//!   SIGKILL, or with the value in a `static`), the server is killed and its folder removed.
//! - A server that cannot start is an error with the tail of its log, never a silent skip.
//! - Servers made for tests survive the SIGKILL of their processes, not the loss of power: they do
//!   not wait for the disk, and PostgreSQL's data is in memory where there is plenty.
//!   `durable: true` in the options makes them wait, on a disk, as in production.
//!
//! The one thing that stays behind is a cache: an archive of an empty data folder per version of
//! each server, in the folder of temporary files, so that a start takes a second rather than ten.
//!
//! # Layout
//! - `postgres`, `cluster`, `standby`, `mariadb`, `galera`, `pgbouncer`: the servers
//! - `proxy`, `link`: faults of the network between a client and any of them
//! - `mesh`: faults of the network among peers
//! - `mysql`, `group`: MySQL, and a group of it, in the place of MariaDB
//! - `shared`: one server for all tests of a process
//! - `daemon`, `folder`, `guardian`, `disk`: a running server; its folder; who cleans up; a disk that
//!   can be full
//! - `patience`: waiting for what must come
//! - `program`, `port`, `template`, `user`, `usage`, `certificate`: what starting one takes

mod certificate;
mod cluster;
mod daemon;
mod database;
mod disk;
mod folder;
mod galera;
mod group;
mod guardian;
mod link;
mod mariadb;
mod mesh;
mod mysql;
mod patience;
mod pgbouncer;
mod port;
mod postgres;
mod program;
mod proxy;
mod shared;
mod standby;
mod template;
mod usage;
mod user;

pub use database::Database;
pub use galera::Galera;
pub use group::Group;
pub use mariadb::{MariaDb, MariaDbOptions};
pub use mesh::Mesh;
pub use patience::{PATIENCE, soon, until};
pub use pgbouncer::{PgBouncer, PoolMode};
pub use port::free as free_port;
pub use postgres::{Postgres, PostgresOptions};
pub use proxy::{Proxy, Way};
pub use shared::{shared_mariadb, shared_postgres};
pub use standby::Standby;
