//! Who should lead? Pure state machines for leader election: no async, no clock, no I/O, no
//! randomness.
//!
//! # Layout
//!
//! | module | noun |
//! |---|---|
//! | [`time`] | instants, and the stamps that cannot be mixed |
//! | [`identity`] | elections, candidates, incarnations |
//! | [`term`] | the number of a leadership, and the token a resource sees |
//! | [`rules`] | the timings of an election, checked together |
//! | [`observation`] | what one candidate keeps about another; suspicion |
//! | [`outcome`] | committed, refused or unknown |
//! | [`standing`] | what a candidate is, and why that changed |
//! | [`protocol`] | the five methods that all protocols share |
//! | [`lease`] | the `lease` protocol: one row per election |
//! | [`rounds`] | the `rounds` protocol: registers and a roster |
//! | [`candidacy`] | the state machine of one candidate in one election, by either protocol |
//! | [`node`] | a process among its peers |
//! | [`nomination`] | the words of protocols by which peers pick one of them |
//! | [`ring`] | nominating by a ring |
//! | [`bully`] | nominating by asking the higher |
//! | [`caucus`] | one election of one node among its peers: when a run begins, and whom it picked |
//! | [`group`] | the same as its driver tells of it: only what is new, and when to look |
//! | [`detector`] | which peers answer in time |
//! | [`ratify`] | a register that a majority of voters keeps |
//! | [`quorum`] | the same as one process uses it: many registers at once |
//! | [`controls`] | what operators have in force |
//! | [`roll`] | who takes part, for people and for policy |
//! | [`policy`] | who is preferred |
//! | [`succession`] | who is asked to lead next or to let go: preference, hand-over, presence |
//! | [`explain`] | why a candidate leads or does not |
//! | [`health`] | whether a candidate is well enough to lead, as probes show it |
//! | [`history`] | the record of transitions that checkers read |
//!
//! # The contract
//!
//! A protocol is a value. A driver gives it inputs and the time, does the effects that it asks for,
//! and tells it what became of them:
//!
//! ```
//! use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
//! use incumbent_protocol::candidacy::{Candidacy, Effect, Input, Notice, Wish};
//! use incumbent_protocol::lease::request::{Done, Request};
//! use incumbent_protocol::lease::row::Snapshot;
//! use incumbent_protocol::outcome::Outcome;
//! use incumbent_protocol::protocol::Protocol;
//! use incumbent_protocol::rules::Timing;
//! use incumbent_protocol::time::{AskedAt, HeardAt, StoreTime, Time};
//! use std::time::Duration;
//!
//! let me = CandidateId::new(CandidateName::new("host-1")?, Incarnation::from_random(42));
//! let mut candidacy = Candidacy::new(me, Timing::of_lease(Duration::from_secs(3))?);
//! let start = Time::from_nanos(1_000);
//! candidacy.begin(start);
//! candidacy.handle(start, Input::Wish(Wish::Lead));
//!
//! // It asks to lead; here the store has no row yet, so the bid becomes the first term.
//! let Some(Effect::Ask { ticket, request: Request::Bid(bid) }) = candidacy.poll_effect() else { panic!() };
//! let empty = Snapshot { record: None, now: StoreTime::from_micros(7), holder_died: false, replaced: None, controls: Default::default() };
//! let claim = bid.decide(&empty)?;
//! let later = start + Duration::from_millis(2);
//! candidacy.handle(later, Input::Answer {
//!     ticket,
//!     asked_at: AskedAt::before_sending(start),
//!     heard_at: HeardAt::after_answer(later),
//!     outcome: Outcome::Committed(Done::Claimed(claim)),
//! });
//! assert!(matches!(candidacy.poll_notice(), Some(Notice::Gained { .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bully;
pub mod candidacy;
pub mod caucus;
pub mod controls;
pub mod detector;
pub mod explain;
pub mod group;
pub mod health;
pub mod history;
pub mod identity;
pub mod lease;
pub mod node;
pub mod nomination;
pub mod observation;
pub mod outcome;
#[doc(hidden)]
pub mod planted;
pub mod policy;
pub mod protocol;
pub mod quorum;
pub mod rates;
pub mod ratify;
pub mod ring;
pub mod roll;
pub mod rounds;
pub mod rules;
pub mod standing;
pub mod succession;
pub mod term;
pub mod time;
