//! One thing that is to be known of a candidate that leads or does not.
//!
//! Assumes: the candidate is known from the question: a cause speaks of "it".
//! Promises: plain words, without a full stop; what to do about it where that is known.

use core::fmt;
use core::time::Duration;

use crate::controls::Mandate;
use crate::identity::CandidateName;
use crate::term::Term;

/// Why a candidate leads or does not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Nobody ever contended.
    NeverHeld,
    /// It leads.
    Leads {
        /// Under which number.
        term: Term,
        /// For how long.
        span: Duration,
        /// Whether an operator ended the term.
        ending: bool,
    },
    /// It leads, and is asked to hand over.
    HandsOver {
        /// To whom.
        to: CandidateName,
        /// By whose order.
        by: Mandate,
    },
    /// Nothing was ever heard of it.
    NeverSeen,
    /// Nothing was heard of it lately.
    Silent {
        /// When it was last.
        ago: Duration,
    },
    /// It stopped in good order.
    Left {
        /// When.
        ago: Duration,
        /// What it said about it.
        why: Option<String>,
    },
    /// Several processes use its name.
    Duplicate {
        /// How many.
        lives: usize,
    },
    /// It says that it is not well.
    Unfit {
        /// Why.
        why: Option<String>,
    },
    /// It is ending the work of its own leadership.
    Draining,
    /// No term begins.
    Paused(Mandate),
    /// It may not win.
    Barred {
        /// For how long; for good if it is left out.
        left: Option<Duration>,
        /// By whose order.
        by: Mandate,
    },
    /// Whoever leads was asked to hand over to another.
    Promised {
        /// To whom.
        to: CandidateName,
        /// By whose order.
        by: Mandate,
    },
    /// The next term is reserved for another.
    Reserved {
        /// For whom.
        heir: CandidateName,
    },
    /// The next term is meant for it.
    Awaited {
        /// Whether whoever leads is still asked to end its work.
        asked: bool,
    },
    /// Somebody leads.
    Led {
        /// Who.
        leader: CandidateName,
        /// For how long.
        span: Duration,
        /// Whether the candidate in question is preferred to it.
        better: bool,
    },
    /// Somebody is preferred to it.
    Outranked {
        /// Who.
        by: CandidateName,
        /// Why.
        because: Advantage,
    },
    /// It waits in line.
    InLine {
        /// How many wait before it.
        ahead: usize,
    },
    /// Somebody keeps the store from changing the election.
    HeldUp {
        /// Who, how, and what ends it.
        by: String,
    },
    /// Somebody may keep the store from changing the election: the store does not tell what it is that is kept.
    MayBeHeldUp {
        /// Who, and how.
        by: String,
    },
    /// Whether somebody keeps the store from changing the election cannot be seen.
    LocksUnseen {
        /// Why not.
        why: String,
    },
    /// Nothing speaks against it.
    Contends,
}

/// What makes one candidate better than another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Advantage {
    /// A higher priority.
    Priority {
        /// Of the better one.
        theirs: i32,
        /// Of the one in question.
        its: i32,
    },
    /// A label that is preferred.
    Preferred {
        /// The preference as it is written.
        what: String,
        /// The name of the label.
        key: String,
        /// What the better one says under it.
        theirs: Option<String>,
        /// What the one in question says.
        its: Option<String>,
    },
}

impl Cause {
    /// The word used by every face of the program.
    pub const fn word(&self) -> &'static str {
        match self {
            Cause::NeverHeld => "never_held",
            Cause::Leads { .. } => "leads",
            Cause::HandsOver { .. } => "hands_over",
            Cause::NeverSeen => "never_seen",
            Cause::Silent { .. } => "silent",
            Cause::Left { .. } => "left",
            Cause::Duplicate { .. } => "duplicate",
            Cause::Unfit { .. } => "unfit",
            Cause::Draining => "draining",
            Cause::Paused(_) => "paused",
            Cause::Barred { left: None, .. } => "cordoned",
            Cause::Barred { .. } => "held_off",
            Cause::Promised { .. } => "promised",
            Cause::Reserved { .. } => "reserved",
            Cause::Awaited { .. } => "awaited",
            Cause::Led { .. } => "led",
            Cause::Outranked { .. } => "outranked",
            Cause::InLine { .. } => "in_line",
            Cause::HeldUp { .. } => "held_up",
            Cause::MayBeHeldUp { .. } => "may_be_held_up",
            Cause::LocksUnseen { .. } => "locks_unseen",
            Cause::Contends => "contends",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::NeverHeld => f.write_str("the election was never held here: check its name"),
            Cause::NeverSeen => {
                f.write_str("it was never seen in this election: check its name, or start it")
            }
            Cause::Silent { ago } => {
                write!(f, "it was last heard of {} ago; is it running?", Span(*ago))
            }
            Cause::Left { ago, why } => {
                write!(f, "it stopped in good order {} ago{}", Span(*ago), Note(why.as_deref()))
            }
            Cause::Duplicate { lives } => {
                write!(f, "{lives} live processes use this name: give each a name of its own")
            }
            Cause::Unfit { why } => {
                write!(f, "it is not well and does not contend{}", Note(why.as_deref()))
            }
            Cause::Draining => f.write_str("it is ending its work, to hand over"),
            Cause::Contends => f.write_str("nothing speaks against it: it may win the next term"),
            Cause::HeldUp { by } => write!(f, "the election is held up: {by}"),
            Cause::MayBeHeldUp { by } => write!(f, "the election may be held up: {by}"),
            Cause::LocksUnseen { why } => {
                write!(f, "whether a lock holds the election up cannot be seen: {why}")
            }
            Cause::InLine { ahead: 0 } => f.write_str("it is the next in line"),
            Cause::InLine { ahead: 1 } => f.write_str("one is before it in line"),
            Cause::InLine { ahead } => write!(f, "{ahead} are before it in line"),
            Cause::Outranked { by, because } => write!(f, "{by} is preferred: {because}"),
            Cause::Paused(by) => {
                write!(f, "the election is paused {by}: no term begins until it is resumed")
            }
            Cause::Barred { left: Some(left), by } => {
                write!(f, "it is held off for another {}, {by}", Span(*left))
            }
            Cause::Barred { left: None, by } => {
                write!(f, "it is cordoned {by}: it may not win until it is uncordoned")
            }
            of_a_term => of_a_term.about_the_term(f),
        }
    }
}

impl Cause {
    /// Who leads and who is to lead next, in words.
    fn about_the_term(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Leads { term, span, ending } => {
                write!(f, "it leads, in term {term}, for {}", Span(*span))?;
                if *ending {
                    f.write_str("; an operator ended the term, so that it cannot renew")?;
                }
                Ok(())
            }
            Cause::HandsOver { to, by } => {
                write!(f, "it is asked to end its work and to hand over to {to}, {by}")
            }
            Cause::Promised { to, by } => {
                write!(f, "whoever leads is asked to hand over to {to}, {by}")
            }
            Cause::Reserved { heir } => write!(f, "the next term is reserved for {heir}"),
            Cause::Awaited { asked: true } => {
                f.write_str("whoever leads is asked to hand over to it, and ends its work first")
            }
            Cause::Awaited { asked: false } => {
                f.write_str("the next term is reserved for it; it has not taken it yet")
            }
            Cause::Led { leader, span, better: false } => {
                write!(f, "{leader} leads, for {}, and whoever leads stays", Span(*span))
            }
            Cause::Led { leader, span, better: true } => write!(
                f,
                "{leader} leads, for {}; this one is preferred to it, but asks for a hand-over only if it is set to \
                 preempt",
                Span(*span)
            ),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Advantage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Advantage::Priority { theirs, its } => {
                write!(f, "its priority is {theirs}, this one's is {its}")
            }
            Advantage::Preferred { what, key, theirs, its } => {
                let or_none = |text: &Option<String>| text.clone().unwrap_or("none".to_owned());
                let (theirs, its) = (or_none(theirs), or_none(its));
                write!(f, "{what} counts, its {key} is {theirs}, this one's is {its}")
            }
        }
    }
}

/// A span as people say it.
struct Span(Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        match seconds {
            0 => write!(f, "{} ms", self.0.as_millis()),
            1..60 => write!(f, "{:.1} s", self.0.as_secs_f64()),
            60..3600 => write!(f, "{} min {} s", seconds / 60, seconds % 60),
            3600..86400 => write!(f, "{} h {} min", seconds / 3600, seconds / 60 % 60),
            _ => write!(f, "{} d {} h", seconds / 86400, seconds / 3600 % 24),
        }
    }
}

/// What a candidate said about it, if it said anything.
struct Note<'a>(Option<&'a str>);

impl fmt::Display for Note<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |why| write!(f, ": {why}"))
    }
}
