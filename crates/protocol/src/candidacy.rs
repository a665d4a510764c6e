//! The state machine of one candidate in one election.
//!
//! Assumes: the driver answers every [`Effect::Ask`] exactly once, with
//! [`Unknown`](crate::outcome::Outcome::Unknown) when it cannot tell; stamps requests before
//! sending and answers after receiving; and sends [`Input::Resign`] when the work under a term has
//! ended.
//! Promises: never more than one request under way; no term is ever revived once it was lost; no
//! new term is taken while work of an old one may still run; every gain is followed by exactly one
//! loss.

use core::time::Duration;
use std::collections::VecDeque;

use crate::identity::{CandidateId, CandidateName};
use crate::lease::Lease;
use crate::lease::row::{Leader, Record, Snapshot};
use crate::observation::Observation;
use crate::planted::{self, Bug};
use crate::protocol::Protocol;
use crate::rounds::membership::Membership;
use crate::rounds::pace::Pacing;
use crate::rounds::register::{Profile, Window};
use crate::rules::Timing;
use crate::standing::Reason;
use crate::term::Term;
use crate::time::Time;

mod answers;
mod asking;
mod cadence;
mod line;
mod view;
mod words;

use cadence::Cadence;

pub use line::Rank;
pub use words::{Effect, Input, Notice, Ticket, Wish};

/// Where a candidate is between following and having stopped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
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
    /// Which rows of a roster it asked for.
    window: Window,
    /// It asked for a place in line.
    joins: bool,
}

/// One candidate in one election.
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each so or not")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidacy {
    me: CandidateId,
    timing: Timing,
    wish: Wish,
    stage: Stage,
    cadence: Cadence,
    observation: Option<Observation>,
    /// The last record seen; only for how long to be patient with it.
    record: Option<Record>,
    leader: Option<Leader>,
    /// Whether the store was ever seen, so that `leader` means something.
    looked: bool,
    newest: Option<Term>,
    /// The longest lease that it keeps or ever saw in the election: what a store that went back may
    /// have lost.
    longest: Duration,
    /// The longest lease again, while what the store shows may be older than what was there: how long
    /// to be patient with it at least.
    behind: Option<Duration>,
    /// Whether it was already told that the store went back.
    went_back: bool,
    /// A term that the store may still show as ours though we let go of it.
    owed: Option<Term>,
    /// For whom the next term is reserved when it lets go.
    heir: Option<CandidateName>,
    /// How long it lets others go first once a term is open.
    deference: Duration,
    /// Whether it may bid, where nominees do.
    nominated: bool,
    /// Since when the term was seen to be open to all, if it is and others are let go first.
    open_since: Option<Time>,
    /// It is to give up its place in line.
    steps_back: bool,
    /// What it keeps about its roster, if the election has one.
    membership: Option<Box<Membership>>,
    /// The last thing that was seen of an election with a roster.
    seen: Option<Box<Snapshot>>,
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
            stage: Stage::Following,
            cadence,
            observation: None,
            record: None,
            leader: None,
            looked: false,
            newest: None,
            longest: timing.rules().lease(),
            behind: None,
            went_back: false,
            owed: None,
            heir: None,
            deference: Duration::ZERO,
            nominated: true,
            open_since: None,
            steps_back: false,
            membership: None,
            seen: None,
            under_way: None,
            tickets: 0,
            effects: VecDeque::new(),
            notices: VecDeque::new(),
        }
    }

    /// A candidate in an election with a roster. `own` are its timings at the first round time.
    pub fn in_rounds(me: CandidateId, own: Timing, pacing: Pacing, profile: Profile) -> Self {
        let membership = Membership::new(own, pacing, profile);
        let timing = membership.timing();
        let longest = pacing.rules_at(pacing.cap()).lease();
        let membership = Some(Box::new(membership));
        Candidacy { longest, membership, ..Candidacy::new(me, timing) }
    }

    /// Its timings at the present pace.
    pub const fn timing(&self) -> &Timing {
        &self.timing
    }

    fn lose(&mut self, now: Time, term: Term, reason: Reason) {
        self.stage = Stage::Draining { term };
        self.notices.push_back(Notice::Lost { term, reason });
        self.follow(None);
        if let (Reason::Ending | Reason::Expired, Some(membership)) = (reason, &mut self.membership)
        {
            membership.overdue();
        }
        if reason == Reason::Deposed {
            // Someone did not want us to lead: let others go first.
            self.cadence.hold_off(now + self.timing.rules().lease());
        } else {
            self.cadence.back_off(now);
        }
    }

    fn resign(&mut self, now: Time, term: Term) {
        match self.stage {
            Stage::Leading { term: held, .. } if held == term => {
                self.notices.push_back(Notice::Lost { term, reason: Reason::Resigned });
                self.follow(None);
            }
            Stage::Draining { term: held } if held == term => {}
            _ => return,
        }
        self.stage = Stage::Following;
        self.owed = Some(term);
        self.cadence.retry_at(now);
    }

    /// Lets others go first for so long. If that is over and the term is open, nothing is left to wait
    /// for: not even for what a bell would have to, which may come in bursts.
    fn defer(&mut self, now: Time, span: Duration) {
        let over = span.is_zero() && !self.deference.is_zero();
        if over && self.open_since.is_some() {
            self.cadence.look_at(now);
        }
        self.deference = span;
    }

    /// Bids only while it is the nominee; once it is, the term may be open for long.
    fn nominated(&mut self, now: Time, nominated: bool) {
        let before = core::mem::replace(&mut self.nominated, nominated);
        if nominated && !before && self.open_since.is_some() {
            self.cadence.look_at(now);
        }
    }

    fn clock_jumped(&mut self, now: Time) {
        // Elapsed time is in doubt: what was observed must be observed anew, and a lease proved
        // anew.
        if !planted::is(Bug::JumpIgnored) {
            self.observation = None;
            if let Some(membership) = &mut self.membership {
                membership.forget();
            }
        }
        self.cadence.look_at(now);
        if let Some(under_way) = &mut self.under_way {
            under_way.doubted = true;
        }
        if let Stage::Leading { term, sure, .. } = &mut self.stage
            && core::mem::take(sure)
        {
            self.notices.push_back(Notice::Unsure { term: *term });
        }
    }

    /// Notices what time alone has changed.
    fn age(&mut self, now: Time) {
        let Stage::Leading { term, lease, .. } = self.stage else {
            return;
        };
        if !lease.is_valid(now) {
            self.lose(now, term, Reason::Expired);
        } else if now >= self.ends(lease) {
            self.lose(now, term, Reason::Ending);
        }
    }

    /// From when on the rest of a lease is kept for stopping the work.
    fn ends(&self, lease: Lease) -> Time {
        let kept = if planted::is(Bug::NoGrace) { Duration::ZERO } else { self.timing.grace() };
        lease.valid_until().back(kept)
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
            Input::Heir(heir) => self.heir = heir,
            Input::Defer(span) => self.defer(now, span),
            Input::Nominated(nominated) => self.nominated(now, nominated),
            Input::StepBack => {
                // Whoever owes the end of a term gives its place up with that, and not sooner.
                let free = self.stage == Stage::Following && self.owed.is_none();
                self.steps_back = free && !self.has_left();
                if self.steps_back {
                    self.cadence.retry_at(now);
                }
            }
            Input::Bell => {
                if self.is_near(now) {
                    self.cadence.bell(now);
                }
            }
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
        let lease = match &self.stage {
            Stage::Leading { lease, .. } => Some(self.ends(*lease)),
            Stage::Following | Stage::Draining { .. } => None,
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
