//! One process: its clock, its way to the store, and the candidacy of its present life.
//!
//! Assumes: the world drives it as `Protocol` demands.
//! Promises: a stopped process hears nothing until it wakes, and then everything in order.

use core::time::Duration;
use std::collections::VecDeque;

use incumbent_protocol::candidacy::{Candidacy, Ticket, Wish};
use incumbent_protocol::identity::{CandidateId, CandidateName, Incarnation};
use incumbent_protocol::lease::row::Leader;
use incumbent_protocol::rounds::pace::Pacing;
use incumbent_protocol::rounds::register::Profile;
use incumbent_protocol::rules::Timing;
use incumbent_protocol::standing::Standing;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::AskedAt;

use super::clock::Clock;
use super::post::{Kind, Post};
use super::queue::Event;

/// One process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) name: CandidateName,
    pub(crate) timing: Timing,
    /// What it wants to agree on, in an election with a roster.
    pub(crate) pacing: Option<Pacing>,
    pub(crate) clock: Clock,
    pub(crate) post: Post,
    /// How long its work takes to stop.
    pub(crate) stopping: Duration,
    pub(crate) life: Option<Life>,
    /// How often it was started.
    pub(crate) boots: u64,
    pub(crate) stopped_until: Option<Duration>,
    pub(crate) clock_doubted: bool,
    pub(crate) inbox: VecDeque<Event>,
    number: usize,
}

/// One life of it.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) id: CandidateId,
    pub(crate) candidacy: Candidacy,
    pub(crate) wish: Wish,
    pub(crate) under_way: Option<(Ticket, AskedAt, Kind)>,
    /// The term that it holds, as its notices say.
    pub(crate) term: Option<Term>,
    /// Counts wake-ups that were asked for, so that only the last counts.
    pub(crate) alarm: u64,
}

impl Process {
    pub(crate) fn new(number: usize, name: CandidateName, timing: Timing, clock: Clock) -> Self {
        Process {
            name,
            timing,
            pacing: None,
            clock,
            post: Post::new(Duration::from_millis(1)),
            stopping: Duration::from_millis(10),
            life: None,
            boots: 0,
            stopped_until: None,
            clock_doubted: false,
            inbox: VecDeque::new(),
            number,
        }
    }

    /// Begins a life that was never lived before.
    pub(crate) fn boot(&mut self, at: Duration) {
        self.clock.thaw(at);
        self.boots += 1;
        let bits = (self.number as u128 + 1) << 112 | u128::from(self.boots) << 96;
        let id = CandidateId::new(self.name.clone(), Incarnation::from_random(bits));
        let candidacy = match self.pacing {
            None => Candidacy::new(id.clone(), self.timing),
            Some(pacing) => {
                Candidacy::in_rounds(id.clone(), self.timing, pacing, Profile::default())
            }
        };
        self.life = Some(Life {
            candidacy,
            id,
            wish: Wish::Nothing,
            under_way: None,
            term: None,
            alarm: 0,
        });
    }

    /// Ends it.
    pub(crate) fn die(&mut self) -> Option<CandidateId> {
        self.inbox.clear();
        self.stopped_until = None;
        self.clock_doubted = false;
        self.life.take().map(|life| life.id)
    }

    pub(crate) fn standing(&self) -> Option<Standing> {
        self.life.as_ref().map(|life| life.candidacy.standing())
    }

    /// Whether it leads and runs.
    pub(crate) fn leads(&self) -> bool {
        self.standing() == Some(Standing::Leading) && self.stopped_until.is_none()
    }

    pub(crate) fn sees(&self) -> Option<&Leader> {
        self.life.as_ref()?.candidacy.leader().flatten()
    }
}
