//! Who votes among peers, and how that is changed.
//!
//! Assumes: a majority of the voters is up, else nothing can be said for certain or changed.
//! Promises: voters come and go one at a time; a change that was refused changed nothing.

use std::time::Duration;

use incumbent::{Backend, VoterStatus, Voters};
use serde::Serialize;
use tokio::time::{sleep, timeout};

use crate::exit::Exit;
use crate::flags::{VotersArgs, VotersCommand};
use crate::printer::Printer;
use crate::settings::{Settings, SettingsError};
use crate::table::Table;

/// How long a voter may take to be linked before it counts as unreachable.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often to look whether it is.
const LOOK: Duration = Duration::from_millis(20);

/// Shows who votes, or changes it and shows what came of it.
pub(crate) async fn voters(
    settings: &Settings,
    printer: &Printer,
    args: &VotersArgs,
) -> anyhow::Result<Exit> {
    if !settings.is_of_peers() {
        return Err(SettingsError::NoVoters.into());
    }
    let backend = settings.open_existing().await?;
    meet(&backend).await;
    let found = match &args.what {
        None | Some(VotersCommand::List) => backend.voters().await,
        Some(VotersCommand::Add(voter)) => backend.add_voter(&voter.node).await,
        Some(VotersCommand::Remove(voter)) => backend.remove_voter(&voter.node).await,
    };
    backend.close().await;
    let found = found?;
    if printer.json() {
        printer.value(&Face::of(&found))?;
    } else {
        printer.line(page(&found))?;
    }
    Ok(if up(&found) >= found.majority { Exit::Ok } else { Exit::No })
}

/// Waits a moment for the links to those voters that are up: a majority, which is there already, need
/// not be all of them.
async fn meet(backend: &Backend) {
    let all = async {
        while backend.reach().await.is_some_and(|reach| !reach.missing.is_empty()) {
            sleep(LOOK).await;
        }
    };
    let _ = timeout(PATIENCE, all).await;
}

fn up(voters: &Voters) -> usize {
    voters.members.iter().filter(|voter| voter.up && !voter.lost).count()
}

/// The voters as programs read them.
#[derive(Debug, Serialize)]
struct Face<'a> {
    /// How often they were changed, counted from the first start.
    number: u64,
    /// Whether the last change is complete.
    settled: bool,
    /// How many must agree.
    majority: usize,
    /// How many can be reached from here and vote.
    up: usize,
    voters: &'a [VoterStatus],
}

impl<'a> Face<'a> {
    fn of(found: &'a Voters) -> Face<'a> {
        let Voters { number, settled, majority, members, .. } = found;
        Face {
            number: *number,
            settled: *settled,
            majority: *majority,
            up: up(found),
            voters: members,
        }
    }
}

fn state(voter: &VoterStatus) -> &'static str {
    match (voter.up, voter.lost) {
        (_, true) => "lost its file: remove it and add it again",
        (true, false) => "up",
        (false, false) => "unreachable",
    }
}

/// The voters, for people.
fn page(found: &Voters) -> String {
    let count = found.members.len();
    let votes = if count == 1 { "1 votes" } else { &format!("{count} vote") };
    let half = if found.settled { "" } else { "; the last change is not complete yet" };
    let head =
        format!("{votes}, {} must agree, {} can be reached{half}", found.majority, up(found));
    let mut table = Table::new(["NODE", "ADDRESS", "NAME", "STATE"]);
    for voter in &found.members {
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        table.row([
            voter.node.clone(),
            or_dash(&voter.address),
            or_dash(&voter.name).replace(char::is_control, " "),
            state(voter).to_owned(),
        ]);
    }
    format!("{head}\n{table}")
}
