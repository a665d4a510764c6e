//! No term begins against what operators have in force.
//!
//! Assumes: whoever keeps the store tells of every term at the moment at which it is written, with
//! what was in force in that election then. No history tells that, so this is judged where the store
//! can be seen.
//! Promises: a term of a candidate that was barred, or one that began while the election was paused,
//! is told. Whether a bar holds is found out here and not asked of the protocol.

use incumbent_protocol::controls::Controls;
use incumbent_protocol::lease::request::Claim;
use incumbent_protocol::time::Time;

use super::{Finding, Report};

/// Judges that operators are heeded.
#[derive(Debug, Default)]
pub struct NoTermAgainstOrders {
    finding: Finding,
}

impl NoTermAgainstOrders {
    /// The name of the property.
    pub const NAME: &'static str = "no_term_against_orders";

    /// A term is written, while this is in force. By its own word it began when it was decided on.
    pub fn begun(&mut self, at: Time, claim: &Claim, controls: &Controls) {
        self.finding.facts += 1;
        let (who, term, since) = (&claim.candidate, claim.term, claim.since);
        if controls.paused.is_some() {
            let story =
                format!("term {term} of {who} began at {at}, while the election was paused");
            self.finding.accuse(at, story, &[]);
        }
        let mut bars = controls.bars.iter().filter(|bar| bar.name == who.name);
        let until = bars.find_map(|bar| match bar.until {
            None => Some("for good".to_owned()),
            Some(until) if until > since => Some(format!("until {}", until.as_micros())),
            Some(_) => None,
        });
        if let Some(until) = until {
            let since = since.as_micros();
            let story = format!(
                "term {term} of {who} began at {at}, though it was barred {until} and the store's clock showed {since}"
            );
            self.finding.accuse(at, story, &[]);
        }
    }

    /// Adds what was found to the report.
    pub fn add_to(self, report: &mut Report) {
        report.take(Self::NAME, self.finding);
    }
}

#[cfg(test)]
mod tests {
    use super::super::forge::*;
    use super::*;
    use core::time::Duration;
    use incumbent_protocol::controls::{Bar, Mandate};
    use incumbent_protocol::lease::request::Opening;
    use incumbent_protocol::rules::{Expiry, Rules};
    use incumbent_protocol::time::StoreTime;

    const SINCE: StoreTime = StoreTime::from_micros(50);

    fn claim() -> Claim {
        let lease = Duration::from_secs(1);
        Claim {
            expected: None,
            candidate: id(A),
            term: term(5),
            rules: Rules::new(lease, lease / 10, Expiry::Observed).expect("rules"),
            since: SINCE,
            opening: Opening::Released,
        }
    }

    fn bar(who: u8, until: Option<u64>) -> Bar {
        let until = until.map(StoreTime::from_micros);
        Bar { name: id(who).name, until, by: Mandate::default() }
    }

    fn told(paused: bool, bars: Vec<Bar>) -> Vec<String> {
        let paused = paused.then(Box::default);
        let controls = Controls { paused, bars, ..Controls::default() };
        let mut judge = NoTermAgainstOrders::default();
        judge.begun(at(7), &claim(), &controls);
        let mut report = Report::default();
        judge.add_to(&mut report);
        assert_eq!(report.checked, [(NoTermAgainstOrders::NAME, 1)]);
        report.violations.into_iter().map(|violation| violation.story).collect()
    }

    #[test]
    fn a_term_that_nothing_forbids_is_clean() {
        assert_eq!(told(false, vec![]), [""; 0]);
        assert_eq!(told(false, vec![bar(B, None)]), [""; 0], "another is barred");
        assert_eq!(told(false, vec![bar(A, Some(50))]), [""; 0], "it has run out");
    }

    #[test]
    fn a_term_that_begins_while_paused_is_told() {
        let told = told(true, vec![]);
        assert!(told.len() == 1 && told[0].contains("term 5 of a#") && told[0].contains("paused"));
    }

    #[test]
    fn a_term_of_somebody_barred_is_told() {
        for until in [None, Some(51)] {
            let told = told(false, vec![bar(B, None), bar(A, until)]);
            assert!(told.len() == 1 && told[0].contains("barred"), "{told:?}");
        }
    }
}
