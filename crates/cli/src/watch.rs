//! Changes of an election, as they happen.
//!
//! | file | what |
//! |---|---|
//! | [`line`] | one change, for people and for programs |
//! | [`ear`] | what operators put in force and lift again |
//! | [`lookout`] | who comes to the line of a roster and who goes |
//!
//! Assumes: the reader may be slow or go away.
//! Promises: one line a change, in the order in which they happened, beginning with how the
//! election stands; a signal or a reader that went away ends it with success.

mod ear;
mod line;
mod lookout;

use std::time::Duration;

use incumbent::{Change, Retry};
use tokio::time::{MissedTickBehavior, interval};

use self::ear::Ear;
use self::line::{Event, Line};
use self::lookout::Lookout;
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
    let mut line = Lookout::new(&election);
    // Whoever is in line already did not come.
    line.look().await;
    let mut ear = Ear::new(&election);
    let show = |event: &Event| {
        let line = Line::of(&settings.election, moment::now(), event);
        if printer.json() { printer.value(&line) } else { printer.line(line.words()) }
    };
    let mut readers = interval(READER_CHECK);
    readers.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            change = changes.next() => {
                let Some(change) = change else { break };
                line.may_have_begun(&change);
                let trouble = matches!(change, Change::Trouble { retry: Retry::AfterChange, .. });
                show(&Event::Seen(change))?;
                if trouble {
                    let looked = election.status().await;
                    if let Some(error) = looked.err().filter(|e| e.retry() == Retry::AfterChange) {
                        return Err(error.into());
                    }
                }
            }
            events = line.look() => events.iter().try_for_each(&show)?,
            event = ear.listen() => event.iter().try_for_each(&show)?,
            _ = readers.tick() => if !printer.is_read() { break },
            () = interrupt.came() => break,
        }
    }
    drop((changes, line, ear));
    drop(election);
    backend.close().await;
    Ok(Exit::Ok)
}
