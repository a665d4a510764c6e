//! Every leadership that was told is ended by one loss, told once, and is never revived.
//!
//! Assumes: lines of one candidate come in the order in which it wrote them. A killed process tells
//! no loss.
//! Promises: after `Lost` no renewal and no second `Lost` of that term; no new gain before the last
//! one's loss.

use incumbent_protocol::history::Event;
use incumbent_protocol::term::Term;

use super::grid::Grid;
use super::{Cast, Checker, Fact, Finding, Spot};

/// Judges the order of gains, renewals and losses.
#[derive(Debug, Default)]
pub struct LossToldOnce {
    seats: Grid<Option<Seat>>,
    finding: Finding,
}

/// The last leadership of one candidate in one election.
#[derive(Clone, Copy, Debug)]
struct Seat {
    term: Term,
    /// The line that told its gain.
    gained: u64,
    lost: Option<Spot>,
}

impl LossToldOnce {
    fn accuse(&mut self, fact: &Fact<'_>, what: &str, before: u64) {
        let who = fact.cast.candidate(fact.who);
        let election = fact.contest.map(|contest| fact.cast.election(contest));
        let election = election.map(ToString::to_string).unwrap_or_default();
        let lines = [before, fact.line];
        self.finding.accuse(fact.at, format!("{who} in {election}: {what}"), &lines);
    }
}

impl Checker for LossToldOnce {
    const NAME: &'static str = "loss_told_once";

    fn line(&mut self, fact: &Fact<'_>) {
        let Some(contest) = fact.contest else { return };
        let seat = self.seats.at(contest, fact.who);
        let now = fact.at;
        let problem = match (fact.event, &mut *seat) {
            (&Event::Gained { term, .. }, _) => {
                self.finding.facts += 1;
                let before = seat.replace(Seat { term, gained: fact.line, lost: None });
                before.filter(|before| before.lost.is_none()).map(|before| {
                    let Seat { term: old, gained, .. } = before;
                    let what = format!(
                        "gained term {term} at {now} before the loss of term {old} was told"
                    );
                    (what, gained)
                })
            }
            (&Event::Lost { term, .. }, Some(seat)) if seat.term == term => {
                self.finding.facts += 1;
                seat.lost.replace(fact.spot()).map(|before| {
                    let what =
                        format!("the loss of term {term} was told at {before} and again at {now}");
                    (what, before.line)
                })
            }
            (&(Event::Renewed { term, .. } | Event::Unsure { term, .. }), Some(seat))
                if seat.term == term =>
            {
                self.finding.facts += 1;
                seat.lost.map(|lost| {
                    (format!("term {term} was lost at {lost} and revived at {now}"), lost.line)
                })
            }
            (
                &(Event::Lost { term, .. }
                | Event::Renewed { term, .. }
                | Event::Unsure { term, .. }),
                Some(seat),
            ) if term < seat.term => {
                let what =
                    format!("spoke of term {term} at {now} after it had gained term {}", seat.term);
                Some((what, seat.gained))
            }
            _ => None,
        };
        if let Some((problem, before)) = problem {
            self.accuse(fact, &problem, before);
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
    use incumbent_protocol::standing::Reason::{Ending, Expired, Resigned};

    #[test]
    fn leaderships_one_after_the_other_are_clean() {
        let lines = [
            gained(1, A, 5, 4),
            renewed(2, A, 5, 5),
            lost(4, A, 5, Ending),
            gained(6, A, 7, 9),
            lost(8, A, 7, Resigned),
        ];
        assert_eq!(clean::<LossToldOnce>(&lines), 5);
    }

    #[test]
    fn a_killed_leader_need_not_tell_its_loss() {
        assert_eq!(clean::<LossToldOnce>(&[gained(1, A, 5, 4)]), 1);
    }

    #[test]
    fn a_loss_that_is_told_twice_is_told() {
        let lines = [gained(1, A, 5, 4), lost(3, A, 5, Ending), lost(4, A, 5, Expired)];
        accused::<LossToldOnce>(&lines, &["a#", "term 5", "at 0.003s and again at 0.004s"]);
    }

    #[test]
    fn a_term_that_is_revived_after_its_loss_is_told() {
        for revived in [renewed(4, A, 5, 6), unsure(4, A, 5)] {
            let lines = [gained(1, A, 5, 4), lost(3, A, 5, Ending), revived];
            accused::<LossToldOnce>(&lines, &["term 5 was lost at 0.003s", "revived at 0.004s"]);
        }
    }

    #[test]
    fn a_gain_before_the_loss_of_the_last_term_is_told() {
        let lines = [gained(1, A, 5, 4), gained(5, A, 6, 8)];
        accused::<LossToldOnce>(&lines, &["gained term 6", "before the loss of term 5"]);
    }

    #[test]
    fn a_word_about_an_older_term_of_its_own_is_told() {
        let lines =
            [gained(1, A, 5, 4), lost(3, A, 5, Ending), gained(5, A, 6, 8), renewed(6, A, 5, 9)];
        accused::<LossToldOnce>(&lines, &["spoke of term 5", "gained term 6"]);
    }
}
