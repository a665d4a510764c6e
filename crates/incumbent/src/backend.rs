//! What arbitrates: a database that this process shares with the other candidates.
//!
//! Assumes: a tokio runtime with time and I/O enabled.
//! Promises: all elections opened from one backend share one connection, one task and one
//! candidate, and renew together.

mod explain;

use std::time::Duration;

use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::lease::forget::{Forget, Removal};
use incumbent_protocol::lease::order::{Decree, Order, OrderError, Papers};
use incumbent_protocol::lease::row::{Leader, Record, Sight, Snapshot};
use incumbent_protocol::observation::Observation;
use incumbent_protocol::roll::Peer;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::{HeardAt, StoreTime};
use tokio::sync::{mpsc, oneshot};

use crate::clock;
use crate::config::Config;
use crate::contest::Contest;
use crate::driver::{Command, Driver, Errand};
use crate::election::Election;
use crate::error::Error;
use crate::health::{HealthRules, Monitor, Probe};
use crate::history::Writer;
#[cfg(feature = "peers")]
use crate::peers::{Ballot, Node, Reach, Voters};
use crate::store::holder::{self, LockHolder};
use crate::store::office::{OrderRecord, Removing, TermRecord, Warrant};
use crate::store::roster::Roster;
use crate::store::{Manner, Store};
use crate::url::Target;

/// A database in which elections are agreed, and this process as a candidate in them. Cheap to
/// clone.
///
/// ```
/// # async fn example() -> Result<(), incumbent::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/elections.db", folder.path().display());
/// use incumbent::Backend;
///
/// let backend = Backend::open(&url).await?;
/// let billing = backend.election("billing").await?;
/// let reports = backend.election("reports").await?; // same connection, same beat
/// # backend.close().await;
/// # Ok(()) }
/// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Backend {
    me: CandidateId,
    contest: Contest,
    /// How long a question and a write took when the store was opened.
    round_trip: (Duration, Option<Duration>),
    #[cfg(feature = "peers")]
    node: Option<Node>,
    pub(crate) driver: mpsc::UnboundedSender<Command>,
}

impl Backend {
    /// Opens a store by URL with default settings. An SQLite file is made if it does not exist; in
    /// a database server the tables must be there, else this is [`Error::SchemaMissing`].
    /// [`Schema::apply`](crate::Schema::apply) makes them.
    pub async fn open(url: &str) -> Result<Backend, Error> {
        Backend::open_with(url, &Config::new()).await
    }

    /// Opens a store by URL, as [`open`](Backend::open) does. A server that does not answer is
    /// waited for, ten seconds at most.
    pub async fn open_with(url: &str, config: &Config) -> Result<Backend, Error> {
        Backend::open_store(url, config, true).await
    }

    /// Opens a store by URL for looking and for orders; a store that does not exist is an error.
    pub async fn open_existing(url: &str, config: &Config) -> Result<Backend, Error> {
        Backend::open_store(url, config, false).await
    }

    /// Uses a pool of your own, of `incumbent::sqlx` (sqlx 0.9); our tables are made in its
    /// database. A pool of one connection will do.
    #[cfg(feature = "sqlite")]
    pub async fn with_sqlite_pool(
        pool: sqlx::SqlitePool,
        config: &Config,
    ) -> Result<Backend, Error> {
        let (contest, me) = (config.contest()?, candidate(config)?);
        let store = crate::sqlite::Store::with_pool(pool, me.clone()).await?;
        Backend::start(Store::Sqlite(store), me, contest, config).await
    }

    /// Uses a pool of your own, of `incumbent::sqlx` (sqlx 0.9). Elections keep one of its
    /// connections for themselves, so that a pool of one is refused ([`Error::Open`]); one more,
    /// for the doorbell, is made beside it. The tables must be there, else this is
    /// [`Error::SchemaMissing`].
    #[cfg(feature = "postgres")]
    pub async fn with_postgres_pool(pool: sqlx::PgPool, config: &Config) -> Result<Backend, Error> {
        let (contest, me) = (config.contest()?, candidate(config)?);
        let manner = Manner { contends: true, single_writer: config.single_writer };
        let store =
            crate::postgres::Store::with_pool(pool, me.clone(), &contest.timing, manner).await?;
        Backend::start(Store::Postgres(store), me, contest, config).await
    }

    /// Uses a pool of your own, of `incumbent::sqlx` (sqlx 0.9). Elections keep one of its
    /// connections for themselves, so that a pool of one is refused ([`Error::Open`]). The tables
    /// must be there, else this is [`Error::SchemaMissing`].
    #[cfg(feature = "mysql")]
    pub async fn with_mysql_pool(pool: sqlx::MySqlPool, config: &Config) -> Result<Backend, Error> {
        let (contest, me) = (config.contest()?, candidate(config)?);
        let manner = Manner { contends: true, single_writer: config.single_writer };
        let store =
            crate::mysql::Store::with_pool(pool, me.clone(), &contest.timing, manner).await?;
        Backend::start(Store::Mysql(store), me, contest, config).await
    }

    async fn open_store(url: &str, config: &Config, create: bool) -> Result<Backend, Error> {
        let (target, protocol) = Target::with_protocol(url)?;
        let config = &config.agreeing_with(protocol)?;
        let target = target.for_config(config)?;
        let (contest, me) = (config.contest()?, candidate(config)?);
        let manner = Manner { contends: create, single_writer: config.single_writer };
        let store = Store::open(target, me.clone(), &contest.timing, manner).await?;
        Backend::start(store, me, contest, config).await
    }

    async fn start(
        mut store: Store,
        me: CandidateId,
        contest: Contest,
        config: &Config,
    ) -> Result<Backend, Error> {
        let timing = contest.timing;
        let round_trip = store.round_trip().await?;
        contest.at_its_slowest().fits_round_trip(round_trip.0, round_trip.1)?;
        let history = config.history.as_deref();
        let history = history.map(|path| Writer::open(path, me.clone())).transpose()?;
        let bell = store.bell(round_trip.0, timing.beat());
        #[cfg(feature = "peers")]
        let node = store.node();
        let driver = Driver::start(store, bell, me.clone(), timing.timeout(), history);
        Ok(Backend {
            me,
            contest,
            round_trip,
            #[cfg(feature = "peers")]
            node,
            driver,
        })
    }

    /// Who this process is.
    pub fn candidate(&self) -> &CandidateId {
        &self.me
    }

    /// The timings of elections opened from here.
    pub fn timing(&self) -> &Timing {
        &self.contest.timing
    }

    /// Opens an election with the timings of this backend.
    pub async fn election(&self, name: &str) -> Result<Election, Error> {
        self.enter(name, self.contest.clone()).await
    }

    /// Opens an election with timings of its own. In an election with a roster its lease is as many
    /// rounds as elsewhere, each in proportion.
    pub async fn election_with(&self, name: &str, timing: Timing) -> Result<Election, Error> {
        self.enter(name, self.contest.with_timing(timing)?).await
    }

    async fn enter(&self, name: &str, contest: Contest) -> Result<Election, Error> {
        let name = ElectionName::new(name)?;
        let timing = contest.timing;
        contest.at_its_slowest().fits_round_trip(self.round_trip.0, self.round_trip.1)?;
        let (done, entered) = oneshot::channel();
        self.send(Command::Enter { election: name.clone(), contest, done })?;
        entered.await.map_err(|_| Error::Closed)??;
        Ok(Election::new(name, timing, self.clone()))
    }

    /// How an election stands in the store at this moment.
    pub async fn status(&self, election: &str) -> Result<Status, Error> {
        let election = Some(ElectionName::new(election)?);
        let mut found = self.ask(|done| Errand::Look { election, done }).await?;
        found.pop().map(|(name, snapshot)| Status::new(name, &snapshot)).ok_or(Error::Closed)
    }

    /// How every election of this store stands.
    pub async fn statuses(&self) -> Result<Vec<Status>, Error> {
        let found = self.ask(|done| Errand::Look { election: None, done }).await?;
        Ok(found.into_iter().map(|(name, snapshot)| Status::new(name, &snapshot)).collect())
    }

    /// The newest terms of an election, newest first.
    pub async fn terms(&self, election: &str, most: u32) -> Result<Vec<TermRecord>, Error> {
        let election = ElectionName::new(election)?;
        self.ask(|done| Errand::Terms { election, most, done }).await
    }

    /// Everybody in line for an election that is held by rounds, lowest id first: the whole roster,
    /// read at this moment. An election that is not has nobody in line.
    pub async fn members(&self, election: &str) -> Result<Roster, Error> {
        let election = ElectionName::new(election)?;
        self.ask(|done| Errand::Roster { election, done }).await
    }

    /// Everybody who takes part in an election, or did within a day, by either protocol: what each
    /// candidate tells of itself, and how long ago. For people and policy; nothing safe rests on it.
    pub async fn candidates(&self, election: &str) -> Result<Vec<Peer>, Error> {
        let election = ElectionName::new(election)?;
        self.ask(|done| Errand::Roll { election, done }).await
    }

    /// What operators ordered in an election, newest first, at most `most` of it.
    pub async fn orders(&self, election: &str, most: u32) -> Result<Vec<OrderRecord>, Error> {
        let election = ElectionName::new(election)?;
        self.ask(|done| Errand::Orders { election, most, done }).await
    }

    /// Who holds elections of this store up: sessions and processes that have kept a lock for a second
    /// or more, while orders and claims wait for it. Looks for up to a second if it cannot be seen for
    /// how long they have. Nobody with `ring://` and `bully://`, which have no locks.
    pub async fn lock_holders(&self) -> Result<Vec<LockHolder>, Error> {
        holder::lasting(async || self.ask(|done| Errand::LockHolders { done }).await).await
    }

    /// Binds leadership to health, in all elections of this backend: from now on it is examined by
    /// `probe`, never contends while it is not well, and hands over if it leads. Not well until the
    /// first probe has passed. See [`health`](crate::health).
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}/elections.db", folder.path().display());
    /// use incumbent::Backend;
    /// use incumbent::health::{HealthRules, Probe};
    /// use std::time::Duration;
    ///
    /// let backend = Backend::open(&url).await?;
    /// let rules = HealthRules::of_every(Duration::from_secs(1))?;
    /// backend.bind_health(Probe::function(async || Ok(())), rules)?;
    /// let leadership = backend.election("billing").await?.campaign().await?;
    /// # drop(leadership); backend.close().await;
    /// # Ok(()) }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    pub fn bind_health(&self, probe: Probe, rules: HealthRules) -> Result<(), Error> {
        self.send(Command::Monitor(Monitor::start(probe, rules)))
    }

    /// Says whether this process is well enough to lead, in all its elections; if not, why. One that is
    /// not never contends, and hands over if it leads. [`Backend::bind_health`] does it by itself.
    pub fn set_fit(&self, fit: Result<(), String>) -> Result<(), Error> {
        self.send(Command::Fit { unfit: fit.err() })
    }

    /// Ends the present term, so that a new election follows. The deposed leader cannot renew; it
    /// may act for as long as [`Decree::may_act`] says, and nobody else leads before.
    ///
    /// `term`, if given, must be the present one, so that the order cannot hit a successor.
    pub async fn demote(
        &self,
        election: &str,
        term: Option<u64>,
        actor: &str,
        reason: Option<&str>,
    ) -> Result<Decree, Error> {
        self.order(election, Order::DEMOTE, term, actor, reason).await
    }

    /// Ends the present term and reserves the next one for the named candidate: it has one lease to
    /// take it.
    pub async fn takeover(
        &self,
        election: &str,
        successor: &str,
        term: Option<u64>,
        actor: &str,
        reason: Option<&str>,
    ) -> Result<Decree, Error> {
        let order = Order::Takeover { successor: CandidateName::new(successor)? };
        self.order(election, order, term, actor, reason).await
    }

    /// Carries out an operator's order, if the protocol allows it: demote, take over, transfer, pause,
    /// resume, cordon, uncordon. It is decided and written in one step in the store, whoever is up, and
    /// leaves its actor and its reason there. A refused order changes nothing.
    ///
    /// ```
    /// # async fn example() -> Result<(), incumbent::Error> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}/elections.db", folder.path().display());
    /// use incumbent::{Backend, Order};
    ///
    /// let backend = Backend::open(&url).await?;
    /// let leadership = backend.election("billing").await?.campaign().await?;
    /// backend.order("billing", Order::Pause, None, "ann", Some("moving the rack")).await?;
    /// assert!(backend.status("billing").await?.controls.paused.is_some());
    /// backend.order("billing", Order::Resume, None, "ann", None).await?;
    /// # drop(leadership); backend.close().await;
    /// # Ok(()) }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    pub async fn order(
        &self,
        election: &str,
        order: Order,
        term: Option<u64>,
        actor: &str,
        reason: Option<&str>,
    ) -> Result<Decree, Error> {
        let warrant = Warrant {
            election: ElectionName::new(election)?,
            order,
            papers: Papers {
                term: term.map(meant).transpose()?,
                actor: actor.to_owned(),
                reason: reason.map(ToOwned::to_owned),
                roll: None,
            },
        };
        self.ask(|done| Errand::Order { warrant, done }).await
    }

    /// Removes an election that nobody holds any more: its row, its past terms and orders, its list of
    /// candidates. Refused while it is led or paused, or while candidates take part.
    ///
    /// Watches it for a lease first (two if the next term is reserved), so that no lease of it can still
    /// run. The next election of that name is its first, under a greater term. The removal itself stays
    /// in the store, with its actor and its reason. With `ring://` and `bully://` the last term stays too.
    ///
    /// `term`, if given, must be the last one, so that a later one is never removed.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), incumbent::Error> {
    /// use incumbent::{Backend, Config};
    ///
    /// let backend = Backend::open_existing("postgres://host/database", &Config::new()).await?;
    /// let removed = backend.forget("billing", None, "ann", Some("moved to another database")).await?;
    /// println!("its last term was {}", removed.term);
    /// # Ok(()) }
    /// ```
    pub async fn forget(
        &self,
        election: &str,
        term: Option<u64>,
        actor: &str,
        reason: Option<&str>,
    ) -> Result<Removal, Error> {
        let roll = self.candidates(election).await?;
        let election = ElectionName::new(election)?;
        let wanted = Some(election.clone());
        let mut found = self.ask(|done| Errand::Look { election: wanted, done }).await?;
        let heard_at = HeardAt::after_answer(clock::now());
        let (_, snapshot) = found.pop().ok_or(Error::Closed)?;
        let mut forget = Forget { term: term.map(meant).transpose()?, suspicion: None, roll };
        match forget.decide(&snapshot) {
            Err(OrderError::Unwatched { patience }) => {
                let seen = Observation::first(snapshot.view(), heard_at);
                while forget.suspicion.is_none() {
                    let left = seen.ripe_at(patience).since(clock::now());
                    tokio::time::sleep(left).await;
                    forget.suspicion = seen.suspect(clock::now(), patience);
                }
            }
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        let (actor, reason) = (actor.to_owned(), reason.map(ToOwned::to_owned));
        let removing = Removing { election, forget, actor, reason };
        self.ask(|done| Errand::Forget { removing, done }).await
    }

    /// Who of the voters can be reached at this moment, with `ring://` and `bully://`; nothing on a
    /// database. Asks nobody, so that it is known even while too few are there.
    #[cfg(feature = "peers")]
    pub async fn reach(&self) -> Option<Reach> {
        self.node.as_ref()?.reach().await
    }

    /// Who votes, with `ring://` and `bully://`.
    #[cfg(feature = "peers")]
    pub async fn voters(&self) -> Result<Voters, Error> {
        self.ask(|done| Errand::Voters { ballot: Ballot::Look, done }).await
    }

    /// Adds a voter: a process that takes part under an address that stays. `who` is its number, its
    /// address or its name. Voters are changed one at a time, and a change that somebody left half
    /// done is completed first.
    #[cfg(feature = "peers")]
    pub async fn add_voter(&self, who: &str) -> Result<Voters, Error> {
        let ballot = Ballot::Add(who.to_owned());
        self.ask(|done| Errand::Voters { ballot, done }).await
    }

    /// Removes a voter, whether it lives or not. Those who stay must be able to form a majority.
    #[cfg(feature = "peers")]
    pub async fn remove_voter(&self, who: &str) -> Result<Voters, Error> {
        let ballot = Ballot::Remove(who.to_owned());
        self.ask(|done| Errand::Voters { ballot, done }).await
    }

    /// How many statements this process has run on the store for its elections.
    pub async fn statements(&self) -> Result<u64, Error> {
        self.ask(|done| Errand::Statements { done }).await
    }

    /// Ends every leadership of this process, waits until the work under them has let go of them,
    /// tells the store, and closes it. Waits two timeouts at most, and no longer than two seconds; a
    /// [`Leadership`](crate::Leadership) that is still there then is given up when it is dropped.
    pub async fn close(self) {
        let (done, closed) = oneshot::channel();
        if self.send(Command::Close { done }).is_ok() {
            // The driver drops its end when it is done.
            let _ = closed.await;
        }
    }

    pub(crate) fn send(&self, command: Command) -> Result<(), Error> {
        self.driver.send(command).map_err(|_| Error::Closed)
    }

    async fn ask<T>(
        &self,
        errand: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Errand,
    ) -> Result<T, Error> {
        let (done, answer) = oneshot::channel();
        self.send(Command::Office(errand(done)))?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

/// How an election stands, for people and programs that look on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Which election.
    pub election: ElectionName,
    /// Who leads, and how sure the store is of that.
    pub sight: Sight,
    /// The row as stored, if the election ever had a leader.
    pub record: Option<Record>,
    /// The store's clock at the look.
    pub now: StoreTime,
    /// What operators have in force.
    pub controls: Controls,
}

impl Status {
    fn new(election: ElectionName, snapshot: &Snapshot) -> Self {
        Status {
            election,
            sight: snapshot.sight(),
            record: snapshot.record.clone(),
            now: snapshot.now,
            controls: snapshot.controls.clone(),
        }
    }

    /// The leader, if there is one that may be acting.
    pub fn leader(&self) -> Option<&Leader> {
        self.sight.leader()
    }

    /// What is left of the leader's lease by the store's clock, if no further renewal comes.
    pub const fn remaining(&self) -> Duration {
        match &self.sight {
            Sight::Led { remaining, .. } | Sight::Ending { remaining, .. } => *remaining,
            Sight::Vacant | Sight::Overdue { .. } | Sight::Died { .. } => Duration::ZERO,
        }
    }
}

/// The term that an operator means.
fn meant(number: u64) -> Result<Term, Error> {
    Term::recorded(number).ok_or(Error::NoTerm(number))
}

fn candidate(config: &Config) -> Result<CandidateId, Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)
        .map_err(|error| Error::Store(format!("the system gives no random numbers: {error}")))?;
    let incarnation = Incarnation::from_random(u128::from_le_bytes(bits));
    Ok(CandidateId::new(config.candidate_name()?, incarnation))
}
