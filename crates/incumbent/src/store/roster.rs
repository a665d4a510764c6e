//! Who takes part in an election with a roster, for people and programs.
//!
//! Assumes: rows as one read found them.
//! Promises: says who leads and who is second in line by the store's own knowledge and clock, which
//! decides nothing: rounds never look at it.

use std::time::Duration;

use incumbent_protocol::identity::{CandidateId, ElectionName};
use incumbent_protocol::lease::row::{Leader, Sight};
use incumbent_protocol::rounds::pace::{Pace, Pacing};
use incumbent_protocol::rounds::register::{Descriptor, MemberId};
use incumbent_protocol::time::StoreTime;
use serde::Serialize;

use super::arbiter;

/// Everybody in line, lowest id first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Roster {
    /// Of which election.
    pub election: ElectionName,
    /// Who leads, and how sure the store is of that.
    pub sight: Sight,
    /// What all candidates agree on; `None` if the election never had a roster.
    pub pacing: Option<Pacing>,
    /// How long a round is; `None` if the election never had a roster.
    pub pace: Option<Pace>,
    /// The candidates.
    pub members: Vec<Member>,
    /// The store's clock at the look.
    pub now: StoreTime,
}

/// One candidate in line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Member {
    /// Its place; lower ones go first.
    pub id: MemberId,
    /// Who.
    pub candidate: CandidateId,
    /// What it is.
    pub position: Position,
    /// Where others reach it.
    pub address: Option<String>,
    /// What it says about itself.
    pub labels: Vec<(String, String)>,
    /// When it joined, by the store's clock.
    pub joined: StoreTime,
    /// For how long nothing was heard of it, by the store's clock.
    pub idle: Duration,
}

/// What a candidate in line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Position {
    /// It leads.
    Leader,
    /// It is the next in line.
    Second,
    /// It waits.
    Waiting,
    /// It was not heard of for a lease: it is about to be evicted.
    Overdue,
    /// Its process is proved to be gone.
    Died,
}

impl Position {
    /// The word used by every face of the program.
    pub const fn as_str(self) -> &'static str {
        match self {
            Position::Leader => "leader",
            Position::Second => "second",
            Position::Waiting => "waiting",
            Position::Overdue => "overdue",
            Position::Died => "died",
        }
    }
}

impl Roster {
    pub(crate) fn new(election: ElectionName, found: arbiter::Roster) -> Roster {
        let arbiter::Roster { snapshot, vars, rows } = found;
        let (sight, now) = (snapshot.sight(), snapshot.now);
        let pace = vars.as_ref().map(|vars| vars.pace);
        let pacing = vars.as_ref().map(|vars| vars.pacing);
        let lease =
            vars.map_or(Duration::MAX, |vars| vars.pacing.rules_at(vars.pace.round).lease());
        let mut second = true;
        let member = |row: Descriptor| {
            let idle = now.since(row.beaten_at);
            let position = if row.died {
                Position::Died
            } else if sight.leader().is_some_and(|leader| leader.id == row.pulse.candidate) {
                Position::Leader
            } else if idle >= lease {
                Position::Overdue
            } else if std::mem::take(&mut second) {
                Position::Second
            } else {
                Position::Waiting
            };
            Member {
                id: row.pulse.id,
                candidate: row.pulse.candidate,
                position,
                address: row.profile.address,
                labels: row.profile.labels,
                joined: row.joined,
                idle,
            }
        };
        let members = rows.into_iter().map(member).collect();
        Roster { election, sight, pacing, pace, members, now }
    }

    /// The leader, if there is one that may be acting.
    pub const fn leader(&self) -> Option<&Leader> {
        self.sight.leader()
    }

    /// Who is next in line.
    pub fn second(&self) -> Option<&Member> {
        self.members.iter().find(|member| member.position == Position::Second)
    }

    /// Those who are neither overdue nor proved to be gone.
    pub fn live(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|m| !matches!(m.position, Position::Overdue | Position::Died))
    }
}

/// Labels as a store keeps them: a line each.
pub(crate) fn write_labels(labels: &[(String, String)]) -> String {
    labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("\n")
}

/// Reads them back.
pub(crate) fn read_labels(text: &str) -> Vec<(String, String)> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}
