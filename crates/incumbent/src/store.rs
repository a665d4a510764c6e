//! The database that a backend is: one of several kinds, behind one face.
//!
//! Assumes: one call at a time; the driver owns it.
//! Promises: what is asked, decided and answered is the same for every kind.
//!
//! | file | what |
//! |---|---|
//! | [`arbiter`] | the seam: what each kind of database must do |
//! | [`round`] | one round of all elections |
//! | [`office`] | what operators and onlookers ask |
//! | [`holder`] | who holds an election up |
//! | [`roster`] | who takes part, for people |
//! | `trial` | tests of the roll and of orders on every kind |

pub(crate) mod arbiter;
pub(crate) mod holder;
pub(crate) mod office;
pub(crate) mod roster;
pub(crate) mod round;
#[cfg(all(test, feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod trial;

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, ElectionName};
use incumbent_protocol::lease::forget::Removal;
use incumbent_protocol::lease::order::Decree;
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::roll::Peer;
use incumbent_protocol::rules::Timing;

use self::arbiter::{Arbiter, Rolls, Snapshots};
use self::holder::LockHolder;
use self::office::{OrderRecord, Removing, TermRecord, Warrant};
use self::roster::Roster;
use self::round::{Answer, Ask};
use crate::bell::Bell;
use crate::error::Error;
use crate::lock::SharedLock;
#[cfg(feature = "mysql")]
use crate::mysql;
#[cfg(feature = "peers")]
use crate::peers;
#[cfg(feature = "postgres")]
use crate::postgres;
#[cfg(feature = "sqlite")]
use crate::sqlite;
use crate::url::Target;

/// One database, and what this process needs to use it.
#[derive(Debug)]
pub(crate) enum Store {
    #[cfg(feature = "sqlite")]
    Sqlite(sqlite::Store),
    #[cfg(feature = "postgres")]
    Postgres(postgres::Store),
    #[cfg(feature = "mysql")]
    Mysql(mysql::Store),
    #[cfg(feature = "peers")]
    Peers(peers::Store),
}

/// What a store is opened for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// To contend, and not only to look.
    pub(crate) contends: bool,
    /// The user vouches that all candidates write through one node of a cluster at a time.
    pub(crate) single_writer: bool,
}

/// Calls the same thing on whichever kind it is.
macro_rules! each {
    ($store:expr, $it:ident => $do:expr) => {
        match $store {
            #[cfg(feature = "sqlite")]
            Store::Sqlite($it) => $do,
            #[cfg(feature = "postgres")]
            Store::Postgres($it) => $do,
            #[cfg(feature = "mysql")]
            Store::Mysql($it) => $do,
            #[cfg(feature = "peers")]
            Store::Peers($it) => $do,
        }
    };
}

impl Store {
    /// Opens what a URL names; to contend in it, or only to look.
    pub(crate) async fn open(
        target: Target,
        me: CandidateId,
        timing: &Timing,
        manner: Manner,
    ) -> Result<Store, Error> {
        match target {
            #[cfg(feature = "sqlite")]
            Target::Sqlite(path) => {
                let timeout = timing.timeout();
                sqlite::Store::open(&path, me, timeout, manner.contends).await.map(Store::Sqlite)
            }
            #[cfg(feature = "postgres")]
            Target::Postgres(hosts) => {
                postgres::Store::open(hosts, me, timing, manner).await.map(Store::Postgres)
            }
            #[cfg(feature = "mysql")]
            Target::Mysql { hosts, single_writer } => {
                let single_writer = manner.single_writer || single_writer;
                let manner = Manner { single_writer, ..manner };
                mysql::Store::open(hosts, me, timing, manner).await.map(Store::Mysql)
            }
            #[cfg(feature = "peers")]
            Target::Peers(place) => {
                let store = peers::open(&place, me, timing, manner.contends).await?;
                Ok(Store::Peers(store))
            }
        }
    }

    /// How long a short question takes at best, and a short write where one is allowed and possible.
    pub(crate) async fn round_trip(&mut self) -> Result<(Duration, Option<Duration>), Error> {
        each!(self, store => store.round_trip().await)
    }

    /// What wakes this process when something changed. `round_trip` is what a question costs.
    pub(crate) fn bell(&mut self, round_trip: Duration, beat: Duration) -> Bell {
        each!(self, store => store.bell(round_trip, beat))
    }

    /// This process among its peers, where there are any.
    #[cfg(feature = "peers")]
    pub(crate) fn node(&self) -> Option<peers::Node> {
        match self {
            Store::Peers(store) => Some(store.node().clone()),
            #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
            _ => None,
        }
    }

    /// Whether those who are to keep it have not all met yet.
    #[cfg(feature = "peers")]
    pub(crate) fn waits(&self) -> bool {
        match self {
            Store::Peers(store) => store.waits(),
            #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
            _ => false,
        }
    }

    /// How the driver learns whether its candidates are to bid, where that is for peers to say.
    #[cfg(feature = "peers")]
    pub(crate) fn nominations(&mut self) -> Option<peers::Nominations> {
        match self {
            Store::Peers(store) => store.nominations(),
            #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
            _ => None,
        }
    }

    /// The lock of this process, for whoever must hold it as long as a leadership lives. Never taken
    /// where a database has no use for it.
    pub(crate) fn shared_lock(&self) -> SharedLock {
        match self {
            #[cfg(feature = "sqlite")]
            Store::Sqlite(store) => store.shared_lock(),
            #[cfg(any(feature = "postgres", feature = "mysql", feature = "peers"))]
            _ => SharedLock::default(),
        }
    }

    /// Does what these elections ask, writing to no more of them than `writes`.
    pub(crate) async fn round(
        &mut self,
        asks: &[Ask],
        writes: usize,
    ) -> (Vec<Option<Answer>>, Option<Error>) {
        each!(self, store => round::round(store, asks, writes).await)
    }

    /// Shows the named election, or all of them.
    pub(crate) async fn look(
        &mut self,
        election: Option<&ElectionName>,
    ) -> Result<Vec<(ElectionName, Snapshot)>, Error> {
        each!(self, store => office::look(store, election).await)
    }

    /// The newest terms of an election, newest first.
    pub(crate) async fn terms(
        &mut self,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<TermRecord>, Error> {
        each!(self, store => store.terms(election, most).await)
    }

    /// Carries out an order, if the protocol allows it.
    pub(crate) async fn carry_out(&mut self, warrant: &Warrant) -> Result<Decree, Error> {
        each!(self, store => office::carry_out(store, warrant).await)
    }

    /// Removes an election, if the protocol allows it.
    pub(crate) async fn forget(&mut self, removing: &Removing) -> Result<Removal, Error> {
        each!(self, store => office::forget(store, removing).await)
    }

    /// Everybody in line for an election.
    pub(crate) async fn roster(&mut self, election: &ElectionName) -> Result<Roster, Error> {
        let found = each!(self, store => store.roster(election).await)?;
        Ok(Roster::new(election.clone(), found))
    }

    /// Writes these lines into the roll, and reads everybody's of the named elections.
    pub(crate) async fn roll(
        &mut self,
        lines: &[(&ElectionName, &Peer)],
        elections: &[&ElectionName],
    ) -> Result<Rolls, Error> {
        each!(self, store => store.roll(lines, elections).await)
    }

    /// Reads the named elections, without a lock.
    pub(crate) async fn read(&mut self, names: &[&ElectionName]) -> Result<Snapshots, Error> {
        each!(self, store => store.read(Some(names)).await)
    }

    /// What operators ordered in an election, newest first.
    pub(crate) async fn orders(
        &mut self,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<OrderRecord>, Error> {
        each!(self, store => store.orders(election, most).await)
    }

    /// Everybody who has a lock at this moment that orders and claims wait for.
    pub(crate) async fn lock_holders(&mut self) -> Result<Vec<LockHolder>, Error> {
        each!(self, store => store.lock_holders().await)
    }

    /// Looks who votes, or changes it, where peers do.
    #[cfg(feature = "peers")]
    pub(crate) fn voters(
        &self,
        ballot: peers::Ballot,
    ) -> Result<impl Future<Output = Result<peers::Voters, Error>> + Send + 'static, Error> {
        match self {
            Store::Peers(store) => Ok(store.voters(ballot)),
            #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
            _ => {
                let problem = "a database has none: voters are for ring:// and bully://".to_owned();
                Err(Error::Setting { setting: "voter", problem })
            }
        }
    }

    /// Statements run so far.
    pub(crate) fn statements(&self) -> u64 {
        each!(self, store => store.statements())
    }

    /// Closes the connection in good order.
    pub(crate) async fn close(self) {
        each!(self, store => store.close().await);
    }
}
