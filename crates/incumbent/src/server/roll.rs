//! The roll on a server: who takes part, and what operators ordered.
//!
//! Assumes: nobody but a process itself writes its lines, and whoever takes old ones off.
//! Promises: lines are written and read in one message, in the order of their key, so that two who
//! write do not wait for each other crosswise. Only a line that was read and found to be of no use is
//! taken off, by its key, in a message of its own: to look for such lines with locks each time would
//! make all candidates of an election wait for each other.

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::roll::{MISSED, Peer, Presence};
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::term::{Recorded, Term};
use incumbent_protocol::time::StoreTime;

use super::Store;
use super::dialect::{Dialect, Reply, list};
use super::row::number;
use super::write::text_or_null;
use crate::error::Error;
use crate::store::arbiter::{REMOVALS, Rolls, SURPLUS_MAX, most_lines, note_odd, odd, sift};
use crate::store::office::OrderRecord;
use crate::store::roster;

/// What a line gets anew each time it is written.
const RENEWED: [&str; 8] =
    ["address", "labels", "priority", "presence", "why", "prefers", "beaten_us", "every_us"];

impl<D: Dialect> Store<D> {
    pub(super) async fn call_roll(
        &mut self,
        lines: &[(&ElectionName, &Peer)],
        elections: &[&ElectionName],
    ) -> Result<Rolls, Error> {
        if elections.is_empty() && lines.is_empty() {
            return Ok(Rolls::new());
        }
        let read = select::<D>(elections);
        let (rolls, mut surplus) = if lines.is_empty() {
            let replies = self.ask(1, read).await?;
            self.rolls(replies.last())?
        } else {
            let (begin, put) = (D::begin(self.limits), put::<D>(lines));
            let replies = self.exchange(format!("{begin};\n{put};\n{read};\nCOMMIT")).await?;
            self.statements += 2;
            self.rolls(replies.iter().rev().nth(1))?
        };
        // Whoever only looks changes nothing.
        if !lines.is_empty() && !surplus.is_empty() {
            surplus.truncate(SURPLUS_MAX);
            let (begin, forget) = (D::begin(self.limits), forget(&surplus));
            self.exchange(format!("{begin};\n{forget};\nCOMMIT")).await?;
            self.statements += 1;
        }
        Ok(rolls)
    }

    /// Reads the answer to [`select`]: everybody's lines, and those that are to be taken off.
    fn rolls(&self, reply: Option<&Reply>) -> Result<(Rolls, Vec<(ElectionName, Peer)>), Error> {
        let reply = reply.ok_or_else(|| Error::Store("no answer".to_owned()))?;
        let (mut rolls, mut now) = (Rolls::new(), StoreTime::default());
        for row in &reply.rows {
            match line(row) {
                Ok((election, peer, at)) => {
                    now = now.max(at);
                    rolls.entry(election).or_default().push(peer);
                }
                // Of one that cannot be read nothing is known. The others are.
                Err(error) => note_odd("a line of the roll", &self.named(error)),
            }
        }
        Ok(sift(rolls, now))
    }
}

/// The statement that writes lines.
fn put<D: Dialect>(lines: &[(&ElectionName, &Peer)]) -> String {
    let mut lines = lines.to_vec();
    lines.sort_by_key(|(election, peer)| (election.as_str(), peer.id.incarnation.to_string()));
    let values = lines.iter().map(|(election, peer)| {
        let Peer { id, profile, priority, presence, why, prefers, every, .. } = peer;
        let (incarnation, holder, now) = (id.incarnation, &id.name, D::NOW);
        let address = text_or_null::<D>(profile.address.as_deref().map(whole).as_deref());
        let labels = D::text(&whole(&roster::write_labels(&profile.labels)));
        let why = text_or_null::<D>(why.as_deref().map(whole).as_deref());
        let (prefers, presence) = (D::text(&whole(prefers)), presence.as_str());
        let every = micros(*every);
        format!(
            "('{election}', '{incarnation}', '{holder}', {address}, {labels}, {priority}, '{presence}', {why}, {prefers},
                {now}, {now}, {every})"
        )
    });
    let values = values.collect::<Vec<_>>().join(", ");
    let replacing = D::replacing("election, incarnation", &RENEWED);
    format!(
        "INSERT INTO incumbent_candidate
            (election, incarnation, holder, address, labels, priority, presence, why, prefers, started_us, beaten_us,
            every_us)
        VALUES {values} {replacing}"
    )
}

/// Without the one sign that PostgreSQL keeps in no text.
fn whole(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The statement that reads everybody's lines: those that are there first, then the newest.
fn select<D: Dialect>(elections: &[&ElectionName]) -> String {
    let (which, now, most) = (list(elections), D::NOW, most_lines(elections.len()));
    let which = if which.is_empty() { "''".to_owned() } else { which };
    format!(
        "SELECT election, incarnation, holder, address, labels, priority, presence, why, prefers, started_us, beaten_us,
            every_us, {now}
        FROM incumbent_candidate WHERE election IN ({which})
        ORDER BY CASE WHEN presence = 'left' OR ({now} - beaten_us) / {MISSED} >= every_us THEN 1 ELSE 0 END,
            beaten_us DESC LIMIT {most}"
    )
}

/// The statement that takes these lines off, unless they were written since they were read.
fn forget(surplus: &[(ElectionName, Peer)]) -> String {
    let lines = surplus.iter().map(|(election, peer)| {
        let (incarnation, beaten) = (peer.id.incarnation, peer.beaten_at.as_micros());
        format!(
            "(election = '{election}' AND incarnation = '{incarnation}' AND beaten_us = {beaten})"
        )
    });
    let lines = lines.collect::<Vec<_>>().join(" OR ");
    format!("DELETE FROM incumbent_candidate WHERE {lines}")
}

/// Reads one row of [`select`], and what the server's clock showed.
fn line(row: &[Option<String>]) -> Result<(ElectionName, Peer, StoreTime), Error> {
    let cell = |at: usize| row.get(at).and_then(Option::as_deref);
    let text = |at: usize| cell(at).unwrap_or_default();
    let time = |at: usize| number(cell(at)).map(StoreTime::from_micros);
    let name = CandidateName::new(text(2)).map_err(|_| odd("holder"))?;
    let incarnation = text(1).parse().map_err(|_| odd("incarnation"))?;
    let labels = roster::read_labels(text(4));
    let peer = Peer {
        id: CandidateId::new(name, incarnation),
        profile: Profile { address: cell(3).map(ToOwned::to_owned), labels },
        priority: text(5).parse().map_err(|_| odd("priority"))?,
        presence: Presence::from_word(text(6)).ok_or_else(|| odd("presence"))?,
        why: cell(7).map(ToOwned::to_owned),
        prefers: text(8).to_owned(),
        started: time(9)?,
        beaten_at: time(10)?,
        every: Duration::from_micros(number(cell(11))?),
    };
    Ok((ElectionName::new(text(0)).map_err(|_| odd("name"))?, peer, time(12)?))
}

/// The statement that reads what operators ordered.
pub(super) fn select_orders(election: &ElectionName, most: u32) -> String {
    format!(
        "SELECT at_us, verb, subject, term, actor, reason FROM incumbent_order
        WHERE election = '{election}' OR (election = '{REMOVALS}' AND subject = '{election}')
        ORDER BY at_us DESC LIMIT {most}"
    )
}

/// Reads one row of [`select_orders`].
pub(super) fn order_record(row: &[Option<String>]) -> Result<OrderRecord, Error> {
    let cell = |at: usize| row.get(at).and_then(Option::as_deref);
    let text = |at: usize| cell(at).unwrap_or_default().to_owned();
    Ok(OrderRecord {
        at: StoreTime::from_micros(number(cell(0))?),
        verb: text(1),
        subject: Some(text(2)).filter(|subject| !subject.is_empty()),
        term: Term::recorded(number(cell(3))?).ok_or_else(|| odd("term"))?,
        actor: text(4),
        reason: cell(5).map(ToOwned::to_owned),
    })
}

/// As the tables keep it.
fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
