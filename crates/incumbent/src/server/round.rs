//! What a database server does for a round and for operators.
//!
//! Assumes: as [`Arbiter`] says.
//! Promises: all renewals are one statement and one round trip; so is a read; a write takes three
//! round trips: lock and read, write, commit. Whatever is written was decided after the lock was
//! had.

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Holding;
use incumbent_protocol::roll::Peer;
use incumbent_protocol::rounds::round::Round;

use super::dialect::Dialect;
use super::write::Script;
use super::{Held, Store, holders, roll, row};
use crate::error::Error;
use crate::store::arbiter::{Arbiter, Plan, Rolls, Roster, Snapshots};
use crate::store::holder::LockHolder;
use crate::store::office::{OrderRecord, TermRecord};
use crate::store::round::Answer;

impl<D: Dialect> Arbiter for Store<D> {
    async fn renew(&mut self, held: &[(&ElectionName, &Holding)]) -> Result<Vec<String>, Error> {
        let incarnation = self.me.incarnation.to_string();
        let replies = self.ask(1, D::renew(held, &incarnation, self.limits)).await?;
        let renewed = replies.last().map(|reply| (reply.affected, &reply.rows));
        let (count, rows) = renewed.ok_or_else(|| Error::Store("no answer".to_owned()))?;
        if D::RENEWAL_NAMES {
            return Ok(names(rows));
        }
        let all = held.iter().map(|(name, _)| name.as_str().to_owned());
        if usize::try_from(count).is_ok_and(|count| count == held.len()) {
            return Ok(all.collect());
        }
        // Whichever is still ours now was ours then, for no term is ever had twice.
        let ours = held.iter().map(|(name, holding)| {
            let term = holding.term;
            format!("(name = '{name}' AND term = {term})")
        });
        let ours = ours.collect::<Vec<_>>().join(" OR ");
        // With a lock, so that no replica answers that has not heard yet.
        let which = format!(
            "SELECT name FROM incumbent_beat WHERE incarnation = '{incarnation}' AND ({ours}) LOCK IN SHARE MODE"
        );
        let replies = self.ask(1, which).await?;
        Ok(replies.first().map(|reply| names(&reply.rows)).unwrap_or_default())
    }

    async fn read(&mut self, names: Option<&[&ElectionName]>) -> Result<Snapshots, Error> {
        for _ in 0..2 {
            let replies = self.ask(1, row::select::<D>(names)).await?;
            let reply = replies.first().ok_or_else(|| Error::Store("no answer".to_owned()))?;
            let found = row::found(reply).map_err(|error| self.named(error))?;
            if !self.is_replaced(&found).map_err(|error| self.failed(error))? {
                return Ok(found.snapshots);
            }
            self.note_replaced().await?;
        }
        Err(Error::Conflict("servers take each other's place".to_owned()))
    }

    async fn write<T>(
        &mut self,
        names: &[&ElectionName],
        decide: impl FnOnce(Snapshots) -> Result<(Vec<Plan>, T), Error> + Send,
    ) -> Result<T, Error>
    where
        T: Send,
    {
        let mut held = self.connect().await?;
        let written = self.transact(&mut held, names, decide).await;
        if written.is_err() && D::send(held.get(), "ROLLBACK".to_owned()).await.is_err() {
            // The server undoes whatever was begun when the connection ends.
            return written.map_err(|error| self.named(error));
        }
        self.keep(held);
        written.map_err(|error| self.failed(error))
    }

    async fn terms(
        &mut self,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<TermRecord>, Error> {
        let replies = self.ask(1, row::select_terms(election, most)).await?;
        replies.iter().flat_map(|reply| &reply.rows).map(|row| row::term_record(row)).collect()
    }

    async fn beats(
        &mut self,
        rounds: &[(&ElectionName, &Round)],
        answers: &mut Vec<Answer>,
    ) -> Result<(), Error> {
        self.do_beats(rounds, answers).await
    }

    async fn round(&mut self, election: &ElectionName, round: &Round) -> Result<Answer, Error> {
        self.do_round(election, round).await
    }

    async fn roster(&mut self, election: &ElectionName) -> Result<Roster, Error> {
        self.read_roster(election).await
    }

    async fn roll(
        &mut self,
        lines: &[(&ElectionName, &Peer)],
        elections: &[&ElectionName],
    ) -> Result<Rolls, Error> {
        self.call_roll(lines, elections).await
    }

    async fn lock_holders(&mut self) -> Result<Vec<LockHolder>, Error> {
        let mut held = self.connect().await?;
        let found = holders::read::<D>(held.get()).await;
        if found.as_ref().map_or_else(|error| error.as_database_error().is_some(), |_| true) {
            self.keep(held);
        }
        found.map_err(|error| Error::Store(error.to_string()))
    }

    async fn orders(
        &mut self,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<OrderRecord>, Error> {
        let replies = self.ask(1, roll::select_orders(election, most)).await?;
        replies.iter().flat_map(|reply| &reply.rows).map(|row| roll::order_record(row)).collect()
    }
}

impl<D: Dialect> Store<D> {
    async fn transact<T>(
        &mut self,
        held: &mut Held<D>,
        names: &[&ElectionName],
        decide: impl FnOnce(Snapshots) -> Result<(Vec<Plan>, T), Error> + Send,
    ) -> Result<T, Error> {
        let mut begin = vec![D::begin(self.limits)];
        begin.extend(D::queue(names));
        begin.extend([row::lock(names), row::select::<D>(Some(names))]);
        let begin = begin.join(";\n");
        let replies = D::send(held.get(), begin).await.map_err(D::trouble)?;
        self.statements += u64::try_from(replies.len()).unwrap_or(0);
        let reply = replies.last().ok_or_else(|| Error::Store("no answer".to_owned()))?;
        let found = row::found(reply)?;
        if self.is_replaced(&found)? {
            let note = format!("ROLLBACK; {}", Self::replacement());
            D::send(held.get(), note).await.map_err(D::trouble)?;
            return Err(Error::Conflict("another server took its place".to_owned()));
        }
        let (plans, decided) = decide(found.snapshots)?;
        if plans.is_empty() {
            D::send(held.get(), "ROLLBACK".to_owned()).await.map_err(D::trouble)?;
            return Ok(decided);
        }
        let script = Script::of::<D>(&plans);
        let ring = D::RING.map(|ring| format!(";\n{ring}")).unwrap_or_default();
        let sql = script.sql() + &ring;
        let replies = D::send(held.get(), sql).await.map_err(D::trouble)?;
        script.check(&replies)?;
        self.statements += u64::try_from(script.len()).unwrap_or(0) + 1;
        D::send(held.get(), "COMMIT".to_owned()).await.map_err(D::trouble)?;
        Ok(decided)
    }
}

fn names(rows: &[Vec<Option<String>>]) -> Vec<String> {
    rows.iter().filter_map(|row| row.first().cloned().flatten()).collect()
}
