//! A line of a history with its names already looked up, so that judges compare small numbers and
//! not texts.
//!
//! Assumes: a candidate's opening line comes before its others; one that comes without is on a
//! clock of no name.
//! Promises: equal names get equal numbers, in the order in which they first appear.

use core::fmt;
use std::collections::BTreeMap;

use incumbent_protocol::history::{Event, Line};
use incumbent_protocol::identity::{CandidateId, ElectionName};
use incumbent_protocol::time::Time;

/// The number of a candidate in its [`Cast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Who(pub(super) usize);

/// The number of an election in its [`Cast`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Contest(pub(super) usize);

/// The number of a clock in its [`Cast`]. Stamps are comparable if these are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clock(pub(super) usize);

/// A line with its names looked up.
#[derive(Clone, Copy, Debug)]
pub struct Fact<'a> {
    /// When, on `clock`.
    pub at: Time,
    /// Which line of the history this is, counted from 1.
    pub line: u64,
    /// Whose word this is.
    pub who: Who,
    /// The clock of all stamps in it.
    pub clock: Clock,
    /// Which election it is about, if any.
    pub contest: Option<Contest>,
    /// Whom it names, if anybody.
    pub other: Option<Who>,
    /// What happened.
    pub event: &'a Event,
    /// To look the names up again.
    pub cast: &'a Cast,
}

/// When something happened, and which line says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// When, on the clock of whose word it is.
    pub at: Time,
    /// Which line.
    pub line: u64,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.fmt(f)
    }
}

impl Fact<'_> {
    /// When and where it stands.
    pub const fn spot(&self) -> Spot {
        Spot { at: self.at, line: self.line }
    }
}

/// Everyone and everything that a history names.
#[derive(Debug, Default)]
pub struct Cast {
    lines: u64,
    candidates: Vec<Member>,
    by_id: BTreeMap<CandidateId, Who>,
    elections: Vec<ElectionName>,
    by_name: BTreeMap<ElectionName, Contest>,
    clocks: BTreeMap<String, Clock>,
}

#[derive(Debug)]
struct Member {
    id: CandidateId,
    clock: Option<Clock>,
}

impl Cast {
    /// Looks up the names of a line, giving numbers to new ones.
    pub fn fact<'a>(&'a mut self, line: &'a Line) -> Fact<'a> {
        self.lines += 1;
        let who = self.who(&line.candidate);
        if let Event::Opened { clock, .. } = &line.event {
            let clock = self.clock(clock);
            self.candidates[who.0].clock = Some(clock);
        }
        let clock = match self.candidates[who.0].clock {
            Some(clock) => clock,
            None => self.clock(""),
        };
        let other = match &line.event {
            Event::Saw { leader, .. } => leader.as_ref(),
            Event::Issued { to, .. } => Some(to),
            Event::Accepted { from, .. }
            | Event::Rejected { from, .. }
            | Event::Committed { from, .. } => Some(from),
            _ => None,
        };
        let other = other.map(|id| self.who(id));
        let contest = line.event.election().map(|name| self.contest(name));
        let number = self.lines;
        Fact {
            at: line.at,
            line: number,
            who,
            clock,
            contest,
            other,
            event: &line.event,
            cast: self,
        }
    }

    /// The candidate of that number.
    pub fn candidate(&self, who: Who) -> &CandidateId {
        &self.candidates[who.0].id
    }

    /// The election of that number.
    pub fn election(&self, contest: Contest) -> &ElectionName {
        &self.elections[contest.0]
    }

    /// How many candidates wrote an opening line.
    pub fn candidates(&self) -> usize {
        self.candidates.iter().filter(|m| m.clock.is_some()).count()
    }

    /// How many lines were looked up.
    pub const fn lines(&self) -> u64 {
        self.lines
    }

    /// How many elections were named.
    pub fn elections(&self) -> usize {
        self.elections.len()
    }

    /// Whether the history holds the candidate's own word.
    pub fn has_spoken(&self, who: Who) -> bool {
        self.candidates[who.0].clock.is_some()
    }

    fn who(&mut self, id: &CandidateId) -> Who {
        if let Some(&who) = self.by_id.get(id) {
            return who;
        }
        let who = Who(self.candidates.len());
        self.candidates.push(Member { id: id.clone(), clock: None });
        self.by_id.insert(id.clone(), who);
        who
    }

    fn contest(&mut self, name: &ElectionName) -> Contest {
        if let Some(&contest) = self.by_name.get(name) {
            return contest;
        }
        let contest = Contest(self.elections.len());
        self.elections.push(name.clone());
        self.by_name.insert(name.clone(), contest);
        contest
    }

    fn clock(&mut self, name: &str) -> Clock {
        if let Some(&clock) = self.clocks.get(name) {
            return clock;
        }
        let clock = Clock(self.clocks.len());
        self.clocks.insert(name.to_owned(), clock);
        clock
    }
}
