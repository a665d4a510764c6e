//! What operators ordered and what stays in force: a pause, bars, a transfer under way.
//!
//! Assumes: kept with the row of the election, and read in the same atomic step.
//! Promises: no term begins against a control that was in force when the store decided. A control
//! never ends a lease, and never stops whoever leads from renewing.

use core::fmt;
use core::time::Duration;

use serde::{Deserialize, Serialize};

use crate::identity::CandidateName;
use crate::lease::request::Refusal;
use crate::planted::{self, Bug};
use crate::term::Term;
use crate::time::StoreTime;

/// Most candidates that can be barred from one election at a time.
pub const BARS_MAX: usize = 256;

/// Who seems to have paused an election in which orders cannot be read.
const UNREADABLE: &str = "(unreadable)";

/// Everything that operators have in force in one election.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Controls {
    /// No new term begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused: Option<Box<Mandate>>,
    /// Who may not win.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bars: Vec<Bar>,
    /// A leader that is asked to hand over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Box<Transfer>>,
}

/// Who ordered something, when and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mandate {
    /// When, by the store's clock.
    pub at: StoreTime,
    /// Who.
    pub actor: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl fmt::Display for Mandate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Some(reason) => write!(f, "by order of {} ({reason})", self.actor),
            None => write!(f, "by order of {}", self.actor),
        }
    }
}

/// A candidate that may not win.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// Which.
    pub name: CandidateName,
    /// Until when, by the store's clock; for good if it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<StoreTime>,
    /// By whose order.
    pub by: Mandate,
}

impl Bar {
    /// Whether it holds.
    pub fn holds(&self, now: StoreTime) -> bool {
        self.until.map_or(!planted::is(Bug::CordonLapsed), |until| now < until)
    }
}

/// A leader is asked to end its work, and then to let go for somebody.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// For whom.
    pub to: CandidateName,
    /// The number of the term that is to end.
    pub term: u64,
    /// How long its work may take to end, in microseconds.
    pub drain_us: u64,
    /// By whose order.
    pub by: Mandate,
}

impl Transfer {
    /// How long the work may take to end.
    pub const fn drain(&self) -> Duration {
        Duration::from_micros(self.drain_us)
    }
}

impl Controls {
    /// What counts where the orders that are in force cannot be read: they may forbid a term, so none
    /// begins. Whoever leads goes on.
    pub fn unreadable(problem: impl fmt::Display) -> Controls {
        let reason = format!(
            "what operators ordered cannot be read: {problem}; upgrade this program, or forget those orders with \
             `incumbent resume`"
        );
        let by =
            Mandate { at: StoreTime::default(), actor: UNREADABLE.into(), reason: Some(reason) };
        Controls { paused: Some(Box::new(by)), ..Controls::default() }
    }

    /// Whether it stands for orders that cannot be read.
    pub fn is_unreadable(&self) -> bool {
        self.paused.as_ref().is_some_and(|by| by.actor == UNREADABLE)
    }

    /// Whether nothing is in force.
    pub fn is_empty(&self) -> bool {
        *self == Controls::default()
    }

    /// Whether `name` may win a term.
    pub fn permit(&self, name: &CandidateName, now: StoreTime) -> Result<(), Refusal> {
        if let Some(by) = &self.paused {
            return Err(Refusal::Paused { by: by.clone() });
        }
        self.bar_on(name, now).map_or(Ok(()), |bar| Err(Refusal::Barred(Box::new(bar.clone()))))
    }

    /// The bar on a candidate, if one holds.
    pub fn bar_on(&self, name: &CandidateName, now: StoreTime) -> Option<&Bar> {
        self.bars.iter().find(|bar| bar.name == *name && bar.holds(now))
    }

    /// The transfer that whoever leads in `term` is asked for.
    pub fn transfer_of(&self, term: Term) -> Option<&Transfer> {
        self.transfer.as_deref().filter(|transfer| transfer.term == term.get())
    }

    /// Without what has run out or belongs to another term.
    #[must_use]
    pub fn tidy(&self, now: StoreTime, term: Term) -> Controls {
        Controls {
            paused: self.paused.clone(),
            bars: self.bars.iter().filter(|bar| bar.holds(now)).cloned().collect(),
            transfer: self.transfer_of(term).cloned().map(Box::new),
        }
    }

    pub(crate) fn lift(&mut self, name: &CandidateName) {
        self.bars.retain(|bar| bar.name != *name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> CandidateName {
        CandidateName::new(text).expect("name")
    }

    fn at(seconds: u64) -> StoreTime {
        StoreTime::from_micros(seconds * 1_000_000)
    }

    fn bar(text: &str, until: Option<StoreTime>) -> Bar {
        Bar { name: name(text), until, by: Mandate::default() }
    }

    #[test]
    fn a_bar_holds_for_its_name_until_it_runs_out() {
        let bars = vec![bar("ann", Some(at(10))), bar("bob", None)];
        let controls = Controls { bars, ..Controls::default() };
        assert!(controls.permit(&name("ann"), at(9)).is_err());
        assert!(controls.permit(&name("ann"), at(10)).is_ok());
        assert!(controls.permit(&name("bob"), at(1_000)).is_err());
        assert!(controls.permit(&name("cid"), at(9)).is_ok());
    }

    #[test]
    fn nobody_wins_while_paused() {
        let controls = Controls { paused: Some(Box::default()), ..Controls::default() };
        assert!(matches!(controls.permit(&name("ann"), at(1)), Err(Refusal::Paused { .. })));
    }

    #[test]
    fn nobody_wins_where_orders_cannot_be_read() {
        let controls = Controls::unreadable("unknown field `quorum`");
        let refused = controls.permit(&name("ann"), at(1)).expect_err("it may be forbidden");
        assert!(refused.to_string().contains("unknown field `quorum`"), "{refused}");
        assert!(refused.to_string().contains("incumbent resume"), "{refused}");
        assert!(controls.is_unreadable() && !Controls::default().is_unreadable());
    }

    #[test]
    fn a_field_that_is_not_known_is_not_left_out() {
        for text in [
            r#"{"quorum":3}"#,
            r#"{"paused":{"at":1,"actor":"ann","until":7}}"#,
            r#"{"bars":[{"name":"ann","by":{"at":1,"actor":"bob"},"zone":"eu"}]}"#,
        ] {
            assert!(serde_json::from_str::<Controls>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_nothing_takes_no_room() {
        let written = serde_json::to_string(&Controls::default()).expect("json");
        assert_eq!(written, "{}");
        let controls = Controls {
            paused: Some(Box::new(Mandate {
                at: at(3),
                actor: "root".into(),
                reason: Some("it's".into()),
            })),
            bars: vec![bar("ann", Some(at(10)))],
            transfer: Some(Box::new(Transfer {
                to: name("bob"),
                term: 7,
                drain_us: 5,
                by: Mandate::default(),
            })),
        };
        let written = serde_json::to_string(&controls).expect("json");
        assert_eq!(serde_json::from_str::<Controls>(&written).expect("json"), controls);
    }
}
