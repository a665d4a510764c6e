//! What benchmarks on servers share: flags, servers, and tables for people and for programs.
//!
//! Assumes: `cargo bench` adds a flag of its own, which means nothing here.
//! Promises: a flag that is not known is an error; tables are aligned, and with `--json` each row is
//! one JSON object a line, its numbers being numbers.
#![expect(dead_code, reason = "no benchmark uses all of it")]

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, bail};
use incumbent::Schema;
use incumbent_testbed::{Database, MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use serde_json::{Map, Number, Value};

/// What was said on the command line.
pub(crate) struct Flags {
    words: Vec<String>,
    pub(crate) json: bool,
    /// Whether what is stated has to be kept: `--judge`.
    pub(crate) judge: bool,
}

impl Flags {
    /// Takes the command line, of which only the flags named here are allowed, each with a value.
    pub(crate) fn read(known: &[&str]) -> anyhow::Result<Flags> {
        let mut words: Vec<String> = std::env::args().skip(1).collect();
        words.retain(|word| word != "--bench");
        let json = words.iter().any(|word| word == "--json");
        let judge = words.iter().any(|word| word == "--judge");
        words.retain(|word| word != "--json" && word != "--judge");
        for pair in words.chunks(2) {
            if !known.contains(&pair[0].as_str()) || pair.len() < 2 {
                bail!(
                    "{:?} is not understood; known are --json, --judge, {}",
                    pair[0],
                    known.join(", ")
                );
            }
        }
        Ok(Flags { words, json, judge })
    }

    /// The value of a flag, if it was given.
    pub(crate) fn value(&self, flag: &str) -> Option<&str> {
        let at = self.words.iter().position(|word| word == flag)?;
        self.words.get(at + 1).map(String::as_str)
    }

    /// A number, or what is used without one.
    pub(crate) fn number(&self, flag: &str, otherwise: u64) -> anyhow::Result<u64> {
        let value = self.value(flag).map(str::parse).transpose();
        Ok(value.with_context(|| format!("{flag} takes a number"))?.unwrap_or(otherwise))
    }

    /// The parts of a value, separated by commas.
    pub(crate) fn list<'a>(&'a self, flag: &str, otherwise: &'a str) -> Vec<&'a str> {
        self.value(flag).unwrap_or(otherwise).split(',').collect()
    }
}

/// A place for elections, with its tables. Commits wait for the disk, as in production.
pub(crate) enum Place {
    Postgres(Postgres, Database),
    MariaDb(MariaDb, Database),
    Sqlite(tempfile::TempDir),
}

impl Place {
    /// Starts the server of that name: `postgres`, `mariadb` or `sqlite`.
    pub(crate) async fn start(name: &str) -> anyhow::Result<Place> {
        let place = match name {
            "postgres" => {
                let options = PostgresOptions { durable: true, ..PostgresOptions::default() };
                let server = Postgres::start_with(options).await?;
                let database = server.fresh_database().await?;
                Place::Postgres(server, database)
            }
            "mariadb" => {
                let options = MariaDbOptions { durable: true, ..MariaDbOptions::default() };
                let server = MariaDb::start_with(options).await?;
                let database = server.fresh_database().await?;
                Place::MariaDb(server, database)
            }
            "sqlite" => Place::Sqlite(tempfile::tempdir()?),
            other => bail!("{other:?} is none of postgres, mariadb, sqlite"),
        };
        Schema::of(&place.url())?.apply().await?;
        Ok(place)
    }

    /// What people call it.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Place::Postgres(..) => "PostgreSQL",
            Place::MariaDb(..) => "MariaDB",
            Place::Sqlite(_) => "SQLite",
        }
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        match self {
            Place::Postgres(_, database) | Place::MariaDb(_, database) => database.url.clone(),
            Place::Sqlite(folder) => format!("sqlite://{}", folder.path().join("e.db").display()),
        }
    }

    /// Processor time that the server used so far; none, if there is no server.
    pub(crate) fn cpu(&self) -> anyhow::Result<Duration> {
        match self {
            Place::Postgres(server, _) => server.cpu(),
            Place::MariaDb(server, _) => server.cpu(),
            Place::Sqlite(_) => Ok(Duration::ZERO),
        }
    }
}

/// Rows under a heading.
pub(crate) struct Table {
    heading: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(heading: &[&'static str]) -> Table {
        Table { heading: heading.to_vec(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Prints it, for people or for programs.
    pub(crate) fn print(&self, json: bool) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        if json {
            for row in &self.rows {
                let cells = self.heading.iter().zip(row);
                let object: Map<String, Value> =
                    cells.map(|(key, cell)| ((*key).to_owned(), value(cell))).collect();
                writeln!(out, "{}", Value::Object(object))?;
            }
            return Ok(());
        }
        let heading: Vec<String> = self.heading.iter().map(ToString::to_string).collect();
        let lines = || std::iter::once(&heading).chain(&self.rows);
        let width = |at: usize| lines().filter_map(|row| row.get(at)).map(String::len).max();
        let widths: Vec<usize> = (0..heading.len()).filter_map(width).collect();
        for row in lines() {
            let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| {
                if at == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        writeln!(out)?;
        Ok(())
    }
}

fn value(cell: &str) -> Value {
    let whole = cell.parse::<i64>().map(Number::from).ok();
    let number = whole.or_else(|| cell.parse().ok().and_then(Number::from_f64));
    number.map_or_else(|| Value::String(cell.to_owned()), Value::Number)
}

/// Times, sorted, at a share of a hundred: the smallest that so many are not above.
pub(crate) fn percentile(sorted: &[Duration], share: usize) -> Duration {
    let rank = (sorted.len() * share).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

/// A time as milliseconds.
pub(crate) fn millis(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e3)
}

/// One of several numbers.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
pub(crate) fn ratio(of: u64, to: u64) -> f64 {
    of as f64 / to.max(1) as f64
}
