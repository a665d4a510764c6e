//! Who leads?
//!
//! Assumes: nothing; looking takes no lock and changes nothing.
//! Promises: a leader is named only if somebody may be leading; whoever held it last is shown as
//! that.

pub(crate) mod controls;

use incumbent::{Error, Expiry, LockHolder, Protocol, Rules, Sight, Status};
use serde::Serialize;

use crate::exit::Exit;
use crate::flags::StatusArgs;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::table::Table;
use crate::{moment, span};

/// Shows one election, or all of them.
pub(crate) async fn status(
    settings: &Settings,
    printer: &Printer,
    args: &StatusArgs,
) -> anyhow::Result<Exit> {
    let backend = settings.open_existing().await?;
    let statuses = if args.all {
        backend.statuses().await?
    } else {
        vec![backend.status(&settings.election).await?]
    };
    let holders = backend.lock_holders().await;
    backend.close().await;
    let protocol = |rules: &Rules| settings.protocol_by(rules);
    let face = |one| Face::of(one, protocol, &holders);
    match (&statuses[..], printer.json()) {
        ([one], true) if !args.all => printer.value(&face(one))?,
        (all, true) => printer.value(&all.iter().map(face).collect::<Vec<_>>())?,
        ([one], false) if !args.all => {
            printer.line(page(one, protocol, &holders))?;
            if settings.unratified {
                printer.line("ratified  no: this is a hint, and there may be several leaders")?;
            }
        }
        ([], false) => printer.line("no election was ever held here")?,
        (all, false) => {
            printer.line(overview(all, protocol))?;
            for holder in holders.iter().flatten() {
                let of = holder.election.as_ref().map(|name| format!(" {name}"));
                printer.line(format!("held up{}: {holder}", of.unwrap_or_default()))?;
            }
            if let Err(error) = &holders {
                printer.line(format!("held up: {}", unseen(error)))?;
            }
        }
    }
    let led = !statuses.is_empty() && statuses.iter().all(|status| status.leader().is_some());
    Ok(if led { Exit::Ok } else { Exit::No })
}

/// A status as programs read it.
#[derive(Debug, Serialize)]
struct Face {
    election: String,
    /// `led`, `ending`, `overdue`, `died` or `vacant`.
    state: &'static str,
    /// Who may be leading; null if nobody may.
    leader: Option<String>,
    incarnation: Option<String>,
    term: Option<u64>,
    token: Option<u64>,
    since: Option<String>,
    /// Seconds.
    lease: Option<f64>,
    /// Seconds.
    margin: Option<f64>,
    /// `lease`, `rounds`, `ring` or `bully`.
    protocol: Option<&'static str>,
    /// `observed` or `database`; by rounds it is always observed.
    expiry: Option<&'static str>,
    /// Seconds that are left of the lease unless it is renewed.
    remaining: f64,
    /// For whom the next term is reserved.
    successor: Option<String>,
    last_holder: Option<String>,
    last_term: Option<u64>,
    /// What operators have in force.
    controls: controls::Face,
    /// Who has kept a lock for a second or more, while orders and claims wait for it. Null if that cannot
    /// be seen.
    held_up_by: Option<Vec<String>>,
    /// The store's clock.
    now: String,
}

/// Who holds elections up, if that can be seen.
type Holders = Result<Vec<LockHolder>, Error>;

impl Face {
    fn of(status: &Status, protocol: impl Fn(&Rules) -> Protocol, holders: &Holders) -> Face {
        let leader = status.leader();
        let record = status.record.as_ref();
        let rules = record.map(|record| record.rules);
        Face {
            election: status.election.to_string(),
            state: status.sight.word(),
            leader: leader.map(|leader| leader.id.name.to_string()),
            incarnation: leader.map(|leader| leader.id.incarnation.to_string()),
            term: leader.map(|leader| leader.term.get()),
            token: leader.map(|leader| leader.term.token().get()),
            since: leader.map(|leader| moment::rfc3339(leader.since)),
            lease: rules.map(|rules| rules.lease().as_secs_f64()),
            margin: rules.map(|rules| rules.margin().as_secs_f64()),
            protocol: rules.map(|rules| protocol(&rules).as_str()),
            expiry: rules.map(|rules| expiry(&rules)),
            remaining: status.remaining().as_secs_f64(),
            successor: controls::reserved(status).map(ToString::to_string),
            last_holder: record.map(|record| record.holder.name.to_string()),
            last_term: record.map(|record| record.term.get()),
            controls: controls::Face::of(&controls::in_force(status)),
            held_up_by: holders
                .as_ref()
                .ok()
                .map(|holders| of(status, holders).map(ToString::to_string).collect()),
            now: moment::rfc3339(status.now),
        }
    }
}

/// Who holds this election up.
fn of<'a>(status: &Status, holders: &'a [LockHolder]) -> impl Iterator<Item = &'a LockHolder> {
    let name = status.election.clone();
    holders.iter().filter(move |one| one.election.as_ref().is_none_or(|it| *it == name))
}

/// What is said where nobody can be named.
fn unseen(error: &Error) -> String {
    format!("cannot be seen: {error}").replace(char::is_control, " ")
}

/// Whose clock counts. Those who are in line watch by their own.
const fn expiry(rules: &Rules) -> &'static str {
    match rules.expiry() {
        Expiry::Rounds => Expiry::Observed.as_str(),
        other => other.as_str(),
    }
}

/// One election, for people.
fn page(status: &Status, protocol: impl Fn(&Rules) -> Protocol, holders: &Holders) -> String {
    let mut lines = vec![("election", status.election.to_string()), ("state", state(status))];
    if let Some(leader) = status.leader() {
        let since = moment::show(leader.since);
        let age = span::show(status.now.since(leader.since));
        lines.push(("leader", leader.id.to_string()));
        lines.push(("term", format!("{}, which is also the token", leader.term)));
        lines.push(("since", format!("{since}, {age} ago")));
    } else if let Some(record) = &status.record {
        lines.push(("last", format!("{}, term {}", record.holder, record.term)));
    }
    if let Some(record) = &status.record {
        let rules = &record.rules;
        let (lease, margin) = (span::exact(rules.lease()), span::exact(rules.margin()));
        lines.push(("protocol", protocol(rules).as_str().to_owned()));
        lines.push(("rules", format!("lease {lease}, margin {margin}, expiry {}", expiry(rules))));
    }
    if let Some(successor) = controls::reserved(status) {
        lines.push(("next", format!("reserved for {successor}")));
    }
    lines.extend(controls::lines(status));
    match holders {
        Ok(holders) => lines.extend(of(status, holders).map(|one| ("held up", one.to_string()))),
        Err(error) => lines.push(("held up", unseen(error))),
    }
    let lines = lines.iter().map(|(key, value)| format!("{key:<10}{value}"));
    lines.collect::<Vec<_>>().join("\n")
}

fn state(status: &Status) -> String {
    let word = status.sight.word();
    let words = match &status.sight {
        Sight::Vacant if status.record.is_none() => {
            "no election of this name was ever held here".to_owned()
        }
        Sight::Vacant => "nobody leads; the last leader let go".to_owned(),
        Sight::Led { remaining, .. } => {
            format!("{} of the lease left unless it is renewed", span::show(*remaining))
        }
        Sight::Ending { remaining, .. } => {
            format!(
                "an operator ended this term; the leader may act for {}",
                span::show(*remaining)
            )
        }
        Sight::Overdue { idle, .. } => {
            format!("nobody is known to lead; not renewed for {}", span::show(*idle))
        }
        Sight::Died { .. } => "nobody leads; the last leader's process is dead".to_owned(),
    };
    format!("{word}: {words}")
}

/// All elections, for people.
fn overview(all: &[Status], protocol: impl Fn(&Rules) -> Protocol) -> Table<7> {
    let mut table =
        Table::new(["ELECTION", "STATE", "LEADER", "TERM", "SINCE", "PROTOCOL", "CONTROLS"]);
    for status in all {
        let leader = status.leader();
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row([
            status.election.to_string(),
            status.sight.word().to_owned(),
            or_dash(leader.map(|leader| leader.id.name.to_string())),
            or_dash(leader.map(|leader| leader.term.to_string())),
            or_dash(leader.map(|leader| moment::show(leader.since))),
            or_dash(status.record.as_ref().map(|it| protocol(&it.rules).as_str().to_owned())),
            controls::words(status),
        ]);
    }
    table
}
