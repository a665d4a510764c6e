//! Writing what a decision says.
//!
//! Assumes: the caller's transaction, in which the rows were locked and the decision was made.
//! Promises: each write is guarded by what the decision was based on, and says how many rows it must
//! change; every change of leadership leaves its trace in the history of terms, every order in that of
//! orders.

use incumbent_protocol::identity::{CandidateName, ElectionName};
use incumbent_protocol::lease::forget::Removal;
use incumbent_protocol::lease::order::Decree;
use incumbent_protocol::lease::request::Claim;
use incumbent_protocol::time::StoreTime;

use super::dialect::{Dialect, Reply};
use super::register;
use crate::error::Error;
use crate::store::arbiter::{ORDERS_KEPT, Plan, REMOVALS, controls_text, misfit, words};
use crate::store::office::{Removing, Warrant};

/// How many terms of an election are kept for people to see.
const KEPT: u32 = 1_000;

/// One statement of a plan.
struct Line<'a> {
    election: &'a ElectionName,
    sql: String,
    /// Whether it must change exactly one row.
    one: bool,
}

/// The statements of several plans, to be sent as one message.
pub(super) struct Script<'a>(Vec<Line<'a>>);

impl<'a> Script<'a> {
    pub(super) fn of<D: Dialect>(plans: &'a [Plan]) -> Self {
        let mut script = Script(Vec::new());
        for plan in plans {
            match plan {
                Plan::Claim { election, claim } => script.claim(election, claim),
                Plan::Release { election, now, successor } => {
                    script.release(election, *now, successor.as_ref());
                }
                Plan::Order { warrant, decree, now } => script.order::<D>(warrant, decree, *now),
                Plan::Forget { removing, removal, now } => {
                    script.forget::<D>(removing, removal, *now);
                }
                Plan::Register { election, by, write, had } => {
                    let (one, sql) = register::write::<D>(election, by, write, *had);
                    script.push(election, one, sql);
                }
            }
        }
        script
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn sql(&self) -> String {
        self.0.iter().map(|line| line.sql.as_str()).collect::<Vec<_>>().join(";\n")
    }

    /// Whether every statement changed what it had to.
    pub(super) fn check(&self, replies: &[Reply]) -> Result<(), Error> {
        for (at, line) in self.0.iter().enumerate() {
            let affected = replies.get(at).map_or(0, |reply| reply.affected);
            if line.one && affected != 1 {
                return Err(misfit(line.election));
            }
        }
        Ok(())
    }

    fn push(&mut self, election: &'a ElectionName, one: bool, sql: String) {
        self.0.push(Line { election, sql, one });
    }

    fn claim(&mut self, election: &'a ElectionName, claim: &Claim) {
        let Claim { candidate, rules, term, opening, .. } = claim;
        let (holder, incarnation) = (&candidate.name, candidate.incarnation);
        let since = claim.since.as_micros();
        let (lease, margin) = (rules.lease().as_micros(), rules.margin().as_micros());
        let (expiry, protocol) = words(rules.expiry());
        if let Some((before, beat)) = claim.expected {
            self.push(election, true, format!(
                "UPDATE incumbent_election SET state = 'held', holder = '{holder}', incarnation = '{incarnation}',
                    term = {term}, lease_us = {lease}, margin_us = {margin}, expiry = '{expiry}', since_us = {since},
                    successor = NULL, protocol = '{protocol}'
                WHERE name = '{election}' AND term = {before} AND term < {term}"
            ));
            self.push(election, true, format!(
                "UPDATE incumbent_beat SET term = {term}, incarnation = '{incarnation}', beat = 0, beaten_us = {since}
                WHERE name = '{election}' AND term = {before} AND beat = {beat}"
            ));
        } else {
            self.push(election, true, format!(
                "INSERT INTO incumbent_election
                    (name, state, holder, incarnation, term, lease_us, margin_us, expiry, since_us, successor, protocol)
                VALUES ('{election}', 'held', '{holder}', '{incarnation}', {term}, {lease}, {margin}, '{expiry}', {since}, NULL,
                    '{protocol}')"
            ));
            self.push(
                election,
                true,
                format!(
                    "INSERT INTO incumbent_beat (name, term, incarnation, beat, beaten_us)
                VALUES ('{election}', {term}, '{incarnation}', 0, {since})"
                ),
            );
        }
        self.close_term(election, opening.as_str(), since);
        self.push(
            election,
            true,
            format!(
            "INSERT INTO incumbent_term (election, term, holder, incarnation, opening, began_us)
            VALUES ('{election}', {term}, '{holder}', '{incarnation}', '{opening}', {since})"
        ),
        );
        let last = KEPT - 1;
        self.push(election, false, format!(
            "DELETE FROM incumbent_term WHERE election = '{election}' AND term < (SELECT term FROM
                (SELECT term FROM incumbent_term WHERE election = '{election}' ORDER BY term DESC LIMIT 1 OFFSET {last}) AS old)"
        ));
    }

    fn release(
        &mut self,
        election: &'a ElectionName,
        now: StoreTime,
        successor: Option<&CandidateName>,
    ) {
        let (now, successor) = (now.as_micros(), name_or_null(successor));
        self.push(election, true, format!(
            "UPDATE incumbent_election SET state = 'released', successor = {successor} WHERE name = '{election}'"
        ));
        // The time of the last beat stays: on a server that took another's place, a holder that lets go
        // of what that one may have given to somebody else proves nothing.
        self.push(election, true, format!(
            "UPDATE incumbent_beat SET beat = beat + 1, incarnation = NULL WHERE name = '{election}'"
        ));
        self.close_term(election, "resigned", now);
    }

    /// Writes down what was ordered and what is in force from now on; ends the term if it says so.
    fn order<D: Dialect>(&mut self, warrant: &'a Warrant, decree: &Decree, now: StoreTime) {
        let Warrant { election, order, papers } = warrant;
        let (term, now) = (decree.term, now.as_micros());
        let actor = D::text(&papers.actor);
        let reason = text_or_null::<D>(papers.reason.as_deref());
        let controls = text_or_null::<D>(controls_text(&decree.controls).as_deref());
        self.push(
            election,
            true,
            format!(
                "UPDATE incumbent_election SET controls = {controls} WHERE name = '{election}'"
            ),
        );
        let (verb, subject) = (order.word(), order.subject().map_or("", CandidateName::as_str));
        self.push(
            election,
            true,
            format!(
                "INSERT INTO incumbent_order (election, at_us, verb, subject, term, actor, reason)
            VALUES ('{election}', {now}, '{verb}', '{subject}', {term}, {actor}, {reason})"
            ),
        );
        self.trim_orders(election, election.as_str());
        if !decree.ends {
            return;
        }
        let (state, successor) = (decree.state.as_str(), name_or_null(decree.successor.as_ref()));
        self.push(election, true, format!(
            "UPDATE incumbent_election SET state = '{state}', successor = {successor} WHERE name = '{election}'"
        ));
        // The time of the last beat stays: what is left of the deposed leader's lease counts from it.
        self.push(election, true, format!(
            "UPDATE incumbent_beat SET beat = beat + 1, incarnation = NULL WHERE name = '{election}'"
        ));
        let ending = warrant.ending();
        self.push(election, false, format!(
            "UPDATE incumbent_term SET ending = '{ending}', ended_us = {now}, actor = {actor}, note = {reason}
            WHERE election = '{election}' AND term = {term} AND ended_us IS NULL"
        ));
    }

    /// Removes an election, and writes down that it was removed.
    fn forget<D: Dialect>(&mut self, removing: &'a Removing, removal: &Removal, now: StoreTime) {
        let Removing { election, actor, reason, .. } = removing;
        let (term, now) = (removal.term, now.as_micros());
        let beat = removal.expected.map_or(0, |(_, beat)| beat);
        self.push(election, true, format!(
            "DELETE FROM incumbent_beat WHERE name = '{election}' AND term = {term} AND beat = {beat}"
        ));
        self.push(
            election,
            true,
            format!("DELETE FROM incumbent_election WHERE name = '{election}' AND term = {term}"),
        );
        for (table, key) in [
            ("incumbent_term", "election"),
            ("incumbent_order", "election"),
            ("incumbent_candidate", "election"),
            ("incumbent_descriptor", "election"),
            ("incumbent_vars", "name"),
        ] {
            self.push(election, false, format!("DELETE FROM {table} WHERE {key} = '{election}'"));
        }
        let (verb, actor) = (Removing::VERB, D::text(actor));
        let reason = text_or_null::<D>(reason.as_deref());
        self.push(
            election,
            true,
            format!(
                "INSERT INTO incumbent_order (election, at_us, verb, subject, term, actor, reason)
            VALUES ('{REMOVALS}', {now}, '{verb}', '{election}', {term}, {actor}, {reason})"
            ),
        );
        self.trim_orders(election, REMOVALS);
    }

    /// Keeps the newest orders of those that are kept under this name.
    fn trim_orders(&mut self, election: &'a ElectionName, under: &str) {
        let last = ORDERS_KEPT - 1;
        self.push(election, false, format!(
            "DELETE FROM incumbent_order WHERE election = '{under}' AND at_us < (SELECT at_us FROM
                (SELECT at_us FROM incumbent_order WHERE election = '{under}' ORDER BY at_us DESC LIMIT 1 OFFSET {last}) AS old)"
        ));
    }

    fn close_term(&mut self, election: &'a ElectionName, ending: &str, now: u64) {
        self.push(
            election,
            false,
            format!(
                "UPDATE incumbent_term SET ending = '{ending}', ended_us = {now}
            WHERE election = '{election}' AND ended_us IS NULL"
            ),
        );
    }
}

fn name_or_null(name: Option<&CandidateName>) -> String {
    name.map_or_else(|| "NULL".to_owned(), |name| format!("'{name}'"))
}

/// Any text as a literal, or none.
pub(super) fn text_or_null<D: Dialect>(text: Option<&str>) -> String {
    text.map_or_else(|| "NULL".to_owned(), D::text)
}

#[cfg(all(test, feature = "postgres", feature = "mysql"))]
mod tests {
    use incumbent_protocol::identity::{CandidateId, Incarnation, NAME_MAX};
    use incumbent_protocol::lease::request::{Holding, Opening};
    use incumbent_protocol::rules::Timing;
    use incumbent_protocol::term::{Recorded, Term};

    use super::*;
    use crate::mysql::My;
    use crate::postgres::Pg;
    use crate::server::dialect::Limits;
    use crate::server::row;
    use crate::store::round::{RENEWALS, WRITES};

    /// The least that any server takes as one message.
    const PACKET: usize = 1 << 20;

    fn me() -> CandidateId {
        let name = CandidateName::new("n".repeat(NAME_MAX)).expect("a name");
        CandidateId::new(name, Incarnation::from_random(u128::MAX))
    }

    fn longest() -> ElectionName {
        ElectionName::new("e".repeat(NAME_MAX)).expect("a name")
    }

    fn fits<D: Dialect>() {
        let (election, me) = (longest(), me());
        let term = |below| Term::recorded(u64::MAX / 4 - below).expect("a term");
        let claim = Claim {
            expected: Some((term(1), u64::MAX / 4)),
            candidate: me.clone(),
            rules: *Timing::of_lease(std::time::Duration::from_hours(1)).expect("one").rules(),
            term: term(0),
            opening: Opening::Expired,
            since: StoreTime::from_micros(u64::MAX / 4),
        };
        let plan = || Plan::Claim { election: election.clone(), claim: Box::new(claim.clone()) };
        let plans: Vec<Plan> = (0..WRITES).map(|_| plan()).collect();
        let claims = Script::of::<D>(&plans).sql().len();
        assert!(claims < PACKET, "{claims} bytes of claims");

        let names = [&election; RENEWALS];
        let read = row::lock(&names).len() + row::select::<D>(Some(&names)).len();
        let queue = D::queue(&names).map_or(0, |queue| queue.len());
        assert!(read + queue < PACKET, "{read} bytes to read, {queue} to wait in line");

        // No two of them have the same term.
        let below = 0..u64::try_from(RENEWALS).expect("a number");
        let held: Vec<Holding> =
            below.map(|below| Holding { candidate: me.clone(), term: term(below) }).collect();
        let held: Vec<_> = held.iter().map(|holding| (&election, holding)).collect();
        let renew = D::renew(&held, &me.incarnation.to_string(), Limits::generous()).len();
        assert!(renew < PACKET, "{renew} bytes of renewals");
    }

    #[test]
    fn no_message_of_a_round_comes_near_the_longest_that_a_server_takes() {
        fits::<My>();
        fits::<Pg>();
    }
}
