//! What operators have in force, for people and for programs.
//!
//! Assumes: controls as one read found them.
//! Promises: each with who ordered it, when and why.

use incumbent::{Bar, CandidateName, Controls, Mandate, Sight, State, Status, Transfer};
use serde::Serialize;

use crate::{moment, span};

/// Controls as programs read them.
#[derive(Debug, Serialize)]
pub(crate) struct Face {
    /// Whether new terms are held back; null if not.
    paused: Option<By>,
    /// Who may not win.
    cordoned: Vec<BarFace>,
    /// What whoever leads is asked for; null if nothing.
    transfer: Option<TransferFace>,
}

/// By whose order.
#[derive(Debug, Serialize)]
struct By {
    at: String,
    actor: String,
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct BarFace {
    name: String,
    /// When it ends; null if it stays until it is lifted.
    until: Option<String>,
    #[serde(flatten)]
    by: By,
}

#[derive(Debug, Serialize)]
struct TransferFace {
    to: String,
    term: u64,
    /// Seconds.
    drain: f64,
    ends_by: String,
    #[serde(flatten)]
    by: By,
}

impl Face {
    pub(crate) fn of(controls: &Controls) -> Face {
        Face {
            paused: controls.paused.as_deref().map(By::of),
            cordoned: controls.bars.iter().map(BarFace::of).collect(),
            transfer: controls.transfer.as_deref().map(TransferFace::of),
        }
    }
}

impl By {
    fn of(by: &Mandate) -> By {
        let (actor, reason) = (by.actor.clone(), by.reason.clone());
        By { at: moment::rfc3339(by.at), actor, reason }
    }
}

impl BarFace {
    fn of(bar: &Bar) -> BarFace {
        let until = bar.until.map(moment::rfc3339);
        BarFace { name: bar.name.to_string(), until, by: By::of(&bar.by) }
    }
}

impl TransferFace {
    fn of(transfer: &Transfer) -> TransferFace {
        TransferFace {
            to: transfer.to.to_string(),
            term: transfer.term,
            drain: transfer.drain().as_secs_f64(),
            ends_by: moment::rfc3339(moment::end_of(transfer)),
            by: By::of(&transfer.by),
        }
    }
}

/// What is in force now: without what has run out or belongs to another term. Only somebody who leads
/// can be asked to hand over.
pub(crate) fn in_force(status: &Status) -> Controls {
    let Some(record) = &status.record else {
        return status.controls.clone();
    };
    let mut controls = status.controls.tidy(status.now, record.term);
    controls.transfer = controls.transfer.filter(|_| matches!(status.sight, Sight::Led { .. }));
    controls
}

/// For whom the next term is reserved, while that can matter: until it was let go of for a lease.
pub(crate) fn reserved(status: &Status) -> Option<&CandidateName> {
    let record = status.record.as_ref()?;
    let is_over = record.state == State::Released
        && status.now.since(record.beaten_at) >= record.rules.lease();
    record.successor.as_ref().filter(|_| !is_over)
}

/// The same for people: a name and words each.
pub(super) fn lines(status: &Status) -> Vec<(&'static str, String)> {
    let controls = in_force(status);
    let mut lines = Vec::new();
    if let Some(by) = &controls.paused {
        lines.push(("paused", format!("no new term begins, {}", one_line(by))));
    }
    if let Some(transfer) = &controls.transfer {
        let left = moment::end_of(transfer).since(status.now);
        let limit = if left.is_zero() {
            "any moment now".to_owned()
        } else {
            format!("in {} at most", span::show(left))
        };
        let (to, by) = (&transfer.to, one_line(&transfer.by));
        lines.push(("transfer", format!("to {to} when the work has ended, {limit}, {by}")));
    }
    for bar in &controls.bars {
        let (name, by) = (&bar.name, one_line(&bar.by));
        lines.push(match bar.until {
            Some(until) => (
                "held off",
                format!("{name}, for another {}, {by}", span::show(until.since(status.now))),
            ),
            None => ("cordoned", format!("{name}, {by}")),
        });
    }
    lines
}

/// The same in a word or two, for a table.
pub(super) fn words(status: &Status) -> String {
    let controls = in_force(status);
    let paused = controls.paused.iter().map(|_| "paused".to_owned());
    let transfer = controls.transfer.iter().map(|transfer| format!("transfer to {}", transfer.to));
    let bars = Some(controls.bars.len()).filter(|count| *count > 0);
    let bars = bars.into_iter().map(|count| format!("{count} cordoned"));
    let words = paused.chain(transfer).chain(bars).collect::<Vec<_>>().join(", ");
    if words.is_empty() { "-".to_owned() } else { words }
}

fn one_line(by: &Mandate) -> String {
    by.to_string().replace(char::is_control, " ")
}
