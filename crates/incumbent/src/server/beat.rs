//! The rounds of followers and leaders: one message, whatever the size of the roster.
//!
//! Assumes: the guards below say what `Round::decide` says of a beat and of a leader's round; `mirror`
//! holds one against the other.
//! Promises: the lock on VARS is the first statement of each transaction (behind the queue for the
//! election, if a leader changes its pace), shared for a follower and exclusive for a leader; the whole transaction travels in one message, so that whoever is stopped
//! leaves no lock behind. Whether another server took the place of the one before is asked by those
//! who look and by those who claim, not here: a beat proves nothing but that its sender lives, and a
//! leader's round is a renewal.

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::lease::request::{Denied, Done, Refusal};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::rounds::register::{Place, Pulse, Scene};
use incumbent_protocol::rounds::round::{Act, End, Evidence, Lead, Report, Round};

use super::dialect::{Dialect, Limits, Reply};
use super::register;
use super::row;
use crate::error::Error;
use crate::store::arbiter::words;
use crate::store::round::Answer;

/// One round as statements, and where its answers are among the replies.
pub(super) struct Message<'a> {
    election: &'a ElectionName,
    round: &'a Round,
    statements: Vec<String>,
    /// The statement that says whether the round counts.
    counts: usize,
    suspects: Option<usize>,
    vars: usize,
    row: usize,
    window: usize,
}

impl<'a> Message<'a> {
    pub(super) fn of<D: Dialect>(
        election: &'a ElectionName,
        round: &'a Round,
        limits: Limits,
    ) -> Self {
        let begin = D::begin(limits).split(';').map(|part| part.trim().to_owned()).collect();
        let mut message = Message {
            election,
            round,
            statements: begin,
            counts: 0,
            suspects: None,
            vars: 0,
            row: 0,
            window: 0,
        };
        match &round.act {
            Act::Lead(lead) => message.lead::<D>(lead),
            Act::Beat { place } => message.beat::<D>(*place),
            _ => {}
        }
        message.row = message.push(row::select_quickly::<D>(election));
        message.window = message.push(register::select_window(election, round.window));
        message.push("COMMIT".to_owned());
        message
    }

    pub(super) fn len(&self) -> usize {
        self.statements.len()
    }

    pub(super) fn sql(&self) -> String {
        self.statements.join(";\n")
    }

    fn push(&mut self, sql: String) -> usize {
        self.statements.push(sql);
        self.statements.len() - 1
    }

    /// Shares VARS, and counts one beat of the candidate's own row.
    fn beat<D: Dialect>(&mut self, place: Place) {
        let (election, now) = (self.election, D::NOW);
        self.vars = self.push(register::select_vars(election, D::SHARE));
        let life = self.life(place, 0);
        let mine = self.mine(place);
        self.counts = self.push(format!(
            "UPDATE incumbent_descriptor SET counter = counter + 1, beaten_us = {now} WHERE {mine} AND EXISTS {life}"
        ));
    }

    /// Has VARS for itself, prolongs the term, counts a beat, evicts, and changes the pace.
    fn lead<D: Dialect>(&mut self, lead: &Lead) {
        let (election, now, place) = (self.election, D::NOW, lead.place);
        let (term, incarnation) = (lead.holding.term, self.round.candidate.incarnation);
        let (life, mine) = (self.life(place, lead.pace), self.mine(place));
        let held = format!(
            "(SELECT 1 FROM incumbent_beat AS b WHERE b.name = '{election}' AND b.term = {term}
                AND b.incarnation = '{incarnation}')"
        );
        // MySQL does not let a statement read the table that it writes, unless behind another one.
        let kept = format!(
            "(SELECT 1 FROM (SELECT DISTINCT id FROM incumbent_descriptor WHERE {mine}) AS me)"
        );
        // Another pace changes the election's row, which fenced transactions share.
        if let Some(queue) = lead.shift.and_then(|_| D::queue(&[election])) {
            self.push(queue);
        }
        self.push(format!(
            "UPDATE incumbent_vars SET writes = writes + 1 WHERE name = '{election}'"
        ));
        if let Some(shift) = lead.shift {
            let (lease, margin) =
                (shift.rules.lease().as_micros(), shift.rules.margin().as_micros());
            let (expiry, protocol) = words(shift.rules.expiry());
            let from = shift.from;
            self.push(format!(
                "UPDATE incumbent_election SET lease_us = {lease}, margin_us = {margin}, expiry = '{expiry}',
                    protocol = '{protocol}'
                WHERE name = '{election}' AND term = {term} AND incarnation = '{incarnation}' AND state = 'held'
                    AND EXISTS {held} AND EXISTS {kept} AND EXISTS {life} AND EXISTS (SELECT 1
                        FROM incumbent_vars AS v WHERE v.name = '{election}' AND v.pace = {from})"
            ));
        }
        self.counts = self.push(format!(
            "UPDATE incumbent_beat SET beat = beat + 1, beaten_us = {now}
            WHERE name = '{election}' AND term = {term} AND incarnation = '{incarnation}'
                AND EXISTS {life} AND EXISTS {kept}"
        ));
        self.push(format!(
            "UPDATE incumbent_descriptor SET counter = counter + 1, beaten_us = {now}
            WHERE {mine} AND EXISTS {held} AND EXISTS {life}"
        ));
        self.evict(lead, &format!("EXISTS {held} AND EXISTS {life} AND EXISTS {kept}"));
        if let Some(shift) = lead.shift {
            let (round, number) = (shift.to.round.as_micros(), shift.to.number);
            let next =
                shift.to.next.map_or_else(|| "NULL".to_owned(), |n| n.as_micros().to_string());
            let flag = if shift.answers { ", evicted = 0" } else { "" };
            let (from, least, epoch) = (shift.from, lead.pace, place.epoch.as_micros());
            self.push(format!(
                "UPDATE incumbent_vars SET round_us = {round}, next_us = {next}, pace = {number}{flag}
                WHERE name = '{election}' AND epoch_us = {epoch} AND pace = {from} AND pace >= {least}
                    AND EXISTS {held} AND EXISTS {kept}"
            ));
        }
        self.vars = self.push(register::select_vars(election, ""));
    }

    fn evict(&mut self, lead: &Lead, stands: &str) {
        let suspects = lead.evict.iter().map(Evidence::view);
        let suspects: Vec<&Pulse> = suspects.filter(|pulse| pulse.id != lead.place.id).collect();
        if suspects.is_empty() {
            return;
        }
        let election = self.election;
        let ids = suspects.iter().map(|pulse| pulse.id.to_string()).collect::<Vec<_>>().join(", ");
        self.suspects = Some(self.push(format!(
            "SELECT id, holder, incarnation, counter FROM incumbent_descriptor
            WHERE election = '{election}' AND id IN ({ids})"
        )));
        let remove = register::remove(election, &suspects);
        self.push(format!("{remove} AND {stands}"));
    }

    fn mine(&self, place: Place) -> String {
        let (election, id) = (self.election, place.id);
        let incarnation = self.round.candidate.incarnation;
        format!("election = '{election}' AND id = {id} AND incarnation = '{incarnation}'")
    }

    /// That VARS is in the same life, and at no earlier pace than `least`.
    fn life(&self, place: Place, least: u64) -> String {
        let (election, epoch) = (self.election, place.epoch.as_micros());
        format!(
            "(SELECT 1 FROM incumbent_vars AS v WHERE v.name = '{election}' AND v.epoch_us = {epoch}
                AND v.pace >= {least})"
        )
    }

    /// What the server said, from its replies to this message alone.
    pub(super) fn read(&self, replies: &[Reply]) -> Result<Answer, Error> {
        let reply = |at: usize| replies.get(at).ok_or_else(|| Error::Store("no answer".to_owned()));
        let election = row::found(reply(self.row)?)?.snapshots.take(self.election);
        if matches!(self.round.act, Act::Lead(_)) && reply(self.counts)?.affected != 1 {
            let denied = Denied { refusal: Refusal::Over, snapshot: Some(election) };
            return Ok(Outcome::Refused(denied));
        }
        let suspects = self.suspects.map(|at| register::pulses(reply(at)?)).transpose()?;
        let suspects = suspects.unwrap_or_default();
        let end = match &self.round.act {
            Act::Lead(lead) => {
                let still = |pulse: &Pulse| lead.evict.iter().any(|e| e.view() == pulse);
                End::Led(suspects.iter().filter(|pulse| still(pulse)).cloned().collect())
            }
            _ if reply(self.counts)?.affected == 1 => End::Beaten,
            _ => End::Evicted,
        };
        let vars = register::vars(reply(self.vars)?)?;
        let shown = register::shown(reply(self.window)?)?;
        let scene = Scene { election, vars, mine: None, shown, suspects, top: None };
        Ok(Outcome::Committed(Done::Rounded(Box::new(Report { scene, end }))))
    }
}
