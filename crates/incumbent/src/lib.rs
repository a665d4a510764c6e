//! Leader election on the infrastructure you already run.
//!
//! ```
//! # async fn example() -> Result<(), incumbent::Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let url = format!("sqlite://{}/elections.db", folder.path().display());
//! # async fn write_ledger(_token: u64) {}
//! use incumbent::Election;
//!
//! let election = Election::open(&url, "billing").await?;
//! election
//!     .run(async |leadership| {
//!         // At most one candidate is here at any time, and this future is dropped before the lease ends.
//!         // The token goes along to the ledger, which refuses a lower one than it has seen.
//!         write_ledger(leadership.token().get()).await;
//!     })
//!     .await?;
//! # Ok(()) }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```
//!
//! # What is promised
//!
//! - **By lease**: at most one candidate's [`Leadership`] is valid at any instant, while clocks run
//!   within the margin of each other (a tenth by default). No clock offset matters. A virtual machine
//!   that its host stops without a word is a clock that stands still: what it sends when it goes on
//!   is for the token to refuse.
//! - **By token**: whatever clocks, pauses or operators do, a resource that refuses tokens below
//!   the highest it has seen never accepts a deposed leader after its successor. Tokens strictly
//!   grow and are never used twice, as long as a store that lost terms does not also lose time.
//! - **By transaction**: work in a [`Fenced`] transaction of the database that holds the election
//!   commits only if the leadership that began it still stands; on a Galera cluster only if all
//!   candidates and writers use one node at a time. A database that was restored shows the leader of
//!   its past as if it still led, until a candidate has noticed.
//! - **Liveness**: after a crash another candidate leads within [`Timing::failover_bound`]; on one
//!   host, with SQLite, as soon as its system has let go of the lock of the dead process.
//!
//! Not promised: that somebody leads at every instant, or that work which blocks its thread or
//! ignores its leadership stops in time. That is what the token is for.
//!
//! # Databases
//!
//! The feature `sqlite` is on by default; `postgres` and `mysql` (also for MariaDB) are not. An
//! SQLite file and its tables are made on first use. In a database server the tables are made once,
//! with [`Schema::apply`] or `incumbent schema --apply`; until then opening fails with
//! [`Error::SchemaMissing`]. Pools of your own are those of sqlx 0.9, which is re-exported as
//! `incumbent::sqlx`, so that both sides mean the same types.
//!
//! # Protocols
//!
//! [`Protocol::Lease`] is the default: one row per election, and whoever first sees it free takes it.
//! [`Protocol::Rounds`] keeps a roster beside it: every candidate beats once a round, the lowest in
//! line leads, everybody can be listed, and the round time adapts to how many keep up. Promises,
//! tokens and fenced transactions are the same, but for how long a failover takes.
//!
//! ```
//! # async fn example() -> Result<(), incumbent::Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let url = format!("sqlite://{}/elections.db?protocol=rounds", folder.path().display());
//! use incumbent::{Backend, Config, Position};
//!
//! let config = Config::new().name("host-1").address("10.0.0.1:8080").label("zone", "north");
//! let backend = Backend::open_with(&url, &config).await?;
//! let election = backend.election("billing").await?;
//! let leadership = election.campaign().await?;
//! let roster = election.members().await?;
//! assert_eq!(roster.members[0].position, Position::Leader);
//! assert_eq!(roster.members[0].address.as_deref(), Some("10.0.0.1:8080"));
//! # leadership.resign().await?;
//! # Ok(()) }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```
//!
//! # Layout
//!
//! | module | noun |
//! |---|---|
//! | `backend` | [`Backend`]: the database and this process as a candidate |
//! | `election` | [`Election`]: campaign, run, observe, leader |
//! | `leadership` | [`Leadership`]: the value that proves leading |
//! | `observe` | [`Changes`]: the ordered stream of what happens |
//! | [`metrics`] | the numbers that operators watch |
//! | `pulse` | [`Pulse`]: does this process do what it takes to lead? |
//! | `config` | [`Config`]: who this process is and how fast its elections run |
//! | `contest` | [`Protocol`]: how an election is held |
//! | `error` | [`Error`]: what went wrong and what that does to one's standing |
//! | [`blocking`] | the same without async |
//! | `fenced` | [`Fenced`]: a transaction that commits only under its leadership |
//! | `fence` | [`Fence`]: for resources outside of the database |
//! | [`health`] | whether this process is well enough to lead, by function, command or URL |
//! | `schema` | [`Schema`]: the tables, shown, made, brought up to date |
//! | `doctor` | [`Doctor`]: can elections be held there, and what is promised? |
//! | `driver` | the task that drives all elections of a process |
//! | `store` | the seam between what is asked of a database and how each one does it |
//! | `sqlite` | the embedded default |
//! | `server` | what database servers have in common |
//! | `postgres`, `mysql` | what they do not |

#![cfg_attr(
    not(all(feature = "sqlite", feature = "postgres", feature = "mysql", feature = "peers")),
    allow(
        dead_code,
        unused_imports,
        unused_variables,
        clippy::unnecessary_wraps,
        clippy::unused_async,
        reason = "fewer backends use less of what they share"
    )
)]

#[cfg(not(any(feature = "sqlite", feature = "postgres", feature = "mysql", feature = "peers")))]
compile_error!("enable at least one of the features `sqlite`, `postgres`, `mysql` and `peers`");

mod backend;
mod bell;
pub mod blocking;
mod cell;
mod clock;
mod config;
mod contest;
mod doctor;
mod driver;
mod election;
mod error;
mod fence;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod fenced;
pub mod health;
mod history;
mod leadership;
mod lock;
pub mod metrics;
#[cfg(feature = "mysql")]
mod mysql;
mod observe;
#[cfg(feature = "peers")]
mod peers;
#[cfg(feature = "postgres")]
mod postgres;
mod pulse;
mod reporter;
mod schema;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod url;

/// The database driver whose pools and connections this library takes.
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub use sqlx;

pub use incumbent_protocol::candidacy::Rank;
pub use incumbent_protocol::controls::{Bar, Controls, Mandate, Transfer};
pub use incumbent_protocol::explain::{Advantage, Cause};
pub use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, NameError};
pub use incumbent_protocol::lease::forget::Removal;
pub use incumbent_protocol::lease::order::{Decree, Order, OrderError};
pub use incumbent_protocol::lease::request::Refusal;
pub use incumbent_protocol::lease::row::{Leader, Record, Sight, State};
pub use incumbent_protocol::policy::{Policy, Preempt, Preference, PreferenceError};
pub use incumbent_protocol::roll::{Peer, Presence};
pub use incumbent_protocol::rounds::pace::{Pace, Pacing};
pub use incumbent_protocol::rounds::register::MemberId;
pub use incumbent_protocol::rules::{Expiry, Rules, Timing, TimingError};
pub use incumbent_protocol::standing::{Reason, Standing};
pub use incumbent_protocol::succession::handover::Handover;
pub use incumbent_protocol::term::{Term, Token};
pub use incumbent_protocol::time::StoreTime;

pub use self::backend::{Backend, Status};
pub use self::clock::lease_clock_nanos;
#[cfg(feature = "peers")]
pub use self::config::Secret;
pub use self::config::{Config, DEFAULT_DRAIN, DEFAULT_LEASE, DEFAULT_ROUND_LIMIT};
pub use self::contest::Protocol;
pub use self::doctor::Doctor;
pub use self::doctor::checkup::{Bound, Checkup};
pub use self::doctor::finding::{Finding, Verdict};
pub use self::doctor::promise::{Given, Promise};
pub use self::doctor::trips::Trips;
pub use self::election::Election;
pub use self::error::{Effect, Error, Retry};
pub use self::fence::{Fence, FenceError};
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub use self::fenced::{Fenced, Fencing};
pub use self::leadership::Leadership;
pub use self::observe::{Change, Changes};
#[cfg(feature = "peers")]
pub use self::peers::{Reach, VoterStatus, Voters};
pub use self::pulse::Pulse;
pub use self::schema::{Applied, Schema};
pub use self::store::holder::LockHolder;
pub use self::store::office::{OrderRecord, TermRecord};
pub use self::store::roster::{Member, Position, Roster};
pub use self::url::redacted;
