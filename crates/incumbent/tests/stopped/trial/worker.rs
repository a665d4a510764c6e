//! A worker: one of several processes that contend, and write as fast as they can while they lead.
//!
//! Assumes: whoever started it speaks to it through its environment and signals alone.
//! Promises: it dies with whoever started it, even while it is stopped.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::future::try_join_all;
use incumbent::{Backend, Config, Error, Leadership, Protocol};
use rustix::process::{Signal, set_parent_process_death_signal};
use sqlx::{MySql, Pool, Postgres, Sqlite};

use super::kind::Kind;
use super::ledger;

/// The environment variable that makes a process a worker.
const ROLE: &str = "INCUMBENT_TEST_WORKER";

/// The election that workers contend in.
pub(crate) const ELECTION: &str = "ledger";

/// What a worker is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) number: usize,
    pub(crate) url: String,
    pub(crate) lease: Duration,
    pub(crate) fenced: bool,
    pub(crate) protocol: Protocol,
    pub(crate) history: PathBuf,
}

impl Role {
    /// How the others call it.
    pub(crate) fn name(number: usize) -> String {
        format!("worker-{number}")
    }

    /// As an environment variable.
    pub(crate) fn variable(&self) -> (&'static str, String) {
        let Role { number, url, lease, fenced, protocol, history } = self;
        let words = [
            number.to_string(),
            url.clone(),
            lease.as_millis().to_string(),
            u8::from(*fenced).to_string(),
            protocol.as_str().to_owned(),
            history.display().to_string(),
        ];
        (ROLE, words.join("\n"))
    }

    /// Reads the value of such a variable.
    pub(crate) fn read(words: &str) -> Option<Role> {
        let mut words = words.lines();
        Some(Role {
            number: words.next()?.parse().ok()?,
            url: words.next()?.to_owned(),
            lease: Duration::from_millis(words.next()?.parse().ok()?),
            fenced: words.next()? == "1",
            protocol: words.next()?.parse().ok()?,
            history: words.next()?.into(),
        })
    }
}

/// Works, if this process is to be a worker. Then it does not return but with an error.
pub(crate) fn work_if_asked() -> anyhow::Result<()> {
    let Ok(words) = std::env::var(ROLE) else {
        return Ok(());
    };
    let role = Role::read(&words).context("an odd role")?;
    set_parent_process_death_signal(Some(Signal::KILL)).context("binding to the parent")?;
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().context("a runtime")?;
    runtime.block_on(async {
        match role.url.split(':').next() {
            Some("postgres") => work::<Postgres>(&role).await,
            Some("mysql") => work::<MySql>(&role).await,
            _ => work::<Sqlite>(&role).await,
        }
    })
}

async fn work<K: Kind>(role: &Role) -> anyhow::Result<()> {
    let config = Config::new().name(Role::name(role.number)).history(&role.history);
    let backend = open(&role.url, &timed(config, role.protocol, role.lease)).await?;
    let election = backend.election(ELECTION).await?;
    let pool = K::pool(&role.url, Duration::from_secs(10)).await?;
    loop {
        let leadership = election.campaign().await?;
        ledger::open(&pool, leadership.term().get()).await.context("opening a term")?;
        let lanes = (0..K::LANES).map(|_| write_on(role, &leadership, &pool));
        try_join_all(lanes).await?;
    }
}

/// Settings for elections of this lease, in rounds as patient with a busy machine as otherwise.
pub(crate) fn timed(config: Config, protocol: Protocol, lease: Duration) -> Config {
    let config = config.protocol(protocol).lease(lease);
    match protocol {
        Protocol::Rounds => config.round_limit(4).timeout(lease / 6),
        _ => config,
    }
}

/// Opens, if need be after some attempts: on a busy machine a server may not answer within what so
/// short a lease allows.
async fn open(url: &str, config: &Config) -> Result<Backend, Error> {
    let mut attempts = 0;
    loop {
        match Backend::open_with(url, config).await {
            Err(_) if attempts < 100 => attempts += 1,
            opened => return opened,
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Writes one thing after another for as long as it leads.
async fn write_on<K: Kind>(
    role: &Role,
    leadership: &Leadership,
    pool: &Pool<K>,
) -> anyhow::Result<()> {
    // The check that everyone writes first, and that is not enough: much may happen behind it.
    while leadership.is_valid() {
        let written = if role.fenced {
            write_fenced(leadership, pool, role.number).await
        } else {
            write_plainly(leadership, pool, role.number).await
        };
        match written {
            Ok(()) => {}
            Err(Trouble::Refused { at_commit }) => {
                let noted = ledger::refuse(pool, leadership.term().get(), at_commit).await;
                return noted.context("noting a refusal");
            }
            // Undone, or in doubt: the ledger counts what was committed.
            Err(Trouble::Other(problem)) => tracing::warn!(problem, "not written"),
        }
    }
    Ok(())
}

/// Why a write failed.
enum Trouble {
    /// The leadership is over, says the database.
    Refused { at_commit: bool },
    /// Anything else.
    Other(String),
}

impl Trouble {
    fn of(error: &Error, at_commit: bool) -> Trouble {
        match error {
            Error::Fenced { .. } => Trouble::Refused { at_commit },
            other => Trouble::Other(other.to_string()),
        }
    }
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Trouble {
        Trouble::Other(error.to_string())
    }
}

/// As the library offers it.
async fn write_fenced<K: Kind>(
    leadership: &Leadership,
    pool: &Pool<K>,
    worker: usize,
) -> Result<(), Trouble> {
    prepare(pool).await?;
    let work = leadership.transaction(pool).await;
    let mut work = work.map_err(|error| Trouble::of(&error, false))?;
    ledger::entry::<K>(&mut work, leadership.term().get(), worker).await?;
    work.commit().await.map_err(|error| Trouble::of(&error, true))
}

/// As one would write it who trusts the check before.
async fn write_plainly<K: Kind>(
    leadership: &Leadership,
    pool: &Pool<K>,
    worker: usize,
) -> Result<(), Trouble> {
    prepare(pool).await?;
    let mut work = pool.begin().await?;
    ledger::entry::<K>(&mut work, leadership.term().get(), worker).await?;
    Ok(work.commit().await?)
}

/// Looks at what there is, as one does before one decides what to write.
async fn prepare<K: Kind>(pool: &Pool<K>) -> Result<(), Trouble> {
    let mut connection = pool.acquire().await?;
    ledger::writes::<K>(&mut connection).await?;
    Ok(())
}
