//! What a store keeps about an election, and what it shows of it in one atomic read.
//!
//! Assumes: the store writes a [`Record`] only as the decisions in [`request`](super::request) and
//! [`order`](super::order) say.
//! Promises: (term, beat) changes with every write, so that equal marks mean that nothing happened.

use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::controls::Controls;
use crate::identity::{CandidateId, CandidateName};
use crate::observation::{Beat, Mark, View};
use crate::planted::{self, Bug};
use crate::rules::{Expiry, Rules};
use crate::term::Term;
use crate::time::StoreTime;

/// How an election stands in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The holder may renew.
    Held,
    /// An operator ended the term: the holder cannot renew, but may act until it lets go or its
    /// lease runs out.
    Ending,
    /// The holder let go. The row, and so the term, stays.
    Released,
}

impl State {
    /// The word used in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            State::Held => "held",
            State::Ending => "ending",
            State::Released => "released",
        }
    }

    /// Reads the word back.
    pub fn from_word(word: &str) -> Option<State> {
        [State::Held, State::Ending, State::Released].into_iter().find(|s| s.as_str() == word)
    }
}

/// One election as the store keeps it. Removed only as [`forget`](super::forget) says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Held, ending or released.
    pub state: State,
    /// Who holds it, or held it last.
    pub holder: CandidateId,
    /// The number of this leadership.
    pub term: Term,
    /// Beats in this term; every change of the row is a beat too.
    pub beat: Beat,
    /// What the holder agreed to.
    pub rules: Rules,
    /// When the term began, by the store's clock.
    pub since: StoreTime,
    /// When the last beat came, by the store's clock.
    pub beaten_at: StoreTime,
    /// For whom an operator reserved the next term.
    pub successor: Option<CandidateName>,
}

impl Record {
    /// What observers compare.
    pub const fn mark(&self) -> Mark {
        Some((self.term, self.beat))
    }

    /// How long `who` must have watched this record stand still before it may claim, had the holder
    /// vanished.
    ///
    /// Once for the holder's lease; once more if the next term is reserved for someone else, who
    /// then has that long to take it.
    pub fn patience(&self, who: &CandidateName) -> Duration {
        let lease = self.rules.lease();
        match self.state {
            State::Released if planted::is(Bug::ReleasedUnreserved) => Duration::ZERO,
            State::Released if self.reserved_from(who) => lease,
            State::Released => Duration::ZERO,
            State::Held | State::Ending if planted::is(Bug::ReservedOnce) => lease,
            State::Held | State::Ending if self.reserved_from(who) => lease * 2,
            State::Held | State::Ending => lease,
        }
    }

    /// Whether the next term is reserved for another than `who`.
    pub fn reserved_from(&self, who: &CandidateName) -> bool {
        let lapsed = planted::is(Bug::ReleasedUnreserved) && self.state == State::Released;
        self.successor.as_ref().is_some_and(|name| name != who) && !lapsed
    }
}

/// What a store shows of an election in one atomic read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Snapshot {
    /// The row, if the election ever had a leader.
    pub record: Option<Record>,
    /// The store's clock at the read.
    pub now: StoreTime,
    /// Proof, not belief, that the holder's process is gone, where a backend has such proof.
    pub holder_died: bool,
    /// When the store last took the place of another under candidates that were already running, if
    /// it ever did. Not before any beat that it shows from that time.
    pub replaced: Option<StoreTime>,
    /// What operators have in force.
    pub controls: Controls,
}

impl Snapshot {
    /// What observers compare.
    pub fn mark(&self) -> Mark {
        self.record.as_ref().and_then(Record::mark)
    }

    /// What observers watch.
    pub fn view(&self) -> View {
        let alone = planted::is(Bug::ReplacementForgotten);
        let forgotten = alone && !self.may_lack_writes(Duration::ZERO);
        View {
            mark: self.mark(),
            beaten_at: self.record.as_ref().filter(|_| !alone).map(|record| record.beaten_at),
            replaced: self.replaced.filter(|_| !forgotten),
        }
    }

    /// Whether the store lacks, or may lack, what was written last: a newer term was seen, or the
    /// store took the place of another and either no leader has beaten since, or a lease of the
    /// `longest` may still run that was lost with its claim. In that time a beat proves nothing: it may
    /// be a late one of a leader of the past.
    pub fn went_back(&self, newest: Option<Term>, longest: Duration) -> bool {
        let found = self.record.as_ref().map(|record| record.term);
        let replaced = self.may_lack_writes(longest) && !planted::is(Bug::ReplacementIgnored);
        newest > found || replaced
    }

    fn may_lack_writes(&self, longest: Duration) -> bool {
        self.replaced.is_some_and(|at| {
            let age = self.now.since(at);
            age < longest || (age < Rules::LEASE_MAX && !self.is_confirmed())
        })
    }

    /// Whether the leader of the row renewed since the store took the place of another, if it did: what
    /// the row shows may be long over otherwise.
    pub(super) fn is_confirmed(&self) -> bool {
        let beaten = self.record.as_ref().map(|record| record.beaten_at);
        self.replaced.is_none_or(|at| beaten.is_some_and(|beaten| beaten > at))
    }

    /// Whether operators keep a candidate from winning.
    pub fn bars(&self, name: &CandidateName) -> bool {
        self.controls.bar_on(name, self.now).is_some()
    }

    /// Who leads, to the best of the store's knowledge.
    pub fn sight(&self) -> Sight {
        let Some(record) = &self.record else {
            return Sight::Vacant;
        };
        let leader = Leader { id: record.holder.clone(), term: record.term, since: record.since };
        let idle = self.now.since(record.beaten_at);
        let remaining = record.rules.lease().saturating_sub(idle);
        match record.state {
            State::Released => Sight::Vacant,
            _ if self.holder_died => Sight::Died { leader },
            _ if remaining.is_zero() => Sight::Overdue { leader, idle },
            State::Ending => Sight::Ending { leader, remaining },
            State::Held => Sight::Led { leader, remaining },
        }
    }

    /// Whether the lease has run out by the store's own clock, where the rules trust that clock. A
    /// released term has no lease: whoever else it is reserved for gets time from the order on, not
    /// from the last beat.
    pub(super) fn expired_by_database(&self, record: &Record, patience: Duration) -> bool {
        record.rules.expiry() == Expiry::Database
            && record.state != State::Released
            && self.now.since(record.beaten_at) >= patience
    }
}

/// A leader, as everyone may see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Leader {
    /// Who.
    pub id: CandidateId,
    /// Under which number.
    pub term: Term,
    /// Since when, by the store's clock.
    pub since: StoreTime,
}

impl fmt::Display for Leader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (term {})", self.id.name, self.term)
    }
}

/// Who leads, to the best of a store's knowledge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sight {
    /// Nobody: never held, or released.
    Vacant,
    /// Somebody, who renewed less than a lease ago.
    Led {
        /// Who.
        leader: Leader,
        /// What is left of the lease by the store's clock, if no further renewal comes.
        remaining: Duration,
    },
    /// An operator ended the term; the holder may still act for a while.
    Ending {
        /// Who held it.
        leader: Leader,
        /// For how long it may still act at most.
        remaining: Duration,
    },
    /// The holder has not renewed for a lease. Nobody is known to lead.
    Overdue {
        /// Who held it.
        leader: Leader,
        /// For how long nothing was heard of it.
        idle: Duration,
    },
    /// The holder's process is proved dead. Nobody leads.
    Died {
        /// Who held it.
        leader: Leader,
    },
}

impl Sight {
    /// The leader, if there is one that may be acting on a live lease.
    pub const fn leader(&self) -> Option<&Leader> {
        match self {
            Sight::Led { leader, .. } | Sight::Ending { leader, .. } => Some(leader),
            Sight::Vacant | Sight::Overdue { .. } | Sight::Died { .. } => None,
        }
    }

    /// The word used by every face of the program.
    pub const fn word(&self) -> &'static str {
        match self {
            Sight::Vacant => "vacant",
            Sight::Led { .. } => "led",
            Sight::Ending { .. } => "ending",
            Sight::Overdue { .. } => "overdue",
            Sight::Died { .. } => "died",
        }
    }
}
