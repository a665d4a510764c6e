//! At every instant at most one candidate's lease is valid, per election.
//!
//! Assumes: clocks ran within the margin of each other.
//! Promises: a lease counts from `Gained` until the first of: the last `valid_until` that was told;
//! `Unsure`, until a renewal makes it sure again; `Lost`, unless the reason says that the rest of
//! the lease is used for stopping; the end of that work. A successor that came by proof of death
//! ends the lease of the dead, who then must not write again. Leases on different clocks cannot be
//! compared; the pairs are counted.

use std::collections::BTreeSet;

use incumbent_protocol::history::Event;
use incumbent_protocol::lease::request::Opening;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

use super::grid::Grid;
use super::{Cast, Checker, Clock, Contest, Fact, Finding, Spot, Who};

/// Judges the lease promise.
#[derive(Debug, Default)]
pub struct AtMostOneLease {
    ledgers: Grid<Ledger>,
    /// Whose death was taken as proved, and by whom.
    proved_dead: Vec<Proof>,
    finding: Finding,
}

/// The leases of one election on one clock.
#[derive(Debug, Default)]
struct Ledger {
    leases: Vec<Lease>,
    /// How many were ever granted.
    granted: u64,
    /// The instant of the last event; all events of an instant are taken before it is judged.
    now: Option<Time>,
    accused: BTreeSet<(Term, Term)>,
}

#[derive(Clone, Copy, Debug)]
struct Lease {
    who: Who,
    term: Term,
    until: Time,
    /// The line that says until when.
    line: u64,
    sure: bool,
    /// Its loss was told, and what is left of it is used for stopping.
    ending: bool,
    /// How much supervised work runs under it.
    work: u32,
}

impl Lease {
    fn new(fact: &Fact<'_>, term: Term, until: Time) -> Self {
        Lease { who: fact.who, term, until, line: fact.line, sure: true, ending: false, work: 0 }
    }
}

#[derive(Clone, Copy, Debug)]
struct Proof {
    dead: Who,
    clock: Clock,
    term: Term,
    taken: Spot,
    by: Who,
}

impl AtMostOneLease {
    /// How many pairs of leases of one election stand on different clocks.
    pub fn not_comparable(&self) -> u64 {
        let pairs = |counts: &mut dyn Iterator<Item = u64>| {
            let (sum, squares) = counts.fold((0, 0), |(s, q), n| (s + n, q + n * n));
            (sum * sum - squares) / 2
        };
        let rows = self.ledgers.rows();
        rows.map(|row| pairs(&mut row.iter().map(|ledger| ledger.granted))).sum()
    }

    fn mind_the_dead(&mut self, fact: &Fact<'_>) {
        if matches!(fact.event, Event::Killed) {
            return;
        }
        let returned = |proof: &Proof| {
            proof.dead == fact.who && proof.clock == fact.clock && fact.at > proof.taken.at
        };
        if let Some(index) = self.proved_dead.iter().position(returned) {
            let proof = self.proved_dead.swap_remove(index);
            let (by, dead) = (fact.cast.candidate(proof.by), fact.cast.candidate(proof.dead));
            self.finding.accuse(
                fact.at,
                format!(
                    "{by} took over at {} on the proof that {dead} was dead, while the lease of {dead} (term {}) still \
                     ran; but {dead} wrote again at {}",
                    proof.taken, proof.term, fact.at
                ),
                &[proof.taken.line, fact.line],
            );
        }
    }
}

impl Checker for AtMostOneLease {
    const NAME: &'static str = "at_most_one_lease";

    fn line(&mut self, fact: &Fact<'_>) {
        if !self.proved_dead.is_empty() {
            self.mind_the_dead(fact);
        }
        let Some(contest) = fact.contest else {
            if matches!(fact.event, Event::Killed) {
                for (contest, ledger) in self.ledgers.column(fact.clock) {
                    ledger.judge(fact.cast, contest, &mut self.finding);
                    ledger.leases.retain(|lease| lease.who != fact.who);
                }
            }
            return;
        };
        let ledger = self.ledgers.at(contest, fact.clock);
        if ledger.now.is_some_and(|now| now < fact.at) {
            ledger.judge(fact.cast, contest, &mut self.finding);
        }
        ledger.take(fact, &mut self.finding, &mut self.proved_dead);
    }

    fn finish(mut self, cast: &Cast) -> Finding {
        for (contest, _, ledger) in self.ledgers.cells() {
            ledger.judge(cast, contest, &mut self.finding);
        }
        self.finding
    }
}

impl Ledger {
    fn take(&mut self, fact: &Fact<'_>, finding: &mut Finding, dead: &mut Vec<Proof>) {
        let who = fact.who;
        match *fact.event {
            Event::Gained { term, valid_until, opening, .. } => {
                finding.facts += 1;
                self.granted += 1;
                self.succeed(fact, opening, dead);
                self.leases.push(Lease::new(fact, term, valid_until));
            }
            Event::Renewed { term, valid_until, .. } => {
                finding.facts += 1;
                self.renew(fact, term, valid_until);
            }
            Event::Unsure { term, .. } => self.each(who, term, |lease| lease.sure = false),
            Event::Lost { term, reason, .. } if reason.lease_still_runs() => {
                self.each(who, term, |lease| lease.ending = true);
            }
            Event::Lost { term, .. } => {
                self.leases.retain(|l| (l.who, l.term) != (who, term));
            }
            Event::WorkBegan { term, .. } => self.each(who, term, |lease| lease.work += 1),
            Event::WorkEnded { term, .. } => {
                self.each(who, term, |lease| lease.work = lease.work.saturating_sub(1));
                self.leases.retain(|l| (l.who, l.term) != (who, term) || !l.ending || l.work > 0);
            }
            _ => return,
        }
        self.now = Some(fact.at);
    }

    /// What the reason of a new term says about the leases before it.
    fn succeed(&mut self, fact: &Fact<'_>, opening: Opening, dead: &mut Vec<Proof>) {
        match opening {
            // The holder let go; it does so when its work has ended, and no line tells that by
            // itself.
            Opening::Released => self.leases.retain(|l| !l.ending || l.work > 0),
            Opening::Died => {
                let others = self.leases.iter().filter(|l| l.who != fact.who);
                dead.extend(others.filter(|l| fact.at < l.until).map(|l| Proof {
                    dead: l.who,
                    clock: fact.clock,
                    term: l.term,
                    taken: fact.spot(),
                    by: fact.who,
                }));
                self.leases.retain(|l| l.who == fact.who);
            }
            Opening::First | Opening::Expired | Opening::Own => {}
        }
    }

    /// A lease that was over and forgotten stands again: its holder says so.
    fn renew(&mut self, fact: &Fact<'_>, term: Term, until: Time) {
        let (who, line) = (fact.who, fact.line);
        let mut known = self.leases.iter_mut();
        if let Some(lease) = known.find(|l| (l.who, l.term) == (who, term)) {
            *lease = Lease { until, line, sure: true, ending: false, ..*lease };
        } else {
            self.leases.push(Lease::new(fact, term, until));
        }
    }

    fn each(&mut self, who: Who, term: Term, change: impl Fn(&mut Lease)) {
        let of_it = |lease: &&mut Lease| (lease.who, lease.term) == (who, term);
        self.leases.iter_mut().filter(of_it).for_each(change);
    }

    /// Looks at the instant of the last event, all of which have been taken. Between events leases
    /// only end, so that the instants in between need no look of their own.
    fn judge(&mut self, cast: &Cast, contest: Contest, finding: &mut Finding) {
        let Some(now) = self.now else { return };
        self.leases.retain(|lease| now < lease.until);
        if self.leases.len() < 2 {
            return;
        }
        let sure = self.leases.iter().filter(|lease| lease.sure);
        let holding: Vec<Lease> = sure.copied().collect();
        for (index, one) in holding.iter().enumerate() {
            for two in &holding[index + 1..] {
                let pair = (one.term.min(two.term), one.term.max(two.term));
                if one.who != two.who && self.accused.insert(pair) {
                    let told = |l: &Lease| {
                        let who = cast.candidate(l.who);
                        format!("{who} (term {}, valid until {})", l.term, l.until)
                    };
                    finding.accuse(
                        now,
                        format!(
                            "at {now} both {} and {} hold a valid lease of {}",
                            told(one),
                            told(two),
                            cast.election(contest)
                        ),
                        &[one.line, two.line],
                    );
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "at_most_one_lease_test.rs"]
mod tests;
