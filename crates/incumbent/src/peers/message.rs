//! What peers say to each other.
//!
//! Assumes: links that prove who says it.
//! Promises: new kinds go to the end, so that an older version refuses what it does not know instead
//! of taking it for something else.

use incumbent_protocol::caucus;
use incumbent_protocol::detector;
use incumbent_protocol::identity::{CandidateId, ElectionName};
pub(super) use incumbent_protocol::quorum::elections::Key;
use incumbent_protocol::ratify::amend::Charter;
use incumbent_protocol::ratify::voter::Inventory;
use incumbent_protocol::ratify::{Ask, Electorate, Reply};
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::time::StoreTime;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A value as voters keep it. They do not look into it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Value {
    /// Who votes.
    Electorate(Electorate),
    /// An election, as [`Sheet`](super::sheet::Sheet) writes it.
    Sheet(Vec<u8>),
}

impl Charter for Value {
    fn of(electorate: Electorate) -> Self {
        Value::Electorate(electorate)
    }

    fn electorate(&self) -> Option<&Electorate> {
        match self {
            Value::Electorate(electorate) => Some(electorate),
            Value::Sheet(_) => None,
        }
    }
}

/// One thing that is said.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Message {
    /// To a voter: do this to these registers.
    Ask { id: u64, electorate: Electorate, asks: Vec<(Key, Ask<Value>)> },
    /// What came of it, and what the voter's wall clock shows.
    Answer { id: u64, now: StoreTime, replies: Vec<Reply<Value>> },
    /// To a voter: which registers do you know of?
    Inventory { id: u64, electorate: Electorate },
    /// These.
    Registers { id: u64, inventory: Inventory<Key> },
    /// Put these lines into your roll, and show me the lines of these elections.
    Roll { id: u64, lines: Vec<(ElectionName, Line)>, elections: Vec<ElectionName> },
    /// They are these.
    Rolled { id: u64, lines: Vec<(ElectionName, Line)> },
    /// Something changed; among other things the terms of these numbers ended.
    Rung { ended: Vec<(ElectionName, u64)> },
    /// A heartbeat.
    Beat(detector::Message),
    /// About the nomination in an election.
    Caucus { election: ElectionName, message: caucus::Message },
    /// The elections that the sender contends in.
    Contends(Vec<ElectionName>),
    /// Where others listen that are not in everybody's list.
    Listen(Vec<String>),
}

/// A line of the roll, as it travels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Line {
    id: CandidateId,
    address: Option<String>,
    labels: Vec<(String, String)>,
    priority: i32,
    presence: Presence,
    why: Option<String>,
    prefers: String,
    started: StoreTime,
    beaten_at: StoreTime,
    every_us: u64,
}

impl Line {
    pub(super) fn of(peer: Peer) -> Line {
        Line {
            id: peer.id,
            address: peer.profile.address,
            labels: peer.profile.labels,
            priority: peer.priority,
            presence: peer.presence,
            why: peer.why,
            prefers: peer.prefers,
            started: peer.started,
            beaten_at: peer.beaten_at,
            every_us: u64::try_from(peer.every.as_micros()).unwrap_or(u64::MAX),
        }
    }

    pub(super) fn peer(self) -> Peer {
        Peer {
            id: self.id,
            profile: Profile { address: self.address, labels: self.labels },
            priority: self.priority,
            presence: self.presence,
            why: self.why,
            prefers: self.prefers,
            started: self.started,
            beaten_at: self.beaten_at,
            every: Duration::from_micros(self.every_us),
        }
    }
}
