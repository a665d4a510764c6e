//! What operators are told about one election of this process: one line for each change of its
//! standing, warnings for what is late or refused, and the metrics.
//!
//! Assumes: the seat shows it every notice of its candidacy, and the candidacy itself whenever it
//! settled.
//! Promises: exactly one INFO line for each transition, none for a round; a warning that would
//! repeat itself comes once, until things were well again.

use std::time::Duration;

use incumbent_protocol::candidacy::{Candidacy, Notice, Wish};
use incumbent_protocol::identity::{CandidateId, CandidateName, ElectionName};
use incumbent_protocol::outcome::Outcome;
use incumbent_protocol::standing::{Reason, Standing};
use incumbent_protocol::term::Term;
use incumbent_protocol::time::{AskedAt, HeardAt, Time};
use tracing::{Span, debug, info, info_span, warn};

use crate::clock;
use crate::metrics::{self as names, Meter, Metric};
use crate::observe::Change;
use crate::pulse::Pulse;
use crate::store::round::Answer;

const STANDINGS: [Standing; 4] =
    [Standing::Out, Standing::Following, Standing::Leading, Standing::Unsure];

const TRANSACTION: [(&str, &str); 1] = [("guard", "transaction")];

/// Reports on one candidate in one election.
#[derive(Debug)]
pub(crate) struct Reporter {
    election: ElectionName,
    candidate: CandidateName,
    meter: Meter,
    pulse: Pulse,
    standing: Standing,
    /// The term that is held, or was until its work stopped.
    term: Option<Term>,
    until: Option<Time>,
    /// How long a round may take, as was last heard of.
    limit: Duration,
    pace: Option<(Duration, Duration)>,
    contending: bool,
    late: bool,
    /// One campaign or one leadership, for those who collect traces.
    span: Span,
}

impl Reporter {
    pub(crate) fn new(election: &ElectionName, me: &CandidateId, lease: Duration) -> Self {
        let reporter = Reporter {
            election: election.clone(),
            candidate: me.name.clone(),
            meter: Meter::of(election, &me.name),
            pulse: Pulse::new(lease),
            standing: Standing::Out,
            term: None,
            until: None,
            limit: lease,
            pace: None,
            contending: false,
            late: false,
            span: Span::none(),
        };
        reporter.show_standing();
        for metric in [names::CONTENDING, names::TROUBLE, names::LEASE_UNTIL] {
            reporter.set(&metric, 0.0);
        }
        // So that a first increase is one.
        for metric in [names::ROUNDS_MISSED, names::OUTCOME_UNKNOWN] {
            reporter.meter.count(&metric, &[], 0);
        }
        Meter::of_candidate(&me.name).count(&names::CLOCK_JUMPS, &[], 0);
        Meter::of_election(election).count(&names::FENCE_REJECTIONS, &TRANSACTION, 0);
        reporter
    }

    pub(crate) fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    /// Sees what the candidacy has to say.
    pub(crate) fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Gained { term, lease, opening } => {
                self.term = Some(*term);
                self.show_term(*term);
                self.show_lease(Some(lease.valid_until()));
                self.transition(Standing::Leading, opening.as_str());
            }
            Notice::Renewed { lease, .. } => {
                if self.standing == Standing::Leading {
                    self.meter.record(&names::LEASE_LEFT, self.lease_left().as_secs_f64());
                }
                self.show_lease(Some(lease.valid_until()));
                if self.standing != Standing::Leading {
                    self.transition(Standing::Leading, "renewed");
                }
            }
            Notice::Unsure { .. } => self.transition(Standing::Unsure, "clock"),
            Notice::Lost { reason, .. } => {
                if !reason.lease_still_runs() {
                    self.until = None;
                }
                let resigned = *reason == Reason::Resigned;
                let to = if resigned { Standing::Following } else { Standing::Unsure };
                self.transition(to, reason.as_str());
                self.show_lease(self.until);
            }
            Notice::Leader(Some(leader)) => self.show_term(leader.term),
            Notice::Joined { id, .. } => debug!(election = %self.election, %id, "in line"),
            Notice::Paced { round } => {
                debug!(election = %self.election, ?round, "the round time changed");
            }
            Notice::Evicted { id } => {
                warn!(election = %self.election, %id, "taken off the roster: joining anew");
            }
            Notice::WentBack(refusal) => {
                warn!(election = %self.election, %refusal, "the store went back");
            }
            Notice::Leader(None) | Notice::Rejected(_) | Notice::Member(_) => {}
        }
    }

    /// Sees where the candidacy is after everything it had to say, and how long its rounds may take.
    pub(crate) fn settle(&mut self, candidacy: &Candidacy, limit: Duration) {
        let (standing, wish) = (candidacy.standing(), candidacy.wish());
        if standing != self.standing {
            let reason = match (standing, wish) {
                _ if self.standing == Standing::Unsure => "stopped",
                (Standing::Following, Wish::Lead) => "campaigns",
                (Standing::Following, _) => "watches",
                _ => "left",
            };
            self.show_lease(self.until.filter(|_| standing == Standing::Unsure));
            self.transition(standing, reason);
        }
        self.limit = limit;
        let timing = candidacy.timing();
        let pace = (timing.rules().lease(), timing.beat());
        if self.pace.replace(pace) != Some(pace) {
            self.set(&names::LEASE, pace.0.as_secs_f64());
            self.set(&names::ROUND_TIME, pace.1.as_secs_f64());
        }
        self.pulse.want(wish == Wish::Lead, pace.0);
        self.show_contending();
    }

    /// Sees what became of a round, and whether there is a store that could answer. Gives the
    /// limit if it came late and the one before did not.
    pub(crate) fn answered(
        &mut self,
        asked_at: AskedAt,
        heard_at: HeardAt,
        outcome: &Answer,
        waits: bool,
    ) -> Option<Duration> {
        let took = heard_at.time().since(asked_at.time());
        self.meter.record(&names::ROUND, took.as_secs_f64());
        let known = !matches!(outcome, Outcome::Unknown);
        let late = took > self.limit;
        if known {
            self.set(&names::LAST_ROUND, unix(clock::wall().as_micros()));
        } else {
            self.meter.count(&names::OUTCOME_UNKNOWN, &[], 1);
        }
        if late || !known {
            self.meter.count(&names::ROUNDS_MISSED, &[], 1);
        }
        let slow = late && !waits;
        let before = std::mem::replace(&mut self.late, slow);
        self.pulse.beat(known.then(|| heard_at.time()), known && !late);
        self.show_contending();
        (slow && !before).then_some(self.limit)
    }

    /// Sees what observers are told.
    pub(crate) fn change(&self, change: &Change) {
        match change {
            Change::Trouble { .. } => self.set(&names::TROUBLE, 1.0),
            Change::Well => self.set(&names::TROUBLE, 0.0),
            _ => {}
        }
    }

    /// The one place where a standing changes, and where that is told.
    fn transition(&mut self, to: Standing, reason: &'static str) {
        let from = std::mem::replace(&mut self.standing, to);
        self.pulse.stand(to);
        self.show_standing();
        let words = [("from", from.as_str()), ("to", to.as_str()), ("reason", reason)];
        self.meter.count(&names::TRANSITIONS, &words, 1);
        info!(
            election = %self.election,
            candidate = %self.candidate,
            term = self.term.map(Term::get),
            from = from.as_str(),
            to = to.as_str(),
            reason,
            lease_left_ms = millis(self.lease_left()),
            "standing"
        );
        self.trace(from, to, reason);
        if matches!(to, Standing::Following | Standing::Out) {
            self.term = None;
        }
    }

    /// Opens and closes the span of a campaign or a leadership.
    fn trace(&mut self, from: Standing, to: Standing, reason: &'static str) {
        // A leadership ended with its loss, though its work may take a moment to stop.
        if !matches!(reason, "clock" | "renewed" | "stopped") {
            self.span.record("ended", reason);
        }
        let (election, candidate) = (self.election.as_str(), self.candidate.as_str());
        self.span = match (from, to) {
            (_, Standing::Out) => Span::none(),
            (_, Standing::Following) => info_span!(
                parent: None, "campaign", election, candidate, began = reason,
                ended = tracing::field::Empty
            ),
            (Standing::Out | Standing::Following, _) => info_span!(
                parent: None, "leadership", election, candidate, began = reason,
                term = self.term.map(Term::get), ended = tracing::field::Empty
            ),
            // The same leadership, in doubt or sure again.
            _ => return,
        };
    }

    fn lease_left(&self) -> Duration {
        self.until.map_or(Duration::ZERO, |until| until.since(clock::now()))
    }

    fn show_standing(&self) {
        for standing in STANDINGS {
            let value = f64::from(u8::from(standing == self.standing));
            self.meter.set(&names::STANDING, &[("standing", standing.as_str())], value);
        }
    }

    fn show_contending(&mut self) {
        let contending = self.pulse.is_contending();
        if std::mem::replace(&mut self.contending, contending) != contending {
            self.set(&names::CONTENDING, f64::from(u8::from(contending)));
        }
    }

    fn show_lease(&mut self, until: Option<Time>) {
        self.until = until;
        let left = self.lease_left();
        let value = until.map_or(0.0, |_| unix(clock::wall().as_micros()) + left.as_secs_f64());
        self.set(&names::LEASE_UNTIL, value);
    }

    #[expect(clippy::cast_precision_loss, reason = "terms stay below 2^53 until the year 2255")]
    fn show_term(&self, term: Term) {
        self.set(&names::TERM, term.get() as f64);
    }

    fn set(&self, metric: &Metric, value: f64) {
        self.meter.set(metric, &[], value);
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.pulse.want(false, self.pulse.lease());
        self.show_contending();
        if self.standing != Standing::Out {
            self.transition(Standing::Out, "closed");
        }
        self.show_lease(None);
    }
}

/// Clocks of this host moved apart.
pub(crate) fn clock_jumped(candidate: &CandidateName, apart: Duration) {
    Meter::of_candidate(candidate).count(&names::CLOCK_JUMPS, &[], 1);
    warn!(%candidate, apart_ms = millis(apart), "the wall clock and the lease clock moved apart");
}

/// The store's clock is faster than the lease clock by so many parts of a thousand, slower if that is below zero.
pub(crate) fn rates_differ(candidate: &CandidateName, apart: i64, margin: i64) {
    let percent = |parts: i64| format!("{}.{} %", parts.abs() / 10, parts.abs() % 10);
    let runs = if apart > 0 { "slower" } else { "faster" };
    warn!(
        %candidate, by = percent(apart), margin = percent(margin),
        "the clock of this host runs {runs} than the store's: if it is the wrong one, a lease of this candidate is not \
         safe, because leases allow for the margin only; check the time service of both"
    );
}

/// A round came late for these elections, each with its limit: one line, however many they are.
pub(crate) fn came_late(
    candidate: &CandidateName,
    late: &[(ElectionName, Duration)],
    took: Duration,
) {
    let Some((election, limit)) = late.iter().min_by_key(|(_, limit)| *limit) else { return };
    let (elections, took_ms, limit_ms) = (late.len(), millis(took), millis(*limit));
    warn!(%election, %candidate, elections, took_ms, limit_ms, "a round came late");
}

/// A fenced transaction refused its deposed leader.
pub(crate) fn fenced(election: &ElectionName, term: Term) {
    Meter::of_election(election).count(&names::FENCE_REJECTIONS, &TRANSACTION, 1);
    warn!(%election, %term, "a transaction of a deposed leader was refused");
}

/// A fence refused a token.
pub(crate) fn refused(token: u64, highest: u64) {
    Meter::default().count(&names::FENCE_REJECTIONS, &[("guard", "fence")], 1);
    warn!(token, highest, "the token of a deposed leader was refused");
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Seconds since 1970.
#[expect(clippy::cast_precision_loss, reason = "microseconds since 1970 fit")]
fn unix(micros: u64) -> f64 {
    micros as f64 / 1e6
}
