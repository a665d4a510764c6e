//! The roll that this node keeps for everybody.
//!
//! Assumes: nothing; lines may come late, twice, or from strangers who know the secret.
//! Promises: of each candidate the newest line, as long as it is worth keeping, and never more than
//! so many. When it is full, the processes that left go first, then those silent for longest.

use std::collections::BTreeMap;
use std::time::Duration;

use incumbent_protocol::identity::ElectionName;
use incumbent_protocol::roll::{Peer, sift};
use incumbent_protocol::time::StoreTime;

use super::Task;
use crate::clock;
use crate::peers::message::Line;
use crate::peers::store::merge;

/// Most lines of the roll that are kept.
const LINES_MAX: usize = 100_000;

/// How often elections that nobody asks for are looked through.
const SWEEP: Duration = Duration::from_mins(1);

impl Task {
    /// Takes lines, and gives back all of some elections.
    pub(super) fn roll(
        &mut self,
        lines: Vec<(ElectionName, Line)>,
        elections: &[ElectionName],
    ) -> Vec<(ElectionName, Line)> {
        let roll = &mut self.state.roll;
        let lost = roll.put(lines, clock::wall(), LINES_MAX);
        if lost > 0 && !std::mem::replace(&mut roll.warned, true) {
            tracing::warn!(
                lost,
                limit = LINES_MAX,
                "more candidates of all elections together than this peer keeps on its list: those that were not heard of                  for longest are left out of members, preferences and transfers until they report again"
            );
        }
        roll.of(elections)
    }
}

/// The lines of all elections.
#[derive(Debug, Default)]
pub(super) struct Roll {
    elections: BTreeMap<ElectionName, Vec<Peer>>,
    swept: StoreTime,
    /// Whether it was said that lines of live processes do not fit.
    warned: bool,
}

impl Roll {
    pub(super) const fn new() -> Roll {
        Roll { elections: BTreeMap::new(), swept: StoreTime::from_micros(0), warned: false }
    }

    /// Takes lines. Tells how many of live processes had to go.
    fn put(&mut self, lines: Vec<(ElectionName, Line)>, now: StoreTime, most: usize) -> usize {
        let mut touched = Vec::new();
        for (election, line) in lines {
            let mut peer = line.peer();
            // A clock that is ahead must not keep its lines for longer than those of others.
            peer.started = peer.started.min(now);
            peer.beaten_at = peer.beaten_at.min(now);
            merge(self.elections.entry(election.clone()).or_default(), peer);
            touched.push(election);
        }
        touched.dedup();
        for election in touched {
            self.elections.entry(election).and_modify(|lines| tidy(lines, now));
        }
        if now.since(self.swept) >= SWEEP || self.len() > most {
            self.swept = now;
            self.elections.values_mut().for_each(|lines| tidy(lines, now));
            let lost = self.make_room(now, most);
            self.elections.retain(|_, lines| !lines.is_empty());
            return lost;
        }
        0
    }

    /// Takes off so many that it is not full again at once, without putting all in order: heartbeats
    /// wait for this. Tells how many of live processes went.
    fn make_room(&mut self, now: StoreTime, most: usize) -> usize {
        let len = self.len();
        if len <= most {
            return 0;
        }
        let rank = |peer: &Peer| (peer.is_present(now), peer.beaten_at);
        let mut ranks: Vec<_> = self.elections.values().flatten().map(rank).collect();
        let surplus = len - most + most / 10;
        let (lower, last, _) = ranks.select_nth_unstable(surplus - 1);
        // Of those of the last rank only some go.
        let mut equals = 1 + lower.iter().filter(|rank| *rank == last).count();
        let (last, mut lost) = (*last, 0);
        for lines in self.elections.values_mut() {
            lines.retain(|peer| {
                let rank = rank(peer);
                let goes = rank < last || (rank == last && equals > 0);
                equals -= usize::from(goes && rank == last);
                lost += usize::from(goes && rank.0);
                !goes
            });
        }
        lost
    }

    fn len(&self) -> usize {
        self.elections.values().map(Vec::len).sum()
    }

    fn of(&self, elections: &[ElectionName]) -> Vec<(ElectionName, Line)> {
        let found = elections.iter().filter_map(|name| Some((name, self.elections.get(name)?)));
        let lines = found.flat_map(|(name, lines)| lines.iter().map(move |peer| (name, peer)));
        lines.map(|(name, peer)| (name.clone(), Line::of(peer.clone()))).collect()
    }
}

fn tidy(lines: &mut Vec<Peer>, now: StoreTime) {
    *lines = sift(std::mem::take(lines), now).kept;
}

#[cfg(test)]
mod tests {
    use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
    use incumbent_protocol::roll::Presence;
    use incumbent_protocol::rounds::register::Profile;

    use super::*;

    fn name(name: &str) -> ElectionName {
        ElectionName::new(name).expect("a name")
    }

    fn at(seconds: u64) -> StoreTime {
        StoreTime::from_micros((1_000_000 + seconds) * 1_000_000)
    }

    fn line(who: &str, start: u64, seconds: u64, presence: Presence) -> Line {
        let who = CandidateName::new(who).expect("a name");
        Line::of(Peer {
            id: CandidateId::new(who, Incarnation::from_random(u128::from(start) + 1)),
            profile: Profile::default(),
            priority: 0,
            presence,
            why: None,
            prefers: String::new(),
            started: at(seconds),
            beaten_at: at(seconds),
            every: Duration::from_secs(3),
        })
    }

    fn names(roll: &Roll, election: &ElectionName) -> Vec<String> {
        let lines = roll.of(std::slice::from_ref(election));
        lines.into_iter().map(|(_, line)| line.peer().id.name.to_string()).collect()
    }

    #[test]
    fn a_crash_loop_does_not_keep_newcomers_off_the_roll() {
        let (billing, mail) = (name("billing"), name("mail"));
        let mut roll = Roll::new();
        for start in 0..20_000 {
            let presence = if start % 2 == 0 { Presence::Ready } else { Presence::Left };
            let lines =
                [&billing, &mail].map(|to| (to.clone(), line("loop", start, start, presence)));
            roll.put(lines.into(), at(start), 10_000);
        }
        roll.put(
            vec![(billing.clone(), line("eve", 1 << 40, 20_000, Presence::Ready))],
            at(20_000),
            10_000,
        );
        assert!(roll.len() < 20, "{} lines", roll.len());
        assert!(names(&roll, &billing).contains(&"eve".to_owned()));
    }

    #[test]
    fn a_full_roll_drops_the_processes_that_left_first_and_then_the_longest_silent() {
        let mut roll = Roll::new();
        let elections: Vec<_> = (0..100).map(|at| name(&format!("e-{at:02}"))).collect();
        for (start, election) in (0..).zip(&elections) {
            let presence = if start < 10 { Presence::Left } else { Presence::Ready };
            // Those that left did so last.
            let when = if start < 10 { 100 } else { 98 + start / 60 };
            roll.put(vec![(election.clone(), line("ann", start, when, presence))], at(100), 100);
        }
        let new = name("new");
        roll.put(vec![(new.clone(), line("eve", 1 << 40, 100, Presence::Ready))], at(100), 100);
        assert_eq!(roll.len(), 90);
        assert_eq!(names(&roll, &new), ["eve"]);
        assert!(elections[..10].iter().all(|election| names(&roll, election).is_empty()));
        assert!(elections[60..].iter().all(|election| !names(&roll, election).is_empty()));
    }

    #[test]
    fn it_is_told_how_many_live_processes_do_not_fit() {
        let mut roll = Roll::new();
        let mut put = |start: u64, presence| {
            let election = name(&format!("e-{start}"));
            roll.put(vec![(election, line("ann", start, 100, presence))], at(100), 100)
        };
        // Those that left are none of them.
        assert_eq!((0..10).map(|start| put(start, Presence::Left)).sum::<usize>(), 0);
        assert_eq!((10..101).map(|start| put(start, Presence::Ready)).sum::<usize>(), 1);
        assert_eq!((101..112).map(|start| put(start, Presence::Ready)).sum::<usize>(), 11);
        assert_eq!(roll.len(), 90);
    }

    #[test]
    fn lines_of_elections_that_nobody_asks_for_go_after_a_day() {
        let (old, new) = (name("old"), name("new"));
        let mut roll = Roll::new();
        roll.put(vec![(old.clone(), line("ann", 1, 0, Presence::Ready))], at(0), 10);
        roll.put(vec![(new.clone(), line("bob", 2, 80_000, Presence::Ready))], at(80_000), 10);
        assert_eq!(names(&roll, &old), ["ann"]);
        roll.put(vec![(new.clone(), line("bob", 2, 86_400, Presence::Ready))], at(86_400), 10);
        assert!(names(&roll, &old).is_empty());
        assert_eq!(roll.elections.len(), 1);
    }

    #[test]
    fn a_clock_that_is_ahead_does_not_keep_a_line() {
        let billing = name("billing");
        let mut roll = Roll::new();
        roll.put(vec![(billing.clone(), line("ann", 1, 1 << 30, Presence::Ready))], at(0), 10);
        roll.put(vec![(billing.clone(), line("ann", 2, 60, Presence::Ready))], at(60), 10);
        assert_eq!(roll.len(), 1);
    }
}
