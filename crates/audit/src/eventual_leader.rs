//! After the last fault a leader stands within the stated bound, and goes on standing.
//!
//! Assumes: whoever ran the run marks when nothing is broken any more, with the bound as an
//! instant, and when something breaks again.
//! Promises: any instant between the bound and the end of the run, or the next fault, at which
//! nobody's lease is valid is told, once per mark.

use incumbent_protocol::history::Event;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::grid::Grid;
use super::{Cast, Checker, Clock, Contest, Fact, Finding, Spot, Who};

/// Judges that somebody leads.
#[derive(Debug, Default)]
pub struct EventualLeader {
    /// By election and clock.
    scenes: Grid<Scene>,
    /// By clock: the stamp of the last line, and whether the run has ended there.
    last: Vec<(Option<Time>, bool)>,
    finding: Finding,
}

#[derive(Debug, Default)]
struct Scene {
    leases: Vec<(Who, Term, Time)>,
    /// Judged up to here.
    judged: Option<Time>,
    /// Somebody must lead from then on.
    due: Option<Spot>,
}

impl Scene {
    /// Looks at the span since the last event: nothing but the end of leases happened in it.
    fn judge(&mut self, now: Time, cast: &Cast, contest: Contest, finding: &mut Finding) {
        let from = self.judged.replace(now);
        let (Some(due), Some(from)) = (self.due, from) else {
            return;
        };
        let led_until = self.leases.iter().map(|lease| lease.2).max();
        let gap = led_until.unwrap_or(Time::ZERO).max(due.at).max(from);
        if now > gap {
            self.due = None;
            let story = format!(
                "nobody leads {} at {gap}, though nothing was broken any more and a leader was due by {due}",
                cast.election(contest)
            );
            finding.accuse(gap, story, &[due.line]);
        }
    }

    fn take(&mut self, fact: &Fact<'_>) {
        let who = fact.who;
        match *fact.event {
            Event::Gained { term, valid_until, .. } | Event::Renewed { term, valid_until, .. } => {
                self.leases.retain(|lease| lease.0 != who);
                self.leases.push((who, term, valid_until));
            }
            Event::Unsure { term, .. } | Event::Lost { term, .. } => {
                self.leases.retain(|lease| (lease.0, lease.1) != (who, term));
            }
            Event::Healed { leader_due, .. } => {
                self.due = Some(Spot { at: leader_due, line: fact.line });
            }
            _ => {}
        }
    }
}

impl EventualLeader {
    fn last(&mut self, clock: Clock) -> &mut (Option<Time>, bool) {
        if self.last.len() <= clock.0 {
            self.last.resize(clock.0 + 1, (None, false));
        }
        &mut self.last[clock.0]
    }

    /// Judges all elections on this clock up to now, and stops asking for a leader.
    fn stop(&mut self, fact: &Fact<'_>) {
        for (contest, scene) in self.scenes.column(fact.clock) {
            scene.judge(fact.at, fact.cast, contest, &mut self.finding);
            scene.due = None;
            if matches!(fact.event, Event::Killed) {
                scene.leases.retain(|lease| lease.0 != fact.who);
            }
        }
    }
}

impl Checker for EventualLeader {
    const NAME: &'static str = "eventual_leader";

    fn line(&mut self, fact: &Fact<'_>) {
        let (last, ended) = self.last(fact.clock);
        if *ended {
            return;
        }
        *last = Some(fact.at);
        *ended = matches!(fact.event, Event::Ended);
        match (fact.event, fact.contest) {
            (Event::Fault { .. } | Event::Killed | Event::Paused | Event::Ended, _) => {
                self.stop(fact);
            }
            (_, Some(contest)) => {
                self.finding.facts += u64::from(matches!(fact.event, Event::Healed { .. }));
                let scene = self.scenes.at(contest, fact.clock);
                scene.judge(fact.at, fact.cast, contest, &mut self.finding);
                scene.take(fact);
            }
            _ => {}
        }
    }

    fn finish(mut self, cast: &Cast) -> Finding {
        for (contest, clock, scene) in self.scenes.cells() {
            if let Some(&(Some(end), false)) = self.last.get(clock) {
                scene.judge(end, cast, contest, &mut self.finding);
            }
        }
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::forge::*;
    use super::*;
    use incumbent_protocol::standing::Reason;

    fn ended(millis: u64) -> incumbent_protocol::history::Line {
        line(millis, WORLD, Event::Ended)
    }

    #[test]
    fn a_leader_that_stands_from_the_bound_to_the_end_is_clean() {
        let lines = [healed(1, 5, 6), gained(4, A, 5, 8), renewed(7, A, 5, 11), ended(10)];
        assert_eq!(clean::<EventualLeader>(&lines), 1);
    }

    #[test]
    fn nobody_by_the_bound_is_told() {
        let lines = [healed(1, 5, 6), gained(7, A, 5, 20), ended(10)];
        accused::<EventualLeader>(&lines, &["nobody leads ledger at 0.005s", "due by 0.005s"]);
        accused::<EventualLeader>(&[healed(1, 5, 6), ended(10)], &["nobody leads"]);
    }

    #[test]
    fn a_gap_after_the_bound_is_told() {
        let lines = [gained(1, A, 5, 7), healed(2, 5, 6), renewed(9, A, 5, 20), ended(10)];
        accused::<EventualLeader>(&lines, &["nobody leads ledger at 0.007s"]);
        let lines =
            [gained(1, A, 5, 20), healed(2, 5, 6), lost(8, A, 5, Reason::Resigned), ended(10)];
        accused::<EventualLeader>(&lines, &["nobody leads ledger at 0.008s"]);
    }

    #[test]
    fn a_run_that_ends_before_the_bound_asks_for_nobody() {
        assert_eq!(clean::<EventualLeader>(&[healed(1, 5, 6), ended(4)]), 1);
    }

    #[test]
    fn a_fault_suspends_the_promise() {
        let lines = [gained(1, A, 5, 7), healed(2, 5, 6), fault(6), ended(10)];
        assert_eq!(clean::<EventualLeader>(&lines), 1);
    }

    #[test]
    fn without_an_end_mark_the_last_line_is_the_end() {
        let lines = [healed(1, 5, 6), saw(9, B, None)];
        accused::<EventualLeader>(&lines, &["nobody leads"]);
    }
}
