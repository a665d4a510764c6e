//! The state machine of one candidate in one election.
//!
//! Assumes: the driver answers every [`Effect::Ask`] exactly once, with
//! [`Unknown`](crate::outcome::Outcome::Unknown) when it cannot tell; stamps requests before
//! sending and answers after receiving; and sends [`Input::Resign`] when the work under a term has
//! ended.
//! Promises: never more than one request under way; no term is ever revived once it was lost; no
//! new term is taken while work of an old one may still run; every gain is followed by exactly one
//! loss.

use std::collections::VecDeque;

use super::Lease;
use super::request::{Bid, Holding, Request};
use super::row::{Leader, Record};
use crate::identity::CandidateId;
use crate::observation::Observation;
use crate::planted::{self, Bug};
use crate::protocol::Protocol;
use crate::rules::Timing;
use crate::standing::{Reason, Standing};
use crate::term::Term;
use crate::time::Time;

mod answers;
mod cadence;
mod words;

use cadence::Cadence;

pub use words::{Effect, Input, Notice, Ticket, Wish};

/// Where a candidate is between following and having stopped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    Following,
    Leading {
        term: Term,
        lease: Lease,
        sure: bool,
    },
    /// The loss was told; work may still be stopping.
    Draining {
        term: Term,
    },
}

/// A request whose answer is awaited.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct UnderWay {
    ticket: Ticket,
    resigns: bool,
    /// The clock jumped since it was sent, so that no lease may count from then.
    doubted: bool,
}

/// One candidate in one election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidacy {
    me: CandidateId,
    timing: Timing,
    wish: Wish,
    place: Place,
    cadence: Cadence,
    observation: Option<Observation>,
    /// The last record seen; only for how long to be patient with it.
    record: Option<Record>,
    leader: Option<Leader>,
    /// Whether the store was ever seen, so that `leader` means something.
    looked: bool,
    newest: Option<Term>,
    /// Whether it was already told that the store went back.
    went_back: bool,
    /// A term that the store may still show as ours though we let go of it.
    owed: Option<Term>,
    under_way: Option<UnderWay>,
    tickets: u64,
    effects: VecDeque<Effect>,
    notices: VecDeque<Notice>,
}

impl Candidacy {
    /// A candidate that wants nothing yet.
    pub fn new(me: CandidateId, timing: Timing) -> Self {
        let cadence = Cadence::new(me.incarnation, timing.beat());
        Candidacy {
            me,
            timing,
            wish: Wish::Nothing,
            place: Place::Following,
            cadence,
            observation: None,
            record: None,
            leader: None,
            looked: false,
            newest: None,
            went_back: false,
            owed: None,
            under_way: None,
            tickets: 0,
            effects: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// What the candidate is.
    pub fn standing(&self) -> Standing {
        match (&self.place, self.wish) {
            (Place::Leading { sure: true, .. }, _) => Standing::Leading,
            (Place::Leading { sure: false, .. } | Place::Draining { .. }, _) => Standing::Unsure,
            (Place::Following, Wish::Nothing) => Standing::Out,
            (Place::Following, _) => Standing::Following,
        }
    }

    /// How much of the election it wants.
    pub const fn wish(&self) -> Wish {
        self.wish
    }

    /// Who leads, as far as this candidate can see; `None` before it ever looked.
    pub const fn leader(&self) -> Option<Option<&Leader>> {
        if self.looked { Some(self.leader.as_ref()) } else { None }
    }

    /// Whether it neither holds a term nor owes the store the end of one.
    pub fn has_let_go(&self) -> bool {
        self.place == Place::Following && self.owed.is_none()
    }

    fn lose(&mut self, now: Time, term: Term, reason: Reason) {
        self.place = Place::Draining { term };
        self.notices.push_back(Notice::Lost { term, reason });
        self.follow(None);
        if reason == Reason::Deposed {
            // Someone did not want us to lead: let others go first.
            self.cadence.hold_off(now + self.timing.rules().lease());
        } else {
            self.cadence.back_off(now);
        }
    }

    fn resign(&mut self, now: Time, term: Term) {
        match self.place {
            Place::Leading { term: held, .. } if held == term => {
                self.notices.push_back(Notice::Lost { term, reason: Reason::Resigned });
                self.follow(None);
            }
            Place::Draining { term: held } if held == term => {}
            _ => return,
        }
        self.place = Place::Following;
        self.owed = Some(term);
        self.cadence.retry_at(now);
    }

    fn clock_jumped(&mut self, now: Time) {
        // Elapsed time is in doubt: what was observed must be observed anew, and a lease proved
        // anew.
        if !planted::is(Bug::JumpIgnored) {
            self.observation = None;
        }
        self.cadence.look_at(now);
        if let Some(under_way) = &mut self.under_way {
            under_way.doubted = true;
        }
        if let Place::Leading { term, sure, .. } = &mut self.place
            && core::mem::take(sure)
        {
            self.notices.push_back(Notice::Unsure { term: *term });
        }
    }

    /// Notices what time alone has changed.
    fn age(&mut self, now: Time) {
        let Place::Leading { term, lease, .. } = self.place else {
            return;
        };
        if !lease.is_valid(now) {
            self.lose(now, term, Reason::Expired);
        } else if now >= lease.valid_until().back(self.timing.grace()) {
            self.lose(now, term, Reason::Ending);
        }
    }

    /// Asks the store for what is due, if nothing is under way.
    fn ask(&mut self, now: Time) {
        if self.under_way.is_some() || self.due_at().is_none_or(|due| now < due) {
            return;
        }
        let request = match (&self.owed, &self.place) {
            (Some(term), _) => Request::Resign(self.holding(*term)),
            (None, Place::Leading { term, .. }) => Request::Renew(self.holding(*term)),
            (None, Place::Following)
                if self.wish == Wish::Lead && !self.cadence.is_held_off(now) =>
            {
                Request::Bid(self.bid(now))
            }
            (None, Place::Following | Place::Draining { .. }) => Request::Look,
        };
        let ticket = Ticket(self.tickets);
        self.tickets += 1;
        self.under_way = Some(UnderWay {
            ticket,
            resigns: matches!(request, Request::Resign(_)),
            doubted: false,
        });
        self.cadence.asked(now);
        self.effects.push_back(Effect::Ask { ticket, request });
    }

    /// When the next request is due, if any.
    fn due_at(&self) -> Option<Time> {
        match (&self.owed, &self.place, self.wish) {
            (Some(_), _, _) => Some(self.cadence.retry()),
            (None, Place::Leading { .. }, _) => Some(self.cadence.next()),
            (None, _, Wish::Nothing) => None,
            (None, Place::Following, Wish::Lead) => {
                let ripe = self.ripe_at().map(|ripe| self.cadence.not_held_off(ripe));
                let next = self.cadence.next();
                Some(ripe.filter(|_| self.cadence.is_well()).map_or(next, |ripe| ripe.min(next)))
            }
            (None, _, _) => Some(self.cadence.next()),
        }
    }

    /// When the present observation becomes a suspicion that a store will act on. `None` if nothing
    /// is observed, or if it has ripened already and the store did not act on it: then the ordinary
    /// cadence goes on.
    fn ripe_at(&self) -> Option<Time> {
        let ripe = self.observation.as_ref()?.ripe_at(self.patience());
        (ripe > self.cadence.last_asked()).then_some(ripe)
    }

    fn patience(&self) -> core::time::Duration {
        let own = self.timing.rules().lease();
        self.record
            .as_ref()
            .map_or(own, |record| record.patience(&self.me.name).max(record.rules.lease()))
    }

    fn bid(&self, now: Time) -> Bid {
        Bid {
            candidate: self.me.clone(),
            rules: *self.timing.rules(),
            suspicion: self.observation.as_ref().and_then(|o| o.suspect(now, self.patience())),
            newest: self.newest,
        }
    }

    fn holding(&self, term: Term) -> Holding {
        Holding { candidate: self.me.clone(), term }
    }
}

impl Protocol for Candidacy {
    type Input = Input;
    type Effect = Effect;
    type Notice = Notice;

    fn begin(&mut self, now: Time) {
        self.cadence.begin(now);
    }

    fn handle(&mut self, now: Time, input: Input) {
        self.age(now);
        match input {
            Input::Wake => {}
            Input::Wish(wish) => {
                if wish > self.wish {
                    self.cadence.look_at(now);
                }
                self.wish = wish;
            }
            Input::Resign(term) => self.resign(now, term),
            Input::Bell => self.cadence.bell(now),
            Input::ClockJumped => self.clock_jumped(now),
            Input::Answer { ticket, asked_at, heard_at, outcome } => {
                if let Some(asked) = self.under_way.take_if(|asked| asked.ticket == ticket) {
                    self.answered(now, &asked, asked_at, heard_at, outcome);
                    self.age(now);
                }
            }
        }
        self.ask(now);
    }

    fn wake_at(&self) -> Option<Time> {
        let lease = match &self.place {
            Place::Leading { lease, .. } => Some(lease.valid_until().back(self.timing.grace())),
            Place::Following | Place::Draining { .. } => None,
        };
        let due = if self.under_way.is_some() { None } else { self.due_at() };
        [lease, due].into_iter().flatten().min()
    }

    fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }
}
