//! Rounds of elections with a roster, on a server.
//!
//! Assumes: as [`Arbiter`](crate::store::arbiter::Arbiter) says.
//! Promises: the rounds of all followers and leaders of a process are one message; whatever else is
//! written was decided after the exclusive lock on VARS was had.

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::Done;
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rounds::register::{MemberId, Scene, Vars};
use incumbent_protocol::rounds::round::{End, Round};

use super::beat::Message;
use super::dialect::{Dialect, Reply};
use super::write::Script;
use super::{Held, Store, register, row};
use crate::error::Error;
use crate::store::arbiter::{self, plans};
use crate::store::round::Answer;

impl<D: Dialect> Store<D> {
    /// Runs a message that begins and ends its own transactions.
    pub(super) async fn exchange(&mut self, sql: String) -> Result<Vec<Reply>, Error> {
        let mut held = self.connect().await?;
        let replies = D::send(held.get(), sql).await;
        if replies.is_ok() || D::send(held.get(), "ROLLBACK".to_owned()).await.is_ok() {
            self.keep(held);
        }
        replies.map_err(|error| self.failed(D::trouble(error)))
    }

    pub(super) async fn do_beats(
        &mut self,
        rounds: &[(&ElectionName, &Round)],
        answers: &mut Vec<Answer>,
    ) -> Result<(), Error> {
        let limits = self.limits;
        let messages: Vec<_> =
            rounds.iter().map(|(name, round)| Message::of::<D>(name, round, limits)).collect();
        let sql = messages.iter().map(Message::sql).collect::<Vec<_>>().join(";\n");
        let replies = self.exchange(sql).await?;
        self.statements += u64::try_from(replies.len()).unwrap_or(0);
        let mut result = Ok(());
        let mut rest = replies.as_slice();
        for message in &messages {
            let (mine, after) = rest.split_at_checked(message.len()).unwrap_or((rest, &[]));
            rest = after;
            // An odd row of one election is no reason to forget what was done for the others.
            answers.push(message.read(mine).unwrap_or_else(|error| {
                result = Err(self.named(error));
                Outcome::Unknown
            }));
        }
        result
    }

    pub(super) async fn do_round(
        &mut self,
        election: &ElectionName,
        round: &Round,
    ) -> Result<Answer, Error> {
        let mut held = self.connect().await?;
        let done = self.stand(&mut held, election, round).await;
        if done.is_err() && D::send(held.get(), "ROLLBACK".to_owned()).await.is_err() {
            // The server undoes whatever was begun when the connection ends.
            return done.map_err(|error| self.named(error));
        }
        self.keep(held);
        done.map_err(|error| self.failed(error))
    }

    async fn stand(
        &mut self,
        held: &mut Held<D>,
        election: &ElectionName,
        round: &Round,
    ) -> Result<Answer, Error> {
        let Some((scene, had)) = self.scene(held, election, round).await? else {
            let note = format!("ROLLBACK; {}", Self::replacement());
            D::send(held.get(), note).await.map_err(D::trouble)?;
            return Err(Error::Conflict("another server took its place".to_owned()));
        };
        let (writes, answer) = round.decide(scene);
        if writes.is_empty() {
            D::send(held.get(), "ROLLBACK".to_owned()).await.map_err(D::trouble)?;
            return Ok(answer);
        }
        let rings = matches!(&answer, Outcome::Committed(Done::Rounded(report))
            if matches!(report.end, End::Claimed(..) | End::Resigned));
        let plans = plans(election, round, writes, had.map(|vars| vars.epoch));
        let script = Script::of::<D>(&plans);
        let ring = D::RING.filter(|_| rings).map(|ring| format!(";\n{ring}")).unwrap_or_default();
        let replies = D::send(held.get(), script.sql() + &ring).await.map_err(D::trouble)?;
        script.check(&replies)?;
        self.statements += u64::try_from(script.len()).unwrap_or(0) + 1;
        D::send(held.get(), "COMMIT".to_owned()).await.map_err(D::trouble)?;
        Ok(answer)
    }

    /// Begins a transaction, locks VARS and the election, and reads everything that a round may need.
    /// `None` if another server took the place of the one before.
    async fn scene(
        &mut self,
        held: &mut Held<D>,
        election: &ElectionName,
        round: &Round,
    ) -> Result<Option<(Scene, Option<Vars>)>, Error> {
        let mut statements = vec![D::begin(self.limits)];
        statements.extend(D::queue(&[election]));
        statements.extend([
            register::select_vars(election, "FOR UPDATE"),
            row::lock(&[election]),
            row::select::<D>(Some(&[election])),
            register::select_mine(election, &round.candidate),
            register::select_window(election, round.window),
            format!("SELECT MAX(id) FROM incumbent_descriptor WHERE election = '{election}'"),
        ]);
        let replies = D::send(held.get(), statements.join(";\n")).await.map_err(D::trouble)?;
        self.statements += u64::try_from(replies.len()).unwrap_or(0);
        // However many statements a beginning takes.
        let [.., vars, _, row, mine, window, top] = replies.as_slice() else {
            return Err(Error::Store("no answer".to_owned()));
        };
        let mut found = row::found(row)?;
        if self.is_replaced(&found)? {
            return Ok(None);
        }
        let vars = register::vars(vars)?;
        let top = top.cell().map(|top| row::number(Some(top)).map(MemberId::new)).transpose()?;
        let scene = Scene {
            election: found.snapshots.take(election),
            vars: vars.clone(),
            mine: register::pulses(mine)?.pop(),
            shown: register::shown(window)?,
            suspects: Vec::new(),
            top,
        };
        Ok(Some((scene, vars)))
    }

    pub(super) async fn read_roster(
        &mut self,
        election: &ElectionName,
    ) -> Result<arbiter::Roster, Error> {
        let statements = [
            row::select::<D>(Some(&[election])),
            register::select_vars(election, ""),
            register::select_roster(election),
        ];
        let replies = self.ask(3, statements.join(";\n")).await?;
        let [row, vars, rows] = replies.as_slice() else {
            return Err(Error::Store("no answer".to_owned()));
        };
        let snapshot = row::found(row)?.snapshots.take(election);
        let (vars, rows) = (register::vars(vars)?, register::descriptors(rows)?);
        Ok(arbiter::Roster { snapshot, vars, rows })
    }
}
