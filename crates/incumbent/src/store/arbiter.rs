//! The seam between what is asked of a database and how each database does it.
//!
//! Assumes: one call at a time, on one connection.
//! Promises: decisions are not made behind this seam. A backend reads, hands what it read to a pure
//! decision, and carries out what that says, all in one transaction under its locks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use incumbent_protocol::controls::Controls;
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::lease::forget::Removal;
use incumbent_protocol::lease::order::Decree;
use incumbent_protocol::lease::request::{Claim, Holding};
use incumbent_protocol::lease::row::Snapshot;
use incumbent_protocol::roll::{self, Peer};
use incumbent_protocol::rounds::register::{Descriptor, Vars};
use incumbent_protocol::rounds::round::{Round, Write};
use incumbent_protocol::rules::Expiry;
use incumbent_protocol::time::StoreTime;

use super::holder::LockHolder;
use super::office::{OrderRecord, Removing, TermRecord, Warrant};
use super::round::Answer;
use crate::error::Error;

/// A database that arbitrates.
pub(crate) trait Arbiter {
    /// Whatever must be in place before this process bids for the first time.
    fn before_bidding(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Prolongs every held term in one statement, and names the elections whose term still stood.
    async fn renew(&mut self, held: &[(&ElectionName, &Holding)]) -> Result<Vec<String>, Error>;

    /// Reads the named elections, or all of them, in one statement and without a lock.
    async fn read(&mut self, names: Option<&[&ElectionName]>) -> Result<Snapshots, Error>;

    /// Reads the named elections under locks that exclude every other write to them, and carries
    /// out what `decide` says. An empty list of plans leaves everything as it was. What `decide`
    /// returns counts only if this returns it: then it is committed.
    async fn write<T>(
        &mut self,
        names: &[&ElectionName],
        decide: impl FnOnce(Snapshots) -> Result<(Vec<Plan>, T), Error> + Send,
    ) -> Result<T, Error>
    where
        T: Send;

    /// The newest terms of an election, newest first.
    async fn terms(&mut self, election: &ElectionName, most: u32)
    -> Result<Vec<TermRecord>, Error>;

    /// Does the rounds of followers and leaders, all of them in one message. The answers are put down
    /// in the order of the rounds, as far as there are any: an odd row of one election costs the others
    /// nothing. A statement that fails does, on a server: what came before it may have been done, and
    /// all of the message is unknown.
    async fn beats(
        &mut self,
        rounds: &[(&ElectionName, &Round)],
        answers: &mut Vec<Answer>,
    ) -> Result<(), Error>;

    /// Does one round of a newcomer, a contender, or one that leaves, in a transaction that has VARS
    /// for itself.
    async fn round(&mut self, election: &ElectionName, round: &Round) -> Result<Answer, Error>;

    /// The roster of an election, lowest id first, and VARS.
    async fn roster(&mut self, election: &ElectionName) -> Result<Roster, Error>;

    /// Writes these lines into the roll, stamped by the store's clock, and reads everybody's lines of
    /// the named elections. A line that stays gets only new stamps and words; its start stays. Lines
    /// that are not worth keeping ([`roll::sift`]) are not shown, and taken off by those who write.
    async fn roll(
        &mut self,
        lines: &[(&ElectionName, &Peer)],
        elections: &[&ElectionName],
    ) -> Result<Rolls, Error>;

    /// Everybody who has a lock at this moment that orders and claims wait for.
    async fn lock_holders(&mut self) -> Result<Vec<LockHolder>, Error> {
        Ok(Vec::new())
    }

    /// What operators ordered in an election, newest first.
    async fn orders(
        &mut self,
        election: &ElectionName,
        most: u32,
    ) -> Result<Vec<OrderRecord>, Error>;

    /// Wakes whoever listens, after a write.
    fn ring(&mut self) {}
}

/// Everybody's lines, election by election.
pub(crate) type Rolls = BTreeMap<ElectionName, Vec<Peer>>;

/// How many lines a call of the roll takes off at most. What is left is for the next one.
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub(crate) const SURPLUS_MAX: usize = 250;

/// How many lines a call of the roll reads at most: those of processes that are there first.
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub(crate) const fn most_lines(elections: usize) -> usize {
    1_000 + 40 * elections
}

/// Parts what was read into what is worth keeping and what is to be taken off, by its key.
pub(crate) fn sift(rolls: Rolls, now: StoreTime) -> (Rolls, Vec<(ElectionName, Peer)>) {
    let (mut kept, mut surplus) = (Rolls::new(), Vec::new());
    for (election, lines) in rolls {
        let sifted = roll::sift(lines, now);
        surplus.extend(sifted.surplus.into_iter().map(|peer| (election.clone(), peer)));
        if !sifted.kept.is_empty() {
            kept.insert(election, sifted.kept);
        }
    }
    surplus.sort_by_key(|(election, peer)| (election.clone(), peer.id.incarnation.to_string()));
    (kept, surplus)
}

/// How many orders of an election are kept for people to see.
pub(crate) const ORDERS_KEPT: u32 = 1_000;

/// Where the newest removals of elections are kept among the orders: the name of no election.
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub(crate) const REMOVALS: &str = "";

/// Elections as one read found them.
#[derive(Debug)]
pub(crate) struct Snapshots {
    pub(crate) found: BTreeMap<ElectionName, Snapshot>,
    /// What an election without a row looks like.
    pub(crate) blank: Snapshot,
}

impl Snapshots {
    pub(crate) fn take(&mut self, election: &ElectionName) -> Snapshot {
        self.found.remove(election).unwrap_or_else(|| self.blank.clone())
    }
}

/// Everything that an election with a roster keeps.
#[derive(Debug)]
pub(crate) struct Roster {
    pub(crate) snapshot: Snapshot,
    pub(crate) vars: Option<Vars>,
    pub(crate) rows: Vec<Descriptor>,
}

/// What a decision asks to be written.
#[derive(Debug)]
pub(crate) enum Plan {
    /// Begin a term.
    Claim { election: ElectionName, claim: Box<Claim> },
    /// End a term at its holder's wish.
    Release { election: ElectionName, now: StoreTime, successor: Option<CandidateName> },
    /// Do what an operator ordered.
    Order { warrant: Box<Warrant>, decree: Box<Decree>, now: StoreTime },
    /// Remove an election.
    Forget { removing: Box<Removing>, removal: Box<Removal>, now: StoreTime },
    /// Write to the registers of an election.
    Register { election: ElectionName, by: CandidateId, write: Box<Write>, had: Option<StoreTime> },
}

/// What the writes of a round mean here. `had` is the life of VARS that was read, if there was one.
pub(crate) fn plans(
    election: &ElectionName,
    round: &Round,
    writes: Vec<Write>,
    had: Option<StoreTime>,
) -> Vec<Plan> {
    let plan = |write| {
        let election = election.clone();
        match write {
            Write::Claim(claim) => Plan::Claim { election, claim: Box::new(claim) },
            Write::Release { now, successor } => Plan::Release { election, now, successor },
            write => {
                let (by, write) = (round.candidate.clone(), Box::new(write));
                Plan::Register { election, by, write, had }
            }
        }
    };
    writes.into_iter().map(plan).collect()
}

/// Says once that something was found which no version of this program wrote, and which is left out.
pub(crate) fn note_odd(what: &str, problem: &dyn std::fmt::Display) {
    static NOTED: AtomicBool = AtomicBool::new(false);
    if !NOTED.swap(true, Ordering::Relaxed) {
        tracing::warn!(%problem, "{what} cannot be read and does not count; was it edited by hand?");
    }
}

/// A row that no version of this program wrote.
pub(crate) fn odd(what: &str) -> Error {
    Error::Store(format!("a row has an odd {what}; was it edited by hand?"))
}

/// The version of the text in which orders that are in force are kept.
const CONTROLS: u64 = 1;

/// Where the text says its version.
const VERSION: &str = "version";

/// Reads what operators have in force. What cannot be read may forbid a term, so that none begins; it
/// keeps no leader from renewing.
pub(crate) fn controls(text: Option<&str>) -> Controls {
    static NOTED: AtomicBool = AtomicBool::new(false);
    let Some(text) = text else {
        return Controls::default();
    };
    read_controls(text).unwrap_or_else(|problem| {
        if !NOTED.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                %problem,
                "what operators ordered cannot be read, so that no term begins: upgrade this program, or forget those \
                 orders with `incumbent resume`"
            );
        }
        Controls::unreadable(problem)
    })
}

fn read_controls(text: &str) -> Result<Controls, String> {
    let mut value: serde_json::Value = serde_json::from_str(text).map_err(|it| it.to_string())?;
    // The first texts had no version.
    let fields = value.as_object_mut().ok_or("they are no object")?;
    if let Some(version) =
        fields.remove(VERSION).filter(|version| version.as_u64() != Some(CONTROLS))
    {
        return Err(format!("they have version {version}, and this program knows {CONTROLS}"));
    }
    serde_json::from_value(value).map_err(|it| it.to_string())
}

/// The text for it; nothing if nothing is in force.
pub(crate) fn controls_text(controls: &Controls) -> Option<String> {
    if controls.is_empty() {
        return None;
    }
    let mut value = serde_json::to_value(controls).ok()?;
    value.as_object_mut()?.insert(VERSION.to_owned(), CONTROLS.into());
    Some(value.to_string())
}

/// Reads by what an election is held: a roster, or what the word for its expiry says.
pub(crate) fn expiry(word: &str, protocol: &str) -> Result<Expiry, Error> {
    match (protocol, word.parse()) {
        ("rounds", Ok(_)) => Ok(Expiry::Rounds),
        ("lease", Ok(expiry)) if expiry != Expiry::Rounds => Ok(expiry),
        ("rounds" | "lease", _) => Err(odd("expiry")),
        _ => Err(odd("protocol")),
    }
}

/// The words for it: of its expiry, and of its protocol.
pub(crate) const fn words(expiry: Expiry) -> (&'static str, &'static str) {
    match expiry {
        Expiry::Observed | Expiry::Database => (expiry.as_str(), "lease"),
        Expiry::Rounds => (Expiry::Observed.as_str(), "rounds"),
    }
}

/// The two rows of an election do not fit together. Cannot happen under their locks, unless
/// somebody edited them.
pub(crate) fn misfit(election: &ElectionName) -> Error {
    let problem = format!("the rows of election {election} do not fit together; were they edited?");
    Error::Corrupt { place: String::new(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incumbent_protocol::controls::Mandate;

    #[test]
    fn what_operators_ordered_is_read_back_and_has_a_version() {
        let paused = Controls { paused: Some(Box::new(Mandate::default())), ..Controls::default() };
        let text = controls_text(&paused).expect("something is in force");
        assert!(text.contains("\"version\":1"), "{text}");
        assert_eq!(controls(Some(&text)), paused);
        assert_eq!(
            controls(Some(r#"{"paused":{"at":0,"actor":""}}"#)),
            paused,
            "without a version"
        );
        assert_eq!(controls_text(&Controls::default()), None);
        assert_eq!(controls(None), Controls::default());
    }

    #[test]
    fn what_cannot_be_read_lets_no_term_begin() {
        let name = CandidateName::new("ann").expect("a name");
        for text in
            ["", "null", "[]", "{\"version\":2}", "{\"version\":\"1\"}", "{\"quorum\":3}", "paused"]
        {
            let found = controls(Some(text));
            assert!(found.is_unreadable(), "{text:?}");
            let refused = found.permit(&name, StoreTime::default()).expect_err("none begins");
            assert!(refused.to_string().contains("upgrade this program"), "{refused}");
        }
    }
}
