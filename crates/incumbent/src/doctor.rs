//! An examination of a store: can elections be held in it, how fast, and what is promised there?
//!
//! Assumes: the store answers. One that cannot be reached at all is an error, not a finding.
//! Promises: elections that run meanwhile are not disturbed: what is written goes to rows, a table
//! or a file that nobody else uses, and is gone afterwards. Every finding says what was seen, and
//! what to do about it if anything should be done.
//!
//! | file | what |
//! |---|---|
//! | [`checkup`] | what an examination found |
//! | [`finding`] | one thing that was looked at |
//! | [`promise`] | what the store can promise, and on which condition |
//! | [`trips`] | how long a question and a write take |
//! | [`clocks`] | how the store's clock runs beside the lease clock of this host |
//! | [`server`] | what is asked of every database server |
//! | [`scratch`] | the row on which it is tried out |
//! | [`locks`] | what is tried with it: isolation, locks, counts |

pub(crate) mod checkup;
pub(crate) mod clocks;
pub(crate) mod finding;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) mod locks;
pub(crate) mod promise;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) mod scratch;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) mod server;
pub(crate) mod trips;

use self::checkup::Checkup;
use crate::config::Config;
use crate::error::Error;
#[cfg(feature = "mysql")]
use crate::mysql::My;
#[cfg(feature = "postgres")]
use crate::postgres::Pg;
use crate::store::Manner;
use crate::url::Target;

/// Examines stores.
///
/// ```
/// # async fn example() -> Result<(), incumbent::Error> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/elections.db", folder.path().display());
/// use incumbent::{Config, Doctor};
///
/// let checkup = Doctor::examine(&url, &Config::new()).await?;
/// for finding in &checkup.findings {
///     println!("{}: {}", finding.probe, finding.said);
/// }
/// assert!(checkup.is_fit());
/// # Ok(()) }
/// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Doctor;

impl Doctor {
    /// Examines what a URL names, for candidates with these settings. Takes one or two seconds.
    pub async fn examine(url: &str, config: &Config) -> Result<Checkup, Error> {
        let (target, protocol) = Target::with_protocol(url)?;
        let config = &config.agreeing_with(protocol)?;
        let (target, timing) = (target.for_config(config)?, config.timing()?);
        #[cfg(any(feature = "postgres", feature = "mysql"))]
        let manner = Manner { contends: true, single_writer: config.single_writer };
        match target {
            #[cfg(feature = "sqlite")]
            Target::Sqlite(path) => crate::sqlite::probe::examine(&path, &timing).await,
            #[cfg(feature = "postgres")]
            Target::Postgres(hosts) => server::examine::<Pg>(&hosts, timing, manner).await,
            #[cfg(feature = "mysql")]
            Target::Mysql { hosts, single_writer } => {
                let single_writer = manner.single_writer || single_writer;
                #[cfg(any(feature = "postgres", feature = "mysql"))]
                let manner = Manner { single_writer, ..manner };
                server::examine::<My>(&hosts, timing, manner).await
            }
            #[cfg(feature = "peers")]
            Target::Peers(place) => crate::peers::examine(&place, &timing).await,
        }
    }
}
