//! What has to be true when a story has ended.
//!
//! Assumes: whatever was broken is healed.
//! Promises: it waits until every election is led again, sends everyone home, and then compares
//! four testimonies: the candidates' histories, the store's own list of terms, what writers were
//! told, and what is in the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use incumbent::{Backend, Config};
use incumbent_audit::{Checker, History, IdsGrow, audit};
use incumbent_protocol::history::Event;
use incumbent_protocol::time::Time;

use crate::log::Fate;
use crate::server::Server;
use crate::support::soon;
use crate::troupe::{ELECTIONS, Troupe};

/// Whether the server still has everything that it ever acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// It has.
    Whole,
    /// It went back: a replica that missed writes took over, or a backup was restored.
    Gaps,
}

/// A row of the work, in the order of commits: term and number.
type Work = Vec<(u64, u64)>;

impl<S: Server> Troupe<S> {
    /// Ends the story. `server` is the one that is used now. Gives the number of terms that the
    /// store remembers and that nobody ever led: claims that were committed unheard.
    pub(crate) async fn judge(mut self, story: &str, server: &S, memory: Memory) -> usize {
        self.work().await;
        self.go_home().await;
        let report = audit(&self.histories).expect("readable");
        // A store that went back has forgotten which places in line it gave away.
        let forgiven = |property| memory == Memory::Gaps && property == IdsGrow::NAME;
        assert!(report.violations.iter().all(|broken| forgiven(broken.property)), "{report}");
        assert_eq!(report.candidates, self.candidates.len());
        let history = History::read(&self.histories).expect("readable");
        let unled = self.judge_terms(&server.url(), &history, memory).await;
        for election in ELECTIONS {
            self.judge_work(election, &work_of(server, election).await, memory);
        }
        let attempts =
            [Fate::Kept, Fate::Fenced, Fate::Undone, Fate::Doubt].map(|fate| self.log.count(fate));
        let (terms, without) = (report.terms, longest_without_leader(&history));
        tracing::info!(
            story,
            kind = std::any::type_name::<S>(),
            terms,
            unled,
            ?without,
            ?attempts,
            "kept, fenced, undone, in doubt"
        );
        unled
    }

    async fn go_home(&mut self) {
        for candidate in &self.candidates {
            candidate.wish.send_modify(|wish| wish.end = true);
        }
        for candidate in &mut self.candidates {
            candidate.backend.clone().close().await;
            for task in candidate.tasks.drain(..) {
                soon("everyone goes home", task).await.expect("no panic");
            }
        }
    }

    /// Terms strictly grow, and the store remembers each that was ever led. Counts those that it
    /// remembers and that nobody led.
    async fn judge_terms(&self, url: &str, history: &History, memory: Memory) -> usize {
        let looker = Backend::open_existing(url, &Config::new().single_writer()).await;
        let looker = looker.expect("the store opens");
        let mut unled = 0;
        for election in ELECTIONS {
            let mut terms = looker.terms(election, 1_000).await.expect("terms");
            terms.reverse();
            assert!(terms.is_sorted_by(|one, two| one.term < two.term), "{terms:?}");
            assert!(terms.is_sorted_by(|one, two| one.began <= two.began), "{terms:?}");
            let gained = history.lines.iter().filter_map(|line| match &line.event {
                Event::Gained { election: of, term, .. } if of.as_str() == election => {
                    Some((*term, &line.candidate))
                }
                _ => None,
            });
            let gained: Vec<_> = gained.collect();
            assert!(!gained.is_empty(), "nobody ever led {election}");
            assert!(gained.is_sorted_by(|one, two| one.0 < two.0), "{election}: {gained:?}");
            let is_led = |term| gained.iter().any(|(led, _)| *led == term);
            unled += terms.iter().filter(|record| !is_led(record.term)).count();
            if memory == Memory::Whole {
                for (term, candidate) in gained {
                    let of = |record: &&incumbent::TermRecord| record.term == term;
                    let record = terms.iter().find(of).expect("a term that was led is remembered");
                    assert_eq!(record.incarnation, candidate.incarnation.to_string());
                }
            }
        }
        looker.close().await;
        unled
    }

    /// Commits are in the order of terms; what was acknowledged is there once; what was undone is
    /// not there.
    fn judge_work(&self, election: &str, work: &Work, memory: Memory) {
        assert!(work.is_sorted_by(|one, two| one.0 <= two.0), "{election}: a deposed leader wrote");
        let once: BTreeSet<_> = work.iter().collect();
        assert_eq!(once.len(), work.len(), "{election}: something was written twice");
        let attempts = self.log.attempts();
        let known: BTreeMap<_, _> = attempts
            .iter()
            .filter(|attempt| attempt.election == election)
            .map(|attempt| ((attempt.term, attempt.number), attempt.fate))
            .collect();
        for piece in work {
            let fate = known.get(piece);
            assert!(
                matches!(fate, Some(Fate::Kept | Fate::Doubt)),
                "{election} {piece:?}: {fate:?}"
            );
        }
        if memory == Memory::Whole {
            for (piece, _) in known.iter().filter(|(_, fate)| **fate == Fate::Kept) {
                assert!(once.contains(piece), "{election} {piece:?} was acknowledged and is lost");
            }
        }
    }
}

/// The work in the order in which it was committed.
pub(crate) async fn work_of<S: Server>(server: &S, election: &str) -> Work {
    let ask =
        format!("SELECT seq, term, number FROM work WHERE election = '{election}' ORDER BY seq");
    let rows = server.sql(&ask).await;
    let rows = rows.lines().map(|row| {
        let cells: Vec<u64> = row.split('|').map(|cell| cell.parse().expect("a number")).collect();
        (cells[0], (cells[1], cells[2]))
    });
    let (numbers, work): (Vec<u64>, Work) = rows.unzip();
    // Each took the next number under a lock that it kept: a gap would be a commit that vanished.
    let all = 1..=u64::try_from(numbers.len()).expect("a count");
    assert!(numbers.into_iter().eq(all), "{election}: a commit vanished");
    work
}

/// The longest time for which an election that had been led once had nobody who could lead.
fn longest_without_leader(history: &History) -> Duration {
    let mut longest = Duration::ZERO;
    for election in ELECTIONS {
        let mut led_until: Option<Time> = None;
        for line in history
            .lines
            .iter()
            .filter(|line| line.event.election().is_some_and(|of| of.as_str() == election))
        {
            match line.event {
                Event::Gained { valid_until, .. } | Event::Renewed { valid_until, .. } => {
                    let gap = led_until.map_or(Duration::ZERO, |until| line.at.since(until));
                    longest = longest.max(gap);
                    led_until = Some(valid_until);
                }
                Event::Lost { .. } => led_until = led_until.map(|until| until.min(line.at)),
                _ => {}
            }
        }
    }
    longest
}
