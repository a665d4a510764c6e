//! Past terms: who led, from when to when, why it changed, and what operators ordered.
//!
//! Assumes: the store keeps them.
//! Promises: newest first; a term that goes on has no end. An order stands with the term in which it
//! was given, with who gave it and why.

use incumbent::{OrderRecord, TermRecord};
use serde::Serialize;

use crate::exit::Exit;
use crate::flags::HistoryArgs;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::table::Table;
use crate::{moment, span};

/// Shows the newest terms of an election.
pub(crate) async fn history(
    settings: &Settings,
    printer: &Printer,
    args: &HistoryArgs,
) -> anyhow::Result<Exit> {
    let backend = settings.open_existing().await?;
    let terms = backend.terms(&settings.election, args.limit).await?;
    let orders = backend.orders(&settings.election, ORDERS_MOST).await?;
    let now = backend.status(&settings.election).await?.now;
    backend.close().await;
    let faces = terms.iter().map(|term| Face::of(term, &orders, now));
    if printer.json() {
        printer.value(&faces.collect::<Vec<_>>())?;
    } else if terms.is_empty() {
        let removed = orders.first().filter(|order| order.verb == "forget");
        printer.line(match removed {
            None => format!("nobody ever led {} here", settings.election),
            Some(order) => format!(
                "{} was forgotten at {}, after term {}, by {}{}",
                settings.election,
                moment::show(order.at),
                order.term,
                or_dash(Some(&order.actor)),
                order
                    .reason
                    .as_ref()
                    .map_or_else(String::new, |why| format!(" ({})", or_dash(Some(why)))),
            ),
        })?;
    } else {
        let mut table = Table::new(HEAD);
        let mut is_backwards = false;
        for face in faces {
            face.orders.iter().for_each(|order| table.row(order.row()));
            table.row(face.row());
            is_backwards |= face.clock_went_back;
        }
        printer.line(table)?;
        if is_backwards {
            printer.line(BACKWARDS)?;
        }
    }
    Ok(if terms.is_empty() { Exit::No } else { Exit::Ok })
}

/// Below a table with such a term.
const BACKWARDS: &str = "\
A term that ended before it began: the store's clock went back meanwhile, for example because another\n\
server with a slower clock took over. Terms are in their true order; their times are not.";

/// As many orders as a store keeps.
const ORDERS_MOST: u32 = 1_000;

const HEAD: [&str; 9] =
    ["TERM", "LEADER", "BEGAN", "ENDED", "LED FOR", "OPENED BY", "ENDED BY", "ACTOR", "NOTE"];

/// A term as programs read it.
#[derive(Debug, Serialize)]
struct Face<'a> {
    term: u64,
    leader: &'a str,
    incarnation: &'a str,
    began: String,
    ended: Option<String>,
    /// Seconds; up to now for a term that goes on.
    duration: f64,
    /// Whether it ended before it began, by the store's clock.
    clock_went_back: bool,
    /// Why it could begin: `first`, `released`, `died`, `expired` or `own`.
    opening: &'a str,
    /// Why it ended.
    ending: Option<&'a str>,
    actor: Option<&'a str>,
    note: Option<&'a str>,
    /// What operators ordered in this term, newest first.
    orders: Vec<OrderFace<'a>>,
    #[serde(skip)]
    record: &'a TermRecord,
    #[serde(skip)]
    led_for: std::time::Duration,
}

impl<'a> Face<'a> {
    fn of(record: &'a TermRecord, orders: &'a [OrderRecord], now: incumbent::StoreTime) -> Self {
        let orders = orders.iter().filter(|order| order.term == record.term);
        let clock_went_back = record.ended.unwrap_or(now) < record.began;
        let led_for = record.ended.unwrap_or(now).since(record.began);
        Face {
            term: record.term.get(),
            leader: &record.leader,
            incarnation: &record.incarnation,
            began: moment::rfc3339(record.began),
            ended: record.ended.map(moment::rfc3339),
            duration: led_for.as_secs_f64(),
            clock_went_back,
            opening: &record.opening,
            ending: record.ending.as_deref(),
            actor: record.actor.as_deref(),
            note: record.note.as_deref(),
            orders: orders.map(OrderFace::of).collect(),
            record,
            led_for,
        }
    }

    /// The same for people.
    fn row(&self) -> [String; 9] {
        [
            self.term.to_string(),
            self.leader.to_owned(),
            moment::show(self.record.began),
            self.record.ended.map_or_else(|| "-".to_owned(), moment::show),
            if self.clock_went_back { "?".to_owned() } else { span::show(self.led_for) },
            self.opening.to_owned(),
            or_dash(self.ending),
            or_dash(self.actor),
            or_dash(self.note),
        ]
    }
}

/// An order as programs read it.
#[derive(Debug, Serialize)]
struct OrderFace<'a> {
    order: &'a str,
    /// Whom it named.
    candidate: Option<&'a str>,
    at: String,
    actor: &'a str,
    reason: Option<&'a str>,
    #[serde(skip)]
    record: &'a OrderRecord,
}

impl<'a> OrderFace<'a> {
    fn of(record: &'a OrderRecord) -> Self {
        OrderFace {
            order: &record.verb,
            candidate: record.subject.as_deref(),
            at: moment::rfc3339(record.at),
            actor: &record.actor,
            reason: record.reason.as_deref(),
            record,
        }
    }

    /// The same for people.
    fn row(&self) -> [String; 9] {
        let subject = self.candidate.map(|name| format!(" {name}")).unwrap_or_default();
        let none = String::new;
        [
            "order".to_owned(),
            format!("{}{subject}", self.order),
            moment::show(self.record.at),
            none(),
            none(),
            none(),
            none(),
            or_dash(Some(self.actor)),
            or_dash(self.reason),
        ]
    }
}

fn or_dash(text: Option<&str>) -> String {
    text.unwrap_or("-").replace(char::is_control, " ")
}
