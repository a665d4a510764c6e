//! Where nothing happens, nothing changes.
//!
//! Assumes: whoever ran the run marked the spans in which nothing was broken, nobody gave orders,
//! and every candidate had settled before.
//! Promises: a gain, a loss or a doubt inside such a span is told. A mark for a fault ends the
//! span.

use incumbent_protocol::history::Event;
use incumbent_protocol::time::Time;

use super::{Cast, Checker, Fact, Finding, Spot};

/// Judges quiet spans.
#[derive(Debug, Default)]
pub struct NoIdleChange {
    /// By clock.
    quiet: Vec<Option<Span>>,
    finding: Finding,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    from: Spot,
    until: Time,
}

impl NoIdleChange {
    fn quiet(&mut self, fact: &Fact<'_>) -> &mut Option<Span> {
        let clock = fact.clock.0;
        if self.quiet.len() <= clock {
            self.quiet.resize(clock + 1, None);
        }
        &mut self.quiet[clock]
    }
}

impl Checker for NoIdleChange {
    const NAME: &'static str = "no_idle_change";

    fn line(&mut self, fact: &Fact<'_>) {
        let from = fact.spot();
        let what = match *fact.event {
            Event::Quiet { until } => {
                *self.quiet(fact) = Some(Span { from, until });
                self.finding.facts += 1;
                return;
            }
            Event::Fault { .. } | Event::Killed | Event::Paused | Event::Ended => {
                *self.quiet(fact) = None;
                return;
            }
            Event::Gained { term, .. } => format_args!("gained term {term}").to_string(),
            Event::Unsure { term, .. } => format_args!("became unsure of term {term}").to_string(),
            Event::Lost { term, reason, .. } => {
                format_args!("lost term {term} ({reason})").to_string()
            }
            _ => return,
        };
        let Some(span) = *self.quiet(fact) else {
            return;
        };
        if span.from.at < fact.at && fact.at < span.until {
            let who = fact.cast.candidate(fact.who);
            let story = format!(
                "{who} {what} at {}, in the quiet from {} until {}",
                fact.at, span.from, span.until
            );
            self.finding.accuse(fact.at, story, &[span.from.line, fact.line]);
        }
    }

    fn finish(self, _: &Cast) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::forge::*;
    use super::*;
    use incumbent_protocol::history::Line;
    use incumbent_protocol::standing::Reason;

    fn quiet(millis: u64, until: u64) -> Line {
        line(millis, WORLD, Event::Quiet { until: at(until) })
    }

    #[test]
    fn renewals_and_sightings_are_no_change() {
        let lines = [
            gained(1, A, 5, 4),
            quiet(2, 9),
            renewed(3, A, 5, 6),
            saw(4, B, Some((A, 5))),
            gained(9, B, 6, 12),
        ];
        assert_eq!(clean::<NoIdleChange>(&lines), 1);
    }

    #[test]
    fn a_change_in_the_quiet_is_told() {
        for (line, what) in [
            (gained(3, B, 6, 9), "gained term 6"),
            (lost(3, B, 5, Reason::Ending), "lost term 5 (ending)"),
            (unsure(3, B, 5), "became unsure of term 5"),
        ] {
            accused::<NoIdleChange>(&[quiet(2, 9), line], &["b#", what, "0.002s until 0.009s"]);
        }
    }

    #[test]
    fn a_fault_ends_the_quiet() {
        let lines = [quiet(2, 9), fault(3), lost(4, A, 5, Reason::Ending)];
        assert_eq!(clean::<NoIdleChange>(&lines), 1);
    }
}
