//! The tables of a store: shown, made, brought up to date; and who needs which rights to them.
//!
//! Assumes: to make them, a user that may create tables. Candidates need only what
//! [`Schema::grants`] gives.
//! Promises: showing opens nothing; making is safe to repeat and leaves a newer schema alone.

use crate::error::Error;
#[cfg(feature = "mysql")]
use crate::mysql::My;
#[cfg(feature = "postgres")]
use crate::postgres::Pg;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use crate::server;
use crate::url::Target;

/// The tables that elections need, for one kind of store.
///
/// ```
/// use incumbent::Schema;
///
/// let schema = Schema::of("sqlite:elections.db")?;
/// assert!(schema.sql().contains("CREATE TABLE"));
/// # Ok::<(), incumbent::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Schema(Target);

/// What making the tables did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The version that was there before, if any.
    pub from: Option<i64>,
    /// The version that is there now.
    pub to: i64,
}

impl Schema {
    /// The schema for whatever this URL names. Nothing is opened.
    pub fn of(url: &str) -> Result<Schema, Error> {
        match Target::parse(url)? {
            #[cfg(feature = "peers")]
            Target::Peers(_) => {
                let problem = "peers keep no tables: there is nothing to apply".to_owned();
                Err(Error::Setting { setting: "schema", problem })
            }
            #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
            target => Ok(Schema(target)),
        }
    }

    /// The statements that make the tables, for people who want to see or run them first.
    pub fn sql(&self) -> String {
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Target::Sqlite(_) => crate::sqlite::schema::SQL.to_owned(),
            #[cfg(feature = "postgres")]
            Target::Postgres(_) => server::schema::sql::<Pg>(),
            #[cfg(feature = "mysql")]
            Target::Mysql { .. } => server::schema::sql::<My>(),
            #[cfg(feature = "peers")]
            Target::Peers(_) => String::new(),
        }
    }

    /// The statements that give a user of the database what a candidate needs, and no more.
    pub fn grants(&self, user: &str) -> Result<String, Error> {
        let refuse =
            |problem: &str| Error::User { user: user.to_owned(), problem: problem.to_owned() };
        match &self.0 {
            #[cfg(feature = "sqlite")]
            Target::Sqlite(_) => Err(refuse(
                "SQLite has no users: whoever may write the file and its folder may be a candidate",
            )),
            #[cfg(feature = "postgres")]
            Target::Postgres(_) => {
                let user =
                    plain(user, "").ok_or_else(|| refuse("use letters, digits and _ . $ -"))?;
                Ok(include_str!("postgres/grants.sql").replace("{user}", &format!("\"{user}\"")))
            }
            #[cfg(feature = "mysql")]
            Target::Mysql { .. } => {
                // In MySQL a user is a name and where it comes from.
                let (name, host) = user.split_once('@').unwrap_or((user, "%"));
                let user = plain(name, "").zip(plain(host, "%:/"));
                let (name, host) = user.ok_or_else(|| {
                    refuse("use NAME or NAME@HOST, with letters, digits and _ . $ -; in HOST also % : /")
                })?;
                let user = format!("'{name}'@'{host}'");
                Ok(include_str!("mysql/grants.sql").replace("{user}", &user))
            }
            #[cfg(feature = "peers")]
            Target::Peers(_) => Err(refuse("peers have no users: whoever knows the secret is one")),
        }
    }

    /// Makes the tables, or brings them up to date.
    pub async fn apply(&self) -> Result<Applied, Error> {
        match self.0.clone() {
            #[cfg(feature = "sqlite")]
            Target::Sqlite(path) => {
                let config = crate::Config::new();
                let url = format!("sqlite:{}", path.display());
                let from = match crate::Backend::open_existing(&url, &config).await {
                    Ok(backend) => {
                        backend.close().await;
                        Some(crate::sqlite::schema::VERSION)
                    }
                    Err(Error::Missing { .. }) => None,
                    Err(error) => return Err(error),
                };
                crate::Backend::open_with(&url, &config).await?.close().await;
                Ok(Applied { from, to: crate::sqlite::schema::VERSION })
            }
            #[cfg(feature = "postgres")]
            Target::Postgres(hosts) => server::schema::make::<Pg>(&hosts).await,
            #[cfg(feature = "mysql")]
            Target::Mysql { hosts, .. } => server::schema::make::<My>(&hosts).await,
            #[cfg(feature = "peers")]
            Target::Peers(_) => Ok(Applied { from: None, to: 0 }),
        }
    }
}

/// The text, if it needs no care between quotes.
fn plain<'a>(text: &'a str, also: &str) -> Option<&'a str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.$-".contains(c) || also.contains(c);
    (!text.is_empty() && text.chars().all(is_plain)).then_some(text)
}
