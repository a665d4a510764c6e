//! What an operator asks of a store: end a term, hand it over, hold elections back.
//!
//! Assumes: as for [`request`](super::request): decided and written in one atomic step.
//! Promises: an order never breaks the lease. What ends a term stops renewals at once; the next
//! leader still waits until the old one let go or its lease ran out, and the order says how long that
//! can take. A refused order changes nothing.

use core::time::Duration;

use super::row::{Leader, Record, Sight, Snapshot, State};
use crate::controls::{BARS_MAX, Bar, Controls, Mandate, Transfer};
use crate::identity::CandidateName;
use crate::observation::Mark;
use crate::planted::{self, Bug};
use crate::roll::Peer;
use crate::term::Term;
use crate::time::StoreTime;

mod refused;

pub use refused::OrderError;

/// An operator's word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// End the present term; let anyone win the next, but the one who led only after `hold_off`.
    Demote {
        /// How long whoever is demoted may not win again.
        hold_off: Duration,
    },
    /// End the present term; reserve the next for a named candidate.
    Takeover {
        /// For whom.
        successor: CandidateName,
    },
    /// Ask the leader to end its work and then to let go for a named candidate.
    Transfer {
        /// For whom.
        to: CandidateName,
        /// How long its work may take to end; then the term is ended as by a takeover.
        drain: Duration,
    },
    /// Let no new term begin. Whoever leads goes on.
    Pause,
    /// Let terms begin again.
    Resume,
    /// Keep a candidate from winning. If it leads, it goes on.
    Cordon {
        /// Which.
        name: CandidateName,
    },
    /// Let a candidate win again.
    Uncordon {
        /// Which.
        name: CandidateName,
    },
}

impl Order {
    /// End the present term; let anyone win the next.
    pub const DEMOTE: Order = Order::Demote { hold_off: Duration::ZERO };

    /// The word for it.
    pub const fn word(&self) -> &'static str {
        match self {
            Order::Demote { .. } => "demote",
            Order::Takeover { .. } => "takeover",
            Order::Transfer { .. } => "transfer",
            Order::Pause => "pause",
            Order::Resume => "resume",
            Order::Cordon { .. } => "cordon",
            Order::Uncordon { .. } => "uncordon",
        }
    }

    /// Whom it names.
    pub const fn subject(&self) -> Option<&CandidateName> {
        match self {
            Order::Takeover { successor: name }
            | Order::Transfer { to: name, .. }
            | Order::Cordon { name }
            | Order::Uncordon { name } => Some(name),
            Order::Demote { .. } | Order::Pause | Order::Resume => None,
        }
    }
}

/// What an order comes with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Papers {
    /// The term that is meant, so that an order for one leader never hits its successor.
    pub term: Option<Term>,
    /// Who orders it.
    pub actor: String,
    /// Why.
    pub reason: Option<String>,
    /// Who takes part; names are not checked if it is left out.
    pub roll: Option<Vec<Peer>>,
}

impl Papers {
    /// None but for the term that is meant, if one is.
    pub fn meant(term: Option<Term>) -> Self {
        Papers { term, ..Papers::default() }
    }
}

/// What the store must write if the mark is still `expected`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decree {
    /// The mark that the decision was based on.
    pub expected: Mark,
    /// The term that the election is in.
    pub term: Term,
    /// Whether it ends that term, or reserves the next: then `state` and `successor` are written, and
    /// no renewal is accepted any more.
    pub ends: bool,
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
    /// What is in force from then on.
    pub controls: Controls,
}

impl Order {
    /// Whether the order may be carried out.
    pub fn decide(&self, snapshot: &Snapshot, papers: &Papers) -> Result<Decree, OrderError> {
        let record = snapshot.record.as_ref().ok_or(OrderError::Unknown)?;
        if let Some(meant) = papers.term.filter(|&meant| {
            meant != record.term && !(planted::is(Bug::OlderTermOrdered) && meant < record.term)
        }) {
            return Err(OrderError::OtherTerm { meant, found: record.term });
        }
        let case = Case { snapshot, record, papers };
        let (ends, successor) = self.ends(&case)?;
        let controls = self.controls(&case)?;
        let held = record.state != State::Released;
        let idle = snapshot.now.since(record.beaten_at);
        let leader = Leader { id: record.holder.clone(), term: record.term, since: record.since };
        let ending = held && ends;
        Ok(Decree {
            expected: record.mark(),
            term: record.term,
            ends,
            state: if ending { State::Ending } else { record.state },
            successor,
            deposed: ending.then_some(leader),
            may_act: if ending && !snapshot.holder_died {
                record.rules.lease().saturating_sub(idle)
            } else {
                Duration::ZERO
            },
            lease: record.rules.lease(),
            controls,
        })
    }

    /// Whether it ends the term, and for whom the next one is reserved.
    fn ends(&self, case: &Case<'_>) -> Result<(bool, Option<CandidateName>), OrderError> {
        let Record { state, holder, term, successor: reserved, .. } = case.record;
        match self {
            Order::Demote { .. } | Order::Takeover { .. } | Order::Transfer { .. } => {
                case.not_paused()?;
            }
            Order::Pause | Order::Resume | Order::Cordon { .. } | Order::Uncordon { .. } => {}
        }
        match self {
            Order::Demote { .. } if *state == State::Released => Err(OrderError::Vacant),
            Order::Demote { .. } => Ok((true, None)),
            Order::Takeover { successor: name } | Order::Transfer { to: name, .. } => {
                if *state == State::Held && holder.name == *name {
                    return Err(OrderError::Leads { name: name.clone(), term: *term });
                }
                case.may_win(name)?;
                if let Order::Takeover { .. } = self {
                    return Ok((true, Some(name.clone())));
                }
                case.can_take_over(name)?;
                // Nobody is there to be asked: the next term is reserved at once.
                if !case.can_be_asked() {
                    return Ok((true, Some(name.clone())));
                }
                Ok((false, reserved.clone()))
            }
            Order::Pause | Order::Resume | Order::Cordon { .. } | Order::Uncordon { .. } => {
                Ok((false, reserved.clone()))
            }
        }
    }

    /// What is in force from then on.
    fn controls(&self, case: &Case<'_>) -> Result<Controls, OrderError> {
        let Case { snapshot, record, papers } = case;
        let mut controls = snapshot.controls.tidy(snapshot.now, record.term);
        let (actor, reason) = (papers.actor.clone(), papers.reason.clone());
        let by = Mandate { at: snapshot.now, actor, reason };
        match self {
            Order::Demote { hold_off } => {
                controls.transfer = None;
                if !hold_off.is_zero() {
                    let name = record.holder.name.clone();
                    let until = Some(later(snapshot.now, *hold_off));
                    bar(&mut controls, Bar { name, until, by })?;
                }
            }
            Order::Takeover { .. } => controls.transfer = None,
            Order::Transfer { to, drain } => {
                case.not_transferring(None)?;
                let (to, term) = (to.clone(), record.term.get());
                let drain_us = u64::try_from(drain.as_micros()).unwrap_or(u64::MAX);
                let asked = case.can_be_asked();
                controls.transfer = asked.then(|| Box::new(Transfer { to, term, drain_us, by }));
            }
            Order::Pause if controls.paused.is_some() => return Err(OrderError::AlreadyPaused),
            Order::Pause => {
                // It could not be called off, and nobody could follow.
                case.not_transferring(None)?;
                controls.paused = Some(Box::new(by));
            }
            Order::Resume if controls.paused.is_none() => return Err(OrderError::NotPaused),
            Order::Resume => controls.paused = None,
            // Would be all that is left of what cannot be read.
            Order::Cordon { .. } | Order::Uncordon { .. } if controls.is_unreadable() => {
                return Err(OrderError::Paused);
            }
            Order::Cordon { name } => {
                case.is_known(name)?;
                let for_good = |bar: &Bar| bar.name == *name && bar.until.is_none();
                if controls.bars.iter().any(for_good) {
                    return Err(OrderError::AlreadyCordoned { name: name.clone() });
                }
                case.not_transferring(Some(name))?;
                bar(&mut controls, Bar { name: name.clone(), until: None, by })?;
            }
            Order::Uncordon { name } => {
                if controls.bar_on(name, snapshot.now).is_none() {
                    return Err(OrderError::NotCordoned { name: name.clone() });
                }
                controls.lift(name);
            }
        }
        if planted::is(Bug::PauseLifted) && *self != Order::Pause {
            controls.paused = None;
        }
        Ok(controls)
    }
}

/// Puts a bar in the place of one on the same candidate.
fn bar(controls: &mut Controls, bar: Bar) -> Result<(), OrderError> {
    let for_good = |known: &Bar| known.name == bar.name && known.until.is_none();
    if controls.bars.iter().any(for_good) {
        return Ok(());
    }
    controls.lift(&bar.name);
    if controls.bars.len() >= BARS_MAX {
        return Err(OrderError::TooManyBars);
    }
    controls.bars.push(bar);
    Ok(())
}

fn later(now: StoreTime, span: Duration) -> StoreTime {
    let span = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
    StoreTime::from_micros(now.as_micros().saturating_add(span))
}

/// What an order is decided on.
struct Case<'a> {
    snapshot: &'a Snapshot,
    record: &'a Record,
    papers: &'a Papers,
}

impl Case<'_> {
    fn not_paused(&self) -> Result<(), OrderError> {
        if self.snapshot.controls.paused.is_some() { Err(OrderError::Paused) } else { Ok(()) }
    }

    /// Whether whoever leads is there to be asked for a hand-over.
    fn can_be_asked(&self) -> bool {
        matches!(self.snapshot.sight(), Sight::Led { .. })
    }

    /// Whether no leader is ending its work for somebody, or not for the one that is named.
    fn not_transferring(&self, name: Option<&CandidateName>) -> Result<(), OrderError> {
        let asked = self.snapshot.controls.transfer_of(self.record.term);
        let asked = asked.filter(|_| self.can_be_asked());
        match asked.filter(|asked| name.is_none_or(|name| asked.to == *name)) {
            Some(asked) => Err(OrderError::Transferring { to: asked.to.clone() }),
            None => Ok(()),
        }
    }

    /// Whether anything was ever heard of it.
    fn is_known(&self, name: &CandidateName) -> Result<(), OrderError> {
        let known = |peer: &Peer| peer.id.name == *name;
        let listed = self.papers.roll.as_ref().is_none_or(|roll| roll.iter().any(known));
        if listed || self.record.holder.name == *name {
            return Ok(());
        }
        Err(OrderError::NoSuchCandidate { name: name.clone() })
    }

    fn may_win(&self, name: &CandidateName) -> Result<(), OrderError> {
        self.is_known(name)?;
        match self.snapshot.controls.bar_on(name, self.snapshot.now) {
            Some(_) => Err(OrderError::Cordoned { name: name.clone() }),
            None => Ok(()),
        }
    }

    /// Whether it is there, and would take the term.
    fn can_take_over(&self, name: &CandidateName) -> Result<(), OrderError> {
        let ready = |peer: &Peer| peer.id.name == *name && peer.contends(self.snapshot.now);
        match &self.papers.roll {
            Some(roll) if !roll.iter().any(ready) => {
                let lines = roll.iter().filter(|peer| peer.id.name == *name);
                let last = lines.max_by_key(|peer| peer.beaten_at);
                let (seen, why) = last
                    .map(|peer| (self.snapshot.now.since(peer.beaten_at), peer))
                    .map_or_else(|| (None, None), |(seen, peer)| (Some(seen), Some(peer.presence)));
                Err(OrderError::NotReady { name: name.clone(), seen, presence: why })
            }
            _ => Ok(()),
        }
    }
}
