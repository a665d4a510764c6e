//! Who is in line?
//!
//! Assumes: nothing; looking takes no lock and changes nothing.
//! Promises: everybody on the roster, first in line first; what is said about them is by the store's
//! own knowledge and clock, which decides nothing. An election without a roster is said to have none.

use std::collections::BTreeMap;
use std::time::Duration;

use incumbent::{Member, Protocol, Roster, Status};
use serde::Serialize;

use crate::exit::Exit;
use crate::printer::Printer;
use crate::settings::{Settings, protocol_of};
use crate::table::Table;
use crate::{moment, span};

/// Shows the roster of an election.
pub(crate) async fn members(settings: &Settings, printer: &Printer) -> anyhow::Result<Exit> {
    let backend = settings.open_existing().await?;
    let status = backend.status(&settings.election).await?;
    let roster = backend.members(&settings.election).await?;
    backend.close().await;
    let protocol = protocol(&status, &roster);
    if printer.json() {
        printer.value(&Face::of(&roster, protocol))?;
    } else if protocol == Some(Protocol::Rounds) {
        printer.line(page(&roster))?;
    } else {
        printer.line(absence(settings, protocol))?;
    }
    let led = protocol == Some(Protocol::Rounds) && roster.leader().is_some();
    Ok(if led { Exit::Ok } else { Exit::No })
}

/// How the election is held; `None` if nobody ever contended in it. What the last leader kept is
/// what counts: a roster may be left over from before.
pub(crate) fn protocol(status: &Status, roster: &Roster) -> Option<Protocol> {
    let kept = status.record.as_ref().map(|record| protocol_of(&record.rules));
    kept.or(roster.pacing.map(|_| Protocol::Rounds))
}

fn absence(settings: &Settings, protocol: Option<Protocol>) -> String {
    match protocol {
        None => format!("no election named {} was ever held here", settings.election),
        Some(_) => "this election is held by lease: it has no roster; use --protocol rounds".into(),
    }
}

/// A roster as programs read it.
#[derive(Debug, Serialize)]
struct Face<'a> {
    election: &'a str,
    /// `rounds`; `lease` if there is no roster; null if the election was never held.
    protocol: Option<&'static str>,
    /// As in `status`.
    state: &'static str,
    /// Who may be leading; null if nobody may.
    leader: Option<&'a str>,
    term: Option<u64>,
    /// Who is next in line.
    second: Option<&'a str>,
    /// Seconds; also the spans that follow.
    round_time: Option<f64>,
    /// The shorter round time that is announced.
    next_round_time: Option<f64>,
    round_limit: Option<u32>,
    round_delta: Option<f64>,
    round_cap: Option<f64>,
    lease: Option<f64>,
    margin: Option<f64>,
    members: Vec<Row<'a>>,
    /// The store's clock.
    now: String,
}

/// A candidate in line, as programs read it.
#[derive(Debug, Serialize)]
struct Row<'a> {
    id: u64,
    name: &'a str,
    incarnation: String,
    /// `leader`, `second`, `waiting`, `overdue` or `died`.
    position: &'static str,
    address: Option<&'a str>,
    labels: BTreeMap<&'a str, &'a str>,
    /// Seconds since it was last heard of.
    idle: f64,
    joined: String,
}

impl<'a> Face<'a> {
    fn of(roster: &'a Roster, protocol: Option<Protocol>) -> Face<'a> {
        // What is left over from another time is nobody's roster.
        let by_rounds = protocol == Some(Protocol::Rounds);
        let (pacing, pace) = (roster.pacing.filter(|_| by_rounds), roster.pace);
        let pace = pace.filter(|_| by_rounds);
        let rules = pacing.zip(pace).map(|(pacing, pace)| pacing.rules_at(pace.round));
        let seconds = |span: Duration| span.as_secs_f64();
        let members = roster.members.iter().filter(|_| by_rounds);
        Face {
            election: roster.election.as_str(),
            protocol: protocol.map(Protocol::as_str),
            state: roster.sight.word(),
            leader: roster.leader().map(|leader| leader.id.name.as_str()),
            term: roster.leader().map(|leader| leader.term.get()),
            second: roster.second().filter(|_| by_rounds).map(|it| it.candidate.name.as_str()),
            round_time: pace.map(|pace| seconds(pace.round)),
            next_round_time: pace.and_then(|pace| pace.next).map(seconds),
            round_limit: pacing.map(|pacing| pacing.round_limit()),
            round_delta: pacing.map(|pacing| seconds(pacing.delta())),
            round_cap: pacing.map(|pacing| seconds(pacing.cap())),
            lease: rules.map(|rules| seconds(rules.lease())),
            margin: rules.map(|rules| seconds(rules.margin())),
            members: members.map(Row::of).collect(),
            now: moment::rfc3339(roster.now),
        }
    }
}

impl<'a> Row<'a> {
    fn of(member: &'a Member) -> Row<'a> {
        Row {
            id: member.id.get(),
            name: member.candidate.name.as_str(),
            incarnation: member.candidate.incarnation.to_string(),
            position: member.position.as_str(),
            address: member.address.as_deref(),
            labels: member.labels.iter().map(|(key, value)| (&key[..], &value[..])).collect(),
            idle: member.idle.as_secs_f64(),
            joined: moment::rfc3339(member.joined),
        }
    }
}

/// A roster, for people.
fn page(roster: &Roster) -> String {
    let leads = match roster.leader() {
        Some(leader) => format!("{} leads, term {}", leader.id.name, leader.term),
        None => "nobody leads".to_owned(),
    };
    let head = format!("{}: {leads}{}", roster.election, pace(roster));
    if roster.members.is_empty() {
        return format!("{head}\nnobody is in line");
    }
    let mut table = Table::new(["ID", "NAME", "POSITION", "ADDRESS", "LABELS", "IDLE", "JOINED"]);
    for member in &roster.members {
        let labels = member.labels.iter().map(|(key, value)| format!("{key}={value}"));
        let labels = Some(labels.collect::<Vec<_>>().join(",")).filter(|text| !text.is_empty());
        table.row([
            member.id.to_string(),
            member.candidate.name.to_string(),
            member.position.as_str().to_owned(),
            or_dash(member.address.as_deref()),
            or_dash(labels.as_deref()),
            span::show(member.idle),
            moment::show(member.joined),
        ]);
    }
    format!("{head}\n{table}")
}

/// How long rounds and leases are.
fn pace(roster: &Roster) -> String {
    let (Some(pacing), Some(pace)) = (roster.pacing, roster.pace) else {
        return String::new();
    };
    let (round, limit) = (span::show(pace.round), pacing.round_limit());
    let lease = span::show(pacing.rules_at(pace.round).lease());
    let next = pace.next.map(|next| format!(", soon {}", span::show(next))).unwrap_or_default();
    format!("; round time {round}{next}, round limit {limit}, lease {lease}")
}

fn or_dash(text: Option<&str>) -> String {
    text.unwrap_or("-").replace(char::is_control, " ")
}
