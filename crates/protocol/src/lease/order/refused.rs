//! Why an order was not carried out.
//!
//! Assumes: nothing.
//! Promises: each says what to do about it. Nothing was changed.

use core::time::Duration;

use thiserror::Error;

use crate::identity::CandidateName;
use crate::lease::row::Leader;
use crate::roll::Presence;
use crate::term::Term;

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
    /// The election is paused. *Retry:* after `resume`.
    #[error("the election is paused: resume it first")]
    Paused,
    /// It is paused already. *Retry:* not needed.
    #[error("the election is paused already")]
    AlreadyPaused,
    /// The leader is ending its work for another. *Retry:* once that one leads; `demote` and
    /// `takeover` end the term at once.
    #[error(
        "a transfer to {to} is under way: wait for it, or end the term with `demote` or `takeover`"
    )]
    Transferring {
        /// For whom.
        to: CandidateName,
    },
    /// It is not paused. *Retry:* not needed.
    #[error("the election is not paused")]
    NotPaused,
    /// Nothing was ever heard of that candidate. *Retry:* after checking the name, or in a moment if it
    /// has just started.
    #[error(
        "no candidate of the name {name} was ever seen in this election: `members` lists them; \
         if it has just started, wait until it says that it contends"
    )]
    NoSuchCandidate {
        /// As given.
        name: CandidateName,
    },
    /// That candidate may not win. *Retry:* after `uncordon`, or with another.
    #[error("{name} is cordoned: uncordon it first, or name another")]
    Cordoned {
        /// Who.
        name: CandidateName,
    },
    /// That candidate is cordoned already. *Retry:* not needed.
    #[error("{name} is cordoned already")]
    AlreadyCordoned {
        /// Who.
        name: CandidateName,
    },
    /// That candidate is free to win already. *Retry:* not needed.
    #[error("{name} is not cordoned")]
    NotCordoned {
        /// Who.
        name: CandidateName,
    },
    /// That candidate would not take the term. *Retry:* once it contends, or with another.
    #[error("{name} would not take over: {}", not_ready(*seen, *presence))]
    NotReady {
        /// Who.
        name: CandidateName,
        /// How long ago it was heard of.
        seen: Option<Duration>,
        /// What it said of itself then.
        presence: Option<Presence>,
    },
    /// An election that is led is not removed. *Retry:* once its leader let go or its lease ran out.
    #[error("{leader} leads it: stop its candidates first")]
    Led {
        /// Who.
        leader: Leader,
    },
    /// An election with candidates is not removed. *Retry:* once they stopped; those that were killed
    /// count as gone after three of their own intervals.
    #[error(
        "candidates still take part: {}; stop them first (one that was killed counts as gone after three leases or so)",
        listed(names)
    )]
    Contended {
        /// Who, by name.
        names: Vec<CandidateName>,
    },
    /// A lease of it could still run. *Retry:* after watching it stand still for so long.
    #[error("it did not stand still for {patience:.1?}: a candidate came back; look again")]
    Unwatched {
        /// How long that is.
        patience: Duration,
    },
    /// The next term would not be greater. *Retry:* once the store's clock is past that term.
    #[error(
        "the store's clock is behind its last term, {term} (microseconds since 1970): set the clock right, or wait"
    )]
    ClockBehind {
        /// The last term.
        term: Term,
    },
    /// So many candidates cannot be barred. *Retry:* after some were let in again.
    #[error("too many candidates are cordoned: uncordon some that are gone for good")]
    TooManyBars,
}

fn not_ready(seen: Option<Duration>, presence: Option<Presence>) -> String {
    match (seen, presence) {
        (Some(ago), Some(Presence::Left)) => format!("it stopped {ago:.0?} ago; start it first"),
        (Some(_), Some(Presence::Unfit)) => "it is not well; `explain` says why".to_owned(),
        (Some(_), Some(Presence::Draining)) => "it is ending its own leadership".to_owned(),
        (Some(ago), _) => format!("it was last heard of {ago:.0?} ago; is it running?"),
        (None, _) => "it does not contend; start it first".to_owned(),
    }
}

/// The first few of these names.
fn listed(names: &[CandidateName]) -> String {
    const MOST: usize = 5;
    let shown: Vec<_> = names.iter().take(MOST).map(CandidateName::as_str).collect();
    let more = names.len().saturating_sub(MOST);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.join(", "))
}
