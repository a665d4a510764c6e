//! How a log reads: one line for each thing worth telling, with true time and name.
//!
//! Assumes: terms are numbered by the order in which they began. Promises: the same log gives the
//! same lines.

use core::time::Duration;

use incumbent_protocol::candidacy::Notice;
use incumbent_protocol::lease::row::Leader;
use incumbent_protocol::term::Term;

use crate::support::log::{Entry, What};
use crate::support::post::Kind;
use crate::support::world::World;

/// The lines for the entries from `from` on. Renewals in a row become one line.
pub(crate) fn lines(world: &World, from: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut renewals: Option<(&Entry, usize)> = None;
    for (at, entry) in world.log.iter().enumerate().skip(from) {
        let renewed = matches!(&entry.what, What::Told { notice: Notice::Renewed { .. }, .. });
        let text = text(world, at);
        if text.is_none() {
            continue;
        }
        match renewals {
            Some((before, count)) if renewed && before.who == entry.who => {
                renewals = Some((entry, count + 1));
                continue;
            }
            _ => lines.extend(renewals.take().map(|run| line_of_renewals(world, run))),
        }
        if renewed {
            renewals = Some((entry, 1));
        } else {
            lines.extend(text.map(|text| line(world, entry, &text)));
        }
    }
    lines.extend(renewals.map(|run| line_of_renewals(world, run)));
    lines
}

/// The place of a term among all that ever began.
pub(crate) fn number(world: &World, term: Term) -> String {
    let place = world.store.claims().position(|claim| claim.term == term);
    place.map_or_else(|| "unknown".to_owned(), |place| (place + 1).to_string())
}

/// Seconds with milliseconds.
pub(crate) fn seconds(span: Duration) -> String {
    format!("{}.{:03}", span.as_secs(), span.subsec_millis())
}

fn line(world: &World, entry: &Entry, text: &str) -> String {
    let name = world.processes[entry.who].name.as_str();
    format!("{:>8}  {name:<6} {text}", seconds(entry.at))
}

fn line_of_renewals(world: &World, (last, count): (&Entry, usize)) -> String {
    let What::Told { notice: Notice::Renewed { term, .. }, until: Some(until) } = &last.what else {
        unreachable!("only renewals are gathered");
    };
    let times = if count == 1 { String::new() } else { format!(" {count} times") };
    let (number, until) = (number(world, *term), seconds(*until));
    line(world, last, &format!("renews term {number}{times}, lease until {until}"))
}

/// What an entry says; `None` if it goes without saying.
fn text(world: &World, at: usize) -> Option<String> {
    let entry = &world.log[at];
    Some(match &entry.what {
        What::Began => "begins a life".to_owned(),
        What::Told { notice, until } => return told(world, at, notice, *until),
        What::GaveUp(kind) => format!("gives up waiting: {} unknown", noun(*kind)),
        What::CameLate(kind) => {
            format!("gave up on this {} before, and now it arrives", noun(*kind))
        }
        What::WorkEnded(term) => format!("has ended its work of term {}", number(world, *term)),
        What::Stopped { until } => format!("is stopped until {}", seconds(*until)),
        What::ClockDoubted => "cannot trust its clock".to_owned(),
        What::Crashed => "crashes".to_owned(),
        What::Asked(_) => return None,
    })
}

fn told(world: &World, at: usize, notice: &Notice, until: Option<Duration>) -> Option<String> {
    let until = until.map(seconds).unwrap_or_default();
    Some(match notice {
        Notice::Gained { term, opening, .. } => {
            format!("leads: term {} ({opening}), lease until {until}", number(world, *term))
        }
        Notice::Renewed { .. } => "renews".to_owned(),
        Notice::Unsure { term } => format!("is unsure of term {}", number(world, *term)),
        Notice::Lost { term, reason } => format!("loses term {} ({reason})", number(world, *term)),
        Notice::Leader(leader) => return sees(world, at, leader.as_ref()),
        Notice::Rejected(refusal) => format!("is rejected: {refusal}"),
        Notice::WentBack(_) => "finds that the store went back".to_owned(),
        Notice::Joined { id, .. } => format!("joins with id {id}"),
        Notice::Evicted { id } => format!("was evicted from id {id}"),
        Notice::Paced { round } => format!("keeps a round of {}", seconds(*round)),
        Notice::Member(news) if news.came => format!("sees {} come", news.candidate.name),
        Notice::Member(news) => format!("buries {}", news.candidate.name),
    })
}

/// Whom it sees lead, unless the line before has told just that.
fn sees(world: &World, at: usize, leader: Option<&Leader>) -> Option<String> {
    let (before, now) = (&world.log[at.checked_sub(1)?], &world.log[at]);
    if let What::Told { notice: Notice::Gained { .. } | Notice::Lost { .. }, .. } = &before.what
        && (before.who, before.at) == (now.who, now.at)
    {
        return None;
    }
    Some(leader.map_or_else(
        || "sees nobody lead".to_owned(),
        |leader| format!("sees {} lead term {}", leader.id.name, number(world, leader.term)),
    ))
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Look => "look",
        Kind::Bid => "bid",
        Kind::Renew => "renewal",
        Kind::Resign => "resignation",
        Kind::Round => "round",
    }
}
