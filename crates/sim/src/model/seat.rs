//! One process of a small world: the shipping protocol, the driver around it, and the user on top.
//!
//! Assumes: the user keeps its work until it says so, and says so at any time after a loss was
//! told.
//! Promises: a hold counts as valid for as long as work may run under it: from the gain until the
//! lease ends by the process's own clock or the user let go, whatever was told in between, except
//! for times of doubt.

use incumbent_protocol::candidacy::{Candidacy, Effect, Input, Notice, Ticket};
use incumbent_protocol::lease::request::{Denied, Done, Opening, Request};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::protocol::Protocol;
use incumbent_protocol::rounds::register::MemberId;
use incumbent_protocol::standing::Reason;
use incumbent_protocol::term::Term;
use incumbent_protocol::time::Time;

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seat {
    /// The protocol; `None` once the process has crashed.
    pub candidacy: Option<Candidacy>,
    /// It does nothing for the time being.
    pub paused: bool,
    /// The request under way.
    pub flight: Option<Flight>,
    /// What the user holds.
    pub hold: Option<Hold>,
    /// How often it gained a term.
    pub gains: u8,
    /// Its place in line, as far as it was told.
    pub id: Option<MemberId>,
    /// How often its place was taken from it.
    pub evictions: u8,
    /// What it did that it promised never to do.
    pub broken: Option<&'static str>,
}

/// A request under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Flight {
    /// Names it.
    pub ticket: Ticket,
    /// What is asked.
    pub request: Request,
    /// When it was sent, by the clock of the process.
    pub sent: Time,
    /// What the store said, once it did.
    pub outcome: Option<Outcome<Done, Denied>>,
}

/// A leadership as its user knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hold {
    /// Its number.
    pub term: Term,
    /// Until when, by the clock of the process.
    pub until: Time,
    /// Whether the user may act.
    pub sure: bool,
    /// Why it could begin.
    pub opening: Opening,
    /// Why it ended, if that was told.
    pub lost: Option<Reason>,
}

impl Seat {
    /// A process that has just begun.
    pub fn new(mut candidacy: Candidacy, now: Time, wish: Input) -> Seat {
        candidacy.begin(now);
        let mut seat = Seat {
            candidacy: Some(candidacy),
            paused: false,
            flight: None,
            hold: None,
            gains: 0,
            id: None,
            evictions: 0,
            broken: None,
        };
        seat.handle(now, wish);
        seat
    }

    /// Whether work may run under a lease now.
    pub fn leads(&self, now: Time) -> bool {
        let hold = self.hold.as_ref();
        hold.is_some_and(|hold| hold.sure && now < hold.until)
    }

    /// Whether what it holds could begin for this reason.
    pub fn opened_by(&self, opening: Opening) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.opening == opening)
    }

    /// Gives the protocol an input and does what it says.
    pub fn handle(&mut self, now: Time, input: Input) {
        let Some(mut candidacy) = self.candidacy.take() else {
            return;
        };
        candidacy.handle(now, input);
        while let Some(notice) = candidacy.poll_notice() {
            self.hear(notice);
        }
        while let Some(Effect::Ask { ticket, request }) = candidacy.poll_effect() {
            if self.flight.is_some() {
                self.broken = Some("asked while a request was under way");
            }
            self.flight = Some(Flight { ticket, request, sent: now, outcome: None });
        }
        self.candidacy = Some(candidacy);
    }

    /// Wakes the protocol if it is due, until it is at rest.
    pub fn wake(&mut self, now: Time) {
        for _ in 0..8 {
            let wake_at = self.candidacy.as_ref().and_then(Protocol::wake_at);
            if self.paused || wake_at.is_none_or(|wake_at| now < wake_at) {
                return;
            }
            self.handle(now, Input::Wake);
        }
        self.broken = Some("did not come to rest");
    }

    /// The work has ended, or the user lets go.
    pub fn let_go(&mut self, now: Time) {
        if let Some(hold) = self.hold.clone() {
            self.handle(now, Input::Resign(hold.term));
            self.hold = None;
        }
    }

    /// The process is gone. What it had sent stays on its way.
    pub fn crash(&mut self) -> Option<Request> {
        self.candidacy = None;
        self.hold = None;
        self.paused = false;
        let flight = self.flight.take()?;
        flight.outcome.is_none().then_some(flight.request)
    }

    fn hear(&mut self, notice: Notice) {
        match (notice, &mut self.hold) {
            (Notice::Gained { term, lease, opening }, hold) => {
                if hold.is_some() {
                    self.broken = Some("gained a term while work of an old one may still run");
                }
                self.gains += 1;
                *hold = Some(Hold {
                    term,
                    until: lease.valid_until(),
                    sure: true,
                    opening,
                    lost: None,
                });
            }
            (Notice::Renewed { term, lease }, Some(hold))
                if hold.term == term && hold.lost.is_none() =>
            {
                hold.until = lease.valid_until();
                hold.sure = true;
            }
            (Notice::Unsure { term }, Some(hold)) if hold.term == term && hold.lost.is_none() => {
                hold.sure = false;
            }
            (Notice::Lost { term, reason }, Some(hold))
                if hold.term == term && hold.lost.is_none() =>
            {
                hold.lost = Some(reason);
            }
            (Notice::Renewed { .. } | Notice::Unsure { .. } | Notice::Lost { .. }, _) => {
                self.broken = Some("spoke of a term that is over");
            }
            (Notice::Joined { id, .. }, _) => self.id = Some(id),
            (Notice::Evicted { .. }, _) => {
                self.id = None;
                self.evictions += 1;
            }
            (
                Notice::Leader(_)
                | Notice::Rejected(_)
                | Notice::WentBack(_)
                | Notice::Paced { .. }
                | Notice::Member(_),
                _,
            ) => {}
        }
    }
}
