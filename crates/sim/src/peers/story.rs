//! What a seed stands for among peers: a setting, and everything that goes wrong in it.
//!
//! Assumes: nothing; every seed gives a story.
//! Promises: the whole story is known before the world begins, so that it can be cut short.

use core::time::Duration;

use incumbent_protocol::caucus::{self, Rejoin, WaitError};
use incumbent_protocol::group::Manner;
use incumbent_protocol::node::NodeId;
use incumbent_protocol::rules::{Timing, TimingError};
use incumbent_protocol::{bully, detector, ring};
use serde::{Deserialize, Serialize};

use super::fault::Kind;
use crate::clock::{At, Skew, Span};
use crate::genre;
use crate::random::Random;

mod draw;
mod sense;
mod shorter;

const MILLISECOND: Span = 1_000_000;

/// How peers pick one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// By a ring.
    Ring,
    /// By asking the higher.
    Bully,
}

/// How nodes come by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Numbers {
    /// From this one upwards.
    From(u64),
    /// From this one downwards.
    Down(u64),
    /// By their addresses.
    Addresses,
}

/// The setting of a world of peers. All spans in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// How they pick one of them.
    pub algorithm: Algorithm,
    /// How many elections they hold.
    #[serde(default = "one")]
    pub elections: usize,
    /// How many nodes there are.
    pub nodes: usize,
    /// How many of them vote from the start: the first.
    pub voters: usize,
    /// What their numbers are.
    pub numbers: Numbers,
    /// Whether a higher node that comes back begins a run at once.
    pub preempts: bool,
    /// Whether suspicion follows how long answers take.
    pub phi: bool,
    /// How long a ping may go unanswered.
    pub heartbeat: Span,
    /// The bound on the time of one message that nodes count on.
    pub message: Span,
    /// The lease.
    pub lease: Span,
    /// The rate of each node's clock.
    pub skews: Vec<Skew>,
    /// When each node first starts.
    pub starts: Vec<At>,
    /// The fastest that a message passes.
    pub latency_least: Span,
    /// The slowest that a message passes on a healthy link.
    pub latency_most: Span,
    /// The slowest that a healthy disk writes.
    pub disk_most: Span,
    /// How late a process gets its turn at most when all is well.
    pub lateness: Span,
    /// Whether users go on watching while they do not contend.
    pub watches: bool,
    /// How long the whole run takes.
    pub length: Span,
}

impl Setting {
    /// The defaults of a new installation, on even clocks, with numbers from 1 on.
    pub fn plain(algorithm: Algorithm, nodes: usize, length: Span) -> Setting {
        Setting {
            algorithm,
            elections: 1,
            nodes,
            voters: nodes,
            numbers: Numbers::From(1),
            preempts: false,
            phi: false,
            heartbeat: 700 * MILLISECOND,
            message: 50 * MILLISECOND,
            lease: 3_000 * MILLISECOND,
            skews: vec![0; nodes],
            starts: vec![0; nodes],
            latency_least: MILLISECOND / 10,
            latency_most: MILLISECOND,
            disk_most: MILLISECOND,
            lateness: MILLISECOND / 10,
            watches: false,
            length,
        }
    }

    /// The timings of all candidates.
    pub fn timing(&self) -> Result<Timing, TimingError> {
        Timing::of_lease(span(self.lease))
    }

    pub(super) fn manner(&self) -> Result<Manner, WaitError> {
        let message = span(self.message);
        let algorithm = match self.algorithm {
            Algorithm::Ring => caucus::Manner::Ring(ring::Timeouts::of_message_time(message)?),
            Algorithm::Bully => caucus::Manner::Bully(bully::Timeouts::of_message_time(message)?),
        };
        let rejoin = if self.preempts { Rejoin::Preempting } else { Rejoin::Sticky };
        Ok(Manner { algorithm, rejoin, patience: span(self.lease) * 2, unratified: false })
    }

    pub(super) fn detector(&self) -> Result<detector::Manner, WaitError> {
        let heartbeat = span(self.heartbeat);
        if self.phi {
            detector::Manner::of_phi(heartbeat)
        } else {
            detector::Manner::of_timeout(heartbeat)
        }
    }

    /// The number of a node.
    pub fn number(&self, index: usize) -> NodeId {
        let index_wide = index as u64;
        match self.numbers {
            Numbers::From(first) => NodeId::given(u128::from(first + index_wide)),
            Numbers::Down(last) => NodeId::given(u128::from(last.saturating_sub(index_wide))),
            Numbers::Addresses => NodeId::of_address(&format!("10.0.0.{}:7600", index + 1)),
        }
    }

    /// When everything is well again: the last quarter of the run is calm.
    pub const fn heals_at(&self) -> At {
        self.length / 4 * 3
    }
}

/// As many as there were when stories did not say.
const fn one() -> usize {
    1
}

fn span(nanos: Span) -> Duration {
    Duration::from_nanos(nanos)
}

/// What happens in a world of peers.
pub type Story = genre::Story<Setting>;

impl Story {
    /// The story of a seed.
    pub fn of(algorithm: Algorithm, seed: u64, length: Span) -> Story {
        let mut random = Random::from_seed(seed ^ 0x0070_6565_7273);
        let mut setting = draw::setting(&mut random, algorithm, length);
        setting.elections = draw::elections(seed, setting.nodes);
        let mut faults = draw::faults(&mut random, &setting);
        faults.extend(draw::conduct(&mut Random::from_seed(seed ^ 0x0c04_d0c7), &setting));
        faults.sort_by_key(|fault| fault.at);
        Story { seed, setting, faults }
    }

    /// The story of a seed in which nothing goes wrong but what is named.
    pub fn among(algorithm: Algorithm, seed: u64, length: Span, kinds: &[Kind]) -> Story {
        let mut random = Random::from_seed(seed ^ 0x0070_6565_7273);
        let mut setting = draw::setting(&mut random, algorithm, length);
        setting.elections = draw::elections(seed, setting.nodes);
        let faults = draw::faults_of(&mut random, &setting, kinds);
        Story { seed, setting, faults }
    }

    /// A story in which nothing goes wrong, among so many nodes that all vote and start at once.
    pub fn plain(algorithm: Algorithm, seed: u64, nodes: usize, length: Span) -> Story {
        Story { seed, setting: Setting::plain(algorithm, nodes, length), faults: Vec::new() }
    }
}
