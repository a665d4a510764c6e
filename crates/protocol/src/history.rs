//! The record of what happened: one JSON object a line, written by real processes and by simulators
//! alike.
//!
//! Assumes: stamps of one `clock` are comparable with each other and with no others; on one host
//! that is the boot-time clock of one boot.
//! Promises: whatever a checker needs to judge a run stands in these lines and nowhere else.

use serde::{Deserialize, Serialize};

use crate::identity::{CandidateId, ElectionName};
use crate::lease::request::Opening;
use crate::rounds::register::MemberId;
use crate::standing::Reason;
use crate::term::Term;
use crate::time::Time;

/// The version of the format; the first line of every history names it.
pub const VERSION: u32 = 1;

/// One line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// When, on the clock named in the header that precedes it for this candidate.
    pub at: Time,
    /// Whose word this is.
    pub candidate: CandidateId,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A candidate begins to write.
    Opened {
        /// The version of the format.
        version: u32,
        /// Names the clock of all `at` stamps that follow from this candidate.
        clock: String,
        /// The wall clock at that instant, in microseconds since 1970; for people.
        wall: u64,
    },
    /// It leads.
    Gained {
        /// In which election.
        election: ElectionName,
        /// Under which number.
        #[serde(deserialize_with = "read::term")]
        term: Term,
        /// Until when, unless renewed.
        valid_until: Time,
        /// Why the term could begin.
        opening: Opening,
    },
    /// It leads for longer.
    Renewed {
        /// In which election.
        election: ElectionName,
        /// Under which number.
        #[serde(deserialize_with = "read::term")]
        term: Term,
        /// Until when.
        valid_until: Time,
    },
    /// It must not act for the time being.
    Unsure {
        /// In which election.
        election: ElectionName,
        /// Under which number it led.
        #[serde(deserialize_with = "read::term")]
        term: Term,
    },
    /// It does not lead any more.
    Lost {
        /// In which election.
        election: ElectionName,
        /// The number that ended.
        #[serde(deserialize_with = "read::term")]
        term: Term,
        /// Why.
        reason: Reason,
    },
    /// Supervised work began under a term.
    WorkBegan {
        /// In which election.
        election: ElectionName,
        /// Under which number.
        #[serde(deserialize_with = "read::term")]
        term: Term,
    },
    /// Supervised work ended.
    WorkEnded {
        /// In which election.
        election: ElectionName,
        /// Under which number.
        #[serde(deserialize_with = "read::term")]
        term: Term,
    },
    /// It saw who leads.
    Saw {
        /// In which election.
        election: ElectionName,
        /// Who, if anybody.
        leader: Option<CandidateId>,
        /// Under which number.
        #[serde(default, deserialize_with = "read::any_term")]
        term: Option<Term>,
    },
    /// It has a place in the line of a roster.
    Joined {
        /// In which election.
        election: ElectionName,
        /// Which place.
        id: MemberId,
        /// In which life of VARS: ids of two lives have nothing to do with each other.
        #[serde(default)]
        life: u64,
    },
    /// Its place in line was taken from it.
    Evicted {
        /// In which election.
        election: ElectionName,
        /// Which place.
        id: MemberId,
    },
    /// It saw that rounds last longer or shorter than before.
    Paced {
        /// In which election.
        election: ElectionName,
        /// How long a round is, in microseconds.
        round_us: u64,
    },
    /// As a leader, it saw a candidate come to the roster.
    Came {
        /// In which election.
        election: ElectionName,
        /// Which place it has.
        id: MemberId,
        /// Who.
        who: CandidateId,
    },
    /// As a leader, it took a candidate off the roster.
    Buried {
        /// In which election.
        election: ElectionName,
        /// Which place it had.
        id: MemberId,
        /// Who.
        who: CandidateId,
    },
    /// It stops writing, of its own accord.
    Closed,
    /// A store issued a term. Written by whoever runs the store; stores that keep no history leave
    /// it out.
    Issued {
        /// In which election.
        election: ElectionName,
        /// The number.
        #[serde(deserialize_with = "read::term")]
        term: Term,
        /// To whom.
        to: CandidateId,
    },
    /// A resource accepted an operation. Written where the resource decides, in the order of its
    /// decisions.
    Accepted {
        /// Which resource.
        resource: String,
        /// Of which election the token is.
        election: ElectionName,
        /// The term that was shown as a token.
        #[serde(deserialize_with = "read::term")]
        term: Term,
        /// Who showed it.
        from: CandidateId,
    },
    /// A resource refused an operation because it had met a newer token.
    Rejected {
        /// Which resource.
        resource: String,
        /// Of which election the token is.
        election: ElectionName,
        /// The term that was shown as a token.
        #[serde(deserialize_with = "read::term")]
        term: Term,
        /// Who showed it.
        from: CandidateId,
        /// The newest term that the resource had met.
        #[serde(deserialize_with = "read::term")]
        newest: Term,
    },
    /// A fenced transaction was committed. Written by whoever runs the store, in the order of its
    /// commits, together with the terms that it issues; stores that keep no history leave it out.
    Committed {
        /// Of which election the term is.
        election: ElectionName,
        /// The term that the transaction was fenced by.
        #[serde(deserialize_with = "read::term")]
        term: Term,
        /// Whose work it was.
        from: CandidateId,
        /// Which of its works: a number that the candidate gives to each attempt.
        work: u64,
        /// Which place it has in the store's own order.
        position: u64,
    },
    /// A candidate knows what became of its fenced transaction, or that it cannot know.
    Concluded {
        /// Of which election the term is.
        election: ElectionName,
        /// The term that the transaction was fenced by.
        #[serde(deserialize_with = "read::term")]
        term: Term,
        /// Which of its works.
        work: u64,
        /// What it was told.
        outcome: Conclusion,
    },
    /// A store came back in an older state. Written by whoever runs the store: what it had issued
    /// and committed since is gone.
    Rewound {
        /// Of which election.
        election: ElectionName,
        /// The newest term that it still knows.
        #[serde(default, deserialize_with = "read::any_term")]
        newest: Option<Term>,
        /// The last place in its own order that it still has.
        position: u64,
    },
    /// The process of this candidate was ended from outside. Written by whoever ended it, in its
    /// name.
    Killed,
    /// The process of this candidate was stopped and may go on later. Written by whoever stopped
    /// it, in its name.
    Paused,
    /// The process of this candidate goes on.
    Resumed,
    /// Something was broken on purpose, or an operator gave an order: what needs quiet does not
    /// hold until the next mark says so.
    Fault {
        /// What, for people.
        what: String,
    },
    /// Nothing is broken and nobody gives orders from here on: nobody's standing may change.
    Quiet {
        /// Until when.
        until: Time,
    },
    /// Nothing is broken any more, in an election that somebody wants to lead.
    Healed {
        /// In which election.
        election: ElectionName,
        /// From when on somebody must lead.
        leader_due: Time,
        /// When all candidates must name that leader.
        agreement_due: Time,
    },
    /// The run ends here; nothing after it is judged.
    Ended,
}

impl Event {
    /// The election that it is about, if it is about one.
    pub const fn election(&self) -> Option<&ElectionName> {
        match self {
            Event::Gained { election, .. }
            | Event::Renewed { election, .. }
            | Event::Unsure { election, .. }
            | Event::Lost { election, .. }
            | Event::WorkBegan { election, .. }
            | Event::WorkEnded { election, .. }
            | Event::Saw { election, .. }
            | Event::Issued { election, .. }
            | Event::Accepted { election, .. }
            | Event::Rejected { election, .. }
            | Event::Committed { election, .. }
            | Event::Concluded { election, .. }
            | Event::Rewound { election, .. }
            | Event::Joined { election, .. }
            | Event::Evicted { election, .. }
            | Event::Paced { election, .. }
            | Event::Came { election, .. }
            | Event::Buried { election, .. }
            | Event::Healed { election, .. } => Some(election),
            Event::Opened { .. }
            | Event::Closed
            | Event::Killed
            | Event::Paused
            | Event::Resumed
            | Event::Fault { .. }
            | Event::Quiet { .. }
            | Event::Ended => None,
        }
    }
}

/// What a candidate was told of its fenced transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// It is in the store.
    Committed,
    /// It had no effect and never will.
    Refused,
    /// Nobody could tell.
    Unknown,
}

/// Reading terms back. They have no `Deserialize` of their own, so that nobody makes one up from a
/// number that came from elsewhere.
mod read {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer};

    use crate::term::{Recorded, Term};

    pub(super) fn term<'de, D: Deserializer<'de>>(from: D) -> Result<Term, D::Error> {
        any_term(from)?.ok_or_else(|| D::Error::custom("a term is a number above zero"))
    }

    pub(super) fn any_term<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Term>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.and_then(Term::recorded))
    }
}
