//! Changes of an election, as they happen.
//!
//! Assumes: the reader may be slow or go away.
//! Promises: one line a change, in the order in which they happened, beginning with how the
//! election stands; a signal or a reader that went away ends it with success.

use std::time::Duration;

use incumbent::{Change, Retry, StoreTime};
use serde::Serialize;
use tokio::time::{MissedTickBehavior, interval};

use crate::exit::Exit;
use crate::moment;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::signal::Interrupt;

/// How often to look whether anybody still reads.
const READER_CHECK: Duration = Duration::from_millis(500);

/// Shows changes until it is interrupted.
pub(crate) async fn watch(settings: &Settings, printer: &Printer) -> anyhow::Result<Exit> {
    let mut interrupt = Interrupt::new()?;
    let backend = settings.open_existing().await?;
    let election = backend.election(&settings.election).await?;
    let mut changes = election.observe()?;
    let line = |change: &Change| {
        let line = Line::of(&settings.election, moment::now(), change);
        if printer.json() { printer.value(&line) } else { printer.line(line.words()) }
    };
    let mut readers = interval(READER_CHECK);
    readers.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            change = changes.next() => {
                let Some(change) = change else { break };
                line(&change)?;
                if matches!(change, Change::Trouble { retry: Retry::AfterChange, .. }) {
                    let looked = election.status().await;
                    if let Some(error) = looked.err().filter(|e| e.retry() == Retry::AfterChange) {
                        return Err(error.into());
                    }
                }
            }
            _ = readers.tick() => if !printer.is_read() { break },
            () = interrupt.came() => break,
        }
    }
    drop(changes);
    backend.close().await;
    Ok(Exit::Ok)
}

/// A change as programs read it.
#[derive(Debug, Serialize)]
struct Line {
    at: String,
    election: String,
    /// `leader`, `gained`, `unsure`, `resumed`, `lost`, `went_back`, `trouble` or `well`.
    change: &'static str,
    leader: Option<String>,
    incarnation: Option<String>,
    term: Option<u64>,
    token: Option<u64>,
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip)]
    time: StoreTime,
}

impl Line {
    fn of(election: &str, time: StoreTime, change: &Change) -> Line {
        let leader = match change {
            Change::Leader(leader) => leader.as_ref(),
            _ => None,
        };
        let (word, term, reason, problem) = match change {
            Change::Leader(leader) => ("leader", leader.as_ref().map(|l| l.term), None, None),
            Change::Gained { term } => ("gained", Some(*term), None, None),
            Change::Unsure { term } => ("unsure", Some(*term), None, None),
            Change::Resumed { term } => ("resumed", Some(*term), None, None),
            Change::Lost { term, reason } => ("lost", Some(*term), Some(reason.as_str()), None),
            Change::WentBack { problem } => ("went_back", None, None, Some(problem.clone())),
            Change::Trouble { problem, .. } => ("trouble", None, None, Some(problem.clone())),
            Change::Well => ("well", None, None, None),
            _ => ("other", None, None, None),
        };
        Line {
            at: moment::rfc3339(time),
            election: election.to_owned(),
            change: word,
            leader: leader.map(|leader| leader.id.name.to_string()),
            incarnation: leader.map(|leader| leader.id.incarnation.to_string()),
            term: term.map(incumbent::Term::get),
            token: term.map(|term| term.token().get()),
            since: leader.map(|leader| moment::rfc3339(leader.since)),
            reason,
            problem,
            time,
        }
    }

    /// The same for people.
    fn words(&self) -> String {
        let clock = moment::show_clock(self.time);
        let words = match (self.change, &self.leader, self.term, &self.problem) {
            ("leader", Some(leader), Some(term), _) => format!("{leader} leads, term {term}"),
            ("leader", ..) => "nobody leads".to_owned(),
            ("trouble", _, _, Some(problem)) => format!("trouble: {problem}"),
            ("well", ..) => "the store answers again".to_owned(),
            ("went_back", _, _, Some(problem)) => format!("the store went back: {problem}"),
            (word, _, Some(term), _) => format!("{word}, term {term}"),
            (word, ..) => word.to_owned(),
        };
        format!("{clock}  {}: {words}", self.election)
    }
}
