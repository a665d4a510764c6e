//! After the last fault all candidates name the same leader within the stated bound.
//!
//! Assumes: whoever ran the run marks when nothing is broken any more, with the bound as an
//! instant, and when something breaks again. A candidate takes part in an election if it ever told
//! what it sees there, and has not closed or been killed.
//! Promises: at the bound, two candidates that name different leaders, or one that names nobody,
//! are told.

use incumbent_protocol::history::Event;
use incumbent_protocol::time::Time;

use super::grid::Grid;
use super::{Cast, Checker, Clock, Contest, Fact, Finding, Spot, Who};

/// Judges that candidates agree.
#[derive(Debug, Default)]
pub struct Agreement {
    views: Grid<Option<View>>,
    /// Bounds that lie ahead.
    due: Vec<(Spot, Contest, Clock)>,
    finding: Finding,
}

/// Whom a candidate takes for the leader.
#[derive(Clone, Copy, Debug)]
struct View {
    clock: Clock,
    leader: Option<Who>,
    /// The line that says so.
    line: u64,
}

impl Agreement {
    fn judge_those_due(&mut self, now: Time, clock: Clock, ended: bool, cast: &Cast) {
        // All that happens at the very instant of the bound still counts, so it is judged when time
        // has moved on.
        let (passed, ahead) = std::mem::take(&mut self.due)
            .into_iter()
            .partition(|&(due, _, its)| its == clock && (due.at < now || ended && due.at == now));
        self.due = ahead;
        for (due, contest, clock) in passed {
            self.judge(due, contest, clock, cast);
        }
    }

    fn judge(&mut self, due: Spot, contest: Contest, clock: Clock, cast: &Cast) {
        self.finding.facts += 1;
        let row = self.views.row(contest).iter().enumerate();
        let named = row.filter_map(|(who, view)| Some((Who(who), (*view)?)));
        let named: Vec<_> = named
            .filter(|(_, view)| view.clock == clock)
            .map(|(who, view)| (who, view.leader, view.line))
            .collect();
        let agreed = named.iter().all(|(_, leader, _)| leader.is_some() && *leader == named[0].1);
        if agreed {
            return;
        }
        let told = named.iter().map(|&(who, leader, _)| {
            let leader =
                leader.map_or_else(|| "nobody".to_owned(), |l| cast.candidate(l).to_string());
            format!("{} names {leader}", cast.candidate(who))
        });
        let told = told.collect::<Vec<_>>().join(", ");
        let election = cast.election(contest);
        let story = format!("no agreement in {election} at {due}, when it was due: {told}");
        let lines = named.iter().map(|&(_, _, line)| line).chain([due.line]);
        self.finding.accuse(due.at, story, &lines.collect::<Vec<_>>());
    }
}

impl Checker for Agreement {
    const NAME: &'static str = "agreement";

    fn line(&mut self, fact: &Fact<'_>) {
        if !self.due.is_empty() {
            let ended = matches!(fact.event, Event::Ended);
            self.judge_those_due(fact.at, fact.clock, ended, fact.cast);
        }
        let (clock, line) = (fact.clock, fact.line);
        match (fact.event, fact.contest) {
            (Event::Gained { .. } | Event::Renewed { .. }, Some(contest)) => {
                let leader = Some(fact.who);
                *self.views.at(contest, fact.who) = Some(View { clock, leader, line });
            }
            (Event::Saw { .. }, Some(contest)) => {
                let leader = fact.other;
                *self.views.at(contest, fact.who) = Some(View { clock, leader, line });
            }
            (Event::Lost { .. }, Some(contest)) => {
                if let Some(view) = self.views.at(contest, fact.who)
                    && view.leader == Some(fact.who)
                {
                    (view.leader, view.line) = (None, line);
                }
            }
            (Event::Healed { agreement_due, .. }, Some(contest)) => {
                self.due.push((Spot { at: *agreement_due, line }, contest, clock));
            }
            (Event::Closed | Event::Killed, _) => {
                self.views.column(fact.who).for_each(|(_, view)| *view = None);
                if matches!(fact.event, Event::Killed) {
                    self.due.retain(|due| due.2 != clock);
                }
            }
            (Event::Fault { .. } | Event::Paused | Event::Ended, _) => {
                self.due.retain(|due| due.2 != clock);
            }
            _ => {}
        }
    }

    fn finish(self, _: &Cast) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::forge::*;
    use super::*;
    use incumbent_protocol::history::Line;

    fn ended(millis: u64) -> Line {
        line(millis, WORLD, Event::Ended)
    }

    #[test]
    fn candidates_that_name_one_leader_agree() {
        let lines = [
            saw(0, C, Some((B, 4))),
            healed(1, 3, 5),
            gained(2, A, 5, 8),
            saw(4, B, Some((A, 5))),
            saw(5, C, Some((A, 5))),
            ended(5),
        ];
        assert_eq!(clean::<Agreement>(&lines), 1);
    }

    #[test]
    fn candidates_that_name_different_leaders_are_told() {
        let lines = [
            saw(0, C, Some((B, 4))),
            healed(1, 3, 5),
            gained(2, A, 5, 8),
            saw(6, C, Some((A, 5))),
            ended(9),
        ];
        accused::<Agreement>(&lines, &["a#0000000a names a#", "c#0000000c names b#", "0.005s"]);
    }

    #[test]
    fn a_candidate_that_names_nobody_is_told() {
        let lines = [healed(1, 3, 5), gained(2, A, 5, 8), saw(3, B, None), ended(9)];
        accused::<Agreement>(&lines, &["b#0000000b names nobody"]);
    }

    #[test]
    fn those_who_left_or_were_killed_need_not_agree() {
        let lines = [
            saw(0, B, Some((B, 4))),
            saw(0, C, Some((B, 4))),
            line(0, B, Event::Killed),
            healed(1, 3, 5),
            gained(2, A, 5, 8),
            line(2, C, Event::Closed),
            ended(9),
        ];
        assert_eq!(clean::<Agreement>(&lines), 1);
    }

    #[test]
    fn a_fault_or_an_early_end_suspends_the_promise() {
        for stop in [fault(4), ended(4)] {
            let lines = [healed(1, 3, 5), gained(2, A, 5, 8), saw(3, B, None), stop, ended(9)];
            assert_eq!(clean::<Agreement>(&lines), 0);
        }
    }
}
