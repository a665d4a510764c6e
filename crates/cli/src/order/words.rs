//! An order for people.
//!
//! Assumes: an order that was carried out, or would be.
//! Promises: says what becomes of whoever leads, until when, and what follows.

use incumbent::{Order, Transfer};

use super::Given;
use crate::{moment, span};

/// What became of the present term.
pub(super) fn ended(given: &Given) -> String {
    match &given.decree.controls.transfer {
        Some(transfer) if !given.decree.ends => asked(given, transfer),
        _ => format!("{}\n{}", old(given), then(given)),
    }
}

/// Who leads, before anything is changed.
pub(super) fn leads(given: &Given) -> String {
    let election = &given.election;
    match &given.decree.deposed {
        None => format!("Nobody leads {election}."),
        Some(leader) if given.decree.may_act.is_zero() => format!(
            "Nobody is known to lead {election}: {} held it last, and is dead or its lease has run out.",
            leader.id.name
        ),
        Some(leader) => format!("{} leads {election}, term {}.", leader.id.name, leader.term),
    }
}

/// What the order would do.
pub(super) fn would(given: &Given) -> String {
    let old = match &given.decree.deposed {
        Some(leader) if !given.decree.may_act.is_zero() => format!(
            "It could not renew any more, would stop as soon as it hears of that, and might act for another {} at most: \
             its work is cut off. Nobody else leads before. (`transfer` lets {} end its work first.)\n",
            span::show(given.decree.may_act),
            leader.id.name
        ),
        _ => String::new(),
    };
    let (lease, name) = (span::show(given.decree.lease), subject(given));
    format!("{old}The next term would be reserved for {name}, for {lease}.")
}

/// A leader that goes on for now.
fn asked(given: &Given, transfer: &Transfer) -> String {
    let (election, term) = (&given.election, given.decree.term);
    let leader = given.holder.as_deref().unwrap_or("Whoever leads");
    let (drain, until) = (span::show(transfer.drain()), moment::show(moment::end_of(transfer)));
    format!(
        "{leader} was asked to end its work and to hand {election} over to {} (term {term}).\n\
         It keeps leading until then. If its work has not ended within {drain}, at about {until}, the term is ended as \
         by a takeover.",
        transfer.to
    )
}

fn old(given: &Given) -> String {
    let (election, decree) = (&given.election, &given.decree);
    match &decree.deposed {
        None => format!("Nobody leads {election}."),
        Some(leader) if decree.may_act.is_zero() => format!(
            "{} no longer leads {election}: it is dead or its lease has run out.",
            leader.id.name
        ),
        Some(leader) => format!(
            "{} cannot renew {election} any more (term {}). It may act for another {} at most, and nobody else leads before.",
            leader.id.name,
            leader.term,
            span::show(decree.may_act),
        ),
    }
}

fn then(given: &Given) -> String {
    let lease = span::show(given.decree.lease);
    match (&given.decree.successor, &given.order) {
        (Some(name), _) => {
            format!(
                "The next term is reserved for {name}, for {lease}; after that anyone may take it."
            )
        }
        (None, Order::Demote { hold_off }) if !hold_off.is_zero() => format!(
            "Then anyone else may win the next term; the old leader is held off for {}.",
            span::show(*hold_off)
        ),
        _ => {
            "Then anyone may win the next term; the old leader holds off for one lease.".to_owned()
        }
    }
}

/// What stays in force.
pub(super) fn in_force(given: &Given) -> String {
    let (election, name) = (&given.election, subject(given));
    let holder = given.holder.as_deref().filter(|_| given.led());
    match &given.order {
        Order::Pause => {
            let then = match holder {
                Some(leader) => format!("{leader} leads on; if it ends, nobody follows"),
                None => "nobody leads".to_owned(),
            };
            format!("{election} is paused: no new term begins until it is resumed; {then}.")
        }
        Order::Resume => format!("{election} is resumed: terms begin again."),
        Order::Cordon { .. } => {
            let then = match holder {
                Some(leader) if leader == name => {
                    " It leads on: transfer or demote it to change that."
                }
                _ => "",
            };
            format!(
                "{name} is cordoned in {election}: it may not win until it is uncordoned.{then}"
            )
        }
        _ => format!("{name} may win {election} again."),
    }
}

fn subject(given: &Given) -> &str {
    given.order.subject().map_or("-", |name| name.as_str())
}
