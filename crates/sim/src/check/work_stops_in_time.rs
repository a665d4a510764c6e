//! Work that hangs below a leadership begins inside its lease and has ended when the lease does.
//!
//! Assumes: a process that is paused when its lease ends (and whoever paused it says so) cannot stop
//! its work, and only its token protects others. That excuse ends `GRACE` after the process
//! resumes. A killed process's work is dead with it.
//! Promises: work that begins outside a sure and valid lease, that outlives its lease or a
//! resignation, or that overlaps the work of a successor is told. Work whose end was never written
//! lasted at least until the last line of its candidate; if that was in time, its process may have
//! been killed, and it is counted as open.

use core::time::Duration;

use incumbent_protocol::history::Event;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::grid::Grid;
use super::{Cast, Checker, Clock, Contest, Fact, Finding, Who};

/// How long a process that resumes after its lease has to end its work.
const GRACE: Duration = Duration::from_millis(250);

/// Judges supervised work.
#[derive(Debug, Default)]
pub struct WorkStopsInTime {
    posts: Grid<Option<Post>>,
    /// The last line of each candidate.
    heard: Vec<Option<Time>>,
    /// The last line on each clock.
    latest: Vec<Option<Time>>,
    /// Every pause and kill is marked, to the instant: no grace, and silence is no sign of death.
    marked: bool,
    finding: Finding,
}

/// What a pause excuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excuse {
    /// It was paused before its lease ended, and still is.
    Paused,
    /// It resumed after its lease, at this instant.
    Resumed(Time),
}

/// The last leadership of one candidate in one election, and the work under it.
#[derive(Clone, Debug)]
struct Post {
    clock: Clock,
    term: Term,
    until: Time,
    sure: bool,
    lost: Option<(Time, Reason)>,
    /// How much work runs.
    open: u32,
    excuse: Option<Excuse>,
    /// Work of others that began while this one's had not ended.
    overlapped: Vec<(Who, Term, Time)>,
}

impl Post {
    /// Why work must not begin now.
    fn closed_to_work(&self, term: Term, now: Time) -> Option<String> {
        if self.term != term {
            return None; // Without a token: another judge tells that.
        }
        if let Some((at, reason)) = self.lost {
            return Some(format!("was {reason} at {at}"));
        }
        if now >= self.until {
            return Some(format!("ended at {}", self.until));
        }
        (!self.sure).then(|| "was in doubt".to_owned())
    }

    /// By when work must have ended, and why; `None` while it is paused.
    fn due(&self, grace: Duration) -> Option<(Time, String)> {
        let lease = match self.lost {
            Some((at, Reason::Resigned)) => (at, format!("was resigned at {at}")),
            _ => (self.until, format!("ended at {}", self.until)),
        };
        match self.excuse {
            None => Some(lease),
            Some(Excuse::Paused) => None,
            Some(Excuse::Resumed(at)) => {
                Some((at + grace, format!("{} and its process resumed at {at}", lease.1)))
            }
        }
    }

    /// From when on the work of `began` was in the way of this one; `None` while it is paused.
    fn overlap_due(&self, began: Time, grace: Duration) -> Option<Time> {
        match self.excuse {
            None => Some(began),
            Some(Excuse::Paused) => None,
            Some(Excuse::Resumed(at)) => Some(began.max(at + grace)),
        }
    }

    fn pause(&mut self, now: Time, grace: Duration) {
        let in_time = match self.excuse {
            Some(Excuse::Resumed(at)) => now <= at + grace,
            _ => now <= self.until,
        };
        if in_time && self.open > 0 {
            self.excuse = Some(Excuse::Paused);
        }
    }

    fn resume(&mut self, now: Time) {
        if self.excuse == Some(Excuse::Paused) {
            self.excuse = (now >= self.until).then_some(Excuse::Resumed(now));
        }
    }
}

impl WorkStopsInTime {
    /// For histories in which every pause and kill is marked, if `marked`.
    pub fn new(marked: bool) -> Self {
        WorkStopsInTime { marked, ..WorkStopsInTime::default() }
    }

    const fn grace(&self) -> Duration {
        if self.marked { Duration::ZERO } else { GRACE }
    }

    fn began(&mut self, fact: &Fact<'_>, contest: Contest, term: Term) {
        self.finding.facts += 1;
        let row = self.posts.row(contest);
        for (index, post) in row.iter_mut().enumerate() {
            if let Some(post) = post
                && index != fact.who.0
                && post.open > 0
                && post.clock == fact.clock
            {
                post.overlapped.push((fact.who, term, fact.at));
            }
        }
        let Some(post) = self.posts.at(contest, fact.who) else {
            return;
        };
        if let Some(why) = post.closed_to_work(term, fact.at) {
            let who = fact.cast.candidate(fact.who);
            let story =
                format!("{who} began work under term {term} at {}, but its lease {why}", fact.at);
            self.finding.accuse(fact.at, story);
        }
        post.open += 1;
    }

    fn ended(&mut self, fact: &Fact<'_>, contest: Contest, term: Term) {
        self.finding.facts += 1;
        let grace = self.grace();
        let Some(post) = self.posts.at(contest, fact.who) else {
            return;
        };
        if post.term != term || post.open == 0 {
            return;
        }
        post.open -= 1;
        settle(&mut self.finding, fact.cast, fact.who, post, grace, (fact.at, "ended at"));
    }

    fn gained(&mut self, fact: &Fact<'_>, contest: Contest, term: Term, until: Time) {
        let before = self.posts.at(contest, fact.who).replace(Post {
            clock: fact.clock,
            term,
            until,
            sure: true,
            lost: None,
            open: 0,
            excuse: None,
            overlapped: Vec::new(),
        });
        if let Some(before) = before.filter(|before| before.open > 0) {
            let who = fact.cast.candidate(fact.who);
            let story = format!(
                "{who} gained term {term} at {} while its work under term {} had not ended",
                fact.at, before.term
            );
            self.finding.accuse(fact.at, story);
        }
    }

    /// Everything that this candidate holds.
    fn each(&mut self, fact: &Fact<'_>, change: impl Fn(&mut Post)) {
        let posts = self.posts.column(fact.who);
        posts.filter_map(|(_, post)| post.as_mut()).for_each(change);
    }

    /// What the process was doing when it was killed.
    fn killed(&mut self, fact: &Fact<'_>) {
        let grace = self.grace();
        for (_, post) in self.posts.column(fact.who) {
            let Some(post) = post.as_mut().filter(|post| post.open > 0) else {
                continue;
            };
            post.open = 0;
            let end = (fact.at, "lasted until it was killed at");
            settle(&mut self.finding, fact.cast, fact.who, post, grace, end);
        }
    }

    fn hear(&mut self, fact: &Fact<'_>) {
        for (heard, index) in [(&mut self.heard, fact.who.0), (&mut self.latest, fact.clock.0)] {
            if heard.len() <= index {
                heard.resize(index + 1, None);
            }
            heard[index] = heard[index].max(Some(fact.at));
        }
    }
}

/// Work is known to have lasted until an instant: was that too long?
fn settle(
    finding: &mut Finding,
    cast: &Cast,
    who: Who,
    post: &mut Post,
    grace: Duration,
    (end, how): (Time, &str),
) {
    let (who, term) = (cast.candidate(who), post.term);
    if let Some((due, why)) = post.due(grace)
        && end > due
    {
        let story = format!("the work of {who} under term {term} {how} {end}, but its lease {why}");
        finding.accuse(end, story);
    }
    if post.open > 0 {
        return;
    }
    for (other, its_term, began) in core::mem::take(&mut post.overlapped) {
        if post.overlap_due(began, grace).is_some_and(|due| end > due) {
            let other = cast.candidate(other);
            let story = format!(
                "the work of {who} under term {term} {how} {end}, but that of {other} under term {its_term} began at \
                 {began}"
            );
            finding.accuse(end, story);
        }
    }
}

impl Checker for WorkStopsInTime {
    const NAME: &'static str = "work_stops_in_time";

    fn line(&mut self, fact: &Fact<'_>) {
        let (now, grace) = (fact.at, self.grace());
        self.hear(fact);
        match (fact.event, fact.contest) {
            (Event::Killed, _) => self.killed(fact),
            (Event::Paused, _) => self.each(fact, |post| post.pause(now, grace)),
            (Event::Resumed | Event::Closed, _) => self.each(fact, |post| post.resume(now)),
            (&Event::Gained { term, valid_until, .. }, Some(contest)) => {
                self.gained(fact, contest, term, valid_until);
            }
            (&Event::WorkBegan { term, .. }, Some(contest)) => self.began(fact, contest, term),
            (&Event::WorkEnded { term, .. }, Some(contest)) => self.ended(fact, contest, term),
            (event, Some(contest)) => {
                let Some(post) = self.posts.at(contest, fact.who) else {
                    return;
                };
                match *event {
                    Event::Renewed { term, valid_until, .. } if term == post.term => {
                        (post.until, post.sure, post.excuse) = (valid_until, true, None);
                    }
                    Event::Unsure { term, .. } if term == post.term => post.sure = false,
                    Event::Lost { term, reason, .. } if term == post.term => {
                        post.lost.get_or_insert((now, reason));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn finish(mut self, cast: &Cast) -> Finding {
        let grace = self.grace();
        for (_, who, post) in self.posts.cells() {
            let Some(post) = post.as_mut().filter(|post| post.open > 0) else {
                continue;
            };
            post.open = 0;
            // A process that is heard of no more may have been killed, and its work with it.
            let heard = if self.marked { self.latest[post.clock.0] } else { self.heard[who] };
            if let Some(end) = heard {
                let end = (end, "had not ended at");
                settle(&mut self.finding, cast, Who(who), post, grace, end);
            }
        }
        self.finding
    }
}

#[cfg(test)]
#[path = "work_stops_in_time_test.rs"]
mod tests;
