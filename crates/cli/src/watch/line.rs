//! One change of an election, for people and for programs.
//!
//! Assumes: nothing.
//! Promises: one line; whatever does not belong to a change is null or left out.

use incumbent::{CandidateId, Change, Controls, Leader, MemberId, StoreTime, Term};
use serde::Serialize;

use crate::status::controls;
use crate::{moment, span};

/// Something to tell of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// What the library told.
    Seen(Change),
    /// A candidate is off the roster: it left, or was taken off before anybody saw that it was dead.
    Gone {
        /// Which place it had.
        id: MemberId,
        /// Who.
        who: CandidateId,
    },
    /// Operators put something in force, or lifted it.
    Controls {
        /// What is in force now.
        controls: Controls,
        /// What is different, in words.
        words: String,
    },
}

/// A change as programs read it.
#[derive(Debug, Default, Serialize)]
pub(super) struct Line {
    at: String,
    election: String,
    /// `leader`, `gained`, `unsure`, `resumed`, `lost`, `went_back`, `trouble` or `well`; by rounds
    /// also `joined`, `evicted`, `paced`, `came`, `died` or `gone`; `controls` if operators put something
    /// in force or lifted it.
    change: &'static str,
    leader: Option<String>,
    incarnation: Option<String>,
    term: Option<u64>,
    token: Option<u64>,
    since: Option<String>,
    /// Of the candidate that came or went.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidate: Option<String>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    round_time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// As in `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    controls: Option<controls::Face>,
    #[serde(skip)]
    words: String,
}

impl Line {
    pub(super) fn of(election: &str, time: StoreTime, event: &Event) -> Line {
        let line = match event {
            Event::Gone { id, who } => Line::of_member("gone", *id, who, "is off the roster"),
            Event::Controls { controls, words } => {
                let controls = Some(controls::Face::of(controls));
                let words = words.replace(char::is_control, " ");
                Line { controls, ..Line::saying("controls", words) }
            }
            Event::Seen(change) => Line::seen(change),
        };
        let words = format!("{}  {election}: {}", moment::show_clock(time), line.words);
        Line { at: moment::rfc3339(time), election: election.to_owned(), words, ..line }
    }

    /// The same for people.
    pub(super) fn words(&self) -> &str {
        &self.words
    }

    fn seen(change: &Change) -> Line {
        match change {
            Change::Leader(leader) => Line::of_leader(leader.as_ref()),
            Change::Gained { term } => Line::of_term("gained", *term),
            Change::Unsure { term } => Line::of_term("unsure", *term),
            Change::Resumed { term } => Line::of_term("resumed", *term),
            Change::Lost { term, reason } => {
                Line { reason: Some(reason.as_str()), ..Line::of_term("lost", *term) }
            }
            Change::WentBack { problem } => {
                Line::of_problem("went_back", "the store went back", problem)
            }
            Change::Trouble { problem, .. } => Line::of_problem("trouble", "trouble", problem),
            Change::Well => Line::saying("well", "the store answers again".to_owned()),
            Change::Joined { id } => {
                let words = format!("joined the roster with id {id}");
                Line { id: Some(id.get()), ..Line::saying("joined", words) }
            }
            Change::Evicted { id } => {
                let words = format!("taken off the roster, id {id}; joins anew");
                Line { id: Some(id.get()), ..Line::saying("evicted", words) }
            }
            Change::Paced { round } => {
                let words = format!("the round time is {}", span::show(*round));
                Line { round_time: Some(round.as_secs_f64()), ..Line::saying("paced", words) }
            }
            Change::Came { id, who } => Line::of_member("came", *id, who, "came to the roster"),
            Change::Died { id, who } => {
                Line::of_member("died", *id, who, "is dead or not heard of, and off the roster")
            }
            _ => Line::saying("other", "other".to_owned()),
        }
    }

    fn saying(change: &'static str, words: String) -> Line {
        Line { change, words, ..Line::default() }
    }

    fn of_leader(leader: Option<&Leader>) -> Line {
        let Some(leader) = leader else {
            return Line::saying("leader", "nobody leads".to_owned());
        };
        Line {
            leader: Some(leader.id.name.to_string()),
            incarnation: Some(leader.id.incarnation.to_string()),
            since: Some(moment::rfc3339(leader.since)),
            words: format!("{} leads, term {}", leader.id.name, leader.term),
            ..Line::of_term("leader", leader.term)
        }
    }

    fn of_term(change: &'static str, term: Term) -> Line {
        let line = Line::saying(change, format!("{change}, term {term}"));
        Line { term: Some(term.get()), token: Some(term.token().get()), ..line }
    }

    fn of_problem(change: &'static str, what: &str, problem: &str) -> Line {
        let line = Line::saying(change, format!("{what}: {problem}"));
        Line { problem: Some(problem.to_owned()), ..line }
    }

    fn of_member(change: &'static str, id: MemberId, who: &CandidateId, what: &str) -> Line {
        Line {
            id: Some(id.get()),
            candidate: Some(who.name.to_string()),
            incarnation: Some(who.incarnation.to_string()),
            ..Line::saying(change, format!("{} {what}, id {id}", who.name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn words(change: Change) -> String {
        let line = Line::of("billing", StoreTime::from_micros(1_000), &Event::Seen(change));
        assert!(line.change != "other" && !line.words.contains('\n'));
        line.words
    }

    #[test]
    fn each_change_of_a_roster_is_told_in_one_line() {
        let id = MemberId::new(7);
        let round = Duration::from_millis(1_500);
        assert_eq!(
            words(Change::Joined { id }),
            "00:00:00.001  billing: joined the roster with id 7"
        );
        assert_eq!(
            words(Change::Evicted { id }),
            "00:00:00.001  billing: taken off the roster, id 7; joins anew"
        );
        assert_eq!(
            words(Change::Paced { round }),
            "00:00:00.001  billing: the round time is 1.5 s"
        );
    }
}
