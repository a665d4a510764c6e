//! What an operator asks of a store: end a term, or reserve the next one for a named candidate.
//!
//! Assumes: as for [`request`](super::request): decided and written in one atomic step.
//! Promises: an order never breaks the lease. It stops renewals at once; the next leader still
//! waits until the old one let go or its lease ran out, and the order says how long that can take.

use core::time::Duration;

use thiserror::Error;

use super::row::{Leader, Snapshot, State};
use crate::identity::CandidateName;
use crate::observation::Mark;
use crate::term::Term;

/// An operator's word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// End the present term; let anyone win the next.
    Demote,
    /// End the present term; reserve the next for a named candidate.
    Takeover {
        /// For whom.
        successor: CandidateName,
    },
}

/// What the store must write if the mark is still `expected`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decree {
    /// The mark that the decision was based on.
    pub expected: Mark,
    /// The term that it ends, or after which it reserves the next.
    pub term: Term,
    /// How the election stands from then on.
    pub state: State,
    /// For whom the next term is reserved.
    pub successor: Option<CandidateName>,
    /// Who held it, if anybody did.
    pub deposed: Option<Leader>,
    /// For how long the deposed leader may still act at most.
    pub may_act: Duration,
    /// The lease of the term that it ends: for so long a named successor has the next term to
    /// itself.
    pub lease: Duration,
}

impl Order {
    /// Whether the order may be carried out. `term`, if given, must be the present one, so that an
    /// order meant for one leader never hits its successor.
    pub fn decide(&self, snapshot: &Snapshot, term: Option<Term>) -> Result<Decree, OrderError> {
        let record = snapshot.record.as_ref().ok_or(OrderError::Unknown)?;
        if let Some(meant) = term.filter(|&meant| meant != record.term) {
            return Err(OrderError::OtherTerm { meant, found: record.term });
        }
        let held = record.state != State::Released;
        let successor = match self {
            Order::Demote if !held => return Err(OrderError::Vacant),
            Order::Demote => None,
            Order::Takeover { successor }
                if record.state == State::Held && record.holder.name == *successor =>
            {
                return Err(OrderError::Leads { name: successor.clone(), term: record.term });
            }
            Order::Takeover { successor } => Some(successor.clone()),
        };
        let idle = snapshot.now.since(record.beaten_at);
        let leader = Leader { id: record.holder.clone(), term: record.term, since: record.since };
        Ok(Decree {
            expected: record.mark(),
            term: record.term,
            state: if held { State::Ending } else { State::Released },
            successor,
            deposed: held.then_some(leader),
            may_act: if held && !snapshot.holder_died {
                record.rules.lease().saturating_sub(idle)
            } else {
                Duration::ZERO
            },
            lease: record.rules.lease(),
        })
    }
}

/// Why an order was not carried out. *Standing:* everyone's is as it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum OrderError {
    /// No candidate ever led it. *Retry:* after checking the name.
    #[error("no election of that name was ever held here: check the name and the URL")]
    Unknown,
    /// There is nobody to demote. *Retry:* not needed.
    #[error("nobody leads it, so there is nobody to demote")]
    Vacant,
    /// The named candidate leads already. *Retry:* not needed.
    #[error("{name} already leads it, in term {term}")]
    Leads {
        /// Who.
        name: CandidateName,
        /// Under which number.
        term: Term,
    },
    /// The leadership changed before the order came. *Retry:* after looking again.
    #[error(
        "the order was meant for term {meant}, but the election is in term {found}: look again"
    )]
    OtherTerm {
        /// As ordered.
        meant: Term,
        /// As found.
        found: Term,
    },
}
