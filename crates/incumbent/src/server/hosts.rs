//! The servers that a URL names: a primary and those that may take its place.
//!
//! Assumes: they hold the same database, one of them as its primary.
//! Promises: of several servers only the one that can be written to is used. If two of them can be, neither is: both
//! are named in the error. An error says of each server why it was not used.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection, Database};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::dialect::{Dialect, Limits, Options};
use crate::error::Error;

/// The most servers that a URL may name.
pub(crate) const MOST: usize = 16;

/// How long the others may still answer once one that can be written to was found.
const SETTLE: Duration = Duration::from_millis(250);

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It can be written to. Two servers never have the same identity.
    Primary { identity: String },
    /// It cannot, for this reason.
    Standby(String),
}

/// How to reach each server, in the order of the URL.
pub(crate) struct Hosts<D: Dialect>(Arc<[Options<D>]>);

/// A connection to one server, and what the server said.
pub(crate) struct Reached<D: Dialect> {
    pub(crate) connection: <D::Db as Database>::Connection,
    pub(crate) limits: Limits,
    pub(crate) role: Role,
}

/// What became of each server, in the order of the URL.
pub(crate) type Survey<D> = Vec<Result<Reached<D>, String>>;

impl<D: Dialect> Hosts<D> {
    pub(crate) fn new(options: Vec<Options<D>>) -> Self {
        Hosts(options.into())
    }

    pub(crate) fn all(&self) -> &[Options<D>] {
        &self.0
    }

    pub(crate) fn is_several(&self) -> bool {
        self.0.len() > 1
    }

    /// Where they are, for errors, without secrets.
    pub(crate) fn place(&self) -> String {
        let Some(first) = self.0.first() else { return String::new() };
        let hosts = self.0.iter().map(D::host).collect::<Vec<_>>().join(",");
        D::place(first).replacen(&D::host(first), &hosts, 1)
    }

    /// Connects to the server that can be written to. Whoever only `looks` may have a standby if no server can be.
    pub(crate) async fn connect(
        &self,
        limits: Limits,
        patience: Duration,
        looks: bool,
    ) -> Result<(<D::Db as Database>::Connection, Limits), Error> {
        if let [only] = self.all() {
            let connected = timeout(patience, D::connect(only, limits)).await;
            return connected.map_err(|_| super::late(patience)).flatten().map_err(D::trouble);
        }
        let mut survey = self.survey(limits, patience).await;
        let chosen = self.choose(&survey, looks);
        let chosen = chosen.map(|at| survey.swap_remove(at));
        // Those that are not needed are told, and nobody waits for it.
        for other in survey.into_iter().flatten() {
            tokio::spawn(timeout(patience, other.connection.close()));
        }
        let reached = chosen?.map_err(Error::Store)?;
        Ok((reached.connection, reached.limits))
    }

    /// Asks all of them at once what they are.
    pub(crate) async fn survey(&self, limits: Limits, patience: Duration) -> Survey<D> {
        let mut asked = JoinSet::new();
        for (at, options) in self.0.iter().enumerate() {
            let options = options.clone();
            asked.spawn(async move {
                let reached = timeout(patience, reach::<D>(&options, limits)).await;
                let late = |_| Err(format!("no answer within {patience:?}"));
                (at, reached.unwrap_or_else(late))
            });
        }
        let silent = || Err("no answer yet, while another server could be written to".to_owned());
        let mut survey: Survey<D> = self.0.iter().map(|_| silent()).collect();
        let mut until = Instant::now() + patience + SETTLE;
        while let Ok(Some(answer)) = timeout_at(until, asked.join_next()).await {
            let Ok((at, reached)) = answer else { continue };
            if reached.as_ref().is_ok_and(|it| matches!(it.role, Role::Primary { .. })) {
                until = until.min(Instant::now() + SETTLE);
            }
            survey[at] = reached;
        }
        survey
    }

    /// Which of them to use.
    pub(crate) fn choose(&self, survey: &Survey<D>, looks: bool) -> Result<usize, Error> {
        let primaries = Self::primaries(survey);
        match primaries.as_slice() {
            [only] => Ok(*only),
            [] => {
                let standby = survey.iter().position(Result::is_ok).filter(|_| looks);
                standby.ok_or_else(|| Error::Store(self.none(survey)))
            }
            several => Err(Error::Store(self.split(several))),
        }
    }

    /// Those that can be written to, each server once, whatever names it has.
    pub(crate) fn primaries(survey: &Survey<D>) -> Vec<usize> {
        let mut known = Vec::new();
        let mut primaries = Vec::new();
        for (at, reached) in survey.iter().enumerate() {
            if let Ok(Reached { role: Role::Primary { identity }, .. }) = reached
                && !known.contains(&identity)
            {
                known.push(identity);
                primaries.push(at);
            }
        }
        primaries
    }

    /// What to say of servers that each take themselves for the primary.
    pub(crate) fn split(&self, primaries: &[usize]) -> String {
        let named = primaries.iter().filter_map(|at| self.0.get(*at)).map(D::host);
        let named = named.collect::<Vec<_>>().join(" and ");
        format!(
            "{named} can each be written to, and only one may be the primary: stop the one that was replaced, or make it \
             a standby; until then this candidate uses neither"
        )
    }

    fn none(&self, survey: &Survey<D>) -> String {
        let each = self.0.iter().zip(survey).map(|(options, reached)| {
            let why = match reached {
                Ok(Reached { role: Role::Standby(why), .. }) | Err(why) => why.as_str(),
                Ok(_) => "not asked",
            };
            format!("{}: {why}", D::host(options))
        });
        format!("no server can be written to ({})", each.collect::<Vec<_>>().join("; "))
    }
}

async fn reach<D: Dialect>(options: &Options<D>, limits: Limits) -> Result<Reached<D>, String> {
    let words = |error: sqlx::Error| match D::trouble(error) {
        Error::Store(problem) | Error::ReadOnly(problem) => problem,
        other => other.to_string(),
    };
    let (mut connection, limits) = D::connect(options, limits).await.map_err(words)?;
    let role = D::role(&mut connection).await.map_err(words)?;
    Ok(Reached { connection, limits, role })
}

impl<D: Dialect> Clone for Hosts<D> {
    fn clone(&self) -> Self {
        Hosts(Arc::clone(&self.0))
    }
}

impl<D: Dialect> fmt::Debug for Hosts<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hosts").field(&self.place()).finish()
    }
}
