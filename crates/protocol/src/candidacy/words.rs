//! The words that a candidacy and its driver exchange: what reaches it, what it wants done, what it
//! wants known.
//!
//! Assumes: nothing.
//! Promises: these are all of them; a driver that handles each is complete.

use crate::identity::CandidateName;
use crate::lease::Lease;
use crate::lease::request::{Denied, Done, Opening, Refusal, Request};
use crate::lease::row::Leader;
use crate::outcome::Outcome;
use crate::rounds::membership::News;
use crate::rounds::register::MemberId;
use crate::standing::Reason;
use crate::term::Term;
use crate::time::{AskedAt, HeardAt, StoreTime};

use core::time::Duration;

/// Names a request, so that its answer finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(super) u64);

/// How much of an election a candidate wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wish {
    /// Nothing: it does not even look.
    Nothing,
    /// To know who leads.
    Watch,
    /// To lead.
    Lead,
}

/// What reaches a candidacy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::large_enum_variant, reason = "answers are the common case and are moved once")]
pub enum Input {
    /// Time has passed.
    Wake,
    /// The user wants more or less of the election.
    Wish(Wish),
    /// The work under this term has ended, or the user lets go of it.
    Resign(Term),
    /// Whoever is to have the next term when this candidate lets go of its own.
    Heir(Option<CandidateName>),
    /// How long to let others go first once a term is open. In a line it is the place that counts.
    Defer(Duration),
    /// Whether it is the nominee. A candidate that is not bids only for a term that is reserved for it.
    /// Without such an input it is.
    Nominated(bool),
    /// Give up its place in line for one at the end, unless it leads.
    StepBack,
    /// Something may have changed in the store: look sooner. Never more than a hint.
    Bell,
    /// The lease clock cannot be trusted to have run evenly until now.
    ClockJumped,
    /// What became of a request.
    Answer {
        /// Of which one.
        ticket: Ticket,
        /// Read before it was sent.
        asked_at: AskedAt,
        /// Read after the answer came.
        heard_at: HeardAt,
        /// The answer.
        outcome: Outcome<Done, Denied>,
    },
}

/// What a candidacy wants done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Ask the store, and answer with this ticket.
    Ask {
        /// Names the request.
        ticket: Ticket,
        /// The request.
        request: Request,
    },
}

/// What a candidacy wants known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// It leads.
    Gained {
        /// Under which number.
        term: Term,
        /// Until when, unless renewed.
        lease: Lease,
        /// Why the term could begin.
        opening: Opening,
    },
    /// It leads for longer; also how it becomes sure again.
    Renewed {
        /// Under which number.
        term: Term,
        /// Until when.
        lease: Lease,
    },
    /// It must not act until it hears otherwise.
    Unsure {
        /// Under which number it led.
        term: Term,
    },
    /// It does not lead any more, for good.
    Lost {
        /// The number that ended.
        term: Term,
        /// Why.
        reason: Reason,
    },
    /// Who leads changed, as far as it can see. `None` means that nobody is known to.
    Leader(Option<Leader>),
    /// It cannot take part, and stopped wanting to lead.
    Rejected(Refusal),
    /// The store holds less than was seen before.
    WentBack(Refusal),
    /// It has a place in line.
    Joined {
        /// Which.
        id: MemberId,
        /// In which life of VARS.
        life: StoreTime,
    },
    /// Its place was taken from it; it joins anew.
    Evicted {
        /// Which.
        id: MemberId,
    },
    /// The round time changed, as far as it can see.
    Paced {
        /// How long a round is now.
        round: Duration,
    },
    /// Somebody came to the roster or was evicted from it. Only a leader says so.
    Member(News),
}
