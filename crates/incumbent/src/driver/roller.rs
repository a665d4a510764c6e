//! When the roll is called: lines of this process are written, and everybody's are read.
//!
//! Assumes: the driver has one connection, and leases go first.
//! Promises: a line is written once an interval, and soon when it says something new; a ring of the
//! bell only brings reading forward. Neither comes in a burst.

use std::collections::BTreeMap;
use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::roll::{Peer, Presence};
use incumbent_protocol::time::Time;

use super::seat::Seat;

/// How many times in an interval the roll is read at most because of rings.
const RINGS: u32 = 8;

/// How often the pause after a failure doubles at most.
const BACKOFFS: u32 = 4;

/// The lines that this process wrote, and when the next are due.
#[derive(Debug)]
pub(super) struct Roller {
    written: BTreeMap<ElectionName, Peer>,
    write_at: Time,
    read_at: Option<Time>,
    last: Time,
    failures: u32,
}

/// One call of the roll.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) lines: BTreeMap<ElectionName, Peer>,
    pub(super) elections: Vec<ElectionName>,
}

impl Roller {
    pub(super) const fn new() -> Self {
        Roller {
            written: BTreeMap::new(),
            write_at: Time::ZERO,
            read_at: None,
            last: Time::ZERO,
            failures: 0,
        }
    }

    /// Somebody may have ordered something.
    pub(super) fn ring(&mut self, now: Time, every: Duration) {
        let soonest = now.max(self.last + every / RINGS);
        self.read_at = Some(self.read_at.map_or(soonest, |at| at.min(soonest)));
    }

    /// Somebody here has something new to say.
    pub(super) fn hurry(&mut self, now: Time, every: Duration) {
        self.write_at = self.write_at.min(now.max(self.last + every / RINGS));
    }

    /// When a call is due, if anybody here takes part.
    pub(super) fn wake_at<'a>(&self, mut seats: impl Iterator<Item = &'a Seat>) -> Option<Time> {
        let lines = seats.any(Seat::takes_part);
        let write = (lines || !self.written.is_empty()).then_some(self.write_at);
        [write, self.read_at].into_iter().flatten().min()
    }

    /// The call that is due, if one is.
    pub(super) fn call<'a>(
        &mut self,
        now: Time,
        seats: impl Iterator<Item = &'a Seat>,
    ) -> Option<Call> {
        let mut lines = BTreeMap::new();
        let mut every = None;
        for seat in seats.filter(|seat| seat.takes_part()) {
            lines.insert(seat.election.clone(), seat.line());
            every = every.min(Some(seat.roll_every())).or(Some(seat.roll_every()));
        }
        let elections: Vec<ElectionName> = lines.keys().cloned().collect();
        for (election, line) in &self.written {
            // It takes part no more: it says so once.
            lines.entry(election.clone()).or_insert_with(|| left(line));
        }
        let write = !lines.is_empty() && now >= self.write_at;
        let read = !elections.is_empty() && self.read_at.is_some_and(|at| now >= at);
        if !write && !read {
            self.read_at = self.read_at.filter(|at| now < *at);
            return None;
        }
        self.last = now;
        self.read_at = None;
        if write {
            self.write_at = now + every.unwrap_or(Duration::from_secs(1));
            let stay = |(_, line): &(&ElectionName, &Peer)| line.presence != Presence::Left;
            let written = lines.iter().filter(stay);
            self.written = written.map(|(name, line)| (name.clone(), line.clone())).collect();
        } else {
            lines.clear();
        }
        Some(Call { lines, elections })
    }

    /// Whether the last call failed.
    pub(super) const fn fails(&self) -> bool {
        self.failures > 0
    }

    /// A call came back. If it failed, what it was to write is due again, later each time: it keeps
    /// the only connection from the rounds. Sooner if the others do not know of this process yet.
    pub(super) fn came_back(&mut self, now: Time, every: Duration, well: bool, listed: bool) {
        if well {
            self.failures = 0;
            return;
        }
        let every = if listed { every } else { every / RINGS };
        self.write_at = now + every * 2u32.pow(self.failures.min(BACKOFFS));
        self.failures = self.failures.saturating_add(1);
    }

    /// What to write at the end of it all.
    pub(super) fn farewell(&mut self) -> Vec<(ElectionName, Peer)> {
        let written = std::mem::take(&mut self.written);
        written.into_iter().map(|(name, line)| (name, left(&line))).collect()
    }
}

fn left(line: &Peer) -> Peer {
    Peer { presence: Presence::Left, why: None, ..line.clone() }
}
