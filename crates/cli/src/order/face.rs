//! An order for programs.
//!
//! Assumes: an order that was carried out, or would be.
//! Promises: the same fields for every order; whatever does not belong to one is null.

use incumbent::{Leader, Order, State};
use serde::Serialize;

use super::Given;
use crate::moment;
use crate::status::controls::Face as Controls;

/// An order as programs read it.
#[derive(Debug, Serialize)]
pub(super) struct Face {
    order: &'static str,
    election: String,
    actor: String,
    reason: Option<String>,
    /// Whom it names.
    candidate: Option<String>,
    /// The term that the election is in.
    term: u64,
    /// Whether it ends that term, or reserves the next.
    ends: bool,
    /// Who led, if the order ends that.
    deposed: Option<String>,
    /// Seconds for which the deposed leader may still act.
    may_act: f64,
    /// For whom the next term is reserved.
    successor: Option<String>,
    /// When the term of a leader that is asked to hand over ends at the latest.
    ends_by: Option<String>,
    /// Seconds for which whoever led is held off.
    hold_off: Option<f64>,
    /// What is in force from then on.
    controls: Controls,
    /// Who leads next, if that was waited for and came about.
    next_leader: Option<String>,
    next_term: Option<u64>,
    /// Whether it was only shown.
    dry_run: bool,
}

impl Face {
    pub(super) fn of(given: &Given, next: Option<&Leader>) -> Face {
        let decree = &given.decree;
        let transfer = decree.controls.transfer.as_ref();
        Face {
            order: given.order.word(),
            election: given.election.clone(),
            actor: given.actor.clone(),
            reason: given.reason.clone(),
            candidate: given.order.subject().map(ToString::to_string),
            term: decree.term.get(),
            ends: decree.ends,
            deposed: decree.deposed.as_ref().map(|leader| leader.id.name.to_string()),
            may_act: decree.may_act.as_secs_f64(),
            successor: decree.successor.as_ref().map(ToString::to_string),
            ends_by: transfer.map(|transfer| moment::rfc3339(moment::end_of(transfer))),
            hold_off: match &given.order {
                Order::Demote { hold_off } => Some(hold_off.as_secs_f64()),
                _ => None,
            },
            controls: Controls::of(&decree.controls),
            next_leader: next.map(|leader| leader.id.name.to_string()),
            next_term: next.map(|leader| leader.term.get()),
            dry_run: false,
        }
    }

    /// One that was only shown.
    pub(super) fn shown(given: &Given) -> Face {
        Face { dry_run: true, ..Face::of(given, None) }
    }
}

/// An order that was not given after all.
#[derive(Debug, Serialize)]
pub(super) struct Unchanged {
    event: &'static str,
    order: &'static str,
    election: String,
}

impl Unchanged {
    pub(super) fn of(given: &Given) -> Unchanged {
        Unchanged {
            event: "unchanged",
            order: given.order.word(),
            election: given.election.clone(),
        }
    }
}

impl Given {
    /// Whether somebody held the term when the order came.
    pub(super) fn led(&self) -> bool {
        self.decree.state != State::Released
    }
}
