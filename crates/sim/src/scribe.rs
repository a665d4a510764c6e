//! Writes the history of a world, and hands every line to the judges at once.
//!
//! Assumes: lines come in the order of the world's time.
//! Promises: keeps nothing that nobody asked for; a run can be judged in constant memory, told in
//! full, or both.

use core::fmt::Write as _;

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::history::{Event, Line, VERSION};
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName, Incarnation};
use incumbent_protocol::lease::Lease;
use incumbent_protocol::time::Time;

use crate::clock::At;
use incumbent_audit::{Conditions, Judge, Report};

/// How much of a run is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// The history, as lines of text.
    pub history: bool,
    /// Everything that happened, in words.
    pub trace: bool,
}

/// The name of the one who writes what nobody inside the world could.
const WORLD: &str = "world";

/// Writes a history.
#[derive(Debug)]
pub(crate) struct Scribe {
    judge: Judge,
    keep: Keep,
    history: String,
    trace: String,
    world: Option<CandidateId>,
}

impl Scribe {
    pub(crate) fn new(even_clocks: bool, keep: Keep) -> Self {
        let name = CandidateName::new(WORLD).ok();
        let mut scribe = Scribe {
            judge: Judge::new(Conditions { even_clocks, marked: true }),
            keep,
            history: String::new(),
            trace: String::new(),
            world: name.map(|name| CandidateId::new(name, Incarnation::from_random(0))),
        };
        scribe.world(0, opened(0));
        scribe
    }

    /// Until then clocks may differ by more than the margin.
    pub(crate) fn uneven(&mut self, now: At, until: At) {
        self.judge.uneven(Time::from_nanos(now), Time::from_nanos(until));
    }

    /// A line in the name of a candidate.
    pub(crate) fn line(&mut self, at: At, candidate: &CandidateId, event: Event) {
        let line = Line { at: Time::from_nanos(at), candidate: candidate.clone(), event };
        self.judge.line(&line);
        if self.keep == Keep::default() {
            return;
        }
        // A line holds nothing but strings, numbers and names, all of which JSON can carry.
        let text = serde_json::to_string(&line).unwrap_or_default();
        if self.keep.trace {
            let event = &line.event;
            self.trace(at, || format!("{candidate}: {event:?}"));
        }
        if self.keep.history {
            self.history.push_str(&text);
            self.history.push('\n');
        }
    }

    /// A line of the world's own.
    pub(crate) fn world(&mut self, at: At, event: Event) {
        if let Some(world) = self.world.take() {
            self.line(at, &world, event);
            self.world = Some(world);
        }
    }

    /// Something for a reader only.
    pub(crate) fn trace(&mut self, at: At, what: impl FnOnce() -> String) {
        if self.keep.trace {
            let (seconds, micros) = (at / 1_000_000_000, at / 1_000 % 1_000_000);
            let what = what();
            // Writing to a string cannot fail.
            let _ = writeln!(self.trace, "{seconds:>6}.{micros:06} {what}");
        }
    }

    /// The judges' word, the history and the trace.
    pub(crate) fn finish(self) -> (Report, String, String) {
        (self.judge.finish(), self.history, self.trace)
    }
}

/// What a history says of a notice about leading; `None` of any other. Instants on the candidate's own
/// clock become instants of the world.
pub(crate) fn told(
    notice: &Notice,
    election: ElectionName,
    when: impl Fn(Time) -> At,
) -> Option<Event> {
    let until = |lease: Lease| Time::from_nanos(when(lease.valid_until()));
    Some(match *notice {
        Notice::Gained { term, lease, opening } => {
            Event::Gained { election, term, valid_until: until(lease), opening }
        }
        Notice::Renewed { term, lease } => {
            Event::Renewed { election, term, valid_until: until(lease) }
        }
        Notice::Unsure { term } => Event::Unsure { election, term },
        Notice::Lost { term, reason } => Event::Lost { election, term, reason },
        Notice::Leader(ref leader) => Event::Saw {
            election,
            leader: leader.as_ref().map(|leader| leader.id.clone()),
            term: leader.as_ref().map(|leader| leader.term),
        },
        _ => return None,
    })
}

/// The first line of everyone who writes.
pub(crate) fn opened(at: At) -> Event {
    Event::Opened { version: VERSION, clock: WORLD.to_owned(), wall: at / 1_000 }
}
