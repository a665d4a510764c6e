//! A failover and a hand-over before your eyes: three real candidates on this machine.
//!
//! Assumes: this program's own file can be started again.
//! Promises: whatever happens, no process and no file is left behind; ends with success only if
//! every promise was kept.
//!
//! | file | what |
//! |---|---|
//! | [`cast`] | the three candidates and their folder |
//! | [`candidate`] | one of them: a process and what is heard of it |
//! | [`story`] | what happens to them |
//! | [`view`] | what is shown of it |
//! | [`summary`] | what is told at the end |

mod candidate;
mod cast;
mod story;
mod summary;
mod view;

use std::time::Duration;

use incumbent::{Backend, Config, Pacing, Protocol, lease_clock_nanos};
use tokio::time::{sleep, timeout};

use self::candidate::Began;
use self::cast::{Cast, NAMES};
use self::story::Story;
use self::summary::Summary;
use self::view::View;
use crate::exit::Exit;
use crate::flags::DemoArgs;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::signal::Interrupt;
use crate::span;

/// How often whoever looks on tries again to meet peers that have just been started.
const MEETING_TRIES: u32 = 3;

/// How often the work looks whether anybody still watches.
const READER_CHECK: Duration = Duration::from_millis(250);

/// Somebody has seen enough.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
struct Interrupted;

/// Plays the story, and judges it.
pub(crate) async fn demo(
    settings: &Settings,
    printer: &Printer,
    args: &DemoArgs,
) -> anyhow::Result<Exit> {
    let mut interrupt = Interrupt::new()?;
    let timing = settings.config.timing()?;
    let of_peers = Some(settings.protocol()).filter(|_| settings.is_of_peers());
    let mut cast = Cast::new(timing, rounds(settings)?, of_peers)?;
    let config = settings.onlooker.clone().name("onlooker");
    let onlooker = match look_on(&mut cast, &config).await {
        Ok(onlooker) => onlooker,
        Err(error) => {
            cast.clear().await;
            return Err(error);
        }
    };
    let mut summary = Summary::new(&timing);
    let mut story = Story::new(&mut cast, View::new(printer), &mut summary, &onlooker);
    let ended = tokio::select! {
        ended = timeout(args.limit, story.play()) => {
            let limit = || anyhow::anyhow!("the demo did not end within {}", span::show(args.limit));
            ended.unwrap_or_else(|_| Err(limit()))
        }
        () = interrupt.came() => Err(Interrupted.into()),
    };
    drop(story);
    onlooker.close().await;
    summary.orphans = cast.clear().await;
    match ended {
        Err(error) if error.is::<std::io::Error>() => return Err(error),
        Err(error) => {
            summary.fail(format!("{error:#}"));
            if !error.is::<Interrupted>() {
                summary.logs = cast.last_words();
            }
        }
        Ok(()) => summary.judge(&cast.histories()),
    }
    let ok = summary.conclude();
    drop(cast);
    if printer.json() {
        printer.value(&summary)?;
    } else {
        printer.line(&summary)?;
    }
    Ok(if ok { Exit::Ok } else { Exit::No })
}

/// Opens the store for one who does not play.
async fn look_on(cast: &mut Cast, config: &Config) -> anyhow::Result<Backend> {
    if !cast.is_of_peers() {
        // Whoever looks on makes the database, so that the candidates begin even.
        return Ok(Backend::open_with(&cast.url(), config).await?);
    }
    // Peers are the store: they must be there before anybody can look at it.
    for who in 0..NAMES.len() {
        cast.enter(who)?;
    }
    let mut tries = 0;
    loop {
        match Backend::open_existing(&cast.url(), config).await {
            // On a busy machine it may take them a while.
            Err(incumbent::Error::Open { .. }) if tries < MEETING_TRIES => tries += 1,
            opened => return Ok(opened?),
        }
    }
}

/// What all candidates agree on about rounds, if that is how they elect.
fn rounds(settings: &Settings) -> Result<Option<Pacing>, incumbent::Error> {
    match settings.protocol() {
        Protocol::Rounds => settings.config.pacing().map(Some),
        _ => Ok(None),
    }
}

/// What the candidates of the demo run while they lead: it says that it began, and sleeps until it
/// is killed or until nobody watches.
pub(crate) async fn work(printer: &Printer) -> anyhow::Result<Exit> {
    let token = std::env::var("INCUMBENT_TOKEN").ok();
    printer.value(&Began {
        at: lease_clock_nanos(),
        pid: std::process::id(),
        token: token.and_then(|token| token.parse().ok()).unwrap_or(0),
    })?;
    while printer.is_read() {
        sleep(READER_CHECK).await;
    }
    Ok(Exit::Ok)
}
