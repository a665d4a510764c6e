//! What a server does, rather than what it says: isolation, locks and counts, tried on two
//! connections.
//!
//! Assumes: a [`Scratch`] row that nobody else uses.
//! Promises: what is concluded was seen. A lock counts as one only if the second connection had no
//! answer before the first let go, and then saw what the first had written.

use std::pin::pin;
use std::time::Duration;

use sqlx::Database;
use tokio::time::timeout;

use super::finding::Findings;
use super::scratch::Scratch;
use super::server::Probed;
use crate::error::Error;
use crate::server::dialect::{Limits, Reply};

/// Whoever has no answer after so long is waiting; more where answers are slow.
const PATIENCE: Duration = Duration::from_millis(200);

/// An answer that takes longer than this never comes.
const LATEST: Duration = Duration::from_secs(10);

const ADVICE: &str = "elections and fenced transactions rest on this: use another store, or tell us which one this is";

/// Two connections and the row that both use.
pub(crate) struct Pair<'a, D: Probed> {
    pub(crate) first: &'a mut <D::Db as Database>::Connection,
    pub(crate) second: &'a mut <D::Db as Database>::Connection,
    pub(crate) scratch: &'a Scratch,
    pub(crate) limits: Limits,
    /// How long a question takes.
    pub(crate) trip: Duration,
}

/// How a question on the second connection fared while the first held a lock.
enum Fared {
    /// It was answered before the lock was let go of.
    AtOnce,
    /// It was answered afterwards, with this.
    Afterwards(Option<String>),
}

impl<D: Probed> Pair<'_, D> {
    /// Tries everything, and says what came of it.
    pub(crate) async fn try_out(&mut self, findings: &mut Findings) {
        let isolation = self.isolation(findings).await;
        self.settle(findings, "isolation", isolation).await;
        let locks = self.locks(findings).await;
        self.settle(findings, "locks", locks).await;
        let counts = self.counts(findings).await;
        self.settle(findings, "counts", counts).await;
    }

    /// Says so if something could not be tried, and leaves no transaction open.
    async fn settle(
        &mut self,
        findings: &mut Findings,
        probe: &'static str,
        tried: Result<(), Error>,
    ) {
        let Err(error) = tried else { return };
        findings.untried(probe, &error.to_string());
        for connection in [&mut *self.first, &mut *self.second] {
            // Outside of a transaction this is a warning at most.
            let _ = D::send(connection, "ROLLBACK".to_owned()).await;
        }
    }

    async fn isolation(&mut self, findings: &mut Findings) -> Result<(), Error> {
        let default = self.first(D::ISOLATION.to_owned()).await?;
        let default = word(&default).unwrap_or_default().replace('-', " ").to_uppercase();
        self.first(self.scratch.write("one")).await?;
        let before = self.second(self.begun(&self.scratch.read(""))).await?;
        self.first(self.begun(&self.scratch.write("two"))).await?;
        let meanwhile = self.second(self.scratch.read("")).await?;
        self.first("COMMIT".to_owned()).await?;
        let after = self.second(self.scratch.read("")).await?;
        self.second("ROLLBACK".to_owned()).await?;
        let seen = [word(&before), word(&meanwhile), word(&after)];
        match seen.each_ref().map(|word| word.as_deref().unwrap_or("nothing")) {
            ["one", "one", "two"] => findings.good(
                "isolation",
                format!("READ COMMITTED is had by asking; the default here is {default}"),
            ),
            ["one", "two", _] => {
                findings.refuse("isolation", "what is not committed is seen by others", ADVICE);
            }
            [before, meanwhile, after] => findings.refuse(
                "isolation",
                format!(
                    "READ COMMITTED was asked for and not had: a transaction read {before}, {meanwhile}, {after} and \
                     should have read one, one, two"
                ),
                ADVICE,
            ),
        }
        Ok(())
    }

    async fn locks(&mut self, findings: &mut Findings) -> Result<(), Error> {
        let for_update = self.scratch.read("FOR UPDATE");
        let for_share = self.scratch.read(D::SHARE);
        self.first(self.scratch.write("one")).await?;
        self.first(self.begun(&for_update)).await?;
        self.first(self.scratch.write("two")).await?;
        let exclusive = self.fare(&for_update, "COMMIT").await?;
        self.first(self.begun(&for_share)).await?;
        // Would fail by its limit if shared locks excluded each other.
        let shared = self.second(self.begun(&for_share)).await.is_ok();
        self.second("ROLLBACK".to_owned()).await?;
        let upgrade = self.fare(&for_update, "ROLLBACK").await?;
        let stale = match &exclusive {
            Fared::Afterwards(Some(word)) if word == "two" => None,
            Fared::Afterwards(seen) => Some(seen.clone().unwrap_or_else(|| "nothing".to_owned())),
            Fared::AtOnce => {
                findings.refuse("locks", "FOR UPDATE makes nobody wait", ADVICE);
                return Ok(());
            }
        };
        if let Some(seen) = stale {
            let said = format!(
                "whoever waited for a lock then read {seen}, which is not what was committed before"
            );
            findings.refuse("locks", said, ADVICE);
        } else if !shared {
            findings.refuse(
                "locks",
                format!("two who ask {} exclude each other", D::SHARE),
                ADVICE,
            );
        } else if matches!(upgrade, Fared::AtOnce) {
            let said =
                format!("{} does not hold off FOR UPDATE: no transaction can be fenced", D::SHARE);
            findings.refuse("locks", said, ADVICE);
        } else {
            let said =
                format!("FOR UPDATE excludes; {} is shared and holds off FOR UPDATE", D::SHARE);
            findings.good("locks", said);
        }
        Ok(())
    }

    async fn counts(&mut self, findings: &mut Findings) -> Result<(), Error> {
        self.first(self.scratch.write("one")).await?;
        let same = affected(&self.first(self.scratch.write("one")).await?);
        let none = affected(&self.first(self.scratch.write_nothing()).await?);
        if (same, none) == (1, 0) {
            findings.good("counts", "an update counts the rows that it matches");
        } else {
            let said = format!(
                "an update that matched one row and changed nothing counted {same}, one that matched none {none}"
            );
            findings.refuse("counts", said, ADVICE);
        }
        Ok(())
    }

    /// Asks on the second connection while the first holds a lock, then lets the first let go.
    async fn fare(&mut self, sql: &str, release: &str) -> Result<Fared, Error> {
        let patience = (self.trip * 10).clamp(PATIENCE, PATIENCE * 2);
        let begun = self.begun(sql);
        let fared = {
            let mut asked = pin!(D::send(&mut *self.second, begun));
            if let Ok(answer) = timeout(patience, &mut asked).await {
                answer.map_err(D::trouble)?;
                Fared::AtOnce
            } else {
                D::send(&mut *self.first, release.to_owned()).await.map_err(D::trouble)?;
                let answer = timeout(LATEST, asked).await.map_err(|_| Error::Timeout(LATEST))?;
                Fared::Afterwards(word(&answer.map_err(D::trouble)?))
            }
        };
        if matches!(fared, Fared::AtOnce) {
            self.first("ROLLBACK".to_owned()).await?;
        }
        self.second("ROLLBACK".to_owned()).await?;
        Ok(fared)
    }

    /// The statement as the first one of a transaction.
    fn begun(&self, sql: &str) -> String {
        format!("{}; {sql}", D::begin(self.limits))
    }

    async fn first(&mut self, sql: String) -> Result<Vec<Reply>, Error> {
        D::send(&mut *self.first, sql).await.map_err(D::trouble)
    }

    async fn second(&mut self, sql: String) -> Result<Vec<Reply>, Error> {
        D::send(&mut *self.second, sql).await.map_err(D::trouble)
    }
}

/// The cell that the last statement of a message gave back.
fn word(replies: &[Reply]) -> Option<String> {
    replies.last().and_then(Reply::cell).map(ToOwned::to_owned)
}

fn affected(replies: &[Reply]) -> u64 {
    replies.last().map_or(0, |reply| reply.affected)
}
