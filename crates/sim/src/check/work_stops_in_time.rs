//! Work that hangs below a leadership begins inside its lease and has ended when the lease does.
//!
//! Assumes: the process was running when its lease ended; one that was paused then (and whoever
//! paused it says so) cannot stop its work, and only its token protects others. A killed process's
//! work is dead with it.
//! Promises: work that begins outside a sure and valid lease, that outlives its lease or a
//! resignation, or that overlaps the work of a successor is told.

use incumbent_protocol::history::Event;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::grid::Grid;
use super::{Cast, Checker, Clock, Contest, Fact, Finding, Who};

/// Judges supervised work.
#[derive(Debug, Default)]
pub struct WorkStopsInTime {
    posts: Grid<Option<Post>>,
    finding: Finding,
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
    /// It was paused when the lease ended.
    excused: bool,
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

    /// Why work should have ended before now.
    fn overdue(&self, now: Time) -> Option<String> {
        match self.lost {
            _ if self.excused => None,
            Some((at, Reason::Resigned)) if now > at => Some(format!("was resigned at {at}")),
            _ if now > self.until => Some(format!("ended at {}", self.until)),
            _ => None,
        }
    }
}

impl WorkStopsInTime {
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
        let Some(post) = self.posts.at(contest, fact.who) else {
            return;
        };
        if post.term != term || post.open == 0 {
            return;
        }
        post.open -= 1;
        let who = fact.cast.candidate(fact.who);
        if let Some(why) = post.overdue(fact.at) {
            let story = format!(
                "the work of {who} under term {term} ended at {}, but its lease {why}",
                fact.at
            );
            self.finding.accuse(fact.at, story);
        }
        if post.open > 0 {
            return;
        }
        for (other, its_term, began) in std::mem::take(&mut post.overlapped) {
            if began < fact.at && !post.excused {
                let story = format!(
                    "the work of {who} under term {term} ended at {}, but that of {} under term {its_term} began at \
                     {began}",
                    fact.at,
                    fact.cast.candidate(other)
                );
                self.finding.accuse(fact.at, story);
            }
        }
    }

    fn gained(&mut self, fact: &Fact<'_>, contest: Contest, term: Term, until: Time) {
        let before = self.posts.at(contest, fact.who).replace(Post {
            clock: fact.clock,
            term,
            until,
            sure: true,
            lost: None,
            open: 0,
            excused: false,
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
}

impl Checker for WorkStopsInTime {
    const NAME: &'static str = "work_stops_in_time";

    fn line(&mut self, fact: &Fact<'_>) {
        let now = fact.at;
        match (fact.event, fact.contest) {
            (Event::Killed, _) => self.each(fact, |post| post.open = 0),
            (Event::Paused, _) => self.each(fact, |post| {
                post.excused |= now <= post.until && post.open > 0;
            }),
            (Event::Resumed, _) => self.each(fact, |post| post.excused &= now >= post.until),
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
                        (post.until, post.sure, post.excused) = (valid_until, true, false);
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

    fn finish(self, _: &Cast) -> Finding {
        self.finding
    }
}

#[cfg(test)]
#[path = "work_stops_in_time_test.rs"]
mod tests;
