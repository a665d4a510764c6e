//! When presence is written and read: the rows of this process are written, and those of all
//! candidates are read.
//!
//! Assumes: the driver has one connection, and leases go first.
//! Promises: a row is written once an interval, and soon when it says something new; a notification
//! only brings reading forward. Neither comes in a burst. A call is about a bounded number of
//! elections, so that rounds find their turn between two calls.

use core::time::Duration;
use std::collections::BTreeMap;

use crate::identity::ElectionName;
use crate::roll::{Peer, Presence};
use crate::time::Time;

/// How many times in an interval presence is read at most because of notifications.
const EARLY_READS: u32 = 8;

/// How often the pause after a failure doubles at most.
const BACKOFFS: u32 = 4;

/// About how many elections one call is at most.
pub const TOGETHER: usize = 200;

/// How much trouble there is before it is told of: a failure counts twice, a success takes off one.
const TOO_MUCH: u32 = 4;

/// One election of a process, as far as presence is concerned.
pub trait Participant {
    /// Which election.
    fn election(&self) -> &ElectionName;
    /// Whether the process leads or wants to.
    fn takes_part(&self) -> bool;
    /// Its row.
    fn row(&self) -> Peer;
    /// How often it is written.
    fn every(&self) -> Duration;
}

/// The rows that a process wrote, and when the next are due.
#[derive(Debug)]
pub struct Schedule {
    written: BTreeMap<ElectionName, Peer>,
    write_at: Time,
    read_at: Option<Time>,
    /// What is left of a pass through all elections.
    rest: Option<Pass>,
    /// The call that is under way, as if it had not been begun.
    under_way: Option<Pass>,
    /// When the last call was, and in how many calls a pass is.
    last: Time,
    calls: u32,
    failures: u32,
    trouble: u32,
    told: bool,
}

/// A pass through all elections, or what is left of it.
#[derive(Clone, Debug)]
struct Pass {
    write: bool,
    /// The last election that a call was about.
    after: Option<ElectionName>,
    at: Time,
}

/// One call on the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Rows to write.
    pub rows: BTreeMap<ElectionName, Peer>,
    /// Elections to read.
    pub elections: Vec<ElectionName>,
}

/// Something about calls that people should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// They keep failing.
    Fails,
    /// They succeed again.
    Well,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule::new()
    }
}

impl Schedule {
    /// Nothing was written yet.
    pub const fn new() -> Self {
        Schedule {
            written: BTreeMap::new(),
            write_at: Time::ZERO,
            read_at: None,
            rest: None,
            under_way: None,
            last: Time::ZERO,
            calls: 1,
            failures: 0,
            trouble: 0,
            told: false,
        }
    }

    /// An operator may have ordered something.
    pub fn notify(&mut self, now: Time, every: Duration) {
        let soonest = self.soonest(now, every);
        self.read_at = Some(self.read_at.map_or(soonest, |at| at.min(soonest)));
        self.go_on(soonest);
    }

    /// A candidate of this process has something new to say.
    pub fn hurry(&mut self, now: Time, every: Duration) {
        let soonest = self.soonest(now, every);
        self.write_at = self.write_at.min(soonest);
        self.go_on(soonest);
    }

    /// Does not wait out the pause after a failure.
    fn go_on(&mut self, soonest: Time) {
        if let Some(rest) = &mut self.rest {
            rest.at = rest.at.min(soonest);
        }
    }

    /// When the next pass may begin: the longer they are, the fewer.
    fn soonest(&self, now: Time, every: Duration) -> Time {
        now.max(self.last + every / EARLY_READS * self.calls.min(EARLY_READS))
    }

    /// When a call is due, if any candidate of this process takes part.
    pub fn wake_at<'a, P: Participant + 'a>(
        &self,
        mut participants: impl Iterator<Item = &'a P>,
    ) -> Option<Time> {
        let rows = !self.written.is_empty() || participants.any(Participant::takes_part);
        let write = rows.then_some(self.write_at);
        let rest = self.rest.as_ref().map(|rest| rest.at);
        // A pass ends before the next one begins.
        rest.or_else(|| [write, self.read_at].into_iter().flatten().min())
    }

    /// The call that is due, if one is.
    pub fn call<'a, P: Participant + 'a>(
        &mut self,
        now: Time,
        participants: impl Iterator<Item = &'a P>,
    ) -> Option<Call> {
        let there = participants.filter(|it| it.takes_part());
        let there: BTreeMap<&ElectionName, &P> = there.map(|it| (it.election(), it)).collect();
        let pass = match self.rest.take() {
            Some(rest) if now < rest.at => {
                self.rest = Some(rest);
                return None;
            }
            Some(rest) => rest,
            None => self.begin(now, &there)?,
        };
        let is_left = |name: &&ElectionName| pass.after.as_ref().is_none_or(|after| *name > after);
        // Those that take part no more say so once.
        let silent = self.written.keys().filter(|name| !there.contains_key(name));
        let silent = silent.filter(|_| pass.write);
        let mut names: Vec<_> = there.keys().copied().chain(silent).filter(is_left).collect();
        names.sort_unstable();
        let more = names.len() > TOGETHER;
        names.truncate(TOGETHER);
        let row = |name: &ElectionName| match there.get(name) {
            Some(participant) => Some(participant.row()),
            None => self.written.get(name).map(left),
        };
        let rows = names.iter().filter(|_| pass.write);
        let rows: BTreeMap<ElectionName, Peer> =
            rows.filter_map(|name| Some(((*name).clone(), row(name)?))).collect();
        let elections = names.iter().filter(|name| there.contains_key(**name));
        let elections: Vec<ElectionName> = elections.map(|name| (*name).clone()).collect();
        self.rest = names.last().filter(|_| more).map(|last| Pass {
            write: pass.write,
            after: Some((*last).clone()),
            at: now,
        });
        self.under_way = Some(pass);
        self.last = now;
        for (name, row) in &rows {
            if row.presence == Presence::Left {
                self.written.remove(name);
            } else {
                self.written.insert(name.clone(), row.clone());
            }
        }
        if rows.is_empty() && elections.is_empty() {
            return None;
        }
        Some(Call { rows, elections })
    }

    /// The pass that is due, if one is.
    fn begin<P: Participant>(
        &mut self,
        now: Time,
        there: &BTreeMap<&ElectionName, &P>,
    ) -> Option<Pass> {
        let write = now >= self.write_at && !(there.is_empty() && self.written.is_empty());
        let read = !there.is_empty() && self.read_at.is_some_and(|at| now >= at);
        if !write && !read {
            self.read_at = self.read_at.filter(|at| now < *at);
            return None;
        }
        if write {
            let every = there.values().map(|it| it.every()).min();
            self.write_at = now + every.unwrap_or(Duration::from_secs(1));
        }
        self.read_at = None;
        self.calls = u32::try_from(there.len().div_ceil(TOGETHER)).unwrap_or(u32::MAX).max(1);
        Some(Pass { write, after: None, at: now })
    }

    /// Whether the last call failed.
    pub const fn fails(&self) -> bool {
        self.failures > 0
    }

    /// A call came back. If it failed, it is due again, later each time: it keeps the only connection
    /// from the rounds. Sooner if the others do not know of this process yet.
    pub fn came_back(
        &mut self,
        now: Time,
        every: Duration,
        well: bool,
        listed: bool,
    ) -> Option<News> {
        let under_way = self.under_way.take();
        if well {
            self.failures = 0;
            self.trouble = self.trouble.saturating_sub(1);
            let news = self.told && self.trouble == 0;
            self.told &= !news;
            return news.then_some(News::Well);
        }
        let every = if listed { every } else { every / EARLY_READS };
        let at = now + every * 2u32.pow(self.failures.min(BACKOFFS));
        self.rest = under_way.map(|pass| Pass { at, ..pass });
        self.failures = self.failures.saturating_add(1);
        self.trouble = (self.trouble + 2).min(2 * TOO_MUCH);
        let news = !self.told && self.trouble >= TOO_MUCH;
        self.told |= news;
        news.then_some(News::Fails)
    }

    /// What to write at the end of it all.
    pub fn farewell(&mut self) -> Vec<(ElectionName, Peer)> {
        let written = std::mem::take(&mut self.written);
        written.into_iter().map(|(name, row)| (name, left(&row))).collect()
    }
}

fn left(row: &Peer) -> Peer {
    Peer { presence: Presence::Left, why: None, ..row.clone() }
}

#[cfg(test)]
mod tests;
