//! Where a benchmark holds its elections, and what it leaves there.
//!
//! Assumes: the names of its elections are nobody else's.
//! Promises: without a URL, everything is in a temporary folder that is removed; in a store of the
//! user's, the rows of its elections are deleted as far as its user may, and what is left is said.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use incumbent::sqlx::sqlite::SqliteConnectOptions;
use incumbent::sqlx::{
    self, AssertSqlSafe, ConnectOptions, Connection, Executor, MySqlConnection, PgConnection,
};
use incumbent::{Backend, Config};
use tempfile::TempDir;

use crate::ports;
use crate::settings::Settings;

/// The tables, and which column names the election; those that others look up come last.
const TABLES: [(&str, &str); 7] = [
    ("incumbent_candidate", "election"),
    ("incumbent_order", "election"),
    ("incumbent_descriptor", "election"),
    ("incumbent_term", "election"),
    ("incumbent_vars", "name"),
    ("incumbent_beat", "name"),
    ("incumbent_election", "name"),
];

/// As many voters as anybody has.
const VOTERS: u32 = 5;

/// A store, and a folder for everything else.
#[derive(Clone, Debug)]
pub(super) struct Place {
    folder: Arc<TempDir>,
    url: String,
    own: bool,
    of_peers: bool,
}

impl Place {
    /// The store that was named, or a private one. Among private peers, so many vote as there are at
    /// the smallest size, and no more than usual.
    pub(super) fn new(settings: &Settings, sizes: &[u32]) -> anyhow::Result<Place> {
        let folder = tempfile::Builder::new().prefix("incumbent-bench-").tempdir();
        let folder = Arc::new(folder.context("cannot make a temporary folder")?);
        let own = settings.is_default_store();
        let of_peers = settings.is_of_peers();
        let url = if own && of_peers {
            let fewest = sizes.iter().copied().min().unwrap_or(VOTERS).min(VOTERS);
            let voters = ports::free(usize::try_from(fewest)?)?;
            ports::url(settings.protocol(), &voters, folder.path())
        } else if own {
            format!("sqlite:{}", folder.path().join("elections.db").display())
        } else {
            settings.url.clone()
        };
        let place = Place { folder, url, own, of_peers };
        std::fs::write(place.no_settings(), "").context("cannot write to a temporary folder")?;
        Ok(place)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Which kind of store it is.
    pub(super) fn kind(&self) -> &'static str {
        match self.url.split_once(':').map(|(scheme, _)| scheme) {
            Some("postgres" | "postgresql") => "postgres",
            Some("mysql" | "mariadb") => "mysql",
            Some("ring" | "bully") => "peers",
            _ => "sqlite",
        }
    }

    /// A configuration file that says nothing.
    pub(super) fn no_settings(&self) -> PathBuf {
        self.folder.path().join("empty.toml")
    }

    /// What the processes of the benchmark write to standard error.
    pub(super) fn log(&self) -> PathBuf {
        self.folder.path().join("candidates.log")
    }

    /// The end of it, for those who ask what went wrong.
    pub(super) fn last_words(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let last: Vec<_> = log.lines().rev().take(5).map(str::to_owned).collect();
        last.into_iter().rev().collect()
    }

    /// Whether candidates can contend there; makes an SQLite file that is not there.
    pub(super) async fn check(&self, config: &Config) -> anyhow::Result<()> {
        // Peers are the candidates themselves: before they come there is nothing to see.
        if !self.of_peers {
            Backend::open_with(&self.url, config).await?.close().await;
        }
        Ok(())
    }

    /// Deletes the rows of an election. Says what could not be deleted.
    pub(super) async fn clear(&self, election: &str) -> Result<(), String> {
        if self.own {
            return Ok(());
        }
        if self.of_peers {
            return Err(format!("the voters keep the election {election}, which nobody leads"));
        }
        let mut left = Vec::new();
        for (table, column) in TABLES {
            let sql = format!("DELETE FROM {table} WHERE {column} = '{election}'");
            if let Err(error) = self.execute(sql).await {
                left.push(format!("{table} ({error})"));
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        Err(format!("rows of {election} are left in {}", left.join(", ")))
    }

    async fn execute(&self, sql: String) -> sqlx::Result<()> {
        // What the URL says to this program means nothing to the driver.
        let url = bare(&self.url);
        let sql = sqlx::raw_sql(AssertSqlSafe(sql));
        match self.kind() {
            "postgres" => PgConnection::connect(&url).await?.execute(sql).await.map(|_| ()),
            "mysql" => {
                let url = url.replacen("mariadb:", "mysql:", 1);
                MySqlConnection::connect(&url).await?.execute(sql).await.map(|_| ())
            }
            _ => {
                let options = SqliteConnectOptions::new().filename(file(&url));
                options.connect().await?.execute(sql).await.map(|_| ())
            }
        }
    }
}

/// A URL without what is said to this program alone.
fn bare(url: &str) -> String {
    let Some((bare, options)) = url.rsplit_once('?') else {
        return url.to_owned();
    };
    let ours = |option: &&str| option.starts_with("protocol=") || option.starts_with("galera=");
    let theirs: Vec<_> = options.split('&').filter(|option| !ours(option)).collect();
    if theirs.is_empty() { bare.to_owned() } else { format!("{bare}?{}", theirs.join("&")) }
}

/// The file that a URL of SQLite names.
fn file(url: &str) -> &Path {
    let path = url.strip_prefix("sqlite:").or(url.strip_prefix("file:")).unwrap_or(url);
    Path::new(path.strip_prefix("//").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_url_says_to_us_alone_is_left_out() {
        assert_eq!(bare("postgres://a:b@c/d?protocol=rounds"), "postgres://a:b@c/d");
        assert_eq!(
            bare("mysql://a@c/d?galera=single-writer&ssl-mode=required"),
            "mysql://a@c/d?ssl-mode=required"
        );
        assert_eq!(bare("sqlite:/x.db"), "sqlite:/x.db");
    }

    #[test]
    fn the_file_of_a_url_is_found() {
        for (url, path) in
            [("sqlite:///x/e.db", "/x/e.db"), ("sqlite:e.db", "e.db"), ("e.db", "e.db")]
        {
            assert_eq!(file(url), Path::new(path));
        }
    }
}
