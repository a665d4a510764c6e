//! What is asked of every database server.
//!
//! Assumes: two connections may be had for a second or two.
//! Promises: what an election asks when it is opened is asked here too, by the same code; a server
//! that cannot be written to is asked everything that can be asked without.

use std::time::Duration;

use incumbent_protocol::rules::Timing;
use incumbent_protocol::time::StoreTime;
use sqlx::{Connection, Database};

use super::checkup::{Checkup, Identity};
use super::clocks;
use super::finding::{Findings, Verdict};
use super::locks::Pair;
use super::promise::Conditions;
use super::scratch::Scratch;
use super::trips::{self, Trips};
use crate::error::Error;
use crate::server::dialect::{Dialect, Limits, Options};
use crate::server::fit::Unfit;
use crate::server::holders;
use crate::server::hosts::{Hosts, Reached, Role};
use crate::server::schema;
use crate::store::{Manner, holder};

/// How long connecting to a server may take.
const CONNECT: Duration = Duration::from_secs(5);

/// How long everything may take.
const LATEST: Duration = Duration::from_mins(1);

/// What differs between servers when they are examined.
pub(crate) trait Probed: Dialect {
    /// Asks for the isolation that is had without asking.
    const ISOLATION: &'static str;
    /// What a CREATE TABLE ends in.
    const TABLE_TAIL: &'static str;
    /// What the probes for what [`Dialect::unfit`] refuses say when it does not.
    const FIT: &'static [(&'static str, &'static str)];

    /// What it is, and which version.
    async fn identify(
        connection: &mut <Self::Db as Database>::Connection,
    ) -> Result<(String, String), Error>;

    /// Whether something before the server parts what belongs together. Part of
    /// [`Dialect::unfit`], for where there are no tables yet.
    async fn parts(
        _connection: &mut <Self::Db as Database>::Connection,
    ) -> Result<Option<Unfit>, Error> {
        Ok(None)
    }

    /// Whatever else there is to see, which differs.
    async fn look_around(exam: &mut Exam<Self>) -> Result<(), Error>;
}

/// An examination under way.
pub(crate) struct Exam<D: Dialect> {
    pub(crate) options: Options<D>,
    pub(crate) first: <D::Db as Database>::Connection,
    pub(crate) second: <D::Db as Database>::Connection,
    /// Limits for the probes.
    pub(crate) limits: Limits,
    pub(crate) timing: Timing,
    pub(crate) manner: Manner,
    pub(crate) findings: Findings,
    pub(crate) conditions: Conditions,
    pub(crate) question: Option<Trips>,
    write: Option<Trips>,
}

/// Examines a server.
pub(crate) async fn examine<D: Probed>(
    hosts: &Hosts<D>,
    timing: Timing,
    manner: Manner,
) -> Result<Checkup, Error> {
    let place = hosts.place();
    let examined = async {
        let (at, findings) = each_host::<D>(hosts).await?;
        let options = hosts.all().get(at).ok_or_else(|| Error::Store("no server".to_owned()))?;
        let mut exam = Exam::<D>::connect(options, timing, manner, findings).await?;
        let (product, version) = D::identify(&mut exam.first).await?;
        exam.product(&product);
        exam.run().await?;
        Ok(exam.conclude(Identity { product, version, place: place.clone() }).await)
    };
    let examined = tokio::time::timeout(LATEST, examined).await;
    examined.unwrap_or(Err(Error::Timeout(LATEST))).map_err(|error| match error {
        Error::Store(problem) | Error::ReadOnly(problem) | Error::Conflict(problem) => {
            Error::Open { place, problem }
        }
        other => other,
    })
}

/// Looks at every server of a URL that names several, and tells which one to examine further.
async fn each_host<D: Probed>(hosts: &Hosts<D>) -> Result<(usize, Findings), Error> {
    let mut findings = Findings::default();
    if !hosts.is_several() {
        return Ok((0, findings));
    }
    let mut survey = hosts.survey(Limits::generous(), CONNECT).await;
    let primaries = Hosts::primaries(&survey);
    for (options, reached) in hosts.all().iter().zip(&mut survey) {
        let host = D::host(options);
        match reached {
            Ok(Reached { connection, role, .. }) => {
                let (product, version) = D::identify(connection).await?;
                let role = match role {
                    Role::Primary { .. } => "it can be written to",
                    Role::Standby(why) => why,
                };
                findings.good("host", format!("{host}: {product} {version}, {role}"));
            }
            Err(why) => {
                let advice = "elections cannot move to it before it can be reached";
                findings.warn("host", format!("{host}: {why}"), advice);
            }
        }
    }
    if primaries.len() > 1 {
        let advice =
            "with two primaries there are two elections of each name, and each may have a leader";
        findings.refuse("hosts", hosts.split(&primaries), advice);
    }
    let standby = survey.iter().position(Result::is_ok);
    match primaries.first().copied().or(standby) {
        Some(at) => Ok((at, findings)),
        None => hosts.choose(&survey, true).map(|at| (at, findings)),
    }
}

/// What elections were tried on, with everything that this project can break.
const TRIED: [&str; 3] = ["PostgreSQL", "MariaDB", "MySQL"];

impl<D: Probed> Exam<D> {
    fn product(&mut self, product: &str) {
        if TRIED.contains(&product) {
            return self.findings.good("product", format!("{product}: elections were tried on it"));
        }
        let said = format!("{product}: elections were never tried on it, only on its relatives");
        let advice = "run the conformance suite against it before you rely on it";
        self.findings.warn("product", said, advice);
    }

    async fn connect(
        options: &Options<D>,
        timing: Timing,
        manner: Manner,
        findings: Findings,
    ) -> Result<Self, Error> {
        let (first, limits) = D::connect(options, Limits::generous()).await.map_err(D::trouble)?;
        let (second, _) = D::connect(options, Limits::generous()).await.map_err(D::trouble)?;
        let conditions = Conditions::default();
        let (question, write, options) = (None, None, options.clone());
        Ok(Exam {
            options,
            first,
            second,
            limits,
            timing,
            manner,
            findings,
            conditions,
            question,
            write,
        })
    }

    async fn run(&mut self) -> Result<(), Error> {
        let has_tables = self.schema().await?;
        if has_tables {
            self.fit().await?;
        } else if let Some(unfit) = D::parts(&mut self.first).await? {
            self.findings.add(unfit.probe, Verdict::Refuse, unfit.said, unfit.advice);
        }
        if self.findings.is_refused("pooler") {
            // A pooler that parts transactions hangs up on whoever begins one.
            let again = D::connect(&self.options, Limits::generous()).await;
            self.first = again.map_err(D::trouble)?.0;
        }
        let asked = trips::measure(async || self.ask("SELECT 1").await.map(drop)).await?;
        self.question = asked;
        if self.findings.is_refused("endpoint") || self.findings.is_refused("pooler") {
            let why = "nothing can be tried out here before that is changed";
            self.findings.untried("locks", why);
        } else {
            self.try_out(has_tables).await;
        }
        if has_tables {
            let first = &mut self.first;
            let held = holder::lasting(async || {
                let found = holders::read::<D>(first).await;
                found.map_err(|error| Error::Store(error.to_string()))
            });
            self.findings.holders(held.await);
        }
        D::look_around(self).await?;
        self.clock().await?;
        trips::judge(&mut self.findings, self.question, self.write, &self.timing);
        Ok(())
    }

    async fn conclude(self, identity: Identity) -> Checkup {
        // Nothing is left to be done on them, so that nothing is lost if this fails.
        let _ = self.first.close().await;
        let _ = self.second.close().await;
        let trips = (self.question, self.write);
        Checkup::new(identity, self.findings, trips, &self.timing, &self.conditions, false)
    }

    /// The first cell of the answer to a question.
    pub(crate) async fn ask(&mut self, sql: &str) -> Result<String, Error> {
        let replies = D::send(&mut self.first, sql.to_owned()).await.map_err(D::trouble)?;
        Ok(replies.last().and_then(|reply| reply.cell()).unwrap_or_default().to_owned())
    }

    /// The first row of the answer to a question.
    pub(crate) async fn ask_row(&mut self, sql: &str) -> Result<Vec<String>, Error> {
        let replies = D::send(&mut self.first, sql.to_owned()).await.map_err(D::trouble)?;
        let row = replies.into_iter().last().and_then(|reply| reply.rows.into_iter().next());
        Ok(row.unwrap_or_default().into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Whether the tables are there at all.
    async fn schema(&mut self) -> Result<bool, Error> {
        let known = schema::known::<D>();
        let place = D::place(&self.options);
        let findings = &mut self.findings;
        match schema::version::<D>(&mut self.first).await {
            Ok(Some(found)) if found == known => {
                findings.good("schema", format!("version {found}"));
            }
            Ok(None) => {
                let said = "it has no tables of Incumbent";
                findings.refuse("schema", said, "make them with `incumbent schema --apply`");
                return Ok(false);
            }
            Ok(Some(found)) if found < known => {
                let said = format!("version {found}, this program needs {known}");
                findings.refuse(
                    "schema",
                    said,
                    "bring it up to date with `incumbent schema --apply`",
                );
            }
            Ok(Some(found)) => {
                let said = Error::SchemaNewer { found, known }.to_string();
                findings.refuse("schema", said, "upgrade the program");
                return Ok(false);
            }
            Err(Error::Corrupt { problem, .. }) => {
                let said = Error::Corrupt { place, problem }.to_string();
                findings.refuse("schema", said, "restore it");
                return Ok(false);
            }
            Err(Error::Store(problem)) => {
                findings.refuse("rights", problem, "this user must be able to read the tables");
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// What is asked at every start.
    async fn fit(&mut self) -> Result<(), Error> {
        let unfit = match D::unfit(&mut self.first, self.manner).await {
            Ok(unfit) => unfit,
            Err(Error::Corrupt { problem, .. }) => {
                let advice = "a table that was there once may have held a leader: restore it";
                self.findings.refuse("tables", problem, advice);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        for unfit in unfit {
            self.findings.add(unfit.probe, Verdict::Refuse, unfit.said, unfit.advice);
        }
        for (probe, said) in D::FIT {
            if !self.findings.is_refused(probe) {
                self.findings.good(probe, *said);
            }
        }
        Ok(())
    }

    /// What must be tried out to be believed.
    async fn try_out(&mut self, has_tables: bool) {
        let scratch = match Scratch::make::<D>(&mut self.first, has_tables).await {
            Ok(scratch) => scratch,
            Err(error) => {
                let why = format!("there is no row to try things out on ({error})");
                self.findings.untried("locks", &why);
                return;
            }
        };
        let mut word = false;
        let written = trips::measure(async || {
            // A write that changes nothing might be none.
            word = !word;
            let sql = scratch.write(if word { "two" } else { "one" });
            D::send(&mut self.first, sql).await.map(drop)
        });
        self.write = written.await.ok().flatten();
        let trip = self.question.map_or(Duration::ZERO, |trips| trips.worst);
        let mut pair = Pair::<D> {
            first: &mut self.first,
            second: &mut self.second,
            scratch: &scratch,
            limits: self.limits,
            trip,
        };
        pair.try_out(&mut self.findings).await;
        if let Err(error) = scratch.clear::<D>(&mut self.first).await {
            tracing::debug!(%error, "a row to try things out on is left behind");
        }
    }

    async fn clock(&mut self) -> Result<(), Error> {
        let (sql, first) = (format!("SELECT {}", D::NOW), &mut self.first);
        let read = clocks::read(async || {
            let replies = D::send(first, sql.clone()).await.map_err(D::trouble)?;
            let micros = replies.first().and_then(|reply| reply.cell()?.parse().ok());
            let odd = || Error::Store("the store's clock cannot be read".to_owned());
            micros.map(StoreTime::from_micros).ok_or_else(odd)
        });
        let (readings, offset) = read.await?;
        clocks::judge(&mut self.findings, &readings, offset, &self.timing);
        Ok(())
    }
}

/// What a URL says of encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Insists {
    /// That there is none.
    Never,
    /// That there may be some.
    No,
    /// That there is some.
    Yes,
}

/// What becomes of what is said on the way to the server, or to a pooler before it. The URL decides that link alone:
/// of what is behind a pooler only the pooler knows.
pub(crate) fn encryption(
    findings: &mut Findings,
    local: bool,
    insists: Insists,
    version: Option<&str>,
    [danger, advice]: [&str; 2],
) {
    let behind = "how the pooler speaks to the server cannot be seen from here";
    let said = match version {
        Some("") => "none".to_owned(),
        Some(version) => version.to_owned(),
        None => behind.to_owned(),
    };
    if local {
        let here = if said == "none" { "none, on this host" } else { &said };
        findings.good("encryption", here);
    } else if version == Some("") || insists == Insists::Never {
        findings.warn("encryption", "the connection is not encrypted", advice);
    } else if insists == Insists::No {
        let said = match version {
            Some(version) => format!("{version}, but the URL does not insist on it"),
            None => format!("the URL does not insist on it on the way to the pooler; {behind}"),
        };
        findings.warn("encryption", said, format!("{danger}: {advice}"));
    } else {
        findings.good("encryption", said);
    }
}

/// Whether what is said to this host stays on this one.
pub(crate) fn is_this_host(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    let is_socket = host.starts_with('/');
    host == "localhost" || is_socket || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_lets_encryption_be_taken_away_is_warned() {
        use Insists::{Never, No, Yes};
        for (local, insists, version, warned) in [
            (false, No, Some("TLSv1.3"), true),
            (false, Yes, Some("TLSv1.3"), false),
            (false, No, Some(""), true),
            (false, Never, Some(""), true),
            // Behind a pooler: what the server sees is not the link that the password takes.
            (false, No, None, true),
            (false, Never, None, true),
            (false, Yes, None, false),
            (true, No, Some(""), false),
            (true, No, Some("TLSv1.3"), false),
            (true, Never, None, false),
        ] {
            let mut findings = Findings::default();
            encryption(&mut findings, local, insists, version, ["danger", "say more"]);
            let [found] = &findings.0[..] else { panic!("{findings:?}") };
            assert_eq!(found.verdict == Verdict::Warn, warned, "{insists:?} {version:?} {found:?}");
            let advised = found.advice.as_deref().is_some_and(|it| it.ends_with("say more"));
            assert_eq!(advised, warned, "{found:?}");
        }
    }
}
