//! What a store can promise, and on which condition.
//!
//! Assumes: the findings are complete.
//! Promises: nothing is promised where anything was refused; no promise is without its condition.

use std::collections::BTreeMap;

use incumbent_protocol::rules::{Expiry, Timing};
use serde::Serialize;

use super::finding::{Findings, Verdict};

/// One of the promises of this library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Promise {
    /// `by lease`, `by token` or `by transaction`.
    pub name: &'static str,
    /// What it says.
    pub says: &'static str,
    /// Whether this store can give it.
    pub given: Given,
    /// On which condition, or why not.
    pub condition: Option<String>,
}

/// Whether a promise is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Given {
    /// If something holds that cannot be seen from here.
    If,
    /// Not as things are.
    No,
}

/// What the promises of one store hang on, beyond what they always do.
#[derive(Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) lease: Vec<String>,
    pub(crate) token: Vec<String>,
    pub(crate) transaction: Vec<String>,
    /// Promises that this kind of store does not give at all, and why.
    pub(crate) never: BTreeMap<&'static str, String>,
}

impl Conditions {
    /// What a server forgets that acknowledged it takes a claim, or work, along.
    pub(crate) fn on_durability(&mut self, condition: &str) {
        self.lease.push(condition.to_owned());
        self.transaction.push(condition.to_owned());
    }

    pub(super) fn promises(&self, findings: &Findings, timing: &Timing) -> Vec<Promise> {
        let refused: Vec<_> = findings
            .0
            .iter()
            .filter(|it| it.verdict == Verdict::Refuse)
            .map(|it| it.probe)
            .collect();
        let promise = |name, says, always: Vec<String>, more: &[String]| {
            let (given, condition) = if let Some(why) = self.never.get(name) {
                (Given::No, why.clone())
            } else if refused.is_empty() {
                (Given::If, [always, more.to_vec()].concat().join("; "))
            } else {
                (
                    Given::No,
                    format!(
                        "nobody should be elected here before this is changed: {}",
                        refused.join(", ")
                    ),
                )
            };
            Promise { name, says, given, condition: Some(condition) }
        };
        vec![
            promise(
                "by lease",
                "at most one leadership is valid at any instant",
                clocks(timing),
                &self.lease,
            ),
            promise(
                "by token",
                "a resource that checks tokens never accepts a deposed leader after its successor",
                vec![
                    "the resource refuses tokens below the highest it has seen".to_owned(),
                    "a store that lost terms has not lost time as well".to_owned(),
                ],
                &self.token,
            ),
            promise(
                "by transaction",
                "work commits only if the leadership that began it still stands",
                vec!["the work is in this database, in a fenced transaction".to_owned()],
                &self.transaction,
            ),
        ]
    }
}

/// What the lease trusts of clocks.
fn clocks(timing: &Timing) -> Vec<String> {
    let rules = timing.rules();
    let share = rules.margin().as_secs_f64() / rules.lease().as_secs_f64() * 100.0;
    let mut conditions = vec![format!("clocks of hosts run within {share:.0} % of each other")];
    if rules.expiry() == Expiry::Database {
        conditions.push("the store's clock never steps forward".to_owned());
    }
    conditions
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_refusal_takes_every_promise_with_it_and_is_named() {
        let timing = Timing::of_lease(Duration::from_secs(3)).expect("timing");
        let mut findings = Findings::default();
        findings.good("schema", "version 2");
        let promises = Conditions::default().promises(&findings, &timing);
        assert!(promises.iter().all(|it| it.given == Given::If), "{promises:?}");
        findings.refuse("locks", "they do not exclude", "use another store");
        let promises = Conditions::default().promises(&findings, &timing);
        assert!(promises.iter().all(|it| {
            it.given == Given::No && it.condition.as_ref().is_some_and(|c| c.ends_with(": locks"))
        }));
    }
}
