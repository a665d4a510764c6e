//! Elections in a database server that many hosts share.
//!
//! Assumes: whatever [`Dialect::fit`] has checked. The server's wall clock is the store's clock.
//! Promises: one connection for all elections of a process; statements that fit any pooler that
//! keeps a transaction together; a server that took the place of another is noticed, and then
//! nobody leads on what it may have forgotten.
//!
//! | file | what |
//! |---|---|
//! | [`dialect`] | what differs between servers |
//! | [`fit`] | why one is no ground for elections |
//! | [`hosts`] | which of several servers to use |
//! | [`backoff`] | when to try again to connect |
//! | [`replacements`] | what to say of servers that take each other's place |
//! | [`schema`] | the tables |
//! | [`row`] | reading rows into `Snapshot`s |
//! | [`mod@write`] | writing what a decision says |
//! | [`holders`] | who keeps a lock |
//! | [`round`] | what is done for a round and for operators |
//! | [`register`] | reading and writing the registers of a roster |
//! | [`beat`] | the rounds of followers and leaders, as one message |
//! | [`roll`] | who takes part, and what operators ordered |
//! | [`rounds`] | rounds of elections with a roster |
//! | `mirror` | tests that hold that message against the decision |

mod backoff;
mod beat;
pub(crate) mod dialect;
pub(crate) mod fit;
pub(crate) mod holders;
pub(crate) mod hosts;
#[cfg(all(test, feature = "postgres", feature = "mysql"))]
mod mirror;
mod register;
mod replacements;
mod roll;
mod round;
mod rounds;
mod row;
pub(crate) mod schema;
mod write;

use std::fmt;
use std::time::Duration;

use incumbent_protocol::identity::CandidateId;
use incumbent_protocol::rules::Timing;
use sqlx::pool::PoolConnection;
use sqlx::{Connection, Database, Pool};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use self::backoff::Backoff;
use self::dialect::{Dialect, Limits, Reply};
use self::hosts::Hosts;
use self::replacements::{Replacements, Telling};
use crate::bell::{self, Bell};
use crate::clock;
use crate::error::Error;
use crate::store::Manner;

/// How long opening may take.
const OPEN_PATIENCE: Duration = Duration::from_secs(10);

/// How long an attempt to connect goes on at least, once the database is open. A round does not wait
/// for it longer than for anything else; it goes on beside the rounds.
const CONNECT_PATIENCE: Duration = Duration::from_secs(1);

/// What a standby says instead of its lineage.
pub(crate) const STANDBY: &str = "standby";

/// One database and the one connection that all elections of this process share.
pub(crate) struct Store<D: Dialect> {
    source: Source<D>,
    idle: Option<Held<D>>,
    /// A connection in the making, which outlives a round that could not wait for it.
    coming: Option<Coming<D>>,
    /// How long an attempt to connect goes on.
    patience: Duration,
    backoff: Backoff,
    replacements: Replacements,
    place: String,
    limits: Limits,
    me: CandidateId,
    manner: Manner,
    /// Statements run for rounds, for figures.
    statements: u64,
}

enum Source<D: Dialect> {
    Own(Hosts<D>),
    Pool(Pool<D::Db>),
}

type Coming<D> = JoinHandle<Result<(Held<D>, Limits), Error>>;

/// A connection. One from a pool is never given back: it is closed, so that nothing of ours is left
/// in it.
pub(crate) enum Held<D: Dialect> {
    Own(<D::Db as Database>::Connection),
    Pool(PoolConnection<D::Db>),
}

impl<D: Dialect> Held<D> {
    fn get(&mut self) -> &mut <D::Db as Database>::Connection {
        match self {
            Held::Own(connection) => connection,
            Held::Pool(connection) => connection,
        }
    }
}

impl<D: Dialect> Store<D> {
    /// Opens a database by URL.
    pub(crate) async fn open(
        hosts: Hosts<D>,
        me: CandidateId,
        timing: &Timing,
        manner: Manner,
    ) -> Result<Self, Error> {
        let place = hosts.place();
        Store::start(Source::Own(hosts), place, me, timing, manner).await
    }

    /// Uses the user's own pool.
    pub(crate) async fn with_pool(
        pool: Pool<D::Db>,
        me: CandidateId,
        timing: &Timing,
        manner: Manner,
    ) -> Result<Self, Error> {
        let place = D::place(&pool.connect_options());
        if pool.options().get_max_connections() < 2 {
            let problem = "the pool has room for one connection only, which elections keep for themselves: your own \
                statements would wait for ever; give it at least 2";
            return Err(Error::Open { place, problem: problem.to_owned() });
        }
        Store::start(Source::Pool(pool), place, me, timing, manner).await
    }

    async fn start(
        source: Source<D>,
        place: String,
        me: CandidateId,
        timing: &Timing,
        manner: Manner,
    ) -> Result<Self, Error> {
        // Nobody leads yet who could be late.
        let limits = Limits::generous();
        let (idle, coming, patience, statements) = (None, None, OPEN_PATIENCE, 0);
        let backoff = Backoff::new(timing.beat());
        let mut store = Store {
            source,
            idle,
            coming,
            patience,
            backoff,
            replacements: Replacements::default(),
            place,
            limits,
            me,
            manner,
            statements,
        };
        let ready = async {
            let mut held = store.connect().await?;
            store.check(&mut held).await?;
            store.limits = Limits { each: store.limits.each, ..Limits::of(timing) };
            D::adopt(held.get(), store.limits).await.map_err(D::trouble)?;
            store.keep(held);
            Ok(())
        };
        let ready = timeout(OPEN_PATIENCE, ready).await;
        let ready: Result<(), Error> = ready.unwrap_or(Err(Error::Timeout(OPEN_PATIENCE)));
        match ready {
            Ok(()) => {
                store.patience = CONNECT_PATIENCE.max(timing.timeout() * 2);
                Ok(store)
            }
            Err(error) => Err(store.at_open(error)),
        }
    }

    /// Whether the database can be used at all.
    async fn check(&self, held: &mut Held<D>) -> Result<(), Error> {
        let known = schema::known::<D>();
        match schema::version::<D>(held.get()).await? {
            None => return Err(Error::SchemaMissing { place: self.place.clone() }),
            Some(found) if found > known => return Err(Error::SchemaNewer { found, known }),
            Some(found) if found < known => {
                return Err(Error::SchemaOlder { place: self.place.clone(), found, known });
            }
            Some(_) => {}
        }
        D::fit(held.get(), self.manner).await
    }

    /// What goes wrong while opening is for a person to change.
    fn at_open(&self, error: Error) -> Error {
        match error {
            Error::Store(problem) | Error::ReadOnly(problem) | Error::Conflict(problem) => {
                Error::Open { place: self.place.clone(), problem }
            }
            Error::Timeout(after) => {
                let problem = format!(
                    "it did not answer within {after:?}: check that it runs, and the host and the port of the URL"
                );
                Error::Open { place: self.place.clone(), problem }
            }
            other => self.named(other),
        }
    }

    /// How long a short question takes at best, and a short write where one is allowed.
    pub(crate) async fn round_trip(&mut self) -> Result<(Duration, Option<Duration>), Error> {
        let measured = timeout(OPEN_PATIENCE, self.measure()).await;
        measured.unwrap_or(Err(Error::Timeout(OPEN_PATIENCE))).map_err(|error| self.at_open(error))
    }

    async fn measure(&mut self) -> Result<(Duration, Option<Duration>), Error> {
        let asked = self.best_of_three("SELECT 1").await?;
        let written = if self.manner.contends {
            let now = D::NOW;
            let probe =
                format!("UPDATE incumbent_meta SET value = CONCAT({now}, '') WHERE item = 'probe'");
            // A server that is busy or full now may be neither later: that is not for the start to
            // judge.
            self.best_of_three(&probe).await.ok()
        } else {
            None
        };
        Ok((asked, written))
    }

    async fn best_of_three(&mut self, sql: &str) -> Result<Duration, Error> {
        let mut best = Duration::MAX;
        for _ in 0..3 {
            let start = clock::now();
            self.ask(0, sql.to_owned()).await?;
            best = best.min(clock::now().since(start));
        }
        Ok(best)
    }

    /// What wakes this process when something changed.
    pub(crate) fn bell(&self, round_trip: Duration, beat: Duration) -> Bell {
        let poll = bell::polls(round_trip, beat);
        match &self.source {
            Source::Own(hosts) => D::bell(hosts, poll),
            Source::Pool(pool) => {
                D::bell(&Hosts::new(vec![(*pool.connect_options()).clone()]), poll)
            }
        }
    }

    /// Statements run so far.
    pub(crate) const fn statements(&self) -> u64 {
        self.statements
    }

    /// Sends one message, outside of any transaction.
    async fn ask(&mut self, statements: u64, sql: String) -> Result<Vec<Reply>, Error> {
        let mut held = self.connect().await?;
        self.statements += statements;
        let replies = D::send(held.get(), sql).await;
        if replies.as_ref().map_or_else(|error| error.as_database_error().is_some(), |_| true) {
            self.keep(held);
        }
        replies.map_err(|error| self.failed(D::trouble(error)))
    }

    async fn connect(&mut self) -> Result<Held<D>, Error> {
        if let Some(held) = self.idle.take() {
            return Ok(held);
        }
        if self.coming.is_none() {
            self.backoff.check(clock::now())?;
        }
        let coming = self.coming.get_or_insert_with(|| {
            let (limits, patience) = (self.limits, self.patience);
            match &self.source {
                Source::Own(hosts) => {
                    let (hosts, looks) = (hosts.clone(), !self.manner.contends);
                    tokio::spawn(async move {
                        let (connection, limits) = hosts.connect(limits, patience, looks).await?;
                        Ok((Held::Own(connection), limits))
                    })
                }
                Source::Pool(pool) => {
                    let pool = pool.clone();
                    let adopted = async move {
                        let mut connection = pool.acquire().await?;
                        connection.close_on_drop();
                        D::adopt(&mut connection, limits).await?;
                        Ok((Held::Pool(connection), limits))
                    };
                    tokio::spawn(async move {
                        let adopted = timeout(patience, adopted).await;
                        adopted.map_err(|_| late(patience)).flatten().map_err(D::trouble)
                    })
                }
            }
        });
        let came = coming.await;
        self.coming = None;
        let came = came.map_err(|error| Error::Store(error.to_string()))?;
        match came {
            Ok((held, limits)) => {
                self.backoff.worked();
                self.limits = limits;
                Ok(held)
            }
            Err(error) => {
                self.backoff.failed(clock::now(), &error);
                Err(self.named(error))
            }
        }
    }

    fn keep(&mut self, held: Held<D>) {
        self.idle = Some(held);
    }

    /// Whether what was read comes from another server, or another life of it, than what the
    /// database remembers.
    fn is_replaced(&self, found: &row::Found) -> Result<bool, Error> {
        if found.lineage == STANDBY && self.manner.contends {
            let problem = "it is a read-only standby: nobody can be elected on it";
            return Err(Error::ReadOnly(problem.to_owned()));
        }
        Ok(self.manner.contends && found.known != found.lineage)
    }

    /// Remembers which server this is and since when, so that every candidate waits a full lease
    /// before it acts on what this server may have forgotten. It is asked what is asked at the start: a
    /// server that took the place of a good one need not be one.
    async fn note_replaced(&mut self) -> Result<(), Error> {
        let mut held = self.connect().await?;
        D::fit(held.get(), self.manner).await.map_err(|error| self.named(error))?;
        self.keep(held);
        let place = &self.place;
        match self.replacements.count(clock::now()) {
            Telling::Replaced => {
                tracing::warn!(%place, "another server, or another life of it, took the place of the one before");
            }
            Telling::InTurns => tracing::warn!(
                %place,
                "several servers are written to, and take each other's place in turns: nobody can be elected; send all \
                 candidates to one server at a time"
            ),
            Telling::Nothing => {
                tracing::debug!(%place, "another server took the place of the one before");
            }
        }
        self.ask(1, Self::replacement()).await.map(drop)
    }

    /// The statement for that. A second process finds nothing left to do. The time is not before any
    /// beat that is there, for the clock of the other server may have been ahead of this one's. So two
    /// replacements could have the same time: some of its digits are drawn.
    fn replacement() -> String {
        let (lineage, now, drawn) = (D::LINEAGE, D::NOW, clock::drawn_micros());
        format!(
            "UPDATE incumbent_meta SET value = CONCAT({lineage}, ' ', {drawn} +
                GREATEST({now}, (SELECT COALESCE(MAX(beaten_us), 0) FROM incumbent_beat)))
            WHERE item = 'lineage' AND LEFT(value, CHAR_LENGTH({lineage}) + 1) <> CONCAT({lineage}, ' ')"
        )
    }

    /// What to tell of an error. A server that cannot be written to any more may have been replaced: another
    /// connection finds out which one to use.
    fn failed(&mut self, error: Error) -> Error {
        if matches!(error, Error::ReadOnly(_)) && self.manner.contends {
            self.idle = None;
        }
        self.named(error)
    }

    /// Puts the database's name into an error that lacks it.
    fn named(&self, error: Error) -> Error {
        match error {
            Error::Corrupt { place, problem } if place.is_empty() => {
                Error::Corrupt { place: self.place.clone(), problem }
            }
            Error::Open { place, problem } if place.is_empty() => {
                Error::Open { place: self.place.clone(), problem }
            }
            other => other,
        }
    }

    /// Closes the connection in good order.
    pub(crate) async fn close(self) {
        match self.idle {
            Some(Held::Own(connection)) => drop(connection.close().await),
            Some(Held::Pool(connection)) => drop(connection.close().await),
            None => {}
        }
    }
}

impl<D: Dialect> fmt::Debug for Store<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("place", &self.place).finish_non_exhaustive()
    }
}

fn late(patience: Duration) -> sqlx::Error {
    let problem = format!("no connection within {patience:?}");
    sqlx::Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, problem))
}
