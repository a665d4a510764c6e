//! Work that hangs below a leadership begins inside its lease and has ended when the lease does.
//!
//! Assumes: a process that is paused when its lease ends (and whoever paused it says so) cannot stop
//! its work, and only its token protects others. That excuse ends `GRACE` after the process
//! resumes. A killed process's work is dead with it.
//! Promises: work that begins outside a sure and valid lease, that outlives its lease or a
//! resignation, or that overlaps the work of a successor is told. Work whose end was never written
//! lasted at least until the last line of its candidate; if that was in time, its process may have
//! been killed, and it is counted as open. Where pauses are not marked, a candidate that said nothing
//! of its lease's end until after it was frozen, and so was its guard if the work ended `GRACE` before
//! or after that word: this is the documented exception, and is noted instead. That excuses the late end
//! alone, and never work beside that of a successor. The first `work_ended`
//! of a term counts; a later one that is late is noted, because a supervisor that was stopped writes it
//! when it goes on.

use core::time::Duration;

use incumbent_protocol::history::Event;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::grid::Grid;
use super::report::Told;
use super::{Cast, Checker, Clock, Contest, Fact, Finding, Spot, Who};

/// How long a process that resumes after its lease has to end its work.
const GRACE: Duration = Duration::from_millis(250);

/// Judges supervised work.
#[derive(Debug, Default)]
pub struct WorkStopsInTime {
    posts: Grid<Option<Post>>,
    /// The last line of each candidate.
    heard: Vec<Option<Spot>>,
    /// The last line on each clock.
    latest: Vec<Option<Spot>>,
    /// Every pause and kill is marked, to the instant: no grace, and silence is no sign of death.
    marked: bool,
    /// Spans in which clocks may differ by more than the margin.
    uneven: Vec<(Time, Time)>,
    finding: Finding,
}

/// What a pause excuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excuse {
    /// It was paused before its lease ended, and still is.
    Paused,
    /// It resumed after its lease, at this instant.
    Resumed(Spot),
}

/// The last leadership of one candidate in one election, and the work under it.
#[derive(Clone, Debug)]
struct Post {
    /// Where every pause is marked, nothing was frozen that is not said to be.
    marked: bool,
    clock: Clock,
    term: Term,
    until: Time,
    /// The line that says until when.
    line: u64,
    sure: bool,
    lost: Option<(Spot, Reason)>,
    /// How much work runs.
    open: u32,
    /// The first word of the end of its last work.
    ended: Option<Spot>,
    excuse: Option<Excuse>,
    /// Work of others that began while this one's had not ended.
    overlapped: Vec<(Who, Term, Spot)>,
    /// What is told of its late end, unless it turns out that the whole process was frozen.
    late: Vec<Told>,
    /// What is told of work of others beside it, whatever it turns out to be.
    beside: Vec<Told>,
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

    /// By when work must have ended, and why by which lines; `None` while it is paused.
    fn due(&self, grace: Duration) -> Option<(Time, String, Vec<u64>)> {
        let (end, why, line) = match self.lost {
            Some((at, Reason::Resigned)) => (at.at, format!("was resigned at {at}"), at.line),
            _ => (self.until, format!("ended at {}", self.until), self.line),
        };
        match self.excuse {
            None => Some((end, why, vec![line])),
            Some(Excuse::Paused) => None,
            Some(Excuse::Resumed(at)) => {
                let why = format!("{why} and its process resumed at {at}");
                Some((at.at + grace, why, vec![line, at.line]))
            }
        }
    }

    /// Whether a candidate that lives tells of the end of its lease while that runs. One that is
    /// frozen, with the guard of its work, tells of it afterwards.
    fn was_silent(&self) -> bool {
        self.excuse.is_none() && self.lost.is_none_or(|(at, _)| at.at > self.until)
    }

    /// Whether its work ended when it went on: about when it told of the loss.
    fn was_frozen(&self) -> bool {
        match (self.lost, self.ended) {
            (Some((lost, _)), Some(ended)) if !self.marked => {
                lost.at > self.until && ended.at <= lost.at + GRACE && lost.at <= ended.at + GRACE
            }
            _ => false,
        }
    }

    /// Decides on what was told of its late end.
    fn conclude(&mut self, finding: &mut Finding) {
        let frozen = self.was_frozen();
        for Told { at, story, mut lines } in core::mem::take(&mut self.late) {
            if let Some((lost, _)) = self.lost.filter(|_| frozen) {
                lines.push(lost.line);
                let why =
                    "its supervisor and its guard were stopped together, a documented exception";
                let story = format!("{story}; it told of that only at {lost}: {why}");
                finding.note(at, story, &lines);
            } else {
                finding.accuse(at, story, &lines);
            }
        }
        for Told { at, mut story, lines } in core::mem::take(&mut self.beside) {
            if frozen {
                story.push_str("; its supervisor and its guard seem to have been stopped together");
            }
            finding.accuse(at, story, &lines);
        }
    }

    /// From when on the work of `began` was in the way of this one; `None` while it is paused.
    fn overlap_due(&self, began: Time, grace: Duration) -> Option<Time> {
        match self.excuse {
            None => Some(began),
            Some(Excuse::Paused) => None,
            Some(Excuse::Resumed(at)) => Some(began.max(at.at + grace)),
        }
    }

    fn pause(&mut self, now: Time, grace: Duration) {
        let in_time = match self.excuse {
            Some(Excuse::Resumed(at)) => now <= at.at + grace,
            _ => now <= self.until,
        };
        if in_time && self.open > 0 {
            self.excuse = Some(Excuse::Paused);
        }
    }

    fn resume(&mut self, now: Spot) {
        if self.excuse == Some(Excuse::Paused) {
            self.excuse = (now.at >= self.until).then_some(Excuse::Resumed(now));
        }
    }
}

impl WorkStopsInTime {
    /// For histories in which every pause and kill is marked, if `marked`.
    pub fn new(marked: bool) -> Self {
        WorkStopsInTime { marked, ..WorkStopsInTime::default() }
    }

    /// From then until then clocks may differ by more than the margin: two may lead, and work that begins
    /// beside another's is not the fault of either.
    pub(crate) fn uneven(&mut self, from: Time, until: Time) {
        self.uneven.push((from, until));
    }

    const fn grace(&self) -> Duration {
        if self.marked { Duration::ZERO } else { GRACE }
    }

    fn began(&mut self, fact: &Fact<'_>, contest: Contest, term: Term) {
        self.finding.facts += 1;
        let even = !self.uneven.iter().any(|&(from, until)| from <= fact.at && fact.at <= until);
        let row = self.posts.row(contest);
        for (index, post) in row.iter_mut().enumerate() {
            if let Some(post) = post
                && even
                && index != fact.who.0
                && post.open > 0
                && post.clock == fact.clock
            {
                post.overlapped.push((fact.who, term, fact.spot()));
            }
        }
        let Some(post) = self.posts.at(contest, fact.who) else {
            return;
        };
        if let Some(why) = post.closed_to_work(term, fact.at) {
            let who = fact.cast.candidate(fact.who);
            let story =
                format!("{who} began work under term {term} at {}, but its lease {why}", fact.at);
            self.finding.accuse(fact.at, story, &[post.line, fact.line]);
        }
        post.open += 1;
    }

    fn ended(&mut self, fact: &Fact<'_>, contest: Contest, term: Term) {
        self.finding.facts += 1;
        let grace = self.grace();
        let Some(post) = self.posts.at(contest, fact.who) else {
            return;
        };
        if post.term != term {
            return;
        }
        if let Some(ended) = post.ended.filter(|_| post.open == 0) {
            if let Some((due, why, _)) = post.due(grace).filter(|(due, ..)| fact.at > *due) {
                let who = fact.cast.candidate(fact.who);
                let story = format!(
                    "the end of the work of {who} under term {term} was told at {ended} and again at {}, after {due}: its lease \
                     {why}; the first counts",
                    fact.at
                );
                self.finding.note(fact.at, story, &[ended.line, fact.line]);
            }
            return;
        }
        if post.open == 0 {
            return;
        }
        post.open -= 1;
        post.ended = Some(fact.spot());
        let late = !self.marked && post.was_silent();
        let end = (fact.spot(), "ended at");
        settle(fact.cast, fact.who, post, grace, end);
        if !late || post.lost.is_some() {
            post.conclude(&mut self.finding);
        }
    }

    fn gained(&mut self, fact: &Fact<'_>, contest: Contest, term: Term, until: Time) {
        let mut before = self.posts.at(contest, fact.who).replace(Post {
            clock: fact.clock,
            marked: self.marked,
            term,
            until,
            line: fact.line,
            sure: true,
            lost: None,
            open: 0,
            ended: None,
            excuse: None,
            overlapped: Vec::new(),
            late: Vec::new(),
            beside: Vec::new(),
        });
        if let Some(before) = &mut before {
            before.conclude(&mut self.finding);
        }
        if let Some(before) = before.filter(|before| before.open > 0) {
            let who = fact.cast.candidate(fact.who);
            let story = format!(
                "{who} gained term {term} at {} while its work under term {} had not ended",
                fact.at, before.term
            );
            self.finding.accuse(fact.at, story, &[before.line, fact.line]);
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
            let end = (fact.spot(), "lasted until it was killed at");
            settle(fact.cast, fact.who, post, grace, end);
            post.conclude(&mut self.finding);
        }
    }

    fn hear(&mut self, fact: &Fact<'_>) {
        for (heard, index) in [(&mut self.heard, fact.who.0), (&mut self.latest, fact.clock.0)] {
            if heard.len() <= index {
                heard.resize(index + 1, None);
            }
            if heard[index].is_none_or(|last| last.at <= fact.at) {
                heard[index] = Some(fact.spot());
            }
        }
    }
}

/// Work is known to have lasted until an instant: notes what is to be told of that, if it was too long.
fn settle(cast: &Cast, who: Who, post: &mut Post, grace: Duration, (end, how): (Spot, &str)) {
    let (who, term) = (cast.candidate(who), post.term);
    if let Some((due, why, mut lines)) = post.due(grace)
        && end.at > due
    {
        let story = format!("the work of {who} under term {term} {how} {end}, but its lease {why}");
        lines.push(end.line);
        post.late.push(Told { at: end.at, story, lines });
    }
    if post.open > 0 {
        return;
    }
    for (other, its_term, began) in core::mem::take(&mut post.overlapped) {
        if post.overlap_due(began.at, grace).is_some_and(|due| end.at > due) {
            let other = cast.candidate(other);
            let story = format!(
                "the work of {who} under term {term} {how} {end}, but that of {other} under term {its_term} began at \
                 {began}"
            );
            post.beside.push(Told { at: end.at, story, lines: vec![began.line, end.line] });
        }
    }
}

impl Checker for WorkStopsInTime {
    const NAME: &'static str = "work_stops_in_time";

    fn line(&mut self, fact: &Fact<'_>) {
        let (now, spot, grace) = (fact.at, fact.spot(), self.grace());
        self.hear(fact);
        match (fact.event, fact.contest) {
            (Event::Killed, _) => self.killed(fact),
            (Event::Paused, _) => self.each(fact, |post| post.pause(now, grace)),
            (Event::Resumed | Event::Closed, _) => self.each(fact, |post| post.resume(spot)),
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
                        post.line = fact.line;
                    }
                    Event::Unsure { term, .. } if term == post.term => post.sure = false,
                    Event::Lost { term, reason, .. } if term == post.term => {
                        post.lost.get_or_insert((spot, reason));
                        post.conclude(&mut self.finding);
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
            let Some(post) = post.as_mut() else {
                continue;
            };
            post.conclude(&mut self.finding);
            if post.open == 0 {
                continue;
            }
            post.open = 0;
            // A process that is heard of no more may have been killed, and its work with it.
            let heard = if self.marked { self.latest[post.clock.0] } else { self.heard[who] };
            if let Some(end) = heard {
                let end = (end, "had not ended at");
                settle(cast, Who(who), post, grace, end);
                for Told { at, story, lines } in post.late.drain(..).chain(post.beside.drain(..)) {
                    self.finding.accuse(at, story, &lines);
                }
            }
        }
        self.finding
    }
}

#[cfg(test)]
#[path = "work_stops_in_time_test.rs"]
mod tests;
