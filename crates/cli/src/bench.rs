//! The experiment of the paper that the protocol `rounds` comes from, on any store and with either
//! protocol: how long is an election without a leader, and how does that grow with its candidates?
//!
//! Assumes: this program's own file can be started again; all candidates are on this host.
//! Promises: whatever happens, no process is left behind; figures come from real candidates, killed
//! without warning.
//!
//! | file | what |
//! |---|---|
//! | [`experiment`] | joining, resting, killing |
//! | [`crowd`] | all candidates, seen from here |
//! | [`host`] | a process with candidates |
//! | [`candidate`] | one of them |
//! | [`word`] | what is said between those processes |
//! | [`place`] | the store, and what is left in it |
//! | [`figures`] | what came out |
//! | [`plot`] | the same as a drawing |

mod candidate;
mod crowd;
mod experiment;
mod figures;
pub(crate) mod host;
mod place;
mod plot;
mod word;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use incumbent::Protocol;
use rustix::process::{Resource, getrlimit, setrlimit};

use self::crowd::Crowd;
use self::experiment::{Experiment, Plan};
use self::figures::{Figures, Size};
use self::place::Place;
use crate::exit::Exit;
use crate::flags::{BenchArgs, BenchCommand, FailoverArgs};
use crate::printer::Printer;
use crate::settings::Settings;
use crate::signal::Interrupt;

/// Measures what was asked for.
pub(crate) async fn bench(
    settings: &Settings,
    printer: &Printer,
    args: &BenchArgs,
) -> anyhow::Result<Exit> {
    match &args.what {
        BenchCommand::Failover(args) => failover(settings, printer, args).await,
    }
}

async fn failover(
    settings: &Settings,
    printer: &Printer,
    args: &FailoverArgs,
) -> anyhow::Result<Exit> {
    let mut interrupt = Interrupt::new()?;
    if let Some(path) = &args.plot {
        std::fs::write(path, "").with_context(|| format!("cannot write {}", path.display()))?;
    }
    let place = Place::new(settings, &args.candidates)?;
    place.check(&settings.onlooker.clone().name("onlooker")).await?;
    make_room();
    let mut figures = nothing_yet(settings, &place, args)?;
    for &candidates in &args.candidates {
        match size(settings, printer, args, &place, candidates, &mut interrupt).await {
            Ok(size) => figures.sizes.push(size),
            Err(error) => {
                figures.failed = Some(format!("{candidates} candidates: {error:#}"));
                figures.logs = place.last_words();
                break;
            }
        }
    }
    figures.ok = figures.failed.is_none();
    if let Some(path) = args.plot.as_ref().filter(|_| !figures.sizes.is_empty()) {
        let drawing = plot::draw(&figures);
        std::fs::write(path, drawing)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if printer.json() {
        printer.value(&figures)?;
    } else {
        printer.line(&figures)?;
    }
    Ok(if figures.ok { Exit::Ok } else { Exit::No })
}

/// Measures with so many candidates, and leaves nothing of them.
async fn size(
    settings: &Settings,
    printer: &Printer,
    args: &FailoverArgs,
    place: &Place,
    candidates: u32,
    interrupt: &mut Interrupt,
) -> anyhow::Result<Size> {
    let election = election_name(candidates);
    let plan = Plan {
        candidates: usize::try_from(candidates)?,
        kills: args.kills,
        round: settings.onlooker.timing()?.beat(),
        in_rounds: settings.protocol() == Protocol::Rounds,
        stable_for: args.stable_for,
        timeout: args.timeout,
    };
    let secrets = settings.inherited.clone();
    let mut crowd =
        Crowd::new(place, election.clone(), flags(settings)?, args.per_process, secrets)?;
    let mut experiment = Experiment::new(plan, &mut crowd, printer);
    let measured = tokio::select! {
        measured = experiment.measure() => measured,
        () = interrupt.came() => Err(anyhow::anyhow!("interrupted")),
    };
    drop(experiment);
    crowd.clear().await;
    if let Err(left) = place.clear(&election).await {
        printer.event(&left, &serde_json::json!({ "event": "left behind", "text": left }));
    }
    measured
}

fn nothing_yet(settings: &Settings, place: &Place, args: &FailoverArgs) -> anyhow::Result<Figures> {
    let in_rounds = settings.protocol() == Protocol::Rounds;
    let pacing = in_rounds.then(|| settings.onlooker.pacing()).transpose()?;
    Ok(Figures {
        ok: false,
        failed: None,
        store: place.kind(),
        protocol: settings.protocol().as_str(),
        lease: settings.onlooker.timing()?.rules().lease().as_secs_f64(),
        round_limit: pacing.map(|pacing| pacing.round_limit()),
        round_delta: pacing.map(|pacing| pacing.delta().as_secs_f64()),
        per_process: args.per_process,
        sizes: Vec::new(),
        logs: Vec::new(),
    })
}

/// The settings, as flags of the processes that are started.
fn flags(settings: &Settings) -> anyhow::Result<Vec<String>> {
    let micros = |span: Duration| format!("{}us", span.as_micros());
    let protocol = settings.protocol();
    let mut flags = vec![("protocol", protocol.as_str().to_owned())];
    if protocol == Protocol::Rounds {
        let pacing = settings.onlooker.pacing()?;
        flags.extend([
            ("round-time", micros(pacing.round_time())),
            ("round-limit", pacing.round_limit().to_string()),
            ("round-delta", micros(pacing.delta())),
            ("round-cap", micros(pacing.cap())),
            ("margin", micros(pacing.margin())),
        ]);
    } else {
        let timing = settings.onlooker.timing()?;
        let rules = timing.rules();
        flags.extend([
            ("lease", micros(rules.lease())),
            ("margin", micros(rules.margin())),
            ("expiry", rules.expiry().as_str().to_owned()),
        ]);
    }
    Ok(flags.into_iter().flat_map(|(flag, value)| [format!("--{flag}"), value]).collect())
}

/// A name that no other run has.
fn election_name(candidates: u32) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("bench-{:x}-{:x}-{candidates}", now.as_nanos(), std::process::id())
}

/// A crowd needs more open files than a usual limit allows. If there can be no more, whoever finds no
/// room will say so.
fn make_room() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}
