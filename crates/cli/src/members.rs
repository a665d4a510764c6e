//! Who takes part, and who would be next?
//!
//! | file | what |
//! |---|---|
//! | [`row`] | one who takes part |
//!
//! Assumes: nothing; looking takes no lock and changes nothing.
//! Promises: everybody who takes part, on request who did within a day, by either protocol; by rounds with the
//! place in line of each, first in line first. What is said about them is by the store's own knowledge
//! and clock, which decides nothing.

mod row;

use std::time::Duration;

use incumbent::{Peer, Protocol, Roster, Status};
use serde::Serialize;

use self::row::{Row, Voting};
use crate::exit::Exit;
use crate::flags::MembersArgs;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::table::Table;
use crate::{moment, span};

/// Shows everybody who takes part in an election.
pub(crate) async fn members(
    settings: &Settings,
    printer: &Printer,
    args: &MembersArgs,
) -> anyhow::Result<Exit> {
    let backend = settings.open_existing().await?;
    let status = backend.status(&settings.election).await?;
    let mut roster = backend.members(&settings.election).await?;
    let peers = backend.candidates(&settings.election).await?;
    let voters = if settings.is_of_peers() { backend.voters().await.ok() } else { None };
    backend.close().await;
    let kept = status.record.as_ref().map(|record| settings.protocol_by(&record.rules));
    let protocol = kept.or(begun(settings, &roster, &peers));
    if protocol != Some(Protocol::Rounds) {
        // What is left over from another time is nobody's roster.
        roster.members.clear();
        (roster.pace, roster.pacing) = (None, None);
    }
    let voting = Voting { of_peers: settings.is_of_peers(), voters: voters.as_ref() };
    let mut rows = row::rows(&status, &roster, &peers, voting);
    let everybody = rows.len();
    rows.retain(|row| args.gone || !row.is_gone());
    let gone = everybody - rows.len();
    if printer.json() {
        printer.value(&Face::of(&status, &roster, protocol, &rows, gone))?;
    } else if protocol.is_none() {
        printer.line(format!("no election named {} was ever held here", settings.election))?;
    } else {
        printer.line(page(&status, &roster, &rows))?;
        if gone > 0 {
            printer.line(format!("{gone} more left or were not heard of: --gone shows them"))?;
        }
    }
    Ok(if status.leader().is_some() { Exit::Ok } else { Exit::No })
}

/// How an election is held that nobody has led so far; `None` if nobody contends in it either. Where
/// one has led, what it kept is what counts: a roster may be left over from before.
fn begun(settings: &Settings, roster: &Roster, peers: &[Peer]) -> Option<Protocol> {
    let lined = roster.pacing.map(|_| Protocol::Rounds);
    let usual = if settings.is_of_peers() { settings.protocol() } else { Protocol::Lease };
    lined.or((!peers.is_empty()).then_some(usual))
}

/// Everybody as programs read it.
#[derive(Debug, Serialize)]
struct Face<'a> {
    election: &'a str,
    /// `rounds`, `lease`, `ring` or `bully`; null if the election was never held.
    protocol: Option<&'static str>,
    /// As in `status`.
    state: &'static str,
    /// Who may be leading; null if nobody may.
    leader: Option<&'a str>,
    term: Option<u64>,
    /// Who is next in line, or would be preferred.
    second: Option<&'a str>,
    /// Seconds; also the spans that follow. Null without a roster.
    round_time: Option<f64>,
    /// The shorter round time that is announced.
    next_round_time: Option<f64>,
    round_limit: Option<u32>,
    round_delta: Option<f64>,
    round_cap: Option<f64>,
    lease: Option<f64>,
    margin: Option<f64>,
    members: Vec<row::Face<'a>>,
    /// How many are not shown, because they left or were not heard of.
    gone: usize,
    /// The store's clock.
    now: String,
}

impl<'a> Face<'a> {
    fn of(
        status: &'a Status,
        roster: &'a Roster,
        protocol: Option<Protocol>,
        rows: &[Row<'a>],
        gone: usize,
    ) -> Face<'a> {
        let (pacing, pace) = (roster.pacing, roster.pace);
        let paced = pacing.zip(pace).map(|(pacing, pace)| pacing.rules_at(pace.round));
        let rules = paced.or(status.record.as_ref().map(|record| record.rules));
        let seconds = |span: Duration| span.as_secs_f64();
        let leader = status.leader();
        Face {
            election: status.election.as_str(),
            protocol: protocol.map(Protocol::as_str),
            state: status.sight.word(),
            leader: leader.map(|leader| leader.id.name.as_str()),
            term: leader.map(|leader| leader.term.get()),
            second: rows.iter().find(|row| row.next).map(|row| row.who.name.as_str()),
            round_time: pace.map(|pace| seconds(pace.round)),
            next_round_time: pace.and_then(|pace| pace.next).map(seconds),
            round_limit: pacing.map(|pacing| pacing.round_limit()),
            round_delta: pacing.map(|pacing| seconds(pacing.delta())),
            round_cap: pacing.map(|pacing| seconds(pacing.cap())),
            lease: rules.map(|rules| seconds(rules.lease())),
            margin: rules.map(|rules| seconds(rules.margin())),
            members: rows.iter().map(Row::face).collect(),
            gone,
            now: moment::rfc3339(status.now),
        }
    }
}

const HEAD: [&str; 9] =
    ["ID", "NAME", "POSITION", "SAYS", "PRIORITY", "ADDRESS", "LABELS", "IDLE", "JOINED"];

/// Everybody, for people.
fn page(status: &Status, roster: &Roster, rows: &[Row<'_>]) -> String {
    let leads = match status.leader() {
        Some(leader) => format!("{} leads, term {}", leader.id.name, leader.term),
        None => "nobody leads".to_owned(),
    };
    let paused = status.controls.paused.as_ref().map_or("", |_| "; paused");
    let head = format!("{}: {leads}{paused}{}", status.election, pace(roster));
    if rows.is_empty() {
        let nobody =
            if roster.pacing.is_some() { "nobody is in line" } else { "nobody takes part" };
        return format!("{head}\n{nobody}");
    }
    let mut table = Table::new(HEAD);
    for row in rows {
        let labels = row.labels().iter().map(|(key, value)| format!("{key}={value}"));
        let labels = Some(labels.collect::<Vec<_>>().join(",")).filter(|text| !text.is_empty());
        table.row([
            row.id().map_or_else(|| "-".to_owned(), |id| id.to_string()),
            row.who.name.to_string(),
            row.position().to_owned(),
            row.says(),
            row.priority().to_string(),
            or_dash(row.address()),
            or_dash(labels.as_deref()),
            span::show(row.idle()),
            moment::show(row.joined()),
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
