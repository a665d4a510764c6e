//! What operators order: `takeover` and `demote`.
//!
//! Assumes: the operator may order what the file system lets them write.
//! Promises: says for how long the old leader may still act and what follows; the actor and the
//! reason stay in the history of the election. An order never breaks the lease.

use incumbent::{Backend, Change, Decree, Leader};
use serde::Serialize;
use tokio::time::timeout;

use crate::exit::Exit;
use crate::flags::{OrderArgs, TakeoverArgs};
use crate::printer::Printer;
use crate::settings::Settings;
use crate::span;

/// Ends the present term and reserves the next.
pub(crate) async fn takeover(
    settings: &Settings,
    printer: &Printer,
    args: &TakeoverArgs,
) -> anyhow::Result<Exit> {
    let TakeoverArgs { successor, order } = args;
    let backend = settings.open_existing().await?;
    let reason = order.reason.as_deref();
    let actor = actor();
    let decree = backend.takeover(&settings.election, successor, order.term, &actor, reason);
    let decree = decree.await?;
    finish(settings, printer, backend, "takeover", order, &decree).await
}

/// Ends the present term.
pub(crate) async fn demote(
    settings: &Settings,
    printer: &Printer,
    order: &OrderArgs,
) -> anyhow::Result<Exit> {
    let backend = settings.open_existing().await?;
    let reason = order.reason.as_deref();
    let decree = backend.demote(&settings.election, order.term, &actor(), reason).await?;
    finish(settings, printer, backend, "demote", order, &decree).await
}

/// Tells what was ordered, and waits for what follows if that was asked for.
async fn finish(
    settings: &Settings,
    printer: &Printer,
    backend: Backend,
    order: &'static str,
    args: &OrderArgs,
    decree: &Decree,
) -> anyhow::Result<Exit> {
    if !printer.json() {
        printer.line(words(&settings.election, decree))?;
    }
    let next = match args.wait_for {
        Some(limit) => {
            timeout(limit, next_leader(settings, &backend, decree)).await.ok().transpose()?
        }
        None => None,
    };
    backend.close().await;
    let exit = match (&next, args.wait_for) {
        (Some(next), _) if reached(decree, next) => Exit::Ok,
        (None, None) => Exit::Ok,
        _ => Exit::No,
    };
    if printer.json() {
        printer.value(&Face::of(settings, order, decree, next.as_ref()))?;
    } else if let Some(limit) = args.wait_for {
        printer.line(match &next {
            Some(next) => format!("{} leads, term {}", next.id.name, next.term),
            None => format!("nobody else leads after {}", span::show(limit)),
        })?;
    }
    Ok(exit)
}

/// Whether the one who leads next is the one who was meant to.
fn reached(decree: &Decree, next: &Leader) -> bool {
    decree.successor.as_ref().is_none_or(|successor| *successor == next.id.name)
}

async fn next_leader(
    settings: &Settings,
    backend: &Backend,
    decree: &Decree,
) -> Result<Leader, incumbent::Error> {
    let election = backend.election(&settings.election).await?;
    let mut changes = election.observe()?;
    while let Some(change) = changes.next().await {
        if let Change::Leader(Some(leader)) = change
            && leader.term > decree.term
        {
            return Ok(leader);
        }
    }
    Err(incumbent::Error::Closed)
}

/// What was ordered, for people.
fn words(election: &str, decree: &Decree) -> String {
    let old = match &decree.deposed {
        None => format!("Nobody leads {election}."),
        Some(leader) if decree.may_act.is_zero() => {
            format!(
                "{} no longer leads {election}: it is dead or its lease has run out.",
                leader.id.name
            )
        }
        Some(leader) => format!(
            "{} cannot renew {election} any more (term {}). It may act for another {} at most, and nobody else leads before.",
            leader.id.name,
            leader.term,
            span::show(decree.may_act),
        ),
    };
    let then = match &decree.successor {
        Some(name) => {
            let lease = span::show(decree.lease);
            format!(
                "The next term is reserved for {name}, for {lease}; after that anyone may take it."
            )
        }
        None => {
            "Then anyone may win the next term; the old leader holds off for one lease.".to_owned()
        }
    };
    format!("{old}\n{then}")
}

/// An order as programs read it.
#[derive(Debug, Serialize)]
struct Face {
    order: &'static str,
    election: String,
    actor: String,
    /// The term that it ends, or after which it reserves the next.
    term: u64,
    /// Who led, if anybody did.
    deposed: Option<String>,
    /// Seconds for which the deposed leader may still act.
    may_act: f64,
    /// For whom the next term is reserved.
    successor: Option<String>,
    /// Who leads next, if that was waited for and came about.
    next_leader: Option<String>,
    next_term: Option<u64>,
}

impl Face {
    fn of(
        settings: &Settings,
        order: &'static str,
        decree: &Decree,
        next: Option<&Leader>,
    ) -> Face {
        Face {
            order,
            election: settings.election.clone(),
            actor: actor(),
            term: decree.term.get(),
            deposed: decree.deposed.as_ref().map(|leader| leader.id.name.to_string()),
            may_act: decree.may_act.as_secs_f64(),
            successor: decree.successor.as_ref().map(ToString::to_string),
            next_leader: next.map(|leader| leader.id.name.to_string()),
            next_term: next.map(|leader| leader.term.get()),
        }
    }
}

/// Who gives orders: user@host.
fn actor() -> String {
    let uid = rustix::process::getuid().as_raw();
    let user = std::fs::read_to_string("/etc/passwd").ok().and_then(|users| user(&users, uid));
    let user = user.or_else(|| std::env::var("LOGNAME").ok());
    let user = user.unwrap_or_else(|| format!("uid-{uid}"));
    format!("{user}@{}", rustix::system::uname().nodename().to_string_lossy())
}

/// The name of a user in the system's own list.
fn user(users: &str, uid: u32) -> Option<String> {
    let uid = uid.to_string();
    let mut lines = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = lines.find(|fields| fields.get(2) == Some(&uid.as_str()))?;
    found.first().map(|name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_number() {
        let users = "root:x:0:0::/root:/bin/sh\nodd\nada:x:1000:1000:Ada:/home/ada:/bin/sh\n";
        assert_eq!(user(users, 1000), Some("ada".to_owned()));
        assert_eq!(user(users, 0), Some("root".to_owned()));
        assert_eq!(user(users, 7), None);
    }
}
